// SPDX-License-Identifier: GPL-2.0
/* Sending and receiving in all the ways there are. */
/* timeout: 300 */
/* quick: yes */
#include <linux/io_uring.h>
#include <linux/sockios.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "compare.h"

static void row_peek(void)
{
	int peer, fd = pair(&peer);

	note_recv("nothing", fd, 9, MSG_PEEK | MSG_DONTWAIT);
	say(peer, "abcdef");
	note_recv("peek", fd, 99, MSG_PEEK);
	note_recv("peek 3", fd, 3, MSG_PEEK);
	note_recv("peek again", fd, 99, MSG_PEEK);
	note_recv("recv", fd, 99, 0);
	note_recv("gone", fd, 99, MSG_PEEK | MSG_DONTWAIT);
	close(peer);
	note_recv("end", fd, 99, MSG_PEEK);
}

static void row_peek_across(void)
{
	int peer, fd = pair(&peer);

	say(peer, "abc");
	say(peer, "def");
	note_recv("peek all", fd, 6, MSG_PEEK | MSG_WAITALL);
	note_recv("2", fd, 2, 0);
	note_recv("peek", fd, 3, MSG_PEEK);
	note_recv("rest", fd, 4, MSG_WAITALL);
}

static void row_waitall(void)
{
	int peer, fd = pair(&peer);
	pid_t pid;

	say(peer, "ab");
	pid = fork();
	if (!pid) {
		sleep_ns(50000000);
		say(peer, "cdef");
		_exit(0);
	}
	note_recv("two writes", fd, 5, MSG_WAITALL);
	waitpid(pid, NULL, 0);
	timeout_opt(fd, SO_RCVTIMEO, QUIET_MS);
	note_recv("time-out", fd, 5, MSG_WAITALL);
	note_recv("time-out, nothing", fd, 5, MSG_WAITALL);
	say(peer, "gh");
	poll_text(fd, POLLIN, WAIT_MS);
	note_recv("MSG_DONTWAIT", fd, 5, MSG_WAITALL | MSG_DONTWAIT);
	say(peer, "ij");
	close(peer);
	note_recv("end", fd, 5, MSG_WAITALL);
}

/* recv() sleeps until all data is there, or until its time-out. */
static void row_peek_waitall(void)
{
	int peer, fd = pair(&peer);
	pid_t pid;

	timeout_opt(fd, SO_RCVTIMEO, QUIET_MS);
	say(peer, "ab");
	note_recv("time-out", fd, 5, MSG_PEEK | MSG_WAITALL);
	timeout_opt(fd, SO_RCVTIMEO, WAIT_MS);
	pid = fork();
	if (!pid) {
		sleep_ns(50000000);
		say(peer, "cdef");
		_exit(0);
	}
	note_recv("two writes", fd, 5, MSG_PEEK | MSG_WAITALL);
	waitpid(pid, NULL, 0);
	note_recv("all still there", fd, 9, 0);
}

