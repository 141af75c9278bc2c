// SPDX-License-Identifier: GPL-2.0
/*
 * connect(): by SSTP if the peer has it, else by TCP.
 *
 * The SSTP socket takes over the descriptor before it connects, as another thread or process
 * may learn from the peer that there is a connection, and use it at once. Meanwhile the TCP
 * socket has a hidden descriptor; it gets its own back if SSTP fails.
 *
 * A service that is known to answer by SSTP is tried by SSTP alone. Else TCP follows after a
 * head start. If SSTP answers first, TCP's handshake is not completed, so that the server
 * sees one connection, not two. A non-blocking connect() waits for this race, too, as the
 * socket cannot be replaced while the program polls it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "preload.h"

#define HEAD_START	50	/* ms before TCP is tried: the delay for hosts without SSTP */
#define HEAD_KNOWN	1000	/* ms: INIT is sent at 0, 250 and 750 */
#define PATIENCE	500	/* ms for which a non-blocking connect() waits */

struct attempt {
	int fd;			/* the program's descriptor */
	int flags;		/* of the program's socket, O_NONBLOCK and others */
	int tcp, sstp;		/* hidden descriptors */
	uint64_t cookie;	/* of the SSTP socket */
	const struct sockaddr *sa;
	socklen_t len;
	bool blocking;
	bool known;		/* the service is known to answer by SSTP */
	bool begun;		/* TCP is connecting */
	int64_t since;		/* begin of the attempt, ms */
};

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

/* Begin to connect by SSTP, almost without blocking; returns errno. */
static int begin_sstp(struct attempt *a)
{
	struct timeval own = {}, little = { .tv_usec = 1 };
	socklen_t len = sizeof(own);
	int error;

	if (!a->blocking)
		return REAL(connect)(a->sstp, a->sa, a->len) ? errno : 0;
	/* Other threads may use the socket at once, so it has to be blocking; a short time-out
	 * keeps connect() from blocking here.
	 */
	REAL(getsockopt)(a->sstp, SOL_SOCKET, SO_SNDTIMEO, &own, &len);
	REAL(setsockopt)(a->sstp, SOL_SOCKET, SO_SNDTIMEO, &little, sizeof(little));
	error = REAL(connect)(a->sstp, a->sa, a->len) ? errno : 0;
	REAL(setsockopt)(a->sstp, SOL_SOCKET, SO_SNDTIMEO, &own, sizeof(own));
	if (error == EINTR && calls_go_on())
		error = EINPROGRESS;
	return error;
}

/* Wait up to @patience ms for an answer; try TCP as well after @head ms. Returns 0 if SSTP has
 * connected; ETIMEDOUT if there was no answer, or TCP has connected or failed earlier; else
 * the error of SSTP, or EINTR.
 */
static int race(struct attempt *a, int head, int patience)
{
	struct pollfd p[] = {
		{ .fd = a->sstp, .events = POLLOUT },
		{ .fd = -1, .events = POLLOUT },
	};
	int64_t left;
	int n, error;

	for (;;) {
		left = a->since + (a->begun ? patience : head) - now_ms();
		n = poll(p, 2, left > 0 ? left : 0);
		if (n < 0 && (errno != EINTR || (a->blocking && !calls_go_on())))
			return errno;
		if (n > 0)
			break;
		if (n < 0)
			continue;
		if (a->begun || head >= patience)
			return ETIMEDOUT;
		REAL(fcntl64)(a->tcp, F_SETFL, a->flags | O_NONBLOCK);
		if (REAL(connect)(a->tcp, a->sa, a->len) && errno != EINPROGRESS)
			return ETIMEDOUT;
		a->begun = true;
		p[1].fd = a->tcp;
	}
	if (!p[0].revents)
		return ETIMEDOUT;
	if (!(p[0].revents & (POLLERR | POLLHUP)))
		return 0;
	error = get_int(a->sstp, SOL_SOCKET, SO_ERROR);
	return error > 0 ? error : ECONNREFUSED;
}

/* Put an SSTP socket in the place of the program's; returns false and @why if it cannot. */
static bool step_in(struct attempt *a, const char **why)
{
	int with = make_like(a->fd, a->sa->sa_family == AF_INET || is_mapped(a->sa), why);

	if (with < 0)
		return false;
	a->cookie = cookie_of(with);
	a->tcp = hide(a->fd);
	a->sstp = hide(with);
	if (a->tcp >= 0 && a->sstp >= 0 && !replace(a->fd, with, a->flags))
		return true;
	*why = "out of descriptors";
	unhide(a->tcp);
	unhide(a->sstp);
	REAL(close)(with);
	return false;
}

