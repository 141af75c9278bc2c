/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations of the library; preload.c describes how it works. */
#ifndef _SSTP_RUN_PRELOAD_H
#define _SSTP_RUN_PRELOAD_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sstp.h>

#include "options.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define EXPORT		__attribute__((visibility("default")))

#define FDS		65536	/* descriptors that are tracked */
#define LISTENERS	256

/* The C library's functions that the library intercepts */
extern struct real {
	typeof(&socket) socket;
	typeof(&connect) connect;
	typeof(&listen) listen;
	typeof(&accept4) accept4;
	typeof(&getsockname) getsockname;
	typeof(&getpeername) getpeername;
	typeof(&getsockopt) getsockopt;
	typeof(&setsockopt) setsockopt;
	typeof(&shutdown) shutdown;
	typeof(&close) close;
	typeof(&dup) dup;
	typeof(&dup2) dup2;
	typeof(&dup3) dup3;
	typeof(&fcntl64) fcntl64;
	typeof(&close_range) close_range;
	typeof(&epoll_ctl) epoll_ctl;
	typeof(&syscall) syscall;
} real;

/* Constructors of other libraries may call intercepted functions before start() has run. */
#define REAL(name)	({ if (!real.name) resolve(); real.name; })

/* Kinds of descriptors */
enum {
	FD_OTHER,	/* unknown: not a socket, made elsewhere, or connected */
	FD_FRESH,	/* a TCP socket that is neither connected nor listening */
	FD_TCP,		/* a socket that stays with TCP */
	FD_DONE,	/* a connected socket; FD_OTHER if the library did not see it connect */
	FD_HIDDEN,	/* a socket of the library: of a listener, or to fall back to */
	FD_ASKED,	/* an SSTP socket that connects; asked.c may fall back to TCP */
	FD_LISTENER,	/* this value and larger ones: listeners[kind - FD_LISTENER] */
};

extern _Atomic uint16_t kinds[FDS];

enum { BY_SSTP, BY_TCP };

extern struct listener {
	atomic_int users;	/* descriptors of the program; 0 = free */
	atomic_int part[2];	/* hidden descriptors, by protocol */
	atomic_uint turn;	/* accept() tries the protocol turn / TURNS % 2 first */
} listeners[LISTENERS];

static inline int kind_of(int fd)
{
	return fd >= 0 && fd < FDS ? kinds[fd] : FD_TCP;
}

static inline void set_kind(int fd, int kind)
{
	if (fd >= 0 && fd < FDS)
		kinds[fd] = kind;
}

/* May another socket take the place of @fd? Then its epoll registrations are recorded. */
static inline bool may_change(int fd)
{
	return kind_of(fd) == FD_FRESH || kind_of(fd) == FD_ASKED;
}

/* Raise @end to @to at least. */
static inline void raise_end(atomic_int *end, int to)
{
	int old = *end;

	while (old < to && !atomic_compare_exchange_weak(end, &old, to))
		;
}

static inline struct listener *listener_of(int fd)
{
	int kind = kind_of(fd);

	return kind >= FD_LISTENER ? &listeners[kind - FD_LISTENER] : NULL;
}

/* preload.c */
extern struct run_options options;
extern atomic_int log_fd;

void resolve(void);
bool mine(void);
int get_int(int fd, int level, int name);
uint64_t cookie_of(int fd);
bool is_sstp(int fd);
bool is_idle_tcp(int fd);
bool calls_go_on(void);
void say(const char *what, const struct sockaddr *sa, const char *verdict, const char *why);

/* asked.c */
bool asked_note(int fd, int tcp, int flags, uint64_t key, const struct sockaddr *to,
		socklen_t len);
void asked_forget(int fd);
int asked_outcome(int fd, int error);

/* fds.c */
int hide(int fd);
void unhide(int fd);
void given(int fd, int kind);

/* hosts.c */
enum host {
	HOST_UNKNOWN,
	HOST_ANSWERS,		/* the service answers by SSTP */
	HOST_MISSED,		/* the service did not answer in time, maybe as packets were lost */
	HOST_WITHOUT,		/* the service has no SSTP */
};

uint64_t host_key(int fd, const struct sockaddr *sa);
enum host host_ask(uint64_t key);
void host_note(uint64_t key, enum host what);

/* replace.c */
int make_like(int tcp, bool v4, const char **why);
int replace(int fd, int with, int flags);
void watch_forget(int fd);
void settle(int fd, int kind);

/* sockopt.c */
void options_fresh(int fd, int family);
void options_shared(int fd);
void options_forked(void);
const char *copy_options(int tcp, int sstp, bool v4);

#endif