static void row_trunc_stream(void)
{
	int peer, fd = pair(&peer);
	struct iovec iov = { (char[4]){}, 2 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	say(peer, "abcdefgh");
	poll_text(fd, POLLIN, WAIT_MS);
	note("discard 3", recv(fd, NULL, 3, MSG_TRUNC));
	note("recvmsg", recvmsg(fd, &msg, 0));
	notef("flags", "%#x", msg.msg_flags);
	note_recv("rest", fd, 99, 0);
}

static void row_oob(void)
{
	int peer, mark = -1, fd = pair(&peer);
	union addr a;
	char c;

	note("recv without", recv(fd, &c, 1, MSG_OOB | MSG_DONTWAIT));
	note("SIOCATMARK", ioctl(fd, SIOCATMARK, &mark));
	notef("mark", "%d", mark);
	note("bad pointer", ioctl(fd, SIOCATMARK, BAD_POINTER));
	note("unconnected", ioctl(sock(), SIOCATMARK, &mark));
	note("listener", ioctl(listener(&a), SIOCATMARK, &mark));
	note("send", send(peer, "x", 1, MSG_OOB));
}

static void row_errqueue(void)
{
	int peer, fd = pair(&peer);

	note_recv("recv", fd, 1, MSG_ERRQUEUE);
	note_recv("recv, blocking socket", fd, 1, MSG_ERRQUEUE | MSG_DONTWAIT);
}

static void row_more(void)
{
	int peer, fd = pair(&peer);

	note("MSG_MORE", send(fd, "abc", 3, MSG_MORE));
	note("send", send(fd, "def", 3, 0));
	note_recv("recv", peer, 6, MSG_WAITALL);
	note("MSG_MORE", send(fd, "ghi", 3, MSG_MORE));
	await("in time", peer, POLLIN);
	note_recv("recv", peer, 99, 0);
	note("MSG_MORE", send(fd, "jkl", 3, MSG_MORE));
	close(fd);
	note_recv("close", peer, 99, MSG_WAITALL);
}

static bool outq_empty(void *arg)
{
	int n = -1;

	return !ioctl(*(int *)arg, SIOCOUTQ, &n) && !n;
}

static void row_queues(void)
{
	int peer, fd = pair(&peer), n, l;
	union addr a;
	uint64_t sent;

	note("FIONREAD", ioctl(fd, FIONREAD, &n));
	notef("bytes", "%d", n);
	say(peer, "abcdef");
	poll_text(fd, POLLIN, WAIT_MS);
	note("FIONREAD", ioctl(fd, FIONREAD, &n));
	notef("bytes", "%d", n);
	if (type == SOCK_STREAM) {
		note_recv("recv", fd, 2, 0);
		note("FIONREAD", ioctl(fd, FIONREAD, &n));
		notef("bytes", "%d", n);
	}
	note_recv("recv", fd, 99, 0);
	note("FIONREAD", ioctl(fd, FIONREAD, &n));
	notef("bytes", "%d", n);
	notef("sent and read: queue empties", "%d",
	      busywait(WAIT_MS, outq_empty, &peer));
	sent = fill(fd);
	note("SIOCOUTQ", ioctl(fd, SIOCOUTQ, &n));
	notef("some", "%d", n > 0 && (uint64_t)n <= sent);
	note("SIOCOUTQNSD", ioctl(fd, SIOCOUTQNSD, &n));
	notef("all came", "%d", drain(peer, sent) == sent);
	notef("queue empties", "%d", busywait(WAIT_MS, outq_empty, &fd));
	note("bad pointer", ioctl(fd, FIONREAD, BAD_POINTER));
	l = listener(&a);
	note("listener FIONREAD", ioctl(l, FIONREAD, &n));
	note("listener SIOCOUTQ", ioctl(l, SIOCOUTQ, &n));
	l = sock();
	note("unconnected FIONREAD", ioctl(l, FIONREAD, &n));
	notef("bytes", "%d", n);
	note("unconnected SIOCOUTQ", ioctl(l, SIOCOUTQ, &n));
	notef("bytes", "%d", n);
}

static void row_lowat(void)
{
	int peer, fd = pair(&peer);

	notef("default", "%d", get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	note("0", set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 0));
	notef("means", "%d", get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	note("-1", set_int(fd, SOL_SOCKET, SO_RCVLOWAT, -1));
	note("10", set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 10));
	notef("is", "%d", get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	note("SNDLOWAT", set_int(fd, SOL_SOCKET, SO_SNDLOWAT, 10));
	say(peer, "abc");
	notef("too little", "%s", poll_text(fd, POLLIN, QUIET_MS));
	note_recv("MSG_DONTWAIT takes it", fd, 99, MSG_DONTWAIT);
	say(peer, "abc");
	say(peer, "defghijk");
	notef("enough", "%s", poll_text(fd, POLLIN, WAIT_MS));
	note_recv("recv", fd, 99, 0);
	say(peer, "abc");
	shutdown(peer, SHUT_WR);
	notef("end", "%s", poll_text(fd, POLLIN, WAIT_MS));
	note_recv("recv", fd, 99, 0);
}

/* The program asks for more than fits: it gets what is there. */
static void row_lowat_most(void)
{
	int peer, fd = pair(&peer);
	struct pollfd p[] = { { fd, POLLIN, 0 }, { peer, POLLOUT, 0 } };
	static char buf[4096];

	note("RCVBUF", set_int(fd, SOL_SOCKET, SO_RCVBUF, 50000));
	note("LOWAT", set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1 << 26));
	/* The send buffer may be full while the data are on their way to a receive buffer that
	 * has room for more.
	 */
	do
		while (send(peer, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	while (poll(p, 2, WAIT_MS) > 0 && !p[0].revents);
	notef("full", "%s", poll_text(fd, POLLIN, 0));
}

static void row_pass_fd(void)
{
	int peer, fd = pair(&peer), un[2];
	char control[CMSG_SPACE(sizeof(int))] = {}, c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, un))
		bail("socketpair");
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd, sizeof(int));
	note("pass", sendmsg(un[0], &msg, 0));
	close(fd);
	note("take", recvmsg(un[1], &msg, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	say(fd, "passed");
	note_recv("recv", peer, 99, 0);
	/* and the other way: no descriptors through this socket */
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	note("SCM_RIGHTS", sendmsg(peer, &msg, MSG_NOSIGNAL));
}

static void row_cmsg(void)
{
	int peer, fd = pair(&peer);
	char control[64] = {}, c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = CMSG_LEN(4),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = 99;
	cm->cmsg_len = CMSG_LEN(4);
	note("unknown type", sendmsg(fd, &msg, MSG_NOSIGNAL));
	cm->cmsg_len = 3;
	note("too short", sendmsg(fd, &msg, MSG_NOSIGNAL));
	msg.msg_control = NULL;
	msg.msg_controllen = 0;
	note("none", sendmsg(fd, &msg, MSG_NOSIGNAL));
	msg.msg_control = control;
	msg.msg_controllen = sizeof(control);
	note("received", recvmsg(peer, &msg, 0));
	notef("control", "%zu %#x", msg.msg_controllen,
	      msg.msg_flags & ~MSG_EOR);
}

static int filled_file(size_t len)
{
	int fd = memfd_create("content", 0);
	char *buf = malloc(len);

	content_fill(buf, len, 5, 0);
	if (write(fd, buf, len) != (ssize_t)len)
		bail("memfd");
	free(buf);
	return fd;
}

/* Reads @len bytes of the same content. */
static void note_content(const char *label, int fd, size_t len)
{
	char *buf = malloc(len);
	ssize_t n = 1;
	size_t got;

	timeout_opt(fd, SO_RCVTIMEO, WAIT_MS);
	for (got = 0; got < len && n > 0; got += n > 0 ? n : 0)
		n = recv(fd, buf + got, len - got, 0);
	notef(label, "%zu, right: %zu", got, content_check(buf, got, 5, 0));
	free(buf);
}

static void row_sendfile(void)
{
	int peer, fd = pair(&peer), file = filled_file(300000);
	off_t off = 0;
	pid_t pid = fork();

	if (!pid) {
		while (off < 300000 && sendfile(fd, file, &off, 300000) > 0)
			;
		_exit(0);
	}
	note_content("received", peer, 300000);
	note("from a socket", sendfile(file, peer, NULL, 10));
	note("no data left", sendfile(fd, file, &(off_t){ 300000 }, 10));
	waitpid(pid, NULL, 0);
}

static void row_splice(void)
{
	int peer, fd = pair(&peer), file = filled_file(40000), in[2], out[2];
	loff_t off = 0;
	size_t got = 0;
	ssize_t n = 0;
	char *buf = malloc(40000);

	if (pipe(in) || pipe(out))
		bail("pipe");
	note("file to pipe", splice(file, &off, in[1], NULL, 40000, 0));
	note("pipe to socket", splice(in[0], NULL, fd, NULL, 40000, 0));
	poll_text(peer, POLLIN, WAIT_MS);
	while (got < 40000) {
		n = splice(peer, NULL, out[1], NULL, 40000 - got, 0);
		if (n <= 0)
			break;
		n = read(out[0], buf + got, n);
		got += n;
	}
	notef("socket to pipe", "%zu, right: %zu", got,
	      content_check(buf, got, 5, 0));
	nonblock(peer, true);
	note("nothing there", splice(peer, NULL, out[1], NULL, 10, 0));
	close(fd);
	poll_text(peer, POLLIN, WAIT_MS);
	note("end", splice(peer, NULL, out[1], NULL, 10, 0));
}

static void row_mmsg(void)
{
	int peer, fd = pair(&peer);
	char text[3][2][3] = { { "ab", "cd" }, { "ef", "gh" }, { "ij", "kl" } };
	char buf[2][8] = {};
	struct timespec ts = { .tv_sec = 1 };
	struct iovec iov[3][2], in[2];
	struct mmsghdr m[3] = {};
	int i, k;

	for (i = 0; i < 3; i++) {
		for (k = 0; k < 2; k++)
			iov[i][k] = (struct iovec){ text[i][k], 2 };
		m[i].msg_hdr.msg_iov = iov[i];
		m[i].msg_hdr.msg_iovlen = 2;
	}
	note("sendmmsg", sendmmsg(fd, m, 3, 0));
	notef("lengths", "%u %u %u", m[0].msg_len, m[1].msg_len, m[2].msg_len);
	for (i = 0; i < 2; i++) {
		in[i] = (struct iovec){ buf[i], 4 };
		m[i].msg_hdr.msg_iov = &in[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	note("recvmmsg", recvmmsg(peer, m, 2, MSG_WAITALL, &ts));
	notef("text", "%s %s", buf[0], buf[1]);
	note_recv("rest", peer, 99, 0);
	note("MSG_DONTWAIT", recvmmsg(peer, m, 2, MSG_DONTWAIT, NULL));
}

static void row_iov(void)
{
	int peer, fd = pair(&peer), i;
	static struct iovec iov[UIO_MAXIOV + 1];
	static char bytes[UIO_MAXIOV + 1];
	char got[UIO_MAXIOV];

	content_fill(bytes, sizeof(bytes), 5, 0);
	for (i = 0; i <= UIO_MAXIOV; i++)
		iov[i] = (struct iovec){ bytes + i, 1 };
	note("writev", writev(fd, iov, UIO_MAXIOV));
	poll_text(peer, POLLIN, WAIT_MS);
	for (i = 0; i < UIO_MAXIOV; i++)
		iov[i] = (struct iovec){ got + i, 1 };
	note("readv", readv(peer, iov, UIO_MAXIOV));
	notef("right", "%zu", content_check(got, sizeof(got), 5, 0));
	note("too many", writev(fd, iov, UIO_MAXIOV + 1));
	note("none", writev(fd, iov, 0));
	iov[0].iov_len = -1;
	note("negative length", writev(fd, iov, 1));
	note("nothing came", recv(peer, got, 1, MSG_DONTWAIT));
}

static void row_bad_pointer(void)
{
	int peer, fd = pair(&peer);
	struct iovec iov[2] = { { "abc", 3 }, { BAD_POINTER, 3 } };

	note("send", send(fd, BAD_POINTER, 10, MSG_NOSIGNAL));
	note_recv("nothing came", peer, 9, MSG_DONTWAIT);
	say(fd, "data");
	poll_text(peer, POLLIN, WAIT_MS);
	note("recv", recv(peer, BAD_POINTER, 10, 0));
	note_recv("recv again", peer, 99, MSG_DONTWAIT);
	note("sendmsg", sendmsg(fd, BAD_POINTER, MSG_NOSIGNAL));
	note("first part good", writev(fd, iov, 2) < 0 ? -1 : 0);
	note("still alive", send(fd, "x", 1, MSG_NOSIGNAL));
}

static void row_zero(void)
{
	int peer, fd = pair(&peer);
	char c;

	note("send 0", send(fd, "", 0, 0));
	note("write 0", write(fd, "", 0));
	note("nothing came", recv(peer, &c, 1, MSG_DONTWAIT));
	note("recv 0 of nothing", recv(peer, &c, 0, MSG_DONTWAIT));
	note("read 0 of nothing", read(peer, &c, 0));
	say(fd, "abc");
	poll_text(peer, POLLIN, WAIT_MS);
	note("recv 0", recv(peer, &c, 0, MSG_DONTWAIT));
	note_recv("all", peer, 99, MSG_DONTWAIT);
	shutdown(fd, SHUT_WR);
	note("send 0 after shutdown", send(fd, "", 0, MSG_NOSIGNAL));
}

static void row_sendto(void)
{
	int peer, fd = pair(&peer);
	char buf[8] = "";
	union addr a;
	socklen_t len = sizeof(a);

	addr_loopback(&a, family, 9);
	note("connected, address", sendto(fd, "abc", 3, 0, &a.sa,
					  addr_len(&a)));
	memset(&a, 0, sizeof(a));
	note("recvfrom", recvfrom(peer, buf, sizeof(buf), 0, &a.sa, &len));
	notef("address", "%s %u", buf, len);
	note("short address", sendto(fd, "abc", 3, 0, &a.sa, 3));
}

static void row_fastopen(void)
{
	union addr a;
	int l = listener(&a), fd = sock();

	close(l);
	note("MSG_FASTOPEN", sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
				    &a.sa, addr_len(&a)));
}

/* io_uring, as little of it as it takes */
struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
};

static bool ring_open(struct ring *r)
{
	struct io_uring_params p = {};
	char *sq, *cq;

	r->fd = syscall(SYS_io_uring_setup, 8, &p);
	if (r->fd < 0)
		return false;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4,
		  PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*r->cqe),
		  PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		  IORING_OFF_CQ_RING);
	r->sqe = mmap(NULL, p.sq_entries * sizeof(*r->sqe),
		      PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
		      IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || r->sqe == MAP_FAILED)
		bail("ring");
	r->sq_tail = (void *)(sq + p.sq_off.tail);
	r->sq_mask = (void *)(sq + p.sq_off.ring_mask);
	r->sq_array = (void *)(sq + p.sq_off.array);
	r->cq_head = (void *)(cq + p.cq_off.head);
	r->cq_tail = (void *)(cq + p.cq_off.tail);
	r->cq_mask = (void *)(cq + p.cq_off.ring_mask);
	r->cqe = (void *)(cq + p.cq_off.cqes);
	return true;
}

