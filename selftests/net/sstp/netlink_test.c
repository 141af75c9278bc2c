// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 *
 * The generic netlink family "sstp": what it shows is so, dumps are whole while
 * connections come and go, changes are made whole or not at all and by those who may,
 * events tell what happens, and nobody sees another namespace.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "nl.h"

#define WAIT_MS		30000
#define SEGMENT		16384

static struct nl nl;

/* Two ends that are connected over lo, and who listens there */
struct pair {
	int listener, tx, rx;
	union addr at;
};

static int listen_at(int family, int type, union addr *at)
{
	int fd = proto_socket(PROTO_SSTP, family, type, 0);

	addr_loopback(at, family, 0);
	if (fd < 0 || bind(fd, &at->sa, addr_len(at)) || listen(fd, 4096) ||
	    getsockname(fd, &at->sa, &(socklen_t){ sizeof(*at) }))
		die("listen:");
	return fd;
}

static void pair_connect(struct pair *p, int family, int type)
{
	p->tx = proto_socket(PROTO_SSTP, family, type, 0);
	if (p->tx < 0 || connect(p->tx, &p->at.sa, addr_len(&p->at)))
		die("connect:");
	p->rx = accept(p->listener, NULL, NULL);
	if (p->rx < 0)
		die("accept:");
}

static void pair_open(struct pair *p, int family, int type)
{
	p->listener = listen_at(family, type, &p->at);
	pair_connect(p, family, type);
}

static void pair_close(struct pair *p)
{
	close(p->tx);
	close(p->rx);
	close(p->listener);
}

/* @bytes from one end to the other, in pieces that always fit */
static void pair_move(struct pair *p, size_t bytes)
{
	static __thread char out[SEGMENT], in[SEGMENT];
	uint64_t seed = nonce();
	size_t pos;

	for (pos = 0; pos < bytes; pos += SEGMENT) {
		content_fill(out, SEGMENT, seed, pos);
		if (send(p->tx, out, SEGMENT, 0) != SEGMENT ||
		    recv(p->rx, in, SEGMENT, MSG_WAITALL) != SEGMENT) {
			must(false, "it moves");
			return;
		}
		must(content_check(in, SEGMENT, seed, pos) == SEGMENT, "it is the same");
	}
}

static uint64_t cookie(int fd)
{
	uint64_t value = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &value, &(socklen_t){ sizeof(value) }))
		die("SO_COOKIE:");
	return value;
}

/* A copy of the last connection that came, and how many have */
struct seen {
	char attrs[8192];
	struct nl_message m;
	int count;
};

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

/* Attributes of a request; ARGS() makes a list of them. */
struct arg {
	uint16_t type, len;
	const void *data;
	const struct arg *in;		/* what is nested in it */
};

#define ARGS(...)	((const struct arg[]){ __VA_ARGS__ __VA_OPT__(,) {} })
#define RAW(t, p, n)	{ .type = (t), .data = (p), .len = (n) }
#define NUMBER(t, T, v)	RAW(t, &(const T){ v }, sizeof(T))
#define U16(t, v)	NUMBER(t, uint16_t, v)
#define U32(t, v)	NUMBER(t, uint32_t, v)
#define U64(t, v)	NUMBER(t, uint64_t, v)
#define TEXT(t, s)	RAW(t, s, strlen(s) + 1)
#define NEST(t, ...)	{ .type = (t), .in = ARGS(__VA_ARGS__) }
#define CONTROL(name)	TEXT(SSTP_A_CONN_CONTROLLER, name)
#define POLICY(name)	TEXT(SSTP_A_CONN_POLICY, name)
#define RRDA(t, v)	NEST(SSTP_A_CONN_RRDA, U32(SSTP_A_RRDA_##t, v))
#define PEAK(v)		NEST(SSTP_A_CONN_RATE, U64(SSTP_A_RATE_PEAK, v))

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

/* What comes is put into @s, if it is not NULL: 0 or -errno */
static int ask(struct nl *n, uint8_t cmd, uint16_t flags, const struct arg *a,
	       struct seen *s)
{
	struct nl_request r;

	if (s)
		s->count = 0;
	nl_start(&r, n, cmd, flags);
	add_args(&r, a);
	return nl_talk(n, &r, s ? see : NULL, s);
}

static int get_by_cookie(struct nl *n, uint64_t value, struct seen *s)
{
	return ask(n, SSTP_CMD_CONN_GET, 0, ARGS(U64(SSTP_A_CONN_COOKIE, value)), s);
}

static int get_by_cid(struct nl *n, uint32_t value, struct seen *s)
{
	return ask(n, SSTP_CMD_CONN_GET, 0, ARGS(U32(SSTP_A_CONN_CID, value)), s);
}

/* The number of connections, or -errno */
static int dump(const struct arg *a, struct seen *s)
{
	return ask(&nl, SSTP_CMD_CONN_GET, NLM_F_DUMP, a, s) ?: s->count;
}

/* Of the socket that has @cookie */
static int change(uint64_t cookie, const struct arg *a)
{
	struct nl_request r;

	nl_start(&r, &nl, SSTP_CMD_CONN_SET, 0);
	nl_add_u64(&r, SSTP_A_CONN_COOKIE, cookie);
	add_args(&r, a);
	return nl_talk(&nl, &r, NULL, NULL);
}

static struct seen *get(int fd)
{
	static struct seen s;

	if (get_by_cookie(&nl, cookie(fd), &s) || s.count != 1)
		die("a socket is not to be seen");
	return &s;
}

static void must_be_addr(const char *what, const struct nl_message *m, uint16_t addr,
			 uint16_t port, const union addr *want)
{
	const void *bytes = want->sa.sa_family == AF_INET ?
		(const void *)&want->v4.sin_addr : &want->v6.sin6_addr;
	size_t n = want->sa.sa_family == AF_INET ? 4 : 16, len = 0;
	const void *got = nl_attr(m, addr, &len);

	must_be(what, len, n);
	must(len == n && !memcmp(got, bytes, n), what);
	must_be(what, ntohs(nl_number(m, port)), addr_port(want));
}

