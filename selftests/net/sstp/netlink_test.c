// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * quick: yes
 * mode: parallel
 *
 * The generic netlink family "sstp": what it shows is so, dumps are whole while
 * connections come and go, requests that make no sense do no harm, and nobody sees
 * another namespace.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conns.h"

static int get_by_cid(struct nl *n, uint32_t value, struct seen *s)
{
	return ask(n, SSTP_CMD_CONN_GET, 0, ARGS(U32(SSTP_A_CONN_CID, value)), s);
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
	struct conn c;
	uint32_t cid;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		all_held = true;
		conn_open(&c, families[i], types[i]);
		check_identity(c.tx, types[i]);
		check_identity(c.rx, types[i]);
		cid = nl_number(&get(c.tx)->m, SSTP_A_CONN_CID);
		must_be("the peer's CID", nl_number(&get(c.rx)->m, SSTP_A_CONN_PEER_CID), cid);
		conn_close(&c);
		ktap_result(all_held, "IPv%d: one connection", i ? 6 : 4);
	}

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(c.tx)->m, SSTP_A_CONN_CID);
	must_be("no such cookie", get_by_cookie(&nl, UINT64_MAX, &s), -ENOENT);
	must_be("no such CID", get_by_cid(&nl, 0, &s), -ENOENT);
	/* The accepted one has not been given a cookie yet. */
	must_be("no cookie", get_by_cookie(&nl, 0, &s), -ENOENT);
	must_be("a change without a cookie", change(0, ARGS(PEAK(8000))), -ENOENT);
	must_be("nothing said", ask(&nl, SSTP_CMD_CONN_GET, 0, ARGS(), NULL), -EINVAL);
	must(nl.why[0], "it says why");
	must_be("the CID of another cookie", ask(&nl, SSTP_CMD_CONN_GET, 0, ARGS(
		U32(SSTP_A_CONN_CID, cid), U64(SSTP_A_CONN_COOKIE, cookie(c.rx))), NULL), -ENOENT);
	conn_close(&c);
	must(sstp_sockets_end(WAIT_MS), "all are gone");
	must_be("what is gone", get_by_cid(&nl, cid, &s), -ENOENT);
	ktap_result(all_held, "what is not there is not found");
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
	struct conn c;
	size_t i;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	if (setsockopt(c.tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	conn_move(&c, 40 * SEGMENT);
	for (i = 0; i < 2; i++) {
		s.fd = i ? c.rx : c.tx;
		must(busywait(WAIT_MS, stood_still, &s), "it stands still");
		must(!memcmp(&s.before, &s.shown, sizeof(s.shown)), "it is as SSTP_INFO");
	}
	must_be("received", s.shown.bytes_received, 40 * SEGMENT);
	s.shown = info_of(&get(c.tx)->m);
	must_be("the contract", s.shown.rate.average, rate.average);
	must(s.shown.acked_rate > 0 && s.shown.rto > s.shown.rtt, "a delivery rate, a time-out");
	conn_close(&c);
	ktap_result(all_held, "info is what SSTP_INFO says");
}

static bool over(void *arg)
{
	return sock_info(*(int *)arg).state == TCP_CLOSE;
}

/* After the end times stay as they are, while the reader reads the rest. */
static void test_ended(void)
{
	struct linger now = { 1, 0 };
	struct sstp_info ended, after;
	uint64_t since;
	struct conn c;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	must(send(c.tx, "left", 4, 0) == 4, "sent");
	must(poll(&(struct pollfd){ c.rx, POLLIN, 0 }, 1, WAIT_MS) == 1, "it is there");
	setsockopt(c.tx, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(c.tx);
	must(busywait(WAIT_MS, over, &c.rx), "it is over");
	ended = sock_info(c.rx);
	must(ended.age && ended.unread_time && ended.unread_time <= ended.age, "times");
	since = now_ns();
	while (now_ns() - since < 2000000)
		;
	must(recv(c.rx, (char[8]){}, 8, 0) == 4, "the rest is taken");
	after = sock_info(c.rx);
	must_be("age", after.age, ended.age);
	must_be("unread", after.unread_time, ended.unread_time);
	close(c.rx);
	close(c.listener);
	ktap_result(all_held, "times are there after the end, and stand still");
}

/* Dumps */

static void test_filters(void)
{
	const struct in6_addr mapped = { .s6_addr = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	const struct in_addr v4 = { htonl(INADDR_LOOPBACK) }, none = {};
	struct conn a, b;
	struct seen s;
	union addr any;
	size_t i;
	int l;

	all_held = true;
	must(sstp_sockets_end(WAIT_MS), "sockets of earlier tests are gone");
	conn_open(&a, AF_INET, SOCK_STREAM);
	conn_open(&b, AF_INET6, SOCK_SEQPACKET);
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
	conn_close(&a);
	conn_close(&b);
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

/* Dumps while other connections come and go */

static struct many {
	int n;
	struct conn *c;
	uint8_t *times;		/* by cookie */
	uint64_t cookies;	/* the largest, plus 1 */
} many;

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
	many.c = calloc(n, sizeof(*many.c));
	many.c[0].listener = listen_at(AF_INET, SOCK_STREAM, &many.c[0].at);
	for (i = 0; i < n; i++) {
		many.c[i].listener = many.c[0].listener;
		many.c[i].at = many.c[0].at;
		conn_connect(&many.c[i], AF_INET, SOCK_STREAM);
		if (cookie(many.c[i].tx) >= many.cookies)
			many.cookies = cookie(many.c[i].tx) + 1;
		if (cookie(many.c[i].rx) >= many.cookies)
			many.cookies = cookie(many.c[i].rx) + 1;
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
			once(many.c[i].tx, &missed, &again);
			once(many.c[i].rx, &missed, &again);
		}
		/* Connections of earlier rounds end during the dump. */
		for (i = round * n / 10; i < (round + 1) * n / 10; i++)
			ends += shutdown(many.c[i].tx, SHUT_WR);
	}
	came = churn_end();
	must_be("missed", missed, 0);
	must_be("shown again", again, 0);
	must_be("shutdown", ends, 0);
	ktap_diag("the longest of %d dumps took %llu ms; %ld came and went", round,
		  (unsigned long long)longest / 1000000, came);
	for (i = 0; i < n; i++) {
		close(many.c[i].tx);
		close(many.c[i].rx);
	}
	close(many.c[0].listener);
	free(many.c);
	free(many.times);
	must(sstp_sockets_end(WAIT_MS), "all are gone");
	ktap_result(all_held, "dumps of %d connections, each end once", n);
}

/* Namespaces */

static void test_namespace(void)
{
	struct nl here = nl, there, ev;
	static char buf[16384];
	struct nl_message m;
	struct conn c, other;
	struct seen s;
	uint32_t cid;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(c.tx)->m, SSTP_A_CONN_CID);
	new_namespace();
	nl_open(&there);
	nl = there;
	nl_open(&ev);
	nl_join(&ev);
	must_be("nobody is here", dump(ARGS(), &s), 0);
	must_be("by cookie", get_by_cookie(&there, cookie(c.tx), &s), -ENOENT);
	must_be("by CID", get_by_cid(&there, cid, &s), -ENOENT);
	must_be("set", change(cookie(c.tx), ARGS(CONTROL("rate"))), -ENOENT);
	nl = here;
	must_be("set, there", change(cookie(c.tx), ARGS(CONTROL("rate"))), 0);
	nl = there;
	conn_close(&c);
	/* The first that is heard of is one from here. */
	conn_open(&other, AF_INET, SOCK_STREAM);
	must(nl_event(&ev, buf, sizeof(buf), &m, WAIT_MS), "an event");
	must(nl_number(&m, SSTP_A_CONN_COOKIE) == cookie(other.tx) ||
	     nl_number(&m, SSTP_A_CONN_COOKIE) == cookie(other.rx), "from here");
	must_be("counter", ask(&there, SSTP_CMD_STAT_GET, 0,
			       ARGS(TEXT(SSTP_A_STAT_NAME, "Established")), &s), 0);
	m = nl_inside(&s.m, SSTP_A_STAT_COUNTER);
	must_be("of here", nl_number(&m, SSTP_A_COUNTER_VALUE), 2);
	conn_close(&other);
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

/* "name=least-most" of each parameter, and the names of the state */
static void see_plugin(const struct nl_message *m, void *arg)
{
	char *text = arg, one[64];
	struct nl_message p = {};
	const void *data;
	uint16_t type;
	size_t pos = 0;

	while (nl_next(m, &pos, &type, &data, &p.len)) {
		p.attrs = data;
		if (type == SSTP_A_PLUGIN_PARAM)
			snprintf(one, sizeof(one), "%s=%llu-%llu ",
				 (const char *)nl_attr(&p, SSTP_A_PARAM_NAME, NULL),
				 (unsigned long long)nl_number(&p, SSTP_A_PARAM_LEAST),
				 (unsigned long long)nl_number(&p, SSTP_A_PARAM_MOST));
		else
			snprintf(one, sizeof(one), "%s ", (const char *)data);
		strcat(text, one);
	}
}

static void must_describe(uint8_t cmd, const char *name, const char *want)
{
	char text[512] = "";
	struct nl_request r;

	nl_start(&r, &nl, cmd, 0);
	nl_add_text(&r, SSTP_A_PLUGIN_NAME, name);
	must_be(name, nl_talk(&nl, &r, see_plugin, text), 0);
	if (strcmp(text, want))
		ktap_diag("\"%s\", not \"%s\"", text, want);
	must(!strcmp(text, want), name);
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
	must(sstp_sockets_end(WAIT_MS), "all are gone");
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
	must_describe(SSTP_CMD_POLICY_GET, "static", "static ");
	must_describe(SSTP_CMD_POLICY_GET, "rrda", "rrda epoch=1-10000 k=1-255 beta=1-1024 "
		      "omega=1-1000 floor=4096-1073741824 ceiling=4096-1073741824 "
		      "surplus trend ");
	must_describe(SSTP_CMD_CTRL_GET, "newreno", "newreno ssthresh ");
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
	struct conn c;
	uint32_t cid;
	int i, done, cmd;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(c.tx)->m, SSTP_A_CONN_CID);
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++)
		must_be(cases[i].what, ask(&nl, cases[i].cmd, cases[i].flags, cases[i].args, NULL),
			-cases[i].err);

	/* Requests that make no sense; some of them succeed. */
	for (i = 0; i < 5000; i++) {
		x = mix64(x);
		cmd = x % (SSTP_CMD_MAX + 1);
		nl_start(&r, &nl, cmd, x >> 8 & 1 ? NLM_F_DUMP : 0);
		/* Do not end the connection. */
		nl_add_u32(&r, SSTP_A_CONN_CID, cmd == SSTP_CMD_CONN_DESTROY ? 0 : cid);
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
	must_be("still there", nl_number(&get(c.tx)->m, SSTP_A_CONN_CID), cid);
	conn_move(&c, SEGMENT);
	conn_close(&c);
	if (!all_held)
		ktap_diag("seed %#llx", (unsigned long long)seed);
	ktap_result(all_held, "requests that make no sense");
}

/* Begin a dump and do not read it until standard input ends: for module.sh. */
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

	if (kernel && (!strncmp(kernel, "debug", 5) || !strcmp(kernel, "kcsan")))
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
	ktap_plan(11);
	test_get();
	test_info();
	test_ended();
	test_filters();
	test_listener();
	test_many(how_many());
	test_namespace();
	test_lists();
	test_garbage();
	return ktap_end();
}
