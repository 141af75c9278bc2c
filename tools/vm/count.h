/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations of QEMU's plug-in interface, versions 1 and 2, that count.c uses: Debian 12 has no
 * package with QEMU's own header.
 */
#ifndef _SSTP_VM_COUNT_H
#define _SSTP_VM_COUNT_H

#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_tb;
typedef uint64_t qemu_plugin_id_t;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int, void *), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

#endif /* _SSTP_VM_COUNT_H */
