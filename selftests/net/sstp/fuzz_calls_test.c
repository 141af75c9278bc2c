// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: debug 6.12 kcsan
 *
 * Random calls with random arguments, by several threads on the same sockets:
 * each returns what it may, and in the end nothing is left.
 *
 * It takes a minute on each kernel: two of each run, with the debug kernel and a stock
 * one.
 *
 *	fuzz_calls_test [-T SECONDS] [-S SEED]
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "nl.h"

#define THREADS		5
#define POOL		40		/* sockets... */
#define FIRST		200		/* ... at these descriptors and no others */
#define PORTS		3		/* that sockets are bound to */
#define PORT		5000
#define BUFFER		(256 << 10)
#define TICK_NS		20000000	/* no call blocks for longer */
#define ERRORS		24
#ifndef ENOTSUPP
#define ENOTSUPP	524		/* of the kernel, which should keep it */
#endif

struct worker {
	pthread_t thread;
	struct rng rng;
	uint8_t *buf;			/* BUFFER, and after it nothing */
	int epoll, file, pipe[2];
	struct nl nl[2];		/* one in each namespace that stays */
	char what[160];			/* the arguments of the last call */
};

static struct worker workers[THREADS];
static pthread_barrier_t all_there;
static struct fuzz fuzz;
static _Atomic unsigned int unexpected;

static long ret(long rc)
{
	return rc < 0 ? -errno : rc;
}

/* No call sends or returns more bytes than the buffer has. */
static long moved(long rc, size_t len)
{
	return rc > 0 && (size_t)rc > len ? -ERANGE : ret(rc);
}

static int pick(struct worker *w)
{
	return FIRST + below(&w->rng, POOL);
}

/* Put a descriptor in the place of another socket. */
static void keep(struct worker *w, int fd)
{
	if (fd < 0)
		return;
	dup2(fd, pick(w));
	close(fd);
}

/* Memory of @len bytes, with content: mostly valid, sometimes reaching beyond a mapping, or
 * unmapped.
 */
static void *place(struct worker *w, size_t len)
{
	static void * const nowhere[] = {
		NULL, (void *)8, (void *)-4096L, (void *)(LONG_MAX & ~4095L),
	};
	uint32_t how = below(&w->rng, 100);
	uint64_t fill = rnd(&w->rng);

	if (how < ARRAY_SIZE(nowhere))
		return nowhere[how];
	if (how < 8)
		return w->buf + BUFFER - below(&w->rng, len + 1);
	/* Where what lies behind does not exist */
	memset(w->buf + BUFFER - len, fill, len < 64 ? len : 64);
	return w->buf + BUFFER - len;
}

static size_t size(struct worker *w)
{
	switch (below(&w->rng, 6)) {
	case 0:
		return below(&w->rng, 4);
	case 1:
		return below(&w->rng, 200);
	case 2:
		return below(&w->rng, BUFFER);
	default:
		return below(&w->rng, 20000);
	}
}

static int message_flags(struct worker *w)
{
	static const int flags[] = {
		MSG_OOB, MSG_PEEK, MSG_DONTROUTE, MSG_CTRUNC, MSG_TRUNC,
		MSG_EOR, MSG_WAITALL, MSG_CONFIRM, MSG_ERRQUEUE, MSG_MORE,
		MSG_WAITFORONE, MSG_BATCH, MSG_ZEROCOPY, MSG_FASTOPEN,
		MSG_CMSG_CLOEXEC,
	};
	int f = chance(&w->rng, 60) ? MSG_DONTWAIT : 0;

	if (chance(&w->rng, 2))
		return rnd(&w->rng);
	while (chance(&w->rng, 30))
		f |= flags[below(&w->rng, ARRAY_SIZE(flags))];
	return f | MSG_NOSIGNAL;
}

static bool is_good(const struct worker *w, const void *p, size_t len)
{
	return p == w->buf + BUFFER - len;
}

