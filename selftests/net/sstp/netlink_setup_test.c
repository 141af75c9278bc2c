// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * Set-up ends while netlink changes the connection, in its backlog: a kernel that checks
 * locks finds nothing wrong with that.
 */
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nl.h"
#include "peer.h"

#define SETUPS		500
#define CHANGES		8	/* from one look to the next */
#define BURST		60000	/* packets: a contract that takes a while to make */
#define WAIT_MS		30000

/* The last connection that netlink told of */
struct seen {
	uint64_t cookie;
	uint8_t state;
	int count;
};

static void see(const struct nl_message *m, void *arg)
{
	struct seen *s = arg;

	s->cookie = nl_number(m, SSTP_A_CONN_COOKIE);
	s->state = nl_number(m, SSTP_A_CONN_STATE);
	s->count++;
}

static struct seen in_setup(struct nl *nl)
{
	struct nl_request r;
	struct seen s = {};

	nl_start(&r, nl, SSTP_CMD_CONN_GET, NLM_F_DUMP);
	nl_add_u32(&r, SSTP_A_CONN_STATES, 1U << TCP_SYN_RECV);
	must_be("dump", nl_talk(nl, &r, see, &s), 0);
	return s;
}

static int change(struct nl *nl, uint64_t cookie, uint64_t peak)
{
	struct nl_request r;
	size_t nest;

	nl_start(&r, nl, SSTP_CMD_CONN_SET, 0);
	nl_add_u64(&r, SSTP_A_CONN_COOKIE, cookie);
	nest = nl_nest(&r, SSTP_A_CONN_RATE);
	nl_add_u64(&r, SSTP_A_RATE_PEAK, peak);
	nl_add_u32(&r, SSTP_A_RATE_BURST_LEN, BURST);
	nl_nest_end(&r, nest);
	return nl_talk(nl, &r, NULL, NULL);
}

int main(void)
{
	const struct peer_init us = { .window = 1 };
	long changes = 0;
	struct peer p;
	struct seen s;
	struct nl nl;
	int i, k, l;

	new_namespace();
	/* The packet that completes set-up comes while the changes are made. */
	if (system("tc qdisc add dev lo root netem delay 1ms"))
		die("tc:");
	nl_open(&nl);
	ktap_plan(1);
	all_held = true;
	for (i = 0; i < SETUPS; i++) {
		l = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
		peer_half_open(&p, l, &us);
		s = in_setup(&nl);
		must_be("connections in set-up", s.count, 1);
		peer_keepalive(&p, 0);
		do
			for (k = 0; k < CHANGES; k++, changes++)
				must_be("change", change(&nl, s.cookie,
							 1000000 + changes % 2 * 8000), 0);
		while (all_held && in_setup(&nl).count);
		close(l);
		close(p.udp);
		must(sstp_sockets_end(WAIT_MS), "sockets are gone");
	}
	ktap_diag("%ld changes in %d set-ups", changes, SETUPS);
	ktap_held("changes of a connection in set-up");
	nl_close(&nl);
	return ktap_end();
}
