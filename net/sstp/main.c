// SPDX-License-Identifier: GPL-2.0
/* Init and exit of the module and of network namespaces */
#include <linux/module.h>
#include <linux/random.h>
#include "af_sstp.h"
#include "clock.h"
#include "ctrl.h"
#include "encap.h"
#include "input.h"
#include "netns.h"
#include "nl_put.h"
#include "port.h"
#include "rbuf.h"
#include "sysctl.h"
#include "sysfs.h"
#include "table.h"
#include "timer.h"
#include "version.h"

static int __net_init sstp_net_init(struct net *net)
{
	struct sstp_net *sn = sstp_net(net);
	int err, i;

	mutex_init(&sn->encap_lock);
	xa_init_flags(&sn->encaps, XA_FLAGS_LOCK_BH);
	xa_init_flags(&sn->all, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	get_random_bytes(&sn->secret, sizeof(sn->secret));
	sn->port_lock = kmalloc_array(SSTP_PORT_LOCKS, sizeof(*sn->port_lock), GFP_KERNEL);
	if (!sn->port_lock)
		return -ENOMEM;
	for (i = 0; i < SSTP_PORT_LOCKS; i++)
		spin_lock_init(&sn->port_lock[i]);
	err = sstp_mib_init(net);
	if (err)
		goto free;
	err = sstp_sysctl_init(net);
	if (err)
		goto mib;
	return 0;
mib:
	sstp_mib_exit(net);
free:
	kfree(sn->port_lock);
	return err;
}

/* No SSTP socket is left. If only the module goes, UDP may pass packets up for another RCU grace
 * period, and .exit is called after one.
 */
static void __net_exit sstp_net_pre_exit(struct net *net)
{
	sstp_sysctl_exit(net);
	sstp_encap_close(net);
}

static void __net_exit sstp_net_exit(struct net *net)
{
	sstp_mib_exit(net);
	xa_destroy(&sstp_net(net)->all);
	kfree(sstp_net(net)->port_lock);
}

static struct pernet_operations sstp_net_ops = {
	.init = sstp_net_init,
	.pre_exit = sstp_net_pre_exit,
	.exit = sstp_net_exit,
	.id = &sstp_net_id,
	.size = sizeof(struct sstp_net),
};

/* The families come last: a socket needs all the rest. */
static int __init sstp_init(void)
{
	int err;

	sstp_clock_setup(sstp_timer_expired);
	err = sstp_ctrl_init();
	if (err)
		return err;
	err = sstp_sysfs_init();
	if (err)
		goto ctrl;
	err = sstp_rbuf_init();
	if (err)
		goto sysfs;
	err = sstp_table_init();
	if (err)
		goto rbuf;
	err = sstp_port_init();
	if (err)
		goto conn;
	err = register_pernet_subsys(&sstp_net_ops);
	if (err)
		goto port;
	err = sstp_encap_init(&sstp_input_ops);
	if (err)
		goto pernet;
	err = sstp_nl_init(sstp_nl_ops, ARRAY_SIZE(sstp_nl_ops));
	if (err)
		goto encap;
	err = sstp_af_init();
	if (err)
		goto netlink;
	return 0;
netlink:
	sstp_nl_exit();
encap:
	sstp_encap_exit();
pernet:
	unregister_pernet_subsys(&sstp_net_ops);
port:
	sstp_port_exit();
conn:
	sstp_table_exit();
rbuf:
	sstp_rbuf_exit();
sysfs:
	sstp_sysfs_exit();
ctrl:
	sstp_ctrl_exit();
	return err;
}

static void __exit sstp_exit(void)
{
	sstp_af_exit();
	sstp_nl_exit();
	sstp_encap_exit();
	unregister_pernet_subsys(&sstp_net_ops);
	/* Wait for sockets, which are freed after a grace period. */
	rcu_barrier();
	sstp_port_exit();
	sstp_table_exit();
	sstp_rbuf_exit();
	sstp_sysfs_exit();
	sstp_ctrl_exit();
}

module_init(sstp_init);
module_exit(sstp_exit);
MODULE_DESCRIPTION("Segment streaming transport protocol");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_SSTP);
/* IPPROTO_SSTP, and SOCK_STREAM or SOCK_SEQPACKET */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 260, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 260, 5);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 260, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 260, 5);
MODULE_VERSION(SSTP_RELEASE);
