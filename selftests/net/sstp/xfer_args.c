// SPDX-License-Identifier: GPL-2.0
/* xfer's command line. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "xfer.h"

struct options opt = {
	.proto = PROTO_SSTP,
	.type = SOCK_STREAM,
	.family = AF_INET,
	.port = 7000,
	.job = { .magic = JOB_MAGIC, .size = 1 << 20, .write = 64 << 10,
		 .bin = 100000 },
	.timeout = 60,
	.lowat = 1,
};

static void usage(FILE *f)
{
	fprintf(f,
"Usage: xfer server [options]\n"
"       xfer client [options] ADDRESS\n"
"\n"
"Moves data between two hosts and checks every byte. Prints a JSON object per\n"
"connection (server) or in all (client). Exit status: 0 all is right, 1 not,\n"
"124 no end in time.\n"
"\n"
"  -P, --proto NAME       sstp (default), tcp or sctp\n"
"  -t, --type NAME        stream (default) or seqpacket\n"
"  -p, --port N           default 7000\n"
"  -B, --bind ADDRESS     local address\n"
"  -n, --connections N    client: at once (1); server: in all, 0 = no end (1)\n"
"  -T, --timeout SECONDS  0 = none (60)\n"
"  -j, --json FILE        where the JSON goes (standard output)\n"
"  -f, --file FILE        client: send this; server: write it here\n"
"  -h, --help\n"
"Server:\n"
"  -4, -6                 family; 6 takes both where the system does (4)\n"
"  -b, --background       return when clients may come\n"
"      --pid FILE         write the process ID\n"
"Client; sizes take k, M, G (1024), rates too (1000):\n"
"  -s, --size BYTES       each way and connection (1M)\n"
"  -w, --write BYTES      a write, which is a segment of seqpacket (64k)\n"
"  -R, --random           writes of random size, up to --write\n"
"  -S, --seed N           of content and sizes\n"
"  -d, --down             the server sends\n"
"  -u, --up               the client sends (default); both: at once\n"
"      --no-check         same zeros all the time (or the file), nothing verified\n"
"      --sendfile         send with sendfile(): the file, or with --no-check a write's zeros\n"
"      --zerocopy         send with MSG_ZEROCOPY; needs --no-check\n"
"Sockets:\n"
"      --rcvbuf BYTES, --sndbuf BYTES, --lowat BYTES\n"
"      --nodelay\n"
"      --read-size BYTES  a read of a stream (256k)\n"
"      --read-rate RATE   read slowly, bit/s\n"
"      --read-work N      use the CPU for N instructions per 1000 bytes read\n"
"      --read-pause MS    wait before the first read\n"
"      --read-gap MS:PAUSE[:PAUSE...]  after MS of reading none for PAUSE ms, for\n"
"                         the next one then, and so on, again and again\n"
"      --read-trace FILE  read as a recorded program: lines MICROSECONDS BYTES, as\n"
"                         tools/bench/forecast reads, again from the first one\n"
"                         after the last. What it could read while no data was\n"
"                         there is lost\n"
"      --send-pause MS    wait before sending content\n"
"      --for SECONDS      send for so long, or until SIGTERM, in place of --size\n"
"      --bin US           client: count what came in so many microseconds (100k);\n"
"                         SSTP: look at the receive buffer then, read or not\n"
"      --keepalive\n"
"      --controller NAME  TCP: congestion control\n"
"      --param NAME=N     SSTP: a parameter of the controller, repeatable\n"
"      --peak             TCP: look at the receive buffer before each read\n"
"SSTP (SOL_SSTP options):\n"
"      --rate P[:AVERAGE[:F[:L]]]  contract, bit/s; F in 1/1000 s\n"
"      --rate-limit RATE  what the peer may send\n"
"      --segment BYTES    segments made of a stream\n"
"      --segment-limit BYTES\n"
"      --tolerance PPM    packets in a million that a segment may lack\n"
"      --ack hard|soft\n"
"      --window-factor PERCENT, --window SEGMENTS (at most)\n"
"      --policy NAME, --pool  of the receive buffer; one for all connections\n"
"      --policy-param NAME=N  a parameter of the policy, repeatable\n"
"      --user-timeout MS\n");
}

static uint64_t number(const char *text, unsigned int unit)
{
	uint64_t value;

	if (!parse_scaled(text, unit, &value))
		die("xfer: %s is no number", text);
	return value;
}

static void parse_rate(char *text)
{
	struct sstp_rate_spec *r = &opt.rate;
	char *part = strsep(&text, ":");

	r->peak = number(part, 1000);
	part = strsep(&text, ":");
	r->average = part ? number(part, 1000) : 0;
	part = strsep(&text, ":");
	r->burst_rate = part ? number(part, 1000) : 0;
	r->burst_len = text ? number(text, 1000) : 0;
}

/* Append the parameter in @text to the @n in @params, of which SSTP_PARAMS_MAX have room. */
static void parse_param(char *text, struct sstp_param *params, unsigned int *n)
{
	const char *name = strsep(&text, "=");
	struct sstp_param *p = &params[*n];

	if (*n == SSTP_PARAMS_MAX)
		die("xfer: %d parameters at most", SSTP_PARAMS_MAX);
	if (!text || !*name || strlen(name) >= sizeof(p->name))
		die("xfer: a parameter is NAME=N");
	strcpy(p->name, name);
	p->value = number(text, 1000);
	(*n)++;
}

