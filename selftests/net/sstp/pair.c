// SPDX-License-Identifier: GPL-2.0
/* Both ends of a connection, in one process */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pair.h"

int new_socket(int type)
{
	int fd = proto_socket(PROTO_SSTP, AF_INET, type, 0);

	if (fd < 0)
		die("socket(AF_SSTP):");
	return fd;
}

void pair_connect(struct pair *p, int listener)
{
	union addr a;

	addr_loopback(&a, AF_INET, 0);
	if (bind(listener, &a.sa, addr_len(&a)) || listen(listener, 1) ||
	    getsockname(listener, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listener:");
	*p = (struct pair){ .tx = new_socket(SOCK_STREAM), .seed = nonce() };
	if (connect(p->tx, &a.sa, addr_len(&a)))
		die("connect:");
	p->rx = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	if (p->rx < 0)
		die("accept:");
	close(listener);
}

void pair_open(struct pair *p)
{
	pair_connect(p, new_socket(SOCK_STREAM));
}

void pair_close(struct pair *p)
{
	close(p->tx);
	close(p->rx);
}

void pair_fill(struct pair *p, uint64_t to)
{
	static char buf[64 << 10];
	ssize_t n = 0;

	while (p->sent < to) {
		size_t len = to - p->sent < sizeof(buf) ? to - p->sent :
			     sizeof(buf);

		content_fill(buf, len, p->seed, p->sent);
		n = send(p->tx, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0)
			break;
		p->sent += n;
	}
	if (n < 0 && errno != EAGAIN)
		die("send:");
}

bool pair_read(struct pair *p, size_t most)
{
	static char buf[64 << 10];
	ssize_t n;

	n = recv(p->rx, buf, most < sizeof(buf) ? most : sizeof(buf), 0);
	if (n < 0 && errno != EAGAIN)
		die("recv:");
	if (n <= 0)
		return false;
	if (content_check(buf, n, p->seed, p->got) != (size_t)n)
		die("wrong content after %llu bytes", (unsigned long long)p->got);
	p->got += n;
	return true;
}

bool all_read(void *arg)
{
	struct pair *p = arg;

	while (pair_read(p, SIZE_MAX))
		;
	return p->got == p->sent;
}

void pair_exchange(struct pair *p)
{
	struct pollfd f = { .fd = p->tx, .events = POLLIN };
	char c = 'x';

	pair_fill(p, p->sent + 1000);
	must(busywait(WAIT_MS, all_read, p), "what was sent comes");
	must(send(p->rx, &c, 1, MSG_NOSIGNAL) == 1 && poll(&f, 1, WAIT_MS) == 1 &&
	     recv(p->tx, &c, 1, MSG_DONTWAIT) == 1, "and the answer");
}

/* A limit that is waited for */
struct limit {
	int fd;
	uint32_t bytes;
};

static bool is_limit(void *arg)
{
	struct limit *l = arg;

	return sock_info(l->fd).rcv_buffer == l->bytes;
}

void must_become(const char *what, int fd, uint32_t bytes)
{
	if (!busywait(WAIT_MS, is_limit, &(struct limit){ fd, bytes }))
		must_be(what, sock_info(fd).rcv_buffer, bytes);
}