static void check_identity(int fd, int type)
{
	struct seen *s = get(fd), again;
	union addr self = {}, peer = {};
	struct stat st;

	if (getsockname(fd, &self.sa, &(socklen_t){ sizeof(self) }) ||
	    getpeername(fd, &peer.sa, &(socklen_t){ sizeof(peer) }) || fstat(fd, &st))
		die("getsockname:");
	must_be("family", nl_number(&s->m, SSTP_A_CONN_FAMILY), self.sa.sa_family);
	must_be_addr("local", &s->m, SSTP_A_CONN_LOCAL_ADDR, SSTP_A_CONN_LOCAL_PORT, &self);
	must_be_addr("remote", &s->m, SSTP_A_CONN_REMOTE_ADDR, SSTP_A_CONN_REMOTE_PORT,
		     &peer);
	must_be("state", nl_number(&s->m, SSTP_A_CONN_STATE), TCP_ESTABLISHED);
	must_be("type", nl_number(&s->m, SSTP_A_CONN_TYPE), type);
	must_be("uid", nl_number(&s->m, SSTP_A_CONN_UID), geteuid());
	must_be("inode", nl_number(&s->m, SSTP_A_CONN_INODE), st.st_ino);
	must(!nl_attr(&s->m, SSTP_A_CONN_IFINDEX, NULL), "no device");
	must(!nl_attr(&s->m, SSTP_A_CONN_BACKLOG, NULL), "no backlog");
	must(nl_number(&s->m, SSTP_A_CONN_CID), "a CID");
	must_be("by CID", get_by_cid(&nl, nl_number(&s->m, SSTP_A_CONN_CID), &again), 0);
	must_be("its cookie", nl_number(&again.m, SSTP_A_CONN_COOKIE), cookie(fd));
}

static void test_get(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };
	struct seen s = {};
	struct pair p;
	uint32_t cid;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		all_held = true;
		pair_open(&p, families[i], types[i]);
		check_identity(p.tx, types[i]);
		check_identity(p.rx, types[i]);
		cid = nl_number(&get(p.tx)->m, SSTP_A_CONN_CID);
		must_be("the peer's CID", nl_number(&get(p.rx)->m, SSTP_A_CONN_PEER_CID), cid);
		pair_close(&p);
		ktap_result(all_held, "IPv%d: one connection", i ? 6 : 4);
	}

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(p.tx)->m, SSTP_A_CONN_CID);
	must_be("no such cookie", get_by_cookie(&nl, UINT64_MAX, &s), -ENOENT);
	must_be("no such CID", get_by_cid(&nl, 0, &s), -ENOENT);
	/* The accepted one has not been given a cookie yet. */
	must_be("no cookie", get_by_cookie(&nl, 0, &s), -ENOENT);
	must_be("a change without a cookie", change(0, ARGS(PEAK(8000))), -ENOENT);
	must_be("nothing said", ask(&nl, SSTP_CMD_CONN_GET, 0, ARGS(), NULL), -EINVAL);
	must(nl.why[0], "it says why");
	must_be("the CID of another cookie", ask(&nl, SSTP_CMD_CONN_GET, 0, ARGS(
		U32(SSTP_A_CONN_CID, cid), U64(SSTP_A_CONN_COOKIE, cookie(p.rx))), NULL), -ENOENT);
	pair_close(&p);
	must(busywait(WAIT_MS, sstp_no_sockets, NULL), "all are gone");
	must_be("what is gone", get_by_cid(&nl, cid, &s), -ENOENT);
	ktap_result(all_held, "what is not there is not found");
}

static struct sstp_rate_spec rate_of(const struct nl_message *m, uint16_t type)
{
	struct nl_message in = nl_inside(m, type);

	return (struct sstp_rate_spec){
		.peak = nl_number(&in, SSTP_A_RATE_PEAK),
		.average = nl_number(&in, SSTP_A_RATE_AVERAGE),
		.burst_rate = nl_number(&in, SSTP_A_RATE_BURST_RATE),
		.burst_len = nl_number(&in, SSTP_A_RATE_BURST_LEN),
	};
}

/* struct sstp_info, from a message: attributes are in the order of its fields. */
static struct sstp_info info_of(const struct nl_message *m)
{
	struct nl_message in = nl_inside(m, SSTP_A_CONN_INFO);
	size_t at = 0, len, room;
	struct sstp_info i = {};
	const void *data;
	uint16_t type;

	for (type = SSTP_A_INFO_STATE; type <= SSTP_A_INFO_MAX; type++, at += room) {
		data = nl_attr(&in, type, &len);
		if (!data)
			die("info has no attribute %u", type);
		if (type == SSTP_A_INFO_RATE) {
			i.rate = rate_of(&in, type);
			at = offsetof(struct sstp_info, rate);
			room = sizeof(i.rate);
			continue;
		}
		room = type == SSTP_A_INFO_CONTROLLER || type == SSTP_A_INFO_POLICY ?
			SSTP_NAME_MAX : len;
		if (room <= sizeof(uint64_t))
			at = (at + room - 1) / room * room;
		if (len > room || at + room > sizeof(i))
			die("attribute %u of info has %zu bytes", type, len);
		memcpy((char *)&i + at, data, len);
	}
	must_be("bytes of info", at, sizeof(i));
	return i;
}

struct still {
	int fd;
	struct sstp_info before, shown;
};

static bool stood_still(void *arg)
{
	struct still *s = arg;
	struct sstp_info after;

	s->before = sock_info(s->fd);
	s->shown = info_of(&get(s->fd)->m);
	after = sock_info(s->fd);
	if (s->shown.age < s->before.age || s->shown.age > after.age)
		return false;
	/* Time does not. */
	s->before.age = after.age;
	s->shown.age = after.age;
	return !memcmp(&s->before, &after, sizeof(after));
}

