// SPDX-License-Identifier: GPL-2.0
/* Shutdown, close, waiting, time-outs, signals, poll and epoll. */
/* timeout: 300 */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#include "compare.h"

static void row_unconnected(void)
{
	union addr a;
	char c;
	int fd = sock();

	catch(SIGPIPE, 0);
	note("send", send(fd, "x", 1, 0));
	notef("SIGPIPE", "%d", signals);
	note("MSG_NOSIGNAL", send(fd, "x", 1, MSG_NOSIGNAL));
	notef("SIGPIPE", "%d", signals);
	note("write", write(fd, "x", 1));
	notef("SIGPIPE", "%d", signals);
	addr_loopback(&a, family, 9);
	note("sendto", sendto(fd, "x", 1, MSG_NOSIGNAL, &a.sa, addr_len(&a)));
	note("recv", recv(fd, &c, 1, 0));
	note("read", read(fd, &c, 1));
	note("recv MSG_DONTWAIT", recv(fd, &c, 1, MSG_DONTWAIT));
	note("recv MSG_PEEK", recv(fd, &c, 1, MSG_PEEK));
	note_state("state", fd);
	note("shutdown", shutdown(fd, SHUT_RDWR));
	note("shutdown RD", shutdown(fd, SHUT_RD));
}

static void row_shutdown(void)
{
	int peer, fd = pair(&peer);

	note("how 3", shutdown(fd, 3));
	note("how -1", shutdown(fd, -1));
	say(fd, "last");
	note("WR", shutdown(fd, SHUT_WR));
	note("WR again", shutdown(fd, SHUT_WR));
	note_state("here", fd);
	note("send", send(fd, "x", 1, MSG_NOSIGNAL));
	poll_text(peer, POLLRDHUP, WAIT_MS);
	note_state("there", peer);
	note_recv("recv", peer, 99, 0);
	await("there", peer, POLLIN);
	note_recv("recv", peer, 99, 0);
	note_recv("recv again", peer, 99, 0);
	say(peer, "answer");
	note_recv("the other way", fd, 99, 0);
	note("there WR", shutdown(peer, SHUT_WR));
	poll_text(fd, POLLIN, WAIT_MS);
	note_recv("recv", fd, 99, 0);
	await("here", fd, 0);
	await("there", peer, 0);
	note("send", send(peer, "x", 1, MSG_NOSIGNAL));
	note("SO_ERROR", get_int(fd, SOL_SOCKET, SO_ERROR));
}

static void row_shutdown_read(void)
{
	int peer, fd = pair(&peer);

	say(peer, "early");
	poll_text(fd, POLLIN, WAIT_MS);
	note("RD", shutdown(fd, SHUT_RD));
	note_state("state", fd);
	note_recv("what was there", fd, 99, 0);
	note_recv("recv", fd, 99, 0);
	note("peer sends", send(peer, "late", 4, MSG_NOSIGNAL));
	note("send", send(fd, "x", 1, MSG_NOSIGNAL));
	note_recv("peer receives", peer, 99, 0);
	note_state("peer", peer);
}

static void row_shutdown_wakes(void)
{
	int peer, fd = pair(&peer);
	pid_t pid = fork();

	if (!pid) {
		sleep_ns(QUIET_MS * 1000000ULL);
		shutdown(fd, SHUT_RDWR);
		_exit(0);
	}
	note_recv("recv waits for data", fd, 1, 0);
	note_recv("peer", peer, 1, 0);
}

static void row_close(void)
{
	int peer, fd = pair(&peer);

	say(fd, "bye");
	note("close", close(fd));
	poll_text(peer, POLLRDHUP, WAIT_MS);
	note_state("peer", peer);
	note_recv("recv", peer, 99, 0);
	note_recv("end", peer, 99, 0);
	note_recv("end again", peer, 99, 0);
	note("first send", send(peer, "x", 1, MSG_NOSIGNAL));
	await("peer", peer, 0);
	note_recv("recv", peer, 99, 0);
	note("second send", send(peer, "x", 1, MSG_NOSIGNAL));
	note("third send", send(peer, "x", 1, MSG_NOSIGNAL));
	note("SO_ERROR", get_int(peer, SOL_SOCKET, SO_ERROR));
}

