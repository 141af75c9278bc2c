/* SPDX-License-Identifier: GPL-2.0 */
/* What the test programs share: KTAP, addresses, sockets, content, waiting. */
#ifndef _SSTP_TEST_LIB_H
#define _SSTP_TEST_LIB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <linux/sstp.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define KSFT_SKIP	4
#ifndef IP_LOCAL_PORT_RANGE	/* of Linux 6.3 */
#define IP_LOCAL_PORT_RANGE	51
#endif

/* KTAP. Results count themselves; ktap_end() returns the exit status. */
void ktap_plan(unsigned int tests);
void ktap_diag(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ktap_result(bool ok, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void ktap_skip(const char *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int ktap_end(void);

/* Instead of the plan: end the test, which this kernel cannot run. */
void skip_all(const char *why) __attribute__((noreturn));
/* Do so unless the kernel simulates time, as tests with "mode: time-travel" need. */
void need_simulated_time(void);
/* Do so unless the clock counts instructions, as tests with "mode: icount" need. */
void need_instruction_count(void);

/* Many conditions make one result: what does not hold is said, and noted here. */
extern bool all_held;
void must(bool so, const char *what);
void must_be(const char *what, long long got, long long want);
/* The result of all that was said since the last one */
void ktap_held(const char *name);

/* Complain and exit with status 1; perror-like when @fmt ends with a colon. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Sockets. One of these and SOCK_STREAM or SOCK_SEQPACKET make a socket. */
enum proto { PROTO_TCP, PROTO_SSTP, PROTO_SCTP, PROTOS };

extern const char * const proto_names[PROTOS];
int proto_find(const char *name);	/* enum proto, or -1 */
/* @family: AF_INET or AF_INET6. Returns a descriptor or -1 with errno. */
int proto_socket(enum proto proto, int family, int type, int flags);
bool proto_here(enum proto proto);	/* does the kernel have it? */
/* Sockets of SSTP are of AF_INET or AF_INET6, not of AF_SSTP. */
extern bool sstp_of_inet;

union addr {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage ss;
};

socklen_t addr_len(const union addr *a);
void addr_set_port(union addr *a, uint16_t port);
uint16_t addr_port(const union addr *a);
void addr_loopback(union addr *a, int family, uint16_t port);
void addr_any(union addr *a, int family, uint16_t port);
/* A numeric address, with %interface for a link-local one. */
bool addr_parse(union addr *a, const char *text, uint16_t port);
/* Into a static buffer: "127.0.0.1:80". */
const char *addr_text(const union addr *a);

int sock_int(int fd, int level, int opt);	/* value, or -errno */
void sock_set(int fd, int level, int opt, int value);
struct sstp_info sock_info(int fd);
/* One of the parameters or, to read, of the state of the controller or the policy of @fd, which
 * is @opt: SSTP_CONTROLLER_PARAM or SSTP_POLICY_PARAM. param_try() returns 0 or -errno.
 */
int param_try(int fd, int opt, const char *name, int64_t value);
void param_set(int fd, int opt, const char *name, int64_t value);
int64_t param_get(int fd, int opt, const char *name);
/* Read all into @p, of SSTP_PARAMS_MAX + SSTP_STATE_MAX; returns how many. */
size_t params_get(int fd, int opt, struct sstp_param *p);

/* Start a thread that echoes the first byte of each connection to the listener @fd points to, until
 * that is shut down.
 */
void *echo_serve(void *fd);
/* Connect to such a listener; returns false, with errno, if not served. */
bool echo_ask(int fd, const union addr *to);

/* Load a module of this tree, "sstp-echo": 0 or -errno. */
int module_load(const char *name);
bool module_unloaded(void *name);	/* "sstp_echo"; for busywait(): sockets may still use it */
/* Load and unload sstp-echo.ko, controllers whose halves exchange messages: 0 or -errno. */
int echo_load(void);
bool echo_unloaded(void *unused);	/* for busywait(): sockets may still use it */

/* Sizes and rates: "64", "64k", "16M", "1G"; @unit is 1024 or 1000. */
bool parse_scaled(const char *text, unsigned int unit, uint64_t *value);

/* Content: byte @pos of stream @seed, in any order and any pieces. */
void content_fill(void *buf, size_t len, uint64_t seed, uint64_t pos);
/* Offset of the first wrong byte, or @len. */
size_t content_check(const void *buf, size_t len, uint64_t seed, uint64_t pos);
uint64_t mix64(uint64_t x);

/* A fast hash that is no secret to anyone. */
struct hash {
	uint64_t state;
	uint64_t len;
	uint8_t tail[8];
};

void hash_init(struct hash *h);
void hash_add(struct hash *h, const void *data, size_t len);
uint64_t hash_end(const struct hash *h);

struct sha256 {
	uint32_t h[8];
	uint64_t len;
	uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t len);
void sha256_end(const struct sha256 *s, uint8_t digest[32]);

uint64_t now_ns(void);			/* monotonic */
void sleep_ns(uint64_t ns);
/* Use the CPU for about so many instructions. */
void use_cpu(uint64_t instructions);
uint64_t nonce(void);			/* unpredictable, not 0 */
/* Wait until cond(arg), or for @ms; returns the last result of cond. */
bool busywait(unsigned int ms, bool (*cond)(void *arg), void *arg);
/* Does thread @tid of this process sleep, as in a call that blocks? */
bool thread_sleeps(pid_t tid);

/* The number in @column, from 1, behind @name at the beginning of a line of @file;
 * -1 if there is none.
 */
long file_number(const char *file, const char *name, int column);
/* Into @file, in one write(): file_try() returns 0 or -errno, the other succeeds. */
int file_try(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define file_put(file, ...)				\
	do {						\
		if (file_try(file, __VA_ARGS__))	\
			die("%s:", file);		\
	} while (0)
/* In this thread's namespace: a counter of SSTP; its sockets, with those that close;
 * and in all namespaces, their pages
 */
long sstp_counter(const char *name);
long sstp_sockets(void);
long sstp_pages(void);
bool sstp_no_sockets(void *unused);	/* for busywait() */
/* Print what "sstp show" knows of the sockets of this thread's namespace. */
void sstp_show_sockets(void);
/* Wait at most @ms until there are none; print those that are left. */
bool sstp_sockets_end(unsigned int ms);

/* A network namespace where only lo is up, for this thread */
void new_namespace(void);

#endif /* _SSTP_TEST_LIB_H */
