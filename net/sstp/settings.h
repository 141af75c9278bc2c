/* SPDX-License-Identifier: GPL-2.0 */
/* Settings of a socket, and their effect on a live connection */
#ifndef _SSTP_SETTINGS_H
#define _SSTP_SETTINGS_H

#include <linux/sockptr.h>
#include <linux/types.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <uapi/linux/sstp.h>
#include "compat.h"
#include "param.h"

struct sstp_ctrl_ops;
struct sstp_sock;

/* Options at level SOL_SSTP, IPPROTO_TCP and of IP; a child starts with its listener's. */
struct sstp_settings {
	struct sstp_rate_spec rate;
	u64	rate_limit;
	struct sstp_plugin_conf ctrl;
	struct sstp_plugin_conf policy;
	u32	tolerance;
	u32	user_timeout;
	u32	defer_accept;	/* s */
	u32	keepidle;	/* s; 0 = of the namespace, and the next four, too */
	u32	keepintvl;
	u32	port_range;	/* IP_LOCAL_PORT_RANGE: high << 16 | low */
	s16	linger2;	/* s, -1 = not at all */
	u8	keepcnt;
	u8	syncnt;
	u8	strategy;
	bool	pool;
	bool	freebind;
	__cacheline_group_begin(sstp_settings_setup);
	u32	segment_size;
	u32	segment_limit;
	u32	window_factor;
	u32	window_clamp;
	u32	window_bytes;	/* 0 = as the buffer allows */
	u32	notsent_lowat;	/* bytes, 0 = any */
	s16	ttl;		/* -1 = default */
	u8	tos;
	bool	nodelay;
	bool	cork;
	bool	quickack;
	__cacheline_group_end(sstp_settings_setup);
};

/* Is there no connection yet, so that options which set-up negotiates may change? */
static inline bool sstp_unconnected(const struct sock *sk)
{
	return sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_LISTEN;
}

void sstp_set(struct sstp_sock *sp, const struct sstp_settings *set);
int sstp_set_name(struct sock *sk, int opt, sockptr_t optval,
		  unsigned int optlen);
int sstp_set_rate(struct sstp_sock *sp, const struct sstp_rate_spec *r);
void sstp_set_ctrl(struct sock *sk, const struct sstp_ctrl_ops *ops);
void sstp_set_conf(struct sstp_sock *sp, bool ctrl, const struct sstp_plugin_conf *conf);
int sstp_set_params(struct sock *sk, int opt, sockptr_t optval, unsigned int optlen);

#endif /* _SSTP_SETTINGS_H */
