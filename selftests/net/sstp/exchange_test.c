// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 900
 * quick: yes
 * kernels: uml
 * mode: time-travel
 *
 * Small exchanges on an idle connection take no more packets than they need, and one that is
 * lost is sent again soon. In simulated time, so that it can be judged.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "path.h"

#define RTT_MS		40
#define IDLE_MS		5000
#define WARY		16		/* single packets after a loss: SSTP_WARY */
#define KBIT		400		/* a contract, */
#define SECONDS		10		/* and how long it is looked at */
#define FRAME		(14 + 20 + 8 + 24)	/* bytes of Ethernet, IP, UDP and DATA headers */
#define PACK		56		/* bytes */
#define AHEAD		100		/* messages */

#define THINK_MS	5		/* a program's time for an answer */
#define WRITES		100		/* without one */

static const char * const delay[] = { "delay 20ms", "delay 20ms loss 100%" };
static int fd, peer;

static void path_loses(int to, bool lost)
{
	path_impair(to, delay[lost]);
}

/* A byte from @from to @to, after an idle time; returns the ms that it took. */
static long one_way(int from, int to, int lost_ms)
{
	int host = from == fd ? B : A;
	uint64_t start;
	char c = 'x';

	sleep_ns(IDLE_MS * 1000000ULL);
	if (lost_ms)
		path_loses(host, true);
	start = now_ns();
	must_be("send", send(from, &c, 1, 0), 1);
	if (lost_ms) {
		sleep_ns(lost_ms * 1000000ULL);
		path_loses(host, false);
	}
	must(path_poll(to, POLLIN, 20000) & POLLIN, "it arrives");
	must_be("recv", recv(to, &c, 1, 0), 1);
	return (now_ns() - start) / 1000000;
}

/* A byte that is lost comes within @rtts round trips. */
static void comes(int from, int to, int rtts, const char *what)
{
	long took = one_way(from, to, 1);

	ktap_diag("a lost byte came after %ld ms", took);
	must(took <= rtts * RTT_MS, "in time");
	ktap_held(what);
}

static long packets(void)
{
	return path_counter(A, "OutPkts") + path_counter(B, "OutPkts");
}

/* Packets of @n exchanges; @both: with an answer */
static long packets_of(int n, bool both)
{
	long before = packets();

	while (n--) {
		one_way(fd, peer, 0);
		if (both)
			one_way(peer, fd, 0);
	}
	sleep_ns(IDLE_MS * 1000000ULL);
	return packets() - before;
}

/* @writes small writes from @from to @to, which reads them all. */
static void pass(int from, int to, int writes)
{
	char buf[100] = "";
	int n;

	for (n = 0; n < writes; n++)
		must_be("send", send(from, buf, sizeof(buf), 0), sizeof(buf));
	while (n) {
		must(path_poll(to, POLLIN, 20000) & POLLIN, "it arrives");
		if (recv(to, buf, sizeof(buf), 0) != sizeof(buf))
			die("recv:");
		n--;
	}
}

/* @len bytes from @from to @to, in one write */
static void pass_bytes(int from, int to, char *buf, size_t len)
{
	must_be("send", send(from, buf, len, 0), len);
	while (len) {
		ssize_t got;

		must(path_poll(to, POLLIN, 20000) & POLLIN, "it arrives");
		got = recv(to, buf, len, 0);
		if (got <= 0)
			die("recv:");
		len -= got;
	}
}

/* @n requests, of @writes writes, and answers, one at a time */
static void exchanges(int n, int writes)
{
	while (n--) {
		pass(fd, peer, writes);
		pass(peer, fd, 1);
	}
}

