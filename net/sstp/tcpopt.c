// SPDX-License-Identifier: GPL-2.0
/*
 * Options at level IPPROTO_TCP that have a meaning for SSTP, too, for programs that
 * know only these: with the values, defaults and errors that they have in TCP.
 */
#include <net/tcp.h>
#include "ack.h"
#include "netns.h"
#include "sendmsg.h"
#include "settings.h"
#include "sockopt.h"
#include "sstp.h"
#include "state.h"

/* Seconds of TCP_DEFER_ACCEPT, rounded up as in TCP, which counts them in SYN-ACKs: the first
 * is sent again after 1 s, and then after twice as long each time.
 */
static u32 sstp_tcp_defer(int seconds)
{
	u32 step = 1, sum = 1, n = 1;

	if (seconds <= 0)
		return 0;
	while (sum < seconds && n++ < U8_MAX) {
		step = min(2 * step, TCP_RTO_MAX / HZ);
		sum += step;
	}
	return sum;
}

static int sstp_tcp_clamp(const struct sock *sk, struct sstp_settings *set, int val)
{
	if (!val && sk->sk_state != TCP_CLOSE)
		return -EINVAL;
	set->window_bytes = val ? max_t(int, val, SOCK_MIN_RCVBUF / 2) : 0;
	return 0;
}

static int sstp_tcp_range(u32 val, u32 most)
{
	return val >= 1 && val <= most ? 0 : -EINVAL;
}

/* Write @val of option @opt to @set. Socket lock. */
static int sstp_tcp_set(struct sock *sk, struct sstp_settings *set, int opt, int val)
{
	int err = 0;

	switch (opt) {
	case TCP_NODELAY:
		set->nodelay = !!val;
		break;
	case TCP_CORK:
		set->cork = !!val;
		break;
	case TCP_QUICKACK:
		set->quickack = val & 1;
		break;
	case TCP_NOTSENT_LOWAT:
		set->notsent_lowat = val;
		break;
	case TCP_USER_TIMEOUT:
		err = val < 0 ? -EINVAL : 0;
		set->user_timeout = val;
		break;
	case TCP_KEEPIDLE:
		err = sstp_tcp_range(val, MAX_TCP_KEEPIDLE);
		set->keepidle = val;
		break;
	case TCP_KEEPINTVL:
		err = sstp_tcp_range(val, MAX_TCP_KEEPINTVL);
		set->keepintvl = val;
		break;
	case TCP_KEEPCNT:
		err = sstp_tcp_range(val, MAX_TCP_KEEPCNT);
		set->keepcnt = val;
		break;
	case TCP_SYNCNT:
		err = sstp_tcp_range(val, MAX_TCP_SYNCNT);
		set->syncnt = val;
		break;
	case TCP_LINGER2:
		set->linger2 = clamp(val, -1, TCP_FIN_TIMEOUT_MAX / HZ);
		break;
	case TCP_DEFER_ACCEPT:
		set->defer_accept = sstp_tcp_defer(val);
		break;
	case TCP_WINDOW_CLAMP:
		err = sstp_tcp_clamp(sk, set, val);
		break;
	default:
		err = -ENOPROTOOPT;
		break;
	}
	return err;
}

/* Apply a changed option to the connection at once, where it has an effect. Socket lock. */
static void sstp_tcp_act(struct sock *sk, int opt, int val, bool was_corked)
{
	struct sstp_sock *sp = sstp_sk(sk);

	switch (opt) {
	case TCP_NODELAY:
		if (val)
			sstp_flush(sk);
		break;
	case TCP_CORK:
		if (!val && was_corked)
			sstp_flush(sk);
		break;
	case TCP_QUICKACK:
		if (val && sp->acker.unacked && sstp_synchronized(sk)) {
			sp->acker.ack_now = true;
			sstp_ack_check(sk, sstp_now());
			sstp_state_check(sk);
		}
		break;
	case TCP_NOTSENT_LOWAT:
		sk->sk_write_space(sk);
		break;
	case TCP_KEEPIDLE:
		sk->sk_prot->keepalive(sk, sock_flag(sk, SOCK_KEEPOPEN));
		break;
	}
}

int sstp_tcp_setsockopt(struct sock *sk, int opt, sockptr_t optval,
			unsigned int optlen)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_settings set;
	bool was_corked;
	int val, err;

	if (opt == TCP_CONGESTION)
		return sstp_set_name(sk, SSTP_CONTROLLER, optval, optlen);
	/* Their values may have any length. */
	if (opt == TCP_ULP || opt == TCP_FASTOPEN_KEY)
		return -ENOPROTOOPT;
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	set = sp->set;
	was_corked = set.cork;
	err = sstp_tcp_set(sk, &set, opt, val);
	if (!err) {
		sstp_set(sp, &set);
		sstp_tcp_act(sk, opt, val, was_corked);
	}
	release_sock(sk);
	return err;
}

/* Read the value of option @opt. Socket lock. */
static int sstp_tcp_get(const struct sock *sk, int opt, int *val)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_net *sn = sstp_pernet(sock_net(sk));
	const struct sstp_settings *set = &sp->set;

	switch (opt) {
	case TCP_MAXSEG:
		*val = sp->path.size ?: TCP_MSS_DEFAULT;
		break;
	case TCP_NODELAY:
		*val = set->nodelay;
		break;
	case TCP_CORK:
		*val = set->cork;
		break;
	case TCP_QUICKACK:
		*val = set->quickack;
		break;
	case TCP_NOTSENT_LOWAT:
		*val = set->notsent_lowat;
		break;
	case TCP_USER_TIMEOUT:
		*val = set->user_timeout;
		break;
	case TCP_KEEPIDLE:
		*val = set->keepidle ?: READ_ONCE(sn->keepalive_time);
		break;
	case TCP_KEEPINTVL:
		*val = set->keepintvl ?: READ_ONCE(sn->keepalive_intvl);
		break;
	case TCP_KEEPCNT:
		*val = set->keepcnt ?: READ_ONCE(sn->keepalive_probes);
		break;
	case TCP_SYNCNT:
		*val = set->syncnt ?: READ_ONCE(sn->init_retries);
		break;
	case TCP_LINGER2:
		*val = set->linger2 ?: READ_ONCE(sn->fin_timeout);
		break;
	case TCP_DEFER_ACCEPT:
		*val = set->defer_accept;
		break;
	case TCP_WINDOW_CLAMP:
		*val = set->window_bytes;
		break;
	default:
		return -ENOPROTOOPT;
	}
	return 0;
}

int sstp_tcp_getsockopt(struct sock *sk, int opt, char __user *optval,
			int __user *optlen)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	char name[SSTP_NAME_MAX] = {};
	int val, len, err = 0;

	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	lock_sock(sk);
	if (opt == TCP_CONGESTION)
		strscpy(name, sp->ctrl.ops ? sp->ctrl.ops->name : sp->set.ctrl.name,
			sizeof(name));
	else
		err = sstp_tcp_get(sk, opt, &val);
	release_sock(sk);
	if (err)
		return err;
	len = min_t(unsigned int, len,
		    opt == TCP_CONGESTION ? sizeof(name) : sizeof(val));
	if (put_user(len, optlen) ||
	    copy_to_user(optval, opt == TCP_CONGESTION ? (void *)name : &val, len))
		return -EFAULT;
	return 0;
}
