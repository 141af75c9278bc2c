/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations of the sstp command. */
#ifndef _SSTP_TOOL_H
#define _SSTP_TOOL_H

#include <libmnl/libmnl.h>
#include <linux/sstp.h>
#include <linux/sstp_netlink.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* main.c: print a message and exit with status 1, or point to -h and exit with status 2 */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void misused(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Flush standard output; exit if that fails. */
void flush(void);

/* Options that several commands share; each getopt() string lists those it has */
struct options {
	bool json;
	bool numeric;		/* ports as numbers */
	double interval;	/* s */
	unsigned long count;	/* number of intervals; 0 = no end */
};

/* Handle option @c: -h, which prints @usage, or one of those above; else exit. */
void option(struct options *o, int c, const char *usage);

/* ---- term.c: properties of the terminal on standard output */
enum color { PLAIN, BOLD, RED, GREEN, YELLOW, CYAN, FAINT };
void term_init(void);
bool term_is_one(void);
unsigned int term_rows(void);	/* UINT_MAX if it is no terminal */
unsigned int term_columns(void);
/* Escape sequence of a colour; empty in a pipe, or with NO_COLOR */
const char *color(enum color c);

/* ---- text.c: print and parse numbers with units */
#define TEXT_MAX	96
/* The following return @buf. */
char *text_bytes(char buf[TEXT_MAX], double bytes);
char *text_rate(char buf[TEXT_MAX], double bits);	/* per second */
char *text_us(char buf[TEXT_MAX], double us);
char *text_number(char buf[TEXT_MAX], double n);	/* 12.3k */
char *text_addr(char buf[TEXT_MAX], int family, const void *addr, uint16_t port,
		bool numeric);
/* Parse a number with a prefix k, M, G or T, powers of @unit (1000 or 1024). */
bool parse_number(const char *text, unsigned int unit, uint64_t *value);
/* Parse P[:AVERAGE[:F[:L]]], or "none". */
bool parse_rate(const char *text, struct sstp_rate_spec *r);
bool parse_port(const char *text, uint16_t *port);
/* Parse an address; IPv4 becomes a mapped @addr, with @family AF_INET. */
bool parse_addr(const char *text, struct in6_addr *addr, int *family);
double parse_seconds(const char *text);

/* ---- nl.c: the generic netlink family */
struct nl {
	struct mnl_socket *s;
	uint16_t family;
	uint32_t events;	/* multicast group */
	uint32_t seq;
	char why[256];		/* extended ACK message of the last error */
};

#define NL_REQUEST_MAX	1024	/* bytes */

void nl_open(struct nl *nl);
/* Begin a request in @buf; @flags may have NLM_F_DUMP. */
struct nlmsghdr *nl_start(struct nl *nl, char buf[NL_REQUEST_MAX], uint8_t cmd,
			  uint16_t flags);
/* Send @n and pass each answer to @each. Returns 0 or -errno. */
int nl_talk(struct nl *nl, struct nlmsghdr *n, mnl_cb_t each, void *arg);
/* Is @a attribute @attr, with the length of its type? */
bool nl_is(const struct nlattr *a, uint16_t attr, enum mnl_attr_data_type type);
void nl_listen(struct nl *nl);
/* If @err is not 0, print that @what failed, and exit. */
void nl_check(const struct nl *nl, int err, const char *what);

/* ---- conn.c: connections, parsed from netlink messages */
/* Parameters of a controller or a policy, and its state */
struct params {
	struct sstp_param p[SSTP_PARAMS_MAX + SSTP_STATE_MAX];
	unsigned int n;
};

struct conn {
	uint8_t cmd;		/* command of the message */
	bool has_cid;
	bool has_info;
	bool has_rate;
	bool shared;
	uint32_t cid;
	uint32_t peer_cid;
	uint64_t cookie;
	uint16_t family;
	uint16_t local_port;
	uint16_t remote_port;
	uint16_t encap_port;
	struct in6_addr local;	/* the first 4 bytes with AF_INET */
	struct in6_addr remote;
	uint8_t state;
	uint8_t type;
	uint32_t uid;
	uint64_t inode;
	uint32_t ifindex;
	uint32_t backlog;
	uint32_t backlog_max;
	struct sstp_info info;
	struct params controller;
	struct params policy;
	/* Events */
	struct sstp_rate_spec rate;
	uint32_t error;
	uint8_t closed_by;
	uint32_t old_limit;
	uint32_t new_limit;
	uint64_t packets_discarded;
	uint64_t bytes_discarded;
};

