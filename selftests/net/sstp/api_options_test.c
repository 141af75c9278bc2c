// SPDX-License-Identifier: GPL-2.0
/* Socket options of all levels. */
/* timeout: 300 */
/* quick: yes */
#include <netinet/tcp.h>

#include "compare.h"

static void row_buffers(void)
{
	int fd = sock(), peer;

	note("RCVBUF", set_int(fd, SOL_SOCKET, SO_RCVBUF, 50000));
	notef("doubled", "%d", get_int(fd, SOL_SOCKET, SO_RCVBUF));
	note("SNDBUF", set_int(fd, SOL_SOCKET, SO_SNDBUF, 50000));
	notef("doubled", "%d", get_int(fd, SOL_SOCKET, SO_SNDBUF));
	note("RCVBUF 1", set_int(fd, SOL_SOCKET, SO_RCVBUF, 1));
	notef("least", "%d", get_int(fd, SOL_SOCKET, SO_RCVBUF));
	note("SNDBUF 1", set_int(fd, SOL_SOCKET, SO_SNDBUF, 1));
	notef("least", "%d", get_int(fd, SOL_SOCKET, SO_SNDBUF));
	note("RCVBUF max", set_int(fd, SOL_SOCKET, SO_RCVBUF, INT_MAX));
	notef("most", "%d", get_int(fd, SOL_SOCKET, SO_RCVBUF));
	note("RCVBUFFORCE", set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, 12345678));
	notef("doubled", "%d", get_int(fd, SOL_SOCKET, SO_RCVBUF));
	note("short", setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &fd, 2));
	note("bad pointer", setsockopt(fd, SOL_SOCKET, SO_RCVBUF, BAD_POINTER,
				       4));
	close(fd);
	fd = sock();
	set_int(fd, SOL_SOCKET, SO_RCVBUF, 77777);
	set_int(fd, SOL_SOCKET, SO_SNDBUF, 88888);
	peer = pair_of(sock(), fd);
	notef("inherited", "%d %d", get_int(peer, SOL_SOCKET, SO_RCVBUF),
	      get_int(peer, SOL_SOCKET, SO_SNDBUF));
}

static void row_sol_socket(void)
{
	static const struct {
		const char *name;
		int opt;
		int value;
	} opts[] = {
		{ "KEEPALIVE", SO_KEEPALIVE, 1 },
		{ "PRIORITY", SO_PRIORITY, 3 },
		{ "MARK", SO_MARK, 17 },
		{ "BROADCAST", SO_BROADCAST, 1 },
		{ "DONTROUTE", SO_DONTROUTE, 1 },
		{ "OOBINLINE", SO_OOBINLINE, 1 },
		{ "TIMESTAMP", SO_TIMESTAMP, 1 },
		{ "DEBUG", SO_DEBUG, 0 },
		{ "BUSY_POLL", SO_BUSY_POLL, 0 },
		{ "NOFCS", SO_NOFCS, 1 },
		{ "unknown", 200, 1 },
	};
	int fd = sock();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opts); i++)
		try_int(opts[i].name, fd, SOL_SOCKET, opts[i].opt,
			opts[i].value);
	note("set TYPE", set_int(fd, SOL_SOCKET, SO_TYPE, 1));
	note("set ERROR", set_int(fd, SOL_SOCKET, SO_ERROR, 1));
	note("set ACCEPTCONN", set_int(fd, SOL_SOCKET, SO_ACCEPTCONN, 1));
	notef("level 999 set", "%s", result(set_int(fd, 999, 1, 1)));
	notef("level 999 get", "%s", result(get_int(fd, 999, 1)));
}

static void row_identity(void)
{
	int peer, fd = sock();

	notef("TYPE", "%d", get_int(fd, SOL_SOCKET, SO_TYPE));
	notef("DOMAIN", "%d", get_int(fd, SOL_SOCKET, SO_DOMAIN));
	notef("PROTOCOL", "%d", get_int(fd, SOL_SOCKET, SO_PROTOCOL));
	fd = pair(&peer);
	notef("DOMAIN of a connection", "%d", get_int(fd, SOL_SOCKET, SO_DOMAIN));
	notef("DOMAIN when accepted", "%d", get_int(peer, SOL_SOCKET, SO_DOMAIN));
	notef("PROTOCOL when accepted", "%d", get_int(peer, SOL_SOCKET, SO_PROTOCOL));
	connect(fd, &(struct sockaddr){ AF_UNSPEC }, sizeof(struct sockaddr));
	notef("DOMAIN after it", "%d", get_int(fd, SOL_SOCKET, SO_DOMAIN));
}

static void row_zerocopy(void)
{
	int fd = sock();

	note("ZEROCOPY", set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 1));
	note("2", set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 2));
	notef("is", "%d", get_int(fd, SOL_SOCKET, SO_ZEROCOPY));
}

