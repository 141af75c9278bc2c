// SPDX-License-Identifier: GPL-2.0
/*
 * Transfer between two hosts over TCP, SSTP or SCTP, every byte checked.
 *
 * A connection begins with a job, in which the client says what is to be done,
 * and ends with a result, in which the server says what it got:
 *
 *	client			server
 *	  | job  ---------------> |
 *	  | content, if up -----> |
 *	  | <-- content, if down  |
 *	  | <---- result, if up   |
 *
 * Content is a function of seed and position, so it is right or it is not.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "xfer.h"

#ifndef IPPROTO_SCTP
#define IPPROTO_SCTP	132
#endif

#define MS		1000000ULL
#define HUGE		(2UL << 20)	/* bytes of a huge page */

static struct conn *conns;	/* the client's */
static volatile sig_atomic_t told_to_end;
FILE *json;

static uint64_t conn_seed(const struct conn *c, bool up)
{
	return mix64(c->job.seed + 2 * c->index + up);
}

static bool fail(struct conn *c, const char *what, int error)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	/* Only one of two threads may learn why the connection ended. */
	pthread_mutex_lock(&lock);
	if (!c->what || (c->error == EPIPE && error != EPIPE)) {
		c->what = what;
		c->error = error;
		fprintf(stderr, "xfer: connection %u: %s: %s (sent %" PRIu64
			", received %" PRIu64 " of %" PRIu64 ")\n", c->index,
			what, strerror(error), c->sent, c->rx.pos, c->job.size);
	}
	pthread_mutex_unlock(&lock);
	return false;
}

/* Length of the segment that starts at @pos */
static size_t segment_len(const struct conn *c, uint64_t pos)
{
	uint64_t n = c->job.write, left = c->job.size - pos;

	if (c->job.flags & JOB_RANDOM)
		n = 1 + mix64(c->job.seed ^ (pos << 8 | c->index)) % n;
	return n < left ? n : left;
}

/* Sending */

static bool send_all(struct conn *c, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	while (len) {
		n = send(c->fd, p, len, MSG_NOSIGNAL |
			 (opt.type == SOCK_SEQPACKET ? MSG_EOR : 0));
		if (n < 0)
			return fail(c, "send", errno);
		if (opt.type == SOCK_SEQPACKET && (size_t)n != len)
			return fail(c, "segment sent in part", EMSGSIZE);
		p += n;
		len -= n;
	}
	return true;
}

/* Take the completions of sends with MSG_ZEROCOPY that have come. */
static void drain_completions(int fd)
{
	char control[100];
	struct msghdr msg = { .msg_control = control };

	do {
		msg.msg_controllen = sizeof(control);
	} while (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0);
}

/* Send @len bytes of content with MSG_ZEROCOPY; while too much is locked, wait for completions. */
static bool send_zerocopy(struct conn *c, const char *p, size_t len)
{
	struct pollfd f = { .fd = c->fd };
	ssize_t n;

	while (len) {
		n = send(c->fd, p, len, MSG_NOSIGNAL | MSG_ZEROCOPY |
			 (opt.type == SOCK_SEQPACKET ? MSG_EOR : 0));
		if (n < 0 && errno == ENOBUFS)
			poll(&f, 1, 1000);
		else if (n < 0)
			return fail(c, "send", errno);
		drain_completions(c->fd);
		if (n < 0)
			continue;
		p += n;
		len -= n;
	}
	return true;
}

/* Send @len bytes from @off of a file. */
static bool send_file(struct conn *c, int file, off_t off, size_t len)
{
	ssize_t n;

	while (len) {
		n = sendfile(c->fd, file, &off, len);
		if (n <= 0)
			return fail(c, "sendfile", n ? errno : EIO);
		len -= n;
	}
	return true;
}

static bool send_record(struct conn *c, const void *record, size_t len)
{
	const uint64_t *from = record;
	uint64_t *to = malloc(len);
	size_t i;
	bool ok;

	for (i = 0; i < len / 8; i++)
		to[i] = htobe64(from[i]);
	ok = send_all(c, to, len);
	free(to);
	return ok;
}