static void parse_gap(char *text)
{
	unsigned int n;
	char *part;

	for (n = 0; (part = strsep(&text, ":")); n++) {
		if (n > GAPS_MAX)
			die("xfer: %d pauses at most", GAPS_MAX);
		opt.gap[n] = number(part, 1000);
	}
	if (n < 2)
		die("xfer: --read-gap without a pause");
	opt.gaps = n - 1;
}

static void read_trace(const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t us, bytes, sum = 0;
	char line[200];

	if (!f)
		die("xfer: %s:", path);
	while (fgets(line, sizeof(line), f)) {
		size_t n = opt.grants;

		if (strspn(line, " \t\n") == strcspn(line, "#"))
			continue;
		opt.trace = realloc(opt.trace, (n + 1) * sizeof(*opt.trace));
		if (!opt.trace || sscanf(line, "%" SCNu64 " %" SCNu64, &us, &bytes) != 2 ||
		    us * 1000 <= (n ? opt.trace[n - 1].at : 0))
			die("xfer: %s: MICROSECONDS BYTES are wanted, and times that ascend", path);
		opt.trace[n] = (struct grant){ .at = us * 1000, .bytes = bytes };
		opt.grants++;
		sum += bytes;
	}
	if (!sum)
		die("xfer: %s grants nothing", path);
	fclose(f);
}

enum {				/* long options without a letter */
	O_PID = 256, O_NOCHECK, O_PEAK, O_RCVBUF, O_SNDBUF, O_LOWAT, O_NODELAY,
	O_READSIZE, O_READRATE, O_READPAUSE, O_CTRL, O_RATE, O_LIMIT, O_SEGMENT,
	O_SEGLIMIT, O_TOLERANCE, O_ACK, O_FACTOR, O_CLAMP, O_POOL, O_POLICY,
	O_TIMEOUT, O_SENDPAUSE, O_KEEPALIVE, O_FOR, O_BIN, O_READGAP,
	O_PARAM, O_POLICYPARAM, O_TRACE, O_SENDFILE, O_ZEROCOPY, O_READWORK,
};

