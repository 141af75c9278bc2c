// SPDX-License-Identifier: GPL-2.0
/*
 * Non-blocking connect() to a service that is known to answer by SSTP. If the service does
 * not answer now, TCP is tried when the program asks for the result, by
 * getsockopt(SO_ERROR) or another connect(). It is not needed any more if the program
 * changes what epoll reports of a socket that is connected by then.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "preload.h"

#define ASKED		256
#define TCP_PATIENCE	1000	/* ms for which that call may wait for TCP */

static struct asked {
	atomic_int fd;		/* descriptor + 1; 0 = free, -1 = being filled in */
	int tcp, flags;
	uint64_t key;
	struct sockaddr_storage to;
	socklen_t len;
} asked[ASKED];

static atomic_int asked_end;	/* entries from here on were never used */

/* Keep the hidden @tcp to fall back to. Returns false if the table is full. */
bool asked_note(int fd, int tcp, int flags, uint64_t key, const struct sockaddr *to,
		socklen_t len)
{
	struct asked *a;
	int none;

	if (len > sizeof(a->to))
		return false;
	for (a = asked; a < asked + ASKED; a++) {
		none = 0;
		if (!atomic_compare_exchange_strong(&a->fd, &none, -1))
			continue;
		raise_end(&asked_end, a - asked + 1);
		a->tcp = tcp;
		a->flags = flags;
		a->key = key;
		memcpy(&a->to, to, len);
		a->len = len;
		a->fd = fd + 1;
		return true;
	}
	return false;
}

static struct asked *asked_find(int fd)
{
	struct asked *a;

	for (a = asked; a < asked + asked_end; a++)
		if (a->fd == fd + 1)
			return a;
	return NULL;
}

void asked_forget(int fd)
{
	struct asked *a = asked_find(fd);
	int owner = fd + 1;

	/* Only one of the threads that find out at once closes the descriptor. */
	if (!a || !atomic_compare_exchange_strong(&a->fd, &owner, -1))
		return;
	unhide(a->tcp);
	a->fd = 0;
}

/* Connect by TCP; returns 0 or an errno. */
static int try_tcp(const struct asked *a)
{
	struct pollfd p = { .fd = a->tcp, .events = POLLOUT };

	REAL(fcntl64)(a->tcp, F_SETFL, a->flags | O_NONBLOCK);
	if (!REAL(connect)(a->tcp, (const struct sockaddr *)&a->to, a->len))
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&p, 1, TCP_PATIENCE) < 1)
		return ETIMEDOUT;
	return get_int(a->tcp, SOL_SOCKET, SO_ERROR);
}

/* Result of a connect() that ended with @error by SSTP, after TCP was tried: 0 if @fd is
 * connected, or still connecting.
 */
int asked_outcome(int fd, int error)
{
	struct asked *a = asked_find(fd);
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	int kept = errno;

	if (!a)
		return error;
	if (!error) {
		/* Another thread may have put the TCP socket in its place, and connected that. */
		if (!REAL(getpeername)(fd, (struct sockaddr *)&peer, &len) && is_sstp(fd)) {
			host_note(a->key, HOST_ANSWERS);
			settle(fd, FD_DONE);
		}
		errno = kept;
		return 0;
	}
	if (!try_tcp(a)) {
		set_kind(a->tcp, FD_OTHER);
		if (!replace(fd, a->tcp, a->flags)) {
			a->tcp = -1;
			host_note(a->key, HOST_WITHOUT);
			say("to", (struct sockaddr *)&a->to, "TCP", strerrordesc_np(error));
			settle(fd, FD_TCP);
			errno = kept;
			return 0;
		}
		set_kind(a->tcp, FD_HIDDEN);
	}
	host_note(a->key, HOST_UNKNOWN);
	settle(fd, FD_OTHER);
	errno = kept;
	return error;
}
