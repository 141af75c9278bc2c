// SPDX-License-Identifier: GPL-2.0
/* Semantics of SOCK_SEQPACKET that TCP does not have. */
/* timeout: 300 */
/* quick: yes */
#include "compare.h"

/* recvmsg() of up to @len bytes: "bytes text flags". */
static const char *receive(int fd, size_t len, int flags)
{
	static char line[160];
	char buf[64] = "";
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &msg, flags);

	if (n < 0)
		return strerrorname_np(errno);
	snprintf(line, sizeof(line), "%zd '%s'%s%s", n, buf,
		 msg.msg_flags & MSG_EOR ? " EOR" : "",
		 msg.msg_flags & MSG_TRUNC ? " TRUNC" : "");
	return line;
}

static void row_boundaries(void)
{
	int peer, fd = pair(&peer);

	say(fd, "abc");
	say(fd, "d");
	say(fd, "efghij");
	expect_text("first", receive(peer, 60, 0), "3 'abc'");
	expect_text("second", receive(peer, 60, 0), "1 'd'");
	expect_text("third, MSG_WAITALL", receive(peer, 60, MSG_WAITALL),
		    "6 'efghij'");
	expect_text("no more", receive(peer, 60, MSG_DONTWAIT), "EAGAIN");
	expect("write", write(fd, "xyz", 3), "3");
	expect("read", read(peer, (char[9]){}, 9), "3");
}

static void row_eor(void)
{
	int peer, fd = pair(&peer);

	expect("a record", send(fd, "abc", 3, MSG_EOR), "3");
	expect("part of one", send(fd, "def", 3, 0), "3");
	expect("its end", send(fd, "ghi", 3, MSG_EOR), "3");
	expect_text("a record", receive(peer, 60, 0), "3 'abc' EOR");
	expect_text("part of one", receive(peer, 60, 0), "3 'def'");
	expect_text("its end, peeked", receive(peer, 60, MSG_PEEK),
		    "3 'ghi' EOR");
	expect_text("its end", receive(peer, 60, 0), "3 'ghi' EOR");
}

/* TCP accepts some of these without effect. */
static void row_control(void)
{
	static const struct {
		const char *name;
		int level, type;
		const char *want;
	} cases[] = {
		{ "SO_MARK", SOL_SOCKET, SO_MARK, "EINVAL" },
		{ "SO_PRIORITY", SOL_SOCKET, SO_PRIORITY, "EINVAL" },
		{ "SCM_TXTIME", SOL_SOCKET, SCM_TXTIME, "EINVAL" },
		{ "SO_TIMESTAMPING", SOL_SOCKET, SO_TIMESTAMPING, "EINVAL" },
		{ "IP_TOS", SOL_IP, IP_TOS, "EINVAL" },
		{ "IPV6_TCLASS", SOL_IPV6, IPV6_TCLASS, "EINVAL" },
		{ "SSTP_GAPS", SOL_SSTP, SSTP_GAPS, "EINVAL" },
		{ "SCM_CREDENTIALS", SOL_SOCKET, SCM_CREDENTIALS, "1" },
	};
	char control[CMSG_SPACE(sizeof(int))] = {}, c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	int peer, fd = pair(&peer);
	size_t i;

	cm->cmsg_len = CMSG_LEN(sizeof(int));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		cm->cmsg_level = cases[i].level;
		cm->cmsg_type = cases[i].type;
		expect(cases[i].name, sendmsg(fd, &msg, MSG_NOSIGNAL), cases[i].want);
	}
	expect_text("what was refused was not sent", receive(peer, 60, 0), "1 'x'");
	expect_text("nor any of it", receive(peer, 60, MSG_DONTWAIT), "EAGAIN");
}

static void row_truncation(void)
{
	int peer, fd = pair(&peer);

	send(fd, "abcdef", 6, MSG_EOR);
	say(fd, "next");
	expect_text("peek 3", receive(peer, 3, MSG_PEEK), "3 'abc' TRUNC");
	expect_text("peek 3, MSG_TRUNC", receive(peer, 3, MSG_PEEK | MSG_TRUNC),
		    "6 'abc' TRUNC");
	expect_text("peek 6", receive(peer, 6, MSG_PEEK), "6 'abcdef' EOR");
	expect_text("recv 3", receive(peer, 3, 0), "3 'abc' TRUNC");
	expect_text("the rest is gone", receive(peer, 60, 0), "4 'next'");
	send(fd, "abcdef", 6, MSG_EOR);
	expect_text("MSG_TRUNC", receive(peer, 2, MSG_TRUNC), "6 'ab' TRUNC");
	send(fd, "abcdef", 6, MSG_EOR);
	poll_text(peer, POLLIN, WAIT_MS);
	expect_text("recv 0", receive(peer, 0, 0), "0 '' TRUNC");
	expect_text("gone", receive(peer, 60, MSG_DONTWAIT), "EAGAIN");
}

