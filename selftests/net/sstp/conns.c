// SPDX-License-Identifier: GPL-2.0
/* Connections, and what generic netlink tells and changes of them */
#include <linux/sstp_netlink.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conns.h"

#define CHURNERS	2

struct nl nl;

int listen_at(int family, int type, union addr *at)
{
	int fd = proto_socket(PROTO_SSTP, family, type, 0);

	addr_loopback(at, family, 0);
	if (fd < 0 || bind(fd, &at->sa, addr_len(at)) || listen(fd, 4096) ||
	    getsockname(fd, &at->sa, &(socklen_t){ sizeof(*at) }))
		die("listen:");
	return fd;
}

void conn_connect(struct conn *c, int family, int type)
{
	c->tx = proto_socket(PROTO_SSTP, family, type, 0);
	if (c->tx < 0 || connect(c->tx, &c->at.sa, addr_len(&c->at)))
		die("connect:");
	c->rx = accept(c->listener, NULL, NULL);
	if (c->rx < 0)
		die("accept:");
}

void conn_open(struct conn *c, int family, int type)
{
	c->listener = listen_at(family, type, &c->at);
	conn_connect(c, family, type);
}

void conn_close(struct conn *c)
{
	close(c->tx);
	close(c->rx);
	close(c->listener);
}

void conn_move(struct conn *c, size_t bytes)
{
	static __thread char out[SEGMENT], in[SEGMENT];
	uint64_t seed = nonce();
	size_t pos;

	for (pos = 0; pos < bytes; pos += SEGMENT) {
		content_fill(out, SEGMENT, seed, pos);
		if (send(c->tx, out, SEGMENT, 0) != SEGMENT ||
		    recv(c->rx, in, SEGMENT, MSG_WAITALL) != SEGMENT) {
			must(false, "it moves");
			return;
		}
		must(content_check(in, SEGMENT, seed, pos) == SEGMENT, "it is the same");
	}
}

uint64_t cookie(int fd)
{
	uint64_t value = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &value, &(socklen_t){ sizeof(value) }))
		die("SO_COOKIE:");
	return value;
}

static void see(const struct nl_message *m, void *arg)
{
	struct seen *s = arg;

	if (m->len > sizeof(s->attrs))
		die("a message of %zu bytes", m->len);
	memcpy(s->attrs, m->attrs, m->len);
	s->m = *m;
	s->m.attrs = s->attrs;
	s->count++;
}

static void add_args(struct nl_request *r, const struct arg *a)
{
	size_t nest;

	for (; a->type; a++) {
		if (!a->in) {
			nl_add(r, a->type, a->data, a->len);
			continue;
		}
		nest = nl_nest(r, a->type);
		add_args(r, a->in);
		nl_nest_end(r, nest);
	}
}

int ask(struct nl *n, uint8_t cmd, uint16_t flags, const struct arg *a, struct seen *s)
{
	struct nl_request r;

	if (s)
		s->count = 0;
	nl_start(&r, n, cmd, flags);
	add_args(&r, a);
	return nl_talk(n, &r, s ? see : NULL, s);
}

int get_by_cookie(struct nl *n, uint64_t value, struct seen *s)
{
	return ask(n, SSTP_CMD_CONN_GET, 0, ARGS(U64(SSTP_A_CONN_COOKIE, value)), s);
}

int dump(const struct arg *a, struct seen *s)
{
	return ask(&nl, SSTP_CMD_CONN_GET, NLM_F_DUMP, a, s) ?: s->count;
}

int change(uint64_t whose, const struct arg *a)
{
	struct nl_request r;

	nl_start(&r, &nl, SSTP_CMD_CONN_SET, 0);
	nl_add_u64(&r, SSTP_A_CONN_COOKIE, whose);
	add_args(&r, a);
	return nl_talk(&nl, &r, NULL, NULL);
}

struct seen *get(int fd)
{
	static struct seen s;

	if (get_by_cookie(&nl, cookie(fd), &s) || s.count != 1)
		die("a socket is not to be seen");
	return &s;
}

struct sstp_rate_spec rate_of(const struct nl_message *m, uint16_t type)
{
	struct nl_message in = nl_inside(m, type);

	return (struct sstp_rate_spec){
		.peak = nl_number(&in, SSTP_A_RATE_PEAK),
		.average = nl_number(&in, SSTP_A_RATE_AVERAGE),
		.burst_rate = nl_number(&in, SSTP_A_RATE_BURST_RATE),
		.burst_len = nl_number(&in, SSTP_A_RATE_BURST_LEN),
	};
}

static volatile bool churn_on, churn_moves;
static pthread_t churner[CHURNERS];
static long churned[CHURNERS];

static void *churn(void *arg)
{
	long *count = arg;
	struct conn c;

	while (churn_on) {
		conn_open(&c, AF_INET, SOCK_STREAM);
		if (churn_moves)
			conn_move(&c, SEGMENT);
		conn_close(&c);
		++*count;
	}
	return NULL;
}

void churn_start(bool moves)
{
	int i;

	churn_moves = moves;
	churn_on = true;
	for (i = 0; i < CHURNERS; i++) {
		churned[i] = 0;
		if (pthread_create(&churner[i], NULL, churn, &churned[i]))
			die("pthread_create:");
	}
}

long churn_end(void)
{
	long all = 0;
	int i;

	churn_on = false;
	for (i = 0; i < CHURNERS; i++) {
		pthread_join(churner[i], NULL);
		all += churned[i];
	}
	must(all > 0, "some came and went");
	return all;
}
