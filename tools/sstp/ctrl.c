// SPDX-License-Identifier: GPL-2.0
/* sstp ctrl: list controllers and buffer policies, load and unload those in BPF. */
#include <errno.h>
#include <getopt.h>
#include <linux/genetlink.h>
#include <string.h>

#include "bpf.h"
#include "sstp.h"

static const char usage[] =
"Usage: sstp ctrl [list] [-j]\n"
"       sstp ctrl load FILE...\n"
"       sstp ctrl unload NAME...\n"
"\n"
"Lists controllers and buffer policies, and loads and unloads those in BPF.\n"
"\n"
"  list    list what is loaded; -j: as JSON\n"
"  load    load what is in object files, which clang -target bpf makes; it stays\n"
"          loaded, as links in " BPF_PIN_DIR ", until it is unloaded\n"
"  unload  unload what is in BPF: connections that have it get the default\n"
"\n"
"load needs CAP_SYS_ADMIN and CAP_NET_ADMIN, unload the right to remove the link.\n"
"\n"
"Example: sstp ctrl load my.bpf.o && sstp set 1a2b3c4d controller my\n";

struct list {
	bool json;
	const char *type;
	unsigned int n;
};

static int print(const struct nlmsghdr *n, void *arg)
{
	const char *name = "", *comm = "";
	uint32_t link = 0, uid = 0;
	struct list *l = arg;
	struct nlattr *a;
	bool bpf = false;

	mnl_attr_for_each(a, n, GENL_HDRLEN) {
		if (nl_is(a, SSTP_A_PLUGIN_NAME, MNL_TYPE_NUL_STRING))
			name = mnl_attr_get_str(a);
		else if (nl_is(a, SSTP_A_PLUGIN_BPF_LINK, MNL_TYPE_U32))
			bpf = true, link = mnl_attr_get_u32(a);
		else if (nl_is(a, SSTP_A_PLUGIN_BPF_UID, MNL_TYPE_U32))
			uid = mnl_attr_get_u32(a);
		else if (nl_is(a, SSTP_A_PLUGIN_BPF_COMM, MNL_TYPE_NUL_STRING))
			comm = mnl_attr_get_str(a);
	}
	if (!l->json) {
		if (!l->n++)
			printf("%-16s%-12s%-8s%-8s%-12s%s\n", "NAME", "TYPE", "KIND", "LINK",
			       "UID", "COMM");
		if (bpf)
			printf("%-16s%-12s%-8s%-8u%-12u%s\n", name, l->type, "bpf", link, uid,
			       comm);
		else
			printf("%-16s%-12s%s\n", name, l->type, "module");
		return MNL_CB_OK;
	}
	fputs(l->n++ ? ",\n " : "[", stdout);
	fputs("{\"name\": ", stdout);
	json_text(stdout, name);
	printf(", \"type\": \"%s\", \"bpf\": %s", l->type, bpf ? "true" : "false");
	if (bpf) {
		printf(", \"link\": %u, \"uid\": %u, \"comm\": ", link, uid);
		json_text(stdout, comm);
	}
	putchar('}');
	return MNL_CB_OK;
}

static void list(bool json)
{
	struct list l = { .json = json };
	char buf[NL_REQUEST_MAX];
	struct nl nl;

	nl_open(&nl);
	l.type = "controller";
	nl_check(&nl, nl_talk(&nl, nl_start(&nl, buf, SSTP_CMD_CTRL_GET, NLM_F_DUMP), print, &l),
		 "controllers");
	l.type = "policy";
	nl_check(&nl, nl_talk(&nl, nl_start(&nl, buf, SSTP_CMD_POLICY_GET, NLM_F_DUMP), print, &l),
		 "policies");
	if (json)
		puts(l.n ? "]" : "[]");
}

static void unload(const char *name)
{
	int err;

	if (!*name || strlen(name) >= SSTP_NAME_MAX || strpbrk(name, BPF_PIN_NEVER))
		misused("'%s' is not the name of a controller or a policy in BPF", name);
	err = bpf_unload(name);
	if (err == -ENOENT)
		die("no '%s' in BPF: " BPF_PIN_DIR " has no such link", name);
	if (err == -EPERM || err == -EACCES)
		die("not permitted to remove the link " BPF_PIN_DIR "/%s (try sudo)", name);
	if (err)
		die("cannot unload '%s': %s", name, strerror(-err));
}

int cmd_ctrl(int argc, char **argv)
{
	struct options o = {};
	const char *what;
	int c;

	while ((c = getopt(argc, argv, "jh")) != -1)
		option(&o, c, usage);
	argv += optind;
	what = *argv ? *argv++ : "list";
	if (!strcmp(what, "list")) {
		if (*argv)
			misused("'%s' is one word too many", *argv);
		list(o.json);
		return 0;
	}
	if (strcmp(what, "load") && strcmp(what, "unload"))
		misused("'%s' is neither list, load nor unload", what);
	if (!*argv)
		misused("%s what?", what);
	for (; *argv; argv++) {
		if (!strcmp(what, "load"))
			bpf_load(*argv);
		else
			unload(*argv);
	}
	return 0;
}
