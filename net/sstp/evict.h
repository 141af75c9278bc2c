/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets leave plug-ins that were unloaded while in use: BPF programs. */
#ifndef _SSTP_EVICT_H
#define _SSTP_EVICT_H

#include <linux/types.h>

struct sock;
struct sstp_plugin;

/* Leave what is gone: the controller and the policy, for those of the next connection, and the
 * receiving half of the peer's. Forget settings that name it. A buffer that children of a listener
 * share keeps its policy, and its limit. Socket lock, bottom halves off.
 */
void sstp_evict(struct sock *sk);
/* Let the sockets of all namespaces leave @p, a controller, if @ctrl, or a policy, which was
 * unregistered; those that a process has locked do so when it unlocks them. Process context, may
 * sleep.
 */
void sstp_evict_all(const struct sstp_plugin *p, bool ctrl);

#endif /* _SSTP_EVICT_H */