static void row_close_unread(void)
{
	int peer, fd = pair(&peer);

	say(peer, "unread");
	poll_text(fd, POLLIN, WAIT_MS);
	note("close", close(fd));
	await("peer", peer, 0);
	note_recv("recv", peer, 99, 0);
	note_recv("recv again", peer, 99, 0);
	note("send", send(peer, "x", 1, MSG_NOSIGNAL));
	note_state("peer", peer);

	fd = pair(&peer);
	say(peer, "unread");
	poll_text(fd, POLLIN, WAIT_MS);
	close(fd);
	poll_text(peer, 0, WAIT_MS);
	note("SO_ERROR", get_int(peer, SOL_SOCKET, SO_ERROR));
	note("SO_ERROR again", get_int(peer, SOL_SOCKET, SO_ERROR));
	note_recv("recv", peer, 99, 0);

	fd = pair(&peer);
	say(peer, "unread");
	poll_text(fd, POLLIN, WAIT_MS);
	close(fd);
	poll_text(peer, 0, WAIT_MS);
	note("send", send(peer, "x", 1, MSG_NOSIGNAL));
	note("send again", send(peer, "x", 1, MSG_NOSIGNAL));
	note("shutdown", shutdown(peer, SHUT_WR));
	note("getpeername", getpeername(peer, &(struct sockaddr){},
					&(socklen_t){ sizeof(struct sockaddr) }));
}

/* A reset overtakes data that the program has not read yet. */
static void row_reset_after_data(void)
{
	struct linger l = { .l_onoff = 1 };
	int peer, fd = pair(&peer);

	say(fd, "data");
	poll_text(peer, POLLIN, WAIT_MS);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
	await("peer", peer, 0);
	note_recv("recv", peer, 99, 0);
	note_recv("recv again", peer, 99, 0);
}

/* Time as of the last tick of the kernel, whose timers count ticks */
static uint64_t ticks_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void row_linger(void)
{
	struct linger l = { .l_onoff = 1, .l_linger = 7 };
	int peer, fd = pair(&peer);
	socklen_t len = sizeof(l);
	uint64_t start, sent;

	note("set", setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	memset(&l, 0, sizeof(l));
	note("get", getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	notef("value", "%d %d", l.l_onoff, l.l_linger);
	note("short", setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, 4));
	l.l_linger = 0;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	note("0: close", close(fd));
	await("0: peer", peer, 0);
	note_recv("0: recv", peer, 1, 0);

	fd = pair(&peer);
	l.l_linger = 4 * WAIT_MS / 1000;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	say(fd, "bye");
	start = ticks_ns();
	note("read: close", close(fd));
	notef("read: soon", "%d", ticks_ns() - start < WAIT_MS * 1000000ULL);
	note_recv("read: recv", peer, 99, 0);

	fd = pair(&peer);
	l.l_linger = 1;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	sent = fill(fd);
	start = ticks_ns();
	note("unread: close", close(fd));
	notef("unread: after 1 s", "%d", ticks_ns() - start > 900000000);
	notef("unread: nothing lost", "%d", drain(peer, UINT64_MAX) == sent);
}

/* How often did this process give up its CPU to wait for something? */
static long times_slept(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u))
		bail("getrusage");
	return u.ru_nvcsw;
}

static void row_timeouts(void)
{
	struct timeval tv = { .tv_sec = 3, .tv_usec = 250000 }, got = {};
	socklen_t len = sizeof(got);
	int peer, fd = pair(&peer);
	static char big[64 << 20];
	uint64_t start;
	long slept;
	ssize_t n;

	note("set", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	note("get", getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &got, &len));
	notef("value", "%ld.%06ld", (long)got.tv_sec, (long)got.tv_usec);
	tv.tv_usec = 1000000;
	note("1000000 us", setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv,
				      sizeof(tv)));
	note("short", setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, 4));
	timeout_opt(fd, SO_RCVTIMEO, QUIET_MS);
	start = ticks_ns();
	note_recv("recv", fd, 1, 0);
	notef("waited", "%d", ticks_ns() - start > (QUIET_MS - 20) * 1000000ULL);
	slept = times_slept();
	note_recv("MSG_DONTWAIT", fd, 1, MSG_DONTWAIT);
	notef("slept", "%ld", times_slept() - slept);
	timeout_opt(fd, SO_SNDTIMEO, QUIET_MS);
	if (type == SOCK_STREAM) {
		n = send(fd, big, sizeof(big), MSG_NOSIGNAL);
		notef("part sent", "%d %s", n > 0 && n < (ssize_t)sizeof(big),
		      n < 0 ? result(n) : n == sizeof(big) ? "all" : "");
	}
	fill(fd);
	start = ticks_ns();
	note("send", send(fd, big, 32768, MSG_NOSIGNAL));
	notef("waited", "%d", ticks_ns() - start > (QUIET_MS - 20) * 1000000ULL);
	note("SO_ERROR", get_int(fd, SOL_SOCKET, SO_ERROR));
}

