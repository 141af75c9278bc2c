/* SPDX-License-Identifier: GPL-2.0 */
/* Receive buffer policies that are BPF programs, as controllers in ctrl_bpf.h */
#ifndef _SSTP_RBUF_BPF_H
#define _SSTP_RBUF_BPF_H

#include <net/sstp.h>

struct bpf_link;

/* As sstp_ctrl_bpf_add() and sstp_ctrl_bpf_remove() */
int sstp_rbuf_bpf_add(struct sstp_rbuf_ops *prog, const struct bpf_link *link);
struct sstp_rbuf_ops *sstp_rbuf_bpf_remove(struct sstp_rbuf_ops *prog);

#endif /* _SSTP_RBUF_BPF_H */