static void test_info(void)
{
	struct sstp_rate_spec rate = { 80000000, 40000000, 0, 200 };
	struct still s;
	struct pair p;
	size_t i;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	if (setsockopt(p.tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	pair_move(&p, 40 * SEGMENT);
	for (i = 0; i < 2; i++) {
		s.fd = i ? p.rx : p.tx;
		must(busywait(WAIT_MS, stood_still, &s), "it stands still");
		must(!memcmp(&s.before, &s.shown, sizeof(s.shown)), "it is as SSTP_INFO");
	}
	must_be("received", s.shown.bytes_received, 40 * SEGMENT);
	must_be("the contract", info_of(&get(p.tx)->m).rate.average, rate.average);
	pair_close(&p);
	ktap_result(all_held, "info is what SSTP_INFO says");
}

/* Dumps */

static void test_filters(void)
{
	const struct in6_addr mapped = { .s6_addr = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	const struct in_addr v4 = { htonl(INADDR_LOOPBACK) }, none = {};
	struct pair a, b;
	struct seen s;
	union addr any;
	size_t i;
	int l;

	all_held = true;
	pair_open(&a, AF_INET, SOCK_STREAM);
	pair_open(&b, AF_INET6, SOCK_SEQPACKET);
	l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	addr_any(&any, AF_INET, 0);
	if (bind(l, &any.sa, addr_len(&any)) || listen(l, 7))
		die("listen:");

#define STATES(v)	U32(SSTP_A_CONN_STATES, v)
#define LOCAL(p, n)	RAW(SSTP_A_CONN_LOCAL_ADDR, p, n)
#define REMOTE(p, n)	RAW(SSTP_A_CONN_REMOTE_ADDR, p, n)
	const struct {
		const char *what;
		int want, only;		/* how many; which, if it is one */
		const struct arg *args;
	} cases[] = {
		{ "all", 7, 0, ARGS() },
		{ "listeners", 3, 0, ARGS(STATES(1 << TCP_LISTEN)) },
		{ "established and listeners", 7, 0,
		  ARGS(STATES(1 << TCP_ESTABLISHED | 1 << TCP_LISTEN)) },
		{ "half closed", 0, 0, ARGS(STATES(1 << TCP_CLOSE_WAIT)) },
		{ "IPv6", 3, 0, ARGS(U16(SSTP_A_CONN_FAMILY, AF_INET6)) },
		{ "IPv6 listeners", 1, b.listener,
		  ARGS(U16(SSTP_A_CONN_FAMILY, AF_INET6), STATES(1 << TCP_LISTEN)) },
		{ "local port", 2, 0,
		  ARGS(U16(SSTP_A_CONN_LOCAL_PORT, htons(addr_port(&a.at)))) },
		{ "remote port", 1, a.tx,
		  ARGS(U16(SSTP_A_CONN_REMOTE_PORT, htons(addr_port(&a.at)))) },
		{ "CID", 1, a.tx,
		  ARGS(U32(SSTP_A_CONN_CID, nl_number(&get(a.tx)->m, SSTP_A_CONN_CID))) },
		{ "cookie", 1, b.rx, ARGS(U64(SSTP_A_CONN_COOKIE, cookie(b.rx))) },
		{ "local address", 3, 0, ARGS(LOCAL(&v4, 4)) },
		{ "remote address", 2, 0, ARGS(REMOTE(&v4, 4)) },
		{ "remote address, mapped", 2, 0, ARGS(REMOTE(&mapped, 16)) },
		{ "local address of IPv6", 3, 0, ARGS(LOCAL(&in6addr_loopback, 16)) },
		{ "no address", 1, l, ARGS(LOCAL(&none, 4)) },
		{ "no address of IPv6", 0, 0, ARGS(LOCAL(&in6addr_any, 16)) },
		{ "the last of two", 1, b.rx,
		  ARGS(U64(SSTP_A_CONN_COOKIE, cookie(a.rx)),
		       U64(SSTP_A_CONN_COOKIE, cookie(b.rx))) },
		{ "half an address", -EINVAL, 0, ARGS(LOCAL(&in6addr_any, 5)) },
		{ "too long an address", -EINVAL, 0, ARGS(REMOTE(cases, 17)) },
		{ "what is no filter", -EINVAL, 0, ARGS(U32(SSTP_A_CONN_UID, 0)) },
	};
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		must_be(cases[i].what, dump(cases[i].args, &s), cases[i].want);
		must(!!nl.why[0] == (cases[i].want < 0), cases[i].what);
		if (cases[i].only)
			must_be(cases[i].what, nl_number(&s.m, SSTP_A_CONN_COOKIE),
				cookie(cases[i].only));
	}
#undef STATES
#undef LOCAL
#undef REMOTE
	close(l);
	pair_close(&a);
	pair_close(&b);
	ktap_result(all_held, "dumps: every filter");
}

struct waiting {
	int fd;
	unsigned int want;
};

static bool waits(void *arg)
{
	struct waiting *w = arg;

	return nl_number(&get(w->fd)->m, SSTP_A_CONN_BACKLOG) == w->want;
}

static void test_listener(void)
{
	struct waiting w;
	union addr at;
	struct seen *s;
	int fd[3], i;

	all_held = true;
	w.fd = listen_at(AF_INET, SOCK_STREAM, &at);
	w.want = ARRAY_SIZE(fd);
	listen(w.fd, 5);
	for (i = 0; i < (int)ARRAY_SIZE(fd); i++) {
		fd[i] = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
		if (connect(fd[i], &at.sa, addr_len(&at)))
			die("connect:");
	}
	must(busywait(WAIT_MS, waits, &w), "three wait");
	s = get(w.fd);
	must_be("most", nl_number(&s->m, SSTP_A_CONN_BACKLOG_MAX), 5);
	must_be("state", nl_number(&s->m, SSTP_A_CONN_STATE), TCP_LISTEN);
	must(!nl_attr(&s->m, SSTP_A_CONN_CID, NULL), "no CID");
	must(!nl_attr(&s->m, SSTP_A_CONN_REMOTE_PORT, NULL), "no peer");
	close(accept(w.fd, NULL, NULL));
	w.want--;
	must(waits(&w), "two wait");
	for (i = 0; i < (int)ARRAY_SIZE(fd); i++)
		close(fd[i]);
	close(w.fd);
	ktap_result(all_held, "a listener's queue");
}

/* Dumps while others come and go */

#define CHURNERS	2

static struct many {
	int n;
	struct pair *p;
	uint8_t *times;		/* by cookie */
	uint64_t cookies;	/* the largest, plus 1 */
} many;

static volatile bool churn_on, churn_moves;
static pthread_t churner[CHURNERS];
static long churned[CHURNERS];

static void *churn(void *arg)
{
	long *count = arg;
	struct pair p;

	while (churn_on) {
		pair_open(&p, AF_INET, SOCK_STREAM);
		if (churn_moves)
			pair_move(&p, SEGMENT);
		pair_close(&p);
		++*count;
	}
	return NULL;
}

static void churn_start(bool moves)
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

/* How many came and went */
static long churn_end(void)
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

static void count_cookie(const struct nl_message *m, void *arg)
{
	uint64_t c = nl_number(m, SSTP_A_CONN_COOKIE);
	long *all = arg;

	++*all;
	if (c < many.cookies && many.times[c] < UINT8_MAX)
		many.times[c]++;
}

static void once(int fd, long *missed, long *again)
{
	uint8_t times = many.times[cookie(fd)];

	*missed += !times;
	*again += times > 1;
}

static void test_many(int n)
{
	const struct rlimit files = { 2 * n + 200, 2 * n + 200 };
	long missed = 0, again = 0, all, ends = 0, came;
	uint64_t start, longest = 0;
	struct nl_request r;
	int i, round;

	all_held = true;
	if (setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit:");
	many.n = n;
	many.p = calloc(n, sizeof(*many.p));
	many.p[0].listener = listen_at(AF_INET, SOCK_STREAM, &many.p[0].at);
	for (i = 0; i < n; i++) {
		many.p[i].listener = many.p[0].listener;
		many.p[i].at = many.p[0].at;
		pair_connect(&many.p[i], AF_INET, SOCK_STREAM);
		if (cookie(many.p[i].tx) >= many.cookies)
			many.cookies = cookie(many.p[i].tx) + 1;
		if (cookie(many.p[i].rx) >= many.cookies)
			many.cookies = cookie(many.p[i].rx) + 1;
	}
	many.times = calloc(many.cookies, 1);

	churn_start(false);
	for (round = 0; round < 5; round++) {
		memset(many.times, 0, many.cookies);
		all = 0;
		start = now_ns();
		nl_start(&r, &nl, SSTP_CMD_CONN_GET, NLM_F_DUMP);
		must_be("dump", nl_talk(&nl, &r, count_cookie, &all), 0);
		if (now_ns() - start > longest)
			longest = now_ns() - start;
		for (i = 0; i < n; i++) {
			once(many.p[i].tx, &missed, &again);
			once(many.p[i].rx, &missed, &again);
		}
		/* Those before are among what comes and goes then. */
		for (i = round * n / 10; i < (round + 1) * n / 10; i++)
			ends += shutdown(many.p[i].tx, SHUT_WR);
	}
	came = churn_end();
	must_be("missed", missed, 0);
	must_be("shown again", again, 0);
	must_be("shutdown", ends, 0);
	ktap_diag("the longest of %d dumps took %llu ms; %ld came and went", round,
		  (unsigned long long)longest / 1000000, came);
	for (i = 0; i < n; i++) {
		close(many.p[i].tx);
		close(many.p[i].rx);
	}
	close(many.p[0].listener);
	free(many.p);
	free(many.times);
	ktap_result(all_held, "dumps of %d connections, each end once", n);
}

/* Changes */

/* What can be changed */
struct set {
	struct sstp_rate_spec rate;
	struct sstp_rrda_spec rrda;
	char controller[SSTP_NAME_MAX], policy[SSTP_NAME_MAX];
};

static void get_set(int fd, struct set *s)
{
	memset(s, 0, sizeof(*s));
	if (getsockopt(fd, SOL_SSTP, SSTP_RATE, &s->rate,
		       &(socklen_t){ sizeof(s->rate) }) ||
	    getsockopt(fd, SOL_SSTP, SSTP_RRDA, &s->rrda,
		       &(socklen_t){ sizeof(s->rrda) }) ||
	    getsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, s->controller,
		       &(socklen_t){ SSTP_NAME_MAX }) ||
	    getsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, s->policy,
		       &(socklen_t){ SSTP_NAME_MAX }))
		die("getsockopt:");
}

static void test_set(void)
{
	struct pair p;
	struct set s;
	int i;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	must_be("rate", change(cookie(p.tx), ARGS(NEST(SSTP_A_CONN_RATE,
		U64(SSTP_A_RATE_PEAK, 2000000000), U64(SSTP_A_RATE_AVERAGE, 1000000000),
		U32(SSTP_A_RATE_BURST_LEN, 300)))), 0);
	get_set(p.tx, &s);
	must_be("peak", s.rate.peak, 2000000000);
	must_be("average", s.rate.average, 1000000000);
	must_be("burst length", s.rate.burst_len, 300);
	must_be("peak in force", sock_info(p.tx).rate.peak, 2000000000);
	pair_move(&p, 4 * SEGMENT);
	must_be("no rate", change(cookie(p.tx), ARGS(NEST(SSTP_A_CONN_RATE))), 0);
	must_be("no contract", sock_info(p.tx).rate.peak, 0);

	must_be("epoch", change(cookie(p.rx), ARGS(RRDA(EPOCH, 50))), 0);
	for (i = SSTP_A_RRDA_K; i <= SSTP_A_RRDA_CEILING; i++)
		must_be("tunable", change(cookie(p.rx), ARGS(NEST(SSTP_A_CONN_RRDA,
			U32(i, i < SSTP_A_RRDA_FLOOR ? i : i * 65536)))), 0);
	get_set(p.rx, &s);
	must_be("epoch", s.rrda.epoch, 50);
	must_be("k", s.rrda.k, SSTP_A_RRDA_K);
	must_be("beta", s.rrda.beta, SSTP_A_RRDA_BETA);
	must_be("omega", s.rrda.omega, SSTP_A_RRDA_OMEGA);
	must_be("floor", s.rrda.floor, SSTP_A_RRDA_FLOOR * 65536);
	must_be("ceiling", s.rrda.ceiling, SSTP_A_RRDA_CEILING * 65536);
	ktap_result(all_held, "contract and tunables of a live connection");

	all_held = true;
	for (i = 0; i < 6; i++) {
		static const char * const ctrl[] = { "rate", "newreno" };
		static const char * const policy[] = { "static", "rrda" };

		must_be("controller", change(cookie(p.tx), ARGS(CONTROL(ctrl[i % 2]))), 0);
		must(!strcmp(sock_info(p.tx).controller, ctrl[i % 2]), ctrl[i % 2]);
		must(i % 2 ? sock_info(p.tx).cwnd < UINT32_MAX :
		     sock_info(p.tx).cwnd == UINT32_MAX, "a window of its own");
		must_be("policy", change(cookie(p.rx), ARGS(POLICY(policy[i % 2]))), 0);
		must(!strcmp(sock_info(p.rx).policy, policy[i % 2]), policy[i % 2]);
		pair_move(&p, 100 * SEGMENT);
	}
	ktap_result(all_held, "controller and policy of a live connection");

	all_held = true;
	close(p.tx);
	close(p.rx);
	must_be("listener", change(cookie(p.listener), ARGS(
		PEAK(3000000000), RRDA(K, 7), CONTROL("newreno"), POLICY("static"))), 0);
	pair_connect(&p, AF_INET, SOCK_STREAM);
	get_set(p.rx, &s);
	must_be("a child's peak", s.rate.peak, 3000000000);
	must_be("a child's k", s.rrda.k, 7);
	must(!strcmp(s.controller, "newreno"), "a child's controller");
	must(!strcmp(s.policy, "static"), "a child's policy");
	pair_close(&p);
	ktap_result(all_held, "a listener's settings");
}

/* @args fail, with the reason and, if @blame, the attribute. Nothing of @fd changes. */
static void must_refuse(int fd, const char *what, int err, bool blame,
			const struct arg *args)
{
	struct set before, after;

	get_set(fd, &before);
	must_be(what, change(cookie(fd), args), -err);
	must(nl.why[0], what);
	must(!blame || nl.bad, what);
	get_set(fd, &after);
	must(!memcmp(&before, &after, sizeof(after)), what);
}

static void test_refused(void)
{
	/* What is right does not happen, either. */
#define RATE(peak, average, ...)							\
	ARGS(CONTROL("rate"), NEST(SSTP_A_CONN_RATE, U64(SSTP_A_RATE_PEAK, peak),		\
	     U64(SSTP_A_RATE_AVERAGE, average) __VA_OPT__(,) __VA_ARGS__))
	const struct {
		const char *what;
		int err;
		const struct arg *args;
	} cases[] = {
		{ "peak too low", EINVAL, RATE(7999, 0) },
		{ "peak too high", EINVAL, RATE(1000000000001, 0) },
		{ "average above the peak", EINVAL, RATE(1000000, 1000001) },
		{ "average too low", EINVAL, RATE(1000000, 7999) },
		{ "bursts above the peak", EINVAL,
		  RATE(1000000, 0, U32(SSTP_A_RATE_BURST_RATE, 1000000),
		       U32(SSTP_A_RATE_BURST_LEN, 100)) },
		{ "bursts too long", EINVAL,
		  RATE(1000000, 0, U32(SSTP_A_RATE_BURST_LEN, 65536)) },
		{ "no peak", EINVAL, RATE(0, 1000000) },
		{ "no part of a rate", EINVAL, RATE(1000000, 0, U32(9, 0)) },
		{ "half a peak", EINVAL, ARGS(CONTROL("rate"), NEST(SSTP_A_CONN_RATE,
						U32(SSTP_A_RATE_PEAK, 1000000))) },
		{ "epoch too long", EINVAL, ARGS(CONTROL("rate"), RRDA(EPOCH, 10001)) },
		{ "k too large", EINVAL, ARGS(CONTROL("rate"), RRDA(K, 256)) },
		{ "beta too large", EINVAL, ARGS(CONTROL("rate"), RRDA(BETA, 1025)) },
		{ "omega too large", EINVAL, ARGS(CONTROL("rate"), RRDA(OMEGA, 1001)) },
		{ "floor too low", EINVAL, ARGS(CONTROL("rate"), RRDA(FLOOR, 4095)) },
		{ "ceiling too high", EINVAL, ARGS(CONTROL("rate"), RRDA(CEILING, (1 << 30) + 1)) },
		{ "floor above the ceiling", EINVAL, ARGS(CONTROL("rate"), RRDA(FLOOR, 1 << 21)) },
		{ "not a nest", EINVAL, ARGS(CONTROL("rate"), U32(SSTP_A_CONN_RATE, 0)) },
		{ "no such policy", ENOENT, ARGS(CONTROL("rate"), POLICY("none")) },
		{ "no policy's name", ENOENT, ARGS(PEAK(1000000), POLICY("")) },
		{ "no such controller", ENOENT, ARGS(POLICY("static"), CONTROL("none")) },
		{ "a long name", EINVAL, ARGS(PEAK(1000000), CONTROL("sixteen letters!")) },
		{ "a name without an end", EINVAL,
		  ARGS(PEAK(1000000), RAW(SSTP_A_CONN_CONTROLLER, "rate", 4)) },
		{ "a filter", EINVAL, ARGS(CONTROL("rate"), U32(SSTP_A_CONN_STATES, ~0)) },
	};
#undef RATE
	struct sstp_rrda_spec rrda = { .ceiling = 1 << 20 };
	uint32_t cid;
	struct pair p;
	union addr at;
	size_t i;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	if (setsockopt(p.tx, SOL_SSTP, SSTP_RRDA, &rrda, sizeof(rrda)))
		die("SSTP_RRDA:");
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		must_refuse(p.tx, cases[i].what, cases[i].err, true, cases[i].args);
	must_refuse(p.tx, "nothing to change", EINVAL, false, ARGS());

	cid = nl_number(&get(p.rx)->m, SSTP_A_CONN_CID);
	must_be("another's CID", change(cookie(p.tx), ARGS(U32(SSTP_A_CONN_CID, cid),
							   CONTROL("rate"))), -ENOENT);
	must(!strcmp(sock_info(p.rx).controller, "newreno"), "it was not that one");
	sock_set(p.tx, SOL_SOCKET, SO_RCVBUF, 100000);
	must_refuse(p.tx, "SO_RCVBUF", EINVAL, true, ARGS(CONTROL("rate"), POLICY("rrda")));
	pair_close(&p);

	p.listener = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	sock_set(p.listener, SOL_SSTP, SSTP_POOL, 1);
	addr_loopback(&at, AF_INET, 0);
	if (bind(p.listener, &at.sa, addr_len(&at)) || listen(p.listener, 5) ||
	    getsockname(p.listener, &p.at.sa, &(socklen_t){ sizeof(p.at) }))
		die("listen:");
	pair_connect(&p, AF_INET, SOCK_STREAM);
	must_refuse(p.rx, "tunables of a part of a pool", EINVAL, true,
		    ARGS(CONTROL("rate"), RRDA(K, 5)));
	must_refuse(p.rx, "policy of a part of a pool", EINVAL, true,
		    ARGS(CONTROL("rate"), POLICY("static")));
	must_refuse(p.listener, "policy of a pool", EINVAL, true,
		    ARGS(CONTROL("rate"), POLICY("static")));
	must_be("tunables of a pool", change(cookie(p.listener), ARGS(RRDA(K, 5))), 0);
	pair_close(&p);
	ktap_result(all_held, "what is wrong changes nothing");
}

/* What is there now */
struct crowd {
	uint64_t cookie[1000];
	int n;
};

static void crowd_add(const struct nl_message *m, void *arg)
{
	struct crowd *c = arg;

	if (c->n < (int)ARRAY_SIZE(c->cookie))
		c->cookie[c->n++] = nl_number(m, SSTP_A_CONN_COOKIE);
}

/* Changes meet connections in every state: that of all are made, or the socket has gone. */
static void test_races(void)
{
	const struct arg *const changes[] = {
		ARGS(PEAK(500000000), CONTROL("rate"), POLICY("static"), RRDA(K, 5)),
		ARGS(PEAK(0), CONTROL("newreno"), POLICY("rrda"), RRDA(K, 0)),
		ARGS(NEST(SSTP_A_CONN_RATE, U64(SSTP_A_RATE_PEAK, 900000000),
			  U32(SSTP_A_RATE_BURST_LEN, 4)), CONTROL("newreno")),
		ARGS(POLICY("static")), ARGS(POLICY("rrda"), CONTROL("rate")),
	};
	static struct crowd crowd;
	struct nl_request r;
	long made = 0, gone = 0;
	int i, err;

	all_held = true;
	churn_start(true);
	while (made < 1000) {
		crowd.n = 0;
		nl_start(&r, &nl, SSTP_CMD_CONN_GET, NLM_F_DUMP);
		must_be("dump", nl_talk(&nl, &r, crowd_add, &crowd), 0);
		for (i = 0; i < crowd.n; i++) {
			err = change(crowd.cookie[i], changes[(made + gone) % ARRAY_SIZE(changes)]);
			made += !err;
			gone += err == -ENOENT;
			if (err && err != -ENOENT)
				must_be(nl.why, err, 0);
		}
	}
	ktap_diag("%ld changes, %ld came too late, %ld came and went", made, gone, churn_end());
	ktap_result(all_held, "changes of what comes and goes");
}

/* In a child, in other shoes: whether it sees sockets, and what @change gets */
static void must_get(const char *what, void (*become)(void), uint64_t c, int want)
{
	pid_t pid = fork();
	struct seen s;
	int status;

	if (pid < 0)
		die("fork:");
	if (!pid) {
		become();
		nl_open(&nl);
		if (dump(ARGS(), &s) < 3)
			_exit(255);
		_exit(-change(c, ARGS(PEAK(1000000))));
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid:");
	must_be(what, WIFEXITED(status) ? WEXITSTATUS(status) : -1, want);
}

static void as_nobody(void)
{
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(254);
}

/* With all capabilities, but not in the namespace of users that the network's is of */
static void as_root_elsewhere(void)
{
	if (unshare(CLONE_NEWUSER))
		_exit(254);
}

/* A network of its own, in a namespace of users where it may do what it likes */
static int as_root_at_home(void)
{
	pid_t pid = fork();
	struct pair p;
	int status;

	if (pid < 0)
		die("fork:");
	if (pid)
		return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
			WEXITSTATUS(status) : -1;
	if (unshare(CLONE_NEWUSER))
		_exit(254);
	new_namespace();
	nl_open(&nl);
	pair_open(&p, AF_INET, SOCK_STREAM);
	status = -change(cookie(p.tx), ARGS(PEAK(1000000)));
	_exit(status ?: sock_info(p.tx).rate.peak != 1000000);
}

static void test_privilege(void)
{
	struct pair p;
	struct set before, after;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	get_set(p.tx, &before);
	must_get("as nobody", as_nobody, cookie(p.tx), EPERM);
	must_get("as root of other users", as_root_elsewhere, cookie(p.tx), EPERM);
	get_set(p.tx, &after);
	must(!memcmp(&before, &after, sizeof(after)), "as before");
	must_be("as root of a network of one's own", as_root_at_home(), 0);
	pair_close(&p);
	ktap_result(all_held, "everybody may look, not everybody may change");
}

/* Events */

static struct nl ev;
static char event_buf[16384];

static void events_open(void)
{
	nl_open(&ev);
	if (setsockopt(ev.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &ev.events,
		       sizeof(ev.events)))
		die("NETLINK_ADD_MEMBERSHIP:");
}

/* The next event @cmd of the socket that has @cookie; others are passed over. */
static bool event_of(uint64_t c, uint8_t cmd, struct nl_message *m)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;

	while (now_ns() < end)
		if (nl_event(&ev, event_buf, sizeof(event_buf), m, 1000) &&
		    m->cmd == cmd && nl_number(m, SSTP_A_CONN_COOKIE) == c)
			return true;
	ktap_diag("no event %u", cmd);
	all_held = false;
	*m = (struct nl_message){};
	return false;
}

static void must_close(uint64_t c, const char *what, int err, enum sstp_closed_by by)
{
	struct nl_message m;

	if (!event_of(c, SSTP_CMD_CLOSED, &m))
		ktap_diag("%s", what);
	must_be(what, nl_number(&m, SSTP_A_CONN_ERROR), err);
	must_be(what, nl_number(&m, SSTP_A_CONN_CLOSED_BY), by);
	must(nl_attr(&m, SSTP_A_CONN_INFO, NULL), "its last info");
}

static void lo_up(bool up)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("lo:");
	close(fd);
}

