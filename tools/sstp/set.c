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
"  controller NAME           controller within the contract: hybrid, rate, ...\n"
"  policy NAME               policy of the receive buffer: rrda, static, ...\n"
"  controller.NAME VALUE     parameter of the controller (k, M, G: 1000 each)\n"
"  policy.NAME VALUE         parameter of the policy (k, M, G: 1024 each), e.g.\n"
"                            policy.floor 256k; 0: its default. A name that there is not\n"
"                            makes sstp list those that there are.\n"
"\n"
"CONNECTION is selected by the words below; only one may match.\n" FILTER_USAGE
"\n"
"Example: sstp set 1a2b3c4d rate 20M controller rate\n";

struct change {
	bool has_rate;
	struct sstp_rate_spec rate;
	const char *controller;
	const char *policy;
	struct params controller_params;
	struct params policy_params;
};

static const char *name_of(const char *what, const char *value)
{
	if (!*value || strlen(value) >= SSTP_NAME_MAX)
		misused("'%s' is not the name of a %s: a name has 1 to %d characters", value,
			what, SSTP_NAME_MAX - 1);
	return value;
}

/* Parse the parameter @name with a value in multiples of powers of @unit. */
static void parse_param(struct params *params, const char *name, const char *value,
			unsigned int unit)
{
	struct sstp_param *p;
	uint64_t n;

	if (!*name || strlen(name) >= SSTP_NAME_MAX)
		misused("'%s' is not the name of a parameter: a name has 1 to %d characters",
			name, SSTP_NAME_MAX - 1);
	if (!parse_number(value, unit, &n) || n > INT64_MAX)
		misused("'%s' is not a number for %s", value, name);
	if (params->n == SSTP_PARAMS_MAX)
		misused("more than %d parameters", SSTP_PARAMS_MAX);
	p = &params->p[params->n++];
	strcpy(p->name, name);
	p->value = n;
}

static void parse_change(struct change *c, const char *word, const char *value)
{
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
	if (!strncmp(word, "controller.", 11)) {
		parse_param(&c->controller_params, word + 11, value, 1000);
		return;
	}
	if (!strncmp(word, "policy.", 7)) {
		parse_param(&c->policy_params, word + 7, value, 1024);
		return;
	}
	misused("'%s' cannot be changed; rate, controller, policy, controller.NAME and "
		"policy.NAME can", word);
}

static void put_params(struct nlmsghdr *n, uint16_t attr, const struct params *params)
{
	struct nlattr *nest, *param;
	unsigned int i;

	if (!params->n)
		return;
	nest = mnl_attr_nest_start(n, attr);
	for (i = 0; i < params->n; i++) {
		param = mnl_attr_nest_start(n, SSTP_A_PARAMS_PARAM);
		mnl_attr_put_strz(n, SSTP_A_PARAM_NAME, params->p[i].name);
		mnl_attr_put_u64(n, SSTP_A_PARAM_VALUE, params->p[i].value);
		mnl_attr_nest_end(n, param);
	}
	mnl_attr_nest_end(n, nest);
}

static void put_change(struct nlmsghdr *n, const struct change *c)
{
	struct nlattr *nest;

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
	put_params(n, SSTP_A_CONN_CONTROLLER_PARAMS, &c->controller_params);
	put_params(n, SSTP_A_CONN_POLICY_PARAMS, &c->policy_params);
}

/* Print a plug-in of kind @arg with its parameters and their ranges. */
static int plugin(const struct nlmsghdr *n, void *arg)
{
	const struct nlattr *a, *in;
	const char *kind = arg, *name;
	uint32_t least, most;

	mnl_attr_for_each(a, n, GENL_HDRLEN) {
		if (nl_is(a, SSTP_A_PLUGIN_NAME, MNL_TYPE_NUL_STRING))
			fprintf(stderr, "\n  %s", mnl_attr_get_str(a));
		if (mnl_attr_get_type(a) != SSTP_A_PLUGIN_PARAM)
			continue;
		name = "";
		least = 0;
		most = 0;
		mnl_attr_for_each_nested(in, a) {
			if (nl_is(in, SSTP_A_PARAM_NAME, MNL_TYPE_NUL_STRING))
				name = mnl_attr_get_str(in);
			else if (nl_is(in, SSTP_A_PARAM_LEAST, MNL_TYPE_U32))
				least = mnl_attr_get_u32(in);
			else if (nl_is(in, SSTP_A_PARAM_MOST, MNL_TYPE_U32))
				most = mnl_attr_get_u32(in);
		}
		fprintf(stderr, "\n    %s.%s %u to %u", kind, name, least, most);
	}
	return MNL_CB_OK;
}

/* List the registered controllers or policies after a name was not found. */
static void list_plugins(struct nl *nl, uint8_t cmd, const char *kind)
{
	char buf[NL_REQUEST_MAX];

	fprintf(stderr, "sstp set: values of %s, and parameters:", kind);
	nl_talk(nl, nl_start(nl, buf, cmd, NLM_F_DUMP), plugin, (void *)kind);
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
		if (change.controller || change.controller_params.n)
			list_plugins(&other, SSTP_CMD_CTRL_GET, "controller");
		if (change.policy || change.policy_params.n)
			list_plugins(&other, SSTP_CMD_POLICY_GET, "policy");
	}
	nl_check(&nl, err, "nothing was changed");
	return 0;
}