/* A write's zeros; for MSG_ZEROCOPY in a huge page, if programs may have such */
static char *content_buffer(size_t len)
{
	char *buf;

	if (!opt.zerocopy)
		return calloc(1, len);
	len = (len + HUGE - 1) / HUGE * HUGE;
	buf = aligned_alloc(HUGE, len);
	if (!buf)
		die("memory:");
	madvise(buf, len, MADV_HUGEPAGE);
	return memset(buf, 0, len);
}

/* The file to send, with which content is checked, or that has writes of @buf, in huge pages if
 * files may have such; -1 without one
 */
static int open_content(struct conn *c, const char *buf)
{
	int fd = -1;
	size_t n;

	if (c->job.flags & JOB_FILE) {
		fd = open(opt.file, O_RDONLY);
		if (fd < 0)
			fail(c, opt.file, errno);
	} else if (opt.sendfile) {
		fd = memfd_create("content", 0);
		for (n = 0; n < HUGE && fd >= 0; n += c->job.write)
			if (write(fd, buf, c->job.write) != (ssize_t)c->job.write)
				fail(c, "memfd", errno);
	}
	return fd;
}

/* Send @len bytes of content at c->sent, which are in @buf or in @file. */
static bool send_piece(struct conn *c, int file, const char *buf, size_t len)
{
	if (opt.sendfile)
		return send_file(c, file, c->job.flags & JOB_FILE ? c->sent :
				 c->sent / c->job.write % (HUGE / c->job.write ?: 1) *
				 c->job.write, len);
	return opt.zerocopy ? send_zerocopy(c, buf, len) : send_all(c, buf, len);
}

static bool send_content(struct conn *c, bool up)
{
	uint64_t seed = conn_seed(c, up);
	uint64_t stop = c->begin + opt.seconds * 1000 * MS;
	char *buf = content_buffer(c->job.write);
	int fd = open_content(c, buf);
	bool ok = !c->what;
	size_t n;

	hash_init(&c->tx_hash);
	sha256_init(&c->tx_sha);
	if (opt.send_pause)
		sleep_ns(opt.send_pause * MS);
	for (; ok && c->sent < c->job.size; c->sent += n) {
		n = segment_len(c, c->sent);
		if (fd >= 0 && !(opt.sendfile && c->job.flags & JOB_UNCHECKED)) {
			if (pread(fd, buf, n, c->sent) != (ssize_t)n) {
				ok = fail(c, "file has changed", EIO);
				break;
			}
			if (!(c->job.flags & JOB_UNCHECKED))
				sha256_add(&c->tx_sha, buf, n);
		} else if (!(c->job.flags & JOB_UNCHECKED)) {
			content_fill(buf, n, seed, c->sent);
		}
		if (!(c->job.flags & JOB_UNCHECKED))
			hash_add(&c->tx_hash, buf, n);
		ok = send_piece(c, fd, buf, n);
		if (c->job.flags & JOB_TIMED && (told_to_end || now_ns() >= stop))
			c->job.size = c->sent + n;
	}
	if (fd >= 0)
		close(fd);
	free(buf);
	return ok;
}

/* Receiving */

/* Time of the next line of the trace, ns */
static uint64_t next_grant(const struct pace *p)
{
	return p->begin + p->line / opt.grants * opt.trace[opt.grants - 1].at +
	       opt.trace[p->line % opt.grants].at;
}

/* @n bytes were read: wait until the trace grants them. */
static void read_replayed(struct pace *p, size_t n)
{
	uint64_t now = now_ns();

	if (!p->begin)
		p->begin = now;
	/* What it could have read until now is lost. */
	for (; next_grant(p) <= now; p->line++)
		p->granted = 0;
	while (p->granted < n) {
		n -= p->granted;
		sleep_ns(next_grant(p) - now);
		now = next_grant(p);
		p->granted = opt.trace[p->line++ % opt.grants].bytes;
	}
	p->granted -= n;
}

/* @n bytes were read: pause to read at the wanted rate, or for the wanted time. The rate counts
 * from the last pause, so that data that came meanwhile is read no faster.
 */
