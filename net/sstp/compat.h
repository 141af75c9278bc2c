/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All differences between kernels. Kbuild defines the SSTP_HAVE_* symbols, by searching the
 * headers that it builds against.
 */
#ifndef _SSTP_COMPAT_H
#define _SSTP_COMPAT_H

#include <linux/bpf-cgroup.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/filter.h>
#include <linux/hrtimer.h>
#include <linux/in.h>
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <net/genetlink.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>
#if IS_ENABLED(CONFIG_IPV6)
#include <net/ip6_route.h>
#endif

#ifdef SSTP_HAVE_PROTO_MEMORY
#include <net/proto_memory.h>
#endif

#ifdef SSTP_HAVE_ITERATE
#include <linux/iov_iter.h>
#endif

#ifdef SSTP_HAVE_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#ifndef __cacheline_group_begin
#define __cacheline_group_begin(GROUP)	__u8 __cacheline_group_begin__##GROUP[0]
#define __cacheline_group_end(GROUP)	__u8 __cacheline_group_end__##GROUP[0]
#define CACHELINE_ASSERT_GROUP_MEMBER(TYPE, GROUP, MEMBER)				\
	BUILD_BUG_ON(offsetof(TYPE, MEMBER) <						\
		     offsetof(TYPE, __cacheline_group_begin__##GROUP) ||		\
		     offsetofend(TYPE, MEMBER) >					\
		     offsetof(TYPE, __cacheline_group_end__##GROUP))
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#endif

/* Of 6.3 */
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE	51
#endif

/* Before 6.2 messages have no arguments: those that do get lost, and the attribute at fault, and
 * a plain message that was set before, say the rest.
 */
#ifndef NL_SET_ERR_MSG_FMT
#define NL_SET_ERR_MSG_FMT(extack, ...)	((void)(extack))
#endif

#ifdef SSTP_HAVE_SOCKADDR_UNSIZED
#define sstp_sockaddr		sockaddr_unsized
#else
#define sstp_sockaddr		sockaddr
#endif

#ifdef SSTP_HAVE_PROTO_ACCEPT_ARG
#define SSTP_ACCEPT_PARAMS	struct proto_accept_arg *arg
#define SSTP_ACCEPT_FLAGS	(arg->flags)
#else
#define SSTP_ACCEPT_PARAMS	int sstp_accept_flags, bool kern
#define SSTP_ACCEPT_FLAGS	(sstp_accept_flags)
#endif

/* Before 6.5 sendfile() and splice() pass page by page, and do not tell that the file has ended. */
#ifdef SSTP_HAVE_SENDPAGE
#define SSTP_PROTO_OPS_SPLICE	.sendpage = sstp_sendpage,
#else
#define SSTP_PROTO_OPS_SPLICE	.splice_eof = sstp_splice_eof,
#endif

/* A flag of sstp_sendpage() alone before 6.5: no caller of sendmsg() in the kernel passes it, and
 * without a backport of MSG_INTERNAL_SENDMSG_FLAGS user space may. From 6.5 on system calls clear
 * it, so that it comes from the kernel.
 */
#ifndef MSG_SPLICE_PAGES
#define MSG_SPLICE_PAGES	0x8000000
#endif
#ifdef SSTP_HAVE_SENDPAGE
#define SSTP_MSG_IGNORED	MSG_SPLICE_PAGES
#else
#define SSTP_MSG_IGNORED	0
#endif

#ifdef SSTP_HAVE_ZEROCOPY_DEVMEM
#define sstp_msg_zerocopy(sk, len, uarg)	msg_zerocopy_realloc(sk, len, uarg, false)
#else
#define sstp_msg_zerocopy(sk, len, uarg)	msg_zerocopy_realloc(sk, len, uarg)
#endif

/* Run the BPF programs of the socket's cgroup for an address, which they may change.
 * @hook: of CGROUP_INET4_hook and CGROUP_INET6_hook. Socket lock.
 */
#ifndef CONFIG_CGROUP_BPF
#define SSTP_CGROUP_MAY_BIND	1
#define sstp_cgroup_addr(sk, uaddr, len, hook, flags)			\
	({ (void)(sk); (void)(uaddr); (void)(len); (void)#hook; (void)(flags); 0; })
#else
#define SSTP_CGROUP_MAY_BIND	BPF_RET_BIND_NO_CAP_NET_BIND_SERVICE
#define sstp_cgroup_addr(sk, uaddr, len, hook, flags)			\
	((sk)->sk_family == AF_INET6 ?					\
	 sstp_cgroup_run(sk, uaddr, len, CGROUP_INET6_##hook, flags) :	\
	 sstp_cgroup_run(sk, uaddr, len, CGROUP_INET4_##hook, flags))
#ifdef SSTP_HAVE_CGROUP_ADDRLEN
#define sstp_cgroup_run(sk, uaddr, len, type, flags)			\
	(!cgroup_bpf_enabled(type) ? 0 :				\
	 __cgroup_bpf_run_filter_sock_addr(sk, (void *)(uaddr), len, type, NULL, flags))
#else
#define sstp_cgroup_run(sk, uaddr, len, type, flags)			\
	(!cgroup_bpf_enabled(type) ? ((void)(len), 0) :			\
	 __cgroup_bpf_run_filter_sock_addr(sk, (void *)(uaddr), type, NULL, flags))
#endif
#endif

static inline void sstp_hrtimer_setup(struct hrtimer *t,
				      enum hrtimer_restart
				      (*fn)(struct hrtimer *))
{
#ifdef SSTP_HAVE_HRTIMER_SETUP
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	t->function = fn;
#endif
}

/* Headers of IP and UDP before a train or packet */
struct sstp_outer {
	struct in6_addr	src;	/* IPv4 mapped */
	struct in6_addr	dst;
	__be16	sport;
	__be16	dport;
	u8	tos;
	u8	ttl;
	bool	df;		/* of IPv4 */
};

static inline void sstp_udp_xmit4(struct rtable *rt, struct sock *usk,
				  struct sk_buff *skb, const struct sstp_outer *o)
{
	__be32 src = o->src.s6_addr32[3], dst = o->dst.s6_addr32[3];
	__be16 df = o->df ? htons(IP_DF) : 0;

#ifdef SSTP_HAVE_UDP_TUNNEL_IPCB
	udp_tunnel_xmit_skb(rt, usk, skb, src, dst, o->tos, o->ttl, df, o->sport,
			    o->dport, false, false, 0);
#else
	udp_tunnel_xmit_skb(rt, usk, skb, src, dst, o->tos, o->ttl, df, o->sport,
			    o->dport, false, false);
#endif
}

#if IS_ENABLED(CONFIG_IPV6)
static inline void sstp_udp_xmit6(struct dst_entry *dst, struct sock *usk,
				  struct sk_buff *skb, struct sstp_outer *o)
{
#ifdef SSTP_HAVE_UDP_TUNNEL6_IP6CB
	udp_tunnel6_xmit_skb(dst, usk, skb, NULL, &o->src, &o->dst, o->tos, o->ttl, 0,
			     o->sport, o->dport, false, 0);
#else
	udp_tunnel6_xmit_skb(dst, usk, skb, NULL, &o->src, &o->dst, o->tos, o->ttl, 0,
			     o->sport, o->dport, false);
#endif
}

static inline u32 sstp_dst_cookie6(struct dst_entry *dst)
{
#ifdef SSTP_HAVE_DST_RT6_INFO
	return rt6_get_cookie(dst_rt6_info(dst));
#else
	return rt6_get_cookie((struct rt6_info *)dst);
#endif
}
#endif

/* Charge a child, which is made in softirq, to the cgroup of its listener. */
static inline void sstp_memcg_inherit(struct sock *child, struct sock *parent)
{
#ifdef CONFIG_MEMCG
	if (mem_cgroup_sockets_enabled && parent->sk_memcg &&
	    !child->sk_memcg) {
		css_get(&parent->sk_memcg->css);
		child->sk_memcg = parent->sk_memcg;
	}
#endif
}

/* Newer kernels refuse SO_REUSEPORT to families that they do not know, unless the family
 * handles SOL_SOCKET itself.
 */
static inline void sstp_own_sockopts(struct socket *sock)
{
#ifdef SSTP_HAVE_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

static inline void sstp_never_busy_loop(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
}

/* Attributes of the request of a dump */
static inline struct nlattr **sstp_dump_attrs(struct netlink_callback *cb)
{
#ifdef SSTP_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* struct_ops in modules, with the link that a program is registered by. Those who load programs
 * write callbacks as the 64 bits that pointers of BPF have.
 */
#if defined(SSTP_HAVE_STRUCT_OPS_LINK) && defined(CONFIG_BPF_SYSCALL) &&	\
	defined(CONFIG_BPF_JIT) && defined(CONFIG_DEBUG_INFO_BTF_MODULES) &&	\
	defined(CONFIG_64BIT)
#define SSTP_HAVE_BPF
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#endif

/* Where there is no such flag, all functions have it. */
#ifndef KF_TRUSTED_ARGS
#define KF_TRUSTED_ARGS	0
#endif

#ifdef SSTP_HAVE_CTL_TABLE_CONST
#define SSTP_CTL_CONST		const
#else
#define SSTP_CTL_CONST
#endif

#ifdef SSTP_HAVE_SYSCTL_SZ
#define SSTP_CTL_SENTINEL
#define sstp_register_sysctl(net, table, n)				\
	register_net_sysctl_sz(net, "net/sstp", table, n)
#else
#define SSTP_CTL_SENTINEL	{ }
#define sstp_register_sysctl(net, table, n)				\
	((void)(n), register_net_sysctl(net, "net/sstp", table))
#endif

#endif /* _SSTP_COMPAT_H */