static void row_end(void)
{
	int peer, fd = pair(&peer);

	send(fd, "last", 4, MSG_EOR);
	close(fd);
	expect_text("last", receive(peer, 60, 0), "4 'last' EOR");
	expect_text("end", receive(peer, 60, 0), "0 ''");
	expect_text("end again", receive(peer, 60, 0), "0 ''");
}

static void row_sizes(void)
{
	static const size_t sizes[] = {
		1, 2, 100, 1400, 1448, 1472, 1500, 9000, 65000, 65535, 65536,
		65537, 1 << 20, (1 << 20) + 1, 5000003,
	};
	int peer, fd = pair(&peer);
	size_t i, most = 5000003;
	char *out = malloc(most), *in = malloc(most + 1);
	struct iovec iov;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	char label[32];

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		snprintf(label, sizeof(label), "send %zu", sizes[i]);
		content_fill(out, sizes[i], i, 0);
		expect_num(label, send(fd, out, sizes[i], MSG_EOR), sizes[i]);
		iov = (struct iovec){ in, most + 1 };
		snprintf(label, sizeof(label), "recv %zu", sizes[i]);
		expect_num(label, recvmsg(peer, &msg, 0), sizes[i]);
		expect_num("flags", msg.msg_flags, MSG_EOR);
		expect_num("right", content_check(in, sizes[i], i, 0), sizes[i]);
	}
}

/* All or nothing: never a part of a segment. */
static void row_too_large(void)
{
	int l = sock(), fd = sock(), peer;
	char *buf = calloc(1, SSTP_SEGMENT_MAX + 1);

	expect("limit", set_int(l, SOL_SSTP, SSTP_SEGMENT_LIMIT, 10000), "0");
	peer = pair_of(fd, l);
	expect("10001", send(fd, buf, 10001, 0), "EMSGSIZE");
	expect("10000", send(fd, buf, 10000, 0), "10000");
	expect("recv", recv(peer, buf, 20000, 0), "10000");
	expect("the other way", send(peer, buf, 10001, 0), "10001");
	expect("recv", recv(fd, buf, 20000, 0), "10001");
	expect("too large for all", send(peer, buf, SSTP_SEGMENT_MAX + 1, 0),
	       "EMSGSIZE");
	expect("nothing", send(peer, buf, 0, 0), "EINVAL");
	expect("nothing came", recv(fd, buf, 1, MSG_DONTWAIT), "EAGAIN");
}

static void row_bad_tail(void)
{
	int peer, fd = pair(&peer);
	struct iovec iov[2] = { { "abc", 3 }, { BAD_POINTER, 3 } };

	expect("bad tail", writev(fd, iov, 2), "EFAULT");
	say(fd, "whole");
	expect_text("only this", receive(peer, 60, 0), "5 'whole'");
	iov[0].iov_base = (char[3]){};
	say(fd, "abcdef");
	poll_text(peer, POLLIN, WAIT_MS);
	expect("into a bad tail", readv(peer, iov, 2), "EFAULT");
	expect_text("still there", receive(peer, 60, MSG_DONTWAIT),
		    "6 'abcdef'");
}

