// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that controllers in BPF may call. They trust nothing in the arguments but pointers to
 * the structs that a callback was passed: outputs and private state are the program's.
 */
#include <linux/siphash.h>
#include <net/sstp_cubic.h>
#include "bpf.h"
#include "compat.h"
#include "ctrl_bpf.h"
#include "sstp.h"

#define SSTP_BPF_TOTALS_MAX	1024	/* bytes of struct sstp_ctrl_totals, of whatever version */

#ifdef SSTP_HAVE_BPF
static_assert(sizeof(struct sstp_window) <= SSTP_CTRL_BPF_WINDOW * sizeof(u64));

/* Members of struct bpf_iter_sstp_group */
struct sstp_bpf_members {
	const struct sstp_group *group;
	struct list_head *at;		/* the member that was returned last */
};

static_assert(sizeof(struct sstp_bpf_members) <= sizeof(struct bpf_iter_sstp_group));
static_assert(__alignof__(struct sstp_bpf_members) == __alignof__(struct bpf_iter_sstp_group));

/* Make a bool that a BPF program may have written 0 or 1. */
static void sstp_bpf_bool(bool *b)
{
	*(u8 *)b = !!*(u8 *)b;
}

/* The window in the state of @c. It has any bytes, so bring into range what window.c counts on. */
static struct sstp_window *sstp_bpf_window(struct sstp_ctrl *c)
{
	struct sstp_window *w = (struct sstp_window *)c->priv;

	c->cwnd = clamp_t(u32, c->cwnd, 1, SSTP_WINDOW_MAX);
	sstp_bpf_bool(&w->cut);
	sstp_bpf_bool(&w->late);
	sstp_bpf_bool(&w->undone);
	return w;
}

static int sstp_bpf_put_msg(struct sstp_ctrl_msg *m, u16 kind, const void *data, u32 len)
{
	if (!kind || len > SSTP_MSG_MAX)
		return -EINVAL;
	m->kind = kind;
	m->len = len;
	memcpy(m->data, data, len);
	return 0;
}

__bpf_kfunc_start_defs();

/* Congestion windows: functions of the same names without bpf_ in include/net/sstp_window.h */
__bpf_kfunc void bpf_sstp_window_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_init(c, sstp_bpf_window(c), s);
}

__bpf_kfunc u32 bpf_sstp_window_ack(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	return sstp_window_ack(c, sstp_bpf_window(c), s);
}

__bpf_kfunc void bpf_sstp_window_grow(struct sstp_ctrl *c, u32 packets, u32 per)
{
	sstp_window_grow(c, sstp_bpf_window(c), packets, max(per, 1U));
}

__bpf_kfunc bool bpf_sstp_window_loss(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	return sstp_window_loss(c, sstp_bpf_window(c), s);
}

__bpf_kfunc void bpf_sstp_window_cut(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				     u32 ssthresh)
{
	sstp_window_cut(c, sstp_bpf_window(c), s, min_t(u32, ssthresh, SSTP_WINDOW_MAX));
}

__bpf_kfunc void bpf_sstp_window_timeout(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
					 u32 ssthresh)
{
	sstp_window_timeout(c, sstp_bpf_window(c), s, min_t(u32, ssthresh, SSTP_WINDOW_MAX));
}

__bpf_kfunc void bpf_sstp_window_pace(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	sstp_window_pace(c, sstp_bpf_window(c), s);
}

/* Send a message of @data__sz bytes to the receiving half, as @msg of struct sstp_ctrl. -EINVAL:
 * @kind is 0, or it is longer than SSTP_MSG_MAX.
 */
__bpf_kfunc int bpf_sstp_send(struct sstp_ctrl *c, u16 kind, const void *data, u32 data__sz)
{
	return sstp_bpf_put_msg(&c->msg, kind, data, data__sz);
}

/* The same, from the receiving half to the controller of the peer */
__bpf_kfunc int bpf_sstp_recv_send(struct sstp_recv *r, u16 kind, const void *data, u32 data__sz)
{
	return sstp_bpf_put_msg(&r->msg, kind, data, data__sz);
}

