// SPDX-License-Identifier: GPL-2.0
/* listen(), accept() and others on a descriptor that stands for two listeners. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/time.h>

#include "preload.h"

#define TURNS	16	/* connections by one protocol before accept() tries the other first */

static void say_name(const char *what, int fd, const char *verdict, const char *why)
{
	struct sockaddr_storage at = {};
	socklen_t len = sizeof(at);
	int error = errno;

	if (!options.verbose)
		return;
	REAL(getsockname)(fd, (struct sockaddr *)&at, &len);
	errno = error;
	say(what, (struct sockaddr *)&at, verdict, why);
}

/* Make the program's @fd stand for its TCP listener and @sstp. */
static int join(int fd, int sstp)
{
	int flags = REAL(fcntl64)(fd, F_GETFL), epoll, i, none;
	struct listener *l = NULL;
	struct epoll_event event = { .events = EPOLLIN };

	for (i = 0; i < LISTENERS && !l; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&listeners[i].users, &none, 1))
			l = &listeners[i];
	}
	if (!l)
		return -1;
	l->part[BY_TCP] = hide(fd);
	l->part[BY_SSTP] = hide(sstp);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < 2; i++)
		if (epoll < 0 || REAL(epoll_ctl)(epoll, EPOLL_CTL_ADD, l->part[i], &event))
			goto fail;
	REAL(fcntl64)(l->part[BY_TCP], F_SETFL, flags | O_NONBLOCK);
	if (replace(fd, epoll, flags))
		goto fail;
	REAL(close)(sstp);
	settle(fd, FD_LISTENER + (l - listeners));
	return 0;
fail:
	REAL(fcntl64)(fd, F_SETFL, flags);
	if (epoll >= 0)
		REAL(close)(epoll);
	unhide(l->part[BY_TCP]);
	unhide(l->part[BY_SSTP]);
	l->users = 0;
	return -1;
}

EXPORT int listen(int fd, int backlog)
{
	struct listener *l = listener_of(fd);
	int kind = kind_of(fd), error = errno, sstp;
	const char *why = NULL;

	if (l) {
		REAL(listen)(l->part[BY_SSTP], backlog);
		return REAL(listen)(l->part[BY_TCP], backlog);
	}
	if (options.listen == LISTEN_TCP || kind == FD_TCP ||
	    kind == FD_HIDDEN || !is_idle_tcp(fd))
		return REAL(listen)(fd, backlog);
	/* TCP listens first: it returns its own errors, and chooses the port if that is 0. */
	if (REAL(listen)(fd, backlog))
		return -1;
	sstp = make_like(fd, get_int(fd, SOL_SOCKET, SO_DOMAIN) == AF_INET, &why);
	if (sstp >= 0 && REAL(listen)(sstp, backlog)) {
		why = strerrordesc_np(errno);
		REAL(close)(sstp);
		sstp = -1;
	}
	if (sstp < 0) {
		say_name("at", fd, "TCP", why);
		settle(fd, FD_TCP);
	} else if (options.listen == LISTEN_SSTP) {
		say_name("at", fd, "SSTP", NULL);
		if (replace(fd, sstp, REAL(fcntl64)(fd, F_GETFL)))
			REAL(close)(sstp);
		settle(fd, FD_OTHER);
	} else if (join(fd, sstp)) {
		say_name("at", fd, "TCP", "out of descriptors");
		REAL(close)(sstp);
		settle(fd, FD_TCP);
	} else {
		say_name("at", listener_of(fd)->part[BY_TCP], "SSTP and TCP", NULL);
	}
	errno = error;
	return 0;
}

static int listener_wait(struct listener *l, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timeval tv = {};
	socklen_t len = sizeof(tv);
	int ms, n;

	REAL(getsockopt)(l->part[BY_TCP], SOL_SOCKET, SO_RCVTIMEO, &tv, &len);
	ms = tv.tv_sec * 1000 + (tv.tv_usec + 999) / 1000;
	do {
		n = poll(&p, 1, ms ?: -1);
	} while (n < 0 && errno == EINTR && !ms && calls_go_on());
	if (!n)
		errno = EAGAIN;
	return n > 0 ? 0 : -1;
}

static int listener_accept(struct listener *l, int fd, struct sockaddr *sa, socklen_t *len,
			   int flags)
{
	int error = errno, i, n;
	unsigned int turn, part;

	do {
		turn = l->turn;
		for (i = 0; i < 2; i++) {
			part = (turn / TURNS + i) % 2;
			n = REAL(accept4)(l->part[part], sa, len, flags);
			if (n >= 0) {
				l->turn = (i ? part * TURNS : turn) + 1;
				errno = error;
				return n;
			}
			if (errno != EAGAIN) {
				/* An error that stays must not hide the other listener. */
				l->turn = (1 - part) * TURNS;
				return n;
			}
		}
		if (REAL(fcntl64)(fd, F_GETFL) & O_NONBLOCK)
			return -1;
	} while (!listener_wait(l, fd));
	return -1;
}

EXPORT int accept4(int fd, struct sockaddr *sa, socklen_t *len, int flags)
{
	struct listener *l = listener_of(fd);
	struct sockaddr_storage peer = {};
	socklen_t size = sizeof(peer);
	int n, error;

	if (l)
		n = listener_accept(l, fd, sa, len, flags);
	else
		n = REAL(accept4)(fd, sa, len, flags);
	if (n < 0)
		return n;
	given(n, FD_DONE);
	error = errno;
	if (options.verbose && !REAL(getpeername)(n, (struct sockaddr *)&peer, &size) &&
	    (peer.ss_family == AF_INET || peer.ss_family == AF_INET6))
		say("from", (struct sockaddr *)&peer, is_sstp(n) ? "SSTP" : "TCP", NULL);
	errno = error;
	return n;
}

EXPORT int accept(int fd, struct sockaddr *sa, socklen_t *len)
{
	return accept4(fd, sa, len, 0);
}

EXPORT int getsockname(int fd, struct sockaddr *sa, socklen_t *len)
{
	struct listener *l = listener_of(fd);

	return REAL(getsockname)(l ? l->part[BY_TCP] : fd, sa, len);
}

EXPORT int getpeername(int fd, struct sockaddr *sa, socklen_t *len)
{
	struct listener *l = listener_of(fd);

	return REAL(getpeername)(l ? l->part[BY_TCP] : fd, sa, len);
}

EXPORT int shutdown(int fd, int how)
{
	struct listener *l = listener_of(fd);

	if (!l)
		return REAL(shutdown)(fd, how);
	REAL(shutdown)(l->part[BY_SSTP], how);
	return REAL(shutdown)(l->part[BY_TCP], how);
}
