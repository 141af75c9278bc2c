// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * cpus: 1
 *
 * A reader holds its sender by the window alone: nothing is sent again for that,
 * memory stays within the buffer, and both go on as soon as the reader does,
 * also when the message that says so was lost. With an over-advertised window
 * what finds no room is sent again, and nothing is lost. A writer with a large buffer
 * need not wait until a third of it is free, nor a reader for more than fits, nor for
 * more than is there. A stream is paced by what the receiver grants, if that is less than the
 * congestion window. (One CPU, as two may change the order of packets, which makes the receiver
 * ask for them.)
 *
 *	window_test [-S SEED]
 */
#include <errno.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "path.h"

#define SEGMENT		4000
#define RCVBUF		100000		/* as set; the kernel doubles it */
#define SNDBUF		100000
/* For more than fits: so much is on its way at once */
#define RATE		5000000
#define LONG_DELAY	"delay 100ms limit 10000"
#define RCVBUF_OVER	25000
#define SNDBUF_OVER	100000
#define SNDBUF_LARGE	(24 << 20)	/* bytes of memory */
#define TOTAL		200000		/* at least */
#define DELAY		"delay 10ms limit 10000"
#define MS		1000000ULL
#define STOP_MS		4000
#define SILENCE_MS	3000		/* a user timeout that ends before */
#define OUTAGE_MS	500
#define PROBES		30		/* at most while it stops; twice as long each */
#define PROBE_MS	5000		/* the longest wait between probes */
#define SLACK_MS	1000		/* for a machine that is busy */

struct conn {
	int tx, rx, type;
	uint64_t seed, sent, got;
	uint32_t most;			/* bytes seen in the receive buffer */
	bool ok;
	bool dead;			/* nothing more can be done with it */
};

static uint64_t seed;

static void complain(struct conn *c, const char *what, long long got,
		     long long want)
{
	ktap_diag("%s: %lld, not %lld", what, got, want);
	c->ok = false;
}

static void conn_must(struct conn *c, bool ok, const char *what)
{
	if (ok)
		return;
	ktap_diag("%s: not so", what);
	c->ok = false;
}

static void conn_fail(struct conn *c, const char *what)
{
	ktap_diag("%s: %s", what, strerrorname_np(errno));
	c->ok = false;
	c->dead = true;
}

