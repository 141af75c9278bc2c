// SPDX-License-Identifier: GPL-2.0
/*
 * A controller, "hostile", that leaves in each callback what its parameters say, for
 * connections that must live with it.
 */
#include <linux/module.h>
#include <net/sstp.h>

static unsigned int cwnd = SSTP_CWND_MAX;
module_param(cwnd, uint, 0644);
MODULE_PARM_DESC(cwnd, "congestion window, packets");

static unsigned long long period;
module_param(period, ullong, 0644);
MODULE_PARM_DESC(period, "ns between packets");

static bool senseless;
module_param(senseless, bool, 0444);
MODULE_PARM_DESC(senseless, "a callback was told what cannot be");

static void hostile_say(struct sstp_ctrl *c)
{
	c->cwnd = READ_ONCE(cwnd);
	c->period = READ_ONCE(period);
}

static void hostile_any(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s)
{
	if (!s->packet_size)
		WRITE_ONCE(senseless, true);
	hostile_say(c);
}

static void hostile_sent(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s, u32 packets)
{
	hostile_any(c, s);
}

static void hostile_received(struct sstp_ctrl *c, const struct sstp_ctrl_sample *s,
			     u32 packets, u32 gap)
{
	hostile_any(c, s);
}

static struct sstp_ctrl_ops hostile_ctrl = {
	.init		= hostile_any,
	.release	= hostile_say,
	.on_ack		= hostile_any,
	.on_loss	= hostile_any,
	.on_timeout	= hostile_any,
	.on_pkt_sent	= hostile_sent,
	.on_pkt_received = hostile_received,
	.name		= "hostile",
	.owner		= THIS_MODULE,
};

static int __init hostile_module_init(void)
{
	return sstp_register_ctrl(&hostile_ctrl);
}

static void __exit hostile_module_exit(void)
{
	sstp_unregister_ctrl(&hostile_ctrl);
}

module_init(hostile_module_init);
module_exit(hostile_module_exit);
MODULE_DESCRIPTION("A hostile controller, for tests of the segment streaming transport protocol");
MODULE_LICENSE("GPL");
