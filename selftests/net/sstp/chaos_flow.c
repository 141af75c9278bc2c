// SPDX-License-Identifier: GPL-2.0
/* Run a case of the chaos test: threads that write, threads that read and check. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "chaos.h"
#include "path.h"

#define MS		1000000ULL
#define MILLION		1000000ULL
#define PORT		7000
#define CONNS_MOST	4
#define PARTS		8		/* between two a program may pause */
#define NAP_MS		10
#define SPINS		1000		/* without time that passes */
#define GAPS		4096
#define LOOK_MS		1000		/* interval of checks for waiting programs */
#define TCP_READ	(1 << 20)
#define ORPHAN		(600 * 1000 * MS)	/* net.sstp.orphan_timeout */

/* One end of a connection: content @out is sent, @in is received. */
struct end {
	int host, nr, fd;
	struct end *peer;
	uint64_t out, in, to_send, to_get;
	_Atomic uint64_t sent, got;
	_Atomic uint64_t sent_at, got_at;	/* ns, when something moved last */
	_Atomic uint64_t since;			/* ns, when it began to want to read */
	_Atomic uint64_t closed_at;		/* ns */
	uint64_t missing;
	const char *_Atomic writes, *_Atomic reads;	/* what they are doing */
};

static const uint64_t *v;
static const struct chaos *chaos;
static struct end ends[2][CONNS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news;
static unsigned int running;
static char wrong[512];
static uint64_t began;

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *fmt, ...)
{
	size_t len;
	va_list ap;

	pthread_mutex_lock(&lock);
	if (!*wrong) {
		len = snprintf(wrong, sizeof(wrong), "%.3f s: ",
			       (now_ns() - began) / 1e9);
		va_start(ap, fmt);
		vsnprintf(wrong + len, sizeof(wrong) - len, fmt, ap);
		va_end(ap);
	}
	pthread_cond_signal(&news);
	pthread_mutex_unlock(&lock);
}

static void thread_done(void)
{
	pthread_mutex_lock(&lock);
	running--;
	pthread_cond_signal(&news);
	pthread_mutex_unlock(&lock);
}

static void start(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	if (pthread_create(&t, &attr, run, arg))
		die("thread");
	pthread_detach(t);
}

static const char *name(const struct end *e)
{
	static __thread char text[16];

	snprintf(text, sizeof(text), "%c%d", "A?B"[e->host], e->nr);
	return text;
}

/* --- waiting, in each way that a program may ----------------------------------- */

struct waiter {
	int fd, epoll, events, spins;
	uint64_t mode, last;
};

static void wait_start(struct waiter *w, int fd, int events, uint64_t mode)
{
	struct epoll_event e = { .events = events | EPOLLET };

	*w = (struct waiter){ .fd = fd, .epoll = -1, .events = events, .mode = mode };
	if (mode != WAIT_EDGE)
		return;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e))
		die("epoll:");
}

static void wait_end(struct waiter *w)
{
	if (w->epoll >= 0)
		close(w->epoll);
}

/* Wait by poll() before each call. */
static void wait_before(struct waiter *w)
{
	struct pollfd p = { .fd = w->fd, .events = w->events };

	if (w->mode == WAIT_POLL && poll(&p, 1, -1) < 0)
		die("poll:");
}

/* After EAGAIN; returns false if calls only return that. */
static bool wait_after(struct waiter *w)
{
	struct epoll_event e;
	uint64_t now = now_ns();

	if (w->mode == WAIT_NAP)
		sleep_ns(NAP_MS * MS);
	if (w->mode == WAIT_EDGE && epoll_wait(w->epoll, &e, 1, -1) < 0)
		die("epoll:");
	if (now != w->last)
		w->spins = 0;
	w->last = now;
	return ++w->spins < SPINS;
}

static int wait_flags(const struct waiter *w)
{
	return w->mode == WAIT_BLOCK ? 0 : MSG_DONTWAIT;
}

/* A program sleeps for @ms after each part of @total. */
static void rest(uint64_t before, uint64_t now, uint64_t total, uint64_t ms)
{
	uint64_t part = total / PARTS + 1;

	if (ms && before / part != now / part)
		sleep_ns(ms * MS);
}

