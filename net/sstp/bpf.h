/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers and policies in BPF: struct_ops of the kernel, and functions that programs may call */
#ifndef _SSTP_BPF_H
#define _SSTP_BPF_H

#include <linux/init.h>

/* Offer struct sstp_ctrl_ops and struct sstp_rbuf_ops to BPF programs. Where that cannot be,
 * /sys/kernel/sstp/bpf says why.
 * Return: 0, or the error of creating that file.
 */
int __init sstp_bpf_init(void);
void sstp_bpf_exit(void);

/* bpf_kfunc.c. Return: 0 or an error. */
int __init sstp_bpf_kfunc_init(void);

#endif /* _SSTP_BPF_H */
