// SPDX-License-Identifier: GPL-2.0
/* Init and exit of the module and of network namespaces */
#include <linux/module.h>
#include <linux/random.h>
#include "af_sstp.h"
#include "bpf.h"
#include "clock.h"
#include "ctrl.h"
#include "encap.h"
#include "input.h"
#include "netns.h"
#include "nl_put.h"
#include "port.h"
#include "rbuf.h"
#include "sstp.h"
#include "sysctl.h"
#include "sysfs.h"
#include "table.h"
#include "timer.h"
#include "version.h"

static int __net_init sstp_net_init(struct net *net)
{
	struct sstp_net *sn = sstp_pernet(net);
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
	xa_destroy(&sstp_pernet(net)->all);
	kfree(sstp_pernet(net)->port_lock);
}

static struct pernet_operations sstp_net_ops = {
	.init = sstp_net_init,
	.pre_exit = sstp_net_pre_exit,
	.exit = sstp_net_exit,
	.id = &sstp_net_id,
	.size = sizeof(struct sstp_net),
};

#define SSTP_IN(part, group, member)	\
	CACHELINE_ASSERT_GROUP_MEMBER(struct sstp_##part, sstp_##part##_##group, member)
#define SSTP_SPAN(first, last, bytes)	\
	BUILD_BUG_ON(offsetofend(struct sstp_sock, last) -	\
		     offsetof(struct sstp_sock, first) > (bytes))

/* Check that the members which a sender uses for each train and each report are in the groups
 * that sstp.h describes, and that groups used together are beside each other.
 */
static void __init sstp_check_sender(void)
{
	SSTP_IN(rate, send, spec.peak);
	SSTP_IN(rate, send, log);
	SSTP_IN(rate, send, more);
	SSTP_SPAN(breaker, rate.more, 48);

	SSTP_IN(pmtud, setup, due);
	SSTP_IN(pmtud, setup, floor);
	SSTP_IN(pmtud, setup, mtu);
	SSTP_IN(pmtud, setup, ceiling);
	SSTP_IN(pmtud, setup, failed);
	SSTP_IN(pmtud, setup, probe);
	SSTP_IN(pmtud, setup, bh_all_lost);
	SSTP_IN(path, setup, pacing);
	SSTP_IN(path, setup, size);
	SSTP_IN(path, setup, mtu);
	SSTP_IN(path, setup, dst_cookie);
	SSTP_IN(path, setup, frame);
	SSTP_IN(path, setup, fresh);
	SSTP_IN(tx, report, eos);
	SSTP_IN(tx, report, unpaced);
	SSTP_IN(tx, report, lacks_mem);
	SSTP_IN(tx, report, queued);
	SSTP_IN(tx, report, asked_at);
	SSTP_IN(tx, report, unasked);
	SSTP_IN(tx, report, silent_since);
	SSTP_IN(tx, report, wanted_since);
	SSTP_IN(tx, send, open);
	SSTP_IN(tx, send, cork);
	SSTP_IN(tx, send, autocork);
	SSTP_IN(tx, send, bytes_written);
	SSTP_IN(tx, send, bytes_sent);
	SSTP_IN(tx, send, chrono);
	SSTP_IN(snd_wnd, send, ring);
	SSTP_IN(snd_wnd, send, low);
	SSTP_IN(snd_wnd, send, high);
	SSTP_IN(snd_wnd, send, next);
	SSTP_IN(snd_wnd, send, end);
	SSTP_IN(snd_wnd, send, again);
	SSTP_IN(snd_wnd, send, pending);
	SSTP_IN(snd_wnd, send, whole_end);
	SSTP_IN(snd_wnd, send, shipment);
	SSTP_IN(snd_wnd, send, credit);
	SSTP_IN(snd_wnd, send, vain);
	SSTP_SPAN(path.pmtud.due, snd.vain, 296);

	SSTP_IN(ctrl_core, report, ops);
	SSTP_IN(ctrl_core, report, flight_ship);
	SSTP_IN(ctrl_core, report, prr);
	SSTP_IN(ctrl_core, report, next);
	SSTP_SPAN(ctrl.ops, ctrl.out.ack_interval, 96);
	SSTP_IN(sampler, report, idle_at);
	SSTP_IN(sampler, report, newest);
	SSTP_IN(loss, report, highest);
	SSTP_IN(loss, report, late);
	SSTP_IN(loss, report, received);
	SSTP_IN(loss, report, delivered);
	SSTP_IN(loss, report, looks_at);
	SSTP_IN(loss, report, progress);
	SSTP_IN(loss, report, progress_packets);
	SSTP_IN(loss, report, prev_highest);
	SSTP_IN(loss, report, lost_reported);
	SSTP_IN(loss, report, rcv_ctl);
	SSTP_IN(loss, report, shipped_recent);
	SSTP_IN(stats, report, bytes_acked);
	SSTP_IN(stats, report, packets_lost);
	SSTP_IN(stats, report, acks_received);
	SSTP_IN(stats, report, delivery_rate);
	SSTP_IN(stats, send, packets_sent);
	SSTP_IN(stats, send, segments_sent);
	SSTP_SPAN(loss.sampler.idle_at, stats.segments_sent, 168);
}

/* The same for what a receiver uses for each train and each read */
static void __init sstp_check_receiver(void)
{
	SSTP_IN(stats, arrival, packets_received);
	SSTP_IN(stats, arrival, acks_sent);
	SSTP_IN(arrivals, arrival, highest);
	SSTP_IN(arrivals, arrival, leap);
	SSTP_IN(arrivals, arrival, received);
	SSTP_IN(arrivals, arrival, hi);
	SSTP_IN(arrivals, arrival, lost);
	SSTP_IN(arrivals, arrival, given);
	SSTP_IN(arrivals, arrival, settled);
	SSTP_IN(arrivals, arrival, out);
	SSTP_IN(arrivals, arrival, out_next);
	SSTP_IN(arrivals, arrival, has_cand);
	SSTP_IN(arrivals, arrival, unexplained);
	SSTP_IN(arrivals, arrival, doubted);
	SSTP_SPAN(stats.packets_received, arrivals.doubted, 72);

	SSTP_IN(acker, arrival, ack_now);
	SSTP_IN(acker, arrival, echo);
	SSTP_IN(acker, arrival, unacked);
	SSTP_IN(acker, arrival, snd_ctl);
	SSTP_IN(acker, arrival, snak_credit);
	SSTP_IN(acker, arrival, echo_at);
	SSTP_IN(acker, arrival, ack_sent);
	SSTP_IN(acker, arrival, pack_due);
	SSTP_IN(acker, arrival, arrival_at);
	SSTP_IN(acker, arrival, arrival_bytes);
	SSTP_IN(acker, read, bytes_received);
	SSTP_IN(acker, read, arrival_rate);
	SSTP_IN(acker, read, service_rate);
	SSTP_IN(acker, read, service_bytes);
	SSTP_IN(acker, read, advertised);
	SSTP_IN(acker, read, req_limit);
	SSTP_IN(rcv_wnd, arrival, chunk);
	SSTP_IN(rcv_wnd, arrival, bytes);
	SSTP_IN(rcv_wnd, arrival, read);
	SSTP_IN(rcv_wnd, arrival, low);
	SSTP_IN(rcv_wnd, arrival, high);
	SSTP_IN(rcv_wnd, arrival, top);
	SSTP_IN(rcv_wnd, arrival, tolerance);
	SSTP_IN(rcv_wnd, arrival, mean);
	SSTP_IN(rcv_wnd, arrival, payload);
	SSTP_IN(rcv_wnd, arrival, has_eos);
	SSTP_SPAN(acker.ack_now, rcv.has_eos, 160);

	SSTP_IN(rcvbuf, read, debt);
	SSTP_IN(rcvbuf, read, slots);
	SSTP_IN(rcvbuf, read, window);
	SSTP_IN(rcvbuf, read, reach);
	SSTP_IN(rcvbuf, read, granted_limit);
	SSTP_IN(rcvbuf, read, granted_next);
	SSTP_IN(rcvbuf, read, limit_peak);
	SSTP_IN(rcvbuf, read, peak);
	SSTP_IN(rcvbuf, read, full);
	SSTP_IN(rcvbuf, read, segments_received);
	SSTP_IN(rcvbuf, read, epoch_at);
	SSTP_IN(rcvbuf, read, wnd_at);
	SSTP_IN(rcvbuf, read, wnd_read);
	SSTP_IN(rcvbuf, read, wnd_exact);
	SSTP_IN(rcvbuf, read, member.pool);
	SSTP_IN(rbuf_core, read, in);
	SSTP_IN(rbuf_core, read, resting);
	SSTP_SPAN(rx, rcvbuf.policy.out.exact, 224);
}

/* The same for what every train and report uses; the compiler does all of this. */
static void __init sstp_check_lines(void)
{
	SSTP_IN(settings, setup, segment_size);
	SSTP_IN(settings, setup, segment_limit);
	SSTP_IN(settings, setup, window_factor);
	SSTP_IN(settings, setup, window_clamp);
	SSTP_IN(settings, setup, window_bytes);
	SSTP_IN(settings, setup, notsent_lowat);
	SSTP_IN(settings, setup, ttl);
	SSTP_IN(settings, setup, tos);
	SSTP_IN(settings, setup, nodelay);
	SSTP_IN(settings, setup, cork);
	SSTP_IN(settings, setup, quickack);
	SSTP_IN(ident, setup, sn);
	SSTP_IN(ident, setup, peer);
	SSTP_IN(ident, setup, saddr);
	SSTP_IN(ident, setup, cid);
	SSTP_IN(ident, setup, udp_port);
	SSTP_SPAN(set.segment_size, id.udp_port, 112);

	SSTP_IN(clock, any, at);
	SSTP_IN(clock, any, armed);
	SSTP_IN(hs, setup, peer_rate);
	SSTP_IN(hs, setup, stamp_base);
	SSTP_IN(hs, setup, segment_limit);
	SSTP_IN(hs, setup, rcv_isn);
	SSTP_IN(hs, setup, strategy);
	SSTP_SPAN(clock.at, hs.strategy, 176);

	sstp_check_sender();
	sstp_check_receiver();
}

/* The families come last: a socket needs all the rest. */
static int __init sstp_module_init(void)
{
	int err;

	sstp_check_lines();
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
	err = sstp_bpf_init();
	if (err)
		goto netlink;
	err = sstp_af_init();
	if (err)
		goto bpf;
	return 0;
bpf:
	sstp_bpf_exit();
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
	sstp_bpf_exit();
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

module_init(sstp_module_init);
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
