// SPDX-License-Identifier: GPL-2.0
/*
 * What the path does in a case of the chaos test. Packets are delayed as they leave a
 * host (and there change their order); in the router is the line: its rate, its queue,
 * and what it does to packets. All is told by rtnetlink, as a program for each
 * change would take most of the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "chaos.h"
#include "path.h"

#define MS		1000000ULL
#define ALL		0xffffffffU	/* a probability of 1 */
#define NEVER		UINT64_MAX
#define PRNG_SEED	14		/* TCA_NETEM_PRNG_SEED, of Linux 6.6 */

struct request {
	struct nlmsghdr n;
	union {
		struct tcmsg tc;
		struct ifinfomsg link;
	};
	char attrs[512];
};

static int rtnl[3];		/* a socket at each host */
static int first_ns = -1;	/* where net.sstp.mem is */
static bool fresh;		/* no case has changed an MTU of this path, nor will */

static void add(struct request *r, int type, const void *data, size_t len)
{
	struct rtattr *a = (void *)((char *)r + NLMSG_ALIGN(r->n.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	r->n.nlmsg_len = NLMSG_ALIGN(r->n.nlmsg_len) + RTA_ALIGN(a->rta_len);
}

static void tell(int host, struct request *r, const char *what)
{
	char buf[1024];
	struct nlmsghdr *n = (void *)buf;
	struct nlmsgerr *e = NLMSG_DATA(n);

	r->n.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(rtnl[host], r, r->n.nlmsg_len, 0) < 0 ||
	    recv(rtnl[host], buf, sizeof(buf), 0) < (ssize_t)NLMSG_LENGTH(sizeof(*e)))
		die("rtnetlink:");
	errno = -e->error;
	if (errno)
		die("%s:", what);
}

static int dev_index(int host, const char *dev)
{
	int index;

	path_enter(host);
	index = if_nametoindex(dev);
	if (!index)
		die("%s:", dev);
	return index;
}

struct netem {
	uint64_t delay, jitter, rate;	/* ns, ns, bit/s */
	struct tc_netem_qopt q;
	struct tc_netem_reorder order;
	struct tc_netem_corrupt corrupt;
	struct tc_netem_gemodel burst;
	uint64_t seed;
	uint32_t ecn;			/* mark packets with ECT in place of losing them */
};

/* 0.000001 as netem has it */
static uint32_t share(uint64_t million)
{
	return million >= 1000000 ? ALL : million * (ALL / 1000000.0);
}

static void netem(int host, const char *dev, const struct netem *m, bool change)
{
	struct request r = {
		.n.nlmsg_len = NLMSG_LENGTH(sizeof(struct tcmsg)),
		.n.nlmsg_type = RTM_NEWQDISC,
		.n.nlmsg_flags = change ? 0 : NLM_F_CREATE | NLM_F_REPLACE,
		.tc.tcm_parent = TC_H_ROOT,
	};
	struct tc_netem_rate rate = { .rate = m->rate / 8 };
	struct rtattr *options, *loss;
	size_t at, in;

	r.tc.tcm_ifindex = dev_index(host, dev);
	add(&r, TCA_KIND, "netem", sizeof("netem"));
	at = NLMSG_ALIGN(r.n.nlmsg_len);
	options = (void *)((char *)&r + at);
	add(&r, TCA_OPTIONS, &m->q, sizeof(m->q));
	add(&r, TCA_NETEM_LATENCY64, &m->delay, sizeof(m->delay));
	add(&r, TCA_NETEM_JITTER64, &m->jitter, sizeof(m->jitter));
	if (m->order.probability)
		add(&r, TCA_NETEM_REORDER, &m->order, sizeof(m->order));
	if (m->corrupt.probability)
		add(&r, TCA_NETEM_CORRUPT, &m->corrupt, sizeof(m->corrupt));
	if (m->ecn)
		add(&r, TCA_NETEM_ECN, &m->ecn, sizeof(m->ecn));
	if (m->rate)
		add(&r, TCA_NETEM_RATE, &rate, sizeof(rate));
	if (m->burst.p) {
		in = NLMSG_ALIGN(r.n.nlmsg_len);
		loss = (void *)((char *)&r + in);
		add(&r, TCA_NETEM_LOSS | NLA_F_NESTED, NULL, 0);
		add(&r, NETEM_LOSS_GE, &m->burst, sizeof(m->burst));
		loss->rta_len = r.n.nlmsg_len - in;
	}
	add(&r, PRNG_SEED, &m->seed, sizeof(m->seed));
	options->rta_len = r.n.nlmsg_len - at;
	tell(host, &r, "netem");
}

static void set_mtu(int host, const char *dev, uint32_t mtu)
{
	struct request r = {
		.n.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
		.n.nlmsg_type = RTM_NEWLINK,
	};

	r.link.ifi_index = dev_index(host, dev);
	add(&r, IFLA_MTU, &mtu, sizeof(mtu));
	tell(host, &r, "MTU");
}

/* Set the delay of packets that leave a host. */
static void set_delay(const struct chaos *c, int host)
{
	const uint64_t *v = c->v;
	bool all = host == A || !v[ONEWAY];
	struct netem m = {
		.q.limit = 100000,
		.delay = v[RTT] * 1000 / 2,
		.jitter = all ? v[JITTER] * 1000 : 0,
		.seed = mix64(v[SEED] + host),
	};

	if (all && v[REORDER]) {
		m.order.probability = share(v[REORDER]);
		m.q.gap = v[GAP] ?: 1;
	}
	netem(host, "to-r", &m, false);
}

/* The line toward a host */
static void set_line(const struct chaos *c, int host, bool out, bool change)
{
	const uint64_t *v = c->v;
	struct netem m = {
		.q.limit = v[QUEUE],
		.rate = v[RATE],
		.seed = mix64(v[SEED] + 10 + host),
	};

	if (host == B || !v[ONEWAY]) {
		m.q.loss = share(v[LOSS]);
		m.q.duplicate = share(v[DUP]);
		m.corrupt.probability = share(v[CORRUPT]);
		if (v[BAD]) {
			m.burst.p = share(v[BAD]);
			m.burst.r = share(v[GOOD]);	/* h = 0: all is lost */
		}
	}
	m.ecn = v[ECN];
	if (out) {
		m.q.loss = ALL;
		m.burst.p = 0;
		m.ecn = 0;
	}
	netem(R, host == A ? "to-a" : "to-b", &m, change);
}

static void neighbours(int host, const char *dev, int other, const char *peer_dev,
		       const char *v4, const char *v6)
{
	char file[64], mac[32] = "";
	FILE *f;

	path_enter(other);
	snprintf(file, sizeof(file), "ip -br link show %s", peer_dev);
	f = popen(file, "r");
	if (!f || fscanf(f, "%*s %*s %31s", mac) != 1 || pclose(f))
		die("%s has no address", peer_dev);
	path_run(host, "ip neigh replace %s lladdr %s dev %s nud permanent", v4, mac, dev);
	path_run(host, "ip neigh replace %s lladdr %s dev %s nud permanent", v6, mac, dev);
}

void chaos_net_make(void)
{
	int i;

	if (first_ns < 0)
		first_ns = open("/proc/self/ns/net", O_RDONLY);
	path_make();
	neighbours(A, "to-r", R, "to-a", "10.0.1.2", "fd00:10:0:1::2");
	neighbours(R, "to-a", A, "to-r", "10.0.1.1", "fd00:10:0:1::1");
	neighbours(R, "to-b", B, "to-r", "10.0.2.2", "fd00:10:0:2::2");
	neighbours(B, "to-r", R, "to-b", "10.0.2.1", "fd00:10:0:2::1");
	for (i = A; i <= B; i++) {
		path_enter(i);
		if (rtnl[i] > 0)
			close(rtnl[i]);
		rtnl[i] = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
		if (rtnl[i] < 0)
			die("rtnetlink:");
	}
	fresh = true;
}

static void set_memory(int host, const char *name, uint64_t most, const char *plain)
{
	char file[64];

	path_enter(host);
	snprintf(file, sizeof(file), "/proc/sys/net/sstp/%s", name);
	if (most)
		file_put(file, "%llu %llu %llu", most < 65536 ? most : 65536ULL,
			 (unsigned long long)most, (unsigned long long)most);
	else
		file_put(file, "%s", plain);
}

void chaos_net_mem(const struct chaos *c)
{
	static char plain[64];
	uint64_t n = c->v[MEM];
	int host, fd;
	ssize_t len;

	for (host = A; host <= B; host += B - A) {
		set_memory(host, "rmem", c->v[RMEM], "65536 4194304 268435456");
		set_memory(host, "wmem", c->v[WMEM], "65536 1048576 268435456");
		file_put("/proc/sys/net/sstp/ecn", "%u", (unsigned int)c->v[ECN]);
	}
	if (setns(first_ns, CLONE_NEWNET))
		die("setns:");
	if (!*plain) {
		fd = open("/proc/sys/net/sstp/mem", O_RDONLY);
		len = read(fd, plain, sizeof(plain) - 1);
		if (len <= 0)
			die("net.sstp.mem:");
		close(fd);
	}
	if (n)
		file_put("/proc/sys/net/sstp/mem", "%llu %llu %llu",
			 (unsigned long long)n / 2, (unsigned long long)n * 3 / 4,
			 (unsigned long long)n);
	else
		file_put("/proc/sys/net/sstp/mem", "%s", plain);
}

void chaos_net_start(const struct chaos *c)
{
	const uint64_t *v = c->v;

	if (!fresh)
		chaos_net_make();
	fresh = v[MTU] == 1500 && !v[MTUAT];
	if (v[MTU] != 1500) {
		set_mtu(A, "to-r", v[MTU]);
		set_mtu(R, "to-a", v[MTU]);
		set_mtu(R, "to-b", v[MTU]);
		set_mtu(B, "to-r", v[MTU]);
	}
	set_delay(c, A);
	set_delay(c, B);
	set_line(c, A, false, false);
	set_line(c, B, false, false);
}

uint64_t chaos_net_event(const struct chaos *c, uint64_t ns)
{
	static uint64_t done;		/* of this process, which runs one case */
	const uint64_t *v = c->v;
	const struct {
		bool due;
		uint64_t at;
	} events[] = {
		{ v[OUTAGE], v[OUTAGE] * MS },
		{ v[OUTAGE], (v[OUTAGE] + v[OUTLEN]) * MS },
		{ v[MTUAT], v[MTUAT] * MS },
		{ v[MTUAT] && v[MTULEN], (v[MTUAT] + v[MTULEN]) * MS },
	};
	uint64_t next = NEVER;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!events[i].due || done & 1 << i)
			continue;
		if (events[i].at > ns) {
			next = events[i].at < next ? events[i].at : next;
			continue;
		}
		done |= 1 << i;
		if (i < 2) {
			set_line(c, A, !i, true);
			set_line(c, B, !i, true);
		} else {
			if (!v[BLIND])
				set_mtu(R, "to-b", i == 2 ? v[MTUTO] : v[MTU]);
			set_mtu(B, "to-r", i == 2 ? v[MTUTO] : v[MTU]);
		}
	}
	return next;
}

void chaos_net_heal(const struct chaos *c)
{
	set_line(c, A, false, true);
	set_line(c, B, false, true);
}

void chaos_net_remake(void)
{
	fresh = false;
}
