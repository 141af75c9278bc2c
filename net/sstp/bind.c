// SPDX-License-Identifier: GPL-2.0
/* bind(): the address and the port of this end. */
#include <net/addrconf.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include "addr.h"
#include "bind.h"
#include "cgroup.h"
#include "conn.h"
#include "port.h"
#include "sstp.h"

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

int sstp_bind(struct socket *sock, struct sstp_sockaddr *uaddr, int len)
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
	/* Programs of cgroups run only for the families AF_INET and AF_INET6. */
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
	/* With IP_BIND_ADDRESS_NO_PORT connect() chooses the port. */
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