static socklen_t some_addr(struct worker *w, union addr *a)
{
	static const char * const texts[] = {
		"127.0.0.1", "::1", "127.0.0.1", "::1", "0.0.0.0", "::",
		"::ffff:127.0.0.1", "255.255.255.255", "224.0.0.1", "ff02::1",
		"fe80::1", "10.1.2.3", "fd00::1", "127.9.9.9",
	};
	uint16_t port = chance(&w->rng, 80) ?
			PORT + below(&w->rng, PORTS) :
			(uint16_t)odd_number(&w->rng);
	uint32_t good = chance(&w->rng, 85) ? 4 : ARRAY_SIZE(texts);
	socklen_t len;

	addr_parse(a, texts[below(&w->rng, good)], port);
	len = addr_len(a);
	if (chance(&w->rng, 2))
		a->sa.sa_family = below(&w->rng, 50);
	if (chance(&w->rng, 2))
		a->v6.sin6_scope_id = odd_number(&w->rng);
	if (chance(&w->rng, 3))
		len = below(&w->rng, sizeof(*a) + 8);
	snprintf(w->what, sizeof(w->what), "%s, family %u, %u bytes",
		 addr_text(a), a->sa.sa_family, len);
	return len;
}

/* --- the calls: what they return, or -errno ---------------------------------- */

static long call_socket(struct worker *w)
{
	static const int types[] = {
		SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM, SOCK_SEQPACKET,
		SOCK_DGRAM, SOCK_RAW, SOCK_RDM, 0, 11, -1,
	};
	int type = types[below(&w->rng, chance(&w->rng, 90) ? 4 :
			       ARRAY_SIZE(types))];
	int proto = chance(&w->rng, 95) ? 0 : (int)odd_number(&w->rng), fd;
	int family = AF_SSTP;

	/* With another protocol it would be a socket of another kind, and is with SOCK_RAW. */
	if (type != SOCK_RAW && chance(&w->rng, 40)) {
		family = chance(&w->rng, 50) ? AF_INET : AF_INET6;
		proto = IPPROTO_SSTP;
	}
	if (chance(&w->rng, 70))
		type |= SOCK_NONBLOCK;
	if (chance(&w->rng, 20))
		type |= SOCK_CLOEXEC;
	snprintf(w->what, sizeof(w->what), "family %d, type %#x, protocol %d", family,
		 type, proto);
	fd = socket(family, type, proto);
	if (fd < 0)
		return -errno;
	keep(w, fd);
	return 0;
}

