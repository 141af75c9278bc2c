// SPDX-License-Identifier: GPL-2.0
/* Replace a TCP socket by an SSTP socket, and keep its epoll registrations. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "preload.h"

#define WATCHES		256

/* epoll registrations of sockets that may still be replaced */
static struct watch {
	atomic_int fd;		/* descriptor + 1; 0 = free, -1 = being filled in */
	int epoll;
	struct epoll_event event;
} watches[WATCHES];

static atomic_int watches_end;	/* entries from here on were never used */

static atomic_bool absent;	/* the kernel has no SSTP */

static bool is_any(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *a6 = (const void *)sa;
	const struct sockaddr_in *a4 = (const void *)sa;

	if (sa->sa_family == AF_INET)
		return !a4->sin_port && a4->sin_addr.s_addr == htonl(INADDR_ANY);
	return !a6->sin6_port && IN6_IS_ADDR_UNSPECIFIED(&a6->sin6_addr);
}

/* Make a non-blocking SSTP socket with the settings of @tcp; returns -1 and @why on error. */
int make_like(int tcp, bool v4, const char **why)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	int fd;

	/* Ask the kernel once, as it looks for the module each time. */
	*why = "the kernel has no SSTP";
	if (absent)
		return -1;
	fd = REAL(socket)(AF_SSTP, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		if (errno == EAFNOSUPPORT)
			absent = true;
		else
			*why = strerrordesc_np(errno);
		return -1;
	}
	*why = copy_options(tcp, fd, v4);
	if (*why)
		goto fail;
	if (!REAL(getsockname)(tcp, (struct sockaddr *)&at, &len) &&
	    !is_any((struct sockaddr *)&at) && bind(fd, (struct sockaddr *)&at, len)) {
		*why = strerrordesc_np(errno);
		goto fail;
	}
	return fd;
fail:
	REAL(close)(fd);
	return -1;
}

static struct watch *watch_find(int fd, int epoll)
{
	int i;

	for (i = 0; i < watches_end; i++)
		if (watches[i].fd == fd + 1 && watches[i].epoll == epoll)
			return &watches[i];
	return NULL;
}

static void watch_note(int epoll, int op, int fd, const struct epoll_event *event)
{
	struct watch *w = watch_find(fd, epoll);
	int i, none;

	if (op == EPOLL_CTL_DEL) {
		if (w)
			w->fd = 0;
		return;
	}
	for (i = 0; !w && i < WATCHES; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&watches[i].fd, &none, -1)) {
			w = &watches[i];
			raise_end(&watches_end, i + 1);
		}
	}
	if (!w) {
		/* Without a record of its registrations the socket cannot be replaced. */
		settle(fd, kind_of(fd) == FD_FRESH ? FD_TCP : FD_OTHER);
		return;
	}
	w->epoll = epoll;
	w->event = *event;
	w->fd = fd + 1;
}

void watch_forget(int fd)
{
	struct watch *w;

	for (w = watches; w < watches + watches_end; w++)
		if (w->fd == fd + 1)
			w->fd = 0;
}

/* Drop the record of @fd, which will not be replaced any more, and set its @kind. */
void settle(int fd, int kind)
{
	if (may_change(fd))
		watch_forget(fd);
	if (kind_of(fd) == FD_ASKED)
		asked_forget(fd);
	set_kind(fd, kind);
}

/* Move @with to descriptor @fd, with flags and epoll registrations of the latter. */
int replace(int fd, int with, int flags)
{
	int cloexec = REAL(fcntl64)(fd, F_GETFD) & FD_CLOEXEC;
	bool watched = may_change(fd);
	struct watch *w;

	REAL(fcntl64)(with, F_SETFL, flags);
	if (flags & O_ASYNC) {
		REAL(fcntl64)(with, F_SETOWN, REAL(fcntl64)(fd, F_GETOWN));
		REAL(fcntl64)(with, F_SETSIG, REAL(fcntl64)(fd, F_GETSIG));
	}
	for (w = watches; watched && w < watches + watches_end; w++)
		if (w->fd == fd + 1 && REAL(epoll_ctl)(w->epoll, EPOLL_CTL_DEL, fd, NULL))
			w->fd = 0;	/* the program has closed the epoll instance */
	if (REAL(dup3)(with, fd, cloexec ? O_CLOEXEC : 0) < 0)
		return -1;
	REAL(close)(with);
	for (w = watches; watched && w < watches + watches_end; w++) {
		if (w->fd != fd + 1)
			continue;
		/* A listener is an epoll instance, which does not support EPOLLEXCLUSIVE. */
		w->event.events &= ~EPOLLEXCLUSIVE;
		REAL(epoll_ctl)(w->epoll, EPOLL_CTL_ADD, fd, &w->event);
	}
	return 0;
}

EXPORT int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	struct epoll_event shared;
	int ret, error = errno;

	/* A program may learn by epoll that it is connected, and never ask for the result of
	 * connect(). Then the TCP socket is not needed any more, and what epoll instances watch
	 * need not be recorded.
	 */
	if (op != EPOLL_CTL_ADD && kind_of(fd) == FD_ASKED && mine())
		asked_outcome(fd, 0);
	if (event && op != EPOLL_CTL_DEL && listener_of(fd)) {
		/* An epoll instance does not support EPOLLEXCLUSIVE: all waiters are woken. */
		shared = *event;
		shared.events &= ~EPOLLEXCLUSIVE;
		event = &shared;
	}
	ret = REAL(epoll_ctl)(epoll, op, fd, event);
	if (ret)
		return ret;
	/* execve() or a message may have passed the socket to this program. */
	if (op == EPOLL_CTL_ADD && kind_of(fd) == FD_OTHER && is_idle_tcp(fd))
		set_kind(fd, FD_FRESH);
	if (may_change(fd))
		watch_note(epoll, op, fd, event);
	errno = error;
	return 0;
}
