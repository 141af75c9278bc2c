/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations of xfer. */
#ifndef _SSTP_TEST_XFER_H
#define _SSTP_TEST_XFER_H

#include <linux/tcp.h>
#include <pthread.h>
#include <stdio.h>

#include "lib.h"

enum {				/* bits of job.flags */
	JOB_UP		= 1,	/* client to server */
	JOB_DOWN	= 2,	/* server to client */
	JOB_RANDOM	= 4,	/* segments of random size */
	JOB_FILE	= 8,	/* content is a file's */
	JOB_UNCHECKED	= 16,	/* content does not matter */
	JOB_TIMED	= 32,	/* size is not known before its end */
	JOB_BINS	= 64,	/* each bin matters, not only those of reads */
};

#define JOB_MAGIC	0x53535450786665ULL

/* Records on the wire: 64-bit words, big-endian. */
struct job {
	uint64_t magic;
	uint64_t flags;
	uint64_t seed;
	uint64_t size;		/* bytes each way */
	uint64_t write;		/* bytes of a segment, at most */
	uint64_t index;		/* of the connection */
	uint64_t bin;		/* us of receiving that are counted together */
};

struct result {
	uint64_t error;		/* errno, 0 = all is well */
	uint64_t bytes;
	uint64_t hash;
	uint64_t sha[4];
	uint64_t gaps;		/* bytes missing in segments with gaps */
	uint64_t ns;		/* first to last byte */
	uint64_t peak;		/* bytes, most in the receive buffer */
	uint64_t epoch;		/* ns: when bin 0 begins, by the receiver's clock */
	uint64_t bins;
};

#define BINS_MAX	16384

struct bin {			/* a while of receiving */
	uint64_t bytes;		/* that the program got, in order */
	uint64_t limit;		/* of the receive buffer, when it began */
	uint64_t used;
	uint64_t arrived;	/* bytes, in any order, if JOB_BINS and SSTP */
};

#define GAPS_MAX	16

struct options {
	enum proto proto;
	int type;
	int family;
	uint16_t port;
	unsigned int connections;
	struct job job;
	const char *file;
	const char *json;
	const char *pidfile;
	const char *bind;
	bool background;
	unsigned int timeout;		/* s */
	uint64_t read_rate;		/* bit/s */
	uint64_t read_work;		/* instructions for 1000 bytes */
	uint64_t read_pause;		/* ms */
	uint64_t gap[1 + GAPS_MAX];	/* ms of reading, then of each pause */
	unsigned int gaps;
	struct grant *trace;
	size_t grants;
	uint64_t send_pause;		/* ms */
	uint64_t seconds;		/* to send for */
	uint64_t read_size;
	int rcvbuf, sndbuf, lowat;
	bool nodelay;
	bool sendfile, zerocopy;
	bool keepalive;
	bool peak;
	struct sstp_rate_spec rate;
	int64_t sstp[SSTP_POOL + 1];	/* by option, -1 = as it is */
	const char *controller;
	struct sstp_param param[SSTP_PARAMS_MAX];	/* of the controller */
	unsigned int params;
	const char *policy;
	struct sstp_param policy_param[SSTP_PARAMS_MAX];
	unsigned int policy_params;
};

/* A recorded program could read so many bytes until then. */
struct grant {
	uint64_t at;		/* ns since it began */
	uint64_t bytes;
};

/* Progress of a slow reader */
struct pace {
	size_t line;		/* next one of the trace */
	uint64_t granted;	/* bytes that the last one granted and that were not read */
	uint64_t begin;		/* ns: when reading began, or began again */
	uint64_t got;		/* bytes since */
	unsigned int gap;	/* pauses so far */
};

/* The receiving half of a connection. */
struct receiver {
	struct result res;
	struct bin *bin;
	struct watcher *watcher;
	uint64_t pos;
	struct hash hash;
	struct sha256 sha;
	int file;
};

struct conn {
	pthread_t thread;
	unsigned int index;
	int fd;
	struct job job;
	struct receiver rx;	/* what comes in here */
	struct receiver peer;	/* what the other end says came in there */
	struct hash tx_hash;
	struct sha256 tx_sha;
	uint64_t sent;
	uint64_t begin, end;	/* ns */
	const char *what;	/* failed, and with which errno */
	int error;
	struct sstp_info info;
	struct tcp_info tcp;
};

extern struct options opt;
extern FILE *json;		/* where the report goes */

/* Parse options into opt; exits with a message if they are invalid. Returns the server's address,
 * or NULL for a server.
 */
const char *parse_args(int argc, char **argv);

/* To be called before and after content is received */
void bins_begin(struct conn *c);
void bins_end(struct conn *c);
/* @n bytes were read. */
void bins_count(struct conn *c, uint64_t now, size_t n);
/* Is it known what arrived? */
bool bins_watched(const struct job *j);
void sample_peak(struct conn *c);

/* @n connections of one role, ended or failed */
void print_summary(const char *role, struct conn *c, unsigned int n);
/* The sum of @sha, or that which is in @got */
void print_sha(const char *what, const struct sha256 *sha, const uint64_t *got);

#endif /* _SSTP_TEST_XFER_H */