static void row_full(void)
{
	int peer, fd = pair(&peer);
	static char buf[50000];
	int sent = 0, got = 0, i = 0;
	ssize_t n;

	/* Reports that come while send() has the lock make room after its EAGAIN. */
	do {
		while ((n = send(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
			if (n != sizeof(buf))
				expect_num("send", n, sizeof(buf));
			sent++;
		}
		expect("full", n, "EAGAIN");
	} while (++i < 100 && *poll_text(fd, POLLOUT, QUIET_MS));
	expect_text("poll", poll_text(fd, POLLOUT, 0), "");
	while (got < sent && *poll_text(peer, POLLIN, WAIT_MS)) {
		n = recv(peer, buf, sizeof(buf), 0);
		if (n != sizeof(buf))
			expect_num("recv", n, sizeof(buf));
		got++;
	}
	expect_num("all came", got, sent);
	expect_text("poll", poll_text(fd, POLLOUT, WAIT_MS), "OUT");
}

/* The window's ring is full before the send buffer is. */
static void row_ring(void)
{
	static struct mmsghdr m[1024];
	int peer, fd = pair(&peer), sent = 0, got = 0, n;
	const int batch = ARRAY_SIZE(m);
	char c = 'x';
	struct iovec iov = { &c, 1 };

	expect("SNDBUF", set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, 200 << 20),
	       "0");
	for (n = 0; n < batch; n++)
		m[n].msg_hdr = (struct msghdr){
			.msg_iov = &iov, .msg_iovlen = 1,
		};
	while ((n = sendmmsg(fd, m, batch, MSG_DONTWAIT)) > 0)
		sent += n;
	expect("full", n, "EAGAIN");
	expect_num("65536 at least", sent >= 65536, 1);
	expect_text("poll", poll_text(fd, POLLOUT, 0), "");
	do {
		n = recvmmsg(peer, m, batch, MSG_WAITFORONE, NULL);
		got += n;
	} while (n > 0 && got < sent / 2);
	expect_num("half of them", got >= sent / 2, 1);
	expect_text("poll", poll_text(fd, POLLOUT, WAIT_MS), "OUT");
}

static void row_queues(void)
{
	int peer, fd = pair(&peer), n = -1;

	say(peer, "abcdef");
	say(peer, "gh");
	poll_text(fd, POLLIN, WAIT_MS);
	expect("FIONREAD", ioctl(fd, FIONREAD, &n), "0");
	expect_num("the next segment", n, 6);
	receive(fd, 60, 0);
	poll_text(fd, POLLIN, WAIT_MS);
	expect("FIONREAD", ioctl(fd, FIONREAD, &n), "0");
	expect_num("the next segment", n, 2);
	/* A segment is one even if it is below the mark. */
	set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1000);
	expect_text("SO_RCVLOWAT", poll_text(fd, POLLIN, WAIT_MS), "IN");
	expect_text("recv", receive(fd, 60, 0), "2 'gh'");
}

static void row_mmsg(void)
{
	int peer, fd = pair(&peer);
	char text[4][8] = { "ab", "cdef", "ghi" }, in[2][8] = {};
	struct mmsghdr m[3] = {};
	struct iovec iov[3];
	int i;

	for (i = 0; i < 3; i++) {
		iov[i] = (struct iovec){ text[i], strlen(text[i]) };
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	expect("sendmmsg", sendmmsg(fd, m, 3, 0), "3");
	for (i = 0; i < 2; i++)
		iov[i] = (struct iovec){ in[i], 8 };
	expect("recvmmsg", recvmmsg(peer, m, 2, 0, NULL), "2");
	expect_text("first", in[0], "ab");
	expect_text("second", in[1], "cdef");
	expect_num("lengths", m[0].msg_len * 10 + m[1].msg_len, 24);
	expect_text("third", receive(peer, 60, 0), "3 'ghi'");
}

static void row_wrong_type(void)
{
	union addr a;
	int l = listener(&a), fd;

	type = SOCK_STREAM;
	fd = sock();
	expect("stream to seqpacket", xconnect(fd, &a), "EPROTOTYPE");
	close(l);
	l = listener(&a);
	type = SOCK_SEQPACKET;
	fd = sock();
	expect("seqpacket to stream", xconnect(fd, &a), "EPROTOTYPE");
	type = SOCK_STREAM;
	fd = sock();
	expect("the listener lives", xconnect(fd, &a), "0");
}

static const struct row rows[] = {
	{ "boundaries", row_boundaries,
	  ROW_OWN | ROW_SEQPACKET | ROW_V4 | ROW_V6 },
	{ "eor", row_eor, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "control", row_control, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "truncation", row_truncation, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "end", row_end, ROW_OWN | ROW_SEQPACKET | ROW_V4 | ROW_V6 },
	{ "sizes", row_sizes, ROW_OWN | ROW_SEQPACKET | ROW_V4 | ROW_V6 },
	{ "too_large", row_too_large, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "bad_tail", row_bad_tail, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "full", row_full, ROW_OWN | ROW_SEQPACKET | ROW_V4 | ROW_V6 },
	{ "ring", row_ring, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "queues", row_queues, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "mmsg", row_mmsg, ROW_OWN | ROW_SEQPACKET | ROW_V4 },
	{ "wrong_type", row_wrong_type,
	  ROW_OWN | ROW_SEQPACKET | ROW_V4 | ROW_V6 },
};

int main(int argc, char **argv)
{
	return compare_main(argc, argv, rows, ARRAY_SIZE(rows), NULL, 0);
}
