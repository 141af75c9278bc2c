// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: debug 6.12 kcsan
 * cpus: 4
 * mode: parallel
 *
 * All at once: connections are made, used by several threads, and end in every
 * way, programs are killed, links flap, and namespaces are removed with all that
 * is in them. What arrives is right, and in the end nothing is left.
 *
 *	stress_test [-T SECONDS] [-S SEED]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define WORLDS		2
#define CLIENTS		3		/* of a world */
#define PORT		5000		/* stream; the next is for segments */
#define CHUNK		65536

/* Counts of all processes, in shared memory */
static struct {
	atomic_ulong worlds, links, flaps, kills, connects, failures, ends;
	atomic_ulong kbytes, wrong, unexpected;
} *seen;

static struct fuzz fuzz;

/* Seed of the next thread of this process */
static atomic_ulong next_seed;

static struct rng new_rng(void)
{
	return (struct rng){ mix64(next_seed++) };
}

/* A connection may end so at any time; others have no excuse. */
static void note_error(const char *call, int err)
{
	static const int may[] = {
		EPIPE, ECONNRESET, ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH,
		ENETUNREACH, EAGAIN, EINPROGRESS, ENOTCONN,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(may); i++)
		if (err == may[i])
			return;
	if (seen->unexpected++ < 20)
		ktap_diag("%s: %s", call, strerrorname_np(err));
}

/* --- one direction of a connection: its seed, then content ---------------------- */

struct flow {
	int fd;
	uint64_t seed, pos;
	struct rng rng;
};

static bool flow_send(struct flow *f, int flags)
{
	char buf[CHUNK];
	size_t len = 1 + below(&f->rng, chance(&f->rng, 50) ? 200 : CHUNK - 1);
	ssize_t n;

	content_fill(buf, len, f->seed, f->pos);
	n = send(f->fd, buf, len, flags | MSG_NOSIGNAL);
	if (n < 0) {
		note_error("send", errno);
		return errno == EAGAIN;
	}
	f->pos += n;
	return true;
}

static bool flow_open(struct flow *f)
{
	f->seed = rnd(&f->rng);
	f->pos = 0;
	return send(f->fd, &f->seed, sizeof(f->seed), MSG_NOSIGNAL) ==
	       sizeof(f->seed);
}

/* False at the end */
static bool flow_recv(struct flow *f)
{
	char buf[CHUNK];
	ssize_t n;

	if (!f->seed) {
		n = recv(f->fd, &f->seed, sizeof(f->seed), MSG_WAITALL);
		return n == sizeof(f->seed);
	}
	n = recv(f->fd, buf, sizeof(buf), 0);
	if (n < 0)
		note_error("recv", errno);
	if (n <= 0)
		return false;
	if (content_check(buf, n, f->seed, f->pos) != (size_t)n) {
		seen->wrong++;
		ktap_diag("wrong content, position %llu of flow %#llx",
			  (unsigned long long)f->pos,
			  (unsigned long long)f->seed);
		return false;
	}
	f->pos += n;
	seen->kbytes += n / 1024;
	return true;
}

static void end(struct rng *r, int fd)
{
	const struct linger linger = { 1, below(r, 2) };

	if (chance(r, 20))
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
	seen->ends++;
}

static void patience(int fd)
{
	const struct timeval tv = { .tv_sec = 2 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
}

/* --- who listens --------------------------------------------------------------- */

static void *serve(void *arg)
{
	struct flow in = { .fd = (long)arg }, out;

	in.rng = new_rng();
	out = in;
	out.rng = new_rng();
	patience(in.fd);
	if (flow_open(&out))
		while (flow_recv(&in) && !chance(&in.rng, 1)) {
			if (chance(&in.rng, 30) &&
			    !flow_send(&out, MSG_DONTWAIT))
				break;
			if (chance(&in.rng, 1))
				shutdown(in.fd, below(&in.rng, 3));
		}
	end(&in.rng, in.fd);
	return NULL;
}

static void *accept_all(void *arg)
{
	pthread_attr_t detached;
	pthread_t thread;
	int fd;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	while ((fd = accept((long)arg, NULL, NULL)) >= 0)
		if (pthread_create(&thread, &detached, serve,
				   (void *)(long)fd))
			close(fd);
	note_error("accept", errno);
	return NULL;
}

static void server(void)
{
	pthread_t thread;
	union addr a;
	int i, fd;

	for (i = 0; i < 2; i++) {
		fd = proto_socket(PROTO_SSTP, AF_INET6,
				  i ? SOCK_SEQPACKET : SOCK_STREAM, 0);
		addr_any(&a, AF_INET6, PORT + i);
		/* Connections of the one before may still have the port. */
		if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR,
					 &(int){ 1 }, sizeof(int)) ||
		    bind(fd, &a.sa, addr_len(&a)) || listen(fd, 16))
			die("listener:");
		/* Two compete for what comes. */
		pthread_create(&thread, NULL, accept_all, (void *)(long)fd);
		pthread_create(&thread, NULL, accept_all, (void *)(long)fd);
	}
	for (;;)
		pause();
}

