/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers and policies in BPF: struct_ops of the kernel, and functions for programs to call */
#ifndef _SSTP_BPF_H
#define _SSTP_BPF_H

#include <linux/init.h>
#include <net/sstp.h>

/* Offer struct sstp_ctrl_ops and struct sstp_rbuf_ops to BPF programs. Where that cannot be,
 * /sys/kernel/sstp/bpf says why. /sys/kernel/sstp/plugins lists all plug-ins, and whose those in
 * BPF are.
 * Return: 0, or the error of creating these files.
 */
int __init sstp_bpf_init(void);
void sstp_bpf_exit(void);

/* bpf_kfunc.c. Return: 0 or an error. */
int __init sstp_bpf_kfunc_init(void);

/* Functions for BPF programs; the module does not call them. */
void bpf_sstp_window_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
u32 bpf_sstp_window_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
void bpf_sstp_window_grow(struct sstp_ctrl *c, u32 packets, u32 per);
bool bpf_sstp_window_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
void bpf_sstp_window_cut(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s, u32 ssthresh);
void bpf_sstp_window_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s, u32 ssthresh);
void bpf_sstp_window_pace(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
int bpf_sstp_send(struct sstp_ctrl *c, u16 kind, const void *data, u32 data__sz);
int bpf_sstp_recv_send(struct sstp_recv *r, u16 kind, const void *data, u32 data__sz);
int bpf_sstp_msg_read(const struct sstp_ctrl_msg *m, void *data, u32 data__sz);
u64 bpf_sstp_peer_key(const struct sstp_ctrl *c);
u32 bpf_sstp_cbrt(u64 v);
int bpf_sstp_totals(const struct sstp_ctrl *c, u64 now, void *data, u32 data__sz);

/* The members of a group, one by one */
struct bpf_iter_sstp_group {
	u64	opaque[2];
};

int bpf_iter_sstp_group_new(struct bpf_iter_sstp_group *it, struct sstp_group *g);
struct sstp_group_member *bpf_iter_sstp_group_next(struct bpf_iter_sstp_group *it);
void bpf_iter_sstp_group_destroy(struct bpf_iter_sstp_group *it);
void bpf_sstp_member_rate(struct sstp_group_member *m, u64 rate);
int bpf_sstp_member_priv(struct sstp_group_member *m, u32 i, u64 value);

#endif /* _SSTP_BPF_H */
