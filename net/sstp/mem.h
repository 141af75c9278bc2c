/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of all sockets together, its limits, and what one socket is charged for. */
#ifndef _SSTP_MEM_H
#define _SSTP_MEM_H

#include <linux/percpu_counter.h>
#include <linux/types.h>

struct sock;
struct sstp_sseg;

/* Members of struct proto: they count all sockets of all namespaces */
extern long sstp_sysctl_mem[3];
extern atomic_long_t sstp_memory_allocated;
DECLARE_PER_CPU(int, sstp_memory_per_cpu);
extern unsigned long sstp_memory_pressure;
extern struct percpu_counter sstp_sockets_allocated;
void sstp_enter_memory_pressure(struct sock *sk);
void sstp_leave_memory_pressure(struct sock *sk);

/* Connections that their programs have closed and that have data to send, or to wait for */
extern struct percpu_counter sstp_orphans;
extern int sstp_sysctl_max_orphans;

int sstp_mem_init(void);
void sstp_mem_exit(void);
bool sstp_may_grow(struct sock *sk);
void sstp_mem_refused(const struct sock *sk);
void sstp_debt_update(struct sock *sk);
u32 sstp_debt_limit(const struct sock *sk);
void sstp_rcv_charge_slots(struct sock *sk);
u32 sstp_mem_may_charge(struct sock *sk, const struct sstp_sseg *s, u32 len);
void sstp_mem_charge_segment(struct sock *sk, struct sstp_sseg *s, u32 len);
void sstp_mem_free_segment(struct sock *sk, struct sstp_sseg *s);

#endif /* _SSTP_MEM_H */