/* --- writing ---------------------------------------------------------------------- */

/* Returns false when it cannot go on. */
static bool put(struct end *e, struct waiter *w, char *buf, uint32_t len)
{
	int flags = MSG_NOSIGNAL | wait_flags(w);
	ssize_t n;

	if (v[MORE] && e->sent + len < e->to_send)
		flags |= MSG_MORE;
	e->writes = "waits";
	wait_before(w);
	e->writes = "sends";
	n = send(e->fd, buf, len, flags);
	if (n < 0 && errno == EAGAIN && wait_flags(w)) {
		e->writes = "waits";
		if (wait_after(w))
			return true;
		note("%s: told to send, and EAGAIN, %d times", name(e), SPINS);
		return false;
	}
	if (n <= 0 || (v[TYPE] && n != len)) {
		note("%s: send() of %u: %zd, %s", name(e), len, n,
		     n < 0 ? strerrorname_np(errno) : "");
		return false;
	}
	/* The other end has read all so far: its silence counts from now. */
	e->sent_at = now_ns();
	if (e->peer->got == e->sent)
		e->peer->since = e->sent_at;
	e->sent += n;
	return true;
}

static void *writer(void *arg)
{
	char *buf = malloc(v[WRITE]);
	struct end *e = arg;
	struct waiter w;
	uint64_t filled = UINT64_MAX, pos, end = 0;

	wait_start(&w, e->fd, POLLOUT, v[WMODE]);
	while (e->sent < e->to_send) {
		/* Continue with the rest of a short write. */
		pos = e->sent;
		if (pos >= end) {
			uint32_t len = chaos_write(chaos, e->out, pos, e->to_send);

			end = pos + len;
			content_fill(buf, len, e->out, pos);
			filled = pos;
		}
		if (!put(e, &w, buf + (pos - filled), end - pos))
			break;
		e->writes = "rests";
		rest(pos, e->sent, e->to_send, v[WPAUSE]);
	}
	wait_end(&w);
	e->writes = "ended";
	if (e->sent == e->to_send) {
		if (e->host == A && v[CLOSE]) {
			e->closed_at = now_ns();
			close(e->fd);
			e->fd = -1;
		} else if (shutdown(e->fd, SHUT_WR)) {
			note("%s: shutdown(): %s", name(e), strerrorname_np(errno));
		}
	}
	free(buf);
	thread_done();
	return NULL;
}

/* --- reading ----------------------------------------------------------------------- */

struct got {
	ssize_t len;
	int flags;
	size_t gaps;
	const struct sstp_gap *gap;
};

static void take(struct end *e, char *buf, size_t size, int flags, struct got *g,
		 char *control)
{
	struct iovec iov = { buf, size };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(GAPS * sizeof(*g->gap)),
	};
	struct cmsghdr *c;

	*g = (struct got){};
	g->len = recvmsg(e->fd, &msg, flags);
	g->flags = msg.msg_flags;
	if (g->len < 0)
		return;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SSTP || c->cmsg_type != SSTP_GAPS) {
			note("%s: an odd control message", name(e));
			continue;
		}
		g->gaps = (c->cmsg_len - CMSG_LEN(0)) / sizeof(*g->gap);
		g->gap = (const void *)CMSG_DATA(c);
	}
}

/* Check that gaps are in order and zero, and all other bytes right. @whole: length of the sent
 * message, or 0. Returns bytes missing, or -1.
 */
