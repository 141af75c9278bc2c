// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 120
 * quick: yes
 *
 * Marks, with a peer made by hand: those of its packets are reported to it if it agreed to that,
 * and only then; and what it reports of the kernel's packets is checked.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

#define LEN		1000	/* bytes of a segment, in one packet */
#define WAIT_MS		20000

enum { NOT_ECT, ECT_1, ECT_0, CE };	/* ECN field of the IP header */

static struct peer p;

static void begin(const struct peer_init *init)
{
	int listener = socket(AF_SSTP, SOCK_STREAM, 0);

	if (listener < 0 || listen(listener, 10))
		die("listener:");
	peer_open(&p, listener, init);
}

static void end(void)
{
	peer_must_be_right(&p);
	peer_close(&p);
}

static bool four_acked(const struct peer *q)
{
	return q->ack == 4;
}

static bool one_came(const struct peer *q)
{
	return q->came & 1;
}

static bool counted(void *arg)
{
	return sstp_counter(arg) > 0;
}

static void send_marked(uint32_t segment, int ecn)
{
	if (setsockopt(p.udp, IPPROTO_IP, IP_TOS, &ecn, sizeof(ecn)))
		die("IP_TOS:");
	peer_data(&p, segment, 0, LEN, LEN, LAST | ACK);
}

static void test_reported(bool agreed)
{
	static const int field[] = { ECT_0, CE, CE, NOT_ECT };
	long was = sstp_counter("InEcnMarked");
	uint32_t i;

	begin(&(struct peer_init){ .window = 10, .ecn = agreed });
	for (i = 0; i < 4; i++)
		send_marked(i, field[i]);
	ktap_result(peer_await(&p, WAIT_MS, four_acked), "packets are acknowledged");
	must_be("InEcnMarked", sstp_counter("InEcnMarked") - was, 2);
	must_be("reported with ECT(0)", p.ect, agreed ? 1 : 0);
	must_be("reported with CE", p.ce, agreed ? 2 : 0);
	end();
	ktap_held(agreed ? "marks are reported" : "without an agreement they are not");
}

/* The kernel sends a packet with ECT(0), and the peer reports it so. */
static void test_report(const char *what, bool ecn, uint32_t ect, uint32_t ce, const char *name)
{
	char buf[LEN];

	begin(&(struct peer_init){ .window = 10, .ecn = true });
	content_fill(buf, sizeof(buf), p.seed, 0);
	if (send(p.fd, buf, sizeof(buf), MSG_NOSIGNAL) != sizeof(buf))
		die("send:");
	if (!peer_await(&p, WAIT_MS, one_came))
		die("no data");
	must_be(name, sstp_counter(name), 0);
	p.our_received = 1;
	p.our_ect = ect;
	p.our_ce = ce;
	peer_pack(&p, 1, 10, ecn ? ECN : 0, 0);
	ktap_result(busywait(WAIT_MS, counted, (void *)name), "%s: %s", what, name);
	end();
	ktap_held("nothing else");
}

int main(void)
{
	ktap_plan(10);
	new_namespace();
	peer_may_vanish();
	test_reported(true);
	test_reported(false);
	file_put("/proc/sys/net/sstp/ecn", "1");
	test_report("a mark", true, 0, 1, "EcnMarked");
	test_report("a packet without ECT", false, 0, 0, "EcnBleached");
	test_report("more marks than packets", true, 2, 0, "EcnInvalid");
	return ktap_end();
}
