// SPDX-License-Identifier: GPL-2.0
/* The socket family: calls of a program. */
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sockios.h>
#include <asm/ioctls.h>
#include <net/addrconf.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/protocol.h>
#include <net/transp_v6.h>
#include "af_sstp.h"
#include "cgroup.h"
#include "child.h"
#include "conn.h"
#include "encap.h"
#include "handshake.h"
#include "input.h"
#include "listen.h"
#include "mem.h"
#include "netns.h"
#include "output.h"
#include "owner.h"
#include "port.h"
#include "recvmsg.h"
#include "rcvbuf.h"
#include "sendmsg.h"
#include "sndbuf.h"
#include "sockopt.h"
#include "sstp.h"
#include "state.h"
#include "table.h"
#include "wait.h"

static void sstp_keepalive(struct sock *sk, int on)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (on && sstp_synchronized(sk) && sk->sk_state != TCP_CLOSING)
		sstp_timer_sooner(&sp->clock, SSTP_T_LIFE, sstp_now());
}

/* inet_create() and inet6_create() have made it. */
static int sstp_init_sock(struct sock *sk)
{
	sstp_sock_init(sk, sk->sk_family);
	sk->sk_write_space = sstp_write_space;
	sstp_own_sockopts(sk->sk_socket);
	return 0;
}

/* They drop it again: it is in no table yet. */
static void sstp_unhash(struct sock *sk)
{
}

/* A program of a cgroup wants to bind it, to a port: that is not for it to choose. */
static int sstp_get_port(struct sock *sk, unsigned short port)
{
	return -EADDRINUSE;
}

struct proto sstp_prot = {
	.name			= "SSTP",
	.owner			= THIS_MODULE,
#if IS_ENABLED(CONFIG_IPV6)
	/* Without the padding: older kernels' IPv6 looks for what is its own at the end. */
	.obj_size		= offsetofend(struct sstp6_sock, inet6),
#ifdef SSTP_HAVE_PINFO_OFFSET
	.ipv6_pinfo_offset	= offsetof(struct sstp6_sock, inet6),
#endif
#else
	.obj_size		= sizeof(struct sstp_sock),
#endif
	.init			= sstp_init_sock,
	.unhash			= sstp_unhash,
	.get_port		= sstp_get_port,
	.backlog_rcv		= sstp_backlog_rcv,
	.release_cb		= sstp_release_cb,
	.keepalive		= sstp_keepalive,
	.stream_memory_free	= sstp_stream_memory_free,
	.enter_memory_pressure	= sstp_enter_memory_pressure,
	.leave_memory_pressure	= sstp_leave_memory_pressure,
	.memory_pressure	= &sstp_memory_pressure,
	.memory_allocated	= &sstp_memory_allocated,
	.per_cpu_fw_alloc	= &sstp_memory_per_cpu,
	.sockets_allocated	= &sstp_sockets_allocated,
	.sysctl_mem		= sstp_sysctl_mem,
	.sysctl_wmem		= (int []){ 64 << 10, 1 << 20, 256 << 20 },
	.sysctl_rmem		= (int []){ 64 << 10, 4 << 20, 256 << 20 },
	.max_header		= SSTP_HEADROOM + SSTP_DATA_HLEN,
	.no_autobind		= true,
};

/* An address that the program gave: IPv4 mapped if it is one, and its port */
struct sstp_where {
	struct in6_addr addr;
	u32	scope;
	u16	port;
};

/* Returns the family. */
static int sstp_get_addr(struct sstp_ident *id, const struct sstp_sockaddr *uaddr, int len,
			 struct sstp_where *w, bool local)
{
	const struct sockaddr_in6 *a6 = (const void *)uaddr;
	const struct sockaddr_in *a4 = (const void *)uaddr;
	u16 family;

