// SPDX-License-Identifier: GPL-2.0
/*
 * Library preloaded by sstp-run: programs written for TCP use SSTP where the peer has it.
 *
 * A socket begins as a TCP socket, so options, addresses and errors are TCP's own. connect()
 * makes an SSTP socket with the same settings, which takes over the descriptor. If the SSTP
 * socket does not connect, the TCP socket gets its descriptor back and connects. All
 * processes of a user remember which services answer by SSTP.
 *
 * listen() makes an SSTP listener with the same address. Then the program's descriptor
 * becomes an epoll instance that watches both listeners: it is readable when one of
 * them is, and accept() tries both. The listeners have hidden descriptors of their own.
 *
 * The array kinds[] has the kind of each descriptor. No call of a data path is intercepted,
 * and close() reads one number. There is no lock and no malloc(), as calls may come from
 * signal handlers and after fork(). After vfork() nothing is changed, since the memory
 * is the parent's.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "preload.h"

struct real real;
struct run_options options;
static atomic_int owner;	/* process that owns this memory */
atomic_int log_fd = STDERR_FILENO;	/* or a hidden descriptor of the log */
static struct stat log_then;	/* of log_fd at the start */

static void owner_set(void)
{
	owner = getpid();
}

static void forked(void)
{
	owner_set();
	options_forked();
}

/* False in a child of vfork(), which shares the memory but has its own descriptors. */
bool mine(void)
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
	RESOLVE(getpeername);
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
	RESOLVE(syscall);
}

/* The log has a hidden descriptor, as daemons close standard error and low descriptors. */
static void open_log(void)
{
	int fd = open(options.log, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);

	log_fd = fd < 0 ? -1 : hide(fd);
	if (fd >= 0)
		REAL(close)(fd);
}

__attribute__((constructor)) static void start(void)
{
	if (!real.close)
		resolve();
	owner_set();
	pthread_atfork(options_forked, options_forked, forked);
	run_options_get(&options);
	if (options.log)
		open_log();
	fstat(log_fd, &log_then);
}

/* Print a message such as "curl[123]: to 192.0.2.1 port 80: SSTP". */
void say(const char *what, const struct sockaddr *sa, const char *verdict, const char *why)
{
	char text[400], address[INET6_ADDRSTRLEN] = "?";
	int error = errno, port = 0, n;
	struct stat now;

	/* Do not write if the program has reused the descriptor for another file. */
	if (!options.verbose || fstat(log_fd, &now) ||
	    now.st_dev != log_then.st_dev || now.st_ino != log_then.st_ino)
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
	n = write(log_fd, text, n);
out:
	errno = error;
}

int get_int(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value;

	return REAL(getsockopt)(fd, level, name, &value, &len) ? -1 : value;
}

/* The cookie of the socket, to see later whether @fd is still the same one; 0 if it is none */
uint64_t cookie_of(int fd)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);

	return REAL(getsockopt)(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) ? 0 : cookie;
}

bool is_sstp(int fd)
{
	return get_int(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_SSTP &&
	       get_int(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM;
}

/* Is @fd a TCP socket that is neither connected, nor connecting, nor listening? */
bool is_idle_tcp(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return get_int(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
	       !REAL(getsockopt)(fd, IPPROTO_TCP, TCP_INFO, &info, &len) &&
	       info.tcpi_state == 7 /* TCP_CLOSE */;
}

/* After EINTR: restart the call only if all handlers of the program have SA_RESTART, as it is
 * not known which one ran.
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
