// SPDX-License-Identifier: GPL-2.0
/* Socket options. Options that would have no effect are refused. */
#include <net/ip.h>
#include <net/ipv6.h>
#include "conf.h"
#include "info.h"
#include "monitor.h"
#include "path.h"
#include "sendmsg.h"
#include "settings.h"
#include "sockopt.h"
#include "sstp.h"
#include "tolerance.h"

static int sstp_set_int(struct sock *sk, int opt, u32 val)
{
	struct sstp_sock *sp = sstp_sk(sk);
	bool early = sstp_unconnected(sk);
	struct sstp_settings set = sp->set;

	switch (opt) {
	case SSTP_SEGMENT_SIZE:
		if (!val || val > SSTP_SEGMENT_MAX)
			return -EINVAL;
		set.segment_size = val;
		break;
	case SSTP_SEGMENT_LIMIT:
		if (val < SSTP_SEGMENT_LIMIT_MIN || val > SSTP_SEGMENT_MAX)
			return -EINVAL;
		if (!early)
			return -EISCONN;
		set.segment_limit = val;
		break;
	case SSTP_TOLERANCE:
		if (val > SSTP_TOLERANCE_MAX)
			return -EINVAL;
		if (!early)
			return -EISCONN;
		set.tolerance = val;
		break;
	case SSTP_ACK_STRATEGY:
		if (val > SSTP_ACK_SOFT)
			return -EINVAL;
		if (!early)
			return -EISCONN;
		set.strategy = val;
		break;
	case SSTP_WINDOW_FACTOR:
		if (val < 100 || val > 1000)
			return -EINVAL;
		set.window_factor = val;
		break;
	case SSTP_WINDOW_CLAMP:
		if (val > INT_MAX)
			return -EINVAL;
		set.window_clamp = val;
		break;
	case SSTP_USER_TIMEOUT:
		if (val > INT_MAX)
			return -EINVAL;
		set.user_timeout = val;
		break;
	case SSTP_NODELAY:
		set.nodelay = !!val;
		break;
	case SSTP_POOL:
		if (sk->sk_state != TCP_CLOSE)
			return sk->sk_state == TCP_LISTEN ? -EINVAL : -EISCONN;
		set.pool = !!val;
		break;
	default:
		return -ENOPROTOOPT;
	}
	sstp_set(sp, &set);
	if (opt == SSTP_NODELAY && val)
		sstp_flush(sk);
	return 0;
}

static int sstp_set_limit(struct sock *sk, u64 limit)
{
	struct sstp_settings set = sstp_sk(sk)->set;

	if (!sstp_unconnected(sk))
		return -EISCONN;
	set.rate_limit = limit;
	sstp_set(sstp_sk(sk), &set);
	return 0;
}

static int sstp_set_own(struct sock *sk, int opt, sockptr_t optval,
			unsigned int optlen)
{
	struct sstp_rate_spec rate;
	u64 limit;
	u32 val;
	int err;

	switch (opt) {
	case SSTP_RATE:
		if (optlen < sizeof(rate))
			return -EINVAL;
		if (copy_from_sockptr(&rate, optval, sizeof(rate)))
			return -EFAULT;
		lock_sock(sk);
		err = sstp_set_rate(sstp_sk(sk), &rate);
		release_sock(sk);
		return err;
	case SSTP_RATE_LIMIT:
		if (optlen < sizeof(limit))
			return -EINVAL;
		if (copy_from_sockptr(&limit, optval, sizeof(limit)))
			return -EFAULT;
		if (limit && limit < 8000)
			return -EINVAL;
		lock_sock(sk);
		err = sstp_set_limit(sk, limit);
		release_sock(sk);
		return err;
	case SSTP_POLICY_PARAM:
	case SSTP_CONTROLLER_PARAM:
		return sstp_set_params(sk, opt, optval, optlen);
	case SSTP_CONTROLLER:
	case SSTP_BUFFER_POLICY:
		return sstp_set_name(sk, opt, optval, optlen);
	case SSTP_INFO:
	case SSTP_MONITOR:
		return -ENOPROTOOPT;
	}
	if (opt < SSTP_RATE || opt > SSTP_MONITOR)
		return -ENOPROTOOPT;
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	lock_sock(sk);
	err = sstp_set_int(sk, opt, val);
	release_sock(sk);
	return err;
}