/* --- who connects ---------------------------------------------------------------- */

struct client {
	struct flow out, in;
	struct rng rng;			/* of the meddler */
	int fd;
	atomic_bool over;
};

static void some_option(struct rng *r, int fd)
{
	static const struct {
		int level, name;
		uint32_t least, most;
	} o[] = {
		{ SOL_SOCKET, SO_SNDBUF, 1000, 4000000 },
		{ SOL_SOCKET, SO_RCVBUF, 1000, 4000000 },
		{ SOL_SOCKET, SO_KEEPALIVE, 0, 1 },
		{ SOL_SOCKET, SO_RCVLOWAT, 1, 2000 },
		{ SOL_SOCKET, SO_MAX_PACING_RATE, 1000000, 100000000 },
		{ SOL_SSTP, SSTP_SEGMENT_SIZE, 1, 200000 },
		{ SOL_SSTP, SSTP_SEGMENT_LIMIT, CHUNK, 1000000 },
		{ SOL_SSTP, SSTP_ACK_STRATEGY, 0, 1 },
		{ SOL_SSTP, SSTP_WINDOW_FACTOR, 100, 1000 },
		{ SOL_SSTP, SSTP_USER_TIMEOUT, 200, 3000 },
		{ SOL_SSTP, SSTP_NODELAY, 0, 1 },
		{ IPPROTO_TCP, TCP_CORK, 0, 1 },
		{ IPPROTO_TCP, TCP_QUICKACK, 0, 2 },
		{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0, 100000 },
		{ IPPROTO_TCP, TCP_WINDOW_CLAMP, 10000, 4000000 },
		{ IPPROTO_TCP, TCP_DEFER_ACCEPT, 0, 1 },
	};
	size_t i = below(r, ARRAY_SIZE(o));
	uint32_t value = o[i].least + below(r, o[i].most - o[i].least + 1);
	struct sstp_rate_spec rate = {
		.peak = 1000000ULL << below(r, 10),
		.burst_len = below(r, 50),
	};

	if (chance(r, 15))
		setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate));
	else
		setsockopt(fd, o[i].level, o[i].name, &value, sizeof(value));
}

static void *meddle(void *arg)
{
	struct client *c = arg;
	struct pollfd p = { .fd = c->fd, .events = POLLIN | POLLOUT };
	struct sstp_info info;
	socklen_t len = sizeof(info);
	int n;

	while (!c->over) {
		switch (below(&c->rng, 6)) {
		case 0:
			getsockopt(c->fd, SOL_SSTP, SSTP_INFO, &info, &len);
			break;
		case 1:
			poll(&p, 1, 1);
			break;
		case 2:
			ioctl(c->fd, below(&c->rng, 2) ? SIOCINQ : SIOCOUTQ,
			      &n);
			break;
		case 3:
			if (chance(&c->rng, 3))
				shutdown(c->fd, below(&c->rng, 3));
			break;
		default:
			some_option(&c->rng, c->fd);
		}
		sleep_ns(below(&c->rng, 5000000));
	}
	return NULL;
}

static void *read_all(void *arg)
{
	struct client *c = arg;

	while (flow_recv(&c->in))
		;
	return NULL;
}

static void use(struct client *c)
{
	pthread_t reader, meddler;

	c->out.fd = c->fd;
	c->in.fd = c->fd;
	c->in.seed = 0;
	c->in.pos = 0;
	c->over = false;
	if (!flow_open(&c->out))
		return;
	pthread_create(&reader, NULL, read_all, c);
	pthread_create(&meddler, NULL, meddle, c);
	while (flow_send(&c->out, chance(&c->rng, 20) ? MSG_MORE : 0) &&
	       !chance(&c->out.rng, 2))
		;
	/* The end of the stream, of both, or of all at once */
	if (chance(&c->out.rng, 80))
		shutdown(c->fd, SHUT_WR);
	else if (chance(&c->out.rng, 50))
		shutdown(c->fd, SHUT_RDWR);
	else
		connect(c->fd, &(struct sockaddr){ AF_UNSPEC, "" },
			sizeof(struct sockaddr));
	pthread_join(reader, NULL);
	c->over = true;
	pthread_join(meddler, NULL);
}

