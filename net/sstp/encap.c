// SPDX-License-Identifier: GPL-2.0
/*
 * Encapsulation in UDP: UDP sockets of a namespace and of its VRFs, routes, and transmission
 * and reception of trains.
 *
 * The UDP sockets have UDP_GRO set and no encap_rcv: with one, UDP would split each train into
 * packets before SSTP gets it.
 */
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/dsfield.h>
#include <net/inet_common.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/sock_reuseport.h>
#include <net/udp.h>
#include "drop.h"
#include "encap.h"
#include "netns.h"
#include "skb_in.h"
#include "sstp.h"
#include "steer.h"

/* The layer above; set before a UDP socket can be opened */
static const struct sstp_encap_ops *sstp_encap_above __ro_after_init;

/**
 * struct sstp_encap - UDP sockets of a namespace, or of a VRF in it
 * @dev: index of the VRF's device, to which the sockets are bound, or 0: a UDP socket that is
 *	not bound gets packets of a VRF only if net.ipv4.udp_l3mdev_accept is set
 * @known: sockets on the well-known port; [0] IPv4, [1] IPv6
 * @client: sockets on ephemeral ports, for connections that this host opens; the same
 *
 * Both are written under sstp_net.encap_lock. They are closed while no sstp socket of the
 * namespace is left, or when the VRF goes.
 */
struct sstp_encap {
	int	dev;
	struct socket *known[2][SSTP_ENCAP_SOCKETS];
	struct socket *client[2][SSTP_ENCAP_SOCKETS];
};

/* Record the devices that an IPv4 packet came in through. UDP has replaced the control block of
 * IP by the data of IP_PKTINFO: its device is a member of the VRF where skb_iif is the VRF, and
 * for a packet of this host the one that the sender is bound to.
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
		in.ecn = ip_hdr(skb)->tos & INET_ECN_MASK;
	} else {
		in.saddr = ipv6_hdr(skb)->saddr;
		in.daddr = ipv6_hdr(skb)->daddr;
		in.dif = inet6_iif(skb);
		in.sdif = inet6_sdif(skb);
		in.ecn = ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK;
	}
	*SSTP_IN(skb) = in;
	/* From here on it is when the skb was put into a backlog, CLOCK_MONOTONIC. */
	skb->tstamp = 0;
}

/* Has the UDP socket packets? Whoever queues one calls sstp_encap_data_ready() after that, so none
 * is missed.
 */
static bool sstp_encap_waits(const struct sock *usk)
{
	return !skb_queue_empty_lockless(&usk->sk_receive_queue) ||
	       !skb_queue_empty_lockless(&udp_sk(usk)->reader_queue);
}

