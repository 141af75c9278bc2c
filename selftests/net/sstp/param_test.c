// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 120
 * quick: yes
 *
 * Parameters of controllers and policies (SSTP_CONTROLLER_PARAM, SSTP_POLICY_PARAM): set by
 * name, all or none; read with the state; passed on by listeners; gone with the policy.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"
#include "path.h"

#define BAD_POINTER	((void *)8)
#define POLICY		"/proc/sys/net/sstp/buffer_policy"
#define ALL		(SSTP_PARAMS_MAX + SSTP_STATE_MAX)

static int try(int fd, const void *p, socklen_t len)
{
	return setsockopt(fd, SOL_SSTP, SSTP_POLICY_PARAM, p, len) ? -errno : 0;
}

static int name_policy(int fd, const char *name)
{
	return setsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, name, strlen(name)) ? -errno : 0;
}

static void must_name(const char *what, int fd, const char *want)
{
	char name[SSTP_NAME_MAX] = "";

	if (getsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, name, &(socklen_t){ sizeof(name) }))
		die("SSTP_BUFFER_POLICY:");
	must(!strcmp(name, want), what);
}

/* The names of all parameters, and of the state if there is one, are @want. */
static void must_list(const char *what, int fd, int opt, const char *want)
{
	struct sstp_param p[ALL];
	size_t i, n = params_get(fd, opt, p);
	char names[512] = "";

	for (i = 0; i < n; i++)
		strcat(strcat(names, p[i].name), " ");
	if (strcmp(names, want))
		ktap_diag("%s: \"%s\", not \"%s\"", what, names, want);
	must(!strcmp(names, want), what);
}

#define RRDA	"epoch k beta omega floor ceiling "
#define RRDA_N	6			/* parameters of rrda, which come before its state */

static void test_lists(void)
{
	struct sstp_param p[ALL] = {};
	struct pair c;
	socklen_t len;
	int fd;

	new_namespace();
	fd = new_socket(SOCK_STREAM);
	must_list("a new socket", fd, SSTP_POLICY_PARAM, RRDA);
	must_list("its controller", fd, SSTP_CONTROLLER_PARAM, "");
	must_name("reading names nothing", fd, "");
	must_be("static", name_policy(fd, "static"), 0);
	must_list("static", fd, SSTP_POLICY_PARAM, "");
	must(!setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, "rate", 4), "rate");
	must_list("rate", fd, SSTP_CONTROLLER_PARAM, "kbit ack_interval rto rtt ");
	close(fd);

	pair_open(&c);
	pair_exchange(&c);
	must_list("a connection", c.rx, SSTP_POLICY_PARAM, RRDA "surplus trend ");
	must_list("its controller", c.tx, SSTP_CONTROLLER_PARAM, "ssthresh competes probes base_rtt w_max loss_share ");
	must(param_get(c.tx, SSTP_CONTROLLER_PARAM, "ssthresh") >= 2, "a threshold");
	len = sizeof(*p) + 5;
	memset(p, 0x55, sizeof(p));
	must(!getsockopt(c.rx, SOL_SSTP, SSTP_POLICY_PARAM, p, &len), "a short read");
	must_be("its length", len, sizeof(*p) + 5);
	must(!strcmp(p[0].name, "epoch") && !memcmp(p[1].name, "k\0\0\0\0U", 6),
	     "as much as was asked for");
	must(getsockopt(c.rx, SOL_SSTP, SSTP_POLICY_PARAM, BAD_POINTER, &len) &&
	     errno == EFAULT, "a bad pointer");
	pair_close(&c);
	ktap_held("parameters, then the state");
}

