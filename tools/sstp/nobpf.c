// SPDX-License-Identifier: GPL-2.0
/* In place of bpf.c where there is no libbpf, or one before 1.0 */
#include "bpf.h"
#include "sstp.h"

void bpf_load(const char *path)
{
	die("cannot load %s: this command was built without libbpf 1.0 or newer", path);
}

int bpf_unload(const char *name)
{
	die("cannot unload '%s': this command was built without libbpf 1.0 or newer", name);
}