static void try_mtu_discover(int fd, int level, int opt)
{
	notef("MTU_DISCOVER", "%d", get_int(fd, level, opt));
	note("WANT", set_int(fd, level, opt, IP_PMTUDISC_WANT));
	note("DONT", set_int(fd, level, opt, IP_PMTUDISC_DONT));
	note("PROBE", set_int(fd, level, opt, IP_PMTUDISC_PROBE));
	note("99", set_int(fd, level, opt, 99));
}

static uint32_t port_range(uint16_t low, uint16_t high)
{
	return (uint32_t)high << 16 | low;
}

static void row_port_range(void)
{
	uint32_t range = port_range(40000, 50000);
	int fd = socket(AF_INET, SOCK_STREAM, 0), child;

	/* TCP has it since Linux 6.3. */
	if (sock_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE) == -ENOPROTOOPT)
		return;
	close(fd);
	fd = sock();
	notef("none", "%#x", get_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE));
	note("set", set_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE, range));
	notef("get", "%#x", get_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE));
	note("no bytes", setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, NULL, 0));
	note("one", setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, &range, 1));
	note("two", setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, &range, 2));
	note("eight", setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, (uint64_t[]){ 0 }, 8));
	note("a bad address", setsockopt(fd, SOL_IP, IP_LOCAL_PORT_RANGE, (void *)1, 4));
	note("backwards", set_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE, port_range(50000, 40000)));
	note("one end", set_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE, port_range(0, 1)));
	note("the other", set_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE, port_range(65535, 0)));
	notef("is", "%#x", get_int(fd, SOL_IP, IP_LOCAL_PORT_RANGE));
	child = pair_of(sock(), fd);
	notef("of a child", "%#x", get_int(child, SOL_IP, IP_LOCAL_PORT_RANGE));
}