static void read_slowly(struct pace *p, size_t n)
{
	uint64_t due, now = now_ns();

	if (!p->begin)
		p->begin = now;
	p->got += n;
	if (opt.gaps && now - p->begin >= opt.gap[0] * MS) {
		sleep_ns(opt.gap[1 + p->gap++ % opt.gaps] * MS);
		p->begin = now_ns();
		p->got = 0;
		return;
	}
	if (!opt.read_rate)
		return;
	due = p->begin + (double)p->got * 8e9 / opt.read_rate;
	if (due > now)
		sleep_ns(due - now);
}

/* @n bytes of content have come; @msg may name gaps, which must read 0. */
static bool check_content(struct conn *c, uint64_t seed, const char *buf,
			  size_t n, struct msghdr *msg)
{
	struct cmsghdr *cm = msg ? CMSG_FIRSTHDR(msg) : NULL;
	struct receiver *r = &c->rx;
	size_t at = 0, i, gaps = 0, j;
	struct sstp_gap gap;

	for (; cm; cm = CMSG_NXTHDR(msg, cm))
		if (cm->cmsg_level == SOL_SSTP && cm->cmsg_type == SSTP_GAPS)
			break;
	if (cm)
		gaps = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(gap);
	for (i = 0; i <= gaps; i++) {
		size_t to = n;

		if (i < gaps) {
			memcpy(&gap, CMSG_DATA(cm) + i * sizeof(gap),
			       sizeof(gap));
			to = gap.offset;
			if (to < at || to > n || gap.len > n - to)
				return fail(c, "absurd gap", EBADMSG);
		}
		if (content_check(buf + at, to - at, seed, r->pos + at) !=
		    to - at) {
			at += content_check(buf + at, to - at, seed, r->pos + at);
			fprintf(stderr, "xfer: connection %u: byte %" PRIu64
				" is wrong (seed %#" PRIx64 ")\n", c->index,
				r->pos + at, c->job.seed);
			return fail(c, "wrong content", EBADMSG);
		}
		if (i == gaps)
			break;
		for (j = 0; j < gap.len; j++)
			if (buf[to + j])
				return fail(c, "gap not zero", EBADMSG);
		r->res.gaps += gap.len;
		at = to + gap.len;
	}
	return true;
}

/* One read: a segment, or as many bytes of the stream as there are. */
static ssize_t receive_piece(struct conn *c, char *buf, size_t size,
			     size_t want, struct msghdr *msg)
{
	size_t controllen = msg->msg_controllen;
	struct iovec iov = { buf, size };
	size_t got = 0;
	ssize_t n;

	msg->msg_iov = &iov;
	msg->msg_iovlen = 1;
	do {
		msg->msg_controllen = controllen;
		n = recvmsg(c->fd, msg, 0);
		if (n < 0) {
			fail(c, "recv", errno);
			return -1;
		}
		got += n;
		iov.iov_base = buf + got;
		iov.iov_len = size - got;
		/* SCTP may deliver a segment in parts. */
	} while (opt.type == SOCK_SEQPACKET && opt.proto == PROTO_SCTP && n &&
		 !(msg->msg_flags & MSG_EOR) && iov.iov_len);
	if (!got && c->job.flags & JOB_TIMED) {
		c->job.size = c->rx.pos;
		return 0;
	}
	if (!got) {
		fail(c, "early end", EPIPE);
		return -1;
	}
	if (opt.type != SOCK_SEQPACKET)
		return got;
	if (msg->msg_flags & MSG_TRUNC || !(msg->msg_flags & MSG_EOR)) {
		fail(c, msg->msg_flags & MSG_TRUNC ? "segment cut" :
		     "segment without end", EBADMSG);
		return -1;
	}
	if (got != want) {
		fprintf(stderr, "xfer: connection %u: segment of %zu bytes, not %zu\n",
			c->index, got, want);
		fail(c, "wrong boundary", EBADMSG);
		return -1;
	}
	return got;
}

