/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Controllers and receive buffer policies in BPF: the structs of include/net/sstp.h, which
 * describes them, and the functions of the module. A program is compiled with "clang -O2 -g -target
 * bpf -c" and loaded by "sstp ctrl load"; besides this header it needs those of libbpf, and no
 * vmlinux.h. Members are found by their names when it is loaded, so it works with later versions of
 * the module, as long as those have what it uses.
 */
#ifndef _SSTP_BPF_H
#define _SSTP_BPF_H

#ifndef __LINUX_BPF_H__
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
#endif
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SSTP_CWND_MAX		0xffffffffU	/* no congestion window */
#define SSTP_WINDOW_MIN		2		/* packets */
#define NSEC_PER_USEC		1000ULL
#define NSEC_PER_MSEC		1000000ULL
#define USEC_PER_SEC		1000000ULL
#define SSTP_RBUF_ONE		0x10000		/* fixed-point 1.0 */

#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sstp_ctrl_packets {
	u32	shipment;
	u32	packets;
	u32	bytes;
	bool	again;
	u32	gap;
	u32	stamp;
};

struct sstp_ctrl_msg {
	u16	kind;
	u16	len;
};

struct sstp_ship_range {
	u32	first;
	u32	count;
};

struct sstp_feedback {
	bool	valid;
	u32	forecast;
	u32	horizon;
	u32	queue;
	u32	refused;
};

struct sstp_ctrl_sample {
	u64	now;
	u32	srtt;
	u32	min_rtt;
	u32	in_flight;
	u32	shipped;
	u32	packet_size;
	bool	cwnd_limited;
	u32	flight;
	bool	peer_half;
	u64	peer_rate;
	u32	total_delivered;
	u32	rtt;
	u32	delivered;
	u32	lost;
	u32	lost_ship;
	u32	highest;
	u32	late;
	u32	undue;
	u32	acked;
	u32	prior_in_flight;
	u32	rate_delivered;
	u32	rate_interval;
	u32	rate_prior;
	bool	app_limited;
	u32	tx_in_flight;
	u32	tx_lost;
	u32	lost_ranges;
	struct sstp_ship_range lost_range[4];
	u64	arrival_rate;
	u64	service_rate;
	u32	ce;
	struct sstp_feedback feedback;
};

/* Writable are all members but @param. An index of @priv that is a constant is checked when the
 * program is loaded, whatever the size that the module gives to @priv.
 */
struct sstp_ctrl {
	u64	period;
	u32	cwnd;
	u32	rto;
	u32	ack_interval;
	u32	ack_timer;
	u32	rtt;
	u64	timer;
	u32	param[8];
	u64	priv[27];
};

struct sstp_recv_sample {
	u64	now;
	u32	srtt;
	u32	received;
	u64	bytes;
	u64	arrival_rate;
	u64	service_rate;
	u64	served;
	u64	unread;
	u32	lowest;
	u32	refused;
	u32	queued;
	u32	limit;
	u32	packet_size;
};

/* Writable are all members. */
struct sstp_recv {
	u64	rate;
	u64	timer;
	struct sstp_feedback feedback;
	u64	report[2];
	u64	priv[27];
};

/* Totals of a connection since its set-up: bpf_sstp_totals() */
struct sstp_ctrl_totals {
	u64	age;
	u64	packets_sent;
	u64	packets_retrans;
	u64	packets_lost;
	u64	bytes_sent;
	u64	bytes_acked;
	u64	acks_received;
	u64	snaks_received;
};

/* Values of parameters that are to be set */
struct sstp_param_values {
	u32	param[8];
};

/* A receiving half in a group. It is written by bpf_sstp_member_rate() and bpf_sstp_member_priv().
 */
struct sstp_group_member {
	u64	report[2];
	u64	rate;
	u64	priv[2];
};

/* Writable are @tick and @priv. */
struct sstp_group {
	u32	count;
	u64	tick;
	u64	now;
	u64	priv[27];
};

