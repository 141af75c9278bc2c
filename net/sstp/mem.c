// SPDX-License-Identifier: GPL-2.0
/* Memory: what all sockets together have and may have, and what one is charged for. */
#include <linux/swap.h>
#include "mem.h"
#include "sstp.h"

/* Bytes of a segment that may be taken beyond the limit of all sockets, see sstp_debt_limit() */
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

/* A charge was refused. The counter that the kernel checks may be a megabyte too high for each
 * CPU, which keeps freed pages to itself; that alone may be more than a small limit. So these
 * pages are given back, once a jiffy at most.
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

	/* As of UDP: 3/32 of memory without pressure, 1/8 with it, 3/16 at most. */
	sstp_sysctl_mem[0] = pages / 4 * 3;
	sstp_sysctl_mem[1] = pages;
	sstp_sysctl_mem[2] = pages / 2 * 3;
	/* Orphans take an eighth of memory if each holds 32 KB. */
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

/* Bytes that all sockets use beyond what they were granted; see sstp_debt_limit() */
static atomic_long_t sstp_debts;

/* Add what @sk uses beyond its grant, its negative sk_forward_alloc, to the debts of all. Socket
 * lock, or nobody else has the socket.
 */
void sstp_debt_update(struct sock *sk)
{
	struct sstp_sock *sp = sstp_sk(sk);
	int debt = max(-sk->sk_forward_alloc, 0);

	if (debt == sp->rcvbuf.debt)
		return;
	if (debt < sp->rcvbuf.debt_fair || sstp_debt_limit(sk) == INT_MAX)
		sp->rcvbuf.debt_fair = debt;
	atomic_long_add(debt - sp->rcvbuf.debt, &sstp_debts);
	sp->rcvbuf.debt = debt;
}

/* Bytes that one segment may take after a charge was refused: any number while the memory and
 * the debts of all sockets are within net.sstp.mem, else SSTP_DEBT_BYTES.
 */
u32 sstp_debt_limit(const struct sock *sk)
{
	return sk_memory_allocated(sk) + (atomic_long_read(&sstp_debts) >> PAGE_SHIFT) >
	       sk_prot_mem_limits(sk, 2) ? SSTP_DEBT_BYTES : INT_MAX;
}

/* Charge the memory of the receive window's slots, besides that of the packets: a peer decides
 * how many slots there are by the segments that it sends packets of. Socket lock, or nobody
 * else has the socket.
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

/* Charge @len more bytes of @s, which sstp_mem_may_charge() has allowed. Socket lock. */
void sstp_mem_charge_segment(struct sock *sk, struct sstp_sseg *s, u32 len)
{
	sk_wmem_queued_add(sk, len);
	sk_mem_charge(sk, len);
	s->truesize += len;
	sstp_debt_update(sk);
}

/* How many of @len bytes may be charged for @s? When memory is used up, perhaps by sockets that
 * nobody reads, a socket with nothing else to send may still charge a packet, or a segment if
 * it is a SOCK_SEQPACKET: a debt, which the next charge pays.
 */
u32 sstp_mem_may_charge(struct sock *sk, const struct sstp_sseg *s, u32 len)
{
	const struct sstp_sock *sp = sstp_sk(sk);
	u32 most = struct_size(s, frag, s->alloc) + SSTP_DATA_HLEN + sp->path.size;

	if (sk_wmem_schedule(sk, len))
		return len;
	sstp_mem_refused(sk);
	if (sk->sk_type == SOCK_SEQPACKET)
		most = sstp_debt_limit(sk);
	if (sk->sk_wmem_queued != s->truesize || s->truesize >= most)
		return 0;
	return min(len, most - s->truesize);
}

/* Free a segment to send that has left the send window, and uncharge its memory. Socket lock, or
 * nobody else has the socket.
 */
void sstp_mem_free_segment(struct sock *sk, struct sstp_sseg *s)
{
	sk_wmem_queued_add(sk, -(int)s->truesize);
	sk_mem_uncharge(sk, s->truesize);
	sstp_debt_update(sk);
	sstp_sseg_free(s);
}

/* May buffers grow? Not under memory pressure: a peer decides how large they would be. */
bool sstp_may_grow(struct sock *sk)
{
	return !sk_under_memory_pressure(sk) &&
	       sk_memory_allocated(sk) < sk_prot_mem_limits(sk, 0);
}
