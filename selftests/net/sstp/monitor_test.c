// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 120
 * quick: yes
 *
 * SSTP_MONITOR: counters since the set-up and since the last read against what the test sent and
 * read itself, also of losses and duplicates that the test makes; rates; lengths and errors; and
 * who ends the interval.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"
#include "conns.h"	/* its SEGMENT is a size, not the flag of peer.h */

#define BAD_POINTER	((void *)8)
#define MILLION		1000000

static struct sstp_monitor monitor(int fd)
{
	struct sstp_monitor m;
	socklen_t len = sizeof(m);

	memset(&m, 0x55, sizeof(m));
	if (getsockopt(fd, SOL_SSTP, SSTP_MONITOR, &m, &len))
		die("SSTP_MONITOR:");
	must_be("length", len, sizeof(m));
	return m;
}

/* A field of a counter is at an even place among numbers of 64 bits. */
#define COUNTERS	(offsetof(struct sstp_monitor, send_rate) / sizeof(struct sstp_count))

static const struct sstp_count *counters(const struct sstp_monitor *m)
{
	return (const void *)m;
}

/* No counter but the age has risen. */
static void must_rest(const char *what, const struct sstp_monitor *m)
{
	size_t i;

	for (i = 1; i < COUNTERS; i++)
		must_be(what, counters(m)[i].recent, 0);
	must(!m->send_rate && !m->receive_rate && !m->loss_rate, what);
}

/* Rates are those of the interval's counters. */
static void must_be_rates(const struct sstp_monitor *m)
{
	uint64_t us = m->age.recent;

	must_be("send rate", m->send_rate, us ? m->bytes_sent.recent * 8 * MILLION / us : 0);
	must_be("receive rate", m->receive_rate,
		us ? m->bytes_received.recent * 8 * MILLION / us : 0);
}

static bool all_acked(void *fd)
{
	return !sock_info(*(int *)fd).snd_unacked;
}

static void test_counts(void)
{
	static const uint64_t pieces[] = { 1, 40, 7 };
	uint64_t bytes = 0, packets = 0, acks = 0, age = 0, before, after;
	struct sstp_monitor tx, rx;
	uint64_t least;
	struct conn c;
	size_t i, each;

	before = now_ns();
	conn_open(&c, AF_INET, SOCK_SEQPACKET);
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		conn_move(&c, pieces[i] * SEGMENT);
		must(busywait(WAIT_MS, all_acked, &c.tx), "all is acknowledged");
		least = sock_info(c.tx).acks_received;
		tx = monitor(c.tx);
		rx = monitor(c.rx);
		after = now_ns();
		each = (SEGMENT + tx.packet_size - 1) / tx.packet_size;
		bytes += pieces[i] * SEGMENT;
		packets += pieces[i] * each;
		must_be("bytes sent", tx.bytes_sent.recent, pieces[i] * SEGMENT);
		must_be("in all", tx.bytes_sent.total, bytes);
		must_be("acknowledged", tx.bytes_acked.recent, pieces[i] * SEGMENT);
		must_be("in all", tx.bytes_acked.total, bytes);
		must_be("received", rx.bytes_received.recent, pieces[i] * SEGMENT);
		must_be("in all", rx.bytes_received.total, bytes);
		must_be("packets sent", tx.packets_sent.recent, pieces[i] * each);
		must_be("in all", tx.packets_sent.total, packets);
		must_be("packets received", rx.packets_received.recent, pieces[i] * each);
		must_be("in all", rx.packets_received.total, packets);
		/* MTU probes are answered by PACKs at any time. */
		acks += tx.acks_received.recent;
		must_be("PACKs in all", tx.acks_received.total, acks);
		must(tx.acks_received.recent >= 1 && acks >= least &&
		     acks <= sock_info(c.rx).acks_sent, "as many as were sent");
		must_be("lost, again, twice, asked for", tx.packets_lost.total +
			tx.packets_retrans.total + rx.packets_duplicate.total +
			tx.snaks_received.total + rx.snaks_sent.total +
			tx.bytes_retrans.total + rx.packets_discarded.total, 0);
		must_be("the other way", tx.bytes_received.total + rx.bytes_sent.total +
			tx.packets_received.total + rx.packets_sent.total, 0);
		must_be_rates(&tx);
		must_be_rates(&rx);
		must(tx.age.recent <= (after - before) / 1000 + 1, "the interval is no longer");
		age += tx.age.recent;
		must_be("intervals adjoin", tx.age.total, age);
		/* Two reads in a row */
		tx = monitor(c.tx);
		acks += tx.acks_received.recent;
		tx.acks_received.recent = 0;
		must_rest("nothing since", &tx);
		must_be("in all", tx.bytes_sent.total, bytes);
		age += tx.age.recent;
		must_be("intervals adjoin", tx.age.total, age);
		before = after;
	}
	conn_close(&c);
	ktap_held("counters are exact, in all and since the last read");
}