static long check(struct end *e, const char *buf, const struct got *g, uint64_t whole)
{
	size_t at = 0, i, k, n = g->len;
	long missing = 0;

	if (whole && n != (whole < v[READ] ? whole : v[READ])) {
		note("%s: %zu bytes, not %llu at %llu", name(e), n,
		     (unsigned long long)whole, (unsigned long long)e->got);
		return -1;
	}
	if (!!(g->flags & MSG_TRUNC) != (whole > n) ||
	    (g->flags & MSG_CTRUNC && g->gaps < GAPS)) {
		note("%s: flags %#x of %zu bytes at %llu", name(e), g->flags, n,
		     (unsigned long long)e->got);
		return -1;
	}
	for (i = 0; i <= g->gaps; i++) {
		size_t to = i < g->gaps ? g->gap[i].offset : n;
		size_t len = i < g->gaps ? g->gap[i].len : 0, right;

		if (to > n || len > n - to || (i && i < g->gaps && to <= at)) {
			note("%s: gap %zu: %zu, %zu bytes, after %zu, of %zu", name(e),
			     i, to, len, at, n);
			return -1;
		}
		right = content_check(buf + at, to - at, e->in, e->got + at);
		if (right != to - at) {
			note("%s: wrong content at %llu", name(e),
			     (unsigned long long)e->got + at + right);
			return -1;
		}
		for (k = 0; k < len && !buf[to + k]; k++)
			;
		if (k < len) {
			note("%s: a gap is not zero at %llu", name(e),
			     (unsigned long long)e->got + to + k);
			return -1;
		}
		missing += len;
		at = to + len;
	}
	return missing;
}

/* Bytes of @len that may be missing, as whole packets */
static uint64_t tolerated(uint64_t len)
{
	uint64_t most = v[MTU] > v[MTUTO] ? v[MTU] : v[MTUTO];

	return v[TOLERANCE] ? (len + most) * v[TOLERANCE] / MILLION : 0;
}

/* Check received content, and that no more bytes are missing than tolerated. */
static bool accept_piece(struct end *e, const char *buf, const struct got *g,
			 uint64_t whole, bool peek)
{
	uint64_t len = whole ?: (uint64_t)g->len;
	long missing = check(e, buf, g, whole);

	if (missing < 0)
		return false;
	if (e->got + len > e->to_get) {
		note("%s: %llu bytes more than were sent", name(e),
		     (unsigned long long)(e->got + len - e->to_get));
		return false;
	}
	if (missing && (!v[TOLERANCE] ||
			(whole && (uint64_t)missing > tolerated(whole)))) {
		note("%s: %ld bytes of %zd missing at %llu", name(e), missing, g->len,
		     (unsigned long long)e->got);
		return false;
	}
	if (peek)
		return true;
	e->missing += missing;
	e->got += len;
	e->got_at = now_ns();
	e->since = e->got_at;
	return true;
}

/* The peer closed, and its time to send the rest is over, as documented. That is right if the path
 * and the contract may need longer. The RESET may be lost.
 */
static bool orphan_ended(const struct end *e)
{
	uint64_t end = e->peer->closed_at + ORPHAN, now = now_ns();

	return e->peer->closed_at && chaos_bound(chaos) > ORPHAN && now >= end &&
	       now <= end + chaos_silence(chaos);
}

/* Returns 1 to go on, 0 at the end or after a failure. */
static bool get(struct end *e, struct waiter *w, char *buf, char *control, bool *peek)
{
	int flags = wait_flags(w);
	uint64_t whole = 0;
	struct got g;

	if (*peek)
		flags |= MSG_PEEK;
	else if (v[WAITALL])
		flags |= MSG_WAITALL;
	e->reads = "waits";
	wait_before(w);
	e->reads = *peek ? "peeks" : "receives";
	take(e, buf, v[READ], flags, &g, control);
	if (g.len < 0 && errno == EAGAIN && wait_flags(w)) {
		e->reads = "waits";
		if (wait_after(w))
			return true;
		note("%s: told to receive, and EAGAIN, %d times", name(e), SPINS);
		return false;
	}
	if (g.len < 0) {
		if (errno != ECONNRESET || !orphan_ended(e))
			note("%s: recv(): %s", name(e), strerrorname_np(errno));
		return false;
	}
	if (!g.len) {
		if (e->got != e->to_get)
			note("%s: the end, after %llu of %llu bytes", name(e),
			     (unsigned long long)e->got, (unsigned long long)e->to_get);
		return false;
	}
	if (v[TYPE] && e->got < e->to_get)
		whole = chaos_write(chaos, e->in, e->got, e->to_get);
	if (!accept_piece(e, buf, &g, whole, *peek))
		return false;
	*peek = v[PEEK] && !*peek;
	return true;
}