static bool receive_content(struct conn *c, bool up)
{
	static const size_t control = 64 << 10;
	uint64_t seed = conn_seed(c, up), first = 0;
	struct receiver *r = &c->rx;
	size_t size = opt.read_size ? opt.read_size : 256 << 10;
	bool gaps = opt.type == SOCK_SEQPACKET && opt.sstp[SSTP_TOLERANCE] > 0;
	struct msghdr msg = {};
	struct pace pace = {};
	bool ok = true;
	char *buf;

	if (opt.type == SOCK_SEQPACKET && size < c->job.write)
		size = c->job.write;
	buf = malloc(size);
	if (gaps)
		msg.msg_control = malloc(control);
	hash_init(&r->hash);
	sha256_init(&r->sha);
	bins_begin(c);
	if (opt.read_pause)
		sleep_ns(opt.read_pause * MS);
	while (ok && r->pos < c->job.size) {
		size_t want = c->job.size - r->pos;
		ssize_t n;

		if (opt.type == SOCK_SEQPACKET)
			want = segment_len(c, r->pos);
		msg.msg_controllen = gaps ? control : 0;
		if (opt.peak)
			sample_peak(c);
		n = receive_piece(c, buf, opt.type == SOCK_STREAM && want < size ?
				  want : size, want, &msg);
		if (n <= 0) {
			ok = !n;
			break;
		}
		r->res.ns = now_ns();
		if (!first)
			first = r->res.ns;
		bins_count(c, r->res.ns, n);
		if (c->job.flags & JOB_FILE) {
			if (!(c->job.flags & JOB_UNCHECKED))
				sha256_add(&r->sha, buf, n);
			if (r->file >= 0 && write(r->file, buf, n) != n)
				ok = fail(c, opt.file, errno);
		} else if (!(c->job.flags & JOB_UNCHECKED)) {
			ok = check_content(c, seed, buf, n,
					   gaps ? &msg : NULL);
		}
		if (!(c->job.flags & JOB_UNCHECKED))
			hash_add(&r->hash, buf, n);
		r->pos += n;
		use_cpu(n * opt.read_work / 1000);
		if (opt.grants)
			read_replayed(&pace, n);
		else
			read_slowly(&pace, n);
	}
	r->res.ns = first ? r->res.ns - first : 0;
	r->res.bytes = r->pos;
	r->res.hash = hash_end(&r->hash);
	sha256_end(&r->sha, (uint8_t *)r->res.sha);
	bins_end(c);
	free(msg.msg_control);
	free(buf);
	return ok;
}

static bool receive_record(struct conn *c, void *record, size_t len)
{
	uint64_t *w = record;
	size_t got = 0, i;
	ssize_t n;

	while (got < len) {
		n = recv(c->fd, (char *)record + got, len - got, 0);
		if (n <= 0)
			return fail(c, n ? "recv" : "early end",
				    n ? errno : EPIPE);
		got += n;
	}
	for (i = 0; i < len / 8; i++)
		w[i] = be64toh(w[i]);
	return true;
}

static bool receive_end(struct conn *c)
{
	char byte;
	ssize_t n = recv(c->fd, &byte, 1, 0);

	if (n > 0)
		return fail(c, "more than was sent", EBADMSG);
	return n ? fail(c, "recv", errno) : true;
}

/* Connections */

static bool set_int(int fd, int level, int name, int value)
{
	return !setsockopt(fd, level, name, &value, sizeof(value));
}

static bool set_sstp(int fd)
{
	uint64_t limit = opt.sstp[SSTP_RATE_LIMIT];
	size_t i;

	for (i = 1; i < ARRAY_SIZE(opt.sstp); i++)
		if (i != SSTP_RATE_LIMIT && opt.sstp[i] >= 0 &&
		    !set_int(fd, SOL_SSTP, i, opt.sstp[i]))
			return false;
	if (opt.sstp[SSTP_RATE_LIMIT] >= 0 &&
	    setsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT, &limit, sizeof(limit)))
		return false;
	if (opt.rate.peak &&
	    setsockopt(fd, SOL_SSTP, SSTP_RATE, &opt.rate, sizeof(opt.rate)))
		return false;
	if (opt.controller &&
	    setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, opt.controller,
		       strlen(opt.controller)))
		return false;
	if (opt.params &&
	    setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER_PARAM, opt.param,
		       opt.params * sizeof(*opt.param)))
		return false;
	if (opt.policy &&
	    setsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, opt.policy, strlen(opt.policy)))
		return false;
	return !opt.policy_params ||
	       !setsockopt(fd, SOL_SSTP, SSTP_POLICY_PARAM, opt.policy_param,
			   opt.policy_params * sizeof(*opt.policy_param));
}

