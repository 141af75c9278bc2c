// SPDX-License-Identifier: GPL-2.0
/*
 * A controller "hostile", and a receive buffer policy of that name, whose callbacks return the
 * values of module parameters, which connections must survive.
 */
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sysfs.h>
#include <net/sstp.h>

static unsigned int cwnd = SSTP_CWND_MAX;
module_param(cwnd, uint, 0644);
MODULE_PARM_DESC(cwnd, "congestion window, packets");

static unsigned long long period;
module_param(period, ullong, 0644);
MODULE_PARM_DESC(period, "ns between packets");

static bool random;
module_param(random, bool, 0644);
MODULE_PARM_DESC(random, "all outputs are random numbers");

static bool senseless;
module_param(senseless, bool, 0444);
MODULE_PARM_DESC(senseless, "a callback was told what cannot be");

/* As many messages, and as long ones, as can be said */
static void hostile_talk(struct sstp_ctrl_msg *m)
{
	m->kind = U16_MAX;
	m->len = U16_MAX;
	memset(m->data, 0xff, sizeof(m->data));
}

static void hostile_say(struct sstp_ctrl *c)
{
	c->cwnd = c->param[0] ?: READ_ONCE(cwnd);
	c->period = c->param[1] ?: READ_ONCE(period);
	c->timer = 1;
	c->priv[0]++;
	hostile_talk(&c->msg);
	if (READ_ONCE(random)) {
		/* Each of any magnitude */
		c->cwnd = get_random_u32() >> get_random_u32_below(32);
		c->period = get_random_u64() >> get_random_u32_below(64);
		c->rto = get_random_u32() >> get_random_u32_below(32);
		c->rtt = get_random_u32() >> get_random_u32_below(32);
		c->ack_interval = get_random_u32() >> get_random_u32_below(32);
		c->ack_timer = get_random_u32() >> get_random_u32_below(32);
		c->timer = get_random_u64() >> get_random_u32_below(64);
		c->msg.kind = get_random_u32();
		c->msg.len = get_random_u32();
	}
}

/* A parameter of 2^32 - 1 means no window, as for the core. */
static int hostile_check(const struct sstp_param_values *v)
{
	return v->param[0] == SSTP_CWND_MAX && v->param[1] ? -EINVAL : 0;
}

static void hostile_get_info(const struct sstp_ctrl *c, s64 *state)
{
	state[0] = c->priv[0];
	state[1] = S64_MIN;
}

static void hostile_any(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (!s->packet_size)
		WRITE_ONCE(senseless, true);
	hostile_say(c);
}

static void hostile_packets(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			    const struct sstp_ctrl_packets *p)
{
	if (!p->packets || !p->bytes)
		WRITE_ONCE(senseless, true);
	hostile_any(c, s);
}

static void hostile_message(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			    const struct sstp_ctrl_msg *m)
{
	if (!m->kind || m->len > SSTP_MSG_MAX)
		WRITE_ONCE(senseless, true);
	hostile_any(c, s);
}

static void hostile_recv_say(struct sstp_recv *r)
{
	r->rate = r->priv[0]++;
	r->timer = 1;
	memset(r->report, 0xff, sizeof(r->report));
	hostile_talk(&r->msg);
	memset(&r->feedback, 0xff, sizeof(r->feedback));
	r->feedback.valid = true;
	if (READ_ONCE(random)) {
		r->rate = get_random_u64() >> get_random_u32_below(64);
		r->timer = get_random_u64() >> get_random_u32_below(64);
		r->msg.len = get_random_u32();
	}
}

static void hostile_recv(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	if (!s->packet_size || !s->now)
		WRITE_ONCE(senseless, true);
	hostile_recv_say(r);
}

static void hostile_recv_packets(struct sstp_recv *r, const struct sstp_recv_sample *s,
				 const struct sstp_ctrl_packets *p)
{
	if (!p->packets || !p->bytes)
		WRITE_ONCE(senseless, true);
	hostile_recv(r, s);
}