/* Copy a message that came. Returns its bytes, or -EINVAL if there is no room for them. */
__bpf_kfunc int bpf_sstp_msg_read(const struct sstp_ctrl_msg *m, void *data, u32 data__sz)
{
	if (m->len > data__sz)
		return -EINVAL;
	memcpy(data, m->data, m->len);
	return m->len;
}

/* A number that connections to one address have in common: the key of a map, for programs whose
 * connections share state
 */
__bpf_kfunc u64 bpf_sstp_peer_key(const struct sstp_ctrl *c)
{
	const struct sstp_ctrl_core *core = container_of(c, struct sstp_ctrl_core, out);
	const struct sstp_sock *sp = container_of(core, struct sstp_sock, ctrl);
	static siphash_key_t key __read_mostly;

	net_get_random_once(&key, sizeof(key));
	return siphash(&sp->id.peer.addr, sizeof(sp->id.peer.addr), &key);
}

/* Integer cube root, rounded down; at most 2^21 - 1 */
__bpf_kfunc u32 bpf_sstp_cbrt(u64 v)
{
	return sstp_cubic_root(v);
}

/* Copy struct sstp_ctrl_totals, or the beginning of it if that is all the program knows; what the
 * module does not know becomes 0. @now is that of the sample. Returns the bytes copied, or -E2BIG:
 * that is no such struct.
 */
__bpf_kfunc int bpf_sstp_totals(const struct sstp_ctrl *c, u64 now, void *data, u32 data__sz)
{
	struct sstp_ctrl_totals t;
	u32 n = min_t(u32, data__sz, sizeof(t));

	if (data__sz > SSTP_BPF_TOTALS_MAX)
		return -E2BIG;
	sstp_ctrl_totals(c, now, &t);
	memcpy(data, &t, n);
	memset(data + n, 0, data__sz - n);
	return n;
}

/* The members of a group: only @group_tick has one, and runs under the lock of the group, so none
 * leaves meanwhile.
 */
__bpf_kfunc int bpf_iter_sstp_group_new(struct bpf_iter_sstp_group *it, struct sstp_group *g)
{
	struct sstp_bpf_members *m = (struct sstp_bpf_members *)it;

	m->group = g;
	m->at = &g->members;
	return 0;
}

__bpf_kfunc struct sstp_group_member *bpf_iter_sstp_group_next(struct bpf_iter_sstp_group *it)
{
	struct sstp_bpf_members *m = (struct sstp_bpf_members *)it;

	if (m->at->next == &m->group->members)
		return NULL;
	m->at = m->at->next;
	return list_entry(m->at, struct sstp_group_member, list);
}

__bpf_kfunc void bpf_iter_sstp_group_destroy(struct bpf_iter_sstp_group *it)
{
}

/* Set @rate of a member. */
__bpf_kfunc void bpf_sstp_member_rate(struct sstp_group_member *m, u64 rate)
{
	m->rate = rate;
}

/* Set word @i of @priv of a member. -EINVAL: there is no such word. */
__bpf_kfunc int bpf_sstp_member_priv(struct sstp_group_member *m, u32 i, u64 value)
{
	if (i >= ARRAY_SIZE(m->priv))
		return -EINVAL;
	m->priv[i] = value;
	return 0;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(sstp_bpf_kfuncs)
BTF_ID_FLAGS(func, bpf_sstp_window_init, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_window_ack, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_window_grow, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_window_loss, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_window_cut, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_window_timeout, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_window_pace, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_send, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_recv_send, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_msg_read, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_peer_key, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_cbrt)
BTF_ID_FLAGS(func, bpf_sstp_totals, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_iter_sstp_group_new, KF_ITER_NEW | KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_iter_sstp_group_next, KF_ITER_NEXT | KF_RET_NULL)
BTF_ID_FLAGS(func, bpf_iter_sstp_group_destroy, KF_ITER_DESTROY)
BTF_ID_FLAGS(func, bpf_sstp_member_rate, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, bpf_sstp_member_priv, KF_TRUSTED_ARGS)
BTF_KFUNCS_END(sstp_bpf_kfuncs)

static const struct btf_kfunc_id_set sstp_bpf_kfunc_set = {
	.owner	= THIS_MODULE,
	.set	= &sstp_bpf_kfuncs,
};

int __init sstp_bpf_kfunc_init(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &sstp_bpf_kfunc_set);
}
#endif
