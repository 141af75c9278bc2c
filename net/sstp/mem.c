// SPDX-License-Identifier: GPL-2.0
/* Memory: what all sockets together have and may have, and what one is charged for. */
#include <linux/swap.h>
#include "mem.h"
#include "sstp.h"

/* of a segment that the reader waits for, over the limit of all sockets */
#define SSTP_DEBT_BYTES		(256 << 10)

long sstp_sysctl_mem[3];		/* pages, as sk_prot_mem_limits() has them */
atomic_long_t sstp_memory_allocated;
DEFINE_PER_CPU(int, sstp_memory_per_cpu);
unsigned long sstp_memory_pressure;
struct percpu_counter sstp_sockets_allocated;
struct percpu_counter sstp_orphans;
int sstp_sysctl_max_orphans;

/* Add the pages that only this CPU's counter has to the one of all CPUs. */
static void sstp_mem_fold(void *unused)
{
	int pages = this_cpu_xchg(sstp_memory_per_cpu, 0);

	if (pages)
		atomic_long_add(pages, &sstp_memory_allocated);
}

static void sstp_mem_fold_all(struct work_struct *unused)
{
	on_each_cpu(sstp_mem_fold, NULL, true);
}

static DECLARE_WORK(sstp_mem_work, sstp_mem_fold_all);

/* A charge was refused. The kernel looks at a counter that each CPU may be a megabyte
 * ahead of: with a small limit that alone may be more. Once a jiffy, for all.
 */
void sstp_mem_refused(const struct sock *sk)
{
	static unsigned long at;
	unsigned long now = jiffies;
	long pages = sk_memory_allocated(sk);
	int cpu;

	if (READ_ONCE(at) == now || pages <= sk_prot_mem_limits(sk, 2))
		return;
	WRITE_ONCE(at, now);
	for_each_online_cpu(cpu)
		pages += READ_ONCE(per_cpu(sstp_memory_per_cpu, cpu));
	if (pages <= sk_prot_mem_limits(sk, 2))
		schedule_work(&sstp_mem_work);
}

void sstp_enter_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(sstp_memory_pressure, 1);
}

void sstp_leave_memory_pressure(struct sock *sk)
{
	WRITE_ONCE(sstp_memory_pressure, 0);
}

int __init sstp_mem_init(void)
{
	unsigned long pages = max(nr_free_buffer_pages() / 8, 128UL);
	int err;

	/* As TCP's: a good part of memory, and less under pressure. */
	sstp_sysctl_mem[0] = pages / 4 * 3;
	sstp_sysctl_mem[1] = pages;
	sstp_sysctl_mem[2] = pages / 2 * 3;
	/* An eighth of memory, with the 32 KB that each may hold on average; as TCP's */
	sstp_sysctl_max_orphans = clamp(pages / 8, 1024UL, 262144UL);
	err = percpu_counter_init(&sstp_sockets_allocated, 0, GFP_KERNEL);
	if (err)
		return err;
	err = percpu_counter_init(&sstp_orphans, 0, GFP_KERNEL);
	if (err)
		percpu_counter_destroy(&sstp_sockets_allocated);
	return err;
}

void sstp_mem_exit(void)
{
	cancel_work_sync(&sstp_mem_work);
	percpu_counter_destroy(&sstp_orphans);
	percpu_counter_destroy(&sstp_sockets_allocated);
}

/* Bytes that all sockets owe: net.sstp.mem limits them, too. */
static atomic_long_t sstp_debts;

/* Socket lock, or nobody else has the socket. */
void sstp_debt_update(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int debt = max(-sk->sk_forward_alloc, 0);

	if (debt == sp->rcvbuf.debt)
		return;
	atomic_long_add(debt - sp->rcvbuf.debt, &sstp_debts);
	sp->rcvbuf.debt = debt;
}

/* Bytes that one segment may take beyond the limit for all sockets: up to that limit
 * again, and beyond it what is small.
 */
u32 sstp_debt_limit(const struct sock *sk)
{
	return sk_memory_allocated(sk) + (atomic_long_read(&sstp_debts) >> PAGE_SHIFT) >
	       sk_prot_mem_limits(sk, 2) ? SSTP_DEBT_BYTES : INT_MAX;
}

/* Memory of the window's slots is charged beside the packets: a peer decides how much that
 * is by where it puts packets. Socket lock, or nobody else has the socket.
 */
void sstp_rcv_charge_slots(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int more = sp->rcv.bytes - sp->rcvbuf.slots;

	if (!more)
		return;
	sp->rcvbuf.slots = sp->rcv.bytes;
	if (more > 0)
		sk_mem_charge(sk, more);
	else
		sk_mem_uncharge(sk, -more);
	sstp_debt_update(sk);
}

/* Free a segment to send, which is in no window any more. */
void sstp_mem_free_segment(struct sock *sk, struct sstp_sseg *s)
{
	sk_wmem_queued_add(sk, -(int)s->truesize);
	sk_mem_uncharge(sk, s->truesize);
	sstp_debt_update(sk);
	sstp_sseg_free(s);
}

/* Is there memory to let buffers grow, which is as the peer would have it? */
bool sstp_may_grow(struct sock *sk)
{
	return !sk_under_memory_pressure(sk) &&
	       sk_memory_allocated(sk) < sk_prot_mem_limits(sk, 0);
}
