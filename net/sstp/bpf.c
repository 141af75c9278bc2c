// SPDX-License-Identifier: GPL-2.0
/*
 * Controllers and receive buffer policies in BPF, by struct_ops: the verifier calls this when it
 * checks a program, and the kernel when a link to the program begins and ends. The program is
 * called by ctrl_bpf.c or rbuf_bpf.c.
 */
#include <linux/cred.h>
#include <linux/kobject.h>
#include <linux/rculist.h>
#include <linux/sysfs.h>
#include "bpf.h"
#include "compat.h"
#include "ctrl.h"
#include "ctrl_bpf.h"
#include "evict.h"
#include "plugin.h"
#include "rbuf.h"
#include "rbuf_bpf.h"
#include "sysfs.h"

/* Why there is no BPF, or NULL */
static const char *sstp_bpf_lack __ro_after_init;

#ifdef SSTP_HAVE_BPF
/* Struct_ops that the kernel has looked at: registering them succeeds without BTF, too. */
static u32 sstp_bpf_known __ro_after_init;

/* Bytes of a struct that programs may write: [at, end) */
struct sstp_bpf_range {
	u32	at;
	u32	end;
};

#define SSTP_BPF_OUTPUT(type, member)	{ offsetof(type, member), offsetofend(type, member) }

static const struct sstp_bpf_range sstp_bpf_ctrl_outputs[] = {
	SSTP_BPF_OUTPUT(struct sstp_ctrl, period),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, cwnd),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, rto),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, ack_interval),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, ack_timer),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, rtt),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, timer),
	SSTP_BPF_OUTPUT(struct sstp_ctrl, priv),
	{},
};

static const struct sstp_bpf_range sstp_bpf_recv_outputs[] = {
	SSTP_BPF_OUTPUT(struct sstp_recv, rate),
	SSTP_BPF_OUTPUT(struct sstp_recv, timer),
	SSTP_BPF_OUTPUT(struct sstp_recv, feedback),
	SSTP_BPF_OUTPUT(struct sstp_recv, report),
	SSTP_BPF_OUTPUT(struct sstp_recv, priv),
	{},
};

static const struct sstp_bpf_range sstp_bpf_group_outputs[] = {
	SSTP_BPF_OUTPUT(struct sstp_group, tick),
	SSTP_BPF_OUTPUT(struct sstp_group, priv),
	{},
};

static const struct sstp_bpf_range sstp_bpf_rbuf_outputs[] = {
	SSTP_BPF_OUTPUT(struct sstp_rbuf, epoch),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, limit),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, top),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, exact),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, rest),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, measure),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, widen),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, small),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, window),
	SSTP_BPF_OUTPUT(struct sstp_rbuf, priv),
	{},
};

/**
 * struct sstp_bpf_type - a struct that programs write to
 * @name: for messages of the verifier
 * @outputs: what they may write
 * @btf: BTF of the module, and
 * @id: number of the struct in it, as soon as a program has been passed one. No other pointer that
 *	the verifier trusts points to such a struct, so nothing is lost before that.
 */
struct sstp_bpf_type {
	const char *name;
	const struct sstp_bpf_range *outputs;
	const struct btf *btf;
	u32	id;
};

static struct sstp_bpf_type sstp_bpf_ctrl = {
	.name = "sstp_ctrl", .outputs = sstp_bpf_ctrl_outputs,
};

static struct sstp_bpf_type sstp_bpf_recv = {
	.name = "sstp_recv", .outputs = sstp_bpf_recv_outputs,
};

static struct sstp_bpf_type sstp_bpf_group = {
	.name = "sstp_group", .outputs = sstp_bpf_group_outputs,
};

static struct sstp_bpf_type sstp_bpf_rbuf = {
	.name = "sstp_rbuf", .outputs = sstp_bpf_rbuf_outputs,
};

