// SPDX-License-Identifier: GPL-2.0
/*
 * quick: yes
 *
 * net.sstp.*: each namespace begins with what sstp.rst says, takes what is in range and
 * nothing else, and keeps it to itself; only who may configure the network changes it.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

#define DIRECTORY	"/proc/sys/net/sstp"
#define DAY		86400

static const struct sysctl {
	const char *name;
	int columns;
	int first[3];			/* by default */
	int least, most;
} sysctls[] = {
	{ "encap_port", 1, { 25719 }, 1, 65535 },
	{ "rmem", 3, { 64 << 10, 4 << 20, 256 << 20 }, 4096, 1 << 30 },
	{ "wmem", 3, { 64 << 10, 1 << 20, 256 << 20 }, 4096, 1 << 30 },
	{ "segment_size", 1, { 64 << 10 }, 1, 16 << 20 },
	{ "user_timeout", 1, { 60000 }, 1, INT_MAX },
	{ "init_retries", 1, { 7 }, 1, 20 },
	{ "keepalive_time", 1, { 7200 }, 1, DAY },
	{ "keepalive_intvl", 1, { 75 }, 1, DAY },
	{ "keepalive_probes", 1, { 9 }, 1, 20 },
	{ "fin_timeout", 1, { 60 }, 1, DAY },
	{ "orphan_timeout", 1, { 600 }, 1, DAY },
	{ "ecn", 1, { 0 }, 0, 1 },
}, *const end = sysctls + ARRAY_SIZE(sysctls);

static const char *const names[][2] = {
	{ "controller", "hybrid" }, { "buffer_policy", "rrda" },
};

static const char *path(const char *name)
{
	static char file[100];

	snprintf(file, sizeof(file), DIRECTORY "/%s", name);
	return file;
}

static void must_have(const char *name, const char *want)
{
	FILE *f = fopen(path(name), "r");
	char is[64] = "";

	if (!f || !fgets(is, sizeof(is), f))
		die("%s:", path(name));
	fclose(f);
	is[strcspn(is, "\n")] = 0;
	if (strcmp(is, want)) {
		ktap_diag("%s is '%s', not '%s'", name, is, want);
		all_held = false;
	}
}

/* Read sysctl @name with @value in @column, or else its default, as the file shows it. */
static const char *line(const struct sysctl *s, int column, long long value)
{
	static char text[64];
	int i, n = 0;

	for (i = 0; i < s->columns; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%lld", i ? "\t" : "",
			      i == column ? value : s->first[i]);
	return text;
}

static void must_begin(void)
{
	const struct sysctl *s;
	size_t i;

	for (s = sysctls; s < end; s++)
		must_have(s->name, line(s, -1, 0));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		must_have(names[i][0], names[i][1]);
}

static void test_defaults(void)
{
	DIR *d = opendir(DIRECTORY);
	struct dirent *e;
	size_t count = 0;

	all_held = true;
	if (!d)
		die(DIRECTORY ":");
	while ((e = readdir(d)))
		count += e->d_name[0] != '.';
	closedir(d);
	/* And allowed_controllers */
	must_be("sysctls", count, ARRAY_SIZE(sysctls) + ARRAY_SIZE(names) + 1);
	must_begin();
	ktap_result(all_held, "what a namespace begins with");
}

static void try_value(const struct sysctl *s, int column, long long value, int err)
{
	const char *now = err ? line(s, -1, 0) : line(s, column, value);
	char keep[64];

	snprintf(keep, sizeof(keep), "%s", now);
	must_be(s->name, file_try(path(s->name), "%s\n", line(s, column, value)), -err);
	must_have(s->name, keep);
	file_put(path(s->name), "%s\n", line(s, -1, 0));
}

