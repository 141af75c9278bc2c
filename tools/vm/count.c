// SPDX-License-Identifier: GPL-2.0
/*
 * Plug-in of QEMU that counts the instructions of the guest by address: what tools/vm/run --count
 * loads. A call to byte 16 * N of the page at MARK, which the guest maps, writes all that was
 * counted since the last call to the file as lines "address instructions", after a line "mark N".
 * Instructions that other CPUs run meanwhile may be missing or count for the next mark.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

#define MARK	0x535354500000ULL
#define SLOTS	1048576	/* of the table of blocks, more than a guest has: 2^20 */
#define CPUS	8

int qemu_plugin_version = VERSION;

/* Instructions that begin at one address and are translated together */
struct block {
	uint64_t address;
	uint64_t length;	/* instructions */
	uint64_t runs[CPUS];	/* each written by a thread of its own alone */
	uint64_t told;		/* runs that a mark has told of */
};

static struct block *slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of slots */
static FILE *out;

static void ran(unsigned int cpu, void *data)
{
	struct block *b = data;

	b->runs[cpu % CPUS]++;
}

static void marked(unsigned int cpu, void *data)
{
	int i, n;

	(void)cpu;
	pthread_mutex_lock(&lock);
	fprintf(out, "mark %zu\n", (size_t)data);
	for (i = 0; i < SLOTS; i++) {
		struct block *b = slots[i];
		uint64_t runs = 0;

		if (!b)
			continue;
		for (n = 0; n < CPUS; n++)
			runs += b->runs[n];
		if (runs != b->told)
			fprintf(out, "%llx %llu\n", (unsigned long long)b->address,
				(unsigned long long)((runs - b->told) * b->length));
		b->told = runs;
	}
	fflush(out);
	pthread_mutex_unlock(&lock);
}

/* The block at @address of @length instructions; there are several of different lengths. With
 * lock.
 */
static struct block *find(uint64_t address, uint64_t length)
{
	uint64_t at = (address ^ length << 40) * 0x9e3779b97f4a7c15ULL >> 44;
	int left = SLOTS;

	for (; left--; at = (at + 1) % SLOTS) {
		if (!slots[at]) {
			slots[at] = calloc(1, sizeof(**slots));
			if (!slots[at])
				break;
			slots[at]->address = address;
			slots[at]->length = length;
		}
		if (slots[at]->address == address && slots[at]->length == length)
			return slots[at];
	}
	fprintf(stderr, "count: no memory\n");
	exit(1);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	struct block *b;

	(void)id;
	if (address >= MARK && address < MARK + 4096) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, marked, 0,
						     (void *)((address - MARK) / 16));
		return;
	}
	pthread_mutex_lock(&lock);
	b = find(address, qemu_plugin_tb_n_insns(tb));
	pthread_mutex_unlock(&lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, ran, 0, b);
}

/* @argv: one, out=FILE */
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