static void *reader(void *arg)
{
	char *control = malloc(CMSG_SPACE(GAPS * sizeof(struct sstp_gap)));
	char *buf = malloc(v[READ]);
	bool peek = v[PEEK];
	struct end *e = arg;
	struct waiter w;
	uint64_t pos;

	if (e->host == B)
		sleep_ns(v[RLATE] * MS);
	e->since = now_ns();
	wait_start(&w, e->fd, POLLIN, v[RMODE]);
	do {
		pos = e->got;
		if (!get(e, &w, buf, control, &peek))
			break;
		e->reads = "rests";
		rest(pos, e->got, e->to_get, v[RPAUSE]);
		e->since = now_ns();
	} while (1);
	wait_end(&w);
	e->reads = "ended";
	if (e->missing > tolerated(e->to_get))
		note("%s: %llu bytes of %llu missing", name(e),
		     (unsigned long long)e->missing, (unsigned long long)e->to_get);
	free(buf);
	free(control);
	thread_done();
	return NULL;
}

/* --- sockets ------------------------------------------------------------------------- */

static void set(int fd, int level, int opt, uint64_t value)
{
	if (value)
		sock_set(fd, level, opt, value);
}

static void set_all(int fd, int host)
{
	struct sstp_rate_spec rate = { .peak = host == A ? v[PEAK] : v[BPEAK] };

	if (host == A) {
		rate.average = v[AVERAGE];
		rate.burst_rate = v[BURSTS];
		rate.burst_len = v[BURST];
	}
	if (rate.peak && setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	if (v[LIMIT] && setsockopt(fd, SOL_SSTP, SSTP_RATE_LIMIT, &v[LIMIT], sizeof(*v)))
		die("SSTP_RATE_LIMIT:");
	if (v[NEWRENO] && setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, "newreno", 7))
		die("SSTP_CONTROLLER:");
	if (v[STATIC] && setsockopt(fd, SOL_SSTP, SSTP_BUFFER_POLICY, "static", 6))
		die("SSTP_BUFFER_POLICY:");
	if (v[EPOCH] && !v[STATIC])
		param_set(fd, SSTP_POLICY_PARAM, "epoch", v[EPOCH]);
	if (v[CEILING] && !v[STATIC])
		param_set(fd, SSTP_POLICY_PARAM, "ceiling", v[CEILING]);
	set(fd, SOL_SSTP, SSTP_SEGMENT_SIZE, v[SEG]);
	set(fd, SOL_SSTP, SSTP_WINDOW_FACTOR, v[FACTOR]);
	set(fd, SOL_SSTP, SSTP_WINDOW_CLAMP, v[CLAMP]);
	set(fd, SOL_SSTP, SSTP_ACK_STRATEGY, v[SOFT]);
	set(fd, SOL_SSTP, SSTP_TOLERANCE, v[TOLERANCE]);
	set(fd, SOL_SSTP, SSTP_NODELAY, v[NODELAY]);
	set(fd, SOL_SOCKET, SO_SNDBUFFORCE, v[SNDBUF]);
	set(fd, SOL_SOCKET, SO_RCVBUFFORCE, v[RCVBUF]);
	set(fd, SOL_SOCKET, SO_RCVLOWAT, v[LOWAT]);
}

static int new_socket(int host)
{
	int fd;

	path_enter(host);
	fd = proto_socket(PROTO_SSTP, v[V6] ? AF_INET6 : AF_INET,
			  v[TYPE] ? SOCK_SEQPACKET : SOCK_STREAM, 0);
	if (fd < 0)
		die("socket:");
	set_all(fd, host);
	return fd;
}

static void address(union addr *a, uint16_t port)
{
	if (!addr_parse(a, v[V6] ? "fd00:10:0:2::2" : "10.0.2.2", port))
		die("address");
}