/* Two connected sockets, now and then a listener as well, made as programs do */
static long call_pair(struct worker *w)
{
	int type = chance(&w->rng, 50) ? SOCK_STREAM : SOCK_SEQPACKET;
	int family = chance(&w->rng, 50) ? AF_INET : AF_INET6;
	bool inet = chance(&w->rng, 50);
	int domain = inet ? family : AF_SSTP, proto = inet ? IPPROTO_SSTP : 0;
	int l = socket(domain, type, proto), fd, peer;
	int bytes = 2000 + below(&w->rng, 6000);
	union addr a;

	addr_loopback(&a, family, 0);
	fd = socket(domain, type, proto);
	/* Small buffers make senders wait soon. */
	if (chance(&w->rng, 50)) {
		setsockopt(l, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	}
	if (l < 0 || fd < 0 || bind(l, &a.sa, addr_len(&a)) || listen(l, 4) ||
	    getsockname(l, &a.sa, &(socklen_t){ sizeof(a) }))
		die("listener:");
	while (connect(fd, &a.sa, addr_len(&a)) && errno == EINTR)
		;
	do
		peer = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	while (peer < 0 && errno == EINTR);
	keep(w, peer);
	keep(w, fd);
	if (chance(&w->rng, 20))
		keep(w, l);
	else
		close(l);
	return peer < 0 ? -errno : 0;
}

static long call_bind(struct worker *w)
{
	union addr *a = place(w, sizeof(*a)), copy = {};
	socklen_t len = some_addr(w, &copy);

	if (is_good(w, a, sizeof(*a)))
		*a = copy;
	return ret(bind(pick(w), &a->sa, len));
}

static long call_connect(struct worker *w)
{
	union addr a = {};
	socklen_t len = some_addr(w, &a);

	if (chance(&w->rng, 3))
		a.sa.sa_family = AF_UNSPEC;
	return ret(connect(pick(w), chance(&w->rng, 2) ? place(w, 8) : &a.sa,
			   len));
}

static long call_listen(struct worker *w)
{
	return ret(listen(pick(w), chance(&w->rng, 70) ? 8 :
			  (int)odd_number(&w->rng)));
}

static long call_accept(struct worker *w)
{
	socklen_t *len = place(w, sizeof(*len));
	void *a = chance(&w->rng, 50) ? NULL : place(w, 128);
	int flags = chance(&w->rng, 70) ? SOCK_NONBLOCK : 0;
	int fd;

	if (chance(&w->rng, 3))
		flags = odd_number(&w->rng);
	fd = accept4(pick(w), a, a ? len : NULL, flags);
	if (fd < 0)
		return -errno;
	keep(w, fd);
	return 0;
}

static long call_send(struct worker *w)
{
	size_t len = size(w);
	int flags = message_flags(w);

	snprintf(w->what, sizeof(w->what), "%zu bytes, flags %#x", len, flags);
	return moved(send(pick(w), place(w, len), len, flags), len);
}

static long call_recv(struct worker *w)
{
	size_t len = size(w);
	int flags = message_flags(w);

	snprintf(w->what, sizeof(w->what), "%zu bytes, flags %#x", len, flags);
	/* MSG_TRUNC asks for how long it was. */
	return moved(recv(pick(w), place(w, len), len, flags),
		     flags & MSG_TRUNC ? LONG_MAX : len);
}

/* Up to eight pieces and a control message */
static void message(struct worker *w, struct msghdr *m, struct iovec iov[8],
		    union addr *name, void *control, size_t room)
{
	static const int levels[] = {
		SOL_SOCKET, SOL_SOCKET, SOL_SSTP, SOL_IP, SOL_IPV6, -1,
	};
	static const int kinds[] = {
		SO_MARK, SCM_RIGHTS, SCM_CREDENTIALS, SCM_TXTIME,
		SO_TIMESTAMPING, SO_PRIORITY, SSTP_GAPS,
	};
	struct cmsghdr *c = control;
	size_t i;

	memset(m, 0, sizeof(*m));
	m->msg_iov = iov;
	m->msg_iovlen = below(&w->rng, 9);
	for (i = 0; i < m->msg_iovlen; i++) {
		iov[i].iov_len = size(w);
		iov[i].iov_base = place(w, iov[i].iov_len);
	}
	if (chance(&w->rng, 2))
		iov[0].iov_len = -1;
	/* More pieces than there are: memory behind them must not be taken for pieces to receive
	 * into.
	 */
	if (chance(&w->rng, 1)) {
		m->msg_iov = (void *)(w->buf + BUFFER - 8 * sizeof(*iov));
		memcpy(m->msg_iov, iov, m->msg_iovlen * sizeof(*iov));
		m->msg_iovlen = odd_number(&w->rng);
	}
	if (chance(&w->rng, 20)) {
		m->msg_name = name;
		m->msg_namelen = some_addr(w, name);
	}
	if (chance(&w->rng, 60))
		return;
	memset(control, 0, room);
	m->msg_control = control;
	m->msg_controllen = chance(&w->rng, 80) ? room :
			    below(&w->rng, room + 1);
	c->cmsg_len = chance(&w->rng, 80) ? CMSG_LEN(below(&w->rng, 5) * 4) :
		      odd_number(&w->rng);
	c->cmsg_level = levels[below(&w->rng, ARRAY_SIZE(levels))];
	c->cmsg_type = chance(&w->rng, 20) ? (int)odd_number(&w->rng) :
		       kinds[below(&w->rng, ARRAY_SIZE(kinds))];
	snprintf(w->what, sizeof(w->what), "cmsg %zu bytes, level %d, type %d",
		 c->cmsg_len, c->cmsg_level, c->cmsg_type);
}

/* LONG_MAX if what lies behind the pieces counts, too */
static size_t message_len(const struct msghdr *m)
{
	size_t len = 0, i;

	if (m->msg_iovlen > 8)
		return LONG_MAX;
	for (i = 0; i < m->msg_iovlen; i++)
		len += m->msg_iov[i].iov_len;
	return len;
}

static long call_sendmsg(struct worker *w)
{
	uint64_t control[16];
	struct mmsghdr m[2];
	struct iovec iov[8];
	union addr a = {};

	message(w, &m[0].msg_hdr, iov, &a, control, sizeof(control));
	m[1] = m[0];
	if (chance(&w->rng, 80))
		return moved(sendmsg(pick(w), &m[0].msg_hdr, message_flags(w)),
			     message_len(&m[0].msg_hdr));
	return moved(sendmmsg(pick(w), m, 2, message_flags(w)), 2);
}

static long call_recvmsg(struct worker *w)
{
	struct timespec none = {};
	uint64_t control[16];
	struct mmsghdr m[2];
	struct iovec iov[8];
	int flags = message_flags(w);
	union addr a = {};

	message(w, &m[0].msg_hdr, iov, &a, control, sizeof(control));
	m[1] = m[0];
	if (chance(&w->rng, 80))
		return moved(recvmsg(pick(w), &m[0].msg_hdr, flags),
			     flags & MSG_TRUNC ? LONG_MAX :
			     message_len(&m[0].msg_hdr));
	return moved(recvmmsg(pick(w), m, 2, flags, &none), 2);
}

static long call_write(struct worker *w)
{
	size_t len = size(w);

	return moved(write(pick(w), place(w, len), len), len);
}

static long call_read(struct worker *w)
{
	size_t len = size(w);

	return moved(read(pick(w), place(w, len), len), len);
}

struct option {
	int level, name;
};

static struct option some_option(struct worker *w)
{
	static const struct option options[] = {
		{ SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_RCVBUF },
		{ SOL_SOCKET, SO_RCVBUFFORCE }, { SOL_SOCKET, SO_SNDBUFFORCE },
		{ SOL_SOCKET, SO_KEEPALIVE }, { SOL_SOCKET, SO_LINGER },
		{ SOL_SOCKET, SO_RCVLOWAT }, { SOL_SOCKET, SO_RCVTIMEO },
		{ SOL_SOCKET, SO_SNDTIMEO }, { SOL_SOCKET, SO_REUSEADDR },
		{ SOL_SOCKET, SO_REUSEPORT }, { SOL_SOCKET, SO_BINDTODEVICE },
		{ SOL_SOCKET, SO_MARK }, { SOL_SOCKET, SO_ERROR },
		{ SOL_SOCKET, SO_MEMINFO }, { SOL_SOCKET, SO_PEERNAME },
		{ SOL_SOCKET, SO_MAX_PACING_RATE },
		{ SOL_SOCKET, SO_ATTACH_FILTER }, { SOL_SOCKET, SO_ZEROCOPY },
		{ SOL_IP, IP_TOS }, { SOL_IP, IP_TTL }, { SOL_IP, IP_MTU },
		{ SOL_IP, IP_FREEBIND }, { SOL_IP, IP_LOCAL_PORT_RANGE },
		{ SOL_IPV6, IPV6_V6ONLY },
		{ SOL_IPV6, IPV6_TCLASS }, { SOL_IPV6, IPV6_UNICAST_HOPS },
		{ SOL_IPV6, IPV6_MTU }, { SOL_TCP, 1 },
	};

	switch (below(&w->rng, 20)) {
	case 0:
		return (struct option){ SOL_SOCKET, below(&w->rng, 90) };
	case 1:
		return (struct option){ odd_number(&w->rng),
					odd_number(&w->rng) };
	case 2 ... 4:
		return (struct option){ SOL_TCP, below(&w->rng, 50) };
	case 5 ... 10:
		return options[below(&w->rng, ARRAY_SIZE(options))];
	default:
		return (struct option){ SOL_SSTP, below(&w->rng, SSTP_MONITOR + 2) };
	}
}

static long call_setsockopt(struct worker *w)
{
	static const char * const names[] = { "none", "", "static" };
	/* Of policies and of controllers */
	static const char * const params[] = {
		"epoch", "k", "beta", "omega", "floor", "ceiling", "trend", "",
		"kbit", "cwnd", "rto", "ack_interval", "ack_timer", "alpha", "gamma", "low_window",
		"rtt",
	};
	struct option o = some_option(w);
	socklen_t len = chance(&w->rng, 70) ? 4U << below(&w->rng, 4) :
			below(&w->rng, 70);
	struct sstp_rate_spec *rate;
	void *p = place(w, 64);
	uint32_t i;

	if (is_good(w, p, 64)) {
		for (i = 0; i < 16; i++)
			((uint32_t *)p)[i] = chance(&w->rng, 50) ?
					     below(&w->rng, 2000) :
					     odd_number(&w->rng);
		rate = p;
		if (chance(&w->rng, 30))
			*rate = (struct sstp_rate_spec){
				.peak = 8000ULL << below(&w->rng, 28),
				.burst_rate = odd_number(&w->rng),
				.burst_len = below(&w->rng, 100),
			};
		if (o.name == SSTP_CONTROLLER || o.name == SSTP_BUFFER_POLICY ||
		    o.name == SO_BINDTODEVICE ||
		    (o.level == SOL_TCP && o.name == TCP_CONGESTION)) {
			strcpy(p, o.name == SSTP_CONTROLLER ||
			       o.name == TCP_CONGESTION ? fuzz_controller(&w->rng) :
			       o.name == SSTP_BUFFER_POLICY ? "static" : "lo");
			/* For unknown names the kernel runs modprobe, which is slow. */
			len = 16;
			if (chance(&w->rng, 3))
				strcpy(p, names[below(&w->rng,
						      ARRAY_SIZE(names))]);
		}
		if (o.level == SOL_SSTP &&
		    (o.name == SSTP_POLICY_PARAM || o.name == SSTP_CONTROLLER_PARAM)) {
			len = chance(&w->rng, 90) ? sizeof(struct sstp_param) : len;
			strcpy(p, params[below(&w->rng, ARRAY_SIZE(params))]);
			((struct sstp_param *)p)->value = chance(&w->rng, 80) ?
				below(&w->rng, 300) : odd_number(&w->rng);
		}
		/* Bound the time of what follows. */
		if ((o.level == SOL_SSTP && o.name == SSTP_USER_TIMEOUT) ||
		    (o.level == SOL_TCP && o.name == TCP_USER_TIMEOUT))
			*(uint32_t *)p %= 2000;
		if (o.level == SOL_TCP &&
		    (o.name == TCP_SYNCNT || o.name == TCP_DEFER_ACCEPT ||
		     o.name == TCP_LINGER2 || o.name == TCP_KEEPIDLE ||
		     o.name == TCP_KEEPINTVL))
			*(uint32_t *)p %= 3;
	}
	if (chance(&w->rng, 3))
		len = odd_number(&w->rng);
	snprintf(w->what, sizeof(w->what), "level %d, option %d, %d bytes",
		 o.level, o.name, (int)len);
	return ret(setsockopt(pick(w), o.level, o.name, p, len));
}

static long call_getsockopt(struct worker *w)
{
	struct option o = some_option(w);
	socklen_t *len = place(w, sizeof(*len)), value = 0;

	if (is_good(w, len, sizeof(*len))) {
		value = chance(&w->rng, 70) ? below(&w->rng, 600) :
			odd_number(&w->rng);
		*len = value;
	}
	snprintf(w->what, sizeof(w->what), "level %d, option %d, %d bytes",
		 o.level, o.name, (int)value);
	return ret(getsockopt(pick(w), o.level, o.name, place(w, 600), len));
}

static long call_getname(struct worker *w)
{
	socklen_t *len = place(w, sizeof(*len));
	void *a = place(w, 128);

	if (is_good(w, len, sizeof(*len)))
		*len = odd_number(&w->rng);
	return ret(chance(&w->rng, 50) ? getsockname(pick(w), a, len) :
		   getpeername(pick(w), a, len));
}

static long call_shutdown(struct worker *w)
{
	return ret(shutdown(pick(w), chance(&w->rng, 90) ? below(&w->rng, 3) :
			    odd_number(&w->rng)));
}

static long call_close(struct worker *w)
{
	return ret(close(pick(w)));
}

static long call_dup(struct worker *w)
{
	int fd = dup(pick(w));

	if (fd < 0)
		return -errno;
	keep(w, fd);
	return 0;
}

static long call_ioctl(struct worker *w)
{
	static const unsigned long commands[] = {
		SIOCINQ, SIOCOUTQ, SIOCOUTQNSD, FIONBIO, FIOASYNC, SIOCATMARK,
		SIOCGSTAMP_OLD, SIOCGSTAMPNS_OLD, FIOGETOWN, SIOCGIFNAME,
		FIONREAD,
	};
	unsigned long cmd = commands[below(&w->rng, ARRAY_SIZE(commands))];

	/* Not those that change devices */
	if (chance(&w->rng, 5))
		cmd = 0x4000 | below(&w->rng, 0x4000);
	snprintf(w->what, sizeof(w->what), "command %#lx", cmd);
	return ret(ioctl(pick(w), cmd, place(w, 40)));
}

static long call_fcntl(struct worker *w)
{
	int fd = pick(w);

	switch (below(&w->rng, 5)) {
	case 0:
		return ret(fcntl(fd, F_GETFL));
	case 1:		/* mostly nonblocking */
		return ret(fcntl(fd, F_SETFL, (chance(&w->rng, 70) ?
			   O_NONBLOCK : 0) | (chance(&w->rng, 20) ?
			   O_ASYNC : 0)));
	case 2:
		return ret(fcntl(fd, F_SETOWN, getpid()));
	case 3:
		return ret(fcntl(fd, F_GETOWN));
	default:
		return ret(fcntl(fd, F_SETFD, below(&w->rng, 2)));
	}
}

static long call_poll(struct worker *w)
{
	struct pollfd p[8];
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i].fd = pick(w);
		p[i].events = rnd(&w->rng);
	}
	return ret(poll(p, below(&w->rng, ARRAY_SIZE(p) + 1),
			below(&w->rng, 5)));
}