/* Offset in the operations of the callback that @prog is for */
static u32 sstp_bpf_callback(const struct bpf_prog *prog)
{
	const struct btf_type *t = btf_type_by_id(prog->aux->attach_btf, prog->aux->attach_btf_id);

	return __btf_member_bit_offset(t, &btf_type_member(t)[prog->expected_attach_type]) / 8;
}

/* The struct with outputs that the callback of @prog gets first, or NULL */
static struct sstp_bpf_type *sstp_bpf_first_arg(const struct bpf_prog *prog)
{
	switch (sstp_bpf_callback(prog)) {
	case offsetof(struct sstp_ctrl_ops, init):
	case offsetof(struct sstp_ctrl_ops, release):
	case offsetof(struct sstp_ctrl_ops, on_ack):
	case offsetof(struct sstp_ctrl_ops, on_loss):
	case offsetof(struct sstp_ctrl_ops, on_timeout):
	case offsetof(struct sstp_ctrl_ops, on_param):
	case offsetof(struct sstp_ctrl_ops, on_pkt_sent):
	case offsetof(struct sstp_ctrl_ops, on_timer):
	case offsetof(struct sstp_ctrl_ops, on_message):
		return &sstp_bpf_ctrl;
	case offsetof(struct sstp_ctrl_ops, recv_init):
	case offsetof(struct sstp_ctrl_ops, recv_release):
	case offsetof(struct sstp_ctrl_ops, recv_packets):
	case offsetof(struct sstp_ctrl_ops, recv_timer):
	case offsetof(struct sstp_ctrl_ops, recv_message):
		return &sstp_bpf_recv;
	case offsetof(struct sstp_ctrl_ops, group_tick):
		return &sstp_bpf_group;
	}
	return NULL;
}

/* May @prog access its arguments so? Functions that look up the number of a struct are not exported
 * by all kernels, so that of @t is taken from the first argument, which is loaded before it can be
 * written to. @t: NULL if the first argument has no outputs
 */
static bool sstp_bpf_access(int off, int size, enum bpf_access_type type,
			    const struct bpf_prog *prog, struct bpf_insn_access_aux *info,
			    struct sstp_bpf_type *t)
{
	if (!bpf_tracing_btf_ctx_access(off, size, type, prog, info))
		return false;
	if (t && !off && base_type(info->reg_type) == PTR_TO_BTF_ID) {
		WRITE_ONCE(t->btf, info->btf);
		WRITE_ONCE(t->id, info->btf_id);
	}
	return true;
}

static bool sstp_bpf_ctrl_access(int off, int size, enum bpf_access_type type,
				 const struct bpf_prog *prog, struct bpf_insn_access_aux *info)
{
	return sstp_bpf_access(off, size, type, prog, info, sstp_bpf_first_arg(prog));
}

static bool sstp_bpf_rbuf_access(int off, int size, enum bpf_access_type type,
				 const struct bpf_prog *prog, struct bpf_insn_access_aux *info)
{
	bool checks = sstp_bpf_callback(prog) == offsetof(struct sstp_rbuf_ops, check_params);

	return sstp_bpf_access(off, size, type, prog, info, checks ? NULL : &sstp_bpf_rbuf);
}

static bool sstp_bpf_is(const struct sstp_bpf_type *t, const struct bpf_reg_state *reg)
{
	return READ_ONCE(t->btf) == reg->btf && READ_ONCE(t->id) == reg->btf_id;
}

/* A write: only to outputs, and only by an argument, not by a pointer that was made up. */
static int sstp_bpf_struct_access(struct bpf_verifier_log *log, const struct bpf_reg_state *reg,
				  int off, int size)
{
	const struct sstp_bpf_type *t = NULL;
	const struct sstp_bpf_range *r;

	if (sstp_bpf_is(&sstp_bpf_ctrl, reg))
		t = &sstp_bpf_ctrl;
	else if (sstp_bpf_is(&sstp_bpf_recv, reg))
		t = &sstp_bpf_recv;
	else if (sstp_bpf_is(&sstp_bpf_group, reg))
		t = &sstp_bpf_group;
	else if (sstp_bpf_is(&sstp_bpf_rbuf, reg))
		t = &sstp_bpf_rbuf;
	if (!t || !(reg->type & PTR_TRUSTED)) {
		bpf_log(log, "only the outputs in the first argument are writable\n");
		return -EACCES;
	}
	for (r = t->outputs; r->end; r++)
		if (off >= r->at && off + size <= r->end)
			return 0;
	bpf_log(log, "no output at offset %d of struct %s has %d bytes\n", off, t->name, size);
	return -EACCES;
}

