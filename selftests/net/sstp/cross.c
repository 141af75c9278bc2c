// SPDX-License-Identifier: GPL-2.0
/*
 * Cross traffic for a path: what other hosts send over the same line.
 *
 *	udp	sources that send at a constant rate while they are on, and nothing while they are
 *		off; both times are of a bounded Pareto distribution, so that the sum of all sources
 *		has bursts on all time scales
 *	flows	TCP connections that begin as a Poisson process, each for a number of bytes of a
 *		bounded Pareto distribution
 *	long	TCP connections that send all the time, whose windows the sink limits
 *	sink	receives what flows and long send
 *
 * All random numbers follow from the seed. Rates are bit/s of the line, with headers.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/net_tstamp.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

#define UDP_HEADERS	42	/* bytes of Ethernet, IP and UDP before the payload */
#define TCP_FRAME	1514	/* bytes of a full frame, and its payload */
#define TCP_PAYLOAD	1448
#define AHEAD		0.005	/* s: UDP packets of this time are handed over together */
#define BATCH		256	/* packets of one call, at most */
#define SPAN		1000	/* longest on or off time, in shortest ones */
#define PAST		20	/* s before 0 from which sources are on and off */
#define CHUNK		(256 << 10)
#define SINK_BUFFER	(8 << 20)
#define SEND_BUFFER	(64 << 20)

static struct options {
	double rate;		/* bit/s */
	double start, stop;	/* s */
	uint64_t seed;
	unsigned int count;	/* sources or connections */
	double on, off;		/* ms, means */
	double shape;		/* alpha */
	unsigned int packet;	/* bytes of a frame */
	double least, most;	/* bytes of a flow */
	const char *controller;
	const char *pidfile;
	uint64_t print;
} opt = {
	.stop = 1e9,
	.seed = 1,
	.on = 50,
	.off = 150,
	.shape = 1.5,
	.packet = 1514,
	.least = 10e3,
	.most = 10e6,
};

static void usage(FILE *f)
{
	fprintf(f,
"Usage: cross udp|flows|long [options] ADDRESS PORT\n"
"       cross sink [--pid FILE] PORT[:WINDOW]...\n"
"\n"
"Sends cross traffic until it is killed, or receives it: the sink returns when it\n"
"listens, and limits the windows of a port's connections to WINDOW bytes.\n"
"\n"
"  -r, --rate BITS        bit/s of the line on average, with headers (udp, flows)\n"
"  -s, --start SECONDS    when it begins (0)\n"
"  -e, --stop SECONDS     when it ends; flows that have begun go on\n"
"  -S, --seed N           of random numbers (1)\n"
"  -n, --count N          udp: sources (64); long: connections (1)\n"
"  -a, --shape ALPHA      of the Pareto distributions (1.5)\n"
"  -o, --on MS, -O, --off MS   udp: means of the times (50, 150)\n"
"  -p, --packet BYTES     udp: of a frame (1514)\n"
"  -l, --least BYTES, -m, --most BYTES  flows: bounds of sizes (10000, 10000000)\n"
"  -c, --controller NAME  flows, long: congestion control\n"
"  -P, --print N          udp, flows: print time (s) and bytes of N packets or\n"
"                         flows, and send nothing\n"
"      --pid FILE         sink: write the process ID\n"
"  -h, --help\n");
}

static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0))
		die("cross: no number: %s", text);
	return value;
}

/* Random numbers */

static uint64_t state;