static int sstp_set_ipv4(struct sstp_sock *sp, struct sstp_settings *set, int opt,
			 int val)
{
	switch (opt) {
	case IP_TOS:
		set->tos = val & ~3;
		break;
	case IP_TTL:
		if (val != -1 && (val < 1 || val > 255))
			return -EINVAL;
		set->ttl = val;
		break;
	case IP_FREEBIND:
		set->freebind = !!val;
		break;
	case IP_MTU_DISCOVER:
		if (val != IP_PMTUDISC_WANT)
			return -EINVAL;
		break;
	case IP_BIND_ADDRESS_NO_PORT:
		sp->bind.no_port = !!val;
		break;
	case IP_LOCAL_PORT_RANGE:
		if ((u16)val && (u32)val >> 16 && (u16)val > (u32)val >> 16)
			return -EINVAL;
		set->port_range = val;
		break;
	}
	return 0;
}

static int sstp_set_ipv6(struct sstp_sock *sp, struct sstp_settings *set, int opt,
			 int val)
{
	switch (opt) {
	case IPV6_V6ONLY:
		if (sp->bind.bound || sp->id.af == AF_INET)
			return -EINVAL;
		sp->id.v6only = !!val;
		break;
	case IPV6_TCLASS:
		if (val < -1 || val > 255)
			return -EINVAL;
		set->tos = val < 0 ? 0 : val & ~3;
		break;
	case IPV6_UNICAST_HOPS:
		if (val < -1 || val > 255)
			return -EINVAL;
		set->ttl = val;
		break;
	case IPV6_FREEBIND:
		set->freebind = !!val;
		break;
	case IPV6_MTU_DISCOVER:
		if (val != IPV6_PMTUDISC_WANT)
			return -EINVAL;
		break;
	}
	return 0;
}

static int sstp_set_ip(struct sock *sk, int level, int opt, sockptr_t optval,
		       unsigned int optlen)
{
	struct sstp_settings set;
	int val, err;
	u8 byte;

	if (level == SOL_IP && opt != IP_TOS && opt != IP_TTL &&
	    opt != IP_FREEBIND && opt != IP_MTU_DISCOVER &&
	    opt != IP_BIND_ADDRESS_NO_PORT && opt != IP_LOCAL_PORT_RANGE)
		return -ENOPROTOOPT;
	if (level == SOL_IPV6 && opt != IPV6_V6ONLY && opt != IPV6_TCLASS &&
	    opt != IPV6_UNICAST_HOPS && opt != IPV6_FREEBIND &&
	    opt != IPV6_MTU_DISCOVER)
		return -ENOPROTOOPT;
	if (optlen >= sizeof(val)) {
		if (copy_from_sockptr(&val, optval, sizeof(val)))
			return -EFAULT;
	} else if (!optlen && level == SOL_IP && opt != IP_FREEBIND) {
		val = 0;
	} else if (optlen && level == SOL_IP) {
		/* IP accepts a char, too, as some programs pass one. */
		if (copy_from_sockptr(&byte, optval, 1))
			return -EFAULT;
		val = byte;
	} else {
		return -EINVAL;
	}
	if (level == SOL_IP && opt == IP_LOCAL_PORT_RANGE && optlen != sizeof(val))
		return -EINVAL;
	lock_sock(sk);
	set = sstp_sk(sk)->set;
	if (level == SOL_IP)
		err = sstp_set_ipv4(sstp_sk(sk), &set, opt, val);
	else
		err = sstp_set_ipv6(sstp_sk(sk), &set, opt, val);
	if (!err)
		sstp_set(sstp_sk(sk), &set);
	sk_dst_reset(sk);
	release_sock(sk);
	return err;
}

/* SO_KEEPALIVE */
void sstp_keepalive(struct sock *sk, int on)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (on && sstp_synchronized(sk) && sk->sk_state != TCP_CLOSING)
		sstp_timer_sooner(&sp->clock, SSTP_T_LIFE, sstp_now());
}