static void row_signals(void)
{
	int peer, fd = pair(&peer), l;
	union addr a;

	catch(SIGALRM, 0);
	alarm_sleeper();
	note_recv("recv", fd, 1, 0);
	notef("signals", "%d", signals);
	fill(fd);
	alarm_sleeper();
	note("send", send(fd, (char[32768]){}, 32768, MSG_NOSIGNAL));
	l = listener(&a);
	alarm_sleeper();
	note("accept", accept(l, NULL, NULL));

	catch(SIGALRM, SA_RESTART);
	fd = pair(&peer);
	signal_fd = peer;
	alarm_sleeper();
	note_recv("SA_RESTART recv", fd, 1, 0);
	signal_fd = -1;
	timeout_opt(fd, SO_RCVTIMEO, WAIT_MS);
	alarm_sleeper();
	note_recv("SA_RESTART recv with timeout", fd, 1, 0);
	notef("signals", "%d", signals);
}

static void row_sigpipe(void)
{
	int peer, fd = pair(&peer);

	catch(SIGPIPE, 0);
	shutdown(fd, SHUT_WR);
	note("MSG_NOSIGNAL", send(fd, "x", 1, MSG_NOSIGNAL));
	notef("signals", "%d", signals);
	note("send", send(fd, "x", 1, 0));
	notef("signals", "%d", signals);
	note("write", write(fd, "x", 1));
	notef("signals", "%d", signals);
}

static bool signalled(void *arg)
{
	(void)arg;
	return signals > 0;
}

static void row_sigio(void)
{
	int peer, fd = pair(&peer);

	catch(SIGIO, 0);
	note("F_SETOWN", fcntl(fd, F_SETOWN, getpid()));
	note("O_ASYNC", fcntl(fd, F_SETFL, O_ASYNC));
	say(peer, "x");
	notef("SIGIO", "%d", busywait(WAIT_MS, signalled, NULL));
}

static void row_poll(void)
{
	union addr a;
	int l = listener(&a), fd = sock(), peer;

	note_state("unconnected", fd);
	note_state("listening", l);
	join(fd, &a);
	note_state("connected", fd);
	await("listening with a client", l, POLLIN);
	peer = accept(l, NULL, NULL);
	note_state("accepted", peer);
	say(peer, "x");
	await("with data", fd, POLLIN);
	note_recv("recv", fd, 9, 0);
	note_state("without", fd);
	fill(fd);
	note_state("full", fd);
	close(l);
}

static void row_full(void)
{
	int peer, fd = pair(&peer);
	uint64_t sent = fill(fd);

	notef("fits some", "%d", sent > 0);
	note_state("full", fd);
	note("send", send(fd, "x", 1, MSG_DONTWAIT));
	notef("there", "%d", drain(peer, sent) == sent);
	notef("again", "%s", poll_text(fd, POLLOUT, WAIT_MS));
	sent = fill(fd);
	note("shutdown", shutdown(fd, SHUT_WR));
	notef("all, then the end", "%d", drain(peer, UINT64_MAX) == sent);
	sent = fill(peer);
	note("close with data queued", close(peer));
	notef("all, then the end", "%d", drain(fd, UINT64_MAX) == sent);
}

/* A writer that sleeps for room wakes when there is. */
static void row_send_wakes(void)
{
	int peer, fd = pair(&peer), status;
	static char buf[65536];
	pid_t pid = fork();
	uint64_t n;

	if (!pid) {
		int i;

		for (i = 0; i < 256; i++)
			if (send(fd, buf, sizeof(buf), 0) != sizeof(buf))
				_exit(1);
		_exit(0);
	}
	close(fd);
	sleep_ns(QUIET_MS * 1000000ULL);
	n = drain(peer, UINT64_MAX);
	waitpid(pid, &status, 0);
	notef("writer", "%#x", status);
	notef("bytes", "%llu", (unsigned long long)n);
}