static void *connector(void *arg)
{
	struct end *e = arg;
	int flags = fcntl(e->fd, F_GETFL);
	union addr to;

	address(&to, PORT);
	if (v[EARLY])
		fcntl(e->fd, F_SETFL, flags | O_NONBLOCK);
	e->writes = "connects";
	if (connect(e->fd, &to.sa, addr_len(&to)) &&
	    (errno != EINPROGRESS || !v[EARLY])) {
		note("%s: connect(): %s", name(e), strerrorname_np(errno));
		return NULL;
	}
	fcntl(e->fd, F_SETFL, flags);
	if (v[CLOSE])
		thread_done();		/* without a reader */
	else
		start(reader, e);
	return writer(e);
}

/* Each of A has a port of its own. */
static void *acceptor(void *arg)
{
	int *l = arg, fd;
	union addr from;
	struct end *e;
	uint64_t i;

	for (i = 0; i < v[CONNS]; i++) {
		socklen_t len = sizeof(from);

		fd = accept(*l, &from.sa, &len);
		if (fd < 0) {
			note("accept(): %s", strerrorname_np(errno));
			return NULL;
		}
		e = &ends[1][addr_port(&from) - PORT];
		e->fd = fd;
		start(reader, e);
		start(writer, e);
	}
	close(*l);
	return NULL;
}

/* --- other traffic: a TCP connection that is not judged --------------------------------- */

static void *tcp_reader(void *arg)
{
	char *buf = malloc(TCP_READ);
	int fd = accept(*(int *)arg, NULL, NULL);

	sock_set(fd, SOL_SOCKET, SO_RCVLOWAT, 64 << 10);
	while (recv(fd, buf, TCP_READ, 0) > 0)
		;
	close(fd);
	return NULL;
}

static void *tcp_writer(void *arg)
{
	char buf[32768] = "";
	int *fd = arg;
	uint64_t sent = 0;
	union addr to;
	ssize_t n = 0;

	sleep_ns(v[TCPAT] * MS);
	address(&to, PORT);
	if (connect(*fd, &to.sa, addr_len(&to)))
		return NULL;
	for (; n >= 0 && sent < v[TCP]; sent += n)
		n = send(*fd, buf, sizeof(buf), MSG_NOSIGNAL);
	close(*fd);
	return NULL;
}

static void tcp_start(void)
{
	int family = v[V6] ? AF_INET6 : AF_INET;
	static int l, fd;
	union addr at;

	address(&at, PORT);
	path_enter(B);
	l = proto_socket(PROTO_TCP, family, SOCK_STREAM, 0);
	if (l < 0)
		die("TCP:");
	sock_set(l, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(l, &at.sa, addr_len(&at)) || listen(l, 1))
		die("TCP:");
	path_enter(A);
	fd = proto_socket(PROTO_TCP, family, SOCK_STREAM, 0);
	if (fd < 0)
		die("TCP:");
	start(tcp_reader, &l);
	start(tcp_writer, &fd);
}

/* --- all of it -------------------------------------------------------------------------- */

static void open_ends(void)
{
	union addr at;
	static int l;
	uint64_t i;

	address(&at, PORT);
	l = new_socket(B);
	if (v[POOL])
		sock_set(l, SOL_SSTP, SSTP_POOL, 1);
	sock_set(l, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(l, &at.sa, addr_len(&at)) || listen(l, CONNS_MOST))
		die("listen:");
	start(acceptor, &l);
	for (i = 0; i < v[CONNS]; i++) {
		struct end *a = &ends[0][i], *b = &ends[1][i];
		uint64_t out = mix64(v[SEED] + 2 * i), in = mix64(v[SEED] + 2 * i + 1);

		*a = (struct end){ .host = A, .nr = i, .peer = b, .fd = new_socket(A), .out = out,
				   .in = in, .to_send = v[SIZE], .to_get = v[BACK] };
		*b = (struct end){ .host = B, .nr = i, .peer = a, .fd = -1, .out = in, .in = out,
				   .to_send = v[BACK], .to_get = v[SIZE] };
		a->writes = a->reads = b->writes = b->reads = "begins";
		addr_any(&at, v[V6] ? AF_INET6 : AF_INET, PORT + i);
		sock_set(a->fd, SOL_SOCKET, SO_REUSEADDR, 1);
		if (bind(a->fd, &at.sa, addr_len(&at)))
			die("bind:");
		start(connector, a);
	}
}

