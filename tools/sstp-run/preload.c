// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded by sstp-run: programs made for TCP use SSTP where the peer has it.
 *
 * A socket begins as TCP's, so options, addresses and errors are TCP's own. connect()
 * makes an SSTP socket with the same settings beside it. If that one connects it takes
 * the descriptor over; else the TCP socket connects, as if nothing had been tried.
 *
 * listen() makes an SSTP listener with the same address. Then the program's descriptor
 * becomes an epoll instance that has both listeners in it: it is readable when one of
 * them is, and accept() asks both. They have hidden descriptors of their own.
 *
 * What is known of a descriptor is in an array. No call of a data path is here, and
 * close() looks at one number. There is no lock and no malloc(): calls may come from
 * signal handlers and after fork(). After vfork() nothing is changed, since the memory
 * is the parent's.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "preload.h"

struct real real;
_Atomic uint16_t kinds[FDS];
struct listener listeners[LISTENERS];

struct run_options options;
static atomic_int owner;	/* whose memory this is */
static struct stat stderr_then;

static void owner_set(void)
{
	owner = getpid();
}

/* Not in a child of vfork(), which has our memory but descriptors of its own. */
static bool mine(void)
{
	return getpid() == owner;
}

#define RESOLVE(name)	(real.name = (typeof(real.name))dlsym(RTLD_NEXT, #name))

void resolve(void)
{
	RESOLVE(socket);
	RESOLVE(connect);
	RESOLVE(listen);
	RESOLVE(accept4);
	RESOLVE(getsockname);
	RESOLVE(getsockopt);
	RESOLVE(setsockopt);
	RESOLVE(shutdown);
	RESOLVE(close);
	RESOLVE(dup);
	RESOLVE(dup2);
	RESOLVE(dup3);
	RESOLVE(fcntl64);
	RESOLVE(close_range);
	RESOLVE(epoll_ctl);
}

__attribute__((constructor)) static void start(void)
{
	if (!real.close)
		resolve();
	owner_set();
	pthread_atfork(NULL, NULL, owner_set);
	run_options_get(&options);
	fstat(STDERR_FILENO, &stderr_then);
}

/* --- what is said, with --verbose ------------------------------------------------- */

/* "curl[123]: to 192.0.2.1 port 80: SSTP" */
void say(const char *what, const struct sockaddr *sa, const char *verdict,
		const char *why)
{
	char text[400], address[INET6_ADDRSTRLEN] = "?";
	int error = errno, port = 0, n;
	struct stat now;

	/* Whatever else descriptor 2 has become is left alone. */
	if (!options.verbose || fstat(STDERR_FILENO, &now) ||
	    now.st_dev != stderr_then.st_dev || now.st_ino != stderr_then.st_ino)
		goto out;
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *a4 = (const void *)sa;

		inet_ntop(AF_INET, &a4->sin_addr, address, sizeof(address));
		port = ntohs(a4->sin_port);
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *a6 = (const void *)sa;

		inet_ntop(AF_INET6, &a6->sin6_addr, address, sizeof(address));
		port = ntohs(a6->sin6_port);
	}
	n = snprintf(text, sizeof(text), "sstp-run: %s[%d]: %s %s port %d: %s%s%s%s\n",
		     program_invocation_short_name, getpid(), what, address, port,
		     verdict, why ? " (" : "", why ?: "", why ? ")" : "");
	if (n > (int)sizeof(text) - 1)
		n = sizeof(text) - 1;
	n = write(STDERR_FILENO, text, n);
out:
	errno = error;
}

/* --- sockets ----------------------------------------------------------------------- */

int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value;

	return REAL(getsockopt)(fd, level, name, &value, &len) ? -1 : value;
}