/* Options of a socket that connects or listens; children inherit them. */
static void set_options(int fd)
{
	bool ok = true;

	if (opt.rcvbuf)
		ok = set_int(fd, SOL_SOCKET, SO_RCVBUF, opt.rcvbuf);
	if (ok && opt.sndbuf)
		ok = set_int(fd, SOL_SOCKET, SO_SNDBUF, opt.sndbuf);
	if (ok && opt.lowat > 1)
		ok = set_int(fd, SOL_SOCKET, SO_RCVLOWAT, opt.lowat);
	if (ok && opt.zerocopy)
		ok = set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 1);
	if (ok && opt.keepalive)
		ok = set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	if (ok && opt.proto == PROTO_SSTP)
		ok = set_sstp(fd);
	if (ok && opt.proto == PROTO_TCP && opt.nodelay)
		ok = set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (ok && opt.proto == PROTO_TCP && opt.controller)
		ok = !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION,
				 opt.controller, strlen(opt.controller));
	if (!ok)
		die("xfer: setsockopt:");
}

static void get_info(struct conn *c)
{
	socklen_t len = sizeof(c->info);

	if (opt.proto == PROTO_SSTP)
		getsockopt(c->fd, SOL_SSTP, SSTP_INFO, &c->info, &len);
	len = sizeof(c->tcp);
	if (opt.proto == PROTO_TCP)
		getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &c->tcp, &len);
}

static void *down_thread(void *arg)
{
	receive_content(arg, false);
	return NULL;
}

static void *up_thread(void *arg)
{
	receive_content(arg, true);
	return NULL;
}

static bool has_sha(const struct job *j)
{
	return (j->flags & (JOB_FILE | JOB_UNCHECKED)) == JOB_FILE;
}

/* Is the server's result what was sent? */
static bool compare(struct conn *c)
{
	struct result *res = &c->peer.res;
	uint64_t sha[4];

	if (res->error)
		return fail(c, "the server failed", res->error);
	if (res->bytes != c->job.size)
		return fail(c, "bytes lost", EBADMSG);
	if (res->gaps)
		return true;
	if (res->hash != hash_end(&c->tx_hash) &&
	    !(c->job.flags & JOB_UNCHECKED))
		return fail(c, "hashes differ", EBADMSG);
	if (has_sha(&c->job)) {
		sha256_end(&c->tx_sha, (uint8_t *)sha);
		if (memcmp(sha, res->sha, sizeof(sha)))
			return fail(c, "SHA-256 differs", EBADMSG);
	}
	return true;
}

static bool receive_result(struct conn *c)
{
	struct receiver *p = &c->peer;

	if (!receive_record(c, &p->res, sizeof(p->res)))
		return false;
	/* All data has arrived. The server's bins may take longer. */
	c->end = now_ns();
	if (p->res.bins > BINS_MAX)
		return fail(c, "absurd result", EBADMSG);
	p->bin = calloc(p->res.bins + 1, sizeof(*p->bin));
	return !p->res.bins ||
	       receive_record(c, p->bin, p->res.bins * sizeof(*p->bin));
}

static bool client_run(struct conn *c, const union addr *to)
{
	bool up = c->job.flags & JOB_UP, down = c->job.flags & JOB_DOWN;
	pthread_t thread;
	bool ok = true;

	if (connect(c->fd, &to->sa, addr_len(to)))
		return fail(c, "connect", errno);
	if (!send_record(c, &c->job, sizeof(c->job)))
		return false;
	if (down)
		pthread_create(&thread, NULL, down_thread, c);
	if (up)
		ok = send_content(c, true);
	if (opt.proto != PROTO_SCTP && shutdown(c->fd, SHUT_WR) && ok)
		ok = fail(c, "shutdown", errno);
	if (down)
		pthread_join(thread, NULL);
	if (!ok || c->what)
		return false;
	if (up && (!receive_result(c) || !compare(c)))
		return false;
	if (!c->end)
		c->end = now_ns();
	get_info(c);
	return receive_end(c);
}

