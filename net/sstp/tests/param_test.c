// SPDX-License-Identifier: GPL-2.0
/* Parameters of a plug-in: found by name, checked, set all or not at all. */
#include "sstp_test.h"
#include "../param.c"

/* "sum" and "part" contradict each other if a part is greater than the sum. */
static int param_check(const struct sstp_param_values *v)
{
	return v->param[0] && v->param[2] > v->param[0] ? -EINVAL : 0;
}

static const struct sstp_plugin param_plugin = {
	.name = "plugin",
	.params = { { "sum", 10, 100 }, { "most", 1, U32_MAX }, { "part", 0, 1000 } },
	.state = { "now", "before" },
	.check_params = param_check,
};

static const struct param_case {
	const char *what;
	struct sstp_param p[3];
	u32 n;
	int err;
	u32 bad;
} param_bad[] = {
	{ "unknown", { { "none", 1 } }, 1, -ENOENT, 0 },
	{ "no name", { { "", 1 } }, 1, -ENOENT, 0 },
	{ "a name without an end", { { { "sixteen letters!" }, 1 } }, 1, -ENOENT, 0 },
	{ "part of a name", { { "su", 11 } }, 1, -ENOENT, 0 },
	{ "more than a name", { { "sum1", 11 } }, 1, -ENOENT, 0 },
	{ "state", { { "now", 1 } }, 1, -ENOENT, 0 },
	{ "too low", { { "sum", 9 } }, 1, -EINVAL, 0 },
	{ "too high", { { "sum", 101 } }, 1, -EINVAL, 0 },
	{ "negative", { { "most", -1 } }, 1, -EINVAL, 0 },
	{ "lowest", { { "most", S64_MIN } }, 1, -EINVAL, 0 },
	{ "32 bits of it in range", { { "sum", (1LL << 32) + 20 } }, 1, -EINVAL, 0 },
	{ "highest", { { "most", S64_MAX } }, 1, -EINVAL, 0 },
	{ "second of three", { { "most", 5 }, { "sum", 9 }, { "none", 1 } }, 3, -EINVAL, 1 },
	{ "third of three", { { "most", 5 }, { "sum", 11 }, { "none", 1 } }, 3, -ENOENT, 2 },
	{ "contradiction", { { "sum", 10 }, { "part", 11 } }, 2, -EINVAL, 2 },
	{ "contradiction with what was set", { { "part", 31 } }, 1, -EINVAL, 1 },
};

/* After an error all is as before, also the name of another plug-in. */
static void param_refused(struct kunit *test)
{
	const struct sstp_plugin_conf before[] = {
		{ .name = "plugin", .param = { 30, 2, 3, 4, 5, 6, 7, 8 } },
		{ .name = "other", .param = { 30, 2, 3, 4, 5, 6, 7, 8 } },
	};
	struct sstp_plugin_conf conf;
	const struct param_case *c;
	u32 bad;

	for (c = param_bad; c < param_bad + ARRAY_SIZE(param_bad); c++) {
		conf = before[0];
		KUNIT_EXPECT_EQ_MSG(test, sstp_param_apply(&param_plugin, &conf, c->p, c->n, &bad),
				    c->err, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, bad, c->bad, "%s", c->what);
		KUNIT_EXPECT_MEMEQ(test, &conf, &before[0], sizeof(conf));
	}
	conf = before[1];
	KUNIT_EXPECT_EQ(test, sstp_param_apply(&param_plugin, &conf, param_bad[0].p, 1, &bad),
			-ENOENT);
	KUNIT_EXPECT_MEMEQ(test, &conf, &before[1], sizeof(conf));
}

static void param_expect(struct kunit *test, const struct sstp_plugin_conf *conf, u32 sum,
			 u32 most, u32 part)
{
	KUNIT_EXPECT_STREQ(test, conf->name, "plugin");
	KUNIT_EXPECT_EQ(test, conf->param[0], sum);
	KUNIT_EXPECT_EQ(test, conf->param[1], most);
	KUNIT_EXPECT_EQ(test, conf->param[2], part);
}