	w->scope = 0;
	if (len < (int)sizeof(family))
		return -EINVAL;
	family = ((const struct sockaddr *)uaddr)->sa_family;
	if (family == AF_INET6) {
		if (id->af == AF_INET)
			return -EAFNOSUPPORT;
		if (len < SIN6_LEN_RFC2133)
			return -EINVAL;
		if (!ipv6_mod_enabled())
			return -EAFNOSUPPORT;
		w->addr = a6->sin6_addr;
		w->port = ntohs(a6->sin6_port);
		if (len >= (int)sizeof(*a6) &&
		    ipv6_addr_type(&w->addr) & IPV6_ADDR_LINKLOCAL)
			w->scope = a6->sin6_scope_id;
		if (sstp_v4(&w->addr) && id->v6only)
			return local ? -EINVAL : -ENETUNREACH;
		return AF_INET6;
	}
	if (family != AF_INET &&
	    !(local && family == AF_UNSPEC && len >= (int)sizeof(*a4) &&
	      a4->sin_addr.s_addr == htonl(INADDR_ANY)))
		return -EAFNOSUPPORT;
	if (len < (int)sizeof(*a4))
		return -EINVAL;
	if (id->af == AF_INET6)
		return -EAFNOSUPPORT;
	if (a4->sin_addr.s_addr == htonl(INADDR_ANY))
		w->addr = in6addr_any;
	else
		ipv6_addr_set_v4mapped(a4->sin_addr.s_addr, &w->addr);
	w->port = ntohs(a4->sin_port);
	return AF_INET;
}

static int sstp_check_local(struct sock *sk, const struct in6_addr *a,
			    u32 scope)
{
	struct net *net = sock_net(sk);
	int err = 0;

	if (ipv6_addr_any(a) || sstp_sk(sk)->set.freebind)
		return 0;
	if (sstp_v4(a)) {
		u32 table = l3mdev_fib_table_by_index(net, sk->sk_bound_dev_if);
		u32 type = inet_addr_type_table(net, a->s6_addr32[3],
						table ?: RT_TABLE_LOCAL);

		return type == RTN_LOCAL || type == RTN_MULTICAST ||
		       type == RTN_BROADCAST ? 0 : -EADDRNOTAVAIL;
	}
#if IS_ENABLED(CONFIG_IPV6)
	{
		u32 index = scope ?: sk->sk_bound_dev_if;
		struct net_device *dev;

		if (ipv6_addr_is_multicast(a))
			return -EINVAL;
		rcu_read_lock();
		dev = index ? dev_get_by_index_rcu(net, index) : NULL;
		if (!index && ipv6_addr_type(a) & IPV6_ADDR_LINKLOCAL)
			err = -EINVAL;
		else if (index && !dev)
			err = -ENODEV;
		if (!err && !ipv6_chk_addr(net, a, dev, 0))
			err = -EADDRNOTAVAIL;
		rcu_read_unlock();
	}
#endif
	return err;
}

/* It has no address any more: who has made it of AF_SSTP may give it one of the other. */
static void sstp_forget_family(struct sstp_ident *id)
{
	if (id->domain == AF_SSTP)
		id->af = 0;
}

static int sstp_bind(struct socket *sock, struct sstp_sockaddr *uaddr, int len)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_where w;
	u32 flags = 0;
	int af, err;

	lock_sock(sk);
	af = sstp_get_addr(&sp->id, uaddr, len, &w, true);
	err = af;
	if (af < 0)
		goto out;
	/* Programs look at sockets of IP only. */
	WRITE_ONCE(sk->sk_family, af);
	err = sstp_cgroup_addr(sk, uaddr, &len, BIND, &flags);
	if (err)
		goto out;
	af = sstp_get_addr(&sp->id, uaddr, len, &w, true);
	err = af;
	if (af < 0)
		goto out;
	err = sstp_check_local(sk, &w.addr, w.scope);
	if (err)
		goto out;
	err = -EACCES;
	if (w.port && !(flags & SSTP_CGROUP_MAY_BIND) &&
	    inet_port_requires_bind_service(sock_net(sk), w.port) &&
	    !ns_capable(sock_net(sk)->user_ns, CAP_NET_BIND_SERVICE))
		goto out;
	err = -EINVAL;
	if (sk->sk_state != TCP_CLOSE || sp->bind.bound)
		goto out;
	sp->id.af = af;
	sp->id.saddr = w.addr;
	if (w.scope)
		sk->sk_bound_dev_if = w.scope;
	err = 0;
	/* With IP_BIND_ADDRESS_NO_PORT connect() finds a port. */
	if (w.port || !sp->bind.no_port)
		err = sstp_bind_port(sk, w.port) ?: sstp_guard_bound(sk);
	if (err) {
		sstp_unbind(sk);
		sk->sk_userlocks &= ~SOCK_BINDADDR_LOCK;
		sp->id.saddr = in6addr_any;
		sstp_forget_family(&sp->id);
		goto out;
	}
	if (!ipv6_addr_any(&w.addr))
		sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
	if (sp->bind.bound)
		sk->sk_userlocks |= SOCK_BINDPORT_LOCK;
