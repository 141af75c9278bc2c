// SPDX-License-Identifier: GPL-2.0
/*
 * A controller "echo" with both halves, for tests of messages, timers and groups: the sending
 * half has a fixed window and sends a number every 10 ms, which the receiving half sends back.
 * Receiving halves of one peer share a group, which allows each 1 Mbit/s for each member. Those of
 * "echo-port", which is the same else, share one by their port.
 */
#include <linux/module.h>
#include <net/sstp_window.h>

#define ECHO_PERIOD	(10 * NSEC_PER_MSEC)

enum { ECHO_NUMBER = 1, ECHO_BACK };	/* kinds of messages */
enum { ECHO_WINDOW, ECHO_ACK_INTERVAL, ECHO_ACK_TIMER };	/* parameters */

/* The sending half */
struct echo {
	u32	sent;		/* number in the last message */
	u32	back;		/* the last number that came back */
	u32	echoes;		/* messages that came back */
	u32	timers;
	u32	late;		/* numbers that came back not in order, or never sent */
	bool	half;		/* the peer runs the receiving half */
	u64	rate;		/* that it allows */
	u64	lost;		/* packets, since the set-up */
	u64	reports;	/* that came since the set-up */
};

static void echo_look(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct echo *e = sstp_ctrl_priv(c, struct echo);
	struct sstp_ctrl_totals total;

	sstp_ctrl_totals(c, s->now, &total);
	e->lost = total.packets_lost;
	e->reports = total.acks_received + total.snaks_received;
	c->cwnd = c->param[ECHO_WINDOW] ?: 100;
	c->ack_interval = c->param[ECHO_ACK_INTERVAL];
	c->ack_timer = c->param[ECHO_ACK_TIMER];
	e->half = s->peer_half;
	e->rate = s->peer_rate;
}

static void echo_init(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	echo_look(c, s);
	c->timer = s->now + ECHO_PERIOD;
}

static void echo_timer(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	struct echo *e = sstp_ctrl_priv(c, struct echo);
	__be32 number;

	echo_look(c, s);
	e->timers++;
	c->timer = s->now + ECHO_PERIOD;
	if (!s->peer_half)
		return;
	number = cpu_to_be32(++e->sent);
	memcpy(c->msg.data, &number, sizeof(number));
	c->msg.kind = ECHO_NUMBER;
	c->msg.len = sizeof(number);
}

static void echo_message(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			 const struct sstp_ctrl_msg *m)
{
	struct echo *e = sstp_ctrl_priv(c, struct echo);
	__be32 back;
	u32 number;

	memcpy(&back, m->data, sizeof(back));
	number = be32_to_cpu(back);
	if (m->kind != ECHO_BACK || m->len != sizeof(back) || number <= e->back || number > e->sent)
		e->late++;
	e->back = number;
	e->echoes++;
}

static void echo_get_info(const struct sstp_ctrl *c, s64 *state)
{
	const struct echo *e = (const struct echo *)c->priv;

	state[0] = e->sent;
	state[1] = e->echoes;
	state[2] = e->late;
	state[3] = e->timers;
	state[4] = e->half;
	state[5] = e->rate;
	state[6] = e->lost;
	state[7] = e->reports;
}

static void echo_recv(struct sstp_recv *r, const struct sstp_recv_sample *s)
{
	r->timer = s->now + ECHO_PERIOD;
	r->report[0]++;
}

static void echo_recv_message(struct sstp_recv *r, const struct sstp_recv_sample *s,
			      const struct sstp_ctrl_msg *m)
{
	r->msg = *m;
	r->msg.kind = ECHO_BACK;
}

static void echo_tick(struct sstp_group *g)
{
	struct sstp_group_member *m;

	g->tick = ECHO_PERIOD;
	list_for_each_entry(m, &g->members, list)
		m->rate = m->report[0] ? g->count * 1000000ULL : 0;
}

static struct sstp_ctrl_ops echo_ctrl = {
	.init		= echo_init,
	.on_ack		= echo_look,
	.on_timer	= echo_timer,
	.on_message	= echo_message,
	.recv_init	= echo_recv,
	.recv_timer	= echo_recv,
	.recv_message	= echo_recv_message,
	.group_tick	= echo_tick,
	.name		= "echo",
	.owner		= THIS_MODULE,
	.params		= { { "cwnd", 1, 10000 }, { "ack_interval", 1, 65535 },
			    { "ack_timer", 1000, 1000000 } },
	.state		= { "sent", "echoes", "late", "timers", "half", "rate", "lost", "reports" },
	.get_info	= echo_get_info,
	.group		= SSTP_GROUP_PEER,
};

static struct sstp_ctrl_ops echo_port_ctrl;	/* made of echo_ctrl */

static int __init echo_start(void)
{
	int err;

	echo_port_ctrl = echo_ctrl;
	strscpy(echo_port_ctrl.name, "echo-port", SSTP_NAME_MAX);
	echo_port_ctrl.group = SSTP_GROUP_PORT;
	err = sstp_register_ctrl(&echo_ctrl);
	if (err)
		return err;
	err = sstp_register_ctrl(&echo_port_ctrl);
	if (err)
		sstp_unregister_ctrl(&echo_ctrl);
	return err;
}
module_init(echo_start);

static void __exit echo_end(void)
{
	sstp_unregister_ctrl(&echo_port_ctrl);
	sstp_unregister_ctrl(&echo_ctrl);
}
module_exit(echo_end);

MODULE_DESCRIPTION("A controller of two halves, for tests of the segment streaming transport protocol");
MODULE_LICENSE("GPL");