static void row_sol_ip(void)
{
	int fd = sock();

	if (family == AF_INET6) {
		try_int("TCLASS", fd, SOL_IPV6, IPV6_TCLASS, 0x20);
		try_int("HOPS", fd, SOL_IPV6, IPV6_UNICAST_HOPS, 9);
		note("HOPS 256", set_int(fd, SOL_IPV6, IPV6_UNICAST_HOPS, 256));
		note("HOPS -1", set_int(fd, SOL_IPV6, IPV6_UNICAST_HOPS, -1));
		note("HOPS are", get_int(fd, SOL_IPV6, IPV6_UNICAST_HOPS));
		note("TCLASS 256", set_int(fd, SOL_IPV6, IPV6_TCLASS, 256));
		try_int("FREEBIND", fd, SOL_IPV6, IPV6_FREEBIND, 1);
		try_mtu_discover(fd, SOL_IPV6, IPV6_MTU_DISCOVER);
		note("unknown", set_int(fd, SOL_IPV6, 250, 1));
		note("unknown get", get_int(fd, SOL_IPV6, 250));
		return;
	}
	try_int("TOS", fd, SOL_IP, IP_TOS, 0x10);
	try_int("TTL", fd, SOL_IP, IP_TTL, 9);
	note("TTL 0", set_int(fd, SOL_IP, IP_TTL, 0));
	note("TTL 256", set_int(fd, SOL_IP, IP_TTL, 256));
	note("TTL -1", set_int(fd, SOL_IP, IP_TTL, -1));
	note("TTL is", get_int(fd, SOL_IP, IP_TTL));
	try_int("FREEBIND", fd, SOL_IP, IP_FREEBIND, 1);
	try_int("BIND_ADDRESS_NO_PORT", fd, SOL_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	try_mtu_discover(fd, SOL_IP, IP_MTU_DISCOVER);
	note("TOS one byte", setsockopt(fd, SOL_IP, IP_TOS, "\x08", 1));
	note("TOS is", get_int(fd, SOL_IP, IP_TOS));
	note("unknown", set_int(fd, SOL_IP, 250, 1));
	note("unknown get", get_int(fd, SOL_IP, 250));
}

static void bind_foreign(int fd)
{
	union addr a;

	addr_parse(&a, family == AF_INET ? "198.51.100.1" : "2001:db8:9::1", 0);
	note("set", set_int(fd, SOL_IP, IP_FREEBIND, 1));
	notef("get", "%d", get_int(fd, SOL_IP, IP_FREEBIND));
	note("bind", xbind(fd, &a));
}

static void note_connect(int fd)
{
	union addr a;

	hole(&a);
	nonblock(fd, true);
	note("connect", xconnect(fd, &a));
}

/* IP_FREEBIND allows a non-local address, but not to send from it. */
static void row_mtu(void)
{
	int level = family == AF_INET ? SOL_IP : SOL_IPV6;
	int opt = family == AF_INET ? IP_MTU : IPV6_MTU;
	int ttl = family == AF_INET ? IP_TTL : IPV6_UNICAST_HOPS;
	int peer, fd = sock();

	note("unconnected", get_int(fd, level, opt));
	fd = pair(&peer);
	notef("connected", "%d", get_int(fd, level, opt));
	note("TTL", set_int(fd, level, ttl, 60));
	notef("again", "%d", get_int(fd, level, opt));
	close(fd);
}

static void row_freebind(void)
{
	int fd = sock();

	bind_foreign(fd);
	note_connect(fd);
	note("unset", set_int(fd, SOL_IP, IP_FREEBIND, 0));
	note_connect(fd);
}

static void local_network(const char *verb)
{
	char command[64];

	snprintf(command, sizeof(command), "ip route %s local %s dev lo", verb,
		 family == AF_INET ? "198.51.100.0/24" : "2001:db8:9::/64");
	if (system(command))
		bail("ip route");
}

/* ... except an address of a network that is local as a whole. */
static void row_freebind_network(void)
{
	int fd = sock();

	local_network("add");
	bind_foreign(fd);
	note_connect(fd);
	local_network("del");
}

/* Options of TCP that have their meaning here, too: how they are set and read */
static void row_sol_tcp(void)
{
	static const struct {
		const char *name;
		int opt;
		int good;
	} opts[] = {
		{ "NODELAY", TCP_NODELAY, 1 },
		{ "CORK", TCP_CORK, 1 },
		{ "KEEPIDLE", TCP_KEEPIDLE, 100 },
		{ "KEEPINTVL", TCP_KEEPINTVL, 9 },
		{ "KEEPCNT", TCP_KEEPCNT, 3 },
		{ "SYNCNT", TCP_SYNCNT, 3 },
		{ "USER_TIMEOUT", TCP_USER_TIMEOUT, 9 },
		{ "LINGER2", TCP_LINGER2, 9 },
		{ "DEFER_ACCEPT", TCP_DEFER_ACCEPT, 9 },
		{ "NOTSENT_LOWAT", TCP_NOTSENT_LOWAT, 9999 },
		{ "WINDOW_CLAMP", TCP_WINDOW_CLAMP, 99999 },
		{ "unknown", 250, 1 },
	};
	static const int given[] = {
		TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
		TCP_USER_TIMEOUT, TCP_LINGER2, TCP_DEFER_ACCEPT,
		TCP_NOTSENT_LOWAT, TCP_WINDOW_CLAMP, TCP_MAXSEG,
	};
	int fd = sock();
	char label[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(given); i++) {
		snprintf(label, sizeof(label), "%d by default", given[i]);
		note(label, get_int(fd, IPPROTO_TCP, given[i]));
	}
	for (i = 0; i < ARRAY_SIZE(opts); i++)
		try_int(opts[i].name, fd, IPPROTO_TCP, opts[i].opt, opts[i].good);
}

static void row_sol_tcp_values(void)
{
	static const struct {
		const char *name;
		int opt;
		int value[4];
	} opts[] = {
		{ "NODELAY", TCP_NODELAY, { 0, 7, -1, 0 } },
		{ "CORK", TCP_CORK, { 0, 7, -1, 0 } },
		{ "KEEPIDLE", TCP_KEEPIDLE, { 0, 32767, 32768, -1 } },
		{ "KEEPINTVL", TCP_KEEPINTVL, { 0, 32767, 32768, -1 } },
		{ "KEEPCNT", TCP_KEEPCNT, { 0, 127, 128, -1 } },
		{ "SYNCNT", TCP_SYNCNT, { 127, 0, 128, -1 } },
		{ "USER_TIMEOUT", TCP_USER_TIMEOUT, { 0, INT_MAX, -1, 1 } },
		{ "LINGER2", TCP_LINGER2, { -7, 120, 9999, 0 } },
		{ "DEFER_ACCEPT", TCP_DEFER_ACCEPT, { 1, 200, -1, 0 } },
		{ "NOTSENT_LOWAT", TCP_NOTSENT_LOWAT, { 1, INT_MAX, 0, 3 } },
		{ "WINDOW_CLAMP", TCP_WINDOW_CLAMP, { 1, INT_MAX, -1, 0 } },
	};
	int fd = sock();
	char label[64];
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(opts); i++)
		for (k = 0; k < ARRAY_SIZE(opts[i].value); k++) {
			snprintf(label, sizeof(label), "%s %d", opts[i].name,
				 opts[i].value[k]);
			note(label, set_int(fd, IPPROTO_TCP, opts[i].opt,
					    opts[i].value[k]));
			snprintf(label, sizeof(label), "%s %d is", opts[i].name,
				 opts[i].value[k]);
			note(label, get_int(fd, IPPROTO_TCP, opts[i].opt));
		}
	note("QUICKACK", set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 1));
	note("QUICKACK is", get_int(fd, IPPROTO_TCP, TCP_QUICKACK));
	note("QUICKACK 0", set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 0));
	note("QUICKACK is", get_int(fd, IPPROTO_TCP, TCP_QUICKACK));
	note("CONGESTION empty", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "", 0));
	note("CONGESTION unknown", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION,
					      "nonesuch", 8));
	note("CONGESTION bad pointer", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION,
						  BAD_POINTER, 8));
}

