// SPDX-License-Identifier: GPL-2.0
/* Programs of cgroups: they guard sockets of IP. */
#include "cgroup.h"
#include "conn.h"
#include "sstp.h"

/* Do programs of the cgroup of @sk let the packets of @whole in, all of which have its IP
 * header? Not those of another part of it, if GRO has joined some. Softirq.
 */
bool sstp_rcv_allowed(struct sock *sk, struct sk_buff *whole)
{
	return !BPF_CGROUP_RUN_PROG_INET_INGRESS(sk, whole);
}

/* May @sk have the address that it is bound to? */
int sstp_guard_bound(struct sock *sk)
{
	sstp_sock_names(sk);
	return sk->sk_family == AF_INET6 ? BPF_CGROUP_RUN_PROG_INET6_POST_BIND(sk) :
					   BPF_CGROUP_RUN_PROG_INET4_POST_BIND(sk);
}

/* Programs of the cgroup may change where @sk connects to, and from where. Socket lock. */
int sstp_guard_connect(struct sock *sk, struct sstp_sockaddr *uaddr, int *len, int af)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	sstp_sock_names(sk);
	/* They look at sockets of IP only. */
	WRITE_ONCE(sk->sk_family, af);
	err = sstp_cgroup_addr(sk, uaddr, len, CONNECT, NULL);
	if (!err && !sp->bind.bound && ipv6_addr_any(&sp->id.saddr)) {
		if (af == AF_INET && inet_sk(sk)->inet_rcv_saddr)
			ipv6_addr_set_v4mapped(inet_sk(sk)->inet_rcv_saddr, &sp->id.saddr);
#if IS_ENABLED(CONFIG_IPV6)
		else if (af == AF_INET6)
			sp->id.saddr = sk->sk_v6_rcv_saddr;
#endif
	}
	if (err)
		sstp_sock_names(sk);
	return err;
}
