// SPDX-License-Identifier: GPL-2.0
/*
 * UDP below: sockets of a namespace and of its VRFs, routes, and whole trains in and out.
 *
 * The UDP sockets have UDP_GRO set and no encap_rcv: with one, the stack would
 * cut each train into its packets before we see it.
 */
#include <linux/errqueue.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/udp.h>
#include "drop.h"
#include "encap.h"
#include "netns.h"
#include "skb_in.h"
#include "sstp.h"

/* Takes what comes; set before there is a UDP socket. */
static const struct sstp_encap_ops *sstp_encap_above __ro_after_init;

/**
 * struct sstp_encap - UDP sockets of a namespace, or of a VRF in it
 * @dev: index of the VRF's device, to which they are bound: a UDP socket that is bound to
 *	none has packets of a VRF only if net.ipv4.udp_l3mdev_accept is set
 * @known: sockets on the well-known port; [0] IPv4, [1] IPv6
 * @client: sockets on ports of their own, for those that connect; the same
 *
 * Both are written under sstp_net.encap_lock. They are closed while no sstp socket of the
 * namespace is left, or when the VRF goes.
 */
struct sstp_encap {
	int	dev;
	struct socket *known[2][SSTP_ENCAP_SOCKETS];
	struct socket *client[2][SSTP_ENCAP_SOCKETS];
};

/* Devices that an IPv4 packet came in through. UDP keeps what IP_PKTINFO would tell in
 * place of the device: that of the VRF, and with packets of this host the one that the
 * sender is bound to.
 */
static void sstp_encap_note_devs(const struct sk_buff *skb, struct sstp_skb_in *in)
{
	int dev = PKTINFO_SKB_CB(skb)->ipi_ifindex ?: skb->skb_iif;
	bool slave = IS_ENABLED(CONFIG_NET_L3_MASTER_DEV) &&
		     ipv4_l3mdev_skb(IPCB(skb)->flags);

	in->dif = slave ? skb->skb_iif : dev;
	in->sdif = slave ? dev : 0;
}

static void sstp_encap_note(struct sk_buff *skb)
{
	struct sstp_skb_in in = {
		.sport = udp_hdr(skb)->source,
		/* Fragments of one datagram are no train. */
		.size = skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 ?
			skb_shinfo(skb)->gso_size : min_t(u32, skb->len, U16_MAX),
	};

	BUILD_BUG_ON(sizeof(in) > sizeof(skb->cb));
	BUILD_BUG_ON(sizeof(struct sstp_rcb) > offsetof(struct sstp_skb_in, why));
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &in.saddr);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &in.daddr);
		sstp_encap_note_devs(skb, &in);
	} else {
		in.saddr = ipv6_hdr(skb)->saddr;
		in.daddr = ipv6_hdr(skb)->daddr;
		in.dif = inet6_iif(skb);
		in.sdif = inet6_sdif(skb);
	}
	*SSTP_IN(skb) = in;
}

/* Softirq. UDP has queued one or more packets or trains. */
static void sstp_encap_data_ready(struct sock *usk)
{
	struct sk_buff *skb;
	int off = 0, err;

	for (;;) {
		skb = __skb_recv_udp(usk, MSG_DONTWAIT, &off, &err);
		if (!skb && err == -EAGAIN)
			break;
		/* An ICMP error that came meanwhile, which this has taken. */
		if (!skb)
			continue;
		/* UDP kept its own notes in place of the device. */
		skb->dev = NULL;
		off = 0;
		sstp_encap_note(skb);
		if (!udp_hdr(skb)->check) {
			sstp_drop(usk, skb, SSTP_MIB_INERRNOCSUM, 1);
			sstp_free(skb);
		} else if (skb_checksum_complete(skb)) {
			sstp_drop(usk, skb, SSTP_MIB_INERRCSUM, 1);
			sstp_free(skb);
		} else {
			sstp_encap_above->rcv(usk, skb);
		}
	}
}

