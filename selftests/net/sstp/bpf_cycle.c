// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_cycle NAME TIMES CONNECTIONS: gives connections that move data a controller in BPF, unloads
 * and loads it, again and again. Each time none has it after that, and in the end all data came.
 * The link /sys/fs/bpf/sstp/NAME keeps it loaded at first; nothing does in the end.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pair.h"

#define ATTACH_STRUCT_OPS	44	/* of Linux 6.4 */
#define AHEAD	(8 << 10)		/* bytes that are written before some are read */
#define MOST	1000

static struct pair pairs[MOST];
static int connections;
static const char *name;
static atomic_bool over;
static atomic_int rounds;

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* The map with the callbacks, which the link holds */
static int map_of(int link)
{
	struct bpf_link_info info = {};
	union bpf_attr attr = {
		.info = { .bpf_fd = link, .info_len = sizeof(info), .info = (uintptr_t)&info },
	};
	int fd;

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		die("link:");
	/* Old headers lack struct_ops.map_id, the first number that depends on the kind of link. */
	fd = bpf(BPF_MAP_GET_FD_BY_ID, &(union bpf_attr){ .map_id = info.netns.netns_ino });
	if (fd < 0)
		die("map:");
	return fd;
}

/* Move data on all connections until it is over; then what is left. */
static void *pump(void *arg)
{
	int i;

	(void)arg;
	for (; !over; rounds++)
		for (i = 0; i < connections; i++) {
			pair_fill(&pairs[i], pairs[i].got + AHEAD);
			pair_read(&pairs[i], AHEAD);
		}
	return NULL;
}

static void choose(void)
{
	int i;

	for (i = 0; i < connections; i++)
		if (setsockopt(pairs[i].tx, SOL_SSTP, SSTP_CONTROLLER, name, strlen(name)))
			die("SSTP_CONTROLLER:");
}

static void must_all_have(bool it)
{
	struct sstp_info info;
	int i;

	for (i = 0; i < connections; i++) {
		info = sock_info(pairs[i].tx);
		if (!strcmp(info.controller, name) != it)
			die("connection %d has %s", i, info.controller);
	}
}

static bool has_gone_round(void *before)
{
	return rounds != *(int *)before;
}

int main(int argc, char **argv)
{
	int link, map, times, i, before;
	pthread_t thread;
	char path[100];

	if (argc != 4)
		die("usage: bpf_cycle NAME TIMES CONNECTIONS");
	name = argv[1];
	times = atoi(argv[2]);
	connections = atoi(argv[3]);
	if (connections < 1 || connections > MOST)
		die("1 to %d connections", MOST);
	snprintf(path, sizeof(path), "/sys/fs/bpf/sstp/%s", name);
	link = bpf(BPF_OBJ_GET, &(union bpf_attr){ .pathname = (uintptr_t)path });
	if (link < 0)
		die("%s:", path);
	map = map_of(link);
	for (i = 0; i < connections; i++)
		pair_open(&pairs[i]);
	if (pthread_create(&thread, NULL, pump, NULL))
		die("pthread_create:");
	for (i = 0; i < times; i++) {
		before = rounds;
		choose();
		must_all_have(true);
		if (bpf(BPF_LINK_DETACH, &(union bpf_attr){ .link_detach.link_fd = link }))
			die("BPF_LINK_DETACH:");
		must_all_have(false);
		close(link);
		link = bpf(BPF_LINK_CREATE, &(union bpf_attr){
			.link_create = { .prog_fd = map, .attach_type = ATTACH_STRUCT_OPS } });
		if (link < 0)
			die("BPF_LINK_CREATE:");
		if (!busywait(WAIT_MS, has_gone_round, &before))
			die("no data moves after round %d", i);
	}
	over = true;
	pthread_join(thread, NULL);
	for (i = 0; i < connections; i++) {
		if (!busywait(WAIT_MS, all_read, &pairs[i]))
			die("connection %d stalls", i);
		pair_close(&pairs[i]);
	}
	unlink(path);
	return 0;
}