static void note_tcp(const char *what, int fd)
{
	static const int opts[] = {
		TCP_NODELAY, TCP_CORK, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
		TCP_SYNCNT, TCP_USER_TIMEOUT, TCP_LINGER2, TCP_NOTSENT_LOWAT,
	};
	char label[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(opts); i++) {
		snprintf(label, sizeof(label), "%s: %d", what, opts[i]);
		note(label, get_int(fd, IPPROTO_TCP, opts[i]));
	}
}

/* An accepted socket inherits the options of its listener. */
static void row_sol_tcp_inherit(void)
{
	int l = sock(), fd = sock(), peer;
	union addr a;

	set_int(l, IPPROTO_TCP, TCP_NODELAY, 1);
	set_int(l, IPPROTO_TCP, TCP_CORK, 1);
	set_int(l, IPPROTO_TCP, TCP_KEEPIDLE, 11);
	set_int(l, IPPROTO_TCP, TCP_KEEPINTVL, 12);
	set_int(l, IPPROTO_TCP, TCP_KEEPCNT, 13);
	set_int(l, IPPROTO_TCP, TCP_SYNCNT, 14);
	set_int(l, IPPROTO_TCP, TCP_USER_TIMEOUT, 15000);
	set_int(l, IPPROTO_TCP, TCP_LINGER2, 16);
	set_int(l, IPPROTO_TCP, TCP_NOTSENT_LOWAT, 170000);
	start_listening(l, &a);
	note("WINDOW_CLAMP 0 of a listener", set_int(l, IPPROTO_TCP,
						     TCP_WINDOW_CLAMP, 0));
	join(fd, &a);
	peer = accept(l, NULL, NULL);
	note_tcp("listener", l);
	note_tcp("accepted", peer);
}

/* --- SOL_SSTP -------------------------------------------------------------- */

/* An option of 4 bytes with lowest and highest value; others change nothing. */
static void try_sstp(int fd, int opt, const char *name, long low, long high,
		     long given)
{
	char label[64];
	int v;

	snprintf(label, sizeof(label), "%s by default", name);
	expect_num(label, get_int(fd, SOL_SSTP, opt), given);
	snprintf(label, sizeof(label), "%s lowest", name);
	expect(label, set_int(fd, SOL_SSTP, opt, low), "0");
	expect_num(label, get_int(fd, SOL_SSTP, opt), low);
	snprintf(label, sizeof(label), "%s highest", name);
	expect(label, set_int(fd, SOL_SSTP, opt, high), "0");
	expect_num(label, get_int(fd, SOL_SSTP, opt), high);
	if (low > 0) {
		snprintf(label, sizeof(label), "%s too low", name);
		expect(label, set_int(fd, SOL_SSTP, opt, low - 1), "EINVAL");
	}
	snprintf(label, sizeof(label), "%s too high", name);
	expect(label, set_int(fd, SOL_SSTP, opt, (unsigned int)high + 1),
	       "EINVAL");
	snprintf(label, sizeof(label), "%s -1", name);
	expect(label, set_int(fd, SOL_SSTP, opt, -1), "EINVAL");
	snprintf(label, sizeof(label), "%s unchanged", name);
	expect_num(label, get_int(fd, SOL_SSTP, opt), high);
	snprintf(label, sizeof(label), "%s too short", name);
	expect(label, setsockopt(fd, SOL_SSTP, opt, &v, 3), "EINVAL");
	expect(label, setsockopt(fd, SOL_SSTP, opt, &v, 0), "EINVAL");
	snprintf(label, sizeof(label), "%s bad pointer", name);
	expect(label, setsockopt(fd, SOL_SSTP, opt, BAD_POINTER, 4), "EFAULT");
	expect(label, getsockopt(fd, SOL_SSTP, opt, BAD_POINTER,
				 &(socklen_t){ 4 }), "EFAULT");
	expect(label, getsockopt(fd, SOL_SSTP, opt, &v, BAD_POINTER), "EFAULT");
}