static void ring_submit(struct ring *r, int op, int fd, const void *addr,
			uint32_t len, uint64_t off)
{
	unsigned int tail = *r->sq_tail, i = tail & *r->sq_mask;

	memset(&r->sqe[i], 0, sizeof(r->sqe[i]));
	r->sqe[i].opcode = op;
	r->sqe[i].fd = fd;
	r->sqe[i].addr = (uintptr_t)addr;
	r->sqe[i].len = len;
	r->sqe[i].off = off;
	r->sqe[i].user_data = op;
	r->sq_array[i] = i;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0) != 1)
		bail("io_uring_enter");
}

/* The next completion; *op says of what. */
static int ring_wait(struct ring *r, int *op)
{
	unsigned int head = *r->cq_head;
	struct io_uring_cqe *e = &r->cqe[head & *r->cq_mask];
	int res;

	while (head == __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE))
		if (syscall(SYS_io_uring_enter, r->fd, 0, 1,
			    IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			bail("io_uring_enter");
	*op = e->user_data;
	res = e->res;
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return res;
}

static void row_io_uring(void)
{
	int l, fd, peer = -1, op, i, res;
	char buf[16] = "";
	struct ring r;
	union addr a;

	if (!ring_open(&r)) {
		notef("io_uring", "not here");
		return;
	}
	l = listener(&a);
	fd = sock();
	ring_submit(&r, IORING_OP_ACCEPT, l, NULL, 0, 0);
	ring_submit(&r, IORING_OP_CONNECT, fd, &a, 0, addr_len(&a));
	for (i = 0; i < 2; i++) {
		res = ring_wait(&r, &op);
		if (op == IORING_OP_ACCEPT)
			peer = res;
		else
			notef("connect", "%d", res);
	}
	notef("accept", "%d", peer >= 0);
	ring_submit(&r, IORING_OP_RECV, peer, buf, 5, 0);
	ring_submit(&r, IORING_OP_SEND, fd, "hello", 5, 0);
	for (i = 0; i < 2; i++) {
		res = ring_wait(&r, &op);
		if (op == IORING_OP_RECV)
			notef("recv", "%d %s", res, buf);
		else if (res != 5)
			notef("send", "%d", res);
	}
	shutdown(fd, SHUT_WR);
	ring_submit(&r, IORING_OP_RECV, peer, buf, 5, 0);
	notef("end", "%d", ring_wait(&r, &op));
	ring_submit(&r, IORING_OP_SEND, fd, "x", 1, 0);
	notef("send after shutdown", "%d", ring_wait(&r, &op));
}

static const struct row rows[] = {
	{ "peek", row_peek, ROW_ALL },
	{ "peek_across", row_peek_across, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "waitall", row_waitall, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "peek_waitall", row_peek_waitall, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "trunc_stream", row_trunc_stream, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "oob", row_oob, ROW_ALL },
	{ "errqueue", row_errqueue, ROW_ALL },
	{ "more", row_more, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "queues", row_queues, ROW_ALL },
	{ "lowat", row_lowat, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "lowat_most", row_lowat_most, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "pass_fd", row_pass_fd, ROW_ALL },
	{ "cmsg", row_cmsg, ROW_ALL },
	{ "sendfile", row_sendfile, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "splice", row_splice, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "mmsg", row_mmsg, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "iov", row_iov, ROW_ALL },
	{ "bad_pointer", row_bad_pointer, ROW_ALL },
	{ "zero", row_zero, ROW_STREAM | ROW_V4 | ROW_V6 },
	{ "sendto", row_sendto, ROW_ALL },
	{ "fastopen", row_fastopen, ROW_ALL },
	{ "io_uring", row_io_uring, ROW_ALL },
};

static const struct difference differences[] = {
	{ "oob", "recv without", "EOPNOTSUPP",
	  "there are no urgent data", 0, NULL },
	{ "oob", "send", "EOPNOTSUPP",
	  "there are no urgent data", 0, NULL },
	{ "fastopen", "MSG_FASTOPEN", "EOPNOTSUPP",
	  "connect() comes first", 0, NULL },
};

int main(int argc, char **argv)
{
	return compare_main(argc, argv, rows, ARRAY_SIZE(rows), differences,
			    ARRAY_SIZE(differences));
}
