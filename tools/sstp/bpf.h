/* SPDX-License-Identifier: GPL-2.0 */
/* Loading of controllers in BPF */
#ifndef _SSTP_TOOL_BPF_H
#define _SSTP_TOOL_BPF_H

#include <stddef.h>
#include <stdint.h>

#define BPF_OPS_SECTION	".sstp___ops.link"	/* what elf_ops() makes of .struct_ops.link */
#define BPF_PIN_DIR	"/sys/fs/bpf/sstp"
#define BPF_PIN_NEVER	"./"			/* characters that no name there may have */
/* CAP_SYS_ADMIN: the kernel shows the BTF of modules to nobody else. It has CAP_BPF in it. */
#define BPF_NOT_PERMITTED							\
	"not permitted without CAP_SYS_ADMIN and CAP_NET_ADMIN (try sudo)"

/* The plug-ins in an object file: bytes of the section, and the programs that it points to */
struct elf_ops {
	char *file;		/* the whole file */
	size_t size;
	const unsigned char *data;	/* of the section, in @file */
	size_t len;
	struct elf_callback {
		size_t at;	/* offset in @data of a pointer to a program */
		const char *program;
	} *callbacks;
	unsigned int n;
};

/* Read @path, and rename the section, so that libbpf, which loads struct_ops of modules only since
 * 1.4, leaves it to this command. Exits if it is no such file.
 */
void elf_ops(struct elf_ops *o, const char *path);
/* Load all plug-ins in @path, and pin their links in BPF_PIN_DIR. Prints their names; exits on an
 * error.
 */
void bpf_load(const char *path);
/* Unload the plug-in @name. Returns 0 or -errno: -ENOENT if no link of that name is pinned. */
int bpf_unload(const char *name);

#endif /* _SSTP_TOOL_BPF_H */