static int sstp_set_socket(struct socket *sock, int opt, sockptr_t optval,
			   unsigned int optlen)
{
	struct sock *sk = sock->sk;
	int val;

	switch (opt) {
	case SO_REUSEPORT:
	case SO_ZEROCOPY:
		break;
	case SO_ATTACH_FILTER:
	case SO_ATTACH_BPF:
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	case SO_TIMESTAMP_OLD:
	case SO_TIMESTAMP_NEW:
	case SO_TIMESTAMPNS_OLD:
	case SO_TIMESTAMPNS_NEW:
	case SO_TIMESTAMPING_OLD:
	case SO_TIMESTAMPING_NEW:
	case SO_TXTIME:
	case SO_BUSY_POLL:
	case SO_PREFER_BUSY_POLL:
	case SO_BUSY_POLL_BUDGET:
	case SO_INCOMING_CPU:
		/* SSTP has no use for these options. */
		return -ENOPROTOOPT;
	default:
		return sock_setsockopt(sock, SOL_SOCKET, opt, optval, optlen);
	}
	if (optlen < sizeof(val))
		return -EINVAL;
	if (copy_from_sockptr(&val, optval, sizeof(val)))
		return -EFAULT;
	if (opt == SO_ZEROCOPY && (val < 0 || val > 1))
		return -EINVAL;
	lock_sock(sk);
	if (opt == SO_ZEROCOPY)
		sock_valbool_flag(sk, SOCK_ZEROCOPY, val);
	else
		sk->sk_reuseport = !!val;
	release_sock(sk);
	return 0;
}

int sstp_setsockopt(struct socket *sock, int level, int optname,
		    sockptr_t optval, unsigned int optlen)
{
	switch (level) {
	case SOL_SOCKET:
		return sstp_set_socket(sock, optname, optval, optlen);
	case SOL_SSTP:
		return sstp_set_own(sock->sk, optname, optval, optlen);
	case SOL_IPV6:
		if (sstp_sk(sock->sk)->id.domain == AF_INET)
			return -ENOPROTOOPT;
		fallthrough;
	case SOL_IP:
		return sstp_set_ip(sock->sk, level, optname, optval, optlen);
	case SOL_TCP:
		return sstp_tcp_setsockopt(sock->sk, optname, optval, optlen);
	}
	return -ENOPROTOOPT;
}

static int sstp_get_own(struct sock *sk, int opt, void *buf)
{
	struct sstp_sock *sp = sstp_sk(sk);
	const struct sstp_settings *set = &sp->set;
	const char *name = NULL;
	u32 params;
	int val;

	switch (opt) {
	case SSTP_RATE:
		memcpy(buf, &set->rate, sizeof(set->rate));
		return sizeof(set->rate);
	case SSTP_RATE_LIMIT:
		memcpy(buf, &set->rate_limit, sizeof(u64));
		return sizeof(u64);
	case SSTP_POLICY_PARAM:
	case SSTP_CONTROLLER_PARAM:
		return sstp_conf_list(sp, opt == SSTP_CONTROLLER_PARAM, buf, &params) *
			sizeof(struct sstp_param);
	case SSTP_CONTROLLER:
		name = sp->ctrl.ops ? sp->ctrl.ops->name : set->ctrl.name;
		break;
	case SSTP_BUFFER_POLICY:
		name = sp->rcvbuf.policy.ops ? sp->rcvbuf.policy.ops->name :
			set->policy.name;
		break;
	case SSTP_INFO:
		sstp_fill_info(sp, buf);
		return sizeof(struct sstp_info);
	case SSTP_SEGMENT_SIZE:
		val = set->segment_size;
		break;
	case SSTP_SEGMENT_LIMIT:
		val = set->segment_limit;
		break;
	case SSTP_TOLERANCE:
		val = sstp_unconnected(sk) ? set->tolerance : sp->hs.tolerance;
		break;
	case SSTP_ACK_STRATEGY:
		val = sstp_unconnected(sk) ? set->strategy : sp->hs.strategy;
		break;
	case SSTP_WINDOW_FACTOR:
		val = set->window_factor;
		break;
	case SSTP_WINDOW_CLAMP:
		val = set->window_clamp;
		break;
	case SSTP_USER_TIMEOUT:
		val = set->user_timeout;
		break;
	case SSTP_NODELAY:
		val = set->nodelay;
		break;
	case SSTP_POOL:
		val = set->pool;
		break;
	default:
		return -ENOPROTOOPT;
	}
	if (name) {
		memset(buf, 0, SSTP_NAME_MAX);
		strscpy(buf, name, SSTP_NAME_MAX);
		return SSTP_NAME_MAX;
	}
	memcpy(buf, &val, sizeof(val));
	return sizeof(val);
}