static void test_closed(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct nl_message m;
	uint64_t tx, rx;
	struct pair p;
	union addr at;
	int fd;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	tx = cookie(p.tx);
	rx = cookie(p.rx);
	event_of(tx < rx ? tx : rx, SSTP_CMD_ESTABLISHED, &m);
	must_be("state", nl_number(&m, SSTP_A_CONN_STATE), TCP_ESTABLISHED);
	event_of(tx < rx ? rx : tx, SSTP_CMD_ESTABLISHED, &m);
	must(nl_number(&m, SSTP_A_CONN_CID) && nl_number(&m, SSTP_A_CONN_PEER_CID), "CIDs");
	must(nl_number(&m, SSTP_A_CONN_LOCAL_PORT) == htons(addr_port(&p.at)) ||
	     nl_number(&m, SSTP_A_CONN_REMOTE_PORT) == htons(addr_port(&p.at)), "port");
	ktap_result(all_held, "events: established");

	all_held = true;
	close(p.tx);
	must(!recv(p.rx, event_buf, 1, 0), "the end");
	close(p.rx);
	must_close(tx, "closed well, here", 0, SSTP_CLOSED_BY_LOCAL);
	close(p.listener);
	/* The other end's came before or comes after. */
	pair_open(&p, AF_INET, SOCK_STREAM);
	tx = cookie(p.tx);
	rx = cookie(p.rx);
	close(p.tx);
	must(!recv(p.rx, event_buf, 1, 0), "the end");
	close(p.rx);
	must_close(rx, "closed well, by the peer", 0, SSTP_CLOSED_BY_PEER);
	close(p.listener);

	pair_open(&p, AF_INET, SOCK_STREAM);
	tx = cookie(p.tx);
	must(send(p.tx, "x", 1, 0) == 1, "sent");
	must(recv(p.rx, event_buf, 1, MSG_PEEK) == 1, "here");
	close(p.rx);
	must_close(tx, "reset by the peer", ECONNRESET, SSTP_CLOSED_BY_PEER);
	close(p.tx);
	close(p.listener);

	pair_open(&p, AF_INET, SOCK_STREAM);
	tx = cookie(p.tx);
	must(!connect(p.tx, &none, sizeof(none)), "disconnect");
	must_close(tx, "reset here", ECONNRESET, SSTP_CLOSED_BY_LOCAL);
	pair_close(&p);

	addr_loopback(&at, AF_INET, 1);
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	tx = cookie(fd);
	must(connect(fd, &at.sa, addr_len(&at)) && errno == ECONNREFUSED, "refused");
	must_close(tx, "refused", ECONNREFUSED, SSTP_CLOSED_BY_PEER);
	close(fd);

	pair_open(&p, AF_INET, SOCK_STREAM);
	sock_set(p.tx, SOL_SSTP, SSTP_USER_TIMEOUT, 500);
	tx = cookie(p.tx);
	lo_up(false);
	must(send(p.tx, "x", 1, 0) == 1, "sent");
	event_of(tx, SSTP_CMD_CLOSED, &m);
	must_be("timeout", nl_number(&m, SSTP_A_CONN_CLOSED_BY), SSTP_CLOSED_BY_TIMEOUT);
	must(nl_number(&m, SSTP_A_CONN_ERROR), "an error");
	lo_up(true);
	pair_close(&p);
	ktap_result(all_held, "events: closed, and why");
}

