// SPDX-License-Identifier: GPL-2.0
/* BPF programs of cgroups, run for sstp sockets as for other sockets of IP */
#include "cgroup.h"
#include "conn.h"
#include "sstp.h"

/* May the packets of @whole that are for @sk pass the ingress programs of its cgroup? The
 * programs see the IP header of the whole train, which all of its packets share; packets that
 * GRO joined to it for other sockets are checked by those sockets' programs. Softirq.
 */
bool sstp_rcv_allowed(struct sock *sk, struct sk_buff *whole)
{
	return !BPF_CGROUP_RUN_PROG_INET_INGRESS(sk, whole);
}

/* Run the post_bind programs of the cgroup, which may refuse the address. Socket lock. */
int sstp_guard_bound(struct sock *sk)
{
	sstp_sock_names(sk);
	return sk->sk_family == AF_INET6 ? BPF_CGROUP_RUN_PROG_INET6_POST_BIND(sk) :
					   BPF_CGROUP_RUN_PROG_INET4_POST_BIND(sk);
}

/* Run the connect programs of the cgroup, which may change the destination in @uaddr, and the
 * source address by bpf_bind() if @sk is not bound. Socket lock.
 */
int sstp_guard_connect(struct sock *sk, struct sstp_sockaddr *uaddr, int *len, int af)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int err;

	sstp_sock_names(sk);
	/* The programs run only for the families AF_INET and AF_INET6. */
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
