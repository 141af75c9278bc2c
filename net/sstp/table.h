/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of connections: by CID, by peer, by names, and all of a namespace. */
#ifndef _SSTP_TABLE_H
#define _SSTP_TABLE_H

#include <linux/in6.h>
#include <linux/rhashtable.h>
#include <linux/types.h>
#include "compat.h"

struct net;
struct sock;

/* The least number of buckets of a table. rhashtable refuses an insert with -EBUSY if the table has
 * more elements than buckets, is being rebuilt, and elements are removed before the insert asks for
 * a larger table. Connections that come and go remove that many only from a small table.
 */
#define SSTP_TABLE_MIN	256

/* The other end of a connection, as in its packets; key of the table of peers */
struct sstp_peer {
	struct net	*net;
	struct in6_addr	addr;		/* IPv4 mapped */
	u32		cid;		/* chosen by the peer */
	int		l3mdev;		/* VRF, as several may have the same addresses */
	__be16		port;		/* UDP */
	u16		zero[3];
};

/* Addresses and SSTP ports of a connection that this end opens; key of the table of names. The
 * socket has them as members of struct sstp_ident.
 */
struct sstp_names {
	struct net	*net;
	struct in6_addr	saddr;
	struct in6_addr	daddr;
	int		l3mdev;		/* as in struct sstp_peer */
	u16		dport;
	u16		sport;
};

/**
 * struct sstp_ident - identity of a socket: written before it is in a table, then constant until
 *	it has left all of them
 * @peer: the other end
 * @sn: state of the socket's namespace: net_generic() takes the RCU lock to find it
 * @saddr: local address, IPv4 mapped; :: = any
 * @cid: of this end
 * @udp_port: UDP port that packets are sent from
 * @af: AF_INET or AF_INET6; 0 while an AF_SSTP socket has no address
 * @sport: port of this end, as bind() and the INIT name it
 * @dport: of the peer
 * @scope: interface of a link-local peer
 * @domain: family passed to socket(): AF_SSTP, AF_INET or AF_INET6
 * @v6only: IPV6_V6ONLY: no IPv4 mapped addresses
 * @listed: in sstp_net.all
 * @hashed: in the table of CIDs
 * @peer_hashed: in the table of peers
 * @names_hashed: in the table of names
 * @client: place in struct sstp_encap.client of the UDP socket of a connection that this host
 *	opened, counted from 1; 0 = none
 * @index: in sstp_net.all, while @listed
 * @names_node: in the table of names
 * @cid_node: in the table of CIDs
 * @peer_node: in the table of peers
 */
struct sstp_ident {
	__cacheline_group_begin(sstp_ident_setup);
	struct sstp_net	*sn;
	struct sstp_peer peer;
	struct in6_addr	saddr;
	u32		cid;
	__be16		udp_port;
	u16		af;
	__cacheline_group_end(sstp_ident_setup);
	u16		sport;
	u16		dport;
	u32		scope;
	u16		domain;
	bool		v6only;
	bool		listed;
	bool		hashed;
	bool		peer_hashed;
	bool		names_hashed;
	u8		client;
	u32		index;
	struct rhash_head names_node;
	struct rhash_head cid_node;
	struct rhash_head peer_node;
};

int sstp_table_init(void);
void sstp_table_exit(void);
int sstp_conn_hash(struct sock *sk);
int sstp_conn_hash_peer(struct sock *sk);
bool sstp_conn_names_taken(const struct sock *sk, u16 port);
int sstp_conn_hash_names(struct sock *sk, u16 port);
void sstp_conn_unhash_names(struct sock *sk);
void sstp_conn_unhash(struct sock *sk);
struct sock *sstp_conn_find(struct net *net, u32 cid);
struct sock *sstp_conn_find_peer(const struct sstp_peer *peer);
int sstp_conn_list(struct sock *sk);
void sstp_conn_unlist(struct sock *sk);
struct sock *sstp_conn_next(struct net *net, unsigned long *id,
			    bool (*match)(const struct sock *sk, void *arg),
			    void *arg);

#endif /* _SSTP_TABLE_H */