out:
	sstp_sock_names(sk);
	release_sock(sk);
	return err;
}

static int sstp_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	int err = -EINVAL;

	lock_sock(sk);
	if (sock->state != SS_UNCONNECTED ||
	    (sk->sk_state != TCP_CLOSE && sk->sk_state != TCP_LISTEN))
		goto out;
	WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	err = 0;
	if (sk->sk_state == TCP_LISTEN)
		goto out;
	if (!sp->bind.bound) {
		if (!sp->id.af)
			sp->id.af = AF_INET;
		err = sstp_bind_port(sk, 0);
	}
	if (!err)
		err = sstp_encap_open(sk);
	if (err)
		goto out;
	sstp_conn_reset(sk);
	err = sstp_rcvbuf_listen(sk);
	if (err)
		goto out;
	sk->sk_ack_backlog = 0;
	spin_lock_bh(&sp->listen.lock);
	sp->listen.open = true;
	spin_unlock_bh(&sp->listen.lock);
	err = sstp_bind_listen(sk);
	if (err)
		sstp_listen_close(sk);
out:
	sstp_sock_names(sk);
	release_sock(sk);
	return err;
}

/* Forget the connection: connect(AF_UNSPEC), shutdown() before it is made. */
static void sstp_disconnect(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sk->sk_state == TCP_LISTEN) {
		sstp_bind_unlisten(sk);
		sstp_listen_close(sk);
		/* For who waits in accept(). */
		sk->sk_state_change(sk);
	} else if (sk->sk_state != TCP_CLOSE) {
		/* Programs that read or poll it elsewhere learn as much. */
		if (sk->sk_state == TCP_SYN_SENT)
			sstp_done(sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
		else
			sstp_abort(sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
	}
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sstp_unbind(sk);
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		sp->id.saddr = in6addr_any;
	sstp_conn_unhash_names(sk);
	if (!sp->bind.bound && !(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		sstp_forget_family(&sp->id);
	sp->id.dport = 0;
	sstp_sock_names(sk);
	sstp_conn_reset(sk);
}

static int sstp_start_connect(struct sock *sk, struct sstp_sockaddr *uaddr, int len)
{
	struct sstp_sock *sp = sstp_sk(sk);
	struct sstp_where w;
	__be16 udp_port;
	int af;
	int err;

	af = sstp_get_addr(&sp->id, uaddr, len, &w, false);
	if (af < 0)
		return af;
	err = sstp_guard_connect(sk, uaddr, &len, af);
	if (err)
		return err;
	af = sstp_get_addr(&sp->id, uaddr, len, &w, false);
	if (af < 0)
		return af;
	/* To nowhere is to ourselves. */
	if (ipv6_addr_any(&w.addr)) {
		if (af == AF_INET || sstp_v4(&sp->id.saddr))
			ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), &w.addr);
		else
			w.addr = in6addr_loopback;
	}
	if (ipv6_addr_is_multicast(&w.addr))
		return -ENETUNREACH;
	if (!ipv6_addr_any(&sp->id.saddr) && sstp_v4(&sp->id.saddr) != sstp_v4(&w.addr))
		return sstp_v4(&w.addr) ? -ENETUNREACH : -EAFNOSUPPORT;
	if (w.scope) {
		if (!sk_dev_equal_l3scope(sk, w.scope))
			return -EINVAL;
		sk->sk_bound_dev_if = w.scope;
	} else if (ipv6_addr_type(&w.addr) & IPV6_ADDR_LINKLOCAL &&
		   !sk->sk_bound_dev_if) {
		return -EINVAL;
	}
	if (!w.port)
		return -ECONNREFUSED;
	err = sstp_encap_client(sk, !sstp_v4(&w.addr), &udp_port);
	if (err)
		return err;

	sstp_conn_reset(sk);
	sp->id.udp_port = udp_port;
	sp->id.af = af;
	sp->id.dport = w.port;
	sp->id.scope = w.scope;
	memset(&sp->id.peer, 0, sizeof(sp->id.peer));
	sp->id.peer.net = sock_net(sk);
	sp->id.peer.addr = w.addr;
	sp->id.peer.l3mdev = l3mdev_master_ifindex_by_index(sock_net(sk), sk->sk_bound_dev_if);
	sp->id.peer.port = htons(READ_ONCE(sstp_net(sock_net(sk))->encap_port));
	err = sstp_encap_route(sk);
	if (!err)
		err = sstp_bind_connect(sk);
	sstp_sock_names(sk);
	if (!err)
		err = sstp_handshake_connect(sk);
	if (!err)
		return 0;
	sstp_disconnect(sk);
	sk->sk_err = 0;
	return err;
}

static int sstp_connect(struct socket *sock, struct sstp_sockaddr *uaddr, int len,
			int flags)
{
	struct sock *sk = sock->sk;
	int err, gone;
	long timeo;

	if (len < (int)sizeof(u16))
		return -EINVAL;
	lock_sock(sk);
	if (((struct sockaddr *)uaddr)->sa_family == AF_UNSPEC) {
		sk->sk_disconnects++;	/* sk_wait_event() looks at it */
		sstp_disconnect(sk);
		sock->state = SS_UNCONNECTED;
		err = 0;
		goto out;
	}
	switch (sock->state) {
	case SS_CONNECTED:
		err = -EISCONN;
		goto out;
	case SS_CONNECTING:
		err = sk->sk_state == TCP_SYN_SENT ? -EALREADY : -EISCONN;
		break;
	case SS_UNCONNECTED:
		err = -EISCONN;
		if (sk->sk_state != TCP_CLOSE)
			goto out;
		err = sstp_start_connect(sk, uaddr, len);
		if (err) {
			/* Those that guard it saw the family of the address. */
			sstp_sock_names(sk);
			goto out;
		}
		sock->state = SS_CONNECTING;
		err = -EINPROGRESS;
		break;
	default:
		err = -EINVAL;
		goto out;
	}
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	if (sk->sk_state == TCP_SYN_SENT) {
		if (!timeo)
			goto out;
		gone = sstp_wait_connect(sk, &timeo);
		if (gone)
			err = gone;
		if (gone || !timeo)
			goto out;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			goto out;
	}
	if (sk->sk_state == TCP_CLOSE) {
		err = sock_error(sk) ?: -ECONNABORTED;
		sock->state = SS_UNCONNECTED;
		sstp_disconnect(sk);
		goto out;
	}
	sock->state = SS_CONNECTED;
	err = 0;
out:
	release_sock(sk);
	return err;
}

static int sstp_wait_accept(struct sock *sk, long timeo, struct sock **child)
{
	DEFINE_WAIT(wait);
	int err = 0;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		*child = sk->sk_state == TCP_LISTEN ? sstp_child_accept(sk) :
						      NULL;
		if (*child)
			break;
		err = -EINVAL;
		if (sk->sk_state != TCP_LISTEN)
			break;
		err = -EAGAIN;
		if (!timeo)
			break;
		err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		release_sock(sk);
		timeo = schedule_timeout(timeo);
		lock_sock(sk);
		err = 0;
	}
	finish_wait(sk_sleep(sk), &wait);
	return *child ? 0 : err;
}