static const struct bpf_func_proto *sstp_bpf_func_proto(enum bpf_func_id id,
							const struct bpf_prog *prog)
{
	return bpf_base_func_proto(id, prog);
}

static const struct bpf_verifier_ops sstp_bpf_ctrl_verifier = {
	.get_func_proto		= sstp_bpf_func_proto,
	.is_valid_access	= sstp_bpf_ctrl_access,
	.btf_struct_access	= sstp_bpf_struct_access,
};

static const struct bpf_verifier_ops sstp_bpf_rbuf_verifier = {
	.get_func_proto		= sstp_bpf_func_proto,
	.is_valid_access	= sstp_bpf_rbuf_access,
	.btf_struct_access	= sstp_bpf_struct_access,
};

/* Callbacks run under the socket lock, or that of a group. */
static int sstp_bpf_check_member(const struct btf_type *t, const struct btf_member *member,
				 const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

/* Copy a member that is no callback, from a program. All bytes are checked here or when the
 * controller is registered. Return: 1 if it is copied; 0 if it has to be a callback or 0.
 */
static int sstp_bpf_init_member(const struct btf_type *t, const struct btf_member *member,
				void *kdata, const void *udata)
{
	const struct sstp_ctrl_ops *from = udata;
	struct sstp_ctrl_ops *ops = kdata;
	u32 at = __btf_member_bit_offset(t, member) / 8;

	switch (at) {
	case offsetof(struct sstp_ctrl_ops, name):
		memcpy(ops->name, from->name, sizeof(ops->name));
		return 1;
	case offsetof(struct sstp_ctrl_ops, params):
		memcpy(ops->params, from->params, sizeof(ops->params));
		return 1;
	case offsetof(struct sstp_ctrl_ops, state):
		memcpy(ops->state, from->state, sizeof(ops->state));
		return 1;
	case offsetof(struct sstp_ctrl_ops, restricted):
		if (*(const u8 *)(udata + at) > 1)
			return -EINVAL;
		ops->restricted = from->restricted;
		return 1;
	case offsetof(struct sstp_ctrl_ops, ecn):
		if ((u32)from->ecn > SSTP_CTRL_ECN_NEEDS)
			return -EINVAL;
		ops->ecn = from->ecn;
		return 1;
	case offsetof(struct sstp_ctrl_ops, group):
		if ((u32)from->group > SSTP_GROUP_PORT)
			return -EINVAL;
		ops->group = from->group;
		return 1;
	}
	return 0;
}

static int sstp_bpf_rbuf_init_member(const struct btf_type *t, const struct btf_member *member,
				     void *kdata, const void *udata)
{
	const struct sstp_rbuf_ops *from = udata;
	struct sstp_rbuf_ops *ops = kdata;

	switch (__btf_member_bit_offset(t, member) / 8) {
	case offsetof(struct sstp_rbuf_ops, name):
		memcpy(ops->name, from->name, sizeof(ops->name));
		return 1;
	case offsetof(struct sstp_rbuf_ops, params):
		memcpy(ops->params, from->params, sizeof(ops->params));
		return 1;
	case offsetof(struct sstp_rbuf_ops, state):
		memcpy(ops->state, from->state, sizeof(ops->state));
		return 1;
	}
	return 0;
}

/* Without a link nobody could tell who keeps the program. To load one takes CAP_BPF and
 * CAP_PERFMON, which the kernel has checked, but neither is for the network.
 */
static int sstp_bpf_reg(void *kdata, struct bpf_link *link)
{
	if (!link)
		return -EOPNOTSUPP;
	return capable(CAP_NET_ADMIN) ? sstp_ctrl_bpf_add(kdata, link) : -EPERM;
}

/* When this returns, the program is not called any more, and the kernel frees it. */
static void sstp_bpf_unreg(void *kdata, struct bpf_link *link)
{
	struct sstp_ctrl_ops *ops = sstp_ctrl_bpf_remove(kdata);

	sstp_evict_all(sstp_plugin_of(ops), true);
	sstp_ctrl_put(ops);
}

static int sstp_bpf_rbuf_reg(void *kdata, struct bpf_link *link)
{
	if (!link)
		return -EOPNOTSUPP;
	return capable(CAP_NET_ADMIN) ? sstp_rbuf_bpf_add(kdata, link) : -EPERM;
}

static void sstp_bpf_rbuf_unreg(void *kdata, struct bpf_link *link)
{
	struct sstp_rbuf_ops *ops = sstp_rbuf_bpf_remove(kdata);

	sstp_evict_all(sstp_plugin_of(ops), false);
	sstp_rbuf_put(ops);
}

static int sstp_bpf_known_init(struct btf *btf)
{
	sstp_bpf_known++;
	return 0;
}

/* The kernel takes from these which callbacks a program may have, and their types. */
static void sstp_bpf_stub(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
}

static void sstp_bpf_stub_release(struct sstp_ctrl *c)
{
}

static void sstp_bpf_stub_sent(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			       const struct sstp_ctrl_packets *p)
{
}

static void sstp_bpf_stub_message(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
				  const struct sstp_ctrl_msg *m)
{
}

static void sstp_bpf_stub_recv(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
}

static void sstp_bpf_stub_recv_release(struct sstp_recv *r)
{
}

static void sstp_bpf_stub_recv_packets(struct sstp_recv *r, const struct sstp_recv_sample *s,
				       const struct sstp_ctrl_packets *p)
{
}

static void sstp_bpf_stub_recv_message(struct sstp_recv *r, const struct sstp_recv_sample *s,
				       const struct sstp_ctrl_msg *m)
{
}

static void sstp_bpf_stub_group_tick(struct sstp_group *g)
{
}

static int sstp_bpf_stub_check_params(const struct sstp_param_values *v)
{
	return 0;
}

static void sstp_bpf_stub_rbuf(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
}

static void sstp_bpf_stub_rbuf_release(struct sstp_rbuf *b)
{
}

static struct sstp_ctrl_ops sstp_bpf_stubs = {
	.init		= sstp_bpf_stub,
	.release	= sstp_bpf_stub_release,
	.on_ack		= sstp_bpf_stub,
	.on_loss	= sstp_bpf_stub,
	.on_timeout	= sstp_bpf_stub,
	.on_param	= sstp_bpf_stub,
	.on_pkt_sent	= sstp_bpf_stub_sent,
	.on_timer	= sstp_bpf_stub,
	.on_message	= sstp_bpf_stub_message,
	.recv_init	= sstp_bpf_stub_recv,
	.recv_release	= sstp_bpf_stub_recv_release,
	.recv_packets	= sstp_bpf_stub_recv_packets,
	.recv_timer	= sstp_bpf_stub_recv,
	.recv_message	= sstp_bpf_stub_recv_message,
	.group_tick	= sstp_bpf_stub_group_tick,
	.check_params	= sstp_bpf_stub_check_params,
};

static struct bpf_struct_ops sstp_bpf_ctrl_ops = {
	.verifier_ops	= &sstp_bpf_ctrl_verifier,
	.init		= sstp_bpf_known_init,
	.check_member	= sstp_bpf_check_member,
	.init_member	= sstp_bpf_init_member,
	.reg		= sstp_bpf_reg,
	.unreg		= sstp_bpf_unreg,
	.name		= "sstp_ctrl_ops",
	.cfi_stubs	= &sstp_bpf_stubs,
	.owner		= THIS_MODULE,
};

static struct sstp_rbuf_ops sstp_bpf_rbuf_stubs = {
	.init		= sstp_bpf_stub_rbuf,
	.release	= sstp_bpf_stub_rbuf_release,
	.update		= sstp_bpf_stub_rbuf,
	.check_params	= sstp_bpf_stub_check_params,
};

static struct bpf_struct_ops sstp_bpf_rbuf_ops = {
	.verifier_ops	= &sstp_bpf_rbuf_verifier,
	.init		= sstp_bpf_known_init,
	.check_member	= sstp_bpf_check_member,
	.init_member	= sstp_bpf_rbuf_init_member,
	.reg		= sstp_bpf_rbuf_reg,
	.unreg		= sstp_bpf_rbuf_unreg,
	.name		= "sstp_rbuf_ops",
	.cfi_stubs	= &sstp_bpf_rbuf_stubs,
	.owner		= THIS_MODULE,
};

/* Return: NULL, or why there is no BPF */
static const char *__init sstp_bpf_register(void)
{
	/* Kernels differ in whether they fail or just log that, so do not let them look. */
	if (!THIS_MODULE->btf_data_size)
		return "the module has no BTF: it was built without pahole, or a vmlinux";
	if (sstp_bpf_kfunc_init())
		return "the kernel does not take the module's functions";
	if (register_bpf_struct_ops(&sstp_bpf_ctrl_ops, sstp_ctrl_ops) ||
	    register_bpf_struct_ops(&sstp_bpf_rbuf_ops, sstp_rbuf_ops) || sstp_bpf_known != 2)
		return "the kernel does not take the module's struct_ops";
	return NULL;
}
#else
static const char *__init sstp_bpf_register(void)
{
	return "the kernel has no struct_ops of modules, as Linux 6.12 with JIT and BTF has";
}
#endif

static ssize_t bpf_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", sstp_bpf_lack ?: "yes");
}