/* Softirq. An ICMP error has come; what it quotes is in the error queue. */
static void sstp_encap_error(struct sock *usk)
{
	struct sk_buff *skb;

	while ((skb = sock_dequeue_err_skb(usk))) {
		const struct sock_exterr_skb *e = SKB_EXT_ERR(skb);

		if (e->ee.ee_origin == SO_EE_ORIGIN_ICMP ||
		    e->ee.ee_origin == SO_EE_ORIGIN_ICMP6)
			sstp_encap_above->icmp(usk, skb, e->ee.ee_errno);
		consume_skb(skb);
	}
	/* An error left in the socket would fail the next transmission. */
	sock_error(usk);
}

static int sstp_encap_opt(struct socket *sock, int level, int opt, int val)
{
	return sock->ops->setsockopt(sock, level, opt, KERNEL_SOCKPTR(&val),
				     sizeof(val));
}

/* ICMP errors do not change routes: whoever knows the port can forge them. Each connection
 * keeps the path MTU for itself: pmtud.h
 */
static int sstp_encap_opts(struct socket *sock, bool v6)
{
	int err;

	if (v6) {
		err = sstp_encap_opt(sock, SOL_IPV6, IPV6_V6ONLY, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IPV6, IPV6_RECVERR, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IPV6, IPV6_MTU_DISCOVER,
					     IPV6_PMTUDISC_INTERFACE);
	} else {
		err = sstp_encap_opt(sock, SOL_IP, IP_RECVERR, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IP, IP_PKTINFO, 1);
		if (!err)
			err = sstp_encap_opt(sock, SOL_IP, IP_MTU_DISCOVER,
					     IP_PMTUDISC_INTERFACE);
	}
	return err ?: sstp_encap_opt(sock, SOL_UDP, UDP_GRO, 1);
}

/* How a UDP socket is to be */
struct sstp_encap_work {
	struct work_struct work;
	struct net	*net;
	struct socket	*sock;
	int		dev;		/* as of struct sstp_encap */
	u16		port;
	bool		v6;
	bool		group;
	int		err;
};