static void tell_end(const struct end *e)
{
	struct sstp_info i;

	ktap_diag("%s: sent %llu of %llu, last after %.3f s, %s; got %llu of %llu, %.3f s, %s",
		  name(e), (unsigned long long)e->sent, (unsigned long long)e->to_send,
		  e->sent_at ? (e->sent_at - began) / 1e9 : 0, e->writes,
		  (unsigned long long)e->got, (unsigned long long)e->to_get,
		  e->got_at ? (e->got_at - began) / 1e9 : 0, e->reads);
	if (e->fd < 0)
		return;
	i = sock_info(e->fd);
	ktap_diag("%s: state %u rtt %u mtu %u size %u cwnd %u flight %u backoff %u snd %u una %u window %u queued %u unacked %u again %llu",
		  name(e), i.state, i.rtt, i.mtu, i.packet_size, i.cwnd, i.in_flight,
		  i.backoff, i.snd_segment, i.snd_una, i.snd_window, i.snd_queued,
		  i.snd_unacked, (unsigned long long)i.packets_retrans);
	ktap_diag("%s: rcv %u window %u buffer %u queued %u readable %llu received %llu discarded %llu policy %s",
		  name(e), i.rcv_segment, i.rcv_window, i.rcv_buffer, i.rcv_queued,
		  (unsigned long long)i.rcv_readable,
		  (unsigned long long)i.bytes_received,
		  (unsigned long long)i.packets_discarded, i.policy);
}

static void tell_counters(int host)
{
	char line[64];
	FILE *f;

	path_enter(host);
	f = fopen("/proc/thread-self/net/sstp_snmp", "r");
	ktap_diag("counters of %c:", "A?B"[host]);
	while (f && fgets(line, sizeof(line), f))
		if (!strstr(line, " 0\n") && !strstr(line, "\t0\n"))
			ktap_diag("  %.*s", (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

/* Has an end waited too long for what was sent to it? */
static void check_silence(uint64_t now)
{
	uint64_t most = chaos_silence(chaos), i;

	for (i = 0; i < 2 * v[CONNS] && !*wrong; i++) {
		const struct end *e = &ends[i % 2][i / 2];

		if (e->since && e->got < e->peer->sent && strcmp(e->reads, "rests") &&
		    now > e->since + most)
			snprintf(wrong, sizeof(wrong), "%.3f s: %s: nothing since %.3f s",
				 (now - began) / 1e9, name(e), (e->since - began) / 1e9);
	}
}

static void wait_all(void)
{
	uint64_t bound = began + chaos_bound(chaos), next, now;
	struct timespec ts;

	pthread_mutex_lock(&lock);
	while (running && !*wrong) {
		now = now_ns();
		if (now >= bound) {
			snprintf(wrong, sizeof(wrong), "%.3f s: not over",
				 (now - began) / 1e9);
			break;
		}
		pthread_mutex_unlock(&lock);
		next = chaos_net_event(chaos, now - began);
		pthread_mutex_lock(&lock);
		check_silence(now);
		next = next < bound - began ? began + next : bound;
		if (next > now + LOOK_MS * MS)
			next = now + LOOK_MS * MS;
		ts.tv_sec = next / 1000000000;
		ts.tv_nsec = next % 1000000000;
		if (running && !*wrong)
			pthread_cond_timedwait(&news, &lock, &ts);
	}
	pthread_mutex_unlock(&lock);
}

const char *chaos_run(const struct chaos *c, bool verbose)
{
	pthread_condattr_t attr;
	uint64_t i;

	chaos = c;
	v = c->v;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&news, &attr);
	running = 4 * v[CONNS];
	began = now_ns();
	open_ends();
	if (v[TCP])
		tcp_start();
	wait_all();
	if (verbose && *wrong) {
		for (i = 0; i < v[CONNS]; i++) {
			tell_end(&ends[0][i]);
			tell_end(&ends[1][i]);
		}
		tell_counters(A);
		tell_counters(B);
	}
	return *wrong ? wrong : NULL;
}