struct field {
	const char *name;	/* as in struct sstp_info */
	uint16_t attr;
	uint16_t offset;
	uint16_t size;		/* SSTP_NAME_MAX for a name, less for a number */
};
extern const struct field info_fields[];
extern const unsigned int info_fields_count;
uint64_t field_number(const struct field *f, const struct sstp_info *i);

void conn_parse(const struct nlmsghdr *n, struct conn *c);
bool conn_listens(const struct conn *c);
const char *state_name(unsigned int state);
const char *ecn_name(unsigned int ecn);	/* enum sstp_ecn_state */
/* Bits of the states that @word names; 0 if it names none */
uint32_t state_parse(const char *word);
#define STATE_BIT(state)	(1U << (state))

/* ---- filter.c: words on the command line that select connections */
struct filter {
	bool has_id, has_cid, has_src, has_dst, has_addr, has_sport, has_dport, has_port;
	uint64_t id;		/* cookie */
	uint32_t cid;
	uint32_t states;	/* 0 = all */
	struct in6_addr src, dst, addr;
	int src_family, dst_family;
	uint16_t sport, dport, port;
};

/* Part of the usage text of commands */
#define FILTER_USAGE							\
"CONNECTIONS are selected by these words; all given ones have to match:\n" \
"  ID, or id ID           the ID that show prints\n"			\
"  cid CID                the CID, of connections whose CID you may see\n" \
"  state STATE            established, close-wait, ..., as in ss(8), or all\n" \
"  addr A, src A, dst A   address of either end, of this end, of the peer\n" \
"  port P, sport P, dport P\n"						\
"                         port of either end, of this end, of the peer\n"
/* Parse the words at the beginning of @words that are filters; returns their number. */
int filter_parse(struct filter *f, char **words);
/* Does @c match all of @f? The kernel does not filter by an address or port of either end. */
bool filter_match(const struct filter *f, const struct conn *c);
/* Pass each connection of a dump that matches @f to @each. */
int filter_dump(struct nl *nl, const struct filter *f,
		void (*each)(const struct conn *c, void *arg), void *arg);
/* Get the only connection that matches @f; exit if none or several do. */
void filter_one(struct nl *nl, const struct filter *f, struct conn *c);
/* Get @c again; returns 0 or -errno. */
int conn_again(struct nl *nl, struct conn *c);

/* ---- time.c: CLOCK_MONOTONIC in seconds */
double now(void);
/* Sleep until @at, or until a signal is handled; @mask, if not NULL, is blocked meanwhile. */
void nap_until(double at, const sigset_t *mask);

/* ---- json.c */
void json_conn(FILE *f, const struct conn *c);	/* an object without its braces */
void json_text(FILE *f, const char *text);	/* in quotes */

/* ---- rates.c: connections, and what each did since they were looked at before */
struct row {
	struct conn c;
	bool known;		/* it was there before, and @m is set */
	struct sstp_monitor m;	/* counters, and rates of the interval */
};

struct rows {
	struct row *at;
	size_t n, room;
};

/* Get all connections that match @f, in the order of the dump. @before has those of the look
 * before, and is sorted anew.
 */
void rows_get(struct nl *nl, const struct filter *f, struct rows *rows, struct rows *before);
int row_by_identity(const void *a, const void *b);	/* for qsort() */
/* Print what was done since the look before, of a row that is known; json_rates() prints a member
 * of the object that json_conn() prints.
 */
void rates_print(const struct row *r);
void json_rates(FILE *f, const struct row *r);

/* ---- show.c: the table of connections */
void row_heading(void);
void row_print(const struct conn *c, bool numeric);

/* ---- info.c, why.c: lines below a connection */
void info_print(const struct conn *c);
void info_memory(const struct conn *c);
/* Print what limited @c since it began, and what to do about it. */
void why_print(const struct conn *c);

/* ---- commands; each returns the exit status */
int cmd_show(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_ctrl(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_plot(int argc, char **argv);

#endif /* _SSTP_TOOL_H */
