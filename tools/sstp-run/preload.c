// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded by sstp-run: programs made for TCP use SSTP where the peer has it.
 *
 * A socket begins as TCP's, so options, addresses and errors are TCP's own. connect()
 * makes an SSTP socket with the same settings, which takes the descriptor over. If that
 * one does not connect the TCP socket comes back and does, as if nothing had been tried.
 * Which services answer by SSTP is remembered, for all processes of a user.
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
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "preload.h"

struct real real;
struct run_options options;
static atomic_int owner;	/* whose memory this is */
atomic_int log_fd = STDERR_FILENO;	/* or a hidden one of the log's */
static struct stat log_then;

static void owner_set(void)
{
	owner = getpid();
}

/* Not in a child of vfork(), which has our memory but descriptors of its own. */
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

/* Daemons close standard error, and leave what is hidden open. */
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
	pthread_atfork(NULL, NULL, owner_set);
	run_options_get(&options);
	if (options.log)
		open_log();
	fstat(log_fd, &log_then);
}

/* "curl[123]: to 192.0.2.1 port 80: SSTP" */
void say(const char *what, const struct sockaddr *sa, const char *verdict, const char *why)
{
	char text[400], address[INET6_ADDRSTRLEN] = "?";
	int error = errno, port = 0, n;
	struct stat now;

	/* Whatever else the descriptor has become is left alone. */
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

bool is_sstp(int fd)
{
	return get_int(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_SSTP &&
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