static void note_epoll(const char *label, int ep, int ms)
{
	struct epoll_event e = {};
	int n = epoll_wait(ep, &e, 1, ms);

	notef(label, "%d %#x", n, n > 0 ? e.events : 0);
}

static void row_epoll(void)
{
	int peer, fd = pair(&peer), ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP };
	uint64_t sent;

	note("add", epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e));
	note_epoll("nothing", ep, 0);
	say(peer, "abc");
	note_epoll("level", ep, WAIT_MS);
	note_epoll("level again", ep, 0);
	e.events |= EPOLLET;
	note("edge", epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e));
	note_epoll("edge", ep, WAIT_MS);
	note_epoll("edge again", ep, 0);
	say(peer, "def");
	note_epoll("more data", ep, WAIT_MS);
	note_epoll("no edge", ep, 0);
	notef("read", "%d", (int)drain(fd, 6));
	e.events = EPOLLIN | EPOLLONESHOT;
	epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
	say(peer, "ghi");
	note_epoll("oneshot", ep, WAIT_MS);
	say(peer, "jkl");
	note_epoll("no more", ep, QUIET_MS);

	e.events = EPOLLOUT | EPOLLET;
	epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
	note_epoll("room", ep, WAIT_MS);
	sent = fill(fd);
	note_epoll("none", ep, 0);
	notef("read", "%d", drain(peer, sent) == sent);
	note_epoll("room again", ep, WAIT_MS);
	e.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
	drain(fd, 3);
	epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e);
	epoll_wait(ep, &e, 1, 0);
	shutdown(peer, SHUT_WR);
	note_epoll("end", ep, WAIT_MS);
}

static void row_epoll_listener(void)
{
	union addr a;
	int l = listener(&a), ep = epoll_create1(0), i;
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	epoll_ctl(ep, EPOLL_CTL_ADD, l, &e);
	note_epoll("nobody", ep, 0);
	for (i = 0; i < 2; i++) {
		join(sock(), &a);
		note_epoll("a client", ep, WAIT_MS);
	}
	note_epoll("no edge", ep, 0);
	nonblock(l, true);
	note("close", close(accept(l, NULL, NULL)));
	note("close", close(accept(l, NULL, NULL)));
	note("no more", accept(l, NULL, NULL));
}

static void row_dup_fork(void)
{
	int peer, fd = pair(&peer), other = dup(fd), status;
	pid_t pid;

	say(other, "dup");
	note_recv("through dup", peer, 99, 0);
	note("close one", close(fd));
	say(other, "still");
	note_recv("the other", peer, 99, 0);
	note_recv("no end yet", peer, 99, MSG_DONTWAIT);
	pid = fork();
	if (!pid) {
		say(other, "child");
		_exit(recv(other, &status, 1, 0) == 1 ? 0 : 1);
	}
	close(other);
	note_recv("from the child", peer, 99, 0);
	note_recv("no end yet", peer, 99, MSG_DONTWAIT);
	say(peer, "x");
	waitpid(pid, &status, 0);
	note("child", status);
	note_recv("end", peer, 99, 0);
}

static const struct row rows[] = {
	{ "unconnected", row_unconnected, ROW_ALL },
	{ "shutdown", row_shutdown, ROW_ALL },
	{ "shutdown_read", row_shutdown_read, ROW_ALL },
	{ "shutdown_wakes", row_shutdown_wakes, ROW_ALL },
	{ "close", row_close, ROW_ALL },
	{ "close_unread", row_close_unread, ROW_ALL },
	{ "reset_after_data", row_reset_after_data, ROW_ALL },
	{ "linger", row_linger, ROW_ALL },
	{ "timeouts", row_timeouts, ROW_ALL },
	{ "signals", row_signals, ROW_ALL },
	{ "sigpipe", row_sigpipe, ROW_ALL },
	{ "sigio", row_sigio, ROW_ALL },
	{ "poll", row_poll, ROW_ALL },
	{ "full", row_full, ROW_ALL },
	{ "send_wakes", row_send_wakes, ROW_ALL },
	{ "epoll", row_epoll, ROW_ALL },
	{ "epoll_listener", row_epoll_listener, ROW_ALL },
	{ "dup_fork", row_dup_fork, ROW_ALL },
};

int main(int argc, char **argv)
{
	return compare_main(argc, argv, rows, ARRAY_SIZE(rows), NULL, 0);
}