static void hostile_recv_message(struct sstp_recv *r, const struct sstp_recv_sample *s,
				 const struct sstp_ctrl_msg *m)
{
	if (!m->kind || m->len > SSTP_MSG_MAX)
		WRITE_ONCE(senseless, true);
	hostile_recv(r, s);
}

/* Each tick wants the next at once, and tells each member another rate. */
static void hostile_tick(struct sstp_group *g)
{
	struct sstp_group_member *m;

	g->tick = 1;
	list_for_each_entry(m, &g->members, list)
		m->rate = m->rate ? 0 : U64_MAX;
}

static struct sstp_ctrl_ops hostile_ctrl = {
	.init		= hostile_any,
	.release	= hostile_say,
	.on_ack		= hostile_any,
	.on_loss	= hostile_any,
	.on_timeout	= hostile_any,
	.on_param	= hostile_any,
	.on_pkt_sent	= hostile_packets,
	.on_timer	= hostile_any,
	.on_message	= hostile_message,
	.recv_init	= hostile_recv,
	.recv_release	= hostile_recv_say,
	.recv_packets	= hostile_recv_packets,
	.recv_timer	= hostile_recv,
	.recv_message	= hostile_recv_message,
	.group_tick	= hostile_tick,
	.name		= "hostile",
	.owner		= THIS_MODULE,
	.params		= { { "cwnd", 1, U32_MAX }, { "period", 1, U32_MAX } },
	.state		= { "calls", "lowest" },
	.check_params	= hostile_check,
	.get_info	= hostile_get_info,
	.group		= SSTP_GROUP_PORT,
};

static unsigned int policy_inits;
module_param(policy_inits, uint, 0444);
MODULE_PARM_DESC(policy_inits, "buffers that got the policy");

static void hostile_update(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	if (!s->limit || !s->least || !s->first || !s->ceiling || !s->available)
		WRITE_ONCE(senseless, true);
	b->epoch = 1;
	b->limit = U32_MAX;
	b->top = U32_MAX;
	/* The smallest window, and sometimes no measurements, on which it depends */
	b->window = 1;
	b->measure = b->priv[0]++ % 4;
	if (s->window_limited && s->app_limited)
		WRITE_ONCE(senseless, true);
}

static void hostile_begin(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	WRITE_ONCE(policy_inits, policy_inits + 1);
	hostile_update(b, s);
}

static struct attribute *hostile_attrs[] = { NULL };

static const struct attribute_group hostile_group = {
	.name	= "hostile",
	.attrs	= hostile_attrs,
};

static struct sstp_rbuf_ops hostile_rbuf = {
	.init		= hostile_begin,
	.update		= hostile_update,
	.name		= "hostile",
	.owner		= THIS_MODULE,
	.sysfs		= &hostile_group,
};

static struct sstp_rbuf_ops hostile_twin = {
	.name		= "hostile",
	.owner		= THIS_MODULE,
	.sysfs		= &hostile_group,
};

static void hostile_module_exit(void)
{
	sstp_unregister_rbuf(&hostile_rbuf);
	sstp_unregister_ctrl(&hostile_ctrl);
}

static int __init hostile_module_init(void)
{
	int err = sstp_register_ctrl(&hostile_ctrl);

	if (err)
		return err;
	err = sstp_register_rbuf(&hostile_rbuf);
	if (err) {
		sstp_unregister_ctrl(&hostile_ctrl);
		return err;
	}
	err = sstp_register_rbuf(&hostile_twin);
	if (err == -EEXIST)
		return 0;
	if (!err)
		sstp_unregister_rbuf(&hostile_twin);
	hostile_module_exit();
	return err ?: -EINVAL;
}

module_init(hostile_module_init);
module_exit(hostile_module_exit);
MODULE_DESCRIPTION("A hostile controller, for tests of the segment streaming transport protocol");
MODULE_LICENSE("GPL");