static void test_changed(void)
{
	struct sstp_rate_spec rate = { .peak = 7000000 }, told;
	struct nl_message m;
	struct pair p;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	if (setsockopt(p.tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	event_of(cookie(p.tx), SSTP_CMD_RATE_CHANGED, &m);
	told = rate_of(&m, SSTP_A_CONN_RATE);
	must_be("peak", told.peak, rate.peak);
	must_be("average", told.average, rate.peak);
	must_be("no rate", change(cookie(p.tx), ARGS(PEAK(0))), 0);
	event_of(cookie(p.tx), SSTP_CMD_RATE_CHANGED, &m);
	must_be("no peak", rate_of(&m, SSTP_A_CONN_RATE).peak, 0);
	ktap_result(all_held, "events: another contract");

	/* Nothing moves: it falls to the floor. */
	all_held = true;
	pair_move(&p, 4 * SEGMENT);
	event_of(cookie(p.rx), SSTP_CMD_BUFFER_RESIZED, &m);
	must(nl_number(&m, SSTP_A_CONN_OLD_LIMIT) != nl_number(&m, SSTP_A_CONN_NEW_LIMIT) &&
	     nl_number(&m, SSTP_A_CONN_NEW_LIMIT), "another limit");
	must(!nl_attr(&m, SSTP_A_CONN_SHARED, NULL), "not shared");
	pair_close(&p);
	ktap_result(all_held, "events: another limit");
}

static void test_exhausted(void)
{
	uint64_t start, last = 0, now = 0;
	struct nl_message m = {};
	static char buf[SEGMENT];
	int events = 0, i;
	struct pair p;

	all_held = true;
	p.listener = listen_at(AF_INET, SOCK_STREAM, &p.at);
	sock_set(p.listener, SOL_SOCKET, SO_RCVBUF, 30000);
	sock_set(p.listener, SOL_SSTP, SSTP_WINDOW_FACTOR, 1000);
	pair_connect(&p, AF_INET, SOCK_STREAM);
	start = now_ns();
	/* More than there is room for, until it has been told thrice */
	for (i = 0; events < 3 && i < 100000; i++) {
		send(p.tx, buf, sizeof(buf), MSG_DONTWAIT);
		if (!nl_event(&ev, event_buf, sizeof(event_buf), &m, 1)) {
			/* Room again, for the next to overfill */
			recv(p.rx, buf, sizeof(buf), MSG_DONTWAIT);
			continue;
		}
		if (m.cmd != SSTP_CMD_EXHAUSTED)
			continue;
		events++;
		now = nl_number(&m, SSTP_A_CONN_PACKETS_DISCARDED);
		must(now > last, "more packets");
		last = now;
		must(nl_number(&m, SSTP_A_CONN_BYTES_DISCARDED) >= now, "bytes of them");
	}
	must_be("events", events, 3);
	must(now_ns() - start >= 2 * 100000000ULL, "not too often");
	must(sock_info(p.rx).packets_discarded >= last, "as SSTP_INFO");
	pair_close(&p);
	ktap_result(all_held, "events: no room");
}

static void test_lost(void)
{
	bool lost = false;
	struct nl_message m;
	struct pair p;
	int i;

	all_held = true;
	sock_set(ev.fd, SOL_SOCKET, SO_RCVBUF, 1);
	p.listener = listen_at(AF_INET, SOCK_STREAM, &p.at);
	for (i = 0; i < 20; i++) {
		pair_connect(&p, AF_INET, SOCK_STREAM);
		close(p.tx);
		close(p.rx);
	}
	close(p.listener);
	for (i = 0; i < 100 && !lost; i++)
		lost = !nl_event(&ev, event_buf, sizeof(event_buf), &m, 0) && errno == ENOBUFS;
	must(lost, "it is told");
	ktap_result(all_held, "events: lost ones are missed");
}

/* Namespaces */

static void test_namespace(void)
{
	struct nl here = nl, there;
	struct nl_message m;
	struct pair p, q;
	struct seen s;
	uint32_t cid;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(p.tx)->m, SSTP_A_CONN_CID);
	new_namespace();
	nl_open(&there);
	nl = there;
	events_open();
	must_be("nobody is here", dump(ARGS(), &s), 0);
	must_be("by cookie", get_by_cookie(&there, cookie(p.tx), &s), -ENOENT);
	must_be("by CID", get_by_cid(&there, cid, &s), -ENOENT);
	must_be("set", change(cookie(p.tx), ARGS(CONTROL("rate"))), -ENOENT);
	nl = here;
	must_be("set, there", change(cookie(p.tx), ARGS(CONTROL("rate"))), 0);
	nl = there;
	pair_close(&p);
	/* The first that is heard of is one from here. */
	pair_open(&q, AF_INET, SOCK_STREAM);
	must(nl_event(&ev, event_buf, sizeof(event_buf), &m, WAIT_MS), "an event");
	must(nl_number(&m, SSTP_A_CONN_COOKIE) == cookie(q.tx) ||
	     nl_number(&m, SSTP_A_CONN_COOKIE) == cookie(q.rx), "from here");
	must_be("counter", ask(&there, SSTP_CMD_STAT_GET, 0,
			       ARGS(TEXT(SSTP_A_STAT_NAME, "Established")), &s), 0);
	m = nl_inside(&s.m, SSTP_A_STAT_COUNTER);
	must_be("of here", nl_number(&m, SSTP_A_COUNTER_VALUE), 2);
	pair_close(&q);
	nl_close(&ev);
	nl_close(&here);
	ktap_result(all_held, "another namespace is not seen");
}

/* The rest */

static void see_counters(const struct nl_message *m, void *arg)
{
	struct nl_message one;
	const void *data;
	int *count = arg;
	const char *name;
	uint16_t type;
	size_t pos = 0;

	while (nl_next(m, &pos, &type, &data, &one.len)) {
		must_be("attribute", type, SSTP_A_STAT_COUNTER);
		one.attrs = data;
		name = nl_attr(&one, SSTP_A_COUNTER_NAME, NULL);
		must_be(name, nl_number(&one, SSTP_A_COUNTER_VALUE), sstp_counter(name));
		++*count;
	}
}

static int lines(const char *file)
{
	FILE *f = fopen(file, "r");
	int c, n = 0;

	if (!f)
		die("%s:", file);
	while ((c = fgetc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static void see_names(const struct nl_message *m, void *arg)
{
	char *names = arg;

	strcat(strcat(names, nl_attr(m, SSTP_A_PLUGIN_NAME, NULL)), " ");
}

static void test_lists(void)
{
	const struct {
		const char *what;
		int cmd, err;
		const struct arg *args;
	} cases[] = {
		{ "no such counter", SSTP_CMD_STAT_GET, ENOENT,
		  ARGS(TEXT(SSTP_A_STAT_NAME, "None")) },
		{ "no counter's name", SSTP_CMD_STAT_GET, EINVAL, ARGS() },
		{ "a policy", SSTP_CMD_POLICY_GET, 0, ARGS(TEXT(SSTP_A_PLUGIN_NAME, "rrda")) },
		{ "not a controller", SSTP_CMD_CTRL_GET, ENOENT,
		  ARGS(TEXT(SSTP_A_PLUGIN_NAME, "rrda")) },
		{ "no controller's name", SSTP_CMD_CTRL_GET, EINVAL, ARGS() },
	};
	char ctrls[256] = "", policies[256] = "";
	struct nl_request r;
	int count = 0;
	size_t i;

	all_held = true;
	must(busywait(WAIT_MS, sstp_no_sockets, NULL), "all are gone");
	nl_start(&r, &nl, SSTP_CMD_STAT_GET, NLM_F_DUMP);
	must_be("counters", nl_talk(&nl, &r, see_counters, &count), 0);
	must_be("counters", count, lines("/proc/net/sstp_snmp"));
	nl_start(&r, &nl, SSTP_CMD_STAT_GET, NLM_F_DUMP);
	nl_add_text(&r, SSTP_A_STAT_NAME, "Resets");
	count = 0;
	must_be("one counter", nl_talk(&nl, &r, see_counters, &count), 0);
	must_be("one counter", count, 1);
	nl_start(&r, &nl, SSTP_CMD_CTRL_GET, NLM_F_DUMP);
	must_be("controllers", nl_talk(&nl, &r, see_names, ctrls), 0);
	must(strstr(ctrls, "rate ") && strstr(ctrls, "newreno "), ctrls);
	nl_start(&r, &nl, SSTP_CMD_POLICY_GET, NLM_F_DUMP);
	must_be("policies", nl_talk(&nl, &r, see_names, policies), 0);
	must(strstr(policies, "static ") && strstr(policies, "rrda "), policies);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		must_be(cases[i].what, ask(&nl, cases[i].cmd, 0, cases[i].args, NULL),
			-cases[i].err);
		must(!!nl.why[0] == (cases[i].err == ENOENT), cases[i].what);
	}
	ktap_result(all_held, "counters, controllers, policies");
}

static void test_garbage(void)
{
	static char junk[200];
	const struct {
		const char *what;
		int cmd, flags, err;
		const struct arg *args;
	} cases[] = {
		{ "no such command", 200, 0, EOPNOTSUPP, ARGS() },
		{ "an event's", SSTP_CMD_CLOSED, 0, EOPNOTSUPP, ARGS() },
		{ "no such dump", SSTP_CMD_CONN_SET, NLM_F_DUMP, EOPNOTSUPP, ARGS() },
		{ "half a CID", SSTP_CMD_CONN_GET, 0, EINVAL, ARGS(U16(SSTP_A_CONN_CID, 1)) },
		{ "a long address", SSTP_CMD_CONN_GET, 0, EINVAL,
		  ARGS(U32(SSTP_A_CONN_CID, 1), RAW(SSTP_A_CONN_REMOTE_ADDR, junk, 17)) },
		{ "no filter", SSTP_CMD_CONN_GET, 0, EINVAL,
		  ARGS(U32(SSTP_A_CONN_CID, 1), U32(SSTP_A_CONN_UID, 0)) },
		{ "no such attribute", SSTP_CMD_CONN_GET, 0, EINVAL,
		  ARGS(U32(SSTP_A_CONN_CID, 1), U32(500, 0)) },
	};
	uint64_t seed = nonce(), x = seed;
	struct nl_request r;
	struct pair p;
	uint32_t cid;
	int i, done;

	all_held = true;
	pair_open(&p, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(p.tx)->m, SSTP_A_CONN_CID);
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++)
		must_be(cases[i].what, ask(&nl, cases[i].cmd, cases[i].flags, cases[i].args, NULL),
			-cases[i].err);

	/* What makes no sense at all; some of it may. */
	for (i = 0; i < 5000; i++) {
		x = mix64(x);
		nl_start(&r, &nl, x % 7, x >> 8 & 1 ? NLM_F_DUMP : 0);
		nl_add_u32(&r, SSTP_A_CONN_CID, cid);
		for (done = 0; done < (int)(x >> 9 & 3); done++) {
			x = mix64(x);
			content_fill(junk, sizeof(junk), seed, x >> 32);
			nl_add(&r, x % 32 | (x >> 5 & 1 ? NLA_F_NESTED : 0), junk,
			       (x >> 6) % (x >> 14 & 1 ? sizeof(junk) : 24));
		}
		/* An attribute that ends behind the message */
		if (!(x >> 16 & 7))
			((struct nlattr *)r.attrs)->nla_len = x >> 20;
		nl_talk(&nl, &r, NULL, NULL);
	}
	must_be("still there", nl_number(&get(p.tx)->m, SSTP_A_CONN_CID), cid);
	pair_move(&p, SEGMENT);
	pair_close(&p);
	if (!all_held)
		ktap_diag("seed %#llx", (unsigned long long)seed);
	ktap_result(all_held, "requests that make no sense");
}

/* A dump that nobody reads, until standard input ends: for module.sh */
static int hold(void)
{
	struct nl_request r;
	char c;

	nl_open(&nl);
	nl_start(&r, &nl, SSTP_CMD_STAT_GET, NLM_F_DUMP);
	if (send(nl.fd, &r, r.n.nlmsg_len, 0) < 0)
		die("send:");
	puts("held");
	fflush(stdout);
	return read(STDIN_FILENO, &c, 1) < 0;
}

/* Both ends are here. */
static int how_many(void)
{
	const char *kernel = getenv("SSTP_KERNEL");

	if (kernel && (!strcmp(kernel, "debug") || !strcmp(kernel, "kcsan")))
		return 600;
	return file_number("/proc/meminfo", "MemAvailable:", 1) > 1500000 &&
	       kernel && !strcmp(kernel, "uml") ? 10000 : 3000;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "hold"))
		return hold();
	new_namespace();
	nl_open(&nl);
	ktap_plan(22);
	test_get();
	test_info();
	test_filters();
	test_listener();
	test_many(how_many());
	must(busywait(WAIT_MS, sstp_no_sockets, NULL), "all are gone");
	test_set();
	test_refused();
	test_races();
	test_privilege();
	events_open();
	test_closed();
	test_changed();
	test_exhausted();
	test_lost();
	nl_close(&ev);
	test_namespace();
	test_lists();
	test_garbage();
	return ktap_end();
}