static const struct bad {
	const char *what;
	struct sstp_param p[SSTP_PARAMS_MAX + 1];
	int n, err;
} bad[] = {
	{ "unknown", { { "none", 1 } }, 1, ENOENT },
	{ "no name", { { "", 1 } }, 1, ENOENT },
	{ "a name without NUL", { { { "epoch-of-16-byte" }, 50 } }, 1, ENOENT },
	{ "of the state", { { "surplus", 1 } }, 1, ENOENT },
	{ "too high", { { "epoch", 10001 } }, 1, EINVAL },
	{ "negative", { { "epoch", -1 } }, 1, EINVAL },
	{ "2^32 more", { { "epoch", (1LL << 32) + 50 } }, 1, EINVAL },
	{ "the last is unknown", { { "epoch", 60 }, { "k", 6 }, { "none", 1 } }, 3, ENOENT },
	{ "the last is too high", { { "epoch", 60 }, { "k", 256 } }, 2, EINVAL },
	{ "a floor above the ceiling", { { "floor", 8192 }, { "ceiling", 4096 } }, 2, EINVAL },
	{ "a floor above the ceiling that is set", { { "floor", 1 << 21 } }, 1, EINVAL },
	{ "too many", { { "k", 1 }, { "k", 1 }, { "k", 1 }, { "k", 1 }, { "k", 1 }, { "k", 1 },
			{ "k", 1 }, { "k", 1 }, { "k", 1 } }, 9, EINVAL },
	{ "none", { }, 0, EINVAL },
};

static void must_refuse(int fd)
{
	const struct sstp_param one = { "k", 1 };
	struct sstp_param before[ALL], after[ALL];
	const struct bad *b;
	size_t n;

	n = params_get(fd, SSTP_POLICY_PARAM, before);
	for (b = bad; b < bad + ARRAY_SIZE(bad); b++) {
		must_be(b->what, try(fd, b->p, b->n * sizeof(*b->p)), -b->err);
		must(params_get(fd, SSTP_POLICY_PARAM, after) == n &&
		     !memcmp(before, after, RRDA_N * sizeof(*after)), b->what);
	}
	must_be("a byte less", try(fd, &one, sizeof(one) - 1), -EINVAL);
	must_be("a byte more", try(fd, bad[7].p, sizeof(one) + 1), -EINVAL);
	must_be("a bad pointer", try(fd, BAD_POINTER, sizeof(one)), -EFAULT);
	must_be("the highest length", try(fd, &one, INT32_MAX / 24 * 24), -EINVAL);
	must(params_get(fd, SSTP_POLICY_PARAM, after) == n &&
	     !memcmp(before, after, RRDA_N * sizeof(*after)), "they change nothing");
}

static void test_refused(void)
{
	const struct sstp_param good[] = {
		{ "epoch", 50 }, { "k", 5 }, { "beta", 8 }, { "omega", 250 },
		{ "floor", 8192 }, { "ceiling", 1 << 20 }, { "k", 7 }, { "k", 5 },
	};
	int fd, i;

	new_namespace();
	fd = new_socket(SOCK_STREAM);
	must_be("a name", try(fd, bad[0].p, sizeof(*bad[0].p)), -ENOENT);
	must_name("an error names no policy", fd, "");
	must_be("eight values", try(fd, good, sizeof(good)), 0);
	for (i = 0; i < 6; i++)
		must_be(good[i].name, param_get(fd, SSTP_POLICY_PARAM, good[i].name),
			good[i].value);
	must_refuse(fd);
	must_be("the controller has none", param_try(fd, SSTP_CONTROLLER_PARAM, "epoch", 50),
		-ENOENT);
	sock_set(fd, SOL_SOCKET, SO_RCVBUF, 100000);
	must_be("a fixed buffer has none", param_try(fd, SSTP_POLICY_PARAM, "epoch", 50),
		-ENOENT);
	close(fd);
	ktap_held("what is wrong changes nothing");
}

