// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 600
 * quick: yes
 * mode: parallel
 *
 * The generic netlink family "sstp": events tell what happens to connections.
 */
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "conns.h"

static struct nl ev;
static char event_buf[16384];

/* The next event @cmd of the socket that has cookie @c or @other; others are passed over. Returns
 * that cookie, or 0.
 */
static uint64_t event_of_either(uint64_t c, uint64_t other, uint8_t cmd, struct nl_message *m)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL, got;

	while (now_ns() < end) {
		if (!nl_event(&ev, event_buf, sizeof(event_buf), m, 1000) || m->cmd != cmd)
			continue;
		got = nl_number(m, SSTP_A_CONN_COOKIE);
		if (got == c || got == other)
			return got;
	}
	ktap_diag("no event %u", cmd);
	all_held = false;
	*m = (struct nl_message){};
	return 0;
}

static bool event_of(uint64_t c, uint8_t cmd, struct nl_message *m)
{
	return event_of_either(c, c, cmd, m);
}

static void must_close(uint64_t c, const char *what, int err, enum sstp_closed_by by)
{
	struct nl_message m;

	if (!event_of(c, SSTP_CMD_CLOSED, &m))
		ktap_diag("%s", what);
	must_be(what, nl_number(&m, SSTP_A_CONN_ERROR), err);
	must_be(what, nl_number(&m, SSTP_A_CONN_CLOSED_BY), by);
	must(nl_attr(&m, SSTP_A_CONN_INFO, NULL), "its last info");
}

static void lo_up(bool up)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("lo:");
	close(fd);
}

static void end_well(struct conn *c)
{
	close(c->tx);
	must(!recv(c->rx, event_buf, 1, 0), "the end");
	close(c->rx);
}

static void test_closed(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct nl_message m;
	uint64_t tx, rx, first;
	struct conn c;
	union addr at;
	int fd;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	tx = cookie(c.tx);
	rx = cookie(c.rx);
	first = event_of_either(tx, rx, SSTP_CMD_ESTABLISHED, &m);
	must_be("state", nl_number(&m, SSTP_A_CONN_STATE), TCP_ESTABLISHED);
	event_of(first == tx ? rx : tx, SSTP_CMD_ESTABLISHED, &m);
	must(!nl_attr(&m, SSTP_A_CONN_CID, NULL) && !nl_attr(&m, SSTP_A_CONN_PEER_CID, NULL),
	     "no CIDs, as all may listen");
	must(nl_number(&m, SSTP_A_CONN_LOCAL_PORT) == htons(addr_port(&c.at)) ||
	     nl_number(&m, SSTP_A_CONN_REMOTE_PORT) == htons(addr_port(&c.at)), "port");
	ktap_result(all_held, "events: established");

	all_held = true;
	end_well(&c);
	must_close(tx, "closed well, here", 0, SSTP_CLOSED_BY_LOCAL);
	close(c.listener);
	/* The other end's came before or comes after. */
	conn_open(&c, AF_INET, SOCK_STREAM);
	tx = cookie(c.tx);
	rx = cookie(c.rx);
	end_well(&c);
	must_close(rx, "closed well, by the peer", 0, SSTP_CLOSED_BY_PEER);
	close(c.listener);

	conn_open(&c, AF_INET, SOCK_STREAM);
	tx = cookie(c.tx);
	must(send(c.tx, "x", 1, 0) == 1, "sent");
	must(recv(c.rx, event_buf, 1, MSG_PEEK) == 1, "here");
	close(c.rx);
	must_close(tx, "reset by the peer", ECONNRESET, SSTP_CLOSED_BY_PEER);
	close(c.tx);
	close(c.listener);

	conn_open(&c, AF_INET, SOCK_STREAM);
	tx = cookie(c.tx);
	must(!connect(c.tx, &none, sizeof(none)), "disconnect");
	must_close(tx, "reset here", ECONNRESET, SSTP_CLOSED_BY_LOCAL);
	conn_close(&c);

	addr_loopback(&at, AF_INET, 1);
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);
	tx = cookie(fd);
	must(connect(fd, &at.sa, addr_len(&at)) && errno == ECONNREFUSED, "refused");
	must_close(tx, "refused", ECONNREFUSED, SSTP_CLOSED_BY_PEER);
	close(fd);

	conn_open(&c, AF_INET, SOCK_STREAM);
	sock_set(c.tx, SOL_SSTP, SSTP_USER_TIMEOUT, 500);
	tx = cookie(c.tx);
	lo_up(false);
	must(send(c.tx, "x", 1, 0) == 1, "sent");
	event_of(tx, SSTP_CMD_CLOSED, &m);
	must_be("timeout", nl_number(&m, SSTP_A_CONN_CLOSED_BY), SSTP_CLOSED_BY_TIMEOUT);
	must(nl_number(&m, SSTP_A_CONN_ERROR), "an error");
	lo_up(true);
	conn_close(&c);
	ktap_result(all_held, "events: closed, and why");
}