static bool serve_run(struct conn *c)
{
	bool up, down;
	pthread_t thread;

	if (!receive_record(c, &c->job, sizeof(c->job)))
		return false;
	if (c->job.magic != JOB_MAGIC || !c->job.write || !c->job.bin)
		return fail(c, "no job", EPROTO);
	c->index = c->job.index;
	up = c->job.flags & JOB_UP;
	down = c->job.flags & JOB_DOWN;
	if (up && down)
		pthread_create(&thread, NULL, up_thread, c);
	else if (up)
		receive_content(c, true);
	if (down)
		send_content(c, false);
	if (up && down)
		pthread_join(thread, NULL);
	if (!c->what && opt.proto != PROTO_SCTP)
		receive_end(c);
	c->end = now_ns();
	get_info(c);
	if (!up)
		return !c->what;
	c->rx.res.error = c->error;
	if (!send_record(c, &c->rx.res, sizeof(c->rx.res)))
		return false;
	return send_record(c, c->rx.bin, c->rx.res.bins * sizeof(struct bin)) &&
	       !c->what;
}

static void conn_free(struct conn *c)
{
	free(c->rx.bin);
	free(c->peer.bin);
	close(c->fd);
}

/* The client */

static union addr server_addr;

static void *client_thread(void *arg)
{
	struct conn *c = arg;

	c->begin = now_ns();
	c->rx.res.epoch = c->begin;
	if (!client_run(c, &server_addr) && !c->end)
		c->end = now_ns();
	return NULL;
}

static void open_receive_file(struct conn *c, const char *name)
{
	c->rx.file = -1;
	if (!name)
		return;
	c->rx.file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (c->rx.file < 0)
		die("xfer: %s:", name);
}

static int client(const char *host)
{
	unsigned int i, bad = 0;
	struct stat st;
	union addr local;

	if (!addr_parse(&server_addr, host, opt.port))
		die("xfer: %s is no address", host);
	opt.family = server_addr.sa.sa_family;
	if (opt.file) {
		if (stat(opt.file, &st))
			die("xfer: %s:", opt.file);
		opt.job.size = st.st_size;
		opt.job.flags |= JOB_FILE;
	}
	if (!(opt.job.flags & (JOB_UP | JOB_DOWN)))
		opt.job.flags |= JOB_UP;
	if (opt.seconds) {
		if (opt.job.flags & JOB_DOWN || opt.file ||
		    opt.type != SOCK_STREAM)
			die("xfer: --for is for content that goes up a stream");
		opt.job.flags |= JOB_TIMED;
		opt.job.size = UINT64_MAX;
	}
	if (!opt.job.seed)
		opt.job.seed = nonce();
	fprintf(stderr, "xfer: seed %#" PRIx64 "\n", opt.job.seed);
	conns = calloc(opt.connections, sizeof(*conns));
	for (i = 0; i < opt.connections; i++) {
		struct conn *c = &conns[i];

		c->index = i;
		c->job = opt.job;
		c->job.index = i;
		c->rx.file = -1;
		c->fd = proto_socket(opt.proto, opt.family, opt.type, 0);
		if (c->fd < 0)
			die("xfer: socket:");
		set_options(c->fd);
		if (opt.bind && (!addr_parse(&local, opt.bind, 0) ||
				 bind(c->fd, &local.sa, addr_len(&local))))
			die("xfer: bind %s:", opt.bind);
	}
	for (i = 0; i < opt.connections; i++)
		if (pthread_create(&conns[i].thread, NULL, client_thread,
				   &conns[i]))
			die("xfer: pthread_create:");
	for (i = 0; i < opt.connections; i++) {
		pthread_join(conns[i].thread, NULL);
		bad += !!conns[i].what;
	}
	print_summary("client", conns, opt.connections);
	if (has_sha(&opt.job) && !bad)
		print_sha("sent", &conns[0].tx_sha, NULL);
	for (i = 0; i < opt.connections; i++)
		conn_free(&conns[i]);
	free(conns);
	return bad ? 1 : 0;
}

