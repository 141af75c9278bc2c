// SPDX-License-Identifier: GPL-2.0
/* Making and ending sockets and connections: addresses, names, ports. */
/* timeout: 300 */
/* quick: yes */
#include <sched.h>
#include <sys/stat.h>

#include "compare.h"

static int raw(int sotype, int protocol)
{
	return socket(proto == PROTO_SSTP ? AF_SSTP : family, sotype, protocol);
}

/* TCP has only one type; another protocol's may or may not be available. */
static int own_type(void)
{
	return proto == PROTO_SSTP ? type : SOCK_STREAM;
}

static void row_socket(void)
{
	int fd;

	note("type 99", raw(99, 0));
	note("type 0", raw(0, 0));
	note("SOCK_RDM", raw(SOCK_RDM, 0));
	note("protocol 253", raw(own_type(), 253));
	note("protocol -1", raw(own_type(), -1));
	note("protocol 100000", raw(own_type(), 100000));
	note("flag 0x40", raw(own_type() | 0x40, 0));
	fd = raw(own_type() | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	notef("SOCK_NONBLOCK", "%d", !!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	notef("SOCK_CLOEXEC", "%d", !!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	note("socketpair", socketpair(proto == PROTO_SSTP ? AF_SSTP : family,
				      own_type(), 0, (int[2]){}));
}

static void row_file(void)
{
	struct stat st;
	int fd = sock();

	note("fstat", fstat(fd, &st));
	notef("S_ISSOCK", "%d", !!S_ISSOCK(st.st_mode));
	note("lseek", lseek(fd, 0, SEEK_SET));
	note("ftruncate", ftruncate(fd, 0));
	note("pread", pread(fd, &st, 1, 0));
	note("fsync", fsync(fd));
	note("ioctl ?", ioctl(fd, 0x1234, 0));
	note("FIONBIO", ioctl(fd, FIONBIO, &(int){ 1 }));
	notef("O_NONBLOCK", "%d", !!(fcntl(fd, F_GETFL) & O_NONBLOCK));
}

static void row_bind(void)
{
	union addr a, b;
	int fd = sock(), other = sock();

	addr_loopback(&a, family, 0);
	note("length 0", bind(fd, &a.sa, 0));
	note("length 4", bind(fd, &a.sa, 4));
	note("length -1", bind(fd, &a.sa, -1));
	note("length 4096", bind(fd, &a.sa, 4096));
	note("bad pointer", bind(fd, BAD_POINTER, sizeof(a.v4)));
	b = a;
	b.sa.sa_family = AF_UNIX;
	note("AF_UNIX", bind(fd, &b.sa, addr_len(&a)));
	addr_parse(&b, family == AF_INET ? "198.51.100.1" : "2001:db8:9::1", 0);
	note("not local", xbind(fd, &b));
	addr_parse(&b, family == AF_INET ? "224.0.0.1" : "ff02::1", 0);
	note("multicast", xbind(sock(), &b));
	note("loopback", xbind(fd, &a));
	note("again", xbind(fd, &a));
	a = name_of(fd, false);
	notef("port chosen", "%d", addr_port(&a) > 0);
	note("port in use", xbind(other, &a));
	addr_any(&b, family, addr_port(&a));
	note("port in use, any address", xbind(other, &b));
	note("after that", listen(other, 1));
	close(fd);
	fd = sock();
	note("free again", xbind(fd, &a));
}

static void row_bind_unspec(void)
{
	union addr a;
	int fd = sock();

	/* inet_bind() still allows AF_UNSPEC for INADDR_ANY. */
	addr_any(&a, family, 0);
	a.sa.sa_family = AF_UNSPEC;
	note("AF_UNSPEC, any", bind(fd, &a.sa, sizeof(a.v4)));
	close(fd);
	fd = sock();
	addr_loopback(&a, AF_INET, 0);
	a.sa.sa_family = AF_UNSPEC;
	note("AF_UNSPEC, loopback", bind(fd, &a.sa, sizeof(a.v4)));
}

static void row_bind_privileged(void)
{
	union addr a;
	int fd;

	addr_loopback(&a, family, 80);
	if (seteuid(65534))
		bail("seteuid");
	fd = sock();
	note("port 80", xbind(fd, &a));
	if (seteuid(0))
		bail("seteuid");
	note("as root", xbind(fd, &a));
}

static void row_bind_connected(void)
{
	union addr a, to;
	int l = listener(&to), fd = sock();

	note("connect", xconnect(fd, &to));
	addr_loopback(&a, family, 0);
	note("bind", xbind(fd, &a));
	a = name_of(fd, false);
	notef("autobound", "%d", addr_port(&a) > 0);
	close(l);
}

static void row_listen(void)
{
	union addr a, b;
	int fd = sock(), other, peer;

	notef("ACCEPTCONN before", "%d", get_int(fd, SOL_SOCKET, SO_ACCEPTCONN));
	note("unbound", listen(fd, 1));
	notef("ACCEPTCONN after", "%d", get_int(fd, SOL_SOCKET, SO_ACCEPTCONN));
	a = name_of(fd, false);
	notef("autobound", "%d", addr_port(&a) > 0);
	note("again", listen(fd, 2));
	note("negative backlog", listen(fd, -1));
	addr_loopback(&b, family, addr_port(&a));
	note("connect from listener", xconnect(fd, &b));
	note("send", send(fd, "x", 1, MSG_NOSIGNAL));
	note_recv("recv", fd, 1, 0);
	other = pair(&peer);
	note("connected", listen(other, 1));
	note("accepted", listen(peer, 1));
	close(fd);
	fd = sock();
	addr_loopback(&b, family, addr_port(&a));
	note("bind where it was", xbind(fd, &b));
}

static void row_connect(void)
{
	union addr to, a;
	int l = listener(&to), fd = sock(), peer;

	note("length 4", connect(fd, &to.sa, 4));
	note("length 0", connect(fd, &to.sa, 0));
	note("bad pointer", connect(fd, BAD_POINTER, sizeof(to.v4)));
	a = to;
	a.sa.sa_family = AF_UNIX;
	note("AF_UNIX", connect(fd, &a.sa, addr_len(&to)));
	a.sa.sa_family = AF_UNSPEC;
	note("AF_UNSPEC", connect(fd, &a.sa, addr_len(&to)));
	addr_parse(&a, family == AF_INET ? "203.0.113.1" : "2001:db8:7::1", 1);
	note("no route", xconnect(fd, &a));
	if (family == AF_INET) {
		addr_parse(&a, "255.255.255.255", 1);
		note("broadcast", xconnect(fd, &a));
	}
	addr_parse(&a, family == AF_INET ? "224.0.0.1" : "ff02::1%lo", 1);
	note("multicast", xconnect(fd, &a));
	note("it still works", xconnect(fd, &to));
	note("again", xconnect(fd, &to));
	unused(&a);
	note("again, elsewhere", xconnect(fd, &a));
	peer = accept(l, NULL, NULL);
	note("accepted one", xconnect(peer, &to));
	say(fd, "hello");
	note_recv("recv", peer, 99, 0);
}

static void row_connect_any(void)
{
	union addr to, a;
	int l = listener(&to), fd = sock();

	addr_any(&a, family, addr_port(&to));
	note("to the any address", xconnect(fd, &a));
	a = name_of(fd, true);
	notef("peer", "%d", !strcmp(addr_text(&a), addr_text(&to)));
	close(l);
}

static void row_refused(void)
{
	union addr a, to;
	int fd = sock(), l;

	unused(&a);
	note("blocking", xconnect(fd, &a));
	note("SO_ERROR", get_int(fd, SOL_SOCKET, SO_ERROR));
	note_state("state", fd);
	note("again", xconnect(fd, &a));
	l = listener(&to);
	note("then to a listener", xconnect(fd, &to));
	close(fd);
	close(l);

	fd = sock_of(family, SOCK_NONBLOCK);
	note("non-blocking", xconnect(fd, &a));
	await("state", fd, POLLOUT);
	note("SO_ERROR", get_int(fd, SOL_SOCKET, SO_ERROR));
	note("SO_ERROR again", get_int(fd, SOL_SOCKET, SO_ERROR));
	note_state("state", fd);
	note("send", send(fd, "x", 1, MSG_NOSIGNAL));
	close(fd);

	fd = sock_of(family, SOCK_NONBLOCK);
	note("non-blocking", xconnect(fd, &a));
	await("state", fd, POLLOUT);
	note("connect fetches the error", xconnect(fd, &a));
	close(fd);

	fd = sock_of(family, SOCK_NONBLOCK);
	note("non-blocking", xconnect(fd, &a));
	await("state", fd, POLLOUT);
	note("send fetches the error", send(fd, "x", 1, MSG_NOSIGNAL));
	note("send after that", send(fd, "x", 1, MSG_NOSIGNAL));
	close(fd);

	fd = sock_of(family, SOCK_NONBLOCK);
	note("non-blocking", xconnect(fd, &a));
	await("state", fd, POLLOUT);
	note_recv("recv fetches the error", fd, 1, 0);
	note_recv("recv after that", fd, 1, 0);
}

static void row_connect_nonblock(void)
{
	union addr to, a;
	int l = listener(&to), fd = sock_of(family, SOCK_NONBLOCK), peer;

	note("connect", xconnect(fd, &to));
	await("state", fd, POLLOUT);
	note("SO_ERROR", get_int(fd, SOL_SOCKET, SO_ERROR));
	note("connect once more", xconnect(fd, &to));
	note("and again", xconnect(fd, &to));
	peer = accept(l, NULL, NULL);
	say(fd, "hello");
	note_recv("recv", peer, 99, 0);
	close(fd);

	hole(&a);
	fd = sock_of(family, SOCK_NONBLOCK);
	note("nobody answers", xconnect(fd, &a));
	note("again", xconnect(fd, &a));
	note_state("state", fd);
	note("SO_ERROR", get_int(fd, SOL_SOCKET, SO_ERROR));
	note_recv("recv", fd, 1, 0);
	note("send", send(fd, "x", 1, MSG_NOSIGNAL));
	note("getpeername", getpeername(fd, &a.sa, &(socklen_t){ sizeof(a) }));
	a = name_of(fd, false);
	notef("getsockname", "%d", addr_port(&a) > 0);
	note("listen", listen(fd, 1));
	addr_any(&a, family, 0);
	note("bind", xbind(fd, &a));
	a.sa.sa_family = AF_UNSPEC;
	note("give up", connect(fd, &a.sa, addr_len(&to)));
	note("connect elsewhere", xconnect(fd, &to));
	await("state", fd, POLLOUT);
	close(fd);

	fd = sock_of(family, SOCK_NONBLOCK);
	hole(&a);
	note("nobody answers", xconnect(fd, &a));
	note("shutdown", shutdown(fd, SHUT_RDWR));
	note_state("state", fd);
	note("connect elsewhere", xconnect(fd, &to));
	note("close", close(fd));
}

static void row_connect_timeout(void)
{
	union addr a;
	int fd = sock();

	hole(&a);
	timeout_opt(fd, SO_SNDTIMEO, QUIET_MS);
	note("SO_SNDTIMEO", xconnect(fd, &a));
	note("again", xconnect(fd, &a));
	note_state("state", fd);
	close(fd);
	fd = sock();
	catch(SIGALRM, 0);
	alarm_sleeper();
	note("a signal", xconnect(fd, &a));
	alarm_sleeper();
	note("again", xconnect(fd, &a));
	note("close", close(fd));
}

static void row_accept(void)
{
	union addr to, a, b;
	socklen_t len = sizeof(a);
	int l = listener(&to), fd, peer;

	fd = sock();
	note("not listening", accept(fd, NULL, NULL));
	note("bad flags", accept4(l, NULL, NULL, 0x40));
	timeout_opt(l, SO_RCVTIMEO, QUIET_MS);
	note("SO_RCVTIMEO", accept(l, NULL, NULL));
	nonblock(l, true);
	note("nobody", accept(l, NULL, NULL));
	note_state("listener", l);
	join(fd, &to);
	await("a client", l, POLLIN);
	peer = accept(l, &a.sa, &len);
	b = name_of(fd, false);
	notef("address", "%u %d %d", len, a.sa.sa_family,
	      !strcmp(addr_text(&a), addr_text(&b)));
	notef("does not inherit O_NONBLOCK", "%d",
	      !(fcntl(peer, F_GETFL) & O_NONBLOCK));
	note_state("listener", l);
	note("connected", accept(peer, NULL, NULL));
	close(fd);
	close(peer);

	fd = sock();
	join(fd, &to);
	await("a client", l, POLLIN);
	memset(&a, 0, sizeof(a));
	len = 4;
	peer = accept4(l, &a.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	notef("length 4", "%u", len);
	notef("flags", "%d %d", !!(fcntl(peer, F_GETFL) & O_NONBLOCK),
	      !!(fcntl(peer, F_GETFD) & FD_CLOEXEC));
	close(fd);
	fd = sock();
	join(fd, &to);
	await("a client", l, POLLIN);
	note("bad pointer", accept(l, BAD_POINTER, &len));
	note("shutdown RD", shutdown(l, SHUT_RD));
	note("accept after that", accept(l, NULL, NULL));
	note_state("listener", l);
	note("ACCEPTCONN", get_int(l, SOL_SOCKET, SO_ACCEPTCONN));
	note("listen again", listen(l, 1));
}

/* accept() that waits, in a thread's stead: a child connects. */
static void row_accept_wakes(void)
{
	union addr to;
	int l = listener(&to), fd;
	pid_t pid = fork();

	if (!pid) {
		sleep_ns(QUIET_MS * 1000000ULL);
		fd = sock();
		if (xconnect(fd, &to) || recv(fd, &to, 1, 0) != 1)
			_exit(1);
		_exit(0);
	}
	fd = accept(l, NULL, NULL);
	note("send", send(fd, "x", 1, 0));
	waitpid(pid, &l, 0);
	note("client", l);
}

/* accept() by another process on a shared socket that stops listening meanwhile */
static void row_accept_unspec(void)
{
	union addr to, none = { .sa.sa_family = AF_UNSPEC };
	int l = listener(&to), status;
	pid_t pid = fork();

	if (!pid) {
		alarm_ms(WAIT_MS);
		_exit(accept(l, NULL, NULL) < 0 ? errno : 0);
	}
	sleep_ns(QUIET_MS * 1000000ULL);
	note("AF_UNSPEC", connect(l, &none.sa, sizeof(none.sa)));
	waitpid(pid, &status, 0);
	notef("accept", "%s", WIFEXITED(status) ?
	      strerrorname_np(WEXITSTATUS(status)) : "slept on");
}

static void row_backlog(void)
{
	union addr to;
	struct pollfd p[8];
	int l = listener(&to), up = 0, i, got = 0;
	cpu_set_t was, one;

	/* On one CPU the listener has each connection before this program sees that it is
	 * established. On two a connection too many may find room before.
	 */
	sched_getaffinity(0, sizeof(was), &was);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	note("listen", listen(l, 1));
	for (i = 0; i < 8; i++) {
		p[i].fd = sock_of(family, SOCK_NONBLOCK);
		p[i].events = POLLOUT;
		xconnect(p[i].fd, &to);
		poll(&p[i], 1, i < 2 ? WAIT_MS : QUIET_MS);
		up += p[i].revents == POLLOUT;
	}
	sched_setaffinity(0, sizeof(was), &was);
	notef("established", "%d", up);
	nonblock(l, true);
	/* No more than these: another may try again, and be established, after the first accept(). */
	while (got < up && accept(l, NULL, NULL) >= 0)
		got++;
	notef("accepted", "%d", got);
	/* Connections that found the backlog full try again, and are accepted. */
	while (got < 3 && *poll_text(l, POLLIN, WAIT_MS) &&
	       accept(l, NULL, NULL) >= 0)
		got++;
	notef("in the end", "%d", got >= 3);
}

static void row_listener_close(void)
{
	union addr to;
	int l = listener(&to), fd = sock();

	note("connect", xconnect(fd, &to));
	poll_text(l, POLLIN, WAIT_MS);
	note("close", close(l));
	await("client", fd, POLLIN);
	note_recv("recv", fd, 1, 0);
	note("connect anew", xconnect(sock(), &to));
}

static void row_names(void)
{
	union addr a, b;
	int fd = sock(), peer;
	socklen_t len = sizeof(a);

	note("getpeername", getpeername(fd, &a.sa, &len));
	addr_any(&a, family, 0);
	if (xbind(fd, &a))
		bail("bind");
	a = name_of(fd, false);
	notef("bound", "%d %d", a.sa.sa_family, addr_port(&a) > 0);
	fd = pair(&peer);
	a = name_of(fd, false);
	b = name_of(peer, true);
	notef("client's", "%d", !memcmp(&a, &b, addr_len(&a)));
	a = name_of(fd, true);
	b = name_of(peer, false);
	notef("server's", "%d %d", !memcmp(&a, &b, addr_len(&a)),
	      a.sa.sa_family);
	note("bad pointer", getsockname(fd, BAD_POINTER, &len));
	note("bad length pointer", getsockname(fd, &a.sa, BAD_POINTER));
	len = -1;
	note("length -1", getsockname(fd, &a.sa, &len));
	len = 5;
	note("length 5", getpeername(fd, &a.sa, &len));
	notef("length", "%u", len);
	close(peer);
	await("closed", fd, POLLIN);
	note("peer gone", getpeername(fd, &a.sa, &len));
}

/* getsockname() of a socket without an address */
static void row_name_unbound(void)
{
	union addr a = name_of(sock(), false);

	notef("name", "%d %s", a.sa.sa_family, addr_text(&a));
}

static void row_reuseaddr(void)
{
	union addr a;
	int l = listener(&a), fd = sock(), peer, x;

	join(fd, &a);
	peer = accept(l, NULL, NULL);
	close(l);
	note("port of a connection", xbind(sock(), &a));
	x = sock();
	note("set", set_int(x, SOL_SOCKET, SO_REUSEADDR, 1));
	notef("get", "%d", get_int(x, SOL_SOCKET, SO_REUSEADDR));
	note("the other has not", xbind(x, &a));
	close(fd);
	close(peer);

	l = sock();
	set_int(l, SOL_SOCKET, SO_REUSEADDR, 1);
	addr_loopback(&a, family, 0);
	note("bind", xbind(l, &a));
	a = name_of(l, false);
	x = sock();
	set_int(x, SOL_SOCKET, SO_REUSEADDR, 1);
	note("bind both", xbind(x, &a));
	note("listen", listen(l, 1));
	note("listen both", listen(x, 1));
	fd = sock();
	join(fd, &a);
	peer = accept(l, NULL, NULL);
	close(l);
	close(x);
	l = sock();
	set_int(l, SOL_SOCKET, SO_REUSEADDR, 1);
	note("restart with a connection alive", xbind(l, &a));
	note("listen", listen(l, 1));
	x = sock();
	set_int(x, SOL_SOCKET, SO_REUSEADDR, 1);
	note("beside a listener", xbind(x, &a));
}

static void row_reuseport(void)
{
	union addr a;
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int l[2], i, x, got[2] = {};

	l[0] = sock();
	l[1] = sock();
	note("set", set_int(l[0], SOL_SOCKET, SO_REUSEPORT, 1));
	notef("get", "%d", get_int(l[0], SOL_SOCKET, SO_REUSEPORT));
	addr_loopback(&a, family, 0);
	note("bind", xbind(l[0], &a));
	a = name_of(l[0], false);
	note("the other has not", xbind(l[1], &a));
	set_int(l[1], SOL_SOCKET, SO_REUSEPORT, 1);
	note("both have", xbind(l[1], &a));
	note("listen", listen(l[0], 128));
	note("listen both", listen(l[1], 128));
	for (i = 0; i < 64; i++) {
		x = sock();
		join(x, &a);
		p[0].fd = l[0];
		p[1].fd = l[1];
		if (poll(p, 2, WAIT_MS) < 1)
			bail("poll");
		x = p[0].revents ? 0 : 1;
		close(accept(l[x], NULL, NULL));
		got[x]++;
	}
	notef("shared", "%d", got[0] > 0 && got[1] > 0);
	x = sock();
	set_int(x, SOL_SOCKET, SO_REUSEPORT, 1);
	if (seteuid(65534))
		bail("seteuid");
	i = sock();
	set_int(i, SOL_SOCKET, SO_REUSEPORT, 1);
	note("another user", xbind(i, &a));
	if (seteuid(0))
		bail("seteuid");
	note("same user", xbind(x, &a));
}

static void row_device(void)
{
	union addr a, h;
	int fd = sock(), peer;
	socklen_t len = IFNAMSIZ;
	char name[IFNAMSIZ] = "";

	note("no such device", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE,
					  "nonesuch", 9));
	note("lo", setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3));
	note("get", getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, &len));
	notef("name", "%s %u", name, len);
	peer = listener(&a);
	note("connect", xconnect(fd, &a));
	close(accept(peer, NULL, NULL));
	close(fd);
	fd = sock();
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	hole(&h);
	nonblock(fd, true);
	note("not that way", xconnect(fd, &h));
	close(fd);
	/* A listener that is bound to another device gets no INIT from here. */
	close(peer);
	peer = sock();
	note("hole", setsockopt(peer, SOL_SOCKET, SO_BINDTODEVICE, "hole", 5));
	addr_any(&a, family, 0);
	if (xbind(peer, &a) || listen(peer, 1))
		bail("listen");
	a = name_of(peer, false);
	addr_loopback(&h, family, addr_port(&a));
	note("the wrong device", xconnect(sock(), &h));
	fd = sock();
	setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	note("port, another device", xbind(fd, &h));
}

static void row_v6only(void)
{
	union addr a;
	int fd;

	/* Sockets of earlier rows are in TIME_WAIT and may have the port. */
	new_namespace();
	fd = sock();
	note("is", get_int(fd, SOL_IPV6, IPV6_V6ONLY));
	note("set", set_int(fd, SOL_IPV6, IPV6_V6ONLY, 1));
	note("is", get_int(fd, SOL_IPV6, IPV6_V6ONLY));
	addr_any(&a, AF_INET6, 0);
	note("bind", xbind(fd, &a));
	note("set when bound", set_int(fd, SOL_IPV6, IPV6_V6ONLY, 0));
	note("listen", listen(fd, 1));
	a = name_of(fd, false);
	addr_loopback(&a, AF_INET, addr_port(&a));
	note("IPv4 client", xconnect(sock_of(AF_INET, 0), &a));
	note("IPv4 bind beside it", xbind(sock_of(AF_INET, 0), &a));
}

static void row_dual_stack(void)
{
	int l = sock(), fd, peer, x;
	union addr a, b;

	addr_any(&a, AF_INET6, 0);
	note("bind", xbind(l, &a));
	note("listen", listen(l, 8));
	a = name_of(l, false);
	x = sock_of(AF_INET, 0);
	addr_any(&b, AF_INET, addr_port(&a));
	note("IPv4 bind beside it", xbind(x, &b));
	fd = sock_of(AF_INET, 0);
	addr_loopback(&b, AF_INET, addr_port(&a));
	note("IPv4 client", xconnect(fd, &b));
	peer = accept(l, NULL, NULL);
	b = name_of(peer, true);
	a = name_of(fd, false);
	addr_set_port(&b, 0);
	notef("its name there", "%d %s", b.sa.sa_family, addr_text(&b));
	b = name_of(peer, false);
	addr_set_port(&b, 0);
	notef("own name there", "%d %s", b.sa.sa_family, addr_text(&b));
	notef("its own name", "%d", a.sa.sa_family);
	say(fd, "four");
	note_recv("recv", peer, 99, 0);
	close(fd);
	a = name_of(l, false);
	fd = sock();
	addr_parse(&b, "::ffff:127.0.0.1", addr_port(&a));
	note("client of a mapped address", xconnect(fd, &b));
	peer = accept(l, NULL, NULL);
	b = name_of(fd, false);
	addr_set_port(&b, 0);
	notef("its name", "%d %s", b.sa.sa_family, addr_text(&b));
	say(peer, "back");
	note_recv("recv", fd, 99, 0);
	fd = sock();
	addr_parse(&b, "::ffff:127.0.0.1", 0);
	note("bind to a mapped address", xbind(fd, &b));
	fd = sock();
	set_int(fd, SOL_IPV6, IPV6_V6ONLY, 1);
	note("with V6ONLY", xbind(fd, &b));
	addr_set_port(&b, addr_port(&a));
	note("connect with V6ONLY", xconnect(fd, &b));
}

static void row_scope(void)
{
	union addr a;
	int fd = sock();

	addr_parse(&a, "fe80::1", 1);
	note("bind link-local, no scope", xbind(fd, &a));
	note("connect link-local, no scope", xconnect(fd, &a));
	note("length of IPv4", connect(fd, &a.sa, sizeof(a.v4)));
}

/* Options of an accepted socket */
static void row_inherit(void)
{
	int l = sock(), peer;

	set_int(l, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_int(l, SOL_SOCKET, SO_PRIORITY, 4);
	set_int(l, SOL_SOCKET, SO_MARK, 11);
	set_int(l, SOL_SOCKET, SO_RCVLOWAT, 2);
	timeout_opt(l, SO_SNDTIMEO, 3000);
	if (family == AF_INET)
		set_int(l, SOL_IP, IP_TOS, 0x08);
	else
		set_int(l, SOL_IPV6, IPV6_TCLASS, 0x08);
	if (family == AF_INET)
		set_int(l, SOL_IP, IP_TTL, 33);
	peer = pair_of(sock(), l);
	note("KEEPALIVE", get_int(peer, SOL_SOCKET, SO_KEEPALIVE));
	note("PRIORITY", get_int(peer, SOL_SOCKET, SO_PRIORITY));
	note("MARK", get_int(peer, SOL_SOCKET, SO_MARK));
	note("RCVLOWAT", get_int(peer, SOL_SOCKET, SO_RCVLOWAT));
	note("ACCEPTCONN", get_int(peer, SOL_SOCKET, SO_ACCEPTCONN));
	if (family == AF_INET) {
		note("TOS", get_int(peer, SOL_IP, IP_TOS));
		note("TTL", get_int(peer, SOL_IP, IP_TTL));
	} else {
		note("TCLASS", get_int(peer, SOL_IPV6, IPV6_TCLASS));
	}
}

static void row_disconnect(void)
{
	union addr a, none = { .sa.sa_family = AF_UNSPEC };
	int peer, fd = pair(&peer), l;

	note("AF_UNSPEC", connect(fd, &none.sa, sizeof(none.sa)));
	note_state("here", fd);
	await("there", peer, 0);
	note_recv("recv there", peer, 1, 0);
	note_recv("recv here", fd, 1, 0);
	note("send here", send(fd, "x", 1, MSG_NOSIGNAL));
	l = listener(&a);
	note("connect anew", xconnect(fd, &a));
	peer = accept(l, NULL, NULL);
	say(fd, "anew");
	note_recv("recv", peer, 99, 0);
}

#define NOBODY	65534

/* Bind a UDP socket to @port of any address. */
static int udp_bind(uint16_t port, bool reuseport)
{
	int fd = socket(family, SOCK_DGRAM, 0);
	union addr a;

	addr_any(&a, family, port);
	set_int(fd, SOL_SOCKET, SO_REUSEPORT, reuseport);
	return xbind(fd, &a);
}

/* All ports are in use: the only one of the range, also of UDP, and then eight, which are enough
 * for UDP.
 */
static void row_no_port(void)
{
	union addr a, any;
	int fd, i;

	new_namespace();
	fd = sock();
	addr_loopback(&a, family, 5000);
	addr_loopback(&any, family, 0);
	if (xbind(fd, &a) || listen(fd, 9))
		bail("listen");
	file_put("/proc/sys/net/ipv4/ip_local_port_range", "40000 40000");
	note("connect", xconnect(sock(), &a));
	note("once more", xconnect(sock(), &a));
	note("bind", xbind(sock(), &any));
	file_put("/proc/sys/net/ipv4/ip_local_port_range", "40000 40007");
	for (i = 0; i < 7; i++)
		note("of eight", xconnect(sock(), &a));
	note("the ninth", xconnect(sock(), &a));
	note("bind", xbind(sock(), &any));
}

/* The first program that uses SSTP, which opens the UDP port, cannot get packets of others. */
static void row_encap_owner(void)
{
	union addr a;

	new_namespace();
	if (seteuid(NOBODY))
		bail("seteuid");
	listener(&a);
	expect("join the group", udp_bind(SSTP_PORT, true), "EADDRINUSE");
}

static bool encap_moves(void *port)
{
	int fd = open("/proc/sys/net/sstp/encap_port", O_WRONLY);
	bool ok = write(fd, port, strlen(port)) > 0;

	close(fd);
	return ok;
}

static void row_encap_port(void)
{
	union addr a;
	int l, fd;

	new_namespace();
	fd = sock();
	expect("while a socket is", encap_moves("700") - 1, "EBUSY");
	close(fd);
	expect_num("without", busywait(WAIT_MS, encap_moves, "700"), 1);
	if (seteuid(NOBODY))
		bail("seteuid");
	l = listener(&a);
	if (seteuid(0))
		bail("seteuid");
	expect("UDP, new port", udp_bind(700, false), "EADDRINUSE");
	expect("UDP, old port", udp_bind(SSTP_PORT, false), "0");
	fd = sock();
	expect("connect", xconnect(fd, &a), "0");
	close(l);
	close(fd);
	expect_num("again", busywait(WAIT_MS, encap_moves, "701"), 1);
	expect("UDP, left port", udp_bind(700, false), "0");
}

static const struct row rows[] = {
	{ "socket", row_socket, ROW_ALL },
	{ "file", row_file, ROW_ALL },
	{ "bind", row_bind, ROW_ALL },
	{ "bind_unspec", row_bind_unspec, ROW_STREAM | ROW_V4 },
	{ "bind_privileged", row_bind_privileged, ROW_ALL },
	{ "bind_connected", row_bind_connected, ROW_ALL },
	{ "listen", row_listen, ROW_ALL },
	{ "connect", row_connect, ROW_ALL },
	{ "connect_any", row_connect_any, ROW_ALL },
	{ "refused", row_refused, ROW_ALL },
	{ "connect_nonblock", row_connect_nonblock, ROW_ALL },
	{ "connect_timeout", row_connect_timeout, ROW_ALL },
	{ "accept", row_accept, ROW_ALL },
	{ "accept_wakes", row_accept_wakes, ROW_ALL },
	{ "accept_unspec", row_accept_unspec, ROW_ALL },
	{ "backlog", row_backlog, ROW_ALL },
	{ "listener_close", row_listener_close, ROW_ALL },
	{ "names", row_names, ROW_ALL },
	{ "name_unbound", row_name_unbound, ROW_ALL },
	{ "reuseaddr", row_reuseaddr, ROW_ALL },
	{ "reuseport", row_reuseport, ROW_ALL },
	{ "device", row_device, ROW_ALL },
	{ "v6only", row_v6only, ROW_STREAM | ROW_SEQPACKET | ROW_V6 },
	{ "dual_stack", row_dual_stack, ROW_STREAM | ROW_SEQPACKET | ROW_V6 },
	{ "scope", row_scope, ROW_STREAM | ROW_SEQPACKET | ROW_V6 },
	{ "inherit", row_inherit, ROW_ALL },
	{ "disconnect", row_disconnect, ROW_ALL },
	{ "no_port", row_no_port, ROW_ALL },
	{ "encap_owner", row_encap_owner,
	  ROW_OWN | ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "encap_port", row_encap_port,
	  ROW_OWN | ROW_STREAM | ROW_V4 | ROW_V6 },
};

#define NO_REUSEPORT(label, sstp)					\
	{ "reuseport", label, sstp,					\
	  "the kernel keeps SO_REUSEPORT to families that it knows", 0, "6.1." }

static const struct difference differences[] = {
	{ "name_unbound", "name", "2 0.0.0.0:0",
	  "its first address decides the family", 0, NULL },
	NO_REUSEPORT("set", "EOPNOTSUPP"),
	NO_REUSEPORT("get", "0"),
	NO_REUSEPORT("both have", "EADDRINUSE"),
	NO_REUSEPORT("shared", "0"),
	NO_REUSEPORT("same user", "EADDRINUSE"),
};

int main(int argc, char **argv)
{
	return compare_main(argc, argv, rows, ARRAY_SIZE(rows), differences,
			    ARRAY_SIZE(differences));
}