/* State of the functions for congestion windows, at the beginning of @priv:
 * include/net/sstp_window.h
 */
struct sstp_window {
	u32	ssthresh;
	u32	count;
	u32	recover;
	bool	cut;
	bool	undone;
};

struct sstp_rbuf_sample {
	u32	limit;
	u32	least;
	u32	first;
	u32	ceiling;
	u32	path;
	u32	queued;
	u32	used;
	bool	emptied;
	bool	drained;
	u64	arrived;
	u64	served;
	u64	lacked;
	u64	available;
	u32	rtt;
	u32	queue;
	u32	queue_most;
	u32	lost;
	u64	rate;
	u64	capacity;
	u32	lost_queue;
	u32	unanswered;
	u32	segment;
	u32	packet;
	u32	granted;
	bool	window_limited;
	bool	app_limited;
};

/* Writable are all members but @param. */
struct sstp_rbuf {
	u64	epoch;
	u32	limit;
	u32	top;
	bool	exact;
	bool	rest;
	bool	measure;
	bool	widen;
	bool	small;
	u32	window;
	u32	param[8];
	u64	priv[16];
};

#pragma clang attribute pop

struct sstp_param_spec {
	char	name[16];
	u32	least;
	u32	most;
};

enum sstp_ctrl_ecn {
	SSTP_CTRL_ECN_NONE,
	SSTP_CTRL_ECN_ANSWERS,
	SSTP_CTRL_ECN_NEEDS,
};

enum sstp_group_scope {
	SSTP_GROUP_NONE,
	SSTP_GROUP_PEER,
	SSTP_GROUP_PORT,
};

/* A controller, in the section .struct_ops.link. Its callbacks are programs of the section
 * "struct_ops". In place of get_info @state names the words of @priv from SSTP_PRIV on. Values are
 * refused if @check_params does not return 0.
 *
 * The work of @group_tick has to be linear in the number of members, which a remote peer chooses,
 * as it runs in softirq under the group's lock.
 *
 * @release and @recv_release are not called when the program is unloaded: it does not run any more
 * when connections leave it. A receiving half that left it does not come back to a live connection
 * when the program is loaded again, until the peer names the controller anew.
 */
struct sstp_ctrl_ops {
	void	(*init)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*release)(struct sstp_ctrl *c);
	void	(*on_ack)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_loss)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_timeout)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_param)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_pkt_sent)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			       const struct sstp_ctrl_packets *p);
	void	(*on_timer)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s);
	void	(*on_message)(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			      const struct sstp_ctrl_msg *m);
	void	(*recv_init)(struct sstp_recv *r, const struct sstp_recv_sample *s);
	void	(*recv_release)(struct sstp_recv *r);
	void	(*recv_packets)(struct sstp_recv *r, const struct sstp_recv_sample *s,
				const struct sstp_ctrl_packets *p);
	void	(*recv_timer)(struct sstp_recv *r, const struct sstp_recv_sample *s);
	void	(*recv_message)(struct sstp_recv *r, const struct sstp_recv_sample *s,
				const struct sstp_ctrl_msg *m);
	void	(*group_tick)(struct sstp_group *g);
	char	name[16];
	struct sstp_param_spec params[8];
	char	state[8][16];
	int	(*check_params)(const struct sstp_param_values *v);
	bool	restricted;
	enum sstp_ctrl_ecn ecn;
	enum sstp_group_scope group;
};

/* A receive buffer policy. @state names the words of @priv. @release is not called when the program
 * is unloaded.
 */
