// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * quick: yes
 * mode: parallel
 *
 * The generic netlink family "sstp": changes are made whole or not at all, by those who
 * may, while connections come and go.
 */
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conns.h"

#define POLICY(name)	TEXT(SSTP_A_CONN_POLICY, name)
#define PARAM(name, v)	NEST(SSTP_A_PARAMS_PARAM, TEXT(SSTP_A_PARAM_NAME, name),	\
			     U64(SSTP_A_PARAM_VALUE, v))
#define PARAMS(...)	NEST(SSTP_A_CONN_POLICY_PARAMS, __VA_ARGS__)
#define RRDA(name, v)	PARAMS(PARAM(name, v))

/* Attributes that can be changed */
struct set {
	struct sstp_rate_spec rate;
	struct sstp_param param[SSTP_PARAMS_MAX + SSTP_STATE_MAX];
	char controller[SSTP_NAME_MAX], policy[SSTP_NAME_MAX];
};

static void get_set(int fd, struct set *s)
{
	memset(s, 0, sizeof(*s));
	if (getsockopt(fd, SOL_SSTP, SSTP_RATE, &s->rate,
		       &(socklen_t){ sizeof(s->rate) }) ||
	    getsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, s->controller,
		       &(socklen_t){ SSTP_NAME_MAX }) ||
	    getsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, s->policy,
		       &(socklen_t){ SSTP_NAME_MAX }))
		die("getsockopt:");
	params_get(fd, SSTP_POLICY_PARAM, s->param);
}

static int64_t policy_param(int fd, const char *name)
{
	return param_get(fd, SSTP_POLICY_PARAM, name);
}

#define NONE	INT64_MIN

/* The parameter or value @name that netlink has of @fd in @nest, or NONE */
static int64_t nl_param(int fd, uint16_t nest, const char *name)
{
	struct nl_message in = nl_inside(&get(fd)->m, nest), p = {};
	const void *data;
	uint16_t type;
	size_t pos = 0;

	while (nl_next(&in, &pos, &type, &data, &p.len)) {
		p.attrs = data;
		if (type == SSTP_A_PARAMS_PARAM &&
		    !strcmp(nl_attr(&p, SSTP_A_PARAM_NAME, NULL), name))
			return nl_number(&p, SSTP_A_PARAM_VALUE);
	}
	return NONE;
}

static void set_contract(struct conn *c)
{
	struct set s;

	must_be("rate", change(cookie(c->tx), ARGS(NEST(SSTP_A_CONN_RATE,
		U64(SSTP_A_RATE_PEAK, 2000000000), U64(SSTP_A_RATE_AVERAGE, 1000000000),
		U32(SSTP_A_RATE_BURST_LEN, 300)))), 0);
	get_set(c->tx, &s);
	must_be("peak", s.rate.peak, 2000000000);
	must_be("average", s.rate.average, 1000000000);
	must_be("burst length", s.rate.burst_len, 300);
	must_be("peak in force", sock_info(c->tx).rate.peak, 2000000000);
	conn_move(c, 4 * SEGMENT);
	must_be("no rate", change(cookie(c->tx), ARGS(NEST(SSTP_A_CONN_RATE))), 0);
	must_be("no contract", sock_info(c->tx).rate.peak, 0);
}

static void set_params(struct conn *c)
{
	must_be("epoch", change(cookie(c->rx), ARGS(RRDA("epoch", 50))), 0);
	must_be("all others", change(cookie(c->rx), ARGS(PARAMS(
		PARAM("k", 2), PARAM("beta", 3), PARAM("omega", 4), PARAM("floor", 5 << 16),
		PARAM("ceiling", 6 << 16)))), 0);
	must_be("epoch", policy_param(c->rx, "epoch"), 50);
	must_be("k", policy_param(c->rx, "k"), 2);
	must_be("beta", policy_param(c->rx, "beta"), 3);
	must_be("omega", policy_param(c->rx, "omega"), 4);
	must_be("floor", policy_param(c->rx, "floor"), 5 << 16);
	must_be("ceiling", policy_param(c->rx, "ceiling"), 6 << 16);
	must_be("epoch is read", nl_param(c->rx, SSTP_A_CONN_POLICY_PARAMS, "epoch"), 50);
	must_be("ceiling is read", nl_param(c->rx, SSTP_A_CONN_POLICY_PARAMS, "ceiling"), 6 << 16);
	must(nl_param(c->rx, SSTP_A_CONN_POLICY_PARAMS, "trend") != NONE, "the state is read");
	must(nl_param(c->tx, SSTP_A_CONN_CONTROLLER_PARAMS, "ssthresh") > 0,
	     "the controller's state is read");
	must_be("0", change(cookie(c->rx), ARGS(RRDA("epoch", 0))), 0);
	must_be("0 is not read", nl_param(c->rx, SSTP_A_CONN_POLICY_PARAMS, "epoch"), NONE);
	must_be("the rest stays", policy_param(c->rx, "k"), 2);
}