/* What is not named keeps its value; the last of several values counts; 0 is allowed. */
static void param_applied(struct kunit *test)
{
	const struct sstp_param all[] = {
		{ "part", 1000 }, { "most", U32_MAX }, { "sum", 10 }, { "part", 10 },
	};
	const struct sstp_param zero[] = { { "sum", 0 }, { "part", 1000 } };
	const struct sstp_param one[] = { { "most", 1 } };
	struct sstp_plugin_conf conf = { .name = "other", .param = { 1, 2, 3, 4 } };
	u32 bad;

	KUNIT_EXPECT_EQ(test, sstp_param_apply(&param_plugin, &conf, all, 4, &bad), 0);
	param_expect(test, &conf, 10, U32_MAX, 10);
	KUNIT_EXPECT_EQ(test, conf.param[3], 0U);
	KUNIT_EXPECT_EQ(test, sstp_param_apply(&param_plugin, &conf, zero, 2, &bad), 0);
	param_expect(test, &conf, 0, U32_MAX, 1000);
	KUNIT_EXPECT_EQ(test, sstp_param_apply(&param_plugin, &conf, one, 1, &bad), 0);
	param_expect(test, &conf, 0, 1, 1000);
	/* To name it again keeps the values, to name another one clears them. */
	KUNIT_EXPECT_EQ(test, sstp_param_apply(&param_plugin, &conf, NULL, 0, &bad), 0);
	param_expect(test, &conf, 0, 1, 1000);
	sstp_param_plugin(&conf, "plugin");
	param_expect(test, &conf, 0, 1, 1000);
	sstp_param_plugin(&conf, "other");
	sstp_param_plugin(&conf, "plugin");
	param_expect(test, &conf, 0, 0, 0);
}

/* Values that another version of the plug-in allowed are brought into range. */
static void param_taken(struct kunit *test)
{
	struct sstp_plugin_conf conf = { .name = "plugin", .param = { 9, 0, 1001, 7 } };
	u32 to[SSTP_PARAMS_MAX];
	u32 i;

	memset(to, 0xff, sizeof(to));
	sstp_param_take(to, param_plugin.params, param_plugin.name, &conf);
	KUNIT_EXPECT_EQ(test, to[0], 10U);
	KUNIT_EXPECT_EQ(test, to[1], 0U);
	KUNIT_EXPECT_EQ(test, to[2], 1000U);
	for (i = 3; i < SSTP_PARAMS_MAX; i++)
		KUNIT_EXPECT_EQ(test, to[i], 0U);
	memset(to, 0xff, sizeof(to));
	sstp_param_take(to, param_plugin.params, "other", &conf);
	for (i = 0; i < SSTP_PARAMS_MAX; i++)
		KUNIT_EXPECT_EQ(test, to[i], 0U);
}

static void param_listed(struct kunit *test)
{
	const u32 param[SSTP_PARAMS_MAX] = { 10, 0, U32_MAX, 4 };
	const s64 state[SSTP_STATE_MAX] = { S64_MIN, 2, 3 };
	struct sstp_param to[SSTP_PARAMS_MAX + SSTP_STATE_MAX] = {};
	struct sstp_plugin full = {};
	u32 i;

	KUNIT_EXPECT_EQ(test, sstp_param_list(&param_plugin, param, NULL, to), 3U);
	KUNIT_EXPECT_STREQ(test, to[2].name, "part");
	KUNIT_EXPECT_EQ(test, to[2].value, (s64)U32_MAX);
	KUNIT_EXPECT_EQ(test, sstp_param_list(&param_plugin, param, state, to), 5U);
	KUNIT_EXPECT_STREQ(test, to[0].name, "sum");
	KUNIT_EXPECT_STREQ(test, to[3].name, "now");
	KUNIT_EXPECT_EQ(test, to[3].value, S64_MIN);
	KUNIT_EXPECT_STREQ(test, to[4].name, "before");
	KUNIT_EXPECT_EQ(test, to[4].value, 2LL);
	/* As much as there can be, and nothing */
	KUNIT_EXPECT_EQ(test, sstp_param_list(&full, param, state, to), 0U);
	for (i = 0; i < SSTP_PARAMS_MAX; i++)
		full.params[i].name[0] = 'a' + i;
	for (i = 0; i < SSTP_STATE_MAX; i++)
		full.state[i][0] = 'A' + i;
	KUNIT_EXPECT_EQ(test, sstp_param_list(&full, param, state, to), (u32)ARRAY_SIZE(to));
	KUNIT_EXPECT_STREQ(test, to[ARRAY_SIZE(to) - 1].name, "H");
}

static struct kunit_case param_cases[] = {
	KUNIT_CASE(param_refused),
	KUNIT_CASE(param_applied),
	KUNIT_CASE(param_taken),
	KUNIT_CASE(param_listed),
	{}
};

static struct kunit_suite param_suite = {
	.name = "sstp_param",
	.test_cases = param_cases,
};

kunit_test_suite(param_suite);