static long call_epoll(struct worker *w)
{
	struct epoll_event e = { .events = rnd(&w->rng) };
	struct epoll_event got[16];

	if (chance(&w->rng, 50))
		e.events &= EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
	if (chance(&w->rng, 30))
		return ret(epoll_wait(w->epoll, got, 16, below(&w->rng, 5)));
	return ret(epoll_ctl(w->epoll, 1 + below(&w->rng, 3), pick(w), &e));
}

static long call_sendfile(struct worker *w)
{
	off_t at = below(&w->rng, BUFFER);
	size_t len = size(w);

	return moved(sendfile(pick(w), w->file, &at, len), len);
}

static long call_splice(struct worker *w)
{
	int flags = (chance(&w->rng, 50) ? SPLICE_F_NONBLOCK : 0) |
		    (chance(&w->rng, 50) ? SPLICE_F_MORE : 0);

	if (chance(&w->rng, 50))
		return ret(splice(pick(w), NULL, w->pipe[1], NULL, size(w),
				  flags | SPLICE_F_NONBLOCK));
	if (chance(&w->rng, 50))
		splice(w->file, &(off_t){ 0 }, w->pipe[1], NULL, size(w),
		       SPLICE_F_NONBLOCK);
	return ret(splice(w->pipe[0], NULL, pick(w), NULL, size(w), flags |
			  SPLICE_F_NONBLOCK));
}

