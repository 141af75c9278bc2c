// SPDX-License-Identifier: GPL-2.0
/* A registry accepts valid names, each once, and lists them in the order of registration. */
#include "sstp_test.h"
#include "../plugin.c"

static DEFINE_SSTP_REGISTRY(plugin_registry, "test");

static const struct sstp_plugin *plugin_nth(u32 i)
{
	const struct sstp_plugin *p;

	rcu_read_lock();
	p = sstp_plugin_nth(&plugin_registry, i);
	rcu_read_unlock();
	return p;
}

static void plugin_names(struct kunit *test)
{
	static const struct {
		char name[SSTP_NAME_MAX];
		int err;
	} cases[] = {
		{ "a" }, { "fifteen-letters" }, { "A" }, { "!~" },
		{ "a", -EEXIST }, { "fifteen-letters", -EEXIST },
		{ "", -EINVAL }, { " ", -EINVAL }, { "a b", -EINVAL }, { "a\n", -EINVAL },
		{ "\x7f", -EINVAL },
		{ { "sixteen letters!" }, -EINVAL },	/* no NUL */
	};
	struct sstp_plugin *p = kunit_kcalloc(test, ARRAY_SIZE(cases), sizeof(*p), GFP_KERNEL);
	u32 i, n = 0;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(p[i].name, cases[i].name, SSTP_NAME_MAX);
		KUNIT_EXPECT_EQ_MSG(test, sstp_plugin_register(&plugin_registry, &p[i]),
				    cases[i].err, "case %u", i);
	}
	for (i = 0; i < ARRAY_SIZE(cases) && !cases[i].err; i++, n++) {
		const char *name = p[i].name;

		KUNIT_EXPECT_PTR_EQ(test, plugin_nth(i), &p[i]);
		KUNIT_EXPECT_PTR_EQ(test, sstp_plugin_get(&plugin_registry, name), &p[i]);
		KUNIT_EXPECT_TRUE(test, sstp_plugin_here(&plugin_registry, name));
		KUNIT_EXPECT_TRUE(test, sstp_plugin_exists(&plugin_registry, name));
	}
	KUNIT_EXPECT_NULL(test, plugin_nth(n));

	/* An unregistered plug-in is not found, and its name is free again. */
	sstp_plugin_unregister(&plugin_registry, &p[1]);
	KUNIT_EXPECT_NULL(test, sstp_plugin_get(&plugin_registry, p[1].name));
	KUNIT_EXPECT_FALSE(test, sstp_plugin_here(&plugin_registry, p[1].name));
	KUNIT_EXPECT_PTR_EQ(test, plugin_nth(1), &p[2]);
	KUNIT_EXPECT_EQ(test, sstp_plugin_register(&plugin_registry, &p[1]), 0);
	KUNIT_EXPECT_PTR_EQ(test, plugin_nth(n - 1), &p[1]);
	for (i = 0; i < n; i++)
		sstp_plugin_unregister(&plugin_registry, &p[i]);
	KUNIT_EXPECT_NULL(test, plugin_nth(0));
}

/* Parameters and state have names as plug-ins have, each of them once. */
static void plugin_params(struct kunit *test)
{
	static const struct {
		const char *what;
		struct sstp_param_spec params[SSTP_PARAMS_MAX];
		char state[SSTP_STATE_MAX][SSTP_NAME_MAX];
		int err;
	} cases[] = {
		{ "all", { { "a", 0, U32_MAX }, { "b", 5, 5 } }, { "c", "fifteen-letters" } },
		{ "as many as possible",
		  { { "1" }, { "2" }, { "3" }, { "4" }, { "5" }, { "6" }, { "7" }, { "8" } },
		  { "a", "b", "c", "d", "e", "f", "g", "h" } },
		{ "behind the end", { { "a" }, { "", 2, 1 }, { "a" } }, { "b", "", "b" } },
		{ "an empty range", { { "a", 0, 1 }, { "b", 2, 1 } }, {}, -EINVAL },
		{ "a space", { { "a b" } }, {}, -EINVAL },
		{ "no NUL", { { { "sixteen letters!" } } }, {}, -EINVAL },
		{ "a space in the state", {}, { "a", "b c" }, -EINVAL },
		{ "no NUL in the state", {}, { { "sixteen-letters!" } }, -EINVAL },
		{ "a parameter twice", { { "a" }, { "b" }, { "a" } }, {}, -EINVAL },
		{ "a state twice", {}, { "a", "a" }, -EINVAL },
		{ "both", { { "a" } }, { "a" }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sstp_plugin p = { .name = "plugin" };
		int err;

		memcpy(p.params, cases[i].params, sizeof(p.params));
		memcpy(p.state, cases[i].state, sizeof(p.state));
		err = sstp_plugin_register(&plugin_registry, &p);
		KUNIT_EXPECT_EQ_MSG(test, err, cases[i].err, "%s", cases[i].what);
		if (!err)
			sstp_plugin_unregister(&plugin_registry, &p);
	}
	KUNIT_EXPECT_NULL(test, plugin_nth(0));
}

static struct kunit_case plugin_cases[] = {
	KUNIT_CASE(plugin_names),
	KUNIT_CASE(plugin_params),
	{}
};

static struct kunit_suite plugin_suite = {
	.name = "sstp_plugin",
	.test_cases = plugin_cases,
};

kunit_test_suite(plugin_suite);
