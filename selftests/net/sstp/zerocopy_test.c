// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * kernels: uml debug 6.1 6.12
 *
 * Sending by reference: MSG_ZEROCOPY, whose completions come for each call once, sendfile() and
 * splice(). Bytes come as they were, or as they are when they leave if the program changes them
 * meanwhile; completions also come if the connection or the program ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"
#include "path.h"

#define KB		1024
#define TOTAL		(4 << 20)	/* bytes of a transfer */
#define MTU		20000		/* trains of several packets may have pages of 4 KB */

static char *content;			/* TOTAL bytes, which calls send parts of */
static bool zerocopy = true;		/* the kernel lets a socket of SSTP have SO_ZEROCOPY */

#ifndef MSG_SPLICE_PAGES		/* libc has it not: it is the kernel's */
#define MSG_SPLICE_PAGES	0x8000000
#endif

#define CALLS		4096		/* with MSG_ZEROCOPY in a connection, at most */

/**
 * struct flow - a connection over the path, from A to B
 * @p: its ends
 * @calls: calls with MSG_ZEROCOPY that have sent something
 * @done: calls for which a completion came
 * @copied: of these, those that were copied
 * @refs: OutRefBytes when it was opened
 * @disorder: completions may come in disorder, as packets do
 * @came: for which call?
 */
struct flow {
	struct pair p;
	uint32_t calls, done, copied;
	long refs;
	bool disorder;
	bool came[CALLS];
};

/* A completion came for calls @from to @to: for each once, and for none that was not made. */
static void note_completion(struct flow *f, uint32_t from, uint32_t to)
{
	uint32_t i;

	if (!f->disorder)
		must_be("first call", from, f->done);
	if (from > to || to >= f->calls) {
		must(false, "calls that were made");
		return;
	}
	for (i = from; i <= to; i++) {
		must(!f->came[i], "one completion for a call");
		f->came[i] = true;
		f->done++;
	}
}