static const struct option long_options[] = {
	{ "proto",	required_argument, NULL, 'P' },
	{ "type",	required_argument, NULL, 't' },
	{ "port",	required_argument, NULL, 'p' },
	{ "bind",	required_argument, NULL, 'B' },
	{ "connections", required_argument, NULL, 'n' },
	{ "timeout",	required_argument, NULL, 'T' },
	{ "json",	required_argument, NULL, 'j' },
	{ "file",	required_argument, NULL, 'f' },
	{ "help",	no_argument, NULL, 'h' },
	{ "background",	no_argument, NULL, 'b' },
	{ "size",	required_argument, NULL, 's' },
	{ "write",	required_argument, NULL, 'w' },
	{ "random",	no_argument, NULL, 'R' },
	{ "seed",	required_argument, NULL, 'S' },
	{ "down",	no_argument, NULL, 'd' },
	{ "up",		no_argument, NULL, 'u' },
	{ "pid",	required_argument, NULL, O_PID },
	{ "no-check",	no_argument, NULL, O_NOCHECK },
	{ "sendfile",	no_argument, NULL, O_SENDFILE },
	{ "zerocopy",	no_argument, NULL, O_ZEROCOPY },
	{ "rcvbuf",	required_argument, NULL, O_RCVBUF },
	{ "sndbuf",	required_argument, NULL, O_SNDBUF },
	{ "lowat",	required_argument, NULL, O_LOWAT },
	{ "nodelay",	no_argument, NULL, O_NODELAY },
	{ "read-size",	required_argument, NULL, O_READSIZE },
	{ "read-rate",	required_argument, NULL, O_READRATE },
	{ "read-work",	required_argument, NULL, O_READWORK },
	{ "read-pause",	required_argument, NULL, O_READPAUSE },
	{ "read-gap",	required_argument, NULL, O_READGAP },
	{ "read-trace",	required_argument, NULL, O_TRACE },
	{ "send-pause",	required_argument, NULL, O_SENDPAUSE },
	{ "for",	required_argument, NULL, O_FOR },
	{ "bin",	required_argument, NULL, O_BIN },
	{ "keepalive",	no_argument, NULL, O_KEEPALIVE },
	{ "peak",	no_argument, NULL, O_PEAK },
	{ "controller",	required_argument, NULL, O_CTRL },
	{ "param",	required_argument, NULL, O_PARAM },
	{ "rate",	required_argument, NULL, O_RATE },
	{ "rate-limit",	required_argument, NULL, O_LIMIT },
	{ "segment",	required_argument, NULL, O_SEGMENT },
	{ "segment-limit", required_argument, NULL, O_SEGLIMIT },
	{ "tolerance",	required_argument, NULL, O_TOLERANCE },
	{ "ack",	required_argument, NULL, O_ACK },
	{ "window-factor", required_argument, NULL, O_FACTOR },
	{ "window",	required_argument, NULL, O_CLAMP },
	{ "pool",	no_argument,	   NULL, O_POOL },
	{ "policy",	required_argument, NULL, O_POLICY },
	{ "policy-param", required_argument, NULL, O_POLICYPARAM },
	{ "user-timeout", required_argument, NULL, O_TIMEOUT },
	{ }
};

static void parse_proto(const char *name)
{
	int proto = proto_find(name);

	if (proto < 0)
		die("xfer: unknown protocol %s", name);
	opt.proto = proto;
}

static void parse_type(const char *name)
{
	if (strcmp(name, "stream") && strcmp(name, "seqpacket"))
		die("xfer: unknown type %s", name);
	opt.type = strcmp(name, "stream") ? SOCK_SEQPACKET : SOCK_STREAM;
}

/* What both roles do: returns false if @c is no such option. */
static bool parse_general(int c)
{
	switch (c) {
	case 'P':
		parse_proto(optarg);
		return true;
	case 't':
		parse_type(optarg);
		return true;
	case 'p':
		opt.port = number(optarg, 1000);
		return true;
	case 'B':
		opt.bind = optarg;
		return true;
	case 'n':
		opt.connections = number(optarg, 1000);
		return true;
	case 'T':
		opt.timeout = number(optarg, 1000);
		return true;
	case 'j':
		opt.json = optarg;
		return true;
	case 'f':
		opt.file = optarg;
		return true;
	}
	return false;
}

static bool parse_server(int c)
{
	switch (c) {
	case '4':
		opt.family = AF_INET;
		return true;
	case '6':
		opt.family = AF_INET6;
		return true;
	case 'b':
		opt.background = true;
		return true;
	case O_PID:
		opt.pidfile = optarg;
		return true;
	}
	return false;
}

/* What a client asks of the server, and does itself */
static bool parse_job(int c)
{
	switch (c) {
	case 's':
		opt.job.size = number(optarg, 1024);
		return true;
	case 'w':
		opt.job.write = number(optarg, 1024);
		if (!opt.job.write)
			die("xfer: --write 0 would never end");
		return true;
	case 'R':
		opt.job.flags |= JOB_RANDOM;
		return true;
	case 'S':
		opt.job.seed = strtoull(optarg, NULL, 0);
		return true;
	case 'd':
		opt.job.flags |= JOB_DOWN;
		return true;
	case 'u':
		opt.job.flags |= JOB_UP;
		return true;
	case O_NOCHECK:
		opt.job.flags |= JOB_UNCHECKED;
		return true;
	case O_SENDFILE:
		opt.sendfile = true;
		return true;
	case O_ZEROCOPY:
		opt.zerocopy = true;
		return true;
	case O_FOR:
		opt.seconds = number(optarg, 1000);
		return true;
	case O_BIN:
		opt.job.bin = number(optarg, 1000);
		opt.job.flags |= JOB_BINS;
		if (!opt.job.bin)
			die("xfer: --bin 0 has no time");
		return true;
	}
	return false;
}

