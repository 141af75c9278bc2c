/* SPDX-License-Identifier: GPL-2.0 */
/* Deadlines that have passed. Socket lock, softirq or release_cb. */
#ifndef _SSTP_TIMER_H
#define _SSTP_TIMER_H

struct sock;

/* Handle all deadlines that have passed. */
void sstp_timer_run(struct sock *sk);
/* The same, of a socket that no process owns */
void sstp_timer_expired(struct sock *sk);

#endif /* _SSTP_TIMER_H */
