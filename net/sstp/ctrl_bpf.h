/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Controllers that are BPF programs. Connections have a struct sstp_ctrl_ops of the core, whose
 * callbacks call the program as long as it is loaded, so it may go at any time: a program, unlike
 * a module, does not stay because it is in use.
 */
#ifndef _SSTP_CTRL_BPF_H
#define _SSTP_CTRL_BPF_H

#include <net/sstp.h>

struct bpf_link;

/* Words of @priv that the functions for congestion windows keep; those of @state follow. */
#define SSTP_CTRL_BPF_WINDOW	8

/* Register the program @prog, which @link keeps loaded. -EINVAL, -EEXIST, -ENOMEM. Process context.
 */
int sstp_ctrl_bpf_add(struct sstp_ctrl_ops *prog, const struct bpf_link *link);
/* Unregister the program @prog: after that it does not run any more. Returns what connections
 * have instead, which the caller lets go with sstp_ctrl_put(). Sleeps.
 */
struct sstp_ctrl_ops *sstp_ctrl_bpf_remove(struct sstp_ctrl_ops *prog);

#endif /* _SSTP_CTRL_BPF_H */