/* The state is that of SSTP_INFO. */
static bool agrees(void *arg)
{
	int fd = *(int *)arg;
	struct sstp_info i = sock_info(fd);
	struct sstp_monitor m = monitor(fd);
	struct sstp_info then = sock_info(fd);

	if (i.rtt != then.rtt || i.acks_received != then.acks_received ||
	    i.arrival_rate != then.arrival_rate || i.service_rate != then.service_rate)
		return false;
#define SAME(field)	must_be(#field, m.field, i.field)
	SAME(acked_rate);
	SAME(delivery_rate);
	SAME(arrival_rate);
	SAME(service_rate);
	SAME(period);
	SAME(app_limited);
	SAME(rtt);
	SAME(rttvar);
	SAME(rtt_min);
	SAME(rto);
	SAME(cwnd);
	SAME(in_flight);
	SAME(snd_window);
	SAME(mtu);
	SAME(packet_size);
	SAME(snd_unacked);
#undef SAME
	return true;
}

static void test_state(void)
{
	struct sstp_monitor m;
	struct conn c;

	conn_open(&c, AF_INET, SOCK_STREAM);
	conn_move(&c, 100 * SEGMENT);
	must(busywait(WAIT_MS, all_acked, &c.tx), "the last report comes");
	must(busywait(WAIT_MS, agrees, &c.tx), "it stands still");
	must(busywait(WAIT_MS, agrees, &c.rx), "so does the receiver");
	m = monitor(c.tx);
	must_be("all is acknowledged", m.snd_unacked, 0);
	must(m.rtt && m.rtt_min && m.rtt_min <= m.rtt, "a round-trip time");
	must(m.rto > m.rtt, "a time-out");
	must(m.acked_rate > 0, "a delivery rate");
	must(m.cwnd >= 2 && m.packet_size && m.packet_size < m.mtu, "window and packet");
	must(m.snd_window > 0, "a window of the peer");
	conn_close(&c);
	ktap_held("the present state is that of SSTP_INFO");
}

static bool first_came(const struct peer *p)
{
	return p->came == 3;
}

static bool again_came(const struct peer *p)
{
	return p->came_again == 1;
}

static bool ten_came(const struct peer *p)
{
	return p->came == 0x3ff;
}

static bool ten_again(const struct peer *p)
{
	return p->came_again == 0x3ff;
}

static bool heard_all(void *arg)
{
	const struct peer *p = arg;
	struct sstp_info i = sock_info(p->fd);

	return i.acks_received + i.snaks_received == p->control;
}

