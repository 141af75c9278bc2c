/* SPDX-License-Identifier: GPL-2.0 */
/* Sockets leave plug-ins that were unloaded while in use: BPF programs. */
#ifndef _SSTP_EVICT_H
#define _SSTP_EVICT_H

struct sock;
struct sstp_ctrl_ops;

/* Leave what is gone: the controller, for that of the next connection, and the receiving half of
 * the peer's. Forget settings that name it. Socket lock, bottom halves off.
 */
void sstp_evict(struct sock *sk);
/* Let the sockets of all namespaces leave controller @ops, which was unregistered; those that a
 * process has locked do so when it unlocks them. Process context, may sleep.
 */
void sstp_evict_all(const struct sstp_ctrl_ops *ops);

#endif /* _SSTP_EVICT_H */