/* Take a completion; returns false if there is none. */
static bool take_completion(struct flow *f)
{
	char control[200];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct sock_extended_err ee;
	struct cmsghdr *c;

	if (recvmsg(f->p.tx, &msg, MSG_ERRQUEUE) < 0) {
		must_be("errno", errno, EAGAIN);
		return false;
	}
	c = CMSG_FIRSTHDR(&msg);
	if (!c || (c->cmsg_level == SOL_IP && c->cmsg_type != IP_RECVERR) ||
	    (c->cmsg_level == SOL_IPV6 && c->cmsg_type != IPV6_RECVERR))
		die("a completion without its message");
	memcpy(&ee, CMSG_DATA(c), sizeof(ee));
	must_be("origin", ee.ee_origin, SO_EE_ORIGIN_ZEROCOPY);
	must_be("errno of it", ee.ee_errno, 0);
	must(msg.msg_flags & MSG_ERRQUEUE, "MSG_ERRQUEUE");
	note_completion(f, ee.ee_info, ee.ee_data);
	if (ee.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
		f->copied += ee.ee_data - ee.ee_info + 1;
	return true;
}

static bool all_completed(void *arg)
{
	struct flow *f = arg;

	while (take_completion(f))
		;
	return f->done == f->calls;
}

static bool all_come(void *arg)
{
	struct flow *f = arg;

	while (take_completion(f))
		;
	return all_read(&f->p);
}

static void must_come(struct flow *f)
{
	must(busywait(WAIT_MS, all_come, f), "all bytes come");
	must_be("bytes", f->p.got, f->p.sent);
	must(busywait(WAIT_MS, all_completed, f), "a completion comes for each call");
	must(!(path_poll(f->p.tx, POLLIN, 0) & POLLERR), "no POLLERR without one");
}

/* Bytes that went by reference since the flow was opened */
static long flow_refs(const struct flow *f)
{
	return path_counter(A, "OutRefBytes") - f->refs;
}

/* At least @bytes went by reference. A test that did not come to this tests copies only. */
static void must_refer(const struct flow *f, long bytes)
{
	long refs = flow_refs(f);

	if (refs < bytes)
		ktap_diag("%ld bytes by reference, %ld wanted", refs, bytes);
	must(refs >= bytes, "bytes go by reference");
}

static void flow_close(struct flow *f)
{
	pair_close(&f->p);
	must(path_settle(), "the sockets go");
}

/* Send the next @len bytes of content, in one call. Returns what send() does. */
static ssize_t send_some(struct flow *f, size_t len, int flags)
{
	ssize_t n = send(f->p.tx, content + f->p.sent, len, flags | MSG_NOSIGNAL);

	if (n > 0) {
		f->p.sent += n;
		f->calls += !!(flags & MSG_ZEROCOPY);
		if (f->calls == CALLS)
			die("too many calls");
	}
	return n;
}

/* A packet more, by which the path's MTU is probed */
static bool mtu_found(void *arg)
{
	struct flow *f = arg;

	send_some(f, 100, 0);
	return all_read(&f->p) && sock_info(f->p.tx).mtu == MTU;
}

static void flow_open(struct flow *f, int family, int type)
{
	int l = path_socket(B, type);

	memset(f, 0, sizeof(*f));
	f->p.seed = nonce();
	content_fill(content, TOTAL, f->p.seed, 0);
	f->p.tx = path_socket(A, type);
	if (zerocopy)
		sock_set(f->p.tx, SOL_SOCKET, SO_ZEROCOPY, 1);
	sock_set(f->p.tx, SOL_SOCKET, SO_SNDBUFFORCE, 2 * TOTAL);
	f->p.rx = path_connect(f->p.tx, l, family);
	f->refs = path_counter(A, "OutRefBytes");
	must(busywait(WAIT_MS, mtu_found, f), "packets become large");
}

/* Send @len more bytes, reading when there is no room. */
static void send_all(struct flow *f, size_t len, int flags)
{
	uint64_t to = f->p.sent + len;

	while (f->p.sent < to) {
		if (send_some(f, to - f->p.sent, flags) > 0)
			continue;
		if (errno != EAGAIN && errno != ENOBUFS)
			die("send:");
		all_come(f);
	}
}

static int content_file(void)
{
	int fd = memfd_create("content", 0);

	if (fd < 0 || write(fd, content, TOTAL) != TOTAL)
		die("memfd:");
	return fd;
}

/* Send the next @len bytes of content from @file. */
static void send_file(struct flow *f, int file, size_t len)
{
	uint64_t to = f->p.sent + len;
	off_t off = f->p.sent;
	ssize_t n;

	while (f->p.sent < to) {
		n = sendfile(f->p.tx, file, &off, to - f->p.sent);
		if (n > 0)
			f->p.sent += n;
		else if (errno == EAGAIN)
			all_come(f);
		else
			die("sendfile:");
	}
}

static void test_option(void)
{
	int fd = new_socket(SOCK_STREAM), two = 2;
	long refs = sstp_counter("OutRefBytes");
	struct pair p;

	must_be("as made", sock_int(fd, SOL_SOCKET, SO_ZEROCOPY), 0);
	must(setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &two, sizeof(two)) < 0 && errno == EINVAL,
	     "2 is refused");
	sock_set(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	must_be("as set", sock_int(fd, SOL_SOCKET, SO_ZEROCOPY), 1);
	pair_connect(&p, fd);
	must_be("of an accepted socket", sock_int(p.rx, SOL_SOCKET, SO_ZEROCOPY), 1);
	/* Without the option the flag is ignored. */
	must_be("without it", send(p.tx, content, 100 * KB, MSG_ZEROCOPY | MSG_DONTWAIT),
		100 * KB);
	must(recv(p.tx, content, 1, MSG_ERRQUEUE) < 0 && errno == EAGAIN, "no completion");
	must_be("references", sstp_counter("OutRefBytes") - refs, 0);
	pair_close(&p);
	ktap_held("SO_ZEROCOPY");
}

/* Calls of many sizes, with copies and files between them */
static void test_stream(int family)
{
	static struct flow f;
	size_t len;
	int file, i;

	flow_open(&f, family, SOCK_STREAM);
	/* What is copied, as it is small, does not wait for earlier calls. */
	f.disorder = true;
	file = content_file();
	for (i = 0; f.p.sent < TOTAL; i++) {
		len = 1 + mix64(i) % (i % 3 ? 10 * KB : 300 * KB);
		if (len > TOTAL - f.p.sent)
			len = TOTAL - f.p.sent;
		switch (i % 7) {
		case 3:
			send_all(&f, len, MSG_MORE);
			break;
		case 5:
			send_file(&f, file, len);
			break;
		default:
			send_all(&f, len, MSG_ZEROCOPY | (i % 2 ? MSG_MORE : 0));
		}
	}
	close(file);
	must_come(&f);
	must_refer(&f, TOTAL / 2);
	flow_close(&f);
	ktap_held(family == AF_INET ? "a stream over IPv4" : "a stream over IPv6");
}

/* Reads a segment and checks it. */
static bool segment_read(struct flow *f, size_t len)
{
	static char buf[TOTAL];

	must(path_poll(f->p.rx, POLLIN, WAIT_MS) & POLLIN, "a segment comes");
	must_be("length", recv(f->p.rx, buf, sizeof(buf), 0), len);
	must(!memcmp(buf, content, len), "its content");
	return all_held;
}

static void test_segments(void)
{
	static const size_t sizes[] = { 1, 2047, 2048, 5000, 70000, 300001 };
	struct iovec v[1000];
	struct msghdr msg = { .msg_iov = v };
	static struct flow f;
	unsigned int i;

	flow_open(&f, AF_INET, SOCK_SEQPACKET);
	for (i = 0; i < ARRAY_SIZE(sizes) && all_held; i++) {
		must_be("sent", send(f.p.tx, content, sizes[i], MSG_ZEROCOPY | MSG_EOR), sizes[i]);
		f.calls++;
		segment_read(&f, sizes[i]);
	}
	must_refer(&f, 300001 - 2 * 2048);
	/* After a large piece small ones follow, which are too many to go by reference. */
	v[0] = (struct iovec){ content, 64 * KB };
	for (i = 1; i < ARRAY_SIZE(v); i++)
		v[i] = (struct iovec){ content + 64 * KB + (i - 1) * 2100, 2100 };
	for (msg.msg_iovlen = 3; msg.msg_iovlen <= ARRAY_SIZE(v) && all_held;
	     msg.msg_iovlen += 331) {
		size_t len = 64 * KB + (msg.msg_iovlen - 1) * 2100;

		must_be("sent of pieces", sendmsg(f.p.tx, &msg, MSG_ZEROCOPY), len);
		f.calls++;
		segment_read(&f, len);
		must(busywait(WAIT_MS, all_completed, &f), "its completion");
	}
	must(f.copied, "copies are reported");
	/* Pieces of no length, first and after one that is copied */
	v[0] = (struct iovec){ content, 0 };
	v[1] = (struct iovec){ content, 100 };
	v[2] = (struct iovec){ content, 0 };
	v[3] = (struct iovec){ content + 100, 300 * KB };
	msg.msg_iovlen = 4;
	must_be("sent with empty pieces", sendmsg(f.p.tx, &msg, MSG_ZEROCOPY | MSG_DONTWAIT),
		100 + 300 * KB);
	f.calls++;
	segment_read(&f, 100 + 300 * KB);
	must(busywait(WAIT_MS, all_completed, &f), "its completion");
	must(send(f.p.tx, (void *)8, 100000, MSG_ZEROCOPY) < 0 && errno == EFAULT, "EFAULT");
	must(!take_completion(&f), "and none for a call that failed");
	flow_close(&f);
	ktap_held("segments");
}

/* A little is copied, and known to be. */
static void test_small(void)
{
	static struct flow f;
	int i;

	flow_open(&f, AF_INET, SOCK_STREAM);
	for (i = 0; i < 100; i++)
		send_all(&f, 100, MSG_ZEROCOPY);
	must(all_completed(&f), "completions come at once");
	must_be("copied", f.copied, 100);
	must_be("references", flow_refs(&f), 0);
	must_come(&f);
	flow_close(&f);
	ktap_held("small writes are copied");
}

/* Send the rest of the content from @fd, or with MSG_ZEROCOPY if that is -1, so that most of it
 * waits to be shipped.
 */
static void send_waiting(struct flow *f, int fd)
{
	/* All of it is queued, and nothing is acknowledged. */
	path_impair(B, "loss 100%");
	if (fd >= 0)
		send_file(f, fd, TOTAL - f->p.sent);
	else
		send_all(f, TOTAL - f->p.sent, MSG_ZEROCOPY);
	must_refer(f, TOTAL / 2);
}

/* What waits is changed. The receiver gets old bytes, then new ones, and drops no packet. */
static void test_changed(bool file)
{
	static char buf[TOTAL];
	long wrong, fresh = 0;
	static struct flow f;
	ssize_t n;
	int fd;

	flow_open(&f, AF_INET, SOCK_STREAM);
	f.disorder = true;
	wrong = path_counter(B, "InErrCsum") + path_counter(B, "InErrFormat");
	path_enter(A);
	fd = content_file();
	send_waiting(&f, file ? fd : -1);
	memset(content, 0xff, TOTAL);
	must_be("write", pwrite(fd, content, TOTAL, 0), TOTAL);
	path_impair(B, NULL);
	while (f.p.got < f.p.sent && path_poll(f.p.rx, POLLIN, WAIT_MS)) {
		n = recv(f.p.rx, buf, sizeof(buf), 0);
		if (n <= 0)
			break;
		f.p.got += n;
		while (n--)
			fresh += (unsigned char)buf[n] == 0xff;
	}
	must_be("bytes", f.p.got, f.p.sent);
	must(fresh > TOTAL / 2, "most have changed");
	must(busywait(WAIT_MS, all_completed, &f), "completions come");
	must_be("invalid packets",
		path_counter(B, "InErrCsum") + path_counter(B, "InErrFormat"), wrong);
	close(fd);
	flow_close(&f);
	ktap_held(file ? "a file is written to on its way" : "pages are written to on their way");
}

/* The file ends before its bytes have left: its pages are kept for them, and come as they were. */
static void test_truncated(void)
{
	static struct flow f;
	int fd;

	flow_open(&f, AF_INET, SOCK_STREAM);
	fd = content_file();
	send_waiting(&f, fd);
	must(!ftruncate(fd, 0), "truncate");
	close(fd);
	path_impair(B, NULL);
	must_come(&f);
	flow_close(&f);
	ktap_held("a file is truncated on its way");
}

/* MSG_SPLICE_PAGES is the kernel's: with its bit what a program sends is copied. Kernels from 6.5
 * on, and those with its backport, clear the bit before the module sees it.
 */
static void test_splice_flag(void)
{
	static struct flow f;

	flow_open(&f, AF_INET, SOCK_STREAM);
	path_impair(B, "loss 100%");
	send_all(&f, TOTAL - f.p.sent, MSG_SPLICE_PAGES);
	must_be("references", flow_refs(&f), 0);
	memset(content, 0xff, TOTAL);
	path_impair(B, NULL);
	must_come(&f);
	flow_close(&f);
	ktap_held("the bit of MSG_SPLICE_PAGES");
}

static void test_splice(void)
{
	static struct flow f;
	int pipes[2];
	ssize_t n, m;

	flow_open(&f, AF_INET, SOCK_STREAM);
	if (pipe(pipes))
		die("pipe:");
	while (f.p.sent < TOTAL) {
		size_t odd = 1 + mix64(f.p.sent) % (40 * KB);
		struct iovec v = { content + f.p.sent, odd };

		if (v.iov_len > TOTAL - f.p.sent)
			v.iov_len = TOTAL - f.p.sent;
		n = vmsplice(pipes[1], &v, 1, 0);
		if (n <= 0)
			die("vmsplice:");
		while (n) {
			m = splice(pipes[0], NULL, f.p.tx, NULL, n, 0);
			if (m < 0 && errno != EAGAIN)
				die("splice:");
			if (m < 0) {
				all_come(&f);
				continue;
			}
			n -= m;
			f.p.sent += m;
		}
	}
	must_come(&f);
	must_refer(&f, TOTAL / 4);
	close(pipes[0]);
	close(pipes[1]);
	flow_close(&f);
	ktap_held("vmsplice() and splice()");
}

/* One request of io_uring at a time */
struct uring {
	int fd;
	struct io_uring_params params;
	char *ring;
	struct io_uring_sqe *sqe;
};

static void uring_open(struct uring *u)
{
	size_t size;

	memset(u, 0, sizeof(*u));
	u->fd = syscall(SYS_io_uring_setup, 1, &u->params);
	if (u->fd < 0 || !(u->params.features & IORING_FEAT_SINGLE_MMAP))
		die("io_uring:");
	size = u->params.cq_off.cqes + u->params.cq_entries * sizeof(struct io_uring_cqe);
	u->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQ_RING);
	u->sqe = mmap(NULL, sizeof(*u->sqe), PROT_READ | PROT_WRITE, MAP_SHARED, u->fd,
		      IORING_OFF_SQES);
	if (u->ring == MAP_FAILED || u->sqe == MAP_FAILED)
		die("io_uring's memory:");
}