/* The values are those of one policy. */
static void test_names(void)
{
	int fd;

	new_namespace();
	fd = new_socket(SOCK_STREAM);
	param_set(fd, SSTP_POLICY_PARAM, "epoch", 50);
	must_name("the default is named", fd, "rrda");
	file_put(POLICY, "static");
	must_be("whatever the default becomes", param_get(fd, SSTP_POLICY_PARAM, "epoch"), 50);
	must_be("named again", name_policy(fd, "rrda"), 0);
	must_be("it keeps them", param_get(fd, SSTP_POLICY_PARAM, "epoch"), 50);
	must_be("unknown", name_policy(fd, "none"), -ENOENT);
	must_be("it keeps them", param_get(fd, SSTP_POLICY_PARAM, "epoch"), 50);
	must_be("another", name_policy(fd, "static"), 0);
	must_be("another has others", param_try(fd, SSTP_POLICY_PARAM, "epoch", 50), -ENOENT);
	must_be("back", name_policy(fd, "rrda"), 0);
	must_be("they are gone", param_get(fd, SSTP_POLICY_PARAM, "epoch"), 0);
	close(fd);
	ktap_held("another policy begins with its defaults");
}

static void test_inherited(void)
{
	struct pair first, second;
	int l, fd;

	new_namespace();
	l = new_socket(SOCK_STREAM);
	param_set(l, SSTP_POLICY_PARAM, "epoch", 50);
	param_set(l, SSTP_POLICY_PARAM, "ceiling", 1 << 20);
	pair_connect(&first, l);
	must_be("a child's", param_get(first.rx, SSTP_POLICY_PARAM, "epoch"), 50);
	must_be("the client's", param_get(first.tx, SSTP_POLICY_PARAM, "epoch"), 0);
	must_refuse(first.rx);
	param_set(first.rx, SSTP_POLICY_PARAM, "k", 7);
	must_be("changed while connected", param_get(first.rx, SSTP_POLICY_PARAM, "k"), 7);
	must_be("the rest stays", param_get(first.rx, SSTP_POLICY_PARAM, "epoch"), 50);
	pair_exchange(&first);
	must_be("also with data", param_get(first.rx, SSTP_POLICY_PARAM, "k"), 7);
	pair_close(&first);

	/* A client's, set before connect() */
	pair_open(&second);
	fd = new_socket(SOCK_STREAM);
	param_set(fd, SSTP_POLICY_PARAM, "k", 9);
	must_be("not of others", param_get(second.tx, SSTP_POLICY_PARAM, "k"), 0);
	pair_close(&second);
	close(fd);
	ktap_held("a connection has its listener's, and its own");
}

/* The buffer that a policy was told to keep small is: a listener's, changed as it listens, and
 * a client's
 */
static void test_force(void)
{
	const uint32_t size = 256 << 10;
	union addr at;
	int l, tx, rx;

	new_namespace();
	l = new_socket(SOCK_STREAM);
	addr_loopback(&at, AF_INET, 0);
	if (bind(l, &at.sa, addr_len(&at)) || listen(l, 5) ||
	    getsockname(l, &at.sa, &(socklen_t){ sizeof(at) }))
		die("listen:");
	param_set(l, SSTP_POLICY_PARAM, "ceiling", size);
	tx = new_socket(SOCK_STREAM);
	param_set(tx, SSTP_POLICY_PARAM, "ceiling", 2 * size);
	if (connect(tx, &at.sa, addr_len(&at)))
		die("connect:");
	rx = accept(l, NULL, NULL);
	/* If the machine stands still for 300 ms, buffers have shrunk. */
	must_be("a child's buffer", sock_info(rx).rcv_buffer_peak, size);
	must_be("a client's buffer", sock_info(tx).rcv_buffer_peak, 2 * size);
	must_list("a listener has no state", l, SSTP_POLICY_PARAM, RRDA);
	close(tx);
	close(rx);
	close(l);
	ktap_held("they are in force from the first buffer on");
}

int main(void)
{
	ktap_plan(5);
	test_lists();
	test_refused();
	test_names();
	test_inherited();
	test_force();
	return ktap_end();
}