static int sstp_accept(struct socket *sock, struct socket *newsock,
		       SSTP_ACCEPT_PARAMS)
{
	struct sock *sk = sock->sk, *child = NULL, *parent;
	int err;

	lock_sock(sk);
	err = sstp_wait_accept(sk, sock_rcvtimeo(sk, SSTP_ACCEPT_FLAGS &
						     O_NONBLOCK), &child);
	release_sock(sk);
	if (err)
		return err;
	lock_sock(child);
	parent = sstp_sk(child)->family.parent;
	sstp_sk(child)->family.parent = NULL;
	sock_graft(child, newsock);
	sstp_own_sockopts(newsock);
	newsock->state = SS_CONNECTED;
	release_sock(child);
	sock_put(parent);
	return 0;
}

static int sstp_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sstp_sock *sp = sstp_sk(sock->sk);
	struct sockaddr_in6 *a6 = (void *)uaddr;
	struct sockaddr_in *a4 = (void *)uaddr;
	struct in6_addr addr;
	u16 port;
	int len;

	lock_sock(sock->sk);
	len = -ENOTCONN;
	if (peer && (!sp->id.dport || ((1 << sock->sk->sk_state) &
				    (TCPF_CLOSE | TCPF_SYN_SENT |
				     TCPF_LISTEN))))
		goto out;
	addr = peer ? sp->id.peer.addr : sp->id.saddr;
	port = peer ? sp->id.dport : sp->id.sport;
	if (sp->id.af == AF_INET6) {
		memset(a6, 0, sizeof(*a6));
		a6->sin6_family = AF_INET6;
		a6->sin6_port = htons(port);
		a6->sin6_addr = addr;
		a6->sin6_scope_id = ipv6_iface_scope_id(&addr,
							sp->id.scope ?:
							sock->sk->sk_bound_dev_if);
		len = sizeof(*a6);
	} else {
		memset(a4, 0, sizeof(*a4));
		a4->sin_family = AF_INET;
		a4->sin_port = htons(port);
		a4->sin_addr.s_addr = sstp_v4(&addr) ? addr.s6_addr32[3] : 0;
		len = sizeof(*a4);
	}
	if (peer)
		sstp_cgroup_addr(sock->sk, uaddr, &len, GETPEERNAME, NULL);
	else
		sstp_cgroup_addr(sock->sk, uaddr, &len, GETSOCKNAME, NULL);