static void test_changed(void)
{
	struct sstp_rate_spec rate = { .peak = 7000000 }, told;
	struct nl_message m;
	struct conn c;

	all_held = true;
	conn_open(&c, AF_INET, SOCK_STREAM);
	if (setsockopt(c.tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	event_of(cookie(c.tx), SSTP_CMD_RATE_CHANGED, &m);
	told = rate_of(&m, SSTP_A_CONN_RATE);
	must_be("peak", told.peak, rate.peak);
	must_be("average", told.average, rate.peak);
	must_be("no rate", change(cookie(c.tx), ARGS(PEAK(0))), 0);
	event_of(cookie(c.tx), SSTP_CMD_RATE_CHANGED, &m);
	must_be("no peak", rate_of(&m, SSTP_A_CONN_RATE).peak, 0);
	ktap_result(all_held, "events: another contract");

	/* Nothing moves: it falls to the floor. Another connection, as waiting for an event passes
	 * over those before it.
	 */
	conn_close(&c);
	conn_open(&c, AF_INET, SOCK_STREAM);
	all_held = true;
	conn_move(&c, 4 * SEGMENT);
	event_of(cookie(c.rx), SSTP_CMD_BUFFER_RESIZED, &m);
	must(nl_number(&m, SSTP_A_CONN_OLD_LIMIT) != nl_number(&m, SSTP_A_CONN_NEW_LIMIT) &&
	     nl_number(&m, SSTP_A_CONN_NEW_LIMIT), "another limit");
	must(!nl_attr(&m, SSTP_A_CONN_SHARED, NULL), "not shared");
	conn_close(&c);
	ktap_result(all_held, "events: another limit");
}

static void test_exhausted(void)
{
	uint64_t start, last = 0, now = 0;
	struct nl_message m = {};
	static char buf[SEGMENT];
	int events = 0, i;
	struct conn c;

	all_held = true;
	c.listener = listen_at(AF_INET, SOCK_STREAM, &c.at);
	sock_set(c.listener, SOL_SOCKET, SO_RCVBUF, 30000);
	sock_set(c.listener, SOL_SSTP, SSTP_WINDOW_FACTOR, 1000);
	conn_connect(&c, AF_INET, SOCK_STREAM);
	start = now_ns();
	/* More than there is room for, until it has been told thrice */
	for (i = 0; events < 3 && i < 100000; i++) {
		send(c.tx, buf, sizeof(buf), MSG_DONTWAIT);
		if (!nl_event(&ev, event_buf, sizeof(event_buf), &m, 1)) {
			/* Room again, for the next to overfill */
			recv(c.rx, buf, sizeof(buf), MSG_DONTWAIT);
			continue;
		}
		if (m.cmd != SSTP_CMD_EXHAUSTED)
			continue;
		events++;
		now = nl_number(&m, SSTP_A_CONN_PACKETS_DISCARDED);
		must(now > last, "more packets");
		last = now;
		must(nl_number(&m, SSTP_A_CONN_BYTES_DISCARDED) >= now, "bytes of them");
	}
	must_be("events", events, 3);
	must(now_ns() - start >= 2 * 100000000ULL, "not too often");
	must(sock_info(c.rx).packets_discarded >= last, "as SSTP_INFO");
	conn_close(&c);
	ktap_result(all_held, "events: no room");
}

static void test_lost(void)
{
	bool lost = false;
	struct nl_message m;
	struct conn c;
	int i;

	all_held = true;
	sock_set(ev.fd, SOL_SOCKET, SO_RCVBUF, 1);
	c.listener = listen_at(AF_INET, SOCK_STREAM, &c.at);
	for (i = 0; i < 20; i++) {
		conn_connect(&c, AF_INET, SOCK_STREAM);
		close(c.tx);
		close(c.rx);
	}
	close(c.listener);
	for (i = 0; i < 100 && !lost; i++)
		lost = !nl_event(&ev, event_buf, sizeof(event_buf), &m, 0) && errno == ENOBUFS;
	must(lost, "it is told");
	ktap_result(all_held, "events: lost ones are missed");
}

int main(void)
{
	new_namespace();
	nl_open(&nl);
	nl_open(&ev);
	nl_join(&ev);
	ktap_plan(6);
	test_closed();
	test_changed();
	test_exhausted();
	test_lost();
	return ktap_end();
}