/* When content is read and sent */
static bool parse_pace(int c)
{
	switch (c) {
	case O_READSIZE:
		opt.read_size = number(optarg, 1024);
		return true;
	case O_READRATE:
		opt.read_rate = number(optarg, 1000);
		return true;
	case O_READWORK:
		opt.read_work = number(optarg, 1000);
		return true;
	case O_READPAUSE:
		opt.read_pause = number(optarg, 1000);
		return true;
	case O_READGAP:
		parse_gap(optarg);
		return true;
	case O_TRACE:
		read_trace(optarg);
		return true;
	case O_SENDPAUSE:
		opt.send_pause = number(optarg, 1000);
		return true;
	case O_PEAK:
		opt.peak = true;
		return true;
	}
	return false;
}

/* Options of sockets that several protocols have */
static bool parse_socket(int c)
{
	switch (c) {
	case O_RCVBUF:
		opt.rcvbuf = number(optarg, 1024);
		return true;
	case O_SNDBUF:
		opt.sndbuf = number(optarg, 1024);
		return true;
	case O_LOWAT:
		opt.lowat = number(optarg, 1024);
		return true;
	case O_NODELAY:
		opt.nodelay = true;
		opt.sstp[SSTP_NODELAY] = 1;
		return true;
	case O_KEEPALIVE:
		opt.keepalive = true;
		return true;
	case O_CTRL:
		opt.controller = optarg;
		return true;
	}
	return false;
}

static bool parse_sstp(int c)
{
	switch (c) {
	case O_PARAM:
		parse_param(optarg, opt.param, &opt.params);
		return true;
	case O_POLICYPARAM:
		parse_param(optarg, opt.policy_param, &opt.policy_params);
		return true;
	case O_RATE:
		parse_rate(optarg);
		return true;
	case O_LIMIT:
		opt.sstp[SSTP_RATE_LIMIT] = number(optarg, 1000);
		return true;
	case O_SEGMENT:
		opt.sstp[SSTP_SEGMENT_SIZE] = number(optarg, 1024);
		return true;
	case O_SEGLIMIT:
		opt.sstp[SSTP_SEGMENT_LIMIT] = number(optarg, 1024);
		return true;
	case O_TOLERANCE:
		opt.sstp[SSTP_TOLERANCE] = number(optarg, 1000);
		return true;
	case O_ACK:
		opt.sstp[SSTP_ACK_STRATEGY] = strcmp(optarg, "soft") ?
					      SSTP_ACK_HARD : SSTP_ACK_SOFT;
		return true;
	case O_FACTOR:
		opt.sstp[SSTP_WINDOW_FACTOR] = number(optarg, 1000);
		return true;
	case O_POOL:
		opt.sstp[SSTP_POOL] = 1;
		return true;
	case O_CLAMP:
		opt.sstp[SSTP_WINDOW_CLAMP] = number(optarg, 1000);
		return true;
	case O_POLICY:
		opt.policy = optarg;
		return true;
	case O_TIMEOUT:
		opt.sstp[SSTP_USER_TIMEOUT] = number(optarg, 1000);
		return true;
	}
	return false;
}

static void parse_option(int c)
{
	if (parse_general(c) || parse_server(c) || parse_job(c) || parse_pace(c) ||
	    parse_socket(c) || parse_sstp(c))
		return;
	usage(c == 'h' ? stdout : stderr);
	exit(c == 'h' ? 0 : 2);
}

const char *parse_args(int argc, char **argv)
{
	bool serving;
	int c;

	memset(opt.sstp, 0xff, sizeof(opt.sstp));
	opt.connections = 1;
	while ((c = getopt_long(argc, argv, "P:t:p:B:n:T:j:f:h46bs:w:RS:du",
				long_options, NULL)) != -1)
		parse_option(c);
	serving = optind < argc && !strcmp(argv[optind], "server");
	if (optind >= argc || (!serving && strcmp(argv[optind], "client")) ||
	    argc - optind != (serving ? 1 : 2)) {
		usage(stderr);
		exit(2);
	}
	if (!(opt.job.flags & JOB_UNCHECKED) &&
	    (opt.zerocopy || (opt.sendfile && !opt.file)))
		die("xfer: bytes that may still be sent would be written to; see --no-check");
	return serving ? NULL : argv[optind + 1];
}