static void client(void)
{
	struct client c;
	union addr a;
	int type;

	memset(&c, 0, sizeof(c));
	c.rng = new_rng();
	c.out.rng = new_rng();
	for (;;) {
		type = below(&c.rng, 2);
		addr_parse(&a, below(&c.rng, 2) ? "10.0.0.2" : "fd00::2",
			   PORT + type);
		c.fd = proto_socket(PROTO_SSTP, a.sa.sa_family,
				    type ? SOCK_SEQPACKET : SOCK_STREAM, 0);
		if (c.fd < 0)
			die("socket:");
		patience(c.fd);
		while (chance(&c.rng, 50))
			some_option(&c.rng, c.fd);
		if (connect(c.fd, &a.sa, addr_len(&a))) {
			note_error("connect", errno);
			seen->failures++;
			sleep_ns(1000000);
		} else {
			seen->connects++;
			use(&c);
		}
		end(&c.rng, c.fd);
	}
}

/* --- a world: two namespaces and a link ------------------------------------------ */

struct world {
	struct rng rng;
	int ns[2];			/* of who connects, of who listens */
	pid_t pid[1 + CLIENTS];		/* the server comes first */
};

static void enter(struct world *w, int side)
{
	if (setns(w->ns[side], CLONE_NEWNET))
		die("setns:");
}

static void world_fork(struct world *w, int i)
{
	fflush(stdout);
	enter(w, !i);
	next_seed = rnd(&w->rng);
	w->pid[i] = fork();
	if (w->pid[i] < 0)
		die("fork:");
	if (w->pid[i])
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (i)
		client();
	server();
}

/* The process does not end by itself. */
static void killed(struct world *w, int i)
{
	int status;

	if (waitpid(w->pid[i], &status, 0) != w->pid[i])
		die("waitpid:");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return;
	if (seen->unexpected++ < 20)
		ktap_diag("a %s ended, status %#x", i ? "client" : "server",
			  status);
}

static void kill_one(struct world *w, int i)
{
	kill(w->pid[i], SIGKILL);
	killed(w, i);
}

static void link_set(struct world *w, int side, bool up)
{
	struct ifreq r = { .ifr_name = "v", .ifr_flags = up ? IFF_UP : 0 };
	int fd;

	enter(w, side);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &r))
		die("link:");
	close(fd);
}

static void flap(struct world *w)
{
	int side = below(&w->rng, 2);

	link_set(w, side, false);
	sleep_ns(below(&w->rng, 100000000));
	link_set(w, side, true);
	seen->flaps++;
}

/* @first: remove the link in any case, so that one of the worlds does. */
static void world(uint64_t seed, bool first)
{
	struct world w = { .rng.state = seed };
	uint64_t stop;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fuzz_pair(w.ns, below(&w.rng, 3000), below(&w.rng, 3));
	for (i = 0; i <= CLIENTS; i++)
		world_fork(&w, i);
	stop = now_ns() + 1000000000 + below(&w.rng, 4000) * 1000000ULL;
	while (now_ns() < stop && now_ns() < fuzz.end) {
		sleep_ns(below(&w.rng, 300000000));
		if (chance(&w.rng, 50)) {
			flap(&w);
			continue;
		}
		i = below(&w.rng, 1 + CLIENTS);
		kill_one(&w, i);
		world_fork(&w, i);
		seen->kills++;
	}
	/* The link goes first, or everything at once. */
	if (chance(&w.rng, 50) || first) {
		enter(&w, below(&w.rng, 2));
		if (system("ip link del v"))
			die("no link");
		sleep_ns(below(&w.rng, 200000000));
		seen->links++;
	}
	for (i = 0; i <= CLIENTS; i++)
		kill(w.pid[i], SIGKILL);
	for (i = 0; i <= CLIENTS; i++)
		killed(&w, i);
	seen->worlds++;
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long n;
	bool failed = false;
	pid_t pid;
	int status;

	fuzz_start(&fuzz, argc, argv, 120, 7);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		die("mmap:");
	fuzz_namespace();
	/* WORLDS at first; where one ends another begins, until the time is up. */
	for (n = 0; n < WORLDS || (pid = wait(&status)) > 0; n++) {
		failed |= n >= WORLDS && status;
		if (now_ns() >= fuzz.end)
			continue;
		fflush(stdout);
		pid = fork();
		if (pid < 0)
			die("fork:");
		if (!pid)
			world(fuzz.seed + n, !n);
	}
	ktap_diag("%lu worlds, %lu links removed, %lu flaps, %lu kills",
		  seen->worlds, seen->links, seen->flaps, seen->kills);
	ktap_diag("%lu connections, %lu not made, %lu closed, %lu MB",
		  seen->connects, seen->failures, seen->ends,
		  seen->kbytes / 1024);
	ktap_result(!failed && seen->worlds && seen->links && seen->flaps &&
		    seen->kills && seen->connects >= 2 * seen->worlds &&
		    seen->ends && seen->kbytes >= seen->connects,
		    "all of it happened");
	ktap_result(!seen->wrong, "what arrived was right");
	ktap_result(!seen->unexpected,
		    "calls failed only as they may, and programs were killed");
	fuzz_works();
	fuzz_end();
	return ktap_end();
}