static void set_ctrl_and_policy(struct conn *c)
{
	int i;

	for (i = 0; i < 6; i++) {
		static const char * const ctrl[] = { "rate", "newreno" };
		static const char * const policy[] = { "static", "rrda" };

		must_be("controller", change(cookie(c->tx), ARGS(CONTROL(ctrl[i % 2]))), 0);
		must(!strcmp(sock_info(c->tx).controller, ctrl[i % 2]), ctrl[i % 2]);
		must(i % 2 ? sock_info(c->tx).cwnd < UINT32_MAX :
		     sock_info(c->tx).cwnd == UINT32_MAX, "a window of its own");
		must_be("policy", change(cookie(c->rx), ARGS(POLICY(policy[i % 2]))), 0);
		must(!strcmp(sock_info(c->rx).policy, policy[i % 2]), policy[i % 2]);
		conn_move(c, 100 * SEGMENT);
	}
	must_be("k has gone with its policy", policy_param(c->rx, "k"), 0);
	must_be("a policy with its parameters", change(cookie(c->rx), ARGS(POLICY("rrda"),
		RRDA("k", 9))), 0);
	must_be("the same policy, k", policy_param(c->rx, "k"), 9);
	must_be("static", change(cookie(c->rx), ARGS(POLICY("static"))), 0);
	must_be("k of one to come", change(cookie(c->rx), ARGS(RRDA("k", 5), POLICY("rrda"))), 0);
	must_be("another policy, k", policy_param(c->rx, "k"), 5);
}

/* Children have what their listener has then. */
static void set_listener(struct conn *c)
{
	struct set s;

	close(c->tx);
	close(c->rx);
	must_be("listener", change(cookie(c->listener), ARGS(
		PEAK(3000000000), RRDA("k", 7), CONTROL("newreno"))), 0);
	must_be("of a listener", nl_param(c->listener, SSTP_A_CONN_POLICY_PARAMS, "k"), 7);
	conn_connect(c, AF_INET, SOCK_STREAM);
	get_set(c->rx, &s);
	must_be("a child's peak", s.rate.peak, 3000000000);
	must_be("a child's k", policy_param(c->rx, "k"), 7);
	must(!strcmp(s.controller, "newreno"), "a child's controller");
	close(c->tx);
	close(c->rx);
	must_be("its policy", change(cookie(c->listener), ARGS(POLICY("static"))), 0);
	conn_connect(c, AF_INET, SOCK_STREAM);
	get_set(c->rx, &s);
	must(!strcmp(s.policy, "static"), "a child's policy");
}

static void test_set(void)
{
	struct conn c;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	set_contract(&c);
	set_params(&c);
	ktap_result(all_held, "contract and parameters of a live connection");
	all_held = true;
	set_ctrl_and_policy(&c);
	ktap_result(all_held, "controller and policy of a live connection");
	all_held = true;
	set_listener(&c);
	conn_close(&c);
	ktap_result(all_held, "a listener's settings");
}

/* A request with @args fails, with a message and, if @blame, the attribute; @fd is unchanged. */
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

/* A request with an invalid part, and how it fails */
struct wrong {
	const char *what;
	int err;
	const struct arg *args;
};

static void must_refuse_all(int fd, const struct wrong *cases, size_t n)
{
	for (; n; n--, cases++)
		must_refuse(fd, cases->what, cases->err, true, cases->args);
}