static void row_sstp_numbers(void)
{
	int fd = sock();

	try_sstp(fd, SSTP_SEGMENT_SIZE, "SEGMENT_SIZE", 1, SSTP_SEGMENT_MAX,
		 64 << 10);
	try_sstp(fd, SSTP_SEGMENT_LIMIT, "SEGMENT_LIMIT", 512, SSTP_SEGMENT_MAX,
		 SSTP_SEGMENT_MAX);
	try_sstp(fd, SSTP_TOLERANCE, "TOLERANCE", 0, 1000000, 0);
	try_sstp(fd, SSTP_ACK_STRATEGY, "ACK_STRATEGY", SSTP_ACK_HARD,
		 SSTP_ACK_SOFT, SSTP_ACK_HARD);
	try_sstp(fd, SSTP_WINDOW_FACTOR, "WINDOW_FACTOR", 100, 1000, 100);
	try_sstp(fd, SSTP_USER_TIMEOUT, "USER_TIMEOUT", 0, INT_MAX, 0);
	try_sstp(fd, SSTP_WINDOW_CLAMP, "WINDOW_CLAMP", 0, INT_MAX, 0);
}

static void row_sstp_nodelay(void)
{
	int fd = sock();

	expect("default", get_int(fd, SOL_SSTP, SSTP_NODELAY), "0");
	expect("set", set_int(fd, SOL_SSTP, SSTP_NODELAY, 7), "0");
	expect("is", get_int(fd, SOL_SSTP, SSTP_NODELAY), "1");
	expect("unset", set_int(fd, SOL_SSTP, SSTP_NODELAY, 0), "0");
	expect("is", get_int(fd, SOL_SSTP, SSTP_NODELAY), "0");
}

static int set_rate(int fd, uint64_t peak, uint64_t average, uint32_t f,
		    uint32_t l)
{
	struct sstp_rate_spec r = { peak, average, f, l };

	return setsockopt(fd, SOL_SSTP, SSTP_RATE, &r, sizeof(r));
}

static void row_sstp_rate(void)
{
	struct sstp_rate_spec r = {}, zero = {};
	socklen_t len = sizeof(r);
	int fd = sock();
	uint64_t limit = 1;

	expect("get", getsockopt(fd, SOL_SSTP, SSTP_RATE, &r, &len), "0");
	expect_num("none by default", memcmp(&r, &zero, sizeof(r)), 0);
	expect("set", set_rate(fd, 100000000, 50000000, 1000000, 4), "0");
	expect("average above peak", set_rate(fd, 1000000, 2000000, 0, 0),
	       "EINVAL");
	expect("get", getsockopt(fd, SOL_SSTP, SSTP_RATE, &r, &len), "0");
	expect_num("unchanged: peak", r.peak, 100000000);
	expect_num("average", r.average, 50000000);
	expect_num("F", r.burst_rate, 1000000);
	expect_num("L", r.burst_len, 4);
	expect("peak alone", set_rate(fd, 10000000, 0, 0, 0), "0");
	expect("none", set_rate(fd, 0, 0, 0, 0), "0");
	expect("too short", setsockopt(fd, SOL_SSTP, SSTP_RATE, &r,
				       sizeof(r) - 1), "EINVAL");
	expect("bad pointer", setsockopt(fd, SOL_SSTP, SSTP_RATE, BAD_POINTER,
					 sizeof(r)), "EFAULT");

	len = sizeof(limit);
	expect("limit", getsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT, &limit, &len),
	       "0");
	expect_num("none by default", limit, 0);
	limit = 1ULL << 33;
	expect("set", setsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT, &limit,
				 sizeof(limit)), "0");
	limit = 0;
	getsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT, &limit, &len);
	expect_num("limit is", limit, 1LL << 33);
	expect("limit too short", setsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT,
					     &limit, 4), "EINVAL");
}

static int set_text(int fd, int opt, const char *text, socklen_t len)
{
	return setsockopt(fd, SOL_SSTP, opt, text, len);
}

static void row_sstp_names(void)
{
	static const int opts[] = { SSTP_CONTROLLER, SSTP_BUFFER_POLICY };
	char name[64], first[SSTP_NAME_MAX];
	int fd = sock();
	unsigned int i;
	socklen_t len;

	for (i = 0; i < 2; i++) {
		len = sizeof(first);
		expect("get", getsockopt(fd, SOL_SSTP, opts[i], first, &len),
		       "0");
		expect_num("length", len, SSTP_NAME_MAX);
		expect("unknown", set_text(fd, opts[i], "nonesuch", 8), "ENOENT");
		expect("empty", set_text(fd, opts[i], "", 0), "EINVAL");
		expect("bad pointer", setsockopt(fd, SOL_SSTP, opts[i],
						 BAD_POINTER, 8), "EFAULT");
		memset(name, 'x', sizeof(name));
		expect("long", set_text(fd, opts[i], name, sizeof(name)),
		       "ENOENT");
		len = sizeof(name);
		getsockopt(fd, SOL_SSTP, opts[i], name, &len);
		expect_text("unchanged", name, first);
	}
	expect("static", set_text(fd, SSTP_BUFFER_POLICY, "static", 6), "0");
	len = sizeof(name);
	getsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, name, &len);
	expect_text("is", name, "static");
	len = 3;
	memset(name, 'x', sizeof(name));
	expect("3 bytes back", getsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY,
					  name, &len), "0");
	expect_num("length", len, 3);
	expect_num("no more written", name[3], 'x');
}