static double uniform(void)	/* in (0, 1) */
{
	state += 0x9e3779b97f4a7c15;
	return ((mix64(state) >> 11) + 0.5) / (1ULL << 53);
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

static double bounded_pareto(double least, double most)
{
	double part = 1 - pow(least / most, opt.shape);

	return least / pow(1 - uniform() * part, 1 / opt.shape);
}

static double bounded_mean(double least, double most)
{
	double a = opt.shape, part = 1 - pow(least / most, a);

	if (a == 1)
		return least * log(most / least) / part;
	return a * pow(least, a) / part *
	       (pow(least, 1 - a) - pow(most, 1 - a)) / (a - 1);
}

/* An on or off time of this mean */
static double period(double mean)
{
	double least = mean / bounded_mean(1, SPAN);

	return bounded_pareto(least, least * SPAN);
}

/* Waiting; times are in seconds from the start of the program. */

static uint64_t begin;

static double elapsed(void)
{
	return (now_ns() - begin) / 1e9;
}

static void wait_until(double t)
{
	uint64_t at = begin + llround(t * 1e9), now = now_ns();

	if (at > now)
		sleep_ns(at - now);
}

static void print_event(double t, double bytes)
{
	printf("%.9f %.0f\n", t, bytes);
	if (!--opt.print)
		exit(0);
}

static void set(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("cross: option %d of level %d:", name, level);
}

/* UDP */

struct source {
	double next;		/* packet */
	double until;		/* when it is off */
};

/* The next packet is due after @gap seconds of being on, be it in several periods. */
static void next_packet(struct source *s, double gap)
{
	while (s->next + gap >= s->until) {
		gap -= s->until - s->next;
		s->next = s->until + period(opt.off / 1e3);
		s->until = s->next + period(opt.on / 1e3);
	}
	s->next += gap;
}

/* Begin anywhere in a period, and anywhere between two packets. */
static void begin_source(struct source *s, double gap)
{
	s->until = -PAST;
	do {
		s->next = s->until + period(opt.off / 1e3);
		s->until = s->next + period(opt.on / 1e3);
	} while (s->until <= 0);
	if (s->next < 0)
		s->next = 0;
	next_packet(s, gap * uniform());
}

static struct source *first_source(struct source *s)
{
	struct source *first = s;
	unsigned int i;

	for (i = 1; i < opt.count; i++)
		if (s[i].next < first->next)
			first = &s[i];
	return first;
}

/* Send packets, each at its time (s): the queue fq of the device has them until then. */
static void send_packets(int fd, const double *at, unsigned int n)
{
	static struct {
		struct cmsghdr h;
		uint64_t time;
	} control[BATCH];
	static char payload[65536];
	static struct iovec iov;
	static struct mmsghdr msg[BATCH];
	unsigned int i;

	iov = (struct iovec){ payload, opt.packet - UDP_HEADERS };
	for (i = 0; i < n; i++) {
		control[i].h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(uint64_t)),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_TXTIME };
		control[i].time = begin + llround(at[i] * 1e9);
		msg[i].msg_hdr = (struct msghdr){ .msg_iov = &iov, .msg_iovlen = 1,
						  .msg_control = &control[i],
						  .msg_controllen = sizeof(control[i]) };
	}
	if (n && sendmmsg(fd, msg, n, 0) != (int)n)
		die("cross: sendmmsg:");
}

static int udp_socket(const union addr *to)
{
	const struct sock_txtime times = { .clockid = CLOCK_MONOTONIC };
	int fd = socket(to->sa.sa_family, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, &to->sa, addr_len(to)))
		die("cross: UDP to %s:", addr_text(to));
	if (setsockopt(fd, SOL_SOCKET, SO_TXTIME, &times, sizeof(times)))
		die("cross: SO_TXTIME:");
	set(fd, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER);
	return fd;
}

static void udp(const union addr *to)
{
	struct source *sources = calloc(opt.count, sizeof(*sources)), *first;
	double peak = opt.rate * (opt.on + opt.off) / opt.on / opt.count;
	double gap = opt.packet * 8 / peak, handed = 0, at[BATCH];
	int fd = opt.print ? -1 : udp_socket(to);
	unsigned int i, n;

	for (i = 0; i < opt.count; i++)
		begin_source(&sources[i], gap);
	while (opt.start + handed < opt.stop) {
		for (n = 0; n < BATCH; n++) {
			first = first_source(sources);
			if (first->next >= handed + AHEAD || opt.start + first->next >= opt.stop)
				break;
			if (opt.print)
				print_event(first->next, opt.packet);
			at[n] = opt.start + first->next;
			next_packet(first, gap);
		}
		if (!opt.print) {
			wait_until(opt.start + handed);
			send_packets(fd, at, n);
		}
		if (n < BATCH)
			handed += AHEAD;
	}
	wait_until(opt.stop);
}

/* TCP */

static int begin_connect(const union addr *to)
{
	int fd = socket(to->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die("cross: socket:");
	if (opt.controller && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, opt.controller,
					 strlen(opt.controller)))
		die("cross: %s:", opt.controller);
	if (connect(fd, &to->sa, addr_len(to)) && errno != EINPROGRESS)
		die("cross: connect to %s:", addr_text(to));
	return fd;
}

/* Descriptors to watch, and for each the bytes that it has to send, or may have in its window */
static struct pollfd *watched;
static size_t *amount;
static nfds_t count;

