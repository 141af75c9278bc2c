// SPDX-License-Identifier: GPL-2.0
/* sstp set: change a live connection. */
#include <errno.h>
#include <getopt.h>
#include <linux/genetlink.h>
#include <string.h>

#include "sstp.h"

static const char usage[] =
"Usage: sstp set CONNECTION CHANGE...\n"
"\n"
"Changes a live connection, or the settings that a listener passes on to connections that\n"
"it accepts later. After an error nothing is changed. Needs CAP_NET_ADMIN.\n"
"\n"
"  rate P[:AVERAGE[:F[:L]]]  rate contract: bit/s, bursts in 1000 s, packets in a burst\n"
"                            (k, M, G, T: 1000 each); 'rate none' ends it\n"
"  controller NAME           controller within the contract: newreno, rate, ...\n"
"  policy NAME               policy of the receive buffer: rrda, static, ...\n"
"  epoch MS, k N, beta N, omega N, floor BYTES, ceiling BYTES\n"
"                            tunables of the policy rrda; 0: value of the system\n"
"                            (k, M, G: 1024 each)\n"
"\n"
"CONNECTION is selected by the words below; only one may match.\n" FILTER_USAGE
"\n"
"Example: sstp set 1a2b3c4d rate 20M controller rate\n";

static const struct tunable {
	const char *name;
	uint16_t attr;
} tunables[] = {
	{ "epoch",   SSTP_A_RRDA_EPOCH },
	{ "k",       SSTP_A_RRDA_K },
	{ "beta",    SSTP_A_RRDA_BETA },
	{ "omega",   SSTP_A_RRDA_OMEGA },
	{ "floor",   SSTP_A_RRDA_FLOOR },
	{ "ceiling", SSTP_A_RRDA_CEILING },
};

struct change {
	bool has_rate;
	struct sstp_rate_spec rate;
	const char *controller;
	const char *policy;
	bool has[SIZE(tunables)];
	uint32_t value[SIZE(tunables)];
};

static const char *name_of(const char *what, const char *value)
{
	if (!*value || strlen(value) >= SSTP_NAME_MAX)
		misused("'%s' is not the name of a %s: a name has 1 to %d characters", value,
			what, SSTP_NAME_MAX - 1);
	return value;
}

static void parse_change(struct change *c, const char *word, const char *value)
{
	uint64_t n;
	unsigned int i;

	if (!value)
		misused("'%s' needs a value", word);
	if (!strcmp(word, "rate")) {
		if (!parse_rate(value, &c->rate))
			misused("'%s' is not a rate: P[:AVERAGE[:F[:L]]] in bit/s, e.g. 20M or "
				"100M:20M, or none", value);
		c->has_rate = true;
		return;
	}
	if (!strcmp(word, "controller")) {
		c->controller = name_of(word, value);
		return;
	}
	if (!strcmp(word, "policy")) {
		c->policy = name_of(word, value);
		return;
	}
	for (i = 0; i < SIZE(tunables); i++) {
		if (strcmp(word, tunables[i].name))
			continue;
		if (!parse_number(value, 1024, &n) || n > UINT32_MAX)
			misused("'%s' is not a number for %s", value, word);
		c->value[i] = n;
		c->has[i] = true;
		return;
	}
	misused("'%s' cannot be changed; rate, controller, policy, epoch, k, beta, omega, floor "
		"and ceiling can", word);
}

static void put_change(struct nlmsghdr *n, const struct change *c)
{
	struct nlattr *nest;
	unsigned int i;

	if (c->has_rate) {
		nest = mnl_attr_nest_start(n, SSTP_A_CONN_RATE);
		mnl_attr_put_u64(n, SSTP_A_RATE_PEAK, c->rate.peak);
		mnl_attr_put_u64(n, SSTP_A_RATE_AVERAGE, c->rate.average);
		mnl_attr_put_u32(n, SSTP_A_RATE_BURST_RATE, c->rate.burst_rate);
		mnl_attr_put_u32(n, SSTP_A_RATE_BURST_LEN, c->rate.burst_len);
		mnl_attr_nest_end(n, nest);
	}
	if (c->controller)
		mnl_attr_put_strz(n, SSTP_A_CONN_CONTROLLER, c->controller);
	if (c->policy)
		mnl_attr_put_strz(n, SSTP_A_CONN_POLICY, c->policy);
	nest = NULL;
	for (i = 0; i < SIZE(tunables); i++) {
		if (!c->has[i])
			continue;
		if (!nest)
			nest = mnl_attr_nest_start(n, SSTP_A_CONN_RRDA);
		mnl_attr_put_u32(n, tunables[i].attr, c->value[i]);
	}
	if (nest)
		mnl_attr_nest_end(n, nest);
}

static int plugin(const struct nlmsghdr *n, void *arg)
{
	const struct nlattr *a;

	(void)arg;
	mnl_attr_for_each(a, n, GENL_HDRLEN)
		if (nl_is(a, SSTP_A_PLUGIN_NAME, MNL_TYPE_NUL_STRING))
			fprintf(stderr, " %s", mnl_attr_get_str(a));
	return MNL_CB_OK;
}

/* List the registered controllers or policies after one was not found. */
static void list_plugins(struct nl *nl, uint8_t cmd, const char *what)
{
	char buf[NL_REQUEST_MAX];

	fprintf(stderr, "sstp set: values of %s:", what);
	nl_talk(nl, nl_start(nl, buf, cmd, NLM_F_DUMP), plugin, NULL);
	putc('\n', stderr);
}

int cmd_set(int argc, char **argv)
{
	struct change change = {};
	char buf[NL_REQUEST_MAX];
	struct filter f = {};
	struct options o = {};
	struct nlmsghdr *n;
	struct conn conn;
	struct nl nl;
	int c, err;

	while ((c = getopt(argc, argv, "h")) != -1)
		option(&o, c, usage);
	argv += optind;
	c = filter_parse(&f, argv);
	if (!c)
		misused("which connection? Name it by its ID, which 'sstp show' prints");
	argv += c;
	if (!*argv)
		misused("no change given: rate, controller, policy, ...");
	for (; *argv; argv += 2)
		parse_change(&change, argv[0], argv[1]);
	nl_open(&nl);
	filter_one(&nl, &f, &conn);
	n = nl_start(&nl, buf, SSTP_CMD_CONN_SET, 0);
	mnl_attr_put_u64(n, SSTP_A_CONN_COOKIE, conn.cookie);
	if (conn.has_cid)
		mnl_attr_put_u32(n, SSTP_A_CONN_CID, conn.cid);
	put_change(n, &change);
	err = nl_talk(&nl, n, NULL, NULL);
	if (err == -ENOENT && nl.why[0]) {
		struct nl other;

		nl_open(&other);
		if (change.controller)
			list_plugins(&other, SSTP_CMD_CTRL_GET, "controller");
		if (change.policy)
			list_plugins(&other, SSTP_CMD_POLICY_GET, "policy");
	}
	nl_check(&nl, err, "nothing was changed");
	return 0;
}