static void test_sender(void)
{
	static char buf[1000];
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 16 };
	struct sstp_monitor m;
	struct peer p;
	int i;

	peer_open(&p, l, &us);
	monitor(p.fd);
	/* The first will be lost, also for reports that the peer makes before it says so. */
	p.our_received = 1;
	for (i = 0; i < 2; i++) {
		content_fill(buf, sizeof(buf), p.seed + i, 0);
		must_be("send", send(p.fd, buf, sizeof(buf), 0), sizeof(buf));
	}
	must(peer_await(&p, WAIT_MS, first_came), "both come");
	peer_snak(&p, 0, 15, 1);
	must(peer_await(&p, WAIT_MS, again_came), "it comes again");
	p.our_received = 2;
	peer_pack(&p, 2, 17, 0, 0);
	must(busywait(WAIT_MS, heard_all, &p), "the reports came");
	m = monitor(p.fd);
	must_be("packets sent", m.packets_sent.recent, 3);
	must_be("again", m.packets_retrans.recent, 1);
	must_be("lost", m.packets_lost.recent, 1);
	must_be("loss rate", m.loss_rate, 333333);
	must_be("bytes sent", m.bytes_sent.recent, 2 * sizeof(buf));
	must_be("bytes again", m.bytes_retrans.recent, sizeof(buf));
	must_be("bytes acknowledged", m.bytes_acked.recent, 2 * sizeof(buf));
	must_be("SNAKs", m.snaks_received.recent, 1);
	must_be("PACKs", m.acks_received.total, p.control - 1);
	must_be("the peer's window", m.snd_window, 16);
	m = monitor(p.fd);
	must_rest("nothing since", &m);
	must_be("lost in all", m.packets_lost.total, 1);
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_held("losses that the peer reports");
}

/* The peer reports so much that the sums of lost packets pass 2^31: losses still count. */
static void test_wrap(void)
{
	static const uint32_t received[] = { 1U << 30, (1U << 31) - 3, (1U << 31) + 3 };
	static char buf[1000];
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 16 };
	struct peer p;
	unsigned int i;

	peer_open(&p, l, &us);
	monitor(p.fd);
	for (i = 0; i < 3; i++) {
		p.our_received = received[i];
		peer_pack(&p, 0, 15, 0, 0);
		must(busywait(WAIT_MS, heard_all, &p), "the report came");
	}
	for (i = 0; i < 10; i++) {
		content_fill(buf, sizeof(buf), p.seed + i, 0);
		must_be("send", send(p.fd, buf, sizeof(buf), 0), sizeof(buf));
	}
	must(peer_await(&p, WAIT_MS, ten_came), "all come");
	peer_snak(&p, 0, 15, 0x3ff);
	must(busywait(WAIT_MS, heard_all, &p), "the SNAK came");
	must_be("lost", monitor(p.fd).packets_lost.recent, 10);
	must(peer_await(&p, WAIT_MS, ten_again), "all come again");
	p.our_received += 10;
	peer_pack(&p, 10, 25, 0, 0);
	must(busywait(WAIT_MS, heard_all, &p), "the last report came");
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_held("losses after 2^31 of them");
}

static struct sstp_monitor seen;
static uint64_t packets_wanted;

static bool all_counted(void *arg)
{
	seen = monitor(((struct peer *)arg)->fd);
	return seen.packets_received.total == packets_wanted;
}

static bool all_came_back(const struct peer *p)
{
	struct sstp_monitor m = monitor(p->fd);

	return m.acks_sent.total == p->packs && m.snaks_sent.total == p->snaks;
}

static bool asked_and_packed(const struct peer *p)
{
	return p->asked == 2 && p->packs;
}

static void test_receiver(void)
{
	int l = proto_socket(PROTO_SSTP, AF_INET, SOCK_SEQPACKET, 0);
	struct peer_init us = { .window = 1, .segment = 1000 };
	struct peer p;

	peer_open(&p, l, &us);
	peer_data(&p, 0, 0, 1000, 1000, LAST | ACK);
	p.shipment++;			/* segment 1 is lost */
	peer_data(&p, 2, 0, 700, 700, LAST | ACK);
	must(peer_await(&p, WAIT_MS, asked_and_packed), "it is asked for");
	/* Segment 0 once more */
	peer_data(&p, 0, 0, 1000, 1000, LAST | AGAIN | ACK);
	packets_wanted = 3;
	must(busywait(WAIT_MS, all_counted, &p), "the packets came");
	must_be("duplicates", seen.packets_duplicate.total, 1);
	must_be("bytes", seen.bytes_received.total, 1700);
	must(peer_await(&p, WAIT_MS, all_came_back), "PACKs and SNAKs are those that came");
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_held("duplicates, and requests to the peer");
}

