/* SPDX-License-Identifier: GPL-2.0 */
/* State of a network namespace: settings, counters and UDP sockets */
#ifndef _SSTP_NETNS_H
#define _SSTP_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <uapi/linux/sstp.h>
#include "mib.h"

#define SSTP_ENCAP_SOCKETS	64U	/* of a namespace and address family */
#define SSTP_PORT_LOCKS		256	/* of a namespace */
#define SSTP_ALLOWED_MAX	128	/* bytes of controllers' names */

/**
 * struct sstp_net - a network namespace
 * @mib: counters
 * @encap_lock: guards @encaps, and opening and closing of UDP sockets
 * @encaps: struct sstp_encap by the index of the VRF's device, 0 without one
 * @port_lock: array of SSTP_PORT_LOCKS; each guards the ports of one remainder, and listeners
 *	on them
 * @all: listeners and connections, for dumps, by numbers without a meaning; read under RCU
 * @secret: key of cookies
 * @clients: connections that this host opened, by their place in struct sstp_encap.client
 * @sysctl: to unregister net.sstp
 *
 * The other members are values of the sysctls net.sstp.*.
 */
struct sstp_net {
	struct sstp_mib __percpu *mib;
	struct mutex	encap_lock;	/* guards @encaps */
	struct xarray	encaps;
	spinlock_t	*port_lock;	/* guard ports, by number */
	struct xarray	all;
	siphash_key_t	secret;
	atomic_t	clients[SSTP_ENCAP_SOCKETS];
	struct ctl_table_header *sysctl;
	/* Read with READ_ONCE(), as sysctls change them at any time */
	int		encap_port;
	int		rmem[3];	/* bytes: minimum, default, maximum */
	int		wmem[3];
	int		user_timeout;	/* ms */
	int		init_retries;
	int		keepalive_time;	/* s */
	int		keepalive_intvl; /* s */
	int		keepalive_probes;
	int		fin_timeout;	/* s */
	int		orphan_timeout;	/* s */
	int		segment_size;	/* bytes */
	int		ecn;		/* 1: ECT(0) for each controller that answers marks */
	/* Read with sstp_net_names_get(), as they change while others read them */
	char		ctrl[SSTP_NAME_MAX];
	char		policy[SSTP_NAME_MAX];
	char		allowed[SSTP_ALLOWED_MAX];
};

extern unsigned int sstp_net_id;

static inline struct sstp_net *sstp_pernet(const struct net *net)
{
	return net_generic(net, sstp_net_id);
}

/* Copy @field, a member of struct sstp_net of @len bytes that holds names, to @names. */
void sstp_net_names_get(const char *field, char *names, size_t len);
void sstp_net_names_set(char *field, const char *names, size_t len);
/* Copy @field, the name of a controller or policy, of SSTP_NAME_MAX bytes, to @name. */
static inline void sstp_net_name_get(const char *field, char *name)
{
	sstp_net_names_get(field, name, SSTP_NAME_MAX);
}

/* May a program without privilege name the restricted controller @name? */
bool sstp_net_allows(struct net *net, const char *name);

#endif /* _SSTP_NETNS_H */
