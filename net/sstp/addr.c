// SPDX-License-Identifier: GPL-2.0
/* Addresses in socket calls: those of bind() and connect(), getsockname() and getpeername() */
#include <net/addrconf.h>
#include <net/ipv6.h>
#include "addr.h"
#include "compat.h"
#include "sstp.h"

/* Parse @uaddr, an argument of bind() if @local, else of connect(), to @w. Returns its family,
 * or an error. Socket lock.
 */
int sstp_get_addr(const struct sstp_ident *id, const struct sstp_sockaddr *uaddr, int len,
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

/* Let an AF_SSTP socket, which has no address any more, take one of either family. */
void sstp_forget_family(struct sstp_ident *id)
{
	if (id->domain == AF_SSTP)
		id->af = 0;
}

int sstp_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
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