static void watch(int fd, short events, size_t bytes)
{
	static nfds_t room;

	if (count == room) {
		room = room * 2 + 64;
		watched = realloc(watched, room * sizeof(*watched));
		amount = realloc(amount, room * sizeof(*amount));
	}
	watched[count] = (struct pollfd){ .fd = fd, .events = events };
	amount[count++] = bytes;
}

static void unwatch(nfds_t i)
{
	close(watched[i].fd);
	watched[i] = watched[--count];
	amount[i] = amount[count];
}

/* Until time @t, which may be INFINITY. Rounded up: a wait of 0 would never end, as simulated time
 * passes only while all wait.
 */
static void wait_watched(double t)
{
	double left = fmax(t - elapsed(), 0);
	int64_t ns = isinf(left) ? 0 : ceil(left * 1e9);
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (ppoll(watched, count, isinf(left) ? NULL : &ts, NULL) < 0)
		die("cross: poll:");
}

/* The kernel has a connection's bytes as soon as there is one, and sends them without us. */
static void hand_over(nfds_t i)
{
	size_t size = amount[i];
	char *zeros = calloc(size, 1);

	set(watched[i].fd, SOL_SOCKET, SO_SNDBUFFORCE, 4 * size + 65536);
	if (write(watched[i].fd, zeros, size) != (ssize_t)size)
		fprintf(stderr, "cross: a flow was cut: %s\n", strerror(errno));
	free(zeros);
}

static void flows(const union addr *to)
{
	double interval = bounded_mean(opt.least, opt.most) * 8 / opt.rate *
			  TCP_FRAME / TCP_PAYLOAD;
	double next = exponential(interval), size;
	bool more;
	nfds_t i;

	while ((more = opt.start + next < opt.stop) || count) {
		if (more && (opt.print || opt.start + next <= elapsed())) {
			size = floor(bounded_pareto(opt.least, opt.most));
			if (opt.print)
				print_event(next, size);
			else
				watch(begin_connect(to), POLLOUT, size);
			next += exponential(interval);
			continue;
		}
		wait_watched(more ? opt.start + next : INFINITY);
		for (i = count; i-- > 0;) {
			if (!watched[i].revents)
				continue;
			hand_over(i);
			unwatch(i);
		}
	}
}