static int read_monitor(int fd, void *to, socklen_t *len)
{
	return getsockopt(fd, SOL_SSTP, SSTP_MONITOR, to, len) ? -errno : 0;
}

static void test_lengths(void)
{
	struct {
		struct sstp_monitor m;
		unsigned char more[64];
	} b;
	struct sstp_monitor old;
	struct conn c;
	socklen_t len;
	size_t i, cut;

	conn_open(&c, AF_INET, SOCK_STREAM);
	conn_move(&c, SEGMENT);
	memset(&b, 0x55, sizeof(b));
	len = sizeof(b);
	must_be("more room than needed", read_monitor(c.tx, &b, &len), 0);
	must_be("its length", len, sizeof(b.m));
	for (i = 0; i < sizeof(b.more); i++)
		must_be("no more written", b.more[i], 0x55);
	must_be("sent", b.m.bytes_sent.recent, SEGMENT);
	/* A program made for a shorter one */
	for (cut = 0; cut < sizeof(b.m); cut += cut < 16 ? 1 : 8) {
		memset(&b, 0x55, sizeof(b));
		memset(&old, 0x55, sizeof(old));
		len = cut;
		must_be("less room", read_monitor(c.tx, &b, &len), 0);
		must_be("its length", len, cut);
		must(!memcmp((char *)&b + cut, &old, sizeof(old) - cut), "no more written");
	}

	/* What fails ends no interval. */
	monitor(c.tx);
	conn_move(&c, SEGMENT);
	len = -1;
	must_be("a negative length", read_monitor(c.tx, &b, &len), -EINVAL);
	len = sizeof(b);
	must_be("a bad pointer", read_monitor(c.tx, BAD_POINTER, &len), -EFAULT);
	must_be("a bad length", read_monitor(c.tx, &b, BAD_POINTER), -EFAULT);
	must_be("to set it", setsockopt(c.tx, SOL_SSTP, SSTP_MONITOR, &b, sizeof(b)) ? -errno : 0,
		-ENOPROTOOPT);
	must_be("as an option of TCP", getsockopt(c.tx, SOL_TCP, SSTP_MONITOR, &b, &len) ?
		-errno : 0, getsockopt(c.tx, SOL_TCP, 99, &b, &len) ? -errno : 0);
	must_be("sent since", monitor(c.tx).bytes_sent.recent, SEGMENT);
	/* A read of no bytes is one. */
	conn_move(&c, SEGMENT);
	len = 0;
	must_be("no room", read_monitor(c.tx, NULL, &len), 0);
	must_be("nothing sent since", monitor(c.tx).bytes_sent.recent, 0);
	conn_close(&c);
	ktap_held("lengths and errors");
}

/* What others read does not end the interval, and each end has its own. */
static void test_others(void)
{
	static struct seen s;
	struct conn c;
	int i;

	conn_open(&c, AF_INET, SOCK_STREAM);
	conn_move(&c, 3 * SEGMENT);
	for (i = 0; i < 3; i++) {
		get(c.tx);
		must(dump(ARGS(), &s) >= 3, "a dump");
		sock_info(c.tx);
		monitor(c.rx);
	}
	must_be("sent", monitor(c.tx).bytes_sent.recent, 3 * SEGMENT);
	conn_close(&c);
	ktap_held("nobody else ends the interval");
}