static void refuse_rates(int fd)
{
#define RATE(peak, average, ...)							\
	ARGS(CONTROL("rate"), NEST(SSTP_A_CONN_RATE, U64(SSTP_A_RATE_PEAK, peak),		\
	     U64(SSTP_A_RATE_AVERAGE, average) __VA_OPT__(,) __VA_ARGS__))
	const struct wrong cases[] = {
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
		{ "not a nest", EINVAL, ARGS(CONTROL("rate"), U32(SSTP_A_CONN_RATE, 0)) },
	};
#undef RATE

	must_refuse_all(fd, cases, ARRAY_SIZE(cases));
}

static void refuse_params(int fd)
{
#define WRONG(name, v)	ARGS(CONTROL("rate"), RRDA(name, v))
	const struct wrong cases[] = {
		{ "epoch too long", EINVAL, WRONG("epoch", 10001) },
		{ "k too large", EINVAL, WRONG("k", 256) },
		{ "k negative", EINVAL, WRONG("k", -1) },
		{ "beta too large", EINVAL, WRONG("beta", 1025) },
		{ "omega too large", EINVAL, WRONG("omega", 1001) },
		{ "floor too low", EINVAL, WRONG("floor", 4095) },
		{ "ceiling too high", EINVAL, WRONG("ceiling", (1 << 30) + 1) },
		{ "floor above the ceiling", EINVAL, WRONG("floor", 1 << 21) },
		{ "no such parameter", ENOENT, WRONG("none", 1) },
		{ "state", ENOENT, WRONG("trend", 1) },
		{ "a long name", EINVAL, WRONG("sixteen letters!", 1) },
		{ "the second of two", ENOENT,
		  ARGS(CONTROL("rate"), PARAMS(PARAM("k", 5), PARAM("none", 1))) },
		{ "nine", EINVAL, ARGS(CONTROL("rate"), PARAMS(
			PARAM("k", 1), PARAM("k", 1), PARAM("k", 1), PARAM("k", 1),
			PARAM("k", 1), PARAM("k", 1), PARAM("k", 1), PARAM("k", 1),
			PARAM("k", 1))) },
		{ "no parameters", EINVAL, ARGS(CONTROL("rate"), PARAMS()) },
		{ "no value", EINVAL, ARGS(CONTROL("rate"), PARAMS(NEST(SSTP_A_PARAMS_PARAM,
			TEXT(SSTP_A_PARAM_NAME, "k")))) },
		{ "no name", EINVAL, ARGS(CONTROL("rate"), PARAMS(NEST(SSTP_A_PARAMS_PARAM,
			U64(SSTP_A_PARAM_VALUE, 1)))) },
		{ "half a value", EINVAL, ARGS(CONTROL("rate"), PARAMS(NEST(SSTP_A_PARAMS_PARAM,
			TEXT(SSTP_A_PARAM_NAME, "k"), U32(SSTP_A_PARAM_VALUE, 1)))) },
		{ "a range", EINVAL, ARGS(CONTROL("rate"), PARAMS(NEST(SSTP_A_PARAMS_PARAM,
			TEXT(SSTP_A_PARAM_NAME, "k"), U64(SSTP_A_PARAM_VALUE, 1),
			U32(SSTP_A_PARAM_LEAST, 1)))) },
		{ "parameters of another policy", ENOENT,
		  ARGS(POLICY("static"), RRDA("k", 5)) },
		{ "parameters of no controller", ENOENT,
		  ARGS(PEAK(1000000), NEST(SSTP_A_CONN_CONTROLLER_PARAMS, PARAM("k", 5))) },
	};
#undef WRONG

	must_refuse_all(fd, cases, ARRAY_SIZE(cases));
}

static void refuse_names(int fd)
{
	const struct wrong cases[] = {
		{ "no such policy", ENOENT, ARGS(CONTROL("rate"), POLICY("none")) },
		{ "no policy's name", ENOENT, ARGS(PEAK(1000000), POLICY("")) },
		{ "no such controller", ENOENT, ARGS(POLICY("static"), CONTROL("none")) },
		{ "a long name", EINVAL, ARGS(PEAK(1000000), CONTROL("sixteen letters!")) },
		{ "a name without an end", EINVAL,
		  ARGS(PEAK(1000000), RAW(SSTP_A_CONN_CONTROLLER, "rate", 4)) },
	};

	must_refuse_all(fd, cases, ARRAY_SIZE(cases));
}

