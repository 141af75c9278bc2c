/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of socket calls, beside what they do on TCP.
 *
 * A row is a body of calls that notes what each gave. It runs in a process of
 * its own on TCP, then on SSTP, and both lists of notes must be equal, but for
 * listed differences, each with its reason. A row of SSTP alone states what it
 * expects.
 */
#ifndef _SSTP_TEST_COMPARE_H
#define _SSTP_TEST_COMPARE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

#define WAIT_MS		5000	/* for what must happen */
#define QUIET_MS	100	/* for what must not */
#define BAD_POINTER	((void *)8)

enum {				/* what a row or difference is about */
	ROW_STREAM	= 1,
	ROW_SEQPACKET	= 2,
	ROW_V4		= 4,
	ROW_V6		= 8,
	ROW_OWN		= 16,	/* row: TCP has nothing like it */
	ROW_ALL		= ROW_STREAM | ROW_SEQPACKET | ROW_V4 | ROW_V6,
};

struct row {
	const char *name;
	void (*run)(void);
	unsigned int flags;
};

struct difference {
	const char *row;
	const char *label;
	const char *sstp;	/* what SSTP gives in place of TCP's */
	const char *why;
	unsigned int flags;	/* 0 = ROW_ALL */
	const char *kernel;	/* how its release begins, or "!" and how it does
				 * not; NULL = any
				 */
};

int compare_main(int argc, char **argv, const struct row *rows, size_t n,
		 const struct difference *diffs, size_t n_diffs);

/* For bodies: the socket under test */
extern enum proto proto;
extern int family, type;

/* Note @ret, or the errno if it is negative. */
void note(const char *label, long ret);
void notef(const char *label, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Rows of SSTP alone; @want: a number or the name of an errno */
void expect(const char *label, long ret, const char *want);
void expect_num(const char *label, long long got, long long want);
void expect_text(const char *label, const char *got, const char *want);
const char *result(long ret);
void bail(const char *what) __attribute__((noreturn));

int sock(void);
int sock_of(int family, int flags);
int xbind(int fd, const union addr *a);
int xconnect(int fd, const union addr *a);
union addr name_of(int fd, bool peer);
/* Set-up of a row, which ends if that fails: @fd listens on the loopback address, at @a. */
void start_listening(int fd, union addr *a);
int listener(union addr *a);
void join(int fd, const union addr *to);
/* Connected sockets: ours (returned) and what accept() gave */
int pair(int *peer);
/* The same of sockets that have their options: @fd connects to @l; returns what accept() gave. */
int pair_of(int fd, int l);
/* A port of the loopback address without a listener */
void unused(union addr *a);
/* An address at which no host answers */
void hole(union addr *a);
void nonblock(int fd, bool on);
int set_int(int fd, int level, int name, int value);
int get_int(int fd, int level, int name);
/* Sends all of @text as one write. */
void say(int fd, const char *text);
/* Result of poll() as text, in one of four buffers */
const char *poll_text(int fd, short events, int ms);
void note_state(const char *label, int fd);
/* Wait for an event that must come, then note all that are there. */
void await(const char *label, int fd, short events);
/* Result of recv(), and the bytes if they are text */
void note_recv(const char *label, int fd, size_t len, int flags);
/* Sends until there is no room for good; returns how much. */
uint64_t fill(int fd);
/* Read @want bytes, or until the end or a time-out. */
uint64_t drain(int fd, uint64_t want);
void timeout_opt(int fd, int name, int ms);
/* An integer option: set, get, too short, too long, bad pointers */
void try_int(const char *name, int fd, int level, int opt, int value);

/* Signals: counted, and answered with a byte to @signal_fd if that is set */
extern volatile sig_atomic_t signals;
extern int signal_fd;
void catch(int sig, int flags);
void alarm_ms(int ms);
/* SIGALRM comes when this process sleeps in its next call. */
void alarm_sleeper(void);

#endif /* _SSTP_TEST_COMPARE_H */