out:
	release_sock(sock->sk);
	return len;
}

/* Our direction ends, after what is queued. Socket lock. */
static void sstp_end_sending(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sp->tx.eos != SSTP_EOS_NONE)
		return;
	sp->tx.eos = SSTP_EOS_WANTED;
	sstp_state_check(sk);
	sstp_push(sk);
}

static int sstp_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	int err = 0;

	how++;		/* SHUT_RD, SHUT_WR, SHUT_RDWR to a mask */
	if (how & ~SHUTDOWN_MASK || !how)
		return -EINVAL;
	lock_sock(sk);
	switch (sk->sk_state) {
	case TCP_CLOSE:
		err = -ENOTCONN;
		fallthrough;
	default:
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
		if (how & SEND_SHUTDOWN && sstp_synchronized(sk))
			sstp_end_sending(sk);
		break;
	case TCP_LISTEN:
		if (!(how & RCV_SHUTDOWN))
			break;
		fallthrough;
	case TCP_SYN_SENT:
		sstp_disconnect(sk);
		sock->state = SS_UNCONNECTED;
		break;
	}
	sk->sk_state_change(sk);
	release_sock(sk);
	return err;
}

/* Wait until the peer has all of it, for SO_LINGER. */
static void sstp_wait_close(struct sock *sk, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(sk_sleep(sk), &wait);
	do {
		if (sk_wait_event(sk, &timeo, !((1 << READ_ONCE(sk->sk_state)) &
						(TCPF_FIN_WAIT1 |
						 TCPF_LAST_ACK)), &wait))
			break;
	} while (!signal_pending(current) && timeo);
	remove_wait_queue(sk_sleep(sk), &wait);
}

static int sstp_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp;
	long linger = 0;

	if (!sk)
		return 0;
	sp = sstp_sk(sk);
	if (!sk->sk_kern_sock)
		BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
	sock_hold(sk);
	lock_sock(sk);
	if (sock_flag(sk, SOCK_LINGER) && !(current->flags & PF_EXITING))
		linger = sk->sk_lingertime;
	if (sk->sk_state == TCP_LISTEN) {
		sstp_bind_unlisten(sk);
		sstp_unbind(sk);
		sstp_listen_close(sk);
	} else if (sk->sk_state == TCP_SYN_SENT) {
		sstp_done(sk, 0, SSTP_CLOSED_BY_LOCAL);
	} else if (sk->sk_state == TCP_CLOSING) {
		/* Over but for the last word. */
	} else if (sk->sk_state != TCP_CLOSE) {
		WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
		if (sp->rx.readable || (sock_flag(sk, SOCK_LINGER) &&
					!sk->sk_lingertime)) {
			/* Data is lost: the peer must not believe otherwise. */
			sstp_abort(sk, 0, SSTP_CLOSED_BY_LOCAL);
		} else {
			sstp_end_sending(sk);
			if (linger)
				sstp_wait_close(sk, linger);
			if (sp->rx.readable && sk->sk_state != TCP_CLOSE) {
				/* It came while we lingered. */
				sstp_abort(sk, 0, SSTP_CLOSED_BY_LOCAL);
			}
		}
	}
	sock_orphan(sk);
	sock->sk = NULL;
	if (sk->sk_state == TCP_CLOSE) {
		sstp_unbind(sk);
		sstp_rcvbuf_free(sp);
		sock_put(sk);
	} else if (sk->sk_state != TCP_CLOSING) {
		sstp_orphan(sk);
	}
	release_sock(sk);
	sock_put(sk);
	return 0;
}