/* UDP has queued packets or trains: pass them up. Softirq. */
static void sstp_encap_data_ready(struct sock *usk)
{
	struct sk_buff *skb;
	int off = 0, err;

	while (sstp_encap_waits(usk)) {
		skb = __skb_recv_udp(usk, MSG_DONTWAIT, &off, &err);
		/* Another CPU took it, or @err was an ICMP error, which the call has cleared. */
		if (!skb)
			continue;
		/* UDP uses the place of @dev for its dev_scratch. */
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

/* ICMP errors came: pass them up, with the packets that they quote, from the error queue. Not by
 * sock_dequeue_err_skb(), which calls this function if another error waits: CPUs that add errors
 * while one takes them would fill its stack. Softirq.
 */
static void sstp_encap_error(struct sock *usk)
{
	struct sk_buff_head errors;
	struct sk_buff *skb;
	unsigned long flags;

	__skb_queue_head_init(&errors);
	spin_lock_irqsave(&usk->sk_error_queue.lock, flags);
	skb_queue_splice_init(&usk->sk_error_queue, &errors);
	spin_unlock_irqrestore(&usk->sk_error_queue.lock, flags);
	while ((skb = __skb_dequeue(&errors))) {
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

/* Set the options of a UDP socket. ICMP errors must not change routes, as every host that knows
 * the port can forge them: each connection keeps the path MTU for itself, see pmtud.h.
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

/* Parameters and result of the opening of a UDP socket */
struct sstp_encap_work {
	struct work_struct work;
	struct net	*net;
	struct socket	*sock;
	int		dev;		/* as in struct sstp_encap */
	u16		port;		/* 0 = any */
	bool		v6;
	u32		group;		/* UDP sockets of its reuseport group; 0 = it is in none */
	int		err;
};

/* Give each CPU a UDP socket of its own out of the @n of the group of @usk: CPUs that take packets
 * from one receive queue would wait for its lock, and take each other's. Without the program,
 * as when there is no memory for it, the hash of a packet chooses.
 */
static void sstp_encap_by_cpu(struct sock *usk, u32 n)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_CPU),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, n),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog_kern program = { .len = ARRAY_SIZE(code), .filter = code };
	struct bpf_prog *prog;

	if (!bpf_prog_create(&prog, &program) && reuseport_attach_prog(usk, prog))
		bpf_prog_destroy(prog);
}

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
	/* There was no memory for an inode: -ENFILE would point to a limit of open files. */
	if (err == -ENFILE)
		err = -ENOMEM;
	if (err)
		return err;
	err = sstp_encap_opts(sock, w->v6);
	if (!err && w->dev)
		err = sock_bindtoindex(sock->sk, w->dev, true);
	if (err)
		goto fail;
	sock->sk->sk_reuseport = !!w->group;
	/* Enough, as sstp_encap_data_ready() takes trains off the queue at once. */
	sock->sk->sk_rcvbuf = 4 << 20;
	sock->sk->sk_allocation = GFP_ATOMIC;
	/* With net.core.busy_read set, each look at the empty queue, in softirq, would poll
	 * devices.
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
	if (w->group)
		sstp_encap_by_cpu(sock->sk, w->group);
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

/* Let a kernel thread open a UDP socket, and wait for it. All users' packets go through the
 * socket, so it must have nothing of the user who is the first: neither the uid, with which a
 * UDP socket of that user could join the reuseport group, nor the cgroup or the security label.
 * The caller's socket holds the namespace.
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

/* Close all UDP sockets of @net. Packets may be passed up until an RCU grace period is over.
 * encap_lock, or @net has no SSTP sockets.
 */
void sstp_encap_close(struct net *net)
{
	struct sstp_net *sn = sstp_pernet(net);
	struct sstp_encap *e;
	unsigned long dev;

	xa_for_each(&sn->encaps, dev, e)
		sstp_encap_free(e);
	xa_destroy(&sn->encaps);
}

/* UDP sockets for an SSTP socket that is bound to device @dev, or to none (0). They are not
 * made for a VRF that is gone: its notifier takes encap_lock after the device can no longer be
 * found. encap_lock.
 */
static struct sstp_encap *sstp_encap_get(struct net *net, int dev)
{
	int l3mdev = l3mdev_master_ifindex_by_index(net, dev), err;
	struct sstp_net *sn = sstp_pernet(net);
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

/* Close the UDP sockets of a VRF that goes: nothing more can come through them. */
static int sstp_encap_netdev(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct sstp_net *sn = sstp_pernet(dev_net(dev));
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

/* Set the well-known port to @port, from the next sstp_encap_open() on. -EBUSY if @net has
 * sockets of @prot.
 */
int sstp_encap_move(struct net *net, struct proto *prot, int port)
{
	struct sstp_net *sn = sstp_pernet(net);
	int err = -EBUSY;
	bool used;

	mutex_lock(&sn->encap_lock);
	/* A socket that is not counted yet will wait for encap_lock. Sockets are freed after
	 * a grace period, so under RCU no socket that is counted on one CPU and freed on
	 * another during the sum can hide a third.
	 */
	rcu_read_lock();
	used = sock_prot_inuse_get(net, prot);
	rcu_read_unlock();
	if (!used) {
		sstp_encap_close(net);
		/* Else an INIT to the old port might find a listener of the new one. */
		synchronize_rcu();
		WRITE_ONCE(sn->encap_port, port);
		err = 0;
	}
	mutex_unlock(&sn->encap_lock);
	return err;
}

static int sstp_encap_open_known(struct net *net, struct sstp_encap *e, bool v6)
{
	u32 n = min(cpumask_last(cpu_online_mask) + 1, SSTP_ENCAP_SOCKETS), i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		struct sstp_encap_work w = {
			.net = net,
			.dev = e->dev,
			.port = READ_ONCE(sstp_pernet(net)->encap_port),
			.v6 = v6,
			.group = n,
		};

		if (!e->known[v6][i])
			err = sstp_encap_sock(&w, &e->known[v6][i]);
	}
	return err;
}

/* Open the well-known port for a listener, once for all of the namespace or of its VRF, as a
 * reuseport group with a UDP socket per CPU. IPv6 may be absent or disabled. Socket lock.
 */
int sstp_encap_open(struct sock *sk)
{
	struct net *net = sock_net(sk);
	struct sstp_net *sn = sstp_pernet(net);
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

/* The connection has ended: it uses none of the UDP sockets of sstp_encap_client(). Socket lock,
 * or nobody else has @sk.
 */
void sstp_encap_leave(struct sock *sk)
{
	struct sstp_ident *id = &sstp_sk(sk)->id;

	if (id->client)
		atomic_dec(&id->sn->clients[id->client - 1]);
	id->client = 0;
}

/* The place in struct sstp_encap.client with the fewest connections, of those whose UDP socket of
 * @e is open if @open; the first one of equals, so that connections which do not overlap in time
 * share a UDP socket. SSTP_ENCAP_SOCKETS = none is open
 */
static u32 sstp_encap_least(const struct sstp_net *sn, const struct sstp_encap *e, bool v6,
			    bool open)
{
	u32 i, best = SSTP_ENCAP_SOCKETS;
	int n, least = INT_MAX;

	for (i = 0; i < SSTP_ENCAP_SOCKETS && least; i++) {
		n = atomic_read(&sn->clients[i]);
		if (n < least && (!open || e->client[v6][i])) {
			least = n;
			best = i;
		}
	}
	return best;
}

/* Open a UDP socket of @e->client for a connection, or choose one that is open, as there are no
 * ports or no memory for another: that of the place with the fewest connections. encap_lock.
 * Return: its place, or an error
 */
static int sstp_encap_choose(struct net *net, struct sstp_encap *e, bool v6)
{
	struct sstp_encap_work w = { .net = net, .dev = e->dev, .v6 = v6 };
	struct sstp_net *sn = sstp_pernet(net);
	u32 i = sstp_encap_least(sn, e, v6, false);
	int err = 0;

	if (!e->client[v6][i])
		err = sstp_encap_sock(&w, &e->client[v6][i]);
	if (!err)
		return i;
	i = sstp_encap_least(sn, e, v6, true);
	if (i < SSTP_ENCAP_SOCKETS)
		return i;
	/* connect() returns this if there is no port. */
	return err == -EADDRINUSE ? -EADDRNOTAVAIL : err;
}

/* Choose one of the UDP sockets for a connection that @sk opens, in its VRF, and open it if
 * needed. As their ports @port differ, RSS and ECMP tell connections apart. The UDP socket stays
 * open until the namespace or VRF goes, as packets may be on their way to it. sstp_encap_leave()
 * ends the use. Socket lock.
 */
int sstp_encap_client(struct sock *sk, bool v6, __be16 *port)
{
	struct sstp_net *sn = sstp_pernet(sock_net(sk));
	struct sstp_encap *e;
	int i;

	sstp_encap_leave(sk);
	mutex_lock(&sn->encap_lock);
	e = sstp_encap_get(sock_net(sk), sk->sk_bound_dev_if);
	i = IS_ERR(e) ? PTR_ERR(e) : sstp_encap_choose(sock_net(sk), e, v6);
	if (i >= 0) {
		*port = inet_sk(e->client[v6][i]->sk)->inet_sport;
		atomic_inc(&sn->clients[i]);
		sstp_sk(sk)->id.client = i + 1;
	}
	mutex_unlock(&sn->encap_lock);
	return min(i, 0);
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
/* Is the source an address of this host? IPv4's route lookup checks this, IPv6's does not. */
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
	/* With IP_FREEBIND bind() accepts addresses that this host does not have. */
	if (sk->sk_userlocks & SOCK_BINDADDR_LOCK &&
	    !sstp_saddr6_ours(sock_net(sk), fl))
		return ERR_PTR(-ENETUNREACH);
	return ip6_dst_lookup_flow(sock_net(sk), NULL, fl, NULL);
#else
	return ERR_PTR(-EAFNOSUPPORT);
#endif
}

/* Set the route to the peer, and the source address that it gives if none was bound. Socket
 * lock.
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

/* The route to the peer, with a reference for the caller; NULL if there is none. Socket lock. */
struct dst_entry *sstp_encap_dst(struct sock *sk)
{
	struct dst_entry *dst = sk_dst_check(sk, sstp_sk(sk)->path.dst_cookie);

	if (!dst && !sstp_encap_route(sk))
		dst = sk_dst_get(sk);
	return dst;
}

/* Send @skb, a train or one packet, which starts with the SSTP header. To IP it is a packet of
 * @sk, not of the UDP socket, so the programs of the cgroup of @sk see it. @fragment: IP may
 * fragment it. @ecn: ECN field of its packets. Consumes @skb. Socket lock.
 */
int sstp_encap_xmit(struct sock *sk, struct sk_buff *skb, bool fragment, u8 ecn)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct dst_entry *dst = sstp_encap_dst(sk);
	struct sstp_outer o = {
		.src = sp->id.saddr,
		.dst = sp->id.peer.addr,
		.sport = sp->id.udp_port,
		.dport = sp->id.peer.port,
		.tos = sp->set.tos | ecn,
		.ttl = sp->set.ttl,
		.df = !fragment,
	};

	if (!dst) {
		sstp_drop(sk, skb, SSTP_MIB_OUTERR, max(skb_shinfo(skb)->gso_segs, 1));
		sstp_free(skb);
		return -EHOSTUNREACH;
	}
	skb->priority = READ_ONCE(sk->sk_priority);
	skb->mark = READ_ONCE(sk->sk_mark);
	sstp_steer_xmit(sk, skb);
	if (skb_is_gso(skb)) {
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
		skb->csum_offset = offsetof(struct udphdr, check);
	}
	local_bh_disable();
	if (sstp_v4(&sp->id.peer.addr)) {
		skb->protocol = htons(ETH_P_IP);
		if (sp->set.ttl < 0)
			o.ttl = ip4_dst_hoplimit(dst);
		sstp_udp_xmit4((struct rtable *)dst, sk, skb, &o);
	} else {
#if IS_ENABLED(CONFIG_IPV6)
		skb->protocol = htons(ETH_P_IPV6);
		skb->ignore_df = fragment;
		if (sp->set.ttl < 0)
			o.ttl = ip6_dst_hoplimit(dst);
		sstp_udp_xmit6(dst, sk, skb, &o);
#else
		dst_release(dst);
		kfree_skb(skb);
#endif
	}
	local_bh_enable();
	return 0;
}

/* Answer packet @cause, which has no connection, with @len bytes at @data. Softirq. */
void sstp_encap_reply(struct sock *usk, const struct sk_buff *cause,
		      const void *data, u32 len)
{
	struct net *net = sock_net(usk);
	const struct sstp_skb_in *in = SSTP_IN(cause);
	struct sstp_outer o = {
		.src = in->daddr, .dst = in->saddr, .df = true,
		.sport = inet_sk(usk)->inet_sport, .dport = in->sport,
	};
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
			.fl4_sport = o.sport,
			.fl4_dport = o.dport,
		};
		struct rtable *rt = ip_route_output_flow(net, &fl, NULL);

		if (IS_ERR(rt))
			goto no_route;
		skb->protocol = htons(ETH_P_IP);
		o.ttl = ip4_dst_hoplimit(&rt->dst);
		sstp_udp_xmit4(rt, usk, skb, &o);
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	{
		struct flowi6 fl = {
			.daddr = in->saddr,
			.saddr = in->daddr,
			.flowi6_proto = IPPROTO_UDP,
			.flowi6_oif = vrf,
			.fl6_sport = o.sport,
			.fl6_dport = o.dport,
		};
		struct dst_entry *dst;

		if (ipv6_addr_type(&fl.daddr) & IPV6_ADDR_LINKLOCAL)
			fl.flowi6_oif = in->sdif ?: in->dif;
		dst = ip6_dst_lookup_flow(net, NULL, &fl, NULL);
		if (IS_ERR(dst))
			goto no_route;
		skb->protocol = htons(ETH_P_IPV6);
		o.ttl = ip6_dst_hoplimit(dst);
		sstp_udp_xmit6(dst, usk, skb, &o);
		return;
	}
#endif
no_route:
	*SSTP_IN(skb) = *in;
	sstp_drop(usk, skb, SSTP_MIB_OUTERR, 1);
	sstp_free(skb);
}