static void long_flows(const union addr *to)
{
	static const char zeros[CHUNK];
	const struct linger none = { .l_onoff = 1 };
	nfds_t i;

	wait_until(opt.start);
	for (i = 0; i < opt.count; i++)
		watch(begin_connect(to), POLLOUT, 0);
	while (elapsed() < opt.stop) {
		wait_watched(opt.stop);
		for (i = 0; i < count; i++)
			if (watched[i].revents &&
			    write(watched[i].fd, zeros, CHUNK) < 0 && errno != EAGAIN)
				die("cross: write:");
	}
	/* Nothing that waits in their buffers is sent any more. */
	while (count) {
		setsockopt(watched[0].fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
		unwatch(0);
	}
}

/* The sink. TCP grants its window from what has arrived, read or not, while the buffer has room.
 * So the limit is exact, although the sink reads only when there is much to read. TCP forgets the
 * limit when it learns how much memory packets take, so it is set again with each read.
 */
static void limit_window(int fd, int window)
{
	if (window)
		set(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, window);
}

static void listen_at(char *text)
{
	const char *port = strsep(&text, ":");
	int window = text ? (int)number(text) : 0;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	union addr at;

	addr_any(&at, AF_INET, number(port));
	if (fd < 0)
		die("cross: socket:");
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set(fd, SOL_SOCKET, SO_RCVBUFFORCE, SINK_BUFFER + 8 * window);
	set(fd, SOL_SOCKET, SO_RCVLOWAT, CHUNK);
	limit_window(fd, window);
	if (bind(fd, &at.sa, addr_len(&at)) || listen(fd, 4096))
		die("cross: port %s:", port);
	watch(fd, POLLIN, window);
}

static void go_background(void)
{
	pid_t pid = fork();
	FILE *f;

	if (pid < 0)
		die("cross: fork:");
	if (!pid) {
		setsid();
		return;
	}
	if (opt.pidfile) {
		f = fopen(opt.pidfile, "w");
		if (!f || fprintf(f, "%d\n", pid) < 0 || fclose(f))
			die("cross: %s:", opt.pidfile);
	}
	_exit(0);
}

static void sink(char **ports)
{
	static char buf[SINK_BUFFER];
	nfds_t listeners, i;

	while (*ports)
		listen_at(*ports++);
	listeners = count;
	go_background();
	for (;;) {
		if (poll(watched, count, -1) < 0)
			die("cross: poll:");
		for (i = count; i-- > listeners;) {
			if (!watched[i].revents)
				continue;
			limit_window(watched[i].fd, amount[i]);
			if (recv(watched[i].fd, buf, sizeof(buf), MSG_TRUNC | MSG_DONTWAIT) <= 0)
				unwatch(i);
		}
		for (i = 0; i < listeners; i++)
			if (watched[i].revents)
				watch(accept(watched[i].fd, NULL, NULL), POLLIN, amount[i]);
	}
}

static const struct option long_options[] = {
	{ "rate",	required_argument, NULL, 'r' },
	{ "start",	required_argument, NULL, 's' },
	{ "stop",	required_argument, NULL, 'e' },
	{ "seed",	required_argument, NULL, 'S' },
	{ "count",	required_argument, NULL, 'n' },
	{ "shape",	required_argument, NULL, 'a' },
	{ "on",		required_argument, NULL, 'o' },
	{ "off",	required_argument, NULL, 'O' },
	{ "packet",	required_argument, NULL, 'p' },
	{ "least",	required_argument, NULL, 'l' },
	{ "most",	required_argument, NULL, 'm' },
	{ "controller",	required_argument, NULL, 'c' },
	{ "print",	required_argument, NULL, 'P' },
	{ "pid",	required_argument, NULL, 'i' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ }
};

static bool parse_distribution(int c)
{
	switch (c) {
	case 'a':
		opt.shape = number(optarg);
		return true;
	case 'o':
		opt.on = number(optarg);
		return true;
	case 'O':
		opt.off = number(optarg);
		return true;
	case 'p':
		opt.packet = number(optarg);
		return true;
	case 'l':
		opt.least = number(optarg);
		return true;
	case 'm':
		opt.most = number(optarg);
		return true;
	}
	return false;
}

static bool parse_option(int c)
{
	switch (c) {
	case 'r':
		opt.rate = number(optarg);
		return true;
	case 's':
		opt.start = number(optarg);
		return true;
	case 'e':
		opt.stop = number(optarg);
		return true;
	case 'S':
		opt.seed = strtoull(optarg, NULL, 0);
		return true;
	case 'n':
		opt.count = number(optarg);
		return true;
	case 'c':
		opt.controller = optarg;
		return true;
	case 'P':
		opt.print = number(optarg);
		return true;
	case 'i':
		opt.pidfile = optarg;
		return true;
	}
	return parse_distribution(c);
}

/* What would have no end, or no meaning */
static void check_options(const char *kind)
{
	if (strcmp(kind, "long") && !(opt.rate > 0))
		die("cross: no --rate");
	if (!opt.count)
		opt.count = strcmp(kind, "udp") ? 1 : 64;
	if (!(opt.on > 0) || !(opt.off > 0) || !(opt.shape > 0))
		die("cross: --on, --off and --shape are positive");
	if (!(opt.least >= 1) || !(opt.most > opt.least) || opt.most > 1 << 28)
		die("cross: sizes of flows are from 1 byte to 256 MiB, --most the larger");
	if (opt.packet <= UDP_HEADERS || opt.packet > 65535)
		die("cross: no such --packet");
}

int main(int argc, char **argv)
{
	struct rlimit files = { 1 << 16, 1 << 16 };
	void (*send)(const union addr *to) = NULL;
	const char *kind;
	union addr to;
	int c;

	while ((c = getopt_long(argc, argv, "r:s:e:S:n:a:o:O:p:l:m:c:P:h", long_options,
				NULL)) != -1)
		if (!parse_option(c)) {
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	kind = optind < argc ? argv[optind++] : "";
	if (!strcmp(kind, "udp"))
		send = udp;
	else if (!strcmp(kind, "flows"))
		send = flows;
	else if (!strcmp(kind, "long"))
		send = long_flows;
	if (send ? argc - optind != 2 : strcmp(kind, "sink") || optind == argc) {
		usage(stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1);
	if (!opt.print)
		setrlimit(RLIMIT_NOFILE, &files);
	if (!send)
		sink(argv + optind);
	check_options(kind);
	if (!addr_parse(&to, argv[optind], number(argv[optind + 1])))
		die("cross: %s is no address", argv[optind]);
	state = mix64(opt.seed);
	begin = now_ns();
	send(&to);
	return 0;
}