/* An answer brings the report of its request, and the next request that of the answer. */
static void rides(void)
{
	uint64_t start;
	long before;

	exchanges(4, 1);
	before = packets();
	start = now_ns();
	exchanges(10, 1);
	must_be("packets of 10 requests and answers", packets() - before, 20);
	must_be("ms", (now_ns() - start) / 1000000, 10 * RTT_MS);
	ktap_held("a request and its answer take two packets and a round trip");
	exchanges(4, 2);
	start = now_ns();
	exchanges(10, 2);
	must_be("ms", (now_ns() - start) / 1000000, 10 * 2 * RTT_MS);
	ktap_held("a request of two writes waits for one report, without delay");
}

/* @n requests and answers, after @ms each */
static void slow_exchanges(int n, int ms)
{
	while (n--) {
		sleep_ns(ms * 1000000ULL);
		pass(fd, peer, 1);
		sleep_ns(ms * 1000000ULL);
		pass(peer, fd, 1);
	}
}

/* The window counts segments, and grows while it is seen that these are small. */
static void window_grows(void)
{
	long before;

	/* The former connection ends. */
	sleep_ns(IDLE_MS * 1000000ULL);
	fd = path_socket(A, SOCK_STREAM);
	peer = path_connect(fd, path_socket(B, SOCK_STREAM), AF_INET);
	slow_exchanges(4, 1);
	before = packets();
	slow_exchanges(30, 1);
	must_be("packets of 30 exchanges", packets() - before, 60);
	ktap_held("a larger window that nobody needs is told by answers");
	close(fd);
	close(peer);
}

/* Requests of two writes between those of one: the second write waits for the report of the first,
 * which must not wait for the answer.
 */
static void mixed_exchanges(void)
{
	uint64_t start;
	long ms;
	int n;

	start = now_ns();
	for (n = 0; n < WRITES; n++) {
		exchanges(2, 1);
		exchanges(1, 2);
	}
	ms = (now_ns() - start) / 1000000;
	ktap_diag("%d times three requests took %ld ms", WRITES, ms);
	must(ms < 2 * WRITES, "no request waits for a timer");
	ktap_held("a request of two writes is not held up after requests of one");
}

/* @n requests of three packets, and answers, after THINK_MS each */
static void long_requests(int n)
{
	char buf[4000] = "";

	while (n--) {
		sleep_ns(THINK_MS * 1000000ULL);
		pass_bytes(fd, peer, buf, sizeof(buf));
		sleep_ns(THINK_MS * 1000000ULL);
		pass(peer, fd, 1);
	}
}

/* @n times three packets that get no answer. The program waits for their report. */
static void unanswered(int n)
{
	char buf[4000] = "";
	int left;

	while (n--) {
		pass_bytes(fd, peer, buf, sizeof(buf));
		for (left = 1; left; ) {
			sleep_ns(100000);
			must(!ioctl(fd, SIOCOUTQ, &left), "SIOCOUTQ");
		}
	}
}

/* On a short path programs take longer to answer than a quarter of a round trip. */
static void slow_answers(void)
{
	uint64_t start;
	long before, ms;
	int n;

	path_impair(A, "delay 100us");
	path_impair(B, "delay 100us");
	window_grows();
	fd = path_socket(A, SOCK_STREAM);
	peer = path_connect(fd, path_socket(B, SOCK_STREAM), AF_INET);
	slow_exchanges(4, THINK_MS);
	before = packets();
	slow_exchanges(10, THINK_MS);
	must_be("packets of 10 slow exchanges", packets() - before, 20);
	ktap_held("the report waits for an answer that takes longer than the path");
	long_requests(4);
	before = packets();
	long_requests(10);
	/* Three packets, before which the report of the answer leaves, and the answer */
	must_be("packets of 10 requests of three packets", packets() - before, 50);
	ktap_held("so does that of a request of three packets");
	unanswered(1);
	start = now_ns();
	unanswered(10);
	ms = (now_ns() - start) / 1000000;
	ktap_diag("10 times three packets without an answer took %ld ms", ms);
	must(ms < 10, "no report waits");
	ktap_held("where no answer came, the next packets ask for a report");
	mixed_exchanges();
	/* Each write waits for the report of the one before. */
	before = packets();
	start = now_ns();
	for (n = 0; n < WRITES; n++)
		pass(fd, peer, 1);
	ms = (now_ns() - start) / 1000000;
	before = packets() - before;
	ktap_diag("%d writes took %ld ms and %ld packets", WRITES, ms, before);
	must(ms < 2 * WRITES && before < 9 * WRITES / 4, "few reports wait for an answer in vain");
	ktap_held("it does not wait where no answer comes");
	close(fd);
	close(peer);
}