static void row_sstp_info(void)
{
	int peer, fd = pair(&peer);
	struct {
		struct sstp_info info;
		char more[64];
	} b;
	socklen_t len = sizeof(b);

	memset(&b, 0x55, sizeof(b));
	expect("more room than needed", getsockopt(fd, SOL_SSTP, SSTP_INFO, &b,
						   &len), "0");
	expect_num("length", len, sizeof(b.info));
	expect_num("no more written", b.more[0], 0x55);
	expect_num("state", b.info.state, 1);	/* TCP_ESTABLISHED */
	expect_num("type", b.info.type, type);
	expect_num("knows the MTU", b.info.mtu >= 1280, 1);
	expect_num("packet size", b.info.packet_size > 0 &&
		   b.info.packet_size < b.info.mtu, 1);
	expect_num("controller", strnlen(b.info.controller, 16) < 16, 1);
	memset(&b, 0x55, sizeof(b));
	len = 10;
	expect("part", getsockopt(fd, SOL_SSTP, SSTP_INFO, &b, &len), "0");
	expect_num("length", len, 10);
	expect_num("no more written", ((char *)&b)[10], 0x55);
	len = 0;
	expect("nothing", getsockopt(fd, SOL_SSTP, SSTP_INFO, &b, &len), "0");
	len = -1;
	expect("-1", getsockopt(fd, SOL_SSTP, SSTP_INFO, &b, &len), "EINVAL");
	len = sizeof(b);
	expect("bad pointer", getsockopt(fd, SOL_SSTP, SSTP_INFO, BAD_POINTER,
					 &len), "EFAULT");
	expect("set", setsockopt(fd, SOL_SSTP, SSTP_INFO, &b, sizeof(b)),
	       "ENOPROTOOPT");
	expect("unconnected", getsockopt(sock(), SOL_SSTP, SSTP_INFO, &b, &len),
	       "0");
	expect_num("state", b.info.state, 7);	/* TCP_CLOSE */
	say(fd, "12345");
	expect("recv", recv(peer, &b, 9, 0), "5");
	len = sizeof(b);
	getsockopt(peer, SOL_SSTP, SSTP_INFO, &b, &len);
	expect_num("bytes received", b.info.bytes_received, 5);
	expect_num("segments received", b.info.segments_received, 1);
	getsockopt(fd, SOL_SSTP, SSTP_INFO, &b, &len);
	expect_num("bytes sent", b.info.bytes_sent, 5);
	expect_num("nothing again", b.info.bytes_retrans, 0);
}

/* Options that cannot change once connected */
static void row_sstp_connected(void)
{
	int peer, fd = pair(&peer);
	uint64_t limit = 1000000;
	struct sstp_info info;
	char name[SSTP_NAME_MAX];
	socklen_t len;

	expect("SEGMENT_LIMIT", set_int(fd, SOL_SSTP, SSTP_SEGMENT_LIMIT, 9999),
	       "EISCONN");
	expect("TOLERANCE", set_int(fd, SOL_SSTP, SSTP_TOLERANCE, 1), "EISCONN");
	expect("ACK_STRATEGY", set_int(fd, SOL_SSTP, SSTP_ACK_STRATEGY, 1),
	       "EISCONN");
	expect("CONTROLLER", set_text(fd, SSTP_CONTROLLER, "rate", 4), "0");
	len = sizeof(name);
	getsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, &len);
	expect_text("CONTROLLER is", name, "rate");
	getsockopt(fd, SOL_SSTP, SSTP_INFO, &info, &(socklen_t){ sizeof(info) });
	expect_num("and has no window", info.cwnd, UINT32_MAX);
	expect("CONTROLLER unknown", set_text(fd, SSTP_CONTROLLER, "nonesuch", 8), "ENOENT");
	expect("TCP_CONGESTION", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "newreno", 7), "0");
	getsockopt(fd, SOL_SSTP, SSTP_INFO, &info, &(socklen_t){ sizeof(info) });
	expect_num("has a window", info.cwnd < UINT32_MAX, 1);
	expect("BUFFER_POLICY", set_text(fd, SSTP_BUFFER_POLICY, "static", 6),
	       "EISCONN");
	expect("RATE_LIMIT", setsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT, &limit,
					sizeof(limit)), "EISCONN");
	expect("RATE", set_rate(fd, 100000000, 0, 0, 0), "0");
	expect("SEGMENT_SIZE", set_int(fd, SOL_SSTP, SSTP_SEGMENT_SIZE, 9999),
	       "0");
	expect("WINDOW_FACTOR", set_int(fd, SOL_SSTP, SSTP_WINDOW_FACTOR, 200),
	       "0");
	expect("USER_TIMEOUT", set_int(fd, SOL_SSTP, SSTP_USER_TIMEOUT, 5000),
	       "0");
	say(fd, "alive");
	expect("alive", recv(peer, (char[9]){}, 9, 0), "5");
}