/* The buffer of a pool is its listener's. */
static void refuse_of_pool(void)
{
	struct conn c;
	union addr at;

	c.listener = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	sock_set(c.listener, SOL_SSTP, SSTP_POOL, 1);
	addr_loopback(&at, AF_INET, 0);
	if (bind(c.listener, &at.sa, addr_len(&at)) || listen(c.listener, 5) ||
	    getsockname(c.listener, &c.at.sa, &(socklen_t){ sizeof(c.at) }))
		die("listen:");
	conn_connect(&c, AF_INET, SOCK_STREAM);
	must_refuse(c.rx, "parameters of a part of a pool", EINVAL, true,
		    ARGS(CONTROL("rate"), RRDA("k", 5)));
	must_refuse(c.rx, "policy of a part of a pool", EINVAL, true,
		    ARGS(CONTROL("rate"), POLICY("static")));
	must_refuse(c.listener, "policy of a pool", EINVAL, true,
		    ARGS(CONTROL("rate"), POLICY("static")));
	must_be("parameters of a pool", change(cookie(c.listener), ARGS(RRDA("k", 5))), 0);
	must_be("a part has them", nl_param(c.rx, SSTP_A_CONN_POLICY_PARAMS, "k"), 5);
	conn_close(&c);
}

static void test_refused(void)
{
	uint32_t cid;
	struct conn c;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	param_set(c.tx, SSTP_POLICY_PARAM, "ceiling", 1 << 20);
	refuse_rates(c.tx);
	refuse_params(c.tx);
	refuse_names(c.tx);
	must_refuse(c.tx, "a filter", EINVAL, true,
		    ARGS(CONTROL("rate"), U32(SSTP_A_CONN_STATES, ~0)));
	must_refuse(c.tx, "nothing to change", EINVAL, false, ARGS());

	cid = nl_number(&get(c.rx)->m, SSTP_A_CONN_CID);
	must_be("another's CID", change(cookie(c.tx), ARGS(U32(SSTP_A_CONN_CID, cid),
							   CONTROL("rate"))), -ENOENT);
	must(!strcmp(sock_info(c.rx).controller, "hybrid"), "it was not that one");
	sock_set(c.tx, SOL_SOCKET, SO_RCVBUF, 100000);
	must_refuse(c.tx, "SO_RCVBUF", EINVAL, true, ARGS(CONTROL("rate"), POLICY("rrda")));
	conn_close(&c);

	refuse_of_pool();
	ktap_result(all_held, "what is wrong changes nothing");
}

/* Cookies of the sockets in a dump */
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

static struct {
	long made, gone;
} changed;

/* Each connection that there is gets another change: it is made, or the socket has gone. */
static void change_all(void)
{
	const struct arg *const changes[] = {
		ARGS(PEAK(500000000), CONTROL("rate"), POLICY("rrda"), RRDA("k", 5)),
		ARGS(PEAK(0), CONTROL("newreno"), POLICY("rrda"), RRDA("k", 0)),
		ARGS(NEST(SSTP_A_CONN_RATE, U64(SSTP_A_RATE_PEAK, 900000000),
			  U32(SSTP_A_RATE_BURST_LEN, 4)), CONTROL("newreno")),
		ARGS(POLICY("static")), ARGS(POLICY("rrda"), CONTROL("rate")),
	};
	static struct crowd crowd;
	struct nl_request r;
	int i, err;

	crowd.n = 0;
	nl_start(&r, &nl, SSTP_CMD_CONN_GET, NLM_F_DUMP);
	must_be("dump", nl_talk(&nl, &r, crowd_add, &crowd), 0);
	for (i = 0; i < crowd.n; i++) {
		err = change(crowd.cookie[i],
			     changes[(changed.made + changed.gone) % ARRAY_SIZE(changes)]);
		changed.made += !err;
		changed.gone += err == -ENOENT;
		if (err && err != -ENOENT)
			must_be(nl.why, err, 0);
	}
}

/* Changes meet connections in every state. */
static void test_races(void)
{
	all_held = true;
	churn_start(true);
	while (changed.made < 1000)
		change_all();
	ktap_diag("%ld changes, %ld came too late, %ld came and went", changed.made,
		  changed.gone, churn_end());
	ktap_result(all_held, "changes of what comes and goes");
}

static atomic_bool listening;