static int __sstp_encap_sock(struct sstp_encap_work *w)
{
	union {
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {};
	struct socket *sock;
	int err;

	err = sock_create_kern(w->net, w->v6 ? AF_INET6 : AF_INET, SOCK_DGRAM,
			       IPPROTO_UDP, &sock);
	/* No memory for an inode: no file is meant. */
	if (err == -ENFILE)
		err = -ENOMEM;
	if (err)
		return err;
	err = sstp_encap_opts(sock, w->v6);
	if (!err && w->dev)
		err = sock_bindtoindex(sock->sk, w->dev, true);
	if (err)
		goto fail;
	sock->sk->sk_reuseport = w->group;
	/* Trains leave the queue as soon as they enter it. */
	sock->sk->sk_rcvbuf = 4 << 20;
	sock->sk->sk_allocation = GFP_ATOMIC;
	/* Else net.core.busy_read would have each look at an empty queue, in softirq,
	 * poll devices.
	 */
	sstp_never_busy_loop(sock->sk);
	write_lock_bh(&sock->sk->sk_callback_lock);
	sock->sk->sk_data_ready = sstp_encap_data_ready;
	sock->sk->sk_error_report = sstp_encap_error;
	write_unlock_bh(&sock->sk->sk_callback_lock);
	if (w->v6) {
		a.v6.sin6_family = AF_INET6;
		a.v6.sin6_port = htons(w->port);
	} else {
		a.v4.sin_family = AF_INET;
		a.v4.sin_port = htons(w->port);
	}
	err = kernel_bind(sock, (void *)&a, w->v6 ? sizeof(a.v6) : sizeof(a.v4));
	if (err)
		goto fail;
	w->sock = sock;
	return 0;
fail:
	sock_release(sock);
	return err;
}

static void sstp_encap_do(struct work_struct *work)
{
	struct sstp_encap_work *w = container_of(work, struct sstp_encap_work,
						 work);

	w->err = __sstp_encap_sock(w);
}

/* All users' packets go through sockets that the first of them happens to open.
 * A kernel thread does it, so that they have nothing of that one: neither uid,
 * with which a UDP socket might join the group, nor cgroups, nor label. Waits
 * for it: the caller's socket keeps the namespace.
 */
static int sstp_encap_sock(struct sstp_encap_work *w, struct socket **res)
{
	INIT_WORK_ONSTACK(&w->work, sstp_encap_do);
	schedule_work(&w->work);
	flush_work(&w->work);
	destroy_work_on_stack(&w->work);
	if (!w->err)
		WRITE_ONCE(*res, w->sock);
	return w->err;
}

static void sstp_encap_release(struct socket *s)
{
	if (s) {
		kernel_sock_shutdown(s, SHUT_RDWR);
		sock_release(s);
	}
}

static void sstp_encap_free(struct sstp_encap *e)
{
	int v, i;

	for (v = 0; v < 2; v++)
		for (i = 0; i < SSTP_ENCAP_SOCKETS; i++) {
			sstp_encap_release(e->known[v][i]);
			sstp_encap_release(e->client[v][i]);
		}
	kfree(e);
}

/* Packets may come up from them until an RCU grace period is over. */
void sstp_encap_close(struct net *net)
{
	struct sstp_net *sn = sstp_net(net);
	struct sstp_encap *e;
	unsigned long dev;

	xa_for_each(&sn->encaps, dev, e)
		sstp_encap_free(e);
	xa_destroy(&sn->encaps);
}

/* Those that a socket which is bound to device @dev, or to none, is to use. The VRF's
 * notifier takes the lock after the device can no longer be found. Under encap_lock.
 */
static struct sstp_encap *sstp_encap_get(struct net *net, int dev)
{
	int l3mdev = l3mdev_master_ifindex_by_index(net, dev), err;
	struct sstp_net *sn = sstp_net(net);
	struct sstp_encap *e = xa_load(&sn->encaps, l3mdev);

	if (e)
		return e;
	e = kzalloc_obj(*e, GFP_KERNEL);
	if (!e)
		return ERR_PTR(-ENOMEM);
	e->dev = l3mdev;
	err = xa_err(xa_store_bh(&sn->encaps, l3mdev, e, GFP_KERNEL));
	if (!err)
		return e;
	kfree(e);
	return ERR_PTR(err);
}

/* With a VRF go its sockets: nothing more can come through them. */
static int sstp_encap_netdev(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct sstp_net *sn = sstp_net(dev_net(dev));
	struct sstp_encap *e;

	if (event != NETDEV_UNREGISTER || !netif_is_l3_master(dev))
		return NOTIFY_DONE;
	mutex_lock(&sn->encap_lock);
	e = xa_erase_bh(&sn->encaps, dev->ifindex);
	mutex_unlock(&sn->encap_lock);
	if (e)
		sstp_encap_free(e);
	return NOTIFY_DONE;
}

static struct notifier_block sstp_encap_notifier = {
	.notifier_call = sstp_encap_netdev,
};

int __init sstp_encap_init(const struct sstp_encap_ops *above)
{
	sstp_encap_above = above;
	return register_netdevice_notifier(&sstp_encap_notifier);
}

void sstp_encap_exit(void)
{
	unregister_netdevice_notifier(&sstp_encap_notifier);
}

/* Take another well-known port, from the next sstp_encap_open() on, unless there are
 * sockets of @prot.
 */
int sstp_encap_move(struct net *net, struct proto *prot, int port)
{
	struct sstp_net *sn = sstp_net(net);
	int err = -EBUSY;
	bool used;

	mutex_lock(&sn->encap_lock);
	/* Who is not counted yet will wait for the lock. Under RCU as sockets go
	 * after a grace period: one that came and went on another CPU while we
	 * add up could hide a third.
	 */
	rcu_read_lock();
	used = sock_prot_inuse_get(net, prot);
	rcu_read_unlock();
	if (!used) {
		sstp_encap_close(net);
		/* Or an INIT from there might find the next listener. */
		synchronize_rcu();
		WRITE_ONCE(sn->encap_port, port);
		err = 0;
	}
	mutex_unlock(&sn->encap_lock);
	return err;
}

static int sstp_encap_open_known(struct net *net, struct sstp_encap *e, bool v6)
{
	int n = min_t(int, num_online_cpus(), SSTP_ENCAP_SOCKETS), i, err = 0;

	for (i = 0; i < n && !err; i++) {
		struct sstp_encap_work w = {
			.net = net,
			.dev = e->dev,
			.port = READ_ONCE(sstp_net(net)->encap_port),
			.v6 = v6,
			.group = true,
		};

		if (!e->known[v6][i])
			err = sstp_encap_sock(&w, &e->known[v6][i]);
	}
	return err;
}

/* Open the well-known port for a listener, once for all of the namespace or of its VRF;
 * a reuseport group with a socket per CPU. IPv6 may be absent or disabled. Socket lock.
 */
int sstp_encap_open(struct sock *sk)
{
	struct net *net = sock_net(sk);
	struct sstp_net *sn = sstp_net(net);
	struct sstp_encap *e;
	int err;

	mutex_lock(&sn->encap_lock);
	e = sstp_encap_get(net, sk->sk_bound_dev_if);
	err = PTR_ERR_OR_ZERO(e);
	if (!err)
		err = sstp_encap_open_known(net, e, false);
	if (!err) {
		err = sstp_encap_open_known(net, e, true);
		if (err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL)
			err = 0;
	}
	mutex_unlock(&sn->encap_lock);
	return err;
}

/* A UDP socket for one that connects, in its VRF: @port gives a path of its own through
 * RSS and ECMP. Kept until namespace or VRF go, as packets may be under way to it. Socket
 * lock.
 */
int sstp_encap_client(struct sock *sk, bool v6, __be16 *port)
{
	struct sstp_encap_work w = { .net = sock_net(sk), .v6 = v6 };
	struct sstp_net *sn = sstp_net(sock_net(sk));
	int i = get_random_u32() % SSTP_ENCAP_SOCKETS, err;
	struct sstp_encap *e;

	mutex_lock(&sn->encap_lock);
	e = sstp_encap_get(sock_net(sk), sk->sk_bound_dev_if);
	err = PTR_ERR_OR_ZERO(e);
	if (!err && !e->client[v6][i]) {
		w.dev = e->dev;
		err = sstp_encap_sock(&w, &e->client[v6][i]);
	}
	if (!err)
		*port = inet_sk(e->client[v6][i]->sk)->inet_sport;
	mutex_unlock(&sn->encap_lock);
	/* As connect() says it that finds no port. */
	return err == -EADDRINUSE ? -EADDRNOTAVAIL : err;
}

static struct dst_entry *sstp_route4(struct sock *sk, struct flowi4 *fl)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct rtable *rt;

	memset(fl, 0, sizeof(*fl));
	fl->flowi4_oif = sk->sk_bound_dev_if;
	fl->flowi4_mark = READ_ONCE(sk->sk_mark);
	fl->flowi4_proto = IPPROTO_UDP;
	fl->daddr = sp->id.peer.addr.s6_addr32[3];
	if (sstp_v4(&sp->id.saddr))
		fl->saddr = sp->id.saddr.s6_addr32[3];
	fl->fl4_dport = sp->id.peer.port;
	fl->fl4_sport = sp->id.udp_port;
	fl->flowi4_uid = sk->sk_uid;
	rt = ip_route_output_flow(sock_net(sk), fl, NULL);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
/* IPv4 routes nothing from an address that is not ours, IPv6 would. */
static bool sstp_saddr6_ours(struct net *net, const struct flowi6 *fl)
{
	struct flowi6 to_us = {
		.daddr = fl->saddr,
		.saddr = fl->saddr,
		.flowi6_oif = fl->flowi6_oif,
	};
	struct dst_entry *dst = ip6_route_output(net, NULL, &to_us);
	bool ours = !dst->error &&
		    ((struct rt6_info *)dst)->rt6i_flags & RTF_LOCAL;

	dst_release(dst);
	return ours;
}
#endif

static struct dst_entry *sstp_route6(struct sock *sk, struct flowi6 *fl)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct sstp_sock *sp = sstp_sk(sk);

	memset(fl, 0, sizeof(*fl));
	fl->flowi6_oif = sp->id.scope ?: sk->sk_bound_dev_if;
	fl->flowi6_mark = READ_ONCE(sk->sk_mark);
	fl->flowi6_proto = IPPROTO_UDP;
	fl->daddr = sp->id.peer.addr;
	fl->saddr = sp->id.saddr;
	fl->fl6_dport = sp->id.peer.port;
	fl->fl6_sport = sp->id.udp_port;
	fl->flowi6_uid = sk->sk_uid;
	/* bind() lets a program name any, with IP_FREEBIND. */
	if (sk->sk_userlocks & SOCK_BINDADDR_LOCK &&
	    !sstp_saddr6_ours(sock_net(sk), fl))
		return ERR_PTR(-ENETUNREACH);
	return ip6_dst_lookup_flow(sock_net(sk), NULL, fl, NULL);
#else
	return ERR_PTR(-EAFNOSUPPORT);
#endif
}