static __poll_t sstp_poll(struct file *file, struct socket *sock,
			  poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	/* First: what changes from here on wakes the caller. */
	sock_poll_wait(file, sock, wait);
	shutdown = READ_ONCE(sk->sk_shutdown);
	state = READ_ONCE(sk->sk_state);
	if (READ_ONCE(sp->tx.autocork)) {
		/* As sstp_uncork(), but without the lock. */
		WRITE_ONCE(sp->tx.autocork, 0);
		set_bit(SSTP_FL_THROTTLED, &sp->pending.flags);
		sstp_clock_kick(&sp->clock);
	}
	if (state == TCP_LISTEN)
		return list_empty_careful(&sp->listen.ready) ? 0 :
			EPOLLIN | EPOLLRDNORM;
	if (shutdown == SHUTDOWN_MASK || state == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != TCP_SYN_SENT) {
		if (sstp_epollin_ready(sk))
			mask |= EPOLLIN | EPOLLRDNORM;
		if (shutdown & SEND_SHUTDOWN) {
			mask |= EPOLLOUT | EPOLLWRNORM;
		} else if (sstp_writeable(sk)) {
			mask |= EPOLLOUT | EPOLLWRNORM;
		} else {
			sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
			set_bit(SOCK_NOSPACE, &sock->flags);
			/* Look again: sstp_write_space() may not have seen
			 * the bit.
			 */
			smp_mb__after_atomic();
			if (sstp_writeable(sk))
				mask |= EPOLLOUT | EPOLLWRNORM;
		}
	}
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* Less than before may be here already. */
static int sstp_set_rcvlowat(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	if (sstp_epollin_ready(sk))
		sk->sk_data_ready(sk);
	return 0;
}

static int sstp_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct sock *sk = sock->sk;
	struct sstp_sock *sp = sstp_sk(sk);
	int val;

	switch (cmd) {
	case SIOCINQ:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		lock_sock(sk);
		val = sstp_readable(sk);
		release_sock(sk);
		break;
	case SIOCOUTQ:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		val = READ_ONCE(sp->tx.queued);
		break;
	case SIOCOUTQNSD:
		if (sk->sk_state == TCP_LISTEN)
			return -EINVAL;
		lock_sock(sk);
		val = sp->tx.bytes_written - sp->tx.bytes_sent;
		release_sock(sk);
		break;
	case SIOCATMARK:
		/* There are no urgent data. */
		val = 0;
		break;
	default:
		return -ENOIOCTLCMD;
	}
	return put_user(val, (int __user *)arg);
}

#define SSTP_PROTO_OPS							\
	.owner		= THIS_MODULE,					\
	.release	= sstp_release,					\
	.bind		= sstp_bind,					\
	.connect	= sstp_connect,					\
	.socketpair	= sock_no_socketpair,				\
	.accept		= sstp_accept,					\
	.getname	= sstp_getname,					\
	.poll		= sstp_poll,					\
	.ioctl		= sstp_ioctl,					\
	.gettstamp	= sock_gettstamp,				\
	.set_rcvlowat	= sstp_set_rcvlowat,				\
	.listen		= sstp_listen,					\
	.shutdown	= sstp_shutdown,				\
	.setsockopt	= sstp_setsockopt,				\
	.getsockopt	= sstp_getsockopt,				\
	.sendmsg	= sstp_sendmsg,					\
	.recvmsg	= sstp_recvmsg,					\
	.mmap		= sock_no_mmap,					\
	SSTP_PROTO_OPS_SPLICE