bool is_sstp(int fd)
{
	return get_int(fd, SOL_SOCKET, SO_DOMAIN) == AF_SSTP &&
	       get_int(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM;
}

/* TCP's, and neither connected nor on the way to that, nor listening. */
bool is_idle_tcp(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return get_int(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
	       !REAL(getsockopt)(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	       info.tcpi_state == 7 /* TCP_CLOSE */;
}

/* After a signal: does every handler of the program want calls to go on? Which one ran
 * cannot be known.
 */
bool calls_go_on(void)
{
	struct sigaction sa;
	int n;

	for (n = 1; n < NSIG; n++)
		if (!sigaction(n, NULL, &sa) && sa.sa_handler != SIG_DFL &&
		    sa.sa_handler != SIG_IGN && !(sa.sa_flags & SA_RESTART))
			return false;
	return true;
}

/* Out of the way of those who count on small numbers. */
int hide(int fd)
{
	struct rlimit limit;
	int at = -1;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		at = REAL(fcntl64)(fd, F_DUPFD_CLOEXEC,
				   (int)(limit.rlim_cur < 2048 ? limit.rlim_cur / 2 : 1024));
	if (at < 0)
		at = REAL(fcntl64)(fd, F_DUPFD_CLOEXEC, 0);
	if (at >= FDS) {
		REAL(close)(at);
		at = -1;
	}
	if (at >= 0)
		set_kind(at, FD_HIDDEN);
	return at;
}

void unhide(int fd)
{
	if (fd < 0)
		return;
	set_kind(fd, FD_OTHER);
	REAL(close)(fd);
}

/* --- descriptors ------------------------------------------------------------------- */

EXPORT int socket(int family, int type, int protocol)
{
	int fd = REAL(socket)(family, type, protocol);
	bool fresh = (family == AF_INET || family == AF_INET6) &&
		     (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
		     (!protocol || protocol == IPPROTO_TCP);

	if (fd >= 0 && mine()) {
		if (kind_of(fd) == FD_FRESH)
			watch_forget(fd);	/* closed where we could not see it */
		set_kind(fd, fresh ? FD_FRESH : FD_OTHER);
	}
	return fd;
}

/* The program's @fd goes. */
static void forget(int fd)
{
	struct listener *l = listener_of(fd);
	int part[2];

	if (kind_of(fd) == FD_OTHER || kind_of(fd) == FD_HIDDEN || !mine())
		return;
	if (kind_of(fd) == FD_FRESH)
		watch_forget(fd);
	set_kind(fd, FD_OTHER);
	if (!l)
		return;
	part[BY_SSTP] = l->part[BY_SSTP];
	part[BY_TCP] = l->part[BY_TCP];
	if (atomic_fetch_sub(&l->users, 1) == 1) {
		unhide(part[BY_SSTP]);
		unhide(part[BY_TCP]);
	}
}

EXPORT int close(int fd)
{
	int kind = kind_of(fd);

	/* The program has not opened it: it closes whatever may be there. */
	if (kind == FD_HIDDEN && mine()) {
		errno = EBADF;
		return -1;
	}
	if (kind != FD_OTHER)
		forget(fd);
	return REAL(close)(fd);
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int at, end = last < FDS - 1 ? last : FDS - 1;
	int ret = 0;

	if (flags || !mine())
		return REAL(close_range)(first, last, flags);
	for (at = first; at <= end; at++) {
		if (kinds[at] == FD_HIDDEN) {
			if (at > first)
				ret = REAL(close_range)(first, at - 1, 0) ?: ret;
			first = at + 1;
		} else if (kinds[at] != FD_OTHER) {
			forget(at);
		}
	}
	return first > last ? ret : REAL(close_range)(first, last, 0) ?: ret;
}

EXPORT void closefrom(int first)
{
	close_range(first < 0 ? 0 : first, ~0U, 0);
}

static int duplicated(int fd, int to)
{
	int kind = kind_of(fd);

	if (to < 0 || !mine())
		return to;
	if (kind < FD_LISTENER) {
		set_kind(to, FD_OTHER);
	} else if (to < FDS) {
		listeners[kind - FD_LISTENER].users++;
		set_kind(to, kind);
	}
	return to;
}

/* Descriptor @to is about to be something else. */
static void make_way(int fd, int to)
{
	int i, p, at;

	if (fd == to || kind_of(to) == FD_OTHER || !mine() || REAL(fcntl64)(fd, F_GETFD) < 0)
		return;
	if (kind_of(to) != FD_HIDDEN) {
		forget(to);
		return;
	}
	at = hide(to);
	for (i = 0; i < LISTENERS; i++)
		for (p = 0; p < 2; p++)
			if (listeners[i].users && listeners[i].part[p] == to)
				listeners[i].part[p] = at;
	set_kind(to, FD_OTHER);
}

EXPORT int dup(int fd)
{
	return duplicated(fd, REAL(dup)(fd));
}

EXPORT int dup2(int fd, int to)
{
	make_way(fd, to);
	return fd == to ? REAL(dup2)(fd, to) : duplicated(fd, REAL(dup2)(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
	make_way(fd, to);
	return duplicated(fd, REAL(dup3)(fd, to, flags));
}

EXPORT int fcntl64(int fd, int command, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	ret = REAL(fcntl64)(fd, command, arg);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		return duplicated(fd, ret);
	return ret;
}

EXPORT int fcntl(int fd, int command, ...) __attribute__((__alias__("fcntl64")));