static uint32_t *uring_word(struct uring *u, uint32_t off)
{
	return (void *)(u->ring + off);
}

/* Submit what is in @u->sqe. */
static void uring_submit(struct uring *u)
{
	uint32_t *tail = uring_word(u, u->params.sq_off.tail);

	*uring_word(u, u->params.sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 0, 0, NULL, 0) != 1)
		die("io_uring_enter:");
}

/* Wait for the next completion. */
static struct io_uring_cqe uring_wait(struct uring *u)
{
	uint32_t *head = uring_word(u, u->params.cq_off.head);
	uint32_t mask = *uring_word(u, u->params.cq_off.ring_mask);
	struct io_uring_cqe *cqes = (void *)(u->ring + u->params.cq_off.cqes);
	struct io_uring_cqe cqe;

	while (*head == __atomic_load_n(uring_word(u, u->params.cq_off.tail), __ATOMIC_ACQUIRE))
		if (syscall(SYS_io_uring_enter, u->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			die("io_uring_enter:");
	cqe = cqes[*head & mask];
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return cqe;
}

/* io_uring reports by completions of its own that pages are not used any more. */
static void test_uring(void)
{
	static struct flow f;
	struct io_uring_cqe cqe;
	struct uring u;
	int i;

	flow_open(&f, AF_INET, SOCK_STREAM);
	uring_open(&u);
	for (i = 0; i < 20; i++) {
		size_t len = i % 4 ? 100 * KB : 500;

		*u.sqe = (struct io_uring_sqe){
			.opcode = IORING_OP_SEND_ZC, .fd = f.p.tx, .len = len,
			.addr = (uintptr_t)(content + f.p.sent),
		};
		uring_submit(&u);
		cqe = uring_wait(&u);
		must_be("sent", cqe.res, len);
		must(cqe.flags & IORING_CQE_F_MORE, "the report is to follow");
		f.p.sent += len;
		must(busywait(WAIT_MS, all_come, &f), "it comes");
		cqe = uring_wait(&u);
		must(cqe.flags & IORING_CQE_F_NOTIF, "the report");
	}
	must_come(&f);
	must_refer(&f, 15 * (100 * KB - 2 * 2048));
	close(u.fd);
	flow_close(&f);
	ktap_held("IORING_OP_SEND_ZC");
}

/* Of the link between R and B */
static void set_mtu(int mtu)
{
	path_run(R, "ip link set to-b mtu %d", mtu);
	path_run(B, "ip link set to-r mtu %d", mtu);
}

/* Lost packets are shipped again, and packets become smaller on the way. */
static void test_path(const char *name, const char *netem, bool mtu_falls)
{
	static struct flow f;
	int file;

	flow_open(&f, AF_INET, SOCK_STREAM);
	f.disorder = true;
	file = content_file();
	path_impair(B, netem);
	send_all(&f, TOTAL / 2, MSG_ZEROCOPY);
	if (mtu_falls)
		set_mtu(1500);
	send_file(&f, file, TOTAL / 4);
	send_all(&f, TOTAL - f.p.sent, MSG_ZEROCOPY);
	must_come(&f);
	must_refer(&f, TOTAL / 4);
	path_impair(B, NULL);
	set_mtu(MTU);
	close(file);
	flow_close(&f);
	ktap_held(name);
}

/* The peer's reset ends all at once. */
static void test_reset(void)
{
	const struct linger now = { 1, 0 };
	static struct flow f;

	flow_open(&f, AF_INET, SOCK_STREAM);
	f.disorder = true;
	while (send_some(&f, 100 * KB, MSG_ZEROCOPY) > 0 && f.p.sent < TOTAL - 100 * KB)
		;
	must(f.calls > 10, "calls were made");
	must_refer(&f, f.p.sent / 2);
	setsockopt(f.p.rx, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(f.p.rx);
	must(busywait(WAIT_MS, all_completed, &f), "completions come");
	must(path_poll(f.p.tx, POLLIN, WAIT_MS) & POLLHUP, "the connection has ended");
	close(f.p.tx);
	must(path_settle(), "the sockets go");
	ktap_held("a reset");
}

/* The program that has sent is gone; what it sent comes. */
static void test_died(void)
{
	static struct flow f;
	uint64_t sent;
	int status;
	pid_t pid;

	flow_open(&f, AF_INET, SOCK_STREAM);
	sent = f.p.sent;
	path_impair(B, "delay 50ms");
	pid = fork();
	if (pid < 0)
		die("fork:");
	if (!pid) {
		/* In pages of this process alone */
		content_fill(content, TOTAL, f.p.seed, 0);
		send_some(&f, TOTAL / 2, MSG_ZEROCOPY);
		kill(getpid(), SIGKILL);
	}
	close(f.p.tx);
	must(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "it was killed");
	f.p.sent = TOTAL;
	while (path_poll(f.p.rx, POLLIN, WAIT_MS) && pair_read(&f.p, SIZE_MAX))
		;
	must(f.p.got - sent > 0 && f.p.got - sent <= TOTAL / 2, "what it sent comes");
	must_refer(&f, (f.p.got - sent) / 2);
	path_impair(B, NULL);
	close(f.p.rx);
	must(path_settle(), "the sockets go");
	ktap_held("a program that is killed");
}

/* Send until no more may be locked; @len bytes in a call */
static void fill_limit(struct flow *f, size_t len)
{
	while (f->p.sent + len <= TOTAL && send_some(f, len, MSG_ZEROCOPY) > 0)
		;
	must(f->p.sent + len <= TOTAL, "there is a limit");
	must_be("errno", errno, ENOBUFS);
	must(f->calls > 1, "but not at once");
}

/* Of pages that an ordinary user may lock */
static void test_memlock(void)
{
	const struct rlimit lim = { 256 * KB, 256 * KB };
	static struct flow f;
	int status;
	pid_t pid;

	flow_open(&f, AF_INET, SOCK_STREAM);
	path_impair(B, "loss 100%");
	pid = fork();
	if (pid < 0)
		die("fork:");
	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &lim) || setresuid(65534, 65534, 65534))
			die("limit:");
		fill_limit(&f, 64 * KB);
		must(f.calls <= 4, "no more than the limit");
		_exit(!all_held);
	}
	must(waitpid(pid, &status, 0) == pid && !status, "as the child says");
	must_refer(&f, 64 * KB);
	path_impair(B, NULL);
	flow_close(&f);
	ktap_held("RLIMIT_MEMLOCK");
}