static void test_ranges(void)
{
	static const char *const junk[] = { "x", "-", "1x", "0x", "99999999999999999999" };
	const struct sysctl *s;
	size_t i;
	int c;

	for (s = sysctls; s < end; s++) {
		all_held = true;
		for (c = 0; c < s->columns; c++) {
			try_value(s, c, s->least, 0);
			try_value(s, c, s->most, 0);
			try_value(s, c, s->least - 1LL, EINVAL);
			try_value(s, c, s->most + 1LL, EINVAL);
			try_value(s, c, -1, EINVAL);
			try_value(s, c, LLONG_MIN, EINVAL);
		}
		for (i = 0; i < ARRAY_SIZE(junk); i++) {
			must_be(junk[i], file_try(path(s->name), "%s\n", junk[i]), -EINVAL);
			must_have(s->name, line(s, -1, 0));
		}
		ktap_result(all_held, "%s: %d to %d", s->name, s->least, s->most);
	}
}

static void test_names(void)
{
	static const struct {
		const char *name;
		int err;
	} cases[] = {
		{ "none", ENOENT }, { "", ENOENT }, { "ra te", ENOENT },
		{ "sixteen letters!", ENOENT }, { "../../newreno", ENOENT },
	};
	size_t i, n;

	all_held = true;
	for (n = 0; n < ARRAY_SIZE(names); n++)
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			must_be(cases[i].name, file_try(path(names[n][0]), "%s\n", cases[i].name),
				-cases[i].err);
			must_have(names[n][0], names[n][1]);
		}
	file_put(path("controller"), "rate\n");
	file_put(path("buffer_policy"), "static");
	must_have("controller", "rate");
	must_have("buffer_policy", "static");
	ktap_result(all_held, "names of a controller and a policy");
}

/* Result for an unprivileged program that names a controller in SSTP_CONTROLLER */
static int ask_controller(const char *name)
{
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(255);
		fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
		if (fd < 0)
			_exit(255);
		_exit(setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, strlen(name)) ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die("fork:");
	return WEXITSTATUS(status);
}

/* Which programs may switch congestion control off? */
static void test_allowed(void)
{
	const char *name = "allowed_controllers";
	int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

	all_held = true;
	must_have(name, "");
	must_be("newreno", ask_controller("newreno"), 0);
	must_be("rate", ask_controller("rate"), EPERM);
	must_be("none", ask_controller("none"), ENOENT);
	must_be("rate, with privilege",
		setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, "rate", 4), 0);
	close(fd);
	must_be("an unknown one", file_try(path(name), "newreno none\n"), -ENOENT);
	must_have(name, "");
	file_put(path(name), " newreno rate \n");
	must_be("rate, allowed", ask_controller("rate"), 0);
	file_put(path(name), "newreno\n");
	must_be("rate, not any more", ask_controller("rate"), EPERM);
	file_put(path(name), "\n");
	must_have(name, "");
	/* The following changes encap_port, which fails while there are sockets. */
	must(sstp_sockets_end(10000), "all sockets end");
	ktap_result(all_held, "controllers that any program may name");
}

/* With other values here, another namespace begins with what each begins with. */
static void test_namespaces(void)
{
	const struct sysctl *s;
	size_t i;
	pid_t pid;
	int status;

	all_held = true;
	for (s = sysctls; s < end; s++)
		file_put(path(s->name), "%s\n", line(s, 0, s->least));
	pid = fork();
	if (!pid) {
		new_namespace();
		must_begin();
		for (s = sysctls; s < end; s++)
			file_put(path(s->name), "%s\n", line(s, 0, s->most));
		_exit(!all_held);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork:");
	must_be("there", status, 0);
	for (s = sysctls; s < end; s++)
		must_have(s->name, line(s, 0, s->least));
	pid = fork();
	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(255);
		for (s = sysctls; s < end; s++)
			must_be(s->name, file_try(path(s->name), "%d\n", s->most), -EACCES);
		for (i = 0; i < ARRAY_SIZE(names); i++)
			must_be(names[i][0], file_try(path(names[i][0]), "rate\n"), -EACCES);
		_exit(!all_held);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork:");
	must_be("as nobody", status, 0);
	ktap_result(all_held, "each namespace has its own");
}

int main(void)
{
	new_namespace();
	ktap_plan(4 + ARRAY_SIZE(sysctls));
	test_defaults();
	test_ranges();
	test_names();
	test_allowed();
	test_namespaces();
	return ktap_end();
}
