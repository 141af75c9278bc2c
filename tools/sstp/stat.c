// SPDX-License-Identifier: GPL-2.0
/* sstp stat: the counters of the namespace. */
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <string.h>

#include "sstp.h"

#define COUNTERS_MAX	256

static const char usage[] =
"Usage: sstp stat [-zj] [-i SECONDS [-c COUNT]] [PATTERN...]\n"
"\n"
"Shows the protocol's counters of this network namespace that are not 0, or those whose\n"
"names match a pattern ('In*').\n"
"\n"
"  -i SECONDS  show increments in each interval, and per second\n"
"  -c COUNT    stop after COUNT intervals\n"
"  -z          show counters that are 0, or do not rise, as well\n"
"  -j          print JSON, one object per line\n";

struct counters {
	unsigned int n;
	struct counter {
		char name[32];
		uint64_t value;
	} at[COUNTERS_MAX];
};

static int counters_each(const struct nlmsghdr *n, void *arg)
{
	struct counters *all = arg;
	const struct nlattr *a, *in;

	mnl_attr_for_each(a, n, GENL_HDRLEN) {
		struct counter *one = &all->at[all->n];

		if (mnl_attr_get_type(a) != SSTP_A_STAT_COUNTER || all->n == COUNTERS_MAX)
			continue;
		mnl_attr_for_each_nested(in, a) {
			if (nl_is(in, SSTP_A_COUNTER_NAME, MNL_TYPE_NUL_STRING))
				snprintf(one->name, sizeof(one->name), "%s",
					 mnl_attr_get_str(in));
			else if (nl_is(in, SSTP_A_COUNTER_VALUE, MNL_TYPE_U64))
				one->value = mnl_attr_get_u64(in);
		}
		all->n++;
	}
	return MNL_CB_OK;
}

static void counters_get(struct nl *nl, struct counters *all)
{
	char buf[NL_REQUEST_MAX];

	memset(all, 0, sizeof(*all));
	nl_check(nl, nl_talk(nl, nl_start(nl, buf, SSTP_CMD_STAT_GET, NLM_F_DUMP),
			     counters_each, all), "counters");
}

static bool wanted(const char *name, char **patterns)
{
	if (!*patterns)
		return true;
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, name, 0))
			return true;
	return false;
}

/* Print @all, or its increments since @before if that is not NULL. Counters are in the same
 * order in both.
 */
static void print(const struct counters *all, const struct counters *before, double seconds,
		  const struct options *o, bool zero, char **patterns)
{
	const char *comma = "";
	unsigned int i;

	if (o->json && before)
		printf("{\"seconds\": %.3f, \"counters\": {", seconds);
	else if (o->json)
		printf("{\"counters\": {");
	for (i = 0; i < all->n; i++) {
		uint64_t value = all->at[i].value - (before ? before->at[i].value : 0);

		if ((!value && !zero) || !wanted(all->at[i].name, patterns))
			continue;
		if (o->json) {
			fputs(comma, stdout);
			json_text(stdout, all->at[i].name);
			printf(": %" PRIu64, value);
			comma = ", ";
		} else if (before) {
			printf("%-24s %12" PRIu64 " %14.1f/s\n", all->at[i].name, value,
			       value / seconds);
		} else {
			printf("%-24s %12" PRIu64 "\n", all->at[i].name, value);
		}
	}
	if (o->json)
		puts("}}");
	else if (before)
		putchar('\n');
	flush();
}

int cmd_stat(int argc, char **argv)
{
	static struct counters all[2];
	struct options o = {};
	unsigned long i;
	bool zero = false;
	double then, at;
	struct nl nl;
	int c;

	while ((c = getopt(argc, argv, "zji:c:h")) != -1) {
		if (c == 'z')
			zero = true;
		else
			option(&o, c, usage);
	}
	if (o.count && !o.interval)
		misused("-c counts intervals: it needs -i");
	argv += optind;
	nl_open(&nl);
	counters_get(&nl, &all[0]);
	for (i = 0; argv[i]; i++) {
		unsigned int k;

		for (k = 0; k < all[0].n && fnmatch(argv[i], all[0].at[k].name, 0); k++)
			;
		if (k == all[0].n)
			die("no counter matches '%s': 'sstp stat -z' lists all", argv[i]);
	}
	if (!o.interval) {
		print(&all[0], NULL, 0, &o, zero, argv);
		return 0;
	}
	then = now();
	for (i = 1; !o.count || i <= o.count; i++) {
		nap_until(then + o.interval, NULL);
		counters_get(&nl, &all[i & 1]);
		at = now();
		print(&all[i & 1], &all[!(i & 1)], at - then, &o, zero, argv);
		then = at;
	}
	return 0;
}