/* Answers of three packets to @n requests, of @writes writes. The report of the request comes with
 * them, so that the next request does not wait for it, and nothing probes for theirs. The program
 * that gets them reads for @ms until the next request.
 */
static void answers(int n, int writes, int ms)
{
	char buf[4000] = "";

	while (n--) {
		pass(fd, peer, writes);
		pass_bytes(peer, fd, buf, sizeof(buf));
		must(!ms || !path_poll(fd, POLLIN, ms), "no more comes");
	}
}

static void answers_of_packets(void)
{
	/* The report of an answer waits for a quarter of a round trip at least. */
	const int pauses[] = { 0, RTT_MS };
	/* A request, its report, three packets; and a report, if no request brings it */
	const int each[] = { 5, 6 };
	long before, probes;
	uint64_t start;
	int i;

	for (i = 0; i < 2; i++) {
		answers(4, 1, pauses[i]);
		before = packets();
		probes = path_counter(A, "OutKeepalives") + path_counter(B, "OutKeepalives");
		start = now_ns();
		answers(10, 1, pauses[i]);
		must_be("packets of 10 such answers", packets() - before, 10 * each[i]);
		must_be("KEEPALIVEs", path_counter(A, "OutKeepalives") +
			path_counter(B, "OutKeepalives") - probes, 0);
		must_be("ms", (now_ns() - start) / 1000000, 10 * (RTT_MS + pauses[i]));
	}
	ktap_held("a longer answer takes a round trip, and no KEEPALIVE");
	answers(4, 2, 0);
	start = now_ns();
	answers(10, 2, 0);
	must_be("ms", (now_ns() - start) / 1000000, 10 * 2 * RTT_MS);
	ktap_held("so it does after a request of two writes, whose report comes without delay");
}

/* A message from @from, unless @to has not read AHEAD that came or are under way, @ahead */
static void stream(int from, int to, int *ahead)
{
	char buf[100] = "";

	if (*ahead < AHEAD && send(from, buf, sizeof(buf), 0) == sizeof(buf))
		++*ahead;
	while (recv(to, buf, sizeof(buf), 0) == sizeof(buf))
		--*ahead;
}

/* Reports of A that have ridden */
static long ridden(void)
{
	return path_counter(A, "OutData") + path_counter(A, "OutPacks") +
	       path_counter(A, "OutSnaks") + path_counter(A, "OutKeepalives") -
	       path_counter(A, "OutPkts");
}

