// SPDX-License-Identifier: GPL-2.0
/* Creation of sockets of AF_SSTP, AF_INET and AF_INET6, and the calls that they handle */
#include <linux/module.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/transp_v6.h>
#include "accept.h"
#include "addr.h"
#include "af_sstp.h"
#include "bind.h"
#include "close.h"
#include "connect.h"
#include "conn.h"
#include "input.h"
#include "mem.h"
#include "owner.h"
#include "poll.h"
#include "recvmsg.h"
#include "sendmsg.h"
#include "sndbuf.h"
#include "sockopt.h"
#include "sstp.h"

/* Initialize a socket that inet_create() or inet6_create() has allocated. */
static int sstp_init_sock(struct sock *sk)
{
	sstp_sock_init(sk, sk->sk_family);
	sk->sk_write_space = sstp_write_space;
	sstp_own_sockopts(sk->sk_socket);
	set_bit(SOCK_SUPPORT_ZC, &sk->sk_socket->flags);
	return 0;
}

/* inet_create() calls this if it fails after sstp_init_sock(): @sk is in no table yet. */
static void sstp_unhash(struct sock *sk)
{
}

/* bpf_bind() of a cgroup's program with a port calls this: the program may choose only the
 * address, as ports are bound under the locks of port.c.
 */
static int sstp_get_port(struct sock *sk, unsigned short port)
{
	return -EADDRINUSE;
}

struct proto sstp_prot = {
	.name			= "SSTP",
	.owner			= THIS_MODULE,
#if IS_ENABLED(CONFIG_IPV6)
	/* Without padding: older kernels take the end of obj_size for struct ipv6_pinfo. */
	.obj_size		= offsetofend(struct sstp6_sock, inet6),
#ifdef SSTP_HAVE_PINFO_OFFSET
	.ipv6_pinfo_offset	= offsetof(struct sstp6_sock, inet6),
#endif
#else
	.obj_size		= sizeof(struct sstp_sock),
#endif
	.init			= sstp_init_sock,
	.unhash			= sstp_unhash,
	.rehash			= sstp_bind_rehash,
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

/* Kernels differ in how they pass the flags. */
static int sstp_proto_accept(struct socket *sock, struct socket *newsock, SSTP_ACCEPT_PARAMS)
{
	return sstp_accept(sock, newsock, SSTP_ACCEPT_FLAGS);
}

#define SSTP_PROTO_OPS							\
	.owner		= THIS_MODULE,					\
	.release	= sstp_release,					\
	.bind		= sstp_bind,					\
	.connect	= sstp_connect,					\
	.socketpair	= sock_no_socketpair,				\
	.accept		= sstp_proto_accept,				\
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
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
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