/* Of memory for completions, each of which a segment needs; it is free again after them. */
static void test_optmem(void)
{
	static struct flow f;

	flow_open(&f, AF_INET, SOCK_SEQPACKET);
	f.disorder = true;
	path_impair(B, "loss 100%");
	fill_limit(&f, 4 * KB);
	path_impair(B, NULL);
	must_come(&f);
	must(send_some(&f, 4 * KB, MSG_ZEROCOPY) > 0, "and it goes on");
	must_come(&f);
	flow_close(&f);
	ktap_held("memory for completions");
}

/* A kernel that knows no SO_ZEROCOPY for other families than its own refuses the option, and copies
 * with MSG_ZEROCOPY.
 */
static void test_refused(void)
{
	static struct flow f;
	int one = 1;

	ktap_diag("without SO_ZEROCOPY: no cases of a program's own pages");
	flow_open(&f, AF_INET, SOCK_STREAM);
	must(setsockopt(f.p.tx, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) < 0,
	     "SO_ZEROCOPY is refused");
	send_all(&f, TOTAL - f.p.sent, MSG_ZEROCOPY);
	must_be("references", flow_refs(&f), 0);
	f.calls = 0;	/* no completion may come */
	must_come(&f);
	flow_close(&f);
	ktap_held("the option is refused");
}

