/* SPDX-License-Identifier: GPL-2.0 */
/* Events that came while a process had the lock: it handles them when it is done. */
#ifndef _SSTP_OWNER_H
#define _SSTP_OWNER_H

struct sock;

void sstp_release_cb(struct sock *sk);
void sstp_catch_up(struct sock *sk);

#endif /* _SSTP_OWNER_H */
