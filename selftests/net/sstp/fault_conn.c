// SPDX-License-Identifier: GPL-2.0
/* A connection for tests that make things fail. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "fault_conn.h"

char conn_out[LEN], conn_in[LEN];

void conn_lock_memory(void)
{
	memset(conn_out, 1, sizeof(conn_out));
	memset(conn_in, 1, sizeof(conn_in));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall:");
}

void bad(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ktap_diag("%s", text);
	all_held = false;
}

static void timeouts(int fd)
{
	const struct timeval t = { .tv_sec = WAIT_MS / 1000 };

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)))
		die("timeouts:");
}

void conn_init(struct conn *c, enum proto proto, int family, int type)
{
	*c = (struct conn){ .proto = proto, .family = family, .type = type,
			    .l = -1, .a = -1, .b = -1,
			    .ab.seed = nonce(), .ba.seed = nonce() };
}

long conn_socket(struct conn *c)
{
	return c->a = proto_socket(c->proto, c->family, c->type, 0);
}

long conn_listen(struct conn *c)
{
	return listen(c->l, 8);
}

long conn_connect(struct conn *c)
{
	return connect(c->a, &c->to.sa, addr_len(&c->to));
}

long conn_accept(struct conn *c)
{
	return c->b = accept(c->l, NULL, NULL);
}

bool conn_reach(struct conn *c, enum stage stage)
{
	union addr *to = &c->to;

	if (stage >= SOCKET && c->a < 0 && conn_socket(c) < 0)
		return false;
	if (stage >= SOCKET)
		timeouts(c->a);
	if (stage >= BOUND && c->l < 0) {
		addr_loopback(to, c->family, 0);
		c->l = proto_socket(c->proto, c->family, c->type, 0);
		if (c->l < 0 || bind(c->l, &to->sa, addr_len(to)) ||
		    getsockname(c->l, &to->sa, &(socklen_t){ sizeof(*to) }))
			return false;
		timeouts(c->l);
	}
	if (stage >= LISTENING && conn_listen(c))
		return false;
	if (stage >= PENDING && conn_connect(c) && errno != EISCONN)
		return false;
	if (stage >= CONNECTED && c->b < 0 && conn_accept(c) < 0)
		return false;
	if (stage >= CONNECTED)
		timeouts(c->b);
	return true;
}

void conn_leave(struct conn *c)
{
	if (c->a >= 0)
		close(c->a);
	if (c->b >= 0)
		close(c->b);
	if (c->l >= 0)
		close(c->l);
}

ssize_t way_push(int fd, struct way *w, size_t len, int flags)
{
	ssize_t n;

	content_fill(conn_out, len, w->seed, w->sent);
	n = send(fd, conn_out, len, flags | MSG_NOSIGNAL);
	if (n > 0)
		w->sent += n;
	return n;
}

ssize_t way_pull(int fd, struct way *w, int flags)
{
	ssize_t n = recv(fd, conn_in, sizeof(conn_in), flags);

	if (n <= 0)
		return n;
	if (content_check(conn_in, n, w->seed, w->got) != (size_t)n)
		bad("wrong content after %llu bytes",
		    (unsigned long long)w->got);
	if (!(flags & MSG_PEEK))
		w->got += n;
	return n;
}

bool way_drain(int fd, struct way *w)
{
	while (w->got < w->sent) {
		ssize_t n = way_pull(fd, w, 0);

		if (n > 0)
			continue;
		bad("%llu of %llu bytes came: %s", (unsigned long long)w->got,
		    (unsigned long long)w->sent,
		    n ? strerrorname_np(errno) : "end");
		return false;
	}
	return true;
}

bool conn_transfer(struct conn *c)
{
	if (way_push(c->a, &c->ab, LEN, 0) != LEN ||
	    way_push(c->b, &c->ba, LEN, 0) != LEN) {
		bad("send: %s", strerrorname_np(errno));
		return false;
	}
	return way_drain(c->b, &c->ab) && way_drain(c->a, &c->ba);
}

void conn_ended(int fd)
{
	ssize_t n = recv(fd, conn_in, 1, 0);

	if (n)
		bad("no end: %s", n < 0 ? strerrorname_np(errno) : "data");
}

bool conns_gone(void *arg)
{
	/* Each CPU keeps up to 1 MB for itself before it tells the others. */
	long reserve = sysconf(_SC_NPROCESSORS_CONF) * (1 << 20) /
		       getpagesize();

	(void)arg;
	return !sstp_sockets() && labs(sstp_pages()) <= reserve;
}
