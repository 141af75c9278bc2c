// SPDX-License-Identifier: GPL-2.0
/* A registry accepts valid names, each once, and lists them in the order of registration. */
#include "sstp_test.h"
#include "../plugin.c"

static DEFINE_SSTP_REGISTRY(plugin_registry, "test");

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
	struct sstp_plugin p[ARRAY_SIZE(cases)] = {};
	char name[SSTP_NAME_MAX];
	u32 i, n = 0;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(p[i].name, cases[i].name, SSTP_NAME_MAX);
		KUNIT_EXPECT_EQ_MSG(test, sstp_plugin_register(&plugin_registry, &p[i]),
				    cases[i].err, "case %u", i);
	}
	for (i = 0; i < ARRAY_SIZE(cases) && !cases[i].err; i++, n++) {
		KUNIT_ASSERT_TRUE(test, sstp_plugin_name(&plugin_registry, i, name));
		KUNIT_EXPECT_STREQ(test, name, p[i].name);
		KUNIT_EXPECT_PTR_EQ(test, sstp_plugin_get(&plugin_registry, name), &p[i]);
		KUNIT_EXPECT_TRUE(test, sstp_plugin_here(&plugin_registry, name));
		KUNIT_EXPECT_TRUE(test, sstp_plugin_exists(&plugin_registry, name));
	}
	KUNIT_EXPECT_FALSE(test, sstp_plugin_name(&plugin_registry, n, name));

	/* An unregistered plug-in is not found, and its name is free again. */
	sstp_plugin_unregister(&plugin_registry, &p[1]);
	KUNIT_EXPECT_NULL(test, sstp_plugin_get(&plugin_registry, p[1].name));
	KUNIT_EXPECT_FALSE(test, sstp_plugin_here(&plugin_registry, p[1].name));
	KUNIT_ASSERT_TRUE(test, sstp_plugin_name(&plugin_registry, 1, name));
	KUNIT_EXPECT_STREQ(test, name, p[2].name);
	KUNIT_EXPECT_EQ(test, sstp_plugin_register(&plugin_registry, &p[1]), 0);
	KUNIT_ASSERT_TRUE(test, sstp_plugin_name(&plugin_registry, n - 1, name));
	KUNIT_EXPECT_STREQ(test, name, p[1].name);
	for (i = 0; i < n; i++)
		sstp_plugin_unregister(&plugin_registry, &p[i]);
	KUNIT_EXPECT_FALSE(test, sstp_plugin_name(&plugin_registry, 0, name));
}

static struct kunit_case plugin_cases[] = {
	KUNIT_CASE(plugin_names),
	{}
};

static struct kunit_suite plugin_suite = {
	.name = "sstp_plugin",
	.test_cases = plugin_cases,
};

kunit_test_suite(plugin_suite);