/* The server */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	unsigned int live;
	unsigned int bad;
	uint64_t epoch;		/* ns: start of the oldest live child */
} server_state = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.idle = PTHREAD_COND_INITIALIZER,
};

static void *serve_thread(void *arg)
{
	struct conn *c = arg;
	bool ok = serve_run(c);

	pthread_mutex_lock(&server_state.lock);
	server_state.bad += !ok;
	server_state.live--;
	print_summary("server", c, 1);
	if (ok && has_sha(&c->job))
		print_sha("received", NULL, c->rx.res.sha);
	pthread_cond_signal(&server_state.idle);
	pthread_mutex_unlock(&server_state.lock);
	if (c->rx.file >= 0)
		close(c->rx.file);
	conn_free(c);
	free(c);
	return NULL;
}

static void serve(int fd)
{
	struct conn *c = calloc(1, sizeof(*c));
	pthread_attr_t attr;

	c->fd = fd;
	open_receive_file(c, opt.file);
	c->begin = now_ns();
	pthread_mutex_lock(&server_state.lock);
	if (!server_state.live++)
		server_state.epoch = c->begin;
	c->rx.res.epoch = server_state.epoch;
	pthread_mutex_unlock(&server_state.lock);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&c->thread, &attr, serve_thread, c))
		die("xfer: pthread_create:");
}

/* The socket listens: serve clients in a child, and return. */
static void go_background(void)
{
	pid_t pid = fork();
	FILE *f;

	if (pid < 0)
		die("xfer: fork:");
	if (pid) {
		if (opt.pidfile) {
			f = fopen(opt.pidfile, "w");
			if (!f || fprintf(f, "%d\n", pid) < 0 || fclose(f))
				die("xfer: %s:", opt.pidfile);
		}
		_exit(0);
	}
	setsid();
}

static int server(void)
{
	unsigned int served = 0;
	union addr a;
	int fd, new;

	addr_any(&a, opt.family, opt.port);
	if (opt.bind && !addr_parse(&a, opt.bind, opt.port))
		die("xfer: %s is no address", opt.bind);
	fd = proto_socket(opt.proto, a.sa.sa_family, opt.type, 0);
	if (fd < 0)
		die("xfer: socket:");
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set_options(fd);
	if (bind(fd, &a.sa, addr_len(&a)))
		die("xfer: bind %s:", addr_text(&a));
	if (listen(fd, 1024))
		die("xfer: listen:");
	if (opt.background)
		go_background();
	alarm(opt.timeout);
	while (!opt.connections || served < opt.connections) {
		new = accept(fd, NULL, NULL);
		if (new < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			die("xfer: accept:");
		}
		served++;
		serve(new);
	}
	close(fd);
	pthread_mutex_lock(&server_state.lock);
	while (server_state.live)
		pthread_cond_wait(&server_state.idle, &server_state.lock);
	pthread_mutex_unlock(&server_state.lock);
	return server_state.bad ? 1 : 0;
}

/* Timeout: report how far the transfer got. */
static void timed_out(int sig)
{
	unsigned int i;

	(void)sig;
	dprintf(2, "xfer: no end after %u s\n", opt.timeout);
	for (i = 0; conns && i < opt.connections; i++)
		if (!conns[i].end)
			dprintf(2, "xfer: connection %u: sent %" PRIu64
				", received %" PRIu64 " of %" PRIu64 "\n", i,
				conns[i].sent, conns[i].rx.pos,
				conns[i].job.size);
	_exit(124);
}

static void end_sending(int sig)
{
	(void)sig;
	told_to_end = 1;
}

int main(int argc, char **argv)
{
	const char *host = parse_args(argc, argv);

	json = opt.json ? fopen(opt.json, "w") : stdout;
	if (!json)
		die("xfer: %s:", opt.json);
	signal(SIGALRM, timed_out);
	signal(SIGPIPE, SIG_IGN);
	if (opt.seconds)
		signal(SIGTERM, end_sending);
	alarm(opt.timeout);
	return host ? client(host) : server();
}