static void row_sstp_unknown(void)
{
	int fd = sock();

	expect("set 0", set_int(fd, SOL_SSTP, 0, 1), "ENOPROTOOPT");
	expect("get 0", get_int(fd, SOL_SSTP, 0), "ENOPROTOOPT");
	expect("set 99", set_int(fd, SOL_SSTP, 99, 1), "ENOPROTOOPT");
	expect("get 99", get_int(fd, SOL_SSTP, 99), "ENOPROTOOPT");
	expect("set -1", set_int(fd, SOL_SSTP, -1, 1), "ENOPROTOOPT");
}

/* A child has its listener's settings; the lower tolerance counts. */
static void row_sstp_inherit(void)
{
	int l = sock(), fd = sock(), peer;

	set_int(l, SOL_SSTP, SSTP_SEGMENT_SIZE, 12345);
	set_int(l, SOL_SSTP, SSTP_TOLERANCE, 5000);
	set_int(l, SOL_SSTP, SSTP_WINDOW_FACTOR, 300);
	set_int(l, SOL_SSTP, SSTP_WINDOW_CLAMP, 77);
	set_int(l, SOL_SSTP, SSTP_USER_TIMEOUT, 7000);
	set_int(l, SOL_SSTP, SSTP_NODELAY, 1);
	set_int(fd, SOL_SSTP, SSTP_TOLERANCE, 3000);
	peer = pair_of(fd, l);
	expect("SEGMENT_SIZE", get_int(peer, SOL_SSTP, SSTP_SEGMENT_SIZE),
	       "12345");
	expect("WINDOW_FACTOR", get_int(peer, SOL_SSTP, SSTP_WINDOW_FACTOR),
	       "300");
	expect("WINDOW_CLAMP", get_int(peer, SOL_SSTP, SSTP_WINDOW_CLAMP),
	       "77");
	expect("USER_TIMEOUT", get_int(peer, SOL_SSTP, SSTP_USER_TIMEOUT),
	       "7000");
	expect("NODELAY", get_int(peer, SOL_SSTP, SSTP_NODELAY), "1");
	expect("TOLERANCE here", get_int(peer, SOL_SSTP, SSTP_TOLERANCE), "3000");
	expect("TOLERANCE there", get_int(fd, SOL_SSTP, SSTP_TOLERANCE), "3000");
}

/* A socket of either family may ask for options of the other level. */
static void row_sstp_levels(void)
{
	char name[SSTP_NAME_MAX];
	int fd = sock();
	socklen_t len;

	expect("TCP_USER_TIMEOUT", set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 17),
	       "0");
	expect("the same as", get_int(fd, SOL_SSTP, SSTP_USER_TIMEOUT), "17");
	expect("TCP_NODELAY", set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1), "0");
	expect("the same as", get_int(fd, SOL_SSTP, SSTP_NODELAY), "1");
	expect("TCP_CONGESTION", setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION,
					    "newreno", 7), "0");
	len = sizeof(name);
	getsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, &len);
	expect_text("the same as", name, "newreno");
	len = sizeof(name);
	memset(name, 0, sizeof(name));
	getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len);
	expect_text("TCP_CONGESTION is", name, "newreno");
	expect("TCP_MAXSEG", set_int(fd, IPPROTO_TCP, TCP_MAXSEG, 1000),
	       "ENOPROTOOPT");
	expect("TCP_INFO", get_int(fd, IPPROTO_TCP, TCP_INFO), "ENOPROTOOPT");
	expect("SOL_UDP", set_int(fd, IPPROTO_UDP, 1, 1), "ENOPROTOOPT");
	expect("IP_HDRINCL", set_int(fd, SOL_IP, IP_HDRINCL, 1), "ENOPROTOOPT");
	expect("IP_PKTINFO", set_int(fd, SOL_IP, IP_PKTINFO, 1), "ENOPROTOOPT");
}