static int sstp_get_ip(struct sock *sk, int level, int opt)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if ((level == SOL_IP && opt == IP_TOS) ||
	    (level == SOL_IPV6 && opt == IPV6_TCLASS))
		return sp->set.tos;
	if ((level == SOL_IP && opt == IP_TTL) ||
	    (level == SOL_IPV6 && opt == IPV6_UNICAST_HOPS))
		return sp->set.ttl >= 0 ? sp->set.ttl : 64;
	if ((level == SOL_IP && opt == IP_FREEBIND) ||
	    (level == SOL_IPV6 && opt == IPV6_FREEBIND))
		return sp->set.freebind;
	if (level == SOL_IP && opt == IP_BIND_ADDRESS_NO_PORT)
		return sp->bind.no_port;
	if (level == SOL_IP && opt == IP_MTU_DISCOVER)
		return IP_PMTUDISC_WANT;
	if (level == SOL_IPV6 && opt == IPV6_MTU_DISCOVER)
		return IPV6_PMTUDISC_WANT;
	if (level == SOL_IPV6 && opt == IPV6_V6ONLY)
		return sp->id.v6only;
	if ((level == SOL_IP && opt == IP_MTU) ||
	    (level == SOL_IPV6 && opt == IPV6_MTU)) {
		if (sstp_unconnected(sk))
			return -ENOTCONN;
		sstp_mtu_update(sk);
		return sp->path.mtu;
	}
	return -ENOPROTOOPT;
}

/* SSTP_MONITOR. The copy is made under the lock, so that the interval of a read that failed goes
 * on. @len: bytes that the program has room for
 */
static int sstp_get_monitor(struct sock *sk, char __user *optval, int __user *optlen, int len)
{
	struct sstp_stats *stats = &sstp_sk(sk)->stats;
	struct {
		struct sstp_info info;
		struct sstp_monitor monitor;
	} *buf;
	int err = 0;

	buf = kzalloc_obj(*buf, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	len = min_t(u32, len, sizeof(buf->monitor));
	lock_sock(sk);
	if (!stats->mark)
		stats->mark = kzalloc_obj(*stats->mark, GFP_KERNEL_ACCOUNT);
	if (!stats->mark) {
		err = -ENOMEM;
	} else {
		sstp_fill_info(sstp_sk(sk), &buf->info);
		sstp_monitor_fill(&buf->monitor, &buf->info, stats->mark);
		if (put_user(len, optlen) || copy_to_user(optval, &buf->monitor, len))
			err = -EFAULT;
		else
			sstp_monitor_begin(stats->mark, &buf->info);
	}
	release_sock(sk);
	kfree(buf);
	return err;
}

int sstp_getsockopt(struct socket *sock, int level, int optname,
		    char __user *optval, int __user *optlen)
{
	union {
		struct sstp_info info;
		struct sstp_rate_spec rate;
		struct sstp_param param[SSTP_PARAMS_MAX + SSTP_STATE_MAX];
		char name[SSTP_NAME_MAX];
		int val;
	} *buf;
	struct sock *sk = sock->sk;
	int len, size;

	if (level == SOL_TCP)
		return sstp_tcp_getsockopt(sk, optname, optval, optlen);
	if (get_user(len, optlen))
		return -EFAULT;
	if (level == SOL_IPV6 && sstp_sk(sk)->id.domain == AF_INET)
		return -EOPNOTSUPP;
	if (level != SOL_SSTP && level != SOL_IP && level != SOL_IPV6)
		return sstp_sk(sk)->id.af == AF_INET6 ? -ENOPROTOOPT : -EOPNOTSUPP;
	if (len < 0 && level != SOL_IPV6)
		return -EINVAL;
	if (level == SOL_SSTP && optname == SSTP_MONITOR)
		return sstp_get_monitor(sk, optval, optlen, len);
	buf = kzalloc_obj(*buf, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	lock_sock(sk);
	if (level == SOL_SSTP) {
		size = sstp_get_own(sk, optname, buf);
	} else if (level == SOL_IP && optname == IP_LOCAL_PORT_RANGE) {
		buf->val = sstp_sk(sk)->set.port_range;
		size = sizeof(int);
	} else {
		size = sstp_get_ip(sk, level, optname);
		if (size >= 0) {
			buf->val = size;
			size = sizeof(int);
		}
	}
	release_sock(sk);
	if (size >= 0) {
		/* IPv6 takes a negative length for a large one. */
		len = min_t(u32, len, size);
		size = put_user(len, optlen) ||
		       copy_to_user(optval, buf, len) ? -EFAULT : 0;
	}
	kfree(buf);
	return size;
}