static const struct proto_ops sstp_ops = {
	.family = PF_SSTP,
	SSTP_PROTO_OPS
};

static const struct proto_ops sstp_inet_ops = {
	.family = PF_INET,
	SSTP_PROTO_OPS
};

static struct inet_protosw sstp_inet[] = {
	{
		.type		= SOCK_STREAM,
		.protocol	= IPPROTO_SSTP,
		.prot		= &sstp_prot,
		.ops		= &sstp_inet_ops,
	},
	{
		.type		= SOCK_SEQPACKET,
		.protocol	= IPPROTO_SSTP,
		.prot		= &sstp_prot,
		.ops		= &sstp_inet_ops,
	},
};

#if IS_ENABLED(CONFIG_IPV6)
static const struct proto_ops sstp_inet6_ops = {
	.family = PF_INET6,
	SSTP_PROTO_OPS
};

static struct inet_protosw sstp_inet6[] = {
	{
		.type		= SOCK_STREAM,
		.protocol	= IPPROTO_SSTP,
		.prot		= &sstp_prot,
		.ops		= &sstp_inet6_ops,
	},
	{
		.type		= SOCK_SEQPACKET,
		.protocol	= IPPROTO_SSTP,
		.prot		= &sstp_prot,
		.ops		= &sstp_inet6_ops,
	},
};

static int __init sstp_inet6_init(void)
{
	int err = inet6_register_protosw(&sstp_inet6[0]);

	if (err)
		return err;
	err = inet6_register_protosw(&sstp_inet6[1]);
	if (err)
		inet6_unregister_protosw(&sstp_inet6[0]);
	return err;
}

static void sstp_inet6_exit(void)
{
	inet6_unregister_protosw(&sstp_inet6[1]);
	inet6_unregister_protosw(&sstp_inet6[0]);
}
#else
static int __init sstp_inet6_init(void)
{
	return 0;
}

static void sstp_inet6_exit(void)
{
}
#endif

static int sstp_create(struct net *net, struct socket *sock, int protocol,
		       int kern)
{
	struct sock *sk;
	int err;

	if (sock->type != SOCK_STREAM && sock->type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	if (protocol < 0 || protocol >= IPPROTO_MAX)
		return -EINVAL;
	if (protocol)
		return -EPROTONOSUPPORT;
	sk = sk_alloc(net, AF_SSTP, GFP_KERNEL, &sstp_prot, kern);
	if (!sk)
		return -ENOBUFS;
	sock_init_data(NULL, sk);
	sk->sk_type = sock->type;
	sstp_sock_init(sk, AF_SSTP);
	err = kern ? 0 : BPF_CGROUP_RUN_PROG_INET_SOCK(sk);
	if (err) {
		sock_put(sk);
		return err;
	}
	sock->state = SS_UNCONNECTED;
	sock->ops = &sstp_ops;
	sstp_own_sockopts(sock);
	sock_graft(sk, sock);
	sk->sk_write_space = sstp_write_space;
	return 0;
}

static const struct net_proto_family sstp_proto_family = {
	.family	= PF_SSTP,
	.create	= sstp_create,
	.owner	= THIS_MODULE,
};

int __init sstp_af_init(void)
{
	int err;

	err = sstp_mem_init();
	if (err)
		return err;
	err = proto_register(&sstp_prot, 1);
	if (err)
		goto mem;
	err = sock_register(&sstp_proto_family);
	if (err)
		goto proto;
	err = sstp_inet6_init();
	if (err)
		goto family;
	inet_register_protosw(&sstp_inet[0]);
	inet_register_protosw(&sstp_inet[1]);
	return 0;
family:
	sock_unregister(PF_SSTP);
proto:
	proto_unregister(&sstp_prot);
mem:
	sstp_mem_exit();
	return err;
}

void sstp_af_exit(void)
{
	inet_unregister_protosw(&sstp_inet[1]);
	inet_unregister_protosw(&sstp_inet[0]);
	sstp_inet6_exit();
	sock_unregister(PF_SSTP);
	proto_unregister(&sstp_prot);
	sstp_mem_exit();
}