/* A sends messages by a contract, and gets as many: what rides with its packets counts. */
static void contract_counts(void)
{
	struct sstp_rate_spec rate = { .peak = KBIT * 1000 };
	long data, rides, bytes, most;
	int there = 0, back = 0, ms;
	uint64_t start;

	fd = path_socket(A, SOCK_SEQPACKET);
	if (setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	peer = path_connect(fd, path_socket(B, SOCK_SEQPACKET), AF_INET);
	data = path_counter(A, "OutData");
	rides = ridden();
	start = now_ns();
	for (ms = 0; ms < SECONDS * 1000; ms++) {
		stream(fd, peer, &there);
		if (ms % 2)
			stream(peer, fd, &back);
		sleep_ns(1000000);
	}
	data = path_counter(A, "OutData") - data;
	rides = ridden() - rides;
	bytes = data * (FRAME + 100) + rides * PACK;
	most = (now_ns() - start) / 1000000 * KBIT / 8;
	ktap_diag("%ld packets with %ld reports, %ld of %ld bytes", data, rides, bytes, most);
	must(rides > data / 4, "reports ride");
	must(bytes <= most + most / 100, "no more than agreed");
	ktap_held("reports that ride count towards a contract");
	close(fd);
	close(peer);
}

/* Connect so that the KEEPALIVE that answers the first INIT_ACK is lost: the round-trip time of B
 * then is a guess, which contains the time until INIT_ACK is repeated, after 250 ms. The KEEPALIVE
 * that asks for a better one is lost, too.
 */
static void connect_guess(void)
{
	int l = path_socket(B, SOCK_STREAM);
	union addr a;

	addr_any(&a, AF_INET, 0);
	if (bind(l, &a.sa, addr_len(&a)) || listen(l, 1) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }) ||
	    !addr_parse(&a, "10.0.2.2", addr_port(&a)))
		die("listener:");
	fd = path_socket(A, SOCK_STREAM);
	must(connect(fd, &a.sa, addr_len(&a)) && errno == EINPROGRESS, "connect()");
	sleep_ns(RTT_MS * 3 / 4 * 1000000ULL);
	path_loses(B, true);
	must(path_poll(fd, POLLOUT, 10000) == POLLOUT, "connected");
	sleep_ns(1000000);
	path_loses(B, false);
	sleep_ns(255 * 1000000ULL);
	path_loses(A, true);
	must(path_poll(l, POLLIN, 10000) & POLLIN, "accepted");
	peer = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	sleep_ns(1000000);
	path_loses(A, false);
	close(l);
}

/* INIT, INIT_ACK and the KEEPALIVE that answers it; request, and answer with its PACK; the first
 * EOS with the PACK of the answer, the other with that of the first; two CLOSEs.
 */
static void one_exchange(void)
{
	long before;

	/* The former connection ends. */
	sleep_ns(IDLE_MS * 1000000ULL);
	before = packets();
	fd = path_socket(A, SOCK_STREAM);
	peer = path_connect(fd, path_socket(B, SOCK_STREAM), AF_INET);
	exchanges(1, 1);
	close(fd);
	must(path_poll(peer, POLLIN, 20000) & POLLIN, "its end comes");
	close(peer);
	sleep_ns(IDLE_MS * 1000000ULL);
	must_be("packets of a connection", packets() - before, 9);
	ktap_held("a connection with one exchange takes nine packets");
}

int main(void)
{
	need_simulated_time();
	ktap_plan(19);
	path_make();
	path_impair(A, delay[0]);
	path_impair(B, delay[0]);
	fd = path_socket(A, SOCK_STREAM);
	peer = path_connect(fd, path_socket(B, SOCK_STREAM), AF_INET);
	/* At first the end that only receives asks for a round-trip time. */
	packets_of(2, true);
	must_be("packets of a byte each", packets_of(10, false), 20);
	ktap_held("a byte takes two packets");
	must_be("packets of a byte each way", packets_of(10, true), 40);
	ktap_held("a byte each way takes four");
	rides();
	answers_of_packets();
	/* A KEEPALIVE after SRTT * 5/4 and 12 ms, a SNAK and the byte */
	comes(fd, peer, 3, "a lost byte comes three round trips later at most");
	comes(fd, peer, 2, "from then on two");
	packets_of(WARY, false);
	must_be("packets of a byte each, long after the loss", packets_of(10, false), 20);
	ktap_held("a loss is forgotten in time");
	close(fd);
	close(peer);
	connect_guess();
	comes(peer, fd, 6, "a loss in the set-up counts");
	close(fd);
	close(peer);
	contract_counts();
	slow_answers();
	one_exchange();
	ktap_result(path_settle(), "all sockets go");
	return ktap_end();
}
