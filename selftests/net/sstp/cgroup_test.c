// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: 6.1 6.12
 *
 * What guards sockets of TCP in a cgroup guards those of SSTP: BPF programs that look
 * at addresses and at packets. Each case runs on TCP, on AF_SSTP and on IPPROTO_SSTP.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib.h"

#define DENIED_PORT	7771
#define FROM_PORT	7772		/* is sent elsewhere */
#define DENIED_IP	0x7f000002	/* 127.0.0.2 */
#define BOUND_IP	0x7f000003
#define QUIET_MS	2000		/* for what must not come */
#define WAIT_MS		20000		/* for what must */

/* Instructions */
#define INSN(c, d, s, o, i) ((struct bpf_insn){ .code = (c), .dst_reg = (d), \
			     .src_reg = (s), .off = (o), .imm = (i) })
#define MOV_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define PUT(d, o, i)	INSN(BPF_ST | BPF_MEM | BPF_W, d, 0, o, i)
#define LOAD(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_W, d, s, o, 0)
#define STORE(d, o, s)	INSN(BPF_STX | BPF_MEM | BPF_W, d, s, o, 0)
#define SKIP_NE(d, i, n) INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, n, i)
#define ADD_IMM(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define END		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static enum proto proto;
static const char *name;
static char dir[] = "/tmp/sstp-cgroup-XXXXXX";
static int cgroup, prog;
static enum bpf_attach_type attached;

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void guard(enum bpf_prog_type type, enum bpf_attach_type where,
		  const struct bpf_insn *insn, size_t n)
{
	static char log[8192];
	union bpf_attr load = {
		.prog_type = type,
		.expected_attach_type = where,
		.insns = (uintptr_t)insn,
		.insn_cnt = n,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	union bpf_attr attach = {
		.target_fd = cgroup,
		.attach_type = where,
	};

	prog = bpf(BPF_PROG_LOAD, &load);
	if (prog < 0)
		die("program: %s\n%s", strerror(errno), log);
	attach.attach_bpf_fd = prog;
	if (bpf(BPF_PROG_ATTACH, &attach))
		die("attach:");
	attached = where;
}

static void unguard(void)
{
	union bpf_attr detach = {
		.target_fd = cgroup,
		.attach_bpf_fd = prog,
		.attach_type = attached,
	};

	if (bpf(BPF_PROG_DETACH, &detach))
		die("detach:");
	close(prog);
}

/* Addresses with DENIED_PORT are not for it. */
static void guard_port(enum bpf_attach_type where)
{
	const struct bpf_insn insn[] = {
		LOAD(2, 1, offsetof(struct bpf_sock_addr, user_port)),
		MOV_IMM(0, 1),
		SKIP_NE(2, htons(DENIED_PORT), 1),
		MOV_IMM(0, 0),
		END,
	};

	guard(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, where, insn, ARRAY_SIZE(insn));
}

/* bind() to FROM_PORT gets @port. */
static void guide_port(uint16_t port)
{
	const struct bpf_insn insn[] = {
		LOAD(2, 1, offsetof(struct bpf_sock_addr, user_port)),
		SKIP_NE(2, htons(FROM_PORT), 2),
		MOV_IMM(2, htons(port)),
		STORE(1, offsetof(struct bpf_sock_addr, user_port), 2),
		MOV_IMM(0, 1),
		END,
	};

	guard(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, insn,
	      ARRAY_SIZE(insn));
}

/* connect() uses BOUND_IP, or is refused. */
static void guide_address(void)
{
	const struct bpf_insn insn[] = {
		PUT(10, -16, AF_INET),
		PUT(10, -12, htonl(BOUND_IP)),
		PUT(10, -8, 0),
		PUT(10, -4, 0),
		MOV(2, 10),
		ADD_IMM(2, -16),
		MOV_IMM(3, 16),
		CALL(BPF_FUNC_bind),
		SKIP_NE(0, 0, 2),
		MOV_IMM(0, 1),
		END,
		MOV_IMM(0, 0),
		END,
	};

	guard(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, insn,
	      ARRAY_SIZE(insn));
}

/* The program refuses packets with DENIED_IP at @off. */
static void guard_packets(enum bpf_attach_type where, int off)
{
	const struct bpf_insn insn[] = {
		MOV_IMM(2, off),
		MOV(3, 10),
		ADD_IMM(3, -8),
		MOV_IMM(4, 4),
		CALL(BPF_FUNC_skb_load_bytes),
		LOAD(2, 10, -8),
		MOV_IMM(0, 1),
		SKIP_NE(2, htonl(DENIED_IP), 1),
		MOV_IMM(0, 0),
		END,
	};

	guard(BPF_PROG_TYPE_CGROUP_SKB, where, insn, ARRAY_SIZE(insn));
}

/* The program refuses all sockets, or those bound to DENIED_PORT. */
static void guard_sockets(enum bpf_attach_type where)
{
	const struct bpf_insn insn[] = {
		MOV_IMM(0, 0),
		END,
	};
	const struct bpf_insn bound[] = {
		LOAD(2, 1, offsetof(struct bpf_sock, src_port)),
		MOV_IMM(0, 1),
		SKIP_NE(2, DENIED_PORT, 1),
		MOV_IMM(0, 0),
		END,
	};

	if (where == BPF_CGROUP_INET_SOCK_CREATE)
		guard(BPF_PROG_TYPE_CGROUP_SOCK, where, insn, ARRAY_SIZE(insn));
	else
		guard(BPF_PROG_TYPE_CGROUP_SOCK, where, bound, ARRAY_SIZE(bound));
}

static int sock(int family)
{
	int fd = proto_socket(proto, family, SOCK_STREAM, SOCK_NONBLOCK);

	if (fd < 0)
		die("socket:");
	return fd;
}

static int try_bind(int family, uint16_t port)
{
	int fd = sock(family), err;
	union addr a;

	addr_loopback(&a, family, port);
	err = bind(fd, &a.sa, addr_len(&a)) ? errno : 0;
	close(fd);
	return err;
}

static int listening(int family, uint16_t *port)
{
	socklen_t len = sizeof(union addr);
	int fd = sock(family);
	union addr a;

	addr_any(&a, family, 0);
	if (bind(fd, &a.sa, addr_len(&a)) || listen(fd, 5) ||
	    getsockname(fd, &a.sa, &len))
		die("listener:");
	*port = addr_port(&a);
	return fd;
}

/* Returns 0 when connected, else an errno; EINPROGRESS after 2 s without an answer. */
static int try_for(int ms, const char *from, const char *to, uint16_t port)
{
	struct pollfd p = { .events = POLLOUT };
	union addr a, b;
	int err = 0;

	if (!addr_parse(&a, to, port))
		die("address");
	p.fd = sock(a.sa.sa_family);
	if (from && (!addr_parse(&b, from, 0) || bind(p.fd, &b.sa, addr_len(&b))))
		die("bind:");
	if (connect(p.fd, &a.sa, addr_len(&a)))
		err = errno;
	if (err == EINPROGRESS && poll(&p, 1, ms) == 1)
		err = sock_int(p.fd, SOL_SOCKET, SO_ERROR);
	close(p.fd);
	return err;
}

/* What comes of it, however slow the machine is */
static int try_connect(const char *from, const char *to, uint16_t port)
{
	return try_for(WAIT_MS, from, to, port);
}

static void result(const char *what)
{
	char text[80];

	snprintf(text, sizeof(text), "%s: %s", name, what);
	ktap_held(text);
}

static void test_bind(void)
{
	guard_port(BPF_CGROUP_INET4_BIND);
	must_be("denied", try_bind(AF_INET, DENIED_PORT), EPERM);
	must_be("another", try_bind(AF_INET, DENIED_PORT + 10), 0);
	must_be("IPv6", try_bind(AF_INET6, DENIED_PORT), 0);
	unguard();
	must_be("and then", try_bind(AF_INET, DENIED_PORT), 0);
	guard_port(BPF_CGROUP_INET6_BIND);
	must_be("denied", try_bind(AF_INET6, DENIED_PORT), EPERM);
	must_be("another", try_bind(AF_INET6, DENIED_PORT + 10), 0);
	unguard();
	guard_sockets(BPF_CGROUP_INET4_POST_BIND);
	must_be("denied after", try_bind(AF_INET, DENIED_PORT), EPERM);
	must_be("another after", try_bind(AF_INET, DENIED_PORT + 10), 0);
	unguard();
	must_be("nothing stays bound", try_bind(AF_INET, DENIED_PORT), 0);
	result("bind()");
}

static void test_connect(void)
{
	uint16_t port;
	int l = listening(AF_INET6, &port);

	guard_port(BPF_CGROUP_INET4_CONNECT);
	must_be("denied", try_connect(NULL, "127.0.0.1", DENIED_PORT), EPERM);
	must_be("another", try_connect(NULL, "127.0.0.1", port), 0);
	must_be("IPv6", try_connect(NULL, "::1", DENIED_PORT), ECONNREFUSED);
	unguard();
	guard_port(BPF_CGROUP_INET6_CONNECT);
	must_be("denied", try_connect(NULL, "::1", DENIED_PORT), EPERM);
	must_be("mapped", try_connect(NULL, "::ffff:127.0.0.1", DENIED_PORT), EPERM);
	must_be("another", try_connect(NULL, "::1", port), 0);
	unguard();
	guide_port(port);
	must_be("sent elsewhere", try_connect(NULL, "127.0.0.1", FROM_PORT), 0);
	unguard();
	must_be("and then", try_connect(NULL, "127.0.0.1", FROM_PORT), ECONNREFUSED);
	close(l);
	result("connect()");
}

/* A socket may connect again, after whatever it did before. */
static void test_bpf_bind(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	union addr to, nobody, name;
	int l, fd, peer = -1, i;
	uint16_t port;

	l = listening(AF_INET, &port);
	addr_loopback(&to, AF_INET, port);
	addr_loopback(&nobody, AF_INET, DENIED_PORT);
	guide_address();
	fd = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	must(connect(fd, &nobody.sa, addr_len(&nobody)) && errno == ECONNREFUSED,
	     "refused");
	for (i = 0; i < 2; i++) {
		if (i)
			must(!connect(fd, &none, sizeof(none)), "disconnected");
		must(!connect(fd, &to.sa, addr_len(&to)), "connected");
		if (poll(&(struct pollfd){ .fd = l, .events = POLLIN }, 1, WAIT_MS) == 1)
			peer = accept(l, &name.sa, &(socklen_t){ sizeof(name) });
		must(peer >= 0 && name.v4.sin_addr.s_addr == htonl(BOUND_IP),
		     "from where the program says");
		close(peer);
		peer = -1;
	}
	unguard();
	close(fd);
	close(l);
	result("bpf_bind()");
}

/* Like systemd's IPAddressDeny, for destinations and sources */
static void test_packets(void)
{
	uint16_t port;
	int l = listening(AF_INET, &port);

	guard_packets(BPF_CGROUP_INET_EGRESS, 16);
	must_be("to there", try_for(QUIET_MS, NULL, "127.0.0.2", port), EINPROGRESS);
	must_be("elsewhere", try_connect(NULL, "127.0.0.1", port), 0);
	unguard();
	must_be("and then", try_connect(NULL, "127.0.0.2", port), 0);
	guard_packets(BPF_CGROUP_INET_INGRESS, 12);
	must_be("from there", try_for(QUIET_MS, "127.0.0.2", "127.0.0.1", port),
		EINPROGRESS);
	must_be("from elsewhere", try_connect(NULL, "127.0.0.1", port), 0);
	unguard();
	must_be("and then", try_connect("127.0.0.2", "127.0.0.1", port), 0);
	close(l);
	result("packets");
}

static void test_create(void)
{
	int fd;

	guard_sockets(BPF_CGROUP_INET_SOCK_CREATE);
	fd = proto_socket(proto, AF_INET, SOCK_STREAM, 0);
	must(fd < 0 && errno == EPERM, "denied");
	unguard();
	close(sock(AF_INET));
	result("socket()");
}

static void enter_cgroup(void)
{
	char path[64];

	if (!mkdtemp(dir) || mount("none", dir, "cgroup2", 0, NULL))
		die("cgroup:");
	snprintf(path, sizeof(path), "%s/guarded", dir);
	if (mkdir(path, 0700))
		die("mkdir:");
	cgroup = open(path, O_RDONLY | O_DIRECTORY);
	if (cgroup < 0)
		die("open:");
	snprintf(path, sizeof(path), "%s/guarded/cgroup.procs", dir);
	file_put(path, "0");
}

int main(void)
{
	static const struct {
		const char *name;
		enum proto proto;
		bool inet;
	} kinds[] = {
		{ "TCP", PROTO_TCP, false }, { "AF_SSTP", PROTO_SSTP, false },
		{ "IPPROTO_SSTP", PROTO_SSTP, true },
	};
	unsigned int i;
	char path[64];

	ktap_plan(ARRAY_SIZE(kinds) * 5 + 1);
	new_namespace();
	enter_cgroup();
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		proto = kinds[i].proto;
		name = kinds[i].name;
		sstp_of_inet = kinds[i].inet;
		test_bind();
		test_connect();
		test_bpf_bind();
		test_packets();
		test_create();
	}
	must_be("SSTP's are counted", sstp_counter("InDenied") > 0, 1);
	ktap_held("packets that were denied");
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	file_put(path, "0");
	snprintf(path, sizeof(path), "%s/guarded", dir);
	close(cgroup);
	rmdir(path);
	umount(dir);
	rmdir(dir);
	return ktap_end();
}