struct sstp_rbuf_ops {
	void	(*init)(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
	void	(*release)(struct sstp_rbuf *b);
	void	(*update)(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s);
	char	name[16];
	struct sstp_param_spec params[8];
	char	state[8][16];
	int	(*check_params)(const struct sstp_param_values *v);
};

/* Define a policy: SSTP_POLICY("mine", .init = (void *)init, ...); */
#define SSTP_POLICY(policy_name, ...)					\
	char LICENSE[] SEC("license") = "GPL";				\
	SEC(".struct_ops.link") struct sstp_rbuf_ops sstp_policy = {	\
		.name = policy_name, __VA_ARGS__			\
	}

/* Define a controller: SSTP_CTRL("mine", .init = (void *)init, ...); */
#define SSTP_CTRL(ctrl_name, ...)					\
	char LICENSE[] SEC("license") = "GPL";				\
	SEC(".struct_ops.link") struct sstp_ctrl_ops sstp_ctrl = {	\
		.name = ctrl_name, __VA_ARGS__				\
	}

/* Define a callback of either: SSTP_CALLBACK(on_ack, struct sstp_ctrl *c, ...) { ... } */
#define SSTP_CALLBACK(function, ...)					\
	SEC("struct_ops") void BPF_PROG(function, __VA_ARGS__)

/* Define check_params: SSTP_CHECK(check, const struct sstp_param_values *v) { ... } */
#define SSTP_CHECK(function, ...)					\
	SEC("struct_ops") int BPF_PROG(function, __VA_ARGS__)

/* In group_tick, for each member m of the group g: SSTP_FOR_EACH_MEMBER(m, g) { ... }
 * Clang gives no BTF to a function that is named by cleanup() only.
 */
#define SSTP_FOR_EACH_MEMBER(m, g)					\
	for (struct bpf_iter_sstp_group					\
	     __it __attribute__((cleanup(bpf_iter_sstp_group_destroy))),	\
	     *__no __attribute__((unused)) = (bpf_iter_sstp_group_new(&__it, g),	\
					      (void)bpf_iter_sstp_group_destroy, (void *)0); \
	     ((m) = bpf_iter_sstp_group_next(&__it)); )

/* The first word of @priv that the functions below do not keep. A program that uses none of them
 * may use all words.
 */
#define SSTP_PRIV		8

static inline struct sstp_window *sstp_window(struct sstp_ctrl *c)
{
	return (struct sstp_window *)c->priv;
}

/* Functions of the module: net/sstp/bpf_kfunc.c */
extern void bpf_sstp_window_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s) __ksym;
extern u32 bpf_sstp_window_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s) __ksym;
extern void bpf_sstp_window_grow(struct sstp_ctrl *c, u32 packets, u32 per) __ksym;
extern bool bpf_sstp_window_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s) __ksym;
extern void bpf_sstp_window_cut(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				u32 ssthresh) __ksym;
extern void bpf_sstp_window_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				    u32 ssthresh) __ksym;
extern void bpf_sstp_window_pace(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s) __ksym;
extern int bpf_sstp_send(struct sstp_ctrl *c, u16 kind, const void *data, u32 data__sz) __ksym;
extern int bpf_sstp_recv_send(struct sstp_recv *r, u16 kind, const void *data,
			      u32 data__sz) __ksym;
extern int bpf_sstp_msg_read(const struct sstp_ctrl_msg *m, void *data, u32 data__sz) __ksym;
extern u64 bpf_sstp_peer_key(const struct sstp_ctrl *c) __ksym;
extern u32 bpf_sstp_cbrt(u64 v) __ksym;
extern int bpf_sstp_totals(const struct sstp_ctrl *c, u64 now, void *data, u32 data__sz) __ksym;

struct bpf_iter_sstp_group {
	u64	opaque[2];
};

extern int bpf_iter_sstp_group_new(struct bpf_iter_sstp_group *it, struct sstp_group *g) __ksym;
extern struct sstp_group_member *
bpf_iter_sstp_group_next(struct bpf_iter_sstp_group *it) __ksym;
extern void bpf_iter_sstp_group_destroy(struct bpf_iter_sstp_group *it) __ksym;
extern void bpf_sstp_member_rate(struct sstp_group_member *m, u64 rate) __ksym;
extern int bpf_sstp_member_priv(struct sstp_group_member *m, u32 i, u64 value) __ksym;

#endif /* _SSTP_BPF_H */
