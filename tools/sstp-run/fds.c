// SPDX-License-Identifier: GPL-2.0
/* Tracking of descriptors while the program makes, copies and closes them. */
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/resource.h>

#include "preload.h"

_Atomic uint16_t kinds[FDS];
struct listener listeners[LISTENERS];

/* Duplicate @fd to a hidden, high number: programs may rely on getting the lowest ones. */
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

/* The program closes @fd. */
static void forget(int fd)
{
	struct listener *l = listener_of(fd);
	int part[2];

	/* A child of vfork() may do this, too: FD_OTHER only means that it is not known. */
	if (kind_of(fd) == FD_DONE)
		set_kind(fd, FD_OTHER);
	if (kind_of(fd) == FD_OTHER || kind_of(fd) == FD_HIDDEN || !mine())
		return;
	settle(fd, FD_OTHER);
	if (!l)
		return;
	part[BY_SSTP] = l->part[BY_SSTP];
	part[BY_TCP] = l->part[BY_TCP];
	if (atomic_fetch_sub(&l->users, 1) == 1) {
		unhide(part[BY_SSTP]);
		unhide(part[BY_TCP]);
	}
}

/* The kernel has returned @fd to the program, so an earlier file of that number was closed,
 * even if the library did not see it.
 */
void given(int fd, int kind)
{
	if (fd < 0 || !mine())
		return;
	forget(fd);
	set_kind(fd, kind);
}

EXPORT int socket(int family, int type, int protocol)
{
	int fd = REAL(socket)(family, type, protocol);
	bool fresh = (family == AF_INET || family == AF_INET6) &&
		     (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) == SOCK_STREAM &&
		     (!protocol || protocol == IPPROTO_TCP);

	given(fd, fresh ? FD_FRESH : FD_OTHER);
	if (fresh && mine())
		options_fresh(fd, family);
	return fd;
}

EXPORT int close(int fd)
{
	int kind = kind_of(fd);

	/* The program has not opened @fd: it closes all descriptors. */
	if (kind == FD_HIDDEN && mine()) {
		errno = EBADF;
		return -1;
	}
	if (kind != FD_OTHER)
		forget(fd);
	return REAL(close)(fd);
}

#ifdef __x86_64__
static long first_syscall(long number, long a, long b, long c, long d, long e, long f);
__attribute__((used)) typeof(&syscall) pass_on = (typeof(&syscall))first_syscall;

/* Event loops call syscall(SYS_close). Other calls jump to the C library with registers and
 * stack unchanged, as the number of their arguments is not known.
 */
__asm__(".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	endbr64\n"
	"	cmp $3, %rdi\n"
	"	je 1f\n"
	"	jmp *pass_on(%rip)\n"
	"1:	mov %esi, %edi\n"
	"	jmp syscall_close\n"
	".size syscall, . - syscall\n");

__attribute__((used)) long syscall_close(int fd)
{
	return close(fd);
}

static long first_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	pass_on = REAL(syscall);
	return pass_on(number, a, b, c, d, e, f);
}
#endif

EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int at, end = last < FDS - 1 ? last : FDS - 1;
	int ret = 0;

	if (first > last || flags & CLOSE_RANGE_CLOEXEC || !mine())
		return REAL(close_range)(first, last, flags);
	for (at = first; at <= end; at++) {
		if (kinds[at] == FD_HIDDEN) {
			if (at > first)
				ret = REAL(close_range)(first, at - 1, flags) ?: ret;
			first = at + 1;
		} else if (kinds[at] != FD_OTHER) {
			forget(at);
		}
	}
	return first > last ? ret : REAL(close_range)(first, last, flags) ?: ret;
}

EXPORT void closefrom(int first)
{
	close_range(first < 0 ? 0 : first, ~0U, 0);
}

static int duplicated(int fd, int to)
{
	struct listener *l = listener_of(fd);

	if (l && to >= 0 && to < FDS && mine())
		l->users++;
	options_shared(fd);
	options_shared(to);
	given(to, kind_of(fd) == FD_HIDDEN || kind_of(fd) == FD_ASKED ? FD_OTHER :
	      kind_of(fd));
	return to;
}

/* dup2() is about to replace @to: move it away if it is hidden, else forget it. */
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
	if (log_fd == to)
		log_fd = at;
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