static long call_mmap(struct worker *w)
{
	void *p = mmap(NULL, 4096 << below(&w->rng, 4), PROT_READ,
		       chance(&w->rng, 50) ? MAP_SHARED : MAP_PRIVATE, pick(w),
		       0);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, 4096);
	return 0;
}

static long call_kill(struct worker *w)
{
	return -pthread_kill(workers[below(&w->rng, THREADS)].thread, SIGUSR1);
}

static int home[2];		/* namespaces that stay */

/* Sockets stay in their namespace, which may end with the last of them. */
static long call_namespace(struct worker *w)
{
	if (chance(&w->rng, 90))
		return ret(setns(home[chance(&w->rng, 20)], CLONE_NEWNET));
	fuzz_namespace();
	return 0;
}

/* An administrator ends a connection or a listener, which may be in another namespace. */
static long call_destroy(struct worker *w)
{
	uint64_t cookie = odd_number(&w->rng);

	if (chance(&w->rng, 90) &&
	    getsockopt(pick(w), SOL_SOCKET, SO_COOKIE, &cookie,
		       &(socklen_t){ sizeof(cookie) }))
		return -errno;
	return nl_destroy(&w->nl[chance(&w->rng, 20)], cookie);
}

/* --- what they may return ------------------------------------------------------ */