static void *listeners_come_and_go(void *arg)
{
	int fd[4], listener, i;
	union addr at;

	while (listening) {
		listener = listen_at(AF_INET, SOCK_STREAM, &at);
		for (i = 0; i < (int)ARRAY_SIZE(fd); i++) {
			fd[i] = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
			if (connect(fd[i], &at.sa, addr_len(&at)))
				die("connect:");
		}
		close(listener);
		for (i = 0; i < (int)ARRAY_SIZE(fd); i++)
			close(fd[i]);
	}
	return arg;
}

/* ... and connections that were not accepted, whose listener is closed. */
static void test_orphans(void)
{
	long before = changed.gone;
	pthread_t thread;

	all_held = true;
	listening = true;
	if (pthread_create(&thread, NULL, listeners_come_and_go, NULL))
		die("thread:");
	while (changed.gone < before + 2000)
		change_all();
	listening = false;
	pthread_join(thread, NULL);
	must(sstp_sockets_end(WAIT_MS), "sockets are gone");
	ktap_result(all_held, "changes of what was not accepted, while its listener goes");
}

/* As another user, in a child: does it see sockets, and what does @change return? */
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
	struct conn c;
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
	conn_open(&c, AF_INET, SOCK_STREAM);
	status = -change(cookie(c.tx), ARGS(PEAK(1000000)));
	_exit(status ?: sock_info(c.tx).rate.peak != 1000000);
}

static void test_privilege(void)
{
	struct conn c;
	struct set before, after;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	get_set(c.tx, &before);
	must_get("as nobody", as_nobody, cookie(c.tx), EPERM);
	must_get("as root of other users", as_root_elsewhere, cookie(c.tx), EPERM);
	get_set(c.tx, &after);
	must(!memcmp(&before, &after, sizeof(after)), "as before");
	must_be("as root of a network of one's own", as_root_at_home(), 0);
	conn_close(&c);
	ktap_result(all_held, "everybody may look, not everybody may change");
}

enum { GOT_CID = 1, GOT_PEER_CID = 2, FOUND_BY_CID = 4, DUMPED_BY_CID = 8 };

/* CIDs of the socket with cookie @c that the caller gets */
static int learns(uint64_t c, uint32_t cid)
{
	const struct arg by_cid = U32(SSTP_A_CONN_CID, cid);
	struct seen s;
	int what = 0;

	if (get_by_cookie(&nl, c, &s) || s.count != 1)
		return -1;
	if (nl_attr(&s.m, SSTP_A_CONN_CID, NULL))
		what |= GOT_CID;
	if (nl_attr(&s.m, SSTP_A_CONN_PEER_CID, NULL))
		what |= GOT_PEER_CID;
	if (!ask(&nl, SSTP_CMD_CONN_GET, 0, ARGS(by_cid), NULL))
		what |= FOUND_BY_CID;
	if (dump(ARGS(by_cid), &s))
		what |= DUMPED_BY_CID;
	return what;
}

/* As another user, in a child: what it learns of a socket, or of one of its own */
static int learns_as(void (*become)(void), uint64_t c, uint32_t cid)
{
	pid_t pid = fork();
	struct conn own;
	int status;

	if (pid < 0)
		die("fork:");
	if (pid)
		return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
			WEXITSTATUS(status) : -1;
	become();
	nl_open(&nl);
	if (!c) {
		conn_open(&own, AF_INET, SOCK_STREAM);
		c = cookie(own.tx);
		cid = nl_number(&get(own.tx)->m, SSTP_A_CONN_CID);
	}
	_exit(learns(c, cid));
}

/* A user who knows a CID could forge packets. */
static void test_cids(void)
{
	const int all = GOT_CID | GOT_PEER_CID | FOUND_BY_CID | DUMPED_BY_CID;
	struct conn c;
	uint32_t cid;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	cid = nl_number(&get(c.tx)->m, SSTP_A_CONN_CID);
	must_be("as root", learns(cookie(c.tx), cid), all);
	must_be("as nobody", learns_as(as_nobody, cookie(c.tx), cid), 0);
	must_be("of nobody's own", learns_as(as_nobody, 0, 0), all);
	conn_close(&c);
	ktap_result(all_held, "CIDs are for the owner and who may change all");
}

int main(void)
{
	new_namespace();
	nl_open(&nl);
	ktap_plan(8);
	test_set();
	test_refused();
	test_races();
	test_orphans();
	test_privilege();
	test_cids();
	return ktap_end();
}
