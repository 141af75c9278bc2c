// SPDX-License-Identifier: GPL-2.0
/* connect(): by SSTP if the peer has it, else by TCP. */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "preload.h"

#define SILENT		16
#define SILENT_SECONDS	60

/* Hosts that do not even refuse: not waited for again for a while. */
static struct silent {
	_Atomic uint64_t host;
	_Atomic int64_t until;
} silents[SILENT];
static atomic_uint silent_next;

static bool is_mapped(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *a6 = (const void *)sa;

	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a6->sin6_addr);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static uint64_t host_hash(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *a6 = (const void *)sa;
	const struct sockaddr_in *a4 = (const void *)sa;
	const uint8_t *bytes = sa->sa_family == AF_INET ?
		(const void *)&a4->sin_addr : (const void *)&a6->sin6_addr;
	uint64_t hash = 0xcbf29ce484222325;
	int i, n = sa->sa_family == AF_INET ? 4 : 16;

	for (i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static bool is_silent(const struct sockaddr *sa)
{
	uint64_t host = host_hash(sa);
	int i;

	for (i = 0; i < SILENT; i++)
		if (silents[i].host == host && now_ms() < silents[i].until)
			return true;
	return false;
}

static void note_silent(const struct sockaddr *sa)
{
	struct silent *s = &silents[silent_next++ % SILENT];

	s->until = now_ms() + SILENT_SECONDS * 1000;
	s->host = host_hash(sa);
}

/* 0 when connected, else what was wrong; EINTR if a program that waits wants that. */
static int wait_connected(int fd, bool blocking)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int64_t end = now_ms() + options.timeout;
	int n, error;

	do {
		n = poll(&p, 1, end > now_ms() ? end - now_ms() : 0);
		if (n < 0 && (errno != EINTR || (blocking && !calls_go_on())))
			return errno;
	} while (n < 0);
	if (!n)
		return ETIMEDOUT;
	if (p.revents & (POLLERR | POLLHUP)) {
		error = get_int(fd, SOL_SOCKET, SO_ERROR);
		return error > 0 ? error : ECONNREFUSED;
	}
	return 0;
}

/* Which socket it is */
static uint64_t cookie_of(int fd)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);

	return REAL(getsockopt)(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) ? 0 : cookie;
}

/* By SSTP: 0 and errno as connect() has it, or -1 and @why TCP is to be tried. */
static int try_connect(int fd, uint64_t cookie, const struct sockaddr *sa, socklen_t len,
		       const char **why)
{
	int flags = REAL(fcntl64)(fd, F_GETFL), error = 0, with;
	bool blocking = !(flags & O_NONBLOCK);

	if (is_silent(sa)) {
		*why = "no answer by SSTP a while ago";
		return -1;
	}
	with = make_like(fd, sa->sa_family == AF_INET || is_mapped(sa), why);
	if (with < 0)
		return -1;
	if (REAL(connect)(with, sa, len))
		error = errno == EINPROGRESS ? wait_connected(with, blocking) : errno;
	/* Who waits gets his answer; who does not asks again, as for TCP. */
	if (!error && blocking && REAL(connect)(with, sa, len) && errno != EISCONN)
		error = errno;
	if (error && error != EINTR) {
		if (error == ETIMEDOUT)
			note_silent(sa);
		*why = strerrordesc_np(error);
	} else if (cookie_of(fd) != cookie || replace(fd, with, flags)) {
		*why = strerrordesc_np(errno);
	} else {
		set_kind(fd, FD_OTHER);
		errno = error ?: blocking ? 0 : EINPROGRESS;
		return 0;
	}
	REAL(close)(with);
	return -1;
}

EXPORT int connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	int kind = kind_of(fd), error = errno;
	const char *why = NULL;
	uint64_t cookie;

	if (kind == FD_TCP || kind >= FD_HIDDEN || !sa ||
	    len < sizeof(struct sockaddr_in) ||
	    (sa->sa_family != AF_INET && sa->sa_family != AF_INET6) ||
	    (sa->sa_family == AF_INET6 && len < sizeof(struct sockaddr_in6)) ||
	    get_int(fd, SOL_SOCKET, SO_DOMAIN) != sa->sa_family || !is_idle_tcp(fd))
		goto tcp;
	cookie = cookie_of(fd);
	if (!try_connect(fd, cookie, sa, len, &why)) {
		say("to", sa, "SSTP", NULL);
		if (!errno)
			errno = error;
		else
			return -1;
		return 0;
	}
	/* While we waited another thread has closed it, and may have got the number. */
	if (cookie_of(fd) != cookie) {
		errno = EBADF;
		return -1;
	}
	say("to", sa, "TCP", why);
	if (kind == FD_FRESH)
		stay_tcp(fd);
tcp:
	errno = error;
	return REAL(connect)(fd, sa, len);
}