/* Errors of a connection that ended, or could not be made */
#define CAUSES	ECONNREFUSED, ECONNRESET, ECONNABORTED, ETIMEDOUT, EPIPE, \
		EPROTOTYPE, EHOSTUNREACH, ENETUNREACH

/* Each socket is used some times before another takes its place. */
static const struct call {
	const char *name;
	long (*run)(struct worker *w);
	unsigned int weight;
	int may[ERRORS];
} calls[] = {
	{ "socket", call_socket, 20,
	  { EINVAL, ESOCKTNOSUPPORT, EPROTONOSUPPORT } },
	{ "pair", call_pair, 20, {} },
	{ "bind", call_bind, 40,
	  { EBADF, EFAULT, EINVAL, EAFNOSUPPORT, EADDRINUSE, EADDRNOTAVAIL,
	    ENODEV } },
	{ "listen", call_listen, 60, { EBADF, EINVAL, EADDRINUSE } },
	{ "connect", call_connect, 120,
	  { EBADF, EFAULT, EINVAL, EAFNOSUPPORT, EADDRINUSE, EADDRNOTAVAIL,
	    EINPROGRESS, EALREADY, EISCONN, EINTR, ENODEV,
	    CAUSES } },
	{ "accept", call_accept, 100,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, ECONNABORTED } },
	{ "send", call_send, 150,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, EMSGSIZE, EOPNOTSUPP,
	    CAUSES } },
	{ "sendmsg", call_sendmsg, 80,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, EMSGSIZE, EOPNOTSUPP,
	    ENOBUFS, CAUSES } },
	{ "write", call_write, 20,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, EMSGSIZE, CAUSES } },
	{ "recv", call_recv, 150,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, ENOTCONN, EOPNOTSUPP,
	    CAUSES } },
	{ "recvmsg", call_recvmsg, 80,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, ENOTCONN, EOPNOTSUPP,
	    EMSGSIZE, CAUSES } },
	{ "read", call_read, 20,
	  { EBADF, EFAULT, EINVAL, EAGAIN, EINTR, ENOTCONN, CAUSES } },
	{ "setsockopt", call_setsockopt, 150,
	  { EBADF, EFAULT, EINVAL, ENOPROTOOPT, EISCONN, ENOENT, ENODEV, EDOM,
	    EOPNOTSUPP, ENOMEM, EPERM, ENOTSUPP } },
	{ "getsockopt", call_getsockopt, 60,
	  { EBADF, EFAULT, EINVAL, ENOPROTOOPT, EOPNOTSUPP, ENOTCONN, ENODATA,
	    ESRCH, ERANGE, ENODEV } },
	{ "getname", call_getname, 40, { EBADF, EFAULT, EINVAL, ENOTCONN } },
	{ "shutdown", call_shutdown, 2, { EBADF, EINVAL, ENOTCONN } },
	{ "close", call_close, 6, { EBADF, EINTR } },
	{ "dup", call_dup, 4, { EBADF } },
	{ "ioctl", call_ioctl, 40,
	  { EBADF, EFAULT, EINVAL, ENOTTY, ENOENT, ENODEV } },
	{ "fcntl", call_fcntl, 30, { EBADF } },
	{ "poll", call_poll, 60, { EINTR } },
	{ "epoll", call_epoll, 60, { EBADF, EEXIST, ENOENT, EINVAL, EINTR } },
	{ "sendfile", call_sendfile, 20,
	  { EBADF, EINVAL, EAGAIN, EINTR, EMSGSIZE, CAUSES } },
	{ "splice", call_splice, 40,
	  { EBADF, EINVAL, EAGAIN, EINTR, EMSGSIZE, ENOTCONN, CAUSES } },
	{ "mmap", call_mmap, 5, { EBADF, ENODEV, EACCES } },
	{ "kill", call_kill, 20, {} },
	{ "namespace", call_namespace, 2, {} },
	{ "destroy", call_destroy, 6, { EBADF, ENOENT, EINTR, EINVAL } },
};