static const struct row rows[] = {
	{ "buffers", row_buffers, ROW_ALL },
	{ "sol_socket", row_sol_socket, ROW_ALL },
	{ "identity", row_identity, ROW_ALL },
	{ "zerocopy", row_zerocopy, ROW_ALL },
	{ "sol_ip", row_sol_ip, ROW_ALL },
	{ "port_range", row_port_range, ROW_ALL },
	{ "mtu", row_mtu, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "freebind", row_freebind, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "freebind_network", row_freebind_network,
	  ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "sol_tcp", row_sol_tcp, ROW_ALL },
	{ "sol_tcp_values", row_sol_tcp_values, ROW_ALL },
	{ "sol_tcp_inherit", row_sol_tcp_inherit, ROW_ALL },
	{ "sstp_numbers", row_sstp_numbers, ROW_OWN | ROW_STREAM | ROW_V4 },
	{ "sstp_nodelay", row_sstp_nodelay, ROW_OWN | ROW_STREAM | ROW_V4 },
	{ "sstp_rate", row_sstp_rate, ROW_OWN | ROW_STREAM | ROW_V4 },
	{ "sstp_names", row_sstp_names, ROW_OWN | ROW_STREAM | ROW_V4 },
	{ "sstp_info", row_sstp_info, ROW_OWN | ROW_ALL },
	{ "sstp_connected", row_sstp_connected, ROW_OWN | ROW_STREAM | ROW_V4 },
	{ "sstp_unknown", row_sstp_unknown, ROW_OWN | ROW_STREAM | ROW_V4 },
	{ "sstp_inherit", row_sstp_inherit, ROW_OWN | ROW_ALL },
	{ "sstp_levels", row_sstp_levels, ROW_OWN | ROW_STREAM | ROW_V4 },
};

/* Linux 6.1 takes all options of SOL_SOCKET without asking the family. */
#define NO_OPTION(label, sstp, why)					\
	{ "sol_socket", label, sstp, why, 0, "!6.1." }
#define NO_TIME "packets of a train have no time of their own"
#define NO_POLL "packets come through sockets that serve others, too"

static const struct difference differences[] = {
	{ "sol_socket", "level 999 get", "EOPNOTSUPP",
	  "TCP gives this over IPv4, ENOPROTOOPT over IPv6", 0, NULL },
	{ "sol_tcp_values", "WINDOW_CLAMP -1 is", "1152",
	  "Linux 6.1 and 6.12 compare it as a number without a sign", 0, "6." },
	NO_OPTION("TIMESTAMP", "ENOPROTOOPT", NO_TIME),
	NO_OPTION("TIMESTAMP, optlen 0", "ENOPROTOOPT", NO_TIME),
	NO_OPTION("TIMESTAMP, optlen 8", "ENOPROTOOPT", NO_TIME),
	NO_OPTION("TIMESTAMP, bad pointer", "ENOPROTOOPT", NO_TIME),
	NO_OPTION("TIMESTAMP is", "0", NO_TIME),
	NO_OPTION("BUSY_POLL", "ENOPROTOOPT", NO_POLL),
	NO_OPTION("BUSY_POLL, optlen 0", "ENOPROTOOPT", NO_POLL),
	NO_OPTION("BUSY_POLL, optlen 8", "ENOPROTOOPT", NO_POLL),
	NO_OPTION("BUSY_POLL, bad pointer", "ENOPROTOOPT", NO_POLL),
	{ "identity", "TYPE", "5",
	  "it is SOCK_SEQPACKET", 0, NULL },
	{ "identity", "DOMAIN", "25",
	  "AF_SSTP", 0, NULL },
	{ "identity", "DOMAIN after it", "25",
	  "AF_SSTP again", 0, NULL },
	{ "identity", "PROTOCOL", "260",
	  "IPPROTO_SSTP", 0, NULL },
	{ "identity", "PROTOCOL when accepted", "260",
	  "IPPROTO_SSTP", 0, NULL },
	{ "freebind", "connect", "ENETUNREACH",
	  "TCP sends from any IPv6 address", ROW_STREAM | ROW_V6, NULL },
	{ "sol_ip", "DONT", "EINVAL",
	  "packets do not exceed the path MTU, but for one sent again", 0, NULL },
	{ "sol_ip", "PROBE", "EINVAL",
	  "the path MTU is heeded", 0, NULL },
	{ "zerocopy", "ZEROCOPY", "EOPNOTSUPP",
	  "Linux 6.1 does not ask the family", 0, "6.1." },
	{ "zerocopy", "2", "EOPNOTSUPP",
	  "Linux 6.1 does not ask the family", 0, "6.1." },
	{ "zerocopy", "is", "0",
	  "Linux 6.1 does not ask the family", 0, "6.1." },
};

int main(int argc, char **argv)
{
	return compare_main(argc, argv, rows, ARRAY_SIZE(rows), differences,
			    ARRAY_SIZE(differences));
}