/* Connect by SSTP; returns 0 or an errno, which is EINPROGRESS while it connects. */
static int try_sstp(struct attempt *a)
{
	int patience = a->blocking || options.timeout < PATIENCE ? options.timeout : PATIENCE;
	int head = a->known ? HEAD_KNOWN : HEAD_START, error;

	a->since = now_ms();
	error = begin_sstp(a);
	if (error == EINPROGRESS && (a->blocking || !a->known))
		error = race(a, head < patience ? head : patience, patience);
	/* A blocking connect() collects the result, else EINPROGRESS is returned as by TCP. */
	if (!error && a->blocking && REAL(connect)(a->sstp, a->sa, a->len) &&
	    errno != EISCONN)
		error = errno;
	if (!error && !a->blocking)
		error = EINPROGRESS;
	return error;
}

/* Keep the SSTP socket; the TCP socket is kept only if asked.c may need it. */
static int stay(struct attempt *a, uint64_t key, int error)
{
	bool asked = a->known && !a->blocking;

	if (error != EINTR && !asked)
		host_note(key, HOST_ANSWERS);
	if (asked && asked_note(a->fd, a->tcp, a->flags, key, a->sa, a->len)) {
		set_kind(a->fd, FD_ASKED);
	} else {
		settle(a->fd, FD_DONE);
		unhide(a->tcp);
	}
	unhide(a->sstp);
	say("to", a->sa, "SSTP", NULL);
	return error;
}

/* Put the TCP socket back, and connect by it; returns errno. */
static int step_back(struct attempt *a, uint64_t key, int why)
{
	enum host what = why == ETIMEDOUT ? HOST_MISSED : HOST_WITHOUT;
	int error = EINPROGRESS;

	unhide(a->sstp);
	set_kind(a->tcp, FD_OTHER);
	if (replace(a->fd, a->tcp, a->flags)) {
		error = errno;
		REAL(close)(a->tcp);
		return error;
	}
	if (kind_of(a->fd) == FD_FRESH)
		settle(a->fd, FD_TCP);
	say("to", a->sa, "TCP", why == ETIMEDOUT ? "no SSTP answer in time" :
	    strerrordesc_np(why));
	if (!a->begun || a->blocking)
		error = REAL(connect)(a->fd, a->sa, a->len) ? errno : 0;
	/* A service that fails by TCP as well is down, and may have SSTP when it is up. */
	if (error)
		what = error == EINPROGRESS ? HOST_MISSED : HOST_UNKNOWN;
	if (what != HOST_UNKNOWN || a->known)
		host_note(key, what);
	return error;
}

EXPORT int connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	struct attempt a = { .fd = fd, .sa = sa, .len = len };
	int kind = kind_of(fd), error = errno, result;
	const char *why = NULL;
	enum host what;
	uint64_t key;

	/* FD_DONE is out of date if this is no connection: what epoll instances watch of the
	 * descriptor is not known, so it stays with TCP.
	 */
	if (kind == FD_TCP || kind == FD_DONE || kind >= FD_HIDDEN || !sa || !mine() ||
	    len < sizeof(struct sockaddr_in) ||
	    (sa->sa_family != AF_INET && sa->sa_family != AF_INET6) ||
	    (sa->sa_family == AF_INET6 && len < sizeof(struct sockaddr_in6)) ||
	    get_int(fd, SOL_SOCKET, SO_DOMAIN) != sa->sa_family || !is_idle_tcp(fd))
		goto tcp;
	key = host_key(fd, sa);
	what = host_ask(key);
	a.flags = REAL(fcntl64)(fd, F_GETFL);
	a.blocking = !(a.flags & O_NONBLOCK);
	a.known = what == HOST_ANSWERS;
	if (what >= HOST_MISSED)
		why = "the service recently had no SSTP";
	if (why || !step_in(&a, &why)) {
		say("to", sa, "TCP", why);
		if (kind == FD_FRESH)
			settle(fd, FD_TCP);
		goto tcp;
	}
	result = try_sstp(&a);
	if (cookie_of(fd) != a.cookie) {
		/* Another thread has closed the socket; the descriptor may be in use again. */
		unhide(a.tcp);
		unhide(a.sstp);
		result = EBADF;
	} else if (!result || result == EINPROGRESS || result == EINTR) {
		result = stay(&a, key, result);
	} else {
		result = step_back(&a, key, result);
	}
	errno = result ?: error;
	return result ? -1 : 0;
tcp:
	errno = error;
	result = REAL(connect)(fd, sa, len);
	if (kind != FD_ASKED)
		return result;
	if (!result || errno == EISCONN)
		asked_outcome(fd, 0);
	else if (errno != EALREADY && errno != EINTR && !asked_outcome(fd, errno))
		result = 0;
	return result;
}