/* Write a line for each plug-in of @r from @at on, as long as whole lines fit into the page. The
 * line of one in BPF has who loaded it and the number of references, without the registry's.
 * Return: the end of the last line
 */
static int sstp_bpf_emit(char *buf, int at, const struct sstp_registry *r, const char *type)
{
	const struct sstp_plugin *p;
	int n;

	rcu_read_lock();
	list_for_each_entry_rcu(p, &r->list, list) {
		if (p->life)
			n = sysfs_emit_at(buf, at, "%s %s bpf %u %u %s\n", type, p->name,
					  from_kuid_munged(current_user_ns(), p->life->uid),
					  refcount_read(&p->life->users) - 1, p->life->comm);
		else
			n = sysfs_emit_at(buf, at, "%s %s c\n", type, p->name);
		if (n && buf[at + n - 1] != '\n')
			break;
		at += n;
	}
	rcu_read_unlock();
	return at;
}

static ssize_t plugins_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	int at = sstp_bpf_emit(buf, 0, &sstp_ctrls, "controller");

	return sstp_bpf_emit(buf, at, &sstp_rbufs, "policy");
}

static struct kobj_attribute sstp_bpf_attr = __ATTR_RO(bpf);
static struct kobj_attribute sstp_bpf_plugins_attr = __ATTR_RO(plugins);
static struct attribute *sstp_bpf_attrs[] = {
	&sstp_bpf_attr.attr, &sstp_bpf_plugins_attr.attr, NULL
};

static const struct attribute_group sstp_bpf_attr_group = { .attrs = sstp_bpf_attrs };

int __init sstp_bpf_init(void)
{
	sstp_bpf_lack = sstp_bpf_register();
	return sstp_sysfs_add(&sstp_bpf_attr_group);
}

void sstp_bpf_exit(void)
{
	sstp_sysfs_remove(&sstp_bpf_attr_group);
}