static _Atomic unsigned long good[ARRAY_SIZE(calls)];
static _Atomic unsigned long seen[ARRAY_SIZE(calls)][ERRORS];

static void judge(struct worker *w, const struct call *c, long rc)
{
	int i;

	if (rc >= 0) {
		good[c - calls]++;
		return;
	}
	for (i = 0; i < ERRORS && c->may[i]; i++)
		if (c->may[i] == -rc) {
			seen[c - calls][i]++;
			return;
		}
	if (unexpected++ < 20)
		ktap_diag("%s: %s (%ld): %s", c->name,
			  strerrorname_np(-rc) ?: "?", -rc, w->what);
}

static void *work(void *arg)
{
	struct sigevent tick = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1,
		._sigev_un._tid = gettid(),
	};
	const struct itimerspec often = {
		{ .tv_nsec = TICK_NS }, { .tv_nsec = TICK_NS },
	};
	struct worker *w = arg;
	unsigned int total = 0, n;
	timer_t timer;
	size_t i;

	if (timer_create(CLOCK_MONOTONIC, &tick, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		die("timer:");
	pthread_barrier_wait(&all_there);	/* for call_kill() */
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		total += calls[i].weight;
	while (now_ns() < fuzz.end) {
		n = below(&w->rng, total);
		for (i = 0; n >= calls[i].weight; i++)
			n -= calls[i].weight;
		w->what[0] = 0;
		judge(w, &calls[i], calls[i].run(w));
	}
	timer_delete(timer);
	return NULL;
}

static void prepare(struct worker *w, unsigned int n)
{
	char *p = mmap(NULL, BUFFER + 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	if (p == MAP_FAILED || munmap(p + BUFFER, 4096))
		die("mmap:");
	w->buf = (void *)p;
	w->rng.state = fuzz.seed + n;
	w->epoll = epoll_create1(0);
	w->file = memfd_create("content", 0);
	if (w->epoll < 0 || w->file < 0 || ftruncate(w->file, 2 * BUFFER) ||
	    pipe2(w->pipe, O_NONBLOCK))
		die("prepare:");
	for (i = 0; i < 2; i++) {
		if (setns(home[i], CLONE_NEWNET))
			die("setns:");
		nl_open(&w->nl[i]);
	}
}

static void wake(int signal)
{
	(void)signal;
}

/* Count calls by result; returns their number. */
static unsigned long report(void)
{
	unsigned long all = 0;
	char line[512];
	size_t k;
	int i, n;

	for (k = 0; k < ARRAY_SIZE(calls); k++) {
		n = snprintf(line, sizeof(line), "%s: good %lu", calls[k].name,
			     good[k]);
		all += good[k];
		for (i = 0; i < ERRORS && calls[k].may[i]; i++) {
			n += snprintf(line + n, sizeof(line) - n, ", %s %lu",
				      strerrorname_np(calls[k].may[i]) ?:
				      "ENOTSUPP", seen[k][i]);
			all += seen[k][i];
		}
		ktap_diag("%s", line);
	}
	return all;
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = wake };
	const struct linger no_linger = {};
	unsigned int i;

	fuzz_start(&fuzz, argc, argv, 60, 6);
	sigaction(SIGUSR1, &act, NULL);		/* ends what blocks: no SA_RESTART */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	for (i = 0; i < 2; i++) {
		fuzz_namespace();
		home[i] = open("/proc/self/ns/net", O_RDONLY);
		if (home[i] < 0)
			die("namespace:");
	}
	fuzz_load();
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		prepare(&workers[i], i);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("thread");
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	ktap_diag("%lu calls", report());
	ktap_result(!unexpected, "calls return what they may");
	ktap_result(sstp_counter("Established") > 0, "connections were made");
	fuzz_works();
	/* No tick interrupts this thread: close() must not linger. */
	for (i = 0; i < POOL; i++)
		setsockopt(FIRST + i, SOL_SOCKET, SO_LINGER, &no_linger, sizeof(no_linger));
	for (i = 0; i < POOL; i++)
		close(FIRST + i);
	fuzz_unload();
	fuzz_end();
	return ktap_end();
}