/* Find the way to the peer, and with it our address if none was bound. Under
 * the socket lock. Takes no reference of the caller's.
 */
int sstp_encap_route(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct dst_entry *dst;

	if (sstp_v4(&sp->id.peer.addr)) {
		struct flowi4 fl;

		dst = sstp_route4(sk, &fl);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		if (((struct rtable *)dst)->rt_flags &
		    (RTCF_MULTICAST | RTCF_BROADCAST)) {
			dst_release(dst);
			return -ENETUNREACH;
		}
		if (ipv6_addr_any(&sp->id.saddr))
			ipv6_addr_set_v4mapped(fl.saddr, &sp->id.saddr);
		sp->path.dst_cookie = 0;
	} else {
		struct flowi6 fl;

		dst = sstp_route6(sk, &fl);
		if (IS_ERR(dst))
			return PTR_ERR(dst);
		if (ipv6_addr_any(&sp->id.saddr))
			sp->id.saddr = fl.saddr;
#if IS_ENABLED(CONFIG_IPV6)
		sp->path.dst_cookie = sstp_dst_cookie6(dst);
#endif
	}
	sk_dst_set(sk, dst);
	return 0;
}

/* The route in force, with the caller's reference; NULL if there is none. */
struct dst_entry *sstp_encap_dst(struct sock *sk)
{
	struct dst_entry *dst = sk_dst_check(sk, sstp_sk(sk)->path.dst_cookie);