static void conn_open(struct conn *c, int type, int family, int factor, int ack)
{
	/* A contract sends more than fits, also while packets are lost. */
	struct sstp_rate_spec rate = { .peak = factor > 100 ? RATE : 0 };
	int l = path_socket(B, type);

	*c = (struct conn){ .type = type, .seed = mix64(seed++), .ok = true };
	sock_set(l, SOL_SOCKET, SO_RCVBUF, factor > 100 ? RCVBUF_OVER : RCVBUF);
	sock_set(l, SOL_SSTP, SSTP_WINDOW_FACTOR, factor);
	sock_set(l, SOL_SSTP, SSTP_ACK_STRATEGY, ack);
	sock_set(l, SOL_SSTP, SSTP_USER_TIMEOUT, SILENCE_MS);
	c->tx = path_socket(A, type);
	sock_set(c->tx, SOL_SOCKET, SO_SNDBUFFORCE,
		 rate.peak ? SNDBUF_OVER : SNDBUF);
	if (rate.peak &&
	    setsockopt(c->tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	sock_set(c->tx, SOL_SSTP, SSTP_SEGMENT_SIZE, SEGMENT);
	sock_set(c->tx, SOL_SSTP, SSTP_USER_TIMEOUT, SILENCE_MS);
	c->rx = path_connect(c->tx, l, family);
}

/* Writes while there is room. */
static void conn_fill(struct conn *c, uint64_t total)
{
	char buf[SEGMENT];
	ssize_t n = 0;

	while (c->sent < total) {
		size_t len = total - c->sent < SEGMENT ? total - c->sent : SEGMENT;

		content_fill(buf, len, c->seed, c->sent);
		n = send(c->tx, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0)
			break;
		if (c->type == SOCK_SEQPACKET && n != (ssize_t)len)
			complain(c, "segment sent", n, len);
		c->sent += n;
	}
	if (n < 0 && errno != EAGAIN)
		conn_fail(c, "send");
}

/* Memory by the kernel's own account */
static void conn_watch(struct conn *c)
{
	uint32_t mem[SK_MEMINFO_VARS] = {};
	socklen_t len = sizeof(mem);

	if (getsockopt(c->rx, SOL_SOCKET, SO_MEMINFO, mem, &len))
		die("SO_MEMINFO:");
	if (c->most < mem[SK_MEMINFO_RMEM_ALLOC])
		c->most = mem[SK_MEMINFO_RMEM_ALLOC];
}

/* Read up to @most bytes, or a segment, and check them; returns 0 at the end. */
static ssize_t conn_read(struct conn *c, size_t most)
{
	char buf[SEGMENT];
	ssize_t n;

	conn_watch(c);
	n = recv(c->rx, buf, most < SEGMENT ? most : SEGMENT, MSG_DONTWAIT);
	if (n < 0) {
		if (errno != EAGAIN)
			conn_fail(c, "recv");
		return n;
	}
	if (content_check(buf, n, c->seed, c->got) != (size_t)n)
		complain(c, "wrong content from byte", c->got, -1);
	c->got += n;
	return n;
}

/* Sends the rest of @total, and its end, and takes it. */
static void conn_finish(struct conn *c, uint64_t total, unsigned int ms)
{
	uint64_t end = now_ns() + ms * MS;
	bool down = false;
	ssize_t n = -1;

	while (!c->dead && n && now_ns() < end) {
		struct pollfd p[2] = {
			{ .fd = c->rx, .events = POLLIN },
			{ .fd = c->tx, .events = POLLOUT },
		};

		poll(p, down ? 1 : 2, 100);
		conn_fill(c, total);
		if (c->sent == total && !down)
			down = !shutdown(c->tx, SHUT_WR);
		while ((n = conn_read(c, SEGMENT)) > 0)
			;
	}
	if (n)
		complain(c, "no end, byte", c->got, total);
	else if (c->got != total)
		complain(c, "bytes", c->got, total);
}

static void conn_close(struct conn *c, const char *name)
{
	close(c->tx);
	close(c->rx);
	conn_must(c, path_settle(), "sockets closed");
	ktap_result(c->ok, "%s", name);
}

/* Is there no room for the sender, as the window is closed and all of it read? */
static bool held(void *arg)
{
	struct conn *c = arg;
	struct sstp_info tx;

	conn_fill(c, UINT64_MAX);
	conn_watch(c);
	tx = sock_info(c->tx);
	return c->dead || (!path_poll(c->tx, POLLOUT, 0) && !tx.snd_window &&
			   !tx.in_flight);
}

/* Counts that rise if a sender takes a closed window for a loss */
struct peace {
	long again, asked, twice, timeouts;
};

static struct peace peace(void)
{
	return (struct peace){
		path_counter(A, "RetransData"), path_counter(B, "OutSnaks"),
		path_counter(B, "InDuplicate"), path_counter(A, "Timeouts") +
		path_counter(B, "Timeouts"),
	};
}

static void must_be_peace(struct conn *c, const struct peace *was)
{
	struct peace now = peace();

	if (now.again != was->again)
		complain(c, "sent again", now.again - was->again, 0);
	if (now.asked != was->asked)
		complain(c, "SNAKs", now.asked - was->asked, 0);
	if (now.twice != was->twice)
		complain(c, "came twice", now.twice - was->twice, 0);
	if (now.timeouts != was->timeouts)
		complain(c, "timeouts", now.timeouts - was->timeouts, 0);
}

static void must_fit(struct conn *c)
{
	struct sstp_info rx = sock_info(c->rx);

	if (rx.rcv_buffer != 2 * RCVBUF)
		complain(c, "buffer", rx.rcv_buffer, 2 * RCVBUF);
	/* A window that was granted with too small a mean may use twice the limit. */
	if (c->most > 2 * rx.rcv_buffer || rx.rcv_peak > 2 * rx.rcv_buffer)
		complain(c, "peak of memory", c->most > rx.rcv_peak ? c->most :
			 rx.rcv_peak, 2 * rx.rcv_buffer);
}

static void conn_hold(struct conn *c)
{
	conn_must(c, busywait(10000, held, c), "the window closes");
}

/* Time until new data comes after the reader has read */
static uint64_t conn_resume(struct conn *c)
{
	uint64_t had = sock_info(c->rx).bytes_received, start = now_ns();

	do {
		while (conn_read(c, SEGMENT) > 0)
			;
	} while (!c->dead && sock_info(c->rx).bytes_received == had &&
		 now_ns() - start < 20000 * MS);
	return (now_ns() - start) / MS;
}

static void test_slow(int type, int family, const char *name)
{
	struct peace was = peace();
	uint64_t ms, stop, goal;
	struct sstp_info tx;
	struct conn c;
	long probes;

	conn_open(&c, type, family, 100, SSTP_ACK_HARD);
	conn_hold(&c);
	must_be_peace(&c, &was);

	/* The window stays closed, for longer than a silent peer would be waited for. */
	stop = now_ns();
	tx = sock_info(c.tx);
	probes = path_counter(A, "OutKeepalives");
	conn_must(&c, !path_poll(c.tx, POLLOUT, STOP_MS), "poll() finds no room");
	conn_must(&c, now_ns() - stop >= STOP_MS * MS, "all the time");
	conn_must(&c, held(&c), "still held");
	must_be_peace(&c, &was);
	/* A reader that stops is no congestion. */
	if (sock_info(c.tx).cwnd < tx.cwnd)
		complain(&c, "cwnd", sock_info(c.tx).cwnd, tx.cwnd);
	/* Less and less often */
	probes = path_counter(A, "OutKeepalives") - probes;
	if (probes > PROBES)
		complain(&c, "probes", probes, PROBES);
	probes = path_counter(A, "OutKeepalives");
	ms = conn_resume(&c);
	ktap_diag("%s: after a stop data comes within %llu ms", name,
		  (unsigned long long)ms);
	conn_must(&c, ms < SLACK_MS || path_counter(A, "OutKeepalives") == probes,
	     "not only when the sender asks");

	goal = c.got + 50 * SEGMENT;
	stop = now_ns() + 20000 * MS;
	while (!c.dead && c.got < goal && now_ns() < stop) {
		conn_fill(&c, UINT64_MAX);
		conn_read(&c, SEGMENT);
		path_poll(c.tx, 0, 20);		/* what makes it slow */
	}
	conn_must(&c, c.got >= goal, "a slow reader gets something");
	must_be_peace(&c, &was);
	must_fit(&c);
	conn_finish(&c, c.sent + 1000000, 20000);
	must_be_peace(&c, &was);
	conn_must(&c, !path_dropped(), "nothing was lost on the path");
	must_fit(&c);
	conn_close(&c, name);
}

/* The message that opens the window is lost. */
static void test_lost_message(int type, bool both_ways, const char *name)
{
	struct peace was = peace();
	struct conn c;
	uint64_t ms, granted;
	long packs;

	conn_open(&c, type, AF_INET, 100, SSTP_ACK_HARD);
	/* The outage lasts for as long as a slow machine needs to end it. */
	sock_set(c.tx, SOL_SSTP, SSTP_USER_TIMEOUT, 20 * SILENCE_MS);
	sock_set(c.rx, SOL_SSTP, SSTP_USER_TIMEOUT, 20 * SILENCE_MS);
	conn_hold(&c);
	granted = sock_info(c.rx).bytes_received;

	packs = path_counter(B, "OutPacks");
	path_impair(A, "loss 100%");
	if (both_ways)
		path_impair(B, "loss 100%");
	while (c.got < granted && conn_read(&c, SEGMENT) > 0)
		;
	conn_must(&c, c.got == granted, "all that was granted is read");
	conn_must(&c, path_counter(B, "OutPacks") > packs, "the window was opened");
	conn_must(&c, !path_poll(c.tx, POLLOUT, OUTAGE_MS), "nobody hears of it");
	conn_must(&c, !sock_info(c.tx).snd_window, "the window is closed");
	path_impair(A, DELAY);
	if (both_ways)
		path_impair(B, DELAY);
	ms = conn_resume(&c);
	ktap_diag("%s: data comes within %llu ms", name, (unsigned long long)ms);
	conn_must(&c, ms < PROBE_MS + SLACK_MS, "in time");
	conn_finish(&c, c.sent + 1000000, 20000);
	must_be_peace(&c, &was);
	must_fit(&c);
	conn_close(&c, name);
}

/* More is granted than fits, and packets are lost: they come again. */
static void test_more_than_fits(int factor, int ack, int type, const char *name)
{
	const char *sign = ack == SSTP_ACK_SOFT ? "SoftReplaced" : "InDiscarded";
	long replaced = path_counter(B, "SoftReplaced");
	long discarded = path_counter(B, "InDiscarded");
	long seen = path_counter(B, sign);
	uint64_t start = now_ns();
	struct sstp_info rx;
	struct conn c;

	path_impair(A, LONG_DELAY);
	path_impair(B, LONG_DELAY " loss 2%");
	conn_open(&c, type, AF_INET, factor, ack);
	/* Read at 4 Mbit/s, until enough was seen. */
	do {
		path_poll(c.rx, 0, 8);
		conn_fill(&c, UINT64_MAX);
		conn_read(&c, SEGMENT);
	} while (!c.dead && now_ns() - start < 20000 * MS &&
		 (c.got < TOTAL || path_counter(B, sign) == seen));
	conn_finish(&c, c.sent, 20000);
	discarded = path_counter(B, "InDiscarded") - discarded;
	replaced = path_counter(B, "SoftReplaced") - replaced;
	rx = sock_info(c.rx);
	ktap_diag("%s: %ld packets discarded, %ld segments replaced, peak %u of %u",
		  name, discarded, replaced, rx.rcv_peak, rx.rcv_buffer);
	conn_must(&c, path_counter(B, sign) != seen, "more came than fits");
	conn_must(&c, ack == SSTP_ACK_SOFT || !replaced, "hard: what is here stays");
	/* The segment that is read next always has room. */
	conn_must(&c, rx.rcv_peak <= rx.rcv_buffer + 3 * SEGMENT, "within the limit");
	path_impair(A, DELAY);
	path_impair(B, DELAY);
	conn_close(&c, name);
}

static void conn_take(struct conn *c, uint64_t to)
{
	uint64_t end = now_ns() + 20000 * MS;

	while (!c->dead && c->got < to && now_ns() < end)
		if (conn_read(c, SEGMENT) < 0)
			path_poll(c->rx, POLLIN, 100);
	conn_must(c, c->got >= to, "data comes");
}

/* A program with a large buffer may write again before a third of it is free. */
static void test_large_buffer(const char *name)
{
	struct conn c;

	conn_open(&c, SOCK_STREAM, AF_INET, 100, SSTP_ACK_HARD);
	sock_set(c.tx, SOL_SOCKET, SO_SNDBUFFORCE, SNDBUF_LARGE / 2);
	conn_hold(&c);
	conn_take(&c, SNDBUF_LARGE / 12);
	conn_must(&c, !path_poll(c.tx, POLLOUT, 0), "little room does not count");
	conn_take(&c, SNDBUF_LARGE / 4);
	conn_must(&c, path_poll(c.tx, POLLOUT, 5000), "a quarter does");
	conn_close(&c, name);
}

/* A program that waits for more than the buffer holds hears of what there is. */
static void test_lowat(int ack, const char *name)
{
	struct conn c;

	conn_open(&c, SOCK_STREAM, AF_INET, 1000, ack);
	sock_set(c.rx, SOL_SOCKET, SO_RCVLOWAT, 20 * RCVBUF_OVER);
	conn_fill(&c, 40 * RCVBUF_OVER);
	conn_must(&c, path_poll(c.rx, POLLIN, 10000), "there is something");
	conn_close(&c, name);
}

/* The program pauses, reads a little, and waits for as much as there was: there is room for it. */
static void test_lowat_more(const char *name)
{
	struct conn c;
	uint64_t start;
	long probes;
	int ready;

	conn_open(&c, SOCK_STREAM, AF_INET, 100, SSTP_ACK_HARD);
	conn_hold(&c);
	path_poll(c.tx, 0, STOP_MS);
	if (ioctl(c.rx, FIONREAD, &ready))
		die("FIONREAD:");
	sock_set(c.rx, SOL_SOCKET, SO_RCVLOWAT, ready);
	probes = path_counter(A, "OutKeepalives");
	start = now_ns();
	conn_take(&c, c.got + SEGMENT);
	conn_must(&c, path_poll(c.rx, POLLIN, 2 * PROBE_MS), "it comes");
	conn_must(&c, now_ns() - start < SLACK_MS * MS ||
		  path_counter(A, "OutKeepalives") == probes, "not only when the sender asks");
	conn_close(&c, name);
}

/* The rate at which packets leave, as a share in percent of that of the peer's window and a segment
 * more in a round trip. Segments of a stream have whole packets.
 */
static uint64_t pace_percent(const struct conn *c)
{
	struct sstp_info tx = sock_info(c->tx);
	uint64_t segments = sock_info(c->rx).rcv_window + 1;
	uint64_t packets = segments * (SEGMENT / tx.packet_size);

	return tx.rtt * 1000ULL * 100 / (packets * tx.period);
}

/* The congestion window grows to more than the peer's window while the program reads all that
 * comes. Messages of a SOCK_SEQPACKET socket may be smaller than its segments, so they are paced by
 * the congestion window alone.
 */
static void test_pacing(int type, const char *name)
{
	uint64_t start = now_ns(), percent;
	struct conn c;

	conn_open(&c, type, AF_INET, 100, SSTP_ACK_HARD);
	sock_set(c.tx, SOL_SOCKET, SO_SNDBUFFORCE, 4 * SNDBUF);
	if (setsockopt(c.tx, SOL_SSTP, SSTP_CONTROLLER, "newreno", strlen("newreno")))
		die("SSTP_CONTROLLER:");
	while (!c.dead && c.got < 40 * SNDBUF && now_ns() - start < 20000 * MS) {
		conn_fill(&c, UINT64_MAX);
		if (conn_read(&c, SEGMENT) < 0)
			path_poll(c.rx, POLLIN, 100);
	}
	if (c.dead || !sock_info(c.tx).period)
		die("%s: no pacing", name);
	percent = pace_percent(&c);
	ktap_diag("%s: cwnd %u, a window in %u us, rate %llu%% of it", name,
		  sock_info(c.tx).cwnd, sock_info(c.tx).rtt, (unsigned long long)percent);
	/* 120 of what was granted, which the program has read a part of since */
	if (type == SOCK_STREAM)
		conn_must(&c, percent > 60 && percent < 130, "paced by the peer's window");
	else
		conn_must(&c, percent > 150, "paced by the congestion window");
	conn_finish(&c, c.sent, 20000);
	conn_close(&c, name);
}

int main(int argc, char **argv)
{
	int c;

	seed = nonce();
	while ((c = getopt(argc, argv, "S:")) != -1) {
		if (c != 'S')
			die("usage: %s [-S SEED]", argv[0]);
		seed = strtoull(optarg, NULL, 0);
	}
	ktap_plan(14);
	ktap_diag("seed %#llx (replay with -S)", (unsigned long long)seed);
	path_make();
	path_impair(A, DELAY);
	path_impair(B, DELAY);

	test_slow(SOCK_STREAM, AF_INET, "slow reader, stream");
	test_slow(SOCK_SEQPACKET, AF_INET6, "slow reader, segments");
	test_lost_message(SOCK_STREAM, false, "window message lost, stream");
	test_lost_message(SOCK_SEQPACKET, true, "outage as the window opens, segments");
	test_more_than_fits(250, SSTP_ACK_HARD, SOCK_SEQPACKET,
			    "factor 2.5, hard ACK, segments");
	test_more_than_fits(250, SSTP_ACK_SOFT, SOCK_STREAM,
			    "factor 2.5, soft ACK, stream");
	test_more_than_fits(1000, SSTP_ACK_HARD, SOCK_STREAM,
			    "factor 10, hard ACK, stream");
	test_more_than_fits(1000, SSTP_ACK_SOFT, SOCK_SEQPACKET,
			    "factor 10, soft ACK, segments");
	test_large_buffer("room in a large buffer");
	test_lowat(SSTP_ACK_HARD, "SO_RCVLOWAT of more than fits, hard ACK");
	test_lowat(SSTP_ACK_SOFT, "SO_RCVLOWAT of more than fits, soft ACK");
	test_lowat_more("SO_RCVLOWAT of more than is there");
	test_pacing(SOCK_STREAM, "pacing of a stream");
	test_pacing(SOCK_SEQPACKET, "pacing of segments");
	return ktap_end();
}
