/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of connections: by CID, by peer, by names, and all of a namespace. */
#ifndef _SSTP_TABLE_H
#define _SSTP_TABLE_H

#include <linux/types.h>

struct net;
struct sock;
struct sstp_peer;

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