	if (!dst && !sstp_encap_route(sk))
		dst = sk_dst_get(sk);
	return dst;
}

/* Send an skb of ours, a train or one packet, that starts with the SSTP header. IP takes
 * it for one of this socket, not of the UDP socket, and asks the programs of its cgroup.
 * @fragment: it may be larger than the path takes. Under the socket lock or in
 * softirq; consumes @skb.
 */
int sstp_encap_xmit(struct sock *sk, struct sk_buff *skb, bool fragment)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct dst_entry *dst = sstp_encap_dst(sk);
	__be16 sport = sp->id.udp_port;

	if (!dst) {
		sstp_drop(sk, skb, SSTP_MIB_OUTERR, max(skb_shinfo(skb)->gso_segs, 1));
		sstp_free(skb);
		return -EHOSTUNREACH;
	}
	skb->priority = READ_ONCE(sk->sk_priority);
	skb->mark = READ_ONCE(sk->sk_mark);
	if (skb_is_gso(skb)) {
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
		skb->csum_offset = offsetof(struct udphdr, check);
	}
	local_bh_disable();
	if (sstp_v4(&sp->id.peer.addr)) {
		skb->protocol = htons(ETH_P_IP);
		sstp_udp_xmit4((struct rtable *)dst, sk, skb,
			       sp->id.saddr.s6_addr32[3],
			       sp->id.peer.addr.s6_addr32[3], sp->set.tos,
			       sp->set.ttl < 0 ? ip4_dst_hoplimit(dst) : sp->set.ttl,
			       fragment ? 0 : htons(IP_DF), sport,
			       sp->id.peer.port);
	} else {
#if IS_ENABLED(CONFIG_IPV6)
		skb->protocol = htons(ETH_P_IPV6);
		skb->ignore_df = fragment;
		sstp_udp_xmit6(dst, sk, skb, &sp->id.saddr, &sp->id.peer.addr,
			       sp->set.tos, sp->set.ttl < 0 ? ip6_dst_hoplimit(dst) :
			       sp->set.ttl, 0, sport, sp->id.peer.port);
#else
		dst_release(dst);
		kfree_skb(skb);
#endif
	}
	local_bh_enable();
	return 0;
}

