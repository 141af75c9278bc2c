/* SPDX-License-Identifier: GPL-2.0 */
/* Settings of a socket, and what takes effect at once. */
#ifndef _SSTP_SETTINGS_H
#define _SSTP_SETTINGS_H

#include "sstp.h"

/* The first time something is said of a connection it must not exist yet. */
static inline bool sstp_unconnected(const struct sock *sk)
{
	return sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_LISTEN;
}

/* Bytes of a frame to check a contract by */
static inline u32 sstp_set_frame(const struct sstp_sock *sp)
{
	return sp->frame ?: 1514;
}

void sstp_set(struct sstp_sock *sp, const struct sstp_settings *set);
int sstp_set_name(struct sock *sk, int opt, sockptr_t optval,
		  unsigned int optlen);
int sstp_set_rate(struct sstp_sock *sp, const struct sstp_rate_spec *r);
int sstp_set_rrda(struct sstp_sock *sp, const struct sstp_rrda_spec *rrda);
void sstp_set_names(struct sstp_sock *sp, const char *ctrl, const char *policy);

#endif /* _SSTP_SETTINGS_H */