static void must_be_nothing(const char *what, int fd)
{
	struct sstp_monitor m = monitor(fd);
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		must(!counters(&m)[i].total && !counters(&m)[i].recent, what);
	must(!m.send_rate && !m.receive_rate && !m.loss_rate, what);
}

static bool is_closed(void *fd)
{
	return sock_info(*(int *)fd).state == TCP_CLOSE;
}

static void test_ended(void)
{
	const union addr nowhere = { .v4.sin_family = AF_UNSPEC };
	struct sstp_monitor m;
	struct conn c;
	int fd;

	conn_open(&c, AF_INET, SOCK_STREAM);
	conn_move(&c, SEGMENT);
	must_be_nothing("a listener", c.listener);
	/* The listener's interval is no child's. */
	close(c.tx);
	close(c.rx);
	conn_connect(&c, AF_INET, SOCK_STREAM);
	conn_move(&c, 2 * SEGMENT);
	must_be("a child", monitor(c.rx).bytes_received.recent, 2 * SEGMENT);

	monitor(c.tx);
	conn_move(&c, SEGMENT);
	/* Unread data: the peer gets a reset. */
	must_be("send", send(c.tx, "x", 1, 0), 1);
	must_be("it is there", recv(c.rx, &(char){ 0 }, 1, MSG_PEEK), 1);
	close(c.rx);
	must(busywait(WAIT_MS, is_closed, &c.tx), "the end");
	m = monitor(c.tx);
	must_be("sent before the end", m.bytes_sent.recent, SEGMENT + 1);
	must_be("in all", m.bytes_sent.total, 3 * SEGMENT + 1);
	must_be_rates(&m);
	m = monitor(c.tx);
	must_rest("after the end", &m);
	must_be("time stands still", m.age.recent, 0);
	must_be("totals stay", m.bytes_sent.total, 3 * SEGMENT + 1);

	/* The same socket connects again. */
	if (connect(c.tx, &nowhere.sa, sizeof(nowhere.v4)))
		die("disconnect:");
	must_be_nothing("disconnected", c.tx);
	fd = c.tx;
	if (connect(fd, &c.at.sa, addr_len(&c.at)))
		die("connect:");
	c.rx = accept(c.listener, NULL, NULL);
	conn_move(&c, SEGMENT);
	m = monitor(fd);
	must_be("another connection", m.bytes_sent.total, SEGMENT);
	must_be("its first interval", m.bytes_sent.recent, SEGMENT);
	must_be("is as long as it", m.age.recent, m.age.total);
	conn_close(&c);
	ktap_held("listeners, the end, and another connection");
}

/* The route leads to a device behind which nobody is. */
static void test_set_up(void)
{
	int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, SOCK_NONBLOCK);
	struct sstp_monitor m;
	union addr to;

	must_be_nothing("a new socket", fd);
	if (system("ip link add nobody up type dummy") ||
	    system("ip addr add 192.0.2.1/24 dev nobody") || !addr_parse(&to, "192.0.2.77", 9))
		die("a device without a host");
	must(connect(fd, &to.sa, addr_len(&to)) && errno == EINPROGRESS, "it connects");
	sleep_ns(2000000);
	m = monitor(fd);
	must_be("state", sock_info(fd).state, TCP_SYN_SENT);
	must(m.age.total >= 2000 && m.age.recent == m.age.total, "it ages");
	must_rest("nothing yet", &m);
	must_be("in all", m.packets_sent.total + m.bytes_sent.total, 0);
	sleep_ns(2000000);
	m = monitor(fd);
	must(m.age.recent >= 2000 && m.age.recent < m.age.total, "it goes on");
	close(fd);
	ktap_held("before and in the set-up");
}

int main(void)
{
	new_namespace();
	peer_may_vanish();
	nl_open(&nl);
	ktap_plan(9);
	test_counts();
	test_state();
	test_sender();
	test_wrap();
	test_receiver();
	test_lengths();
	test_others();
	test_ended();
	test_set_up();
	return ktap_end();
}