/* Answer a packet without any state of it: to where it came from. Softirq. */
void sstp_encap_reply(struct sock *usk, const struct sk_buff *cause,
		      const void *data, u32 len)
{
	struct net *net = sock_net(usk);
	__be16 sport = inet_sk(usk)->inet_sport, dport = SSTP_IN(cause)->sport;
	const struct sstp_skb_in *in = SSTP_IN(cause);
	int vrf = sstp_in_l3mdev(in);
	struct sk_buff *skb;

	skb = alloc_skb(SSTP_HEADROOM + len, GFP_ATOMIC);
	if (!skb) {
		SSTP_INC(net, OUTNOMEM);
		return;
	}
	skb_reserve(skb, SSTP_HEADROOM);
	skb_put_data(skb, data, len);
	SSTP_INC(net, OUTPKTS);
	if (sstp_v4(&in->saddr)) {
		struct flowi4 fl = {
			.daddr = in->saddr.s6_addr32[3],
			.saddr = in->daddr.s6_addr32[3],
			.flowi4_proto = IPPROTO_UDP,
			.flowi4_oif = vrf,
			.fl4_sport = sport,
			.fl4_dport = dport,
		};
		struct rtable *rt = ip_route_output_flow(net, &fl, NULL);

		if (IS_ERR(rt))
			goto no_route;
		skb->protocol = htons(ETH_P_IP);
		sstp_udp_xmit4(rt, usk, skb, fl.saddr, fl.daddr, 0,
			       ip4_dst_hoplimit(&rt->dst), htons(IP_DF), sport,
			       dport);
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	{
		struct flowi6 fl = {
			.daddr = in->saddr,
			.saddr = in->daddr,
			.flowi6_proto = IPPROTO_UDP,
			.flowi6_oif = vrf,
			.fl6_sport = sport,
			.fl6_dport = dport,
		};
		struct dst_entry *dst;

		if (ipv6_addr_type(&fl.daddr) & IPV6_ADDR_LINKLOCAL)
			fl.flowi6_oif = in->sdif ?: in->dif;
		dst = ip6_dst_lookup_flow(net, NULL, &fl, NULL);
		if (IS_ERR(dst))
			goto no_route;
		skb->protocol = htons(ETH_P_IPV6);
		sstp_udp_xmit6(dst, usk, skb, &fl.saddr, &fl.daddr, 0,
			       ip6_dst_hoplimit(dst), 0, sport, dport);
		return;
	}
#endif
no_route:
	*SSTP_IN(skb) = *in;
	sstp_drop(usk, skb, SSTP_MIB_OUTERR, 1);
	sstp_free(skb);
}
