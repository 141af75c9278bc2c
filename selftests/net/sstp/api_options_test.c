// SPDX-License-Identifier: GPL-2.0
/* Socket options of all levels. */
/* timeout: 240 */
#include <netinet/tcp.h>

#include "compare.h"

static void row_buffers(void)
{
	int fd = sock(), peer;
	union addr a;

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
	addr_loopback(&a, family, 0);
	set_int(fd, SOL_SOCKET, SO_RCVBUF, 77777);
	set_int(fd, SOL_SOCKET, SO_SNDBUF, 88888);
	if (xbind(fd, &a) || listen(fd, 1))
		bail("listen");
	a = name_of(fd, false);
	if (xconnect(sock(), &a))
		bail("connect");
	peer = accept(fd, NULL, NULL);
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
	int fd = sock();

	notef("TYPE", "%d", get_int(fd, SOL_SOCKET, SO_TYPE));
	notef("DOMAIN", "%d", get_int(fd, SOL_SOCKET, SO_DOMAIN));
	notef("PROTOCOL", "%d", get_int(fd, SOL_SOCKET, SO_PROTOCOL));
}

static void row_zerocopy(void)
{
	note("ZEROCOPY", set_int(sock(), SOL_SOCKET, SO_ZEROCOPY, 1));
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
	note("TOS one byte", setsockopt(fd, SOL_IP, IP_TOS, "\x08", 1));
	note("TOS is", get_int(fd, SOL_IP, IP_TOS));
	note("unknown", set_int(fd, SOL_IP, 250, 1));
	note("unknown get", get_int(fd, SOL_IP, 250));
}

/* A non-local address that IP_FREEBIND allows. */
static void row_freebind(void)
{
	union addr a;
	int fd = sock();

	addr_parse(&a, "198.51.100.1", 0);
	note("set", set_int(fd, SOL_IP, IP_FREEBIND, 1));
	notef("get", "%d", get_int(fd, SOL_IP, IP_FREEBIND));
	note("bind", xbind(fd, &a));
}

/* Programs for TCP set this one; it has a meaning here, too. */
static void row_sol_tcp(void)
{
	int fd = sock();

	note("NODELAY", set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	notef("get", "%s", result(get_int(fd, IPPROTO_TCP, TCP_NODELAY)));
	note("unknown", set_int(fd, IPPROTO_TCP, 250, 1));
}

static const struct row rows[] = {
	{ "buffers", row_buffers, ROW_ALL },
	{ "sol_socket", row_sol_socket, ROW_ALL },
	{ "identity", row_identity, ROW_ALL },
	{ "zerocopy", row_zerocopy, ROW_ALL },
	{ "sol_ip", row_sol_ip, ROW_ALL },
	{ "freebind", row_freebind, ROW_STREAM | ROW_V4 },
	{ "sol_tcp", row_sol_tcp, ROW_ALL },
};

static const struct difference differences[] = {
	{ "none", "", "", "", 0 },
};

int main(int argc, char **argv)
{
	return compare_main(argc, argv, rows, ARRAY_SIZE(rows), differences,
			    ARRAY_SIZE(differences));
}
