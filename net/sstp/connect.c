// SPDX-License-Identifier: GPL-2.0
/* connect(): the program opens a connection, or with AF_UNSPEC abandons it. */
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include "addr.h"
#include "cgroup.h"
#include "conn.h"
#include "connect.h"
#include "encap.h"
#include "handshake.h"
#include "listen.h"
#include "netns.h"
#include "port.h"
#include "sstp.h"
#include "state.h"
#include "steer.h"
#include "table.h"
#include "wait.h"

/* Abort the connection or close the listener, so that the socket can connect again: for
 * connect() with AF_UNSPEC or without success, and for shutdown() of a listener or during
 * set-up. Socket lock.
 */
void sstp_disconnect(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);

	if (sk->sk_state == TCP_LISTEN) {
		sstp_bind_unlisten(sk);
		sstp_listen_close(sk);
		/* Wake threads that wait in accept(). */
		sk->sk_state_change(sk);
	} else if (sk->sk_state != TCP_CLOSE) {
		/* Other threads that read or poll the socket get ECONNRESET. */
		if (sk->sk_state == TCP_SYN_SENT)
			sstp_done(sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
		else
			sstp_abort(sk, ECONNRESET, SSTP_CLOSED_BY_LOCAL);
	}
	sstp_encap_leave(sk);
	sstp_conn_unhash_names(sk);	/* before the names change */
	if (!(sk->sk_userlocks & SOCK_BINDPORT_LOCK))
		sstp_unbind(sk);
	if (!(sk->sk_userlocks & SOCK_BINDADDR_LOCK))
		sp->id.saddr = in6addr_any;
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
	/* As in TCP, the unspecified address stands for this host. */
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
	sstp_steer_begin(sk);
	sp->id.udp_port = udp_port;
	sp->id.af = af;
	sp->id.dport = w.port;
	sp->id.scope = w.scope;
	memset(&sp->id.peer, 0, sizeof(sp->id.peer));
	sp->id.peer.net = sock_net(sk);
	sp->id.peer.addr = w.addr;
	sp->id.peer.l3mdev = l3mdev_master_ifindex_by_index(sock_net(sk), sk->sk_bound_dev_if);
	sp->id.peer.port = htons(READ_ONCE(sstp_pernet(sock_net(sk))->encap_port));
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

int sstp_connect(struct socket *sock, struct sstp_sockaddr *uaddr, int len, int flags)
{
	struct sock *sk = sock->sk;
	int err, gone;
	long timeo;

	if (len < (int)sizeof(u16))
		return -EINVAL;
	lock_sock(sk);
	if (((struct sockaddr *)uaddr)->sa_family == AF_UNSPEC) {
		sk->sk_disconnects++;	/* sk_wait_event() returns -EPIPE then */
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
			/* sstp_guard_connect() set sk_family to that of @uaddr: restore it. */
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