/* Pages that the kernel passes */
static void test_kernel_pages(void)
{
	test_changed(true);
	test_truncated();
	test_splice_flag();
	test_splice();
}

/* Pages of the program, too */
static void test_program_pages(void)
{
	test_option();
	test_stream(AF_INET);
	test_stream(AF_INET6);
	test_segments();
	test_small();
	test_changed(false);
	test_uring();
	test_path("packets are lost", "loss 3%", false);
	test_path("packets come twice, and in disorder", "delay 5ms reorder 25% duplicate 5%",
		  false);
	test_path("the path MTU falls", NULL, true);
	test_reset();
	test_died();
	test_memlock();
	test_optmem();
}

int main(void)
{
	const char *kernel = getenv("SSTP_KERNEL");

	/* Linux 6.1 does not let other families than its own have the option. */
	if (kernel && !strcmp(kernel, "6.1"))
		zerocopy = false;
	content = mmap(NULL, TOTAL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (content == MAP_FAILED)
		die("mmap:");
	ktap_plan(zerocopy ? 19 : 6);
	path_make();
	path_run(A, "ip link set to-r mtu %d", MTU);
	path_run(R, "ip link set to-a mtu %d", MTU);
	set_mtu(MTU);
	path_enter(B);
	if (zerocopy)
		test_program_pages();
	else
		test_refused();
	test_kernel_pages();
	ktap_result(sstp_sockets_end(WAIT_MS), "no socket is left");
	return ktap_end();
}
