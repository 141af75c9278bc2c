// SPDX-License-Identifier: GPL-2.0
/* Filters: words on the command line that select connections. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sstp.h"

static uint64_t parse_hex(const char *text, uint64_t most, bool *good)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 16);
	*good = end != text && !*end && !errno && n <= most && *text != '-' && *text != '+';
	return n;
}

static void need_addr(const char *text, struct in6_addr *addr, int *family)
{
	if (!parse_addr(text, addr, family))
		misused("'%s' is not an IPv4 or IPv6 address", text);
}

static void need_port(const char *text, uint16_t *port)
{
	if (!parse_port(text, port))
		misused("'%s' is neither a port (0 to 65535) nor a service of /etc/services",
			text);
}

/* Parse a filter @word and its @value. Returns false if @word is no filter. */
static bool parse_pair(struct filter *f, const char *word, const char *value)
{
	uint32_t bits;
	int family;
	bool good;

	if (!strcmp(word, "id")) {
		f->id = parse_hex(value, UINT64_MAX, &good);
		f->has_id = true;
		if (!good)
			misused("'%s' is not an ID of up to 16 hexadecimal digits", value);
	} else if (!strcmp(word, "cid")) {
		f->cid = parse_hex(value, UINT32_MAX, &good);
		f->has_cid = true;
		if (!good)
			misused("'%s' is not a CID of up to 8 hexadecimal digits", value);
	} else if (!strcmp(word, "state")) {
		bits = state_parse(value);
		if (!bits)
			misused("'%s' is not a state: established, syn-sent, syn-recv, "
				"fin-wait-1, fin-wait-2, close-wait, last-ack, closing, "
				"listening, closed, all", value);
		f->states |= bits;
	} else if (!strcmp(word, "addr")) {
		need_addr(value, &f->addr, &family);
		f->has_addr = true;
	} else if (!strcmp(word, "src")) {
		need_addr(value, &f->src, &f->src_family);
		f->has_src = true;
	} else if (!strcmp(word, "dst")) {
		need_addr(value, &f->dst, &f->dst_family);
		f->has_dst = true;
	} else if (!strcmp(word, "port")) {
		need_port(value, &f->port);
		f->has_port = true;
	} else if (!strcmp(word, "sport")) {
		need_port(value, &f->sport);
		f->has_sport = true;
	} else if (!strcmp(word, "dport")) {
		need_port(value, &f->dport);
		f->has_dport = true;
	} else {
		return false;
	}
	return true;
}

int filter_parse(struct filter *f, char **words)
{
	static const char *const names[] = {
		"id", "cid", "state", "addr", "src", "dst", "port", "sport", "dport",
	};
	unsigned int i;
	uint64_t id;
	int n = 0;
	bool good;

	while (words[n]) {
		for (i = 0; i < SIZE(names) && strcmp(words[n], names[i]); i++)
			;
		if (i < SIZE(names)) {
			if (!words[n + 1])
				misused("'%s' needs a value", words[n]);
			parse_pair(f, words[n], words[n + 1]);
			n += 2;
			continue;
		}
		id = parse_hex(words[n], UINT64_MAX, &good);
		if (!good || f->has_id)
			break;
		f->id = id;
		f->has_id = true;
		n++;
	}
	return n;
}

static void put_addr(struct nlmsghdr *n, uint16_t attr, const struct in6_addr *a, int family)
{
	if (family == AF_INET)
		mnl_attr_put(n, attr, 4, &a->s6_addr32[3]);
	else
		mnl_attr_put(n, attr, sizeof(*a), a);
}

static void filter_put(struct nlmsghdr *n, const struct filter *f)
{
	if (f->has_id)
		mnl_attr_put_u64(n, SSTP_A_CONN_COOKIE, f->id);
	if (f->has_cid)
		mnl_attr_put_u32(n, SSTP_A_CONN_CID, f->cid);
	if (f->states)
		mnl_attr_put_u32(n, SSTP_A_CONN_STATES, f->states);
	if (f->has_src)
		put_addr(n, SSTP_A_CONN_LOCAL_ADDR, &f->src, f->src_family);
	if (f->has_dst)
		put_addr(n, SSTP_A_CONN_REMOTE_ADDR, &f->dst, f->dst_family);
	if (f->has_sport)
		mnl_attr_put_u16(n, SSTP_A_CONN_LOCAL_PORT, htons(f->sport));
	if (f->has_dport)
		mnl_attr_put_u16(n, SSTP_A_CONN_REMOTE_PORT, htons(f->dport));
}

/* Compare address @a of a socket of @family with @want, in which IPv4 is mapped. */
static bool same_addr(int family, const struct in6_addr *a, const struct in6_addr *want)
{
	struct in6_addr mapped = {};

	if (family != AF_INET)
		return !memcmp(a, want, sizeof(*a));
	mapped.s6_addr16[5] = 0xffff;
	mapped.s6_addr32[3] = a->s6_addr32[0];
	return !memcmp(&mapped, want, sizeof(mapped));
}

bool filter_match(const struct filter *f, const struct conn *c)
{
	bool listens = conn_listens(c);

	if ((f->has_id && c->cookie != f->id) ||
	    (f->has_cid && (!c->has_cid || c->cid != f->cid)) ||
	    (f->states && (c->state > 31 || !(f->states & STATE_BIT(c->state)))) ||
	    (f->has_src && !same_addr(c->family, &c->local, &f->src)) ||
	    (f->has_dst && (listens || !same_addr(c->family, &c->remote, &f->dst))) ||
	    (f->has_sport && c->local_port != f->sport) ||
	    (f->has_dport && (listens || c->remote_port != f->dport)))
		return false;
	if (f->has_addr && !same_addr(c->family, &c->local, &f->addr) &&
	    (listens || !same_addr(c->family, &c->remote, &f->addr)))
		return false;
	return !f->has_port || c->local_port == f->port ||
	       (!listens && c->remote_port == f->port);
}

struct dump {
	const struct filter *f;
	void (*each)(const struct conn *c, void *arg);
	void *arg;
};

static int dump_each(const struct nlmsghdr *n, void *arg)
{
	struct dump *d = arg;
	struct conn c;

	conn_parse(n, &c);
	if (filter_match(d->f, &c))
		d->each(&c, d->arg);
	return MNL_CB_OK;
}

int filter_dump(struct nl *nl, const struct filter *f,
		void (*each)(const struct conn *c, void *arg), void *arg)
{
	struct dump d = { .f = f, .each = each, .arg = arg };
	struct nlmsghdr *n;
	char buf[NL_REQUEST_MAX];

	n = nl_start(nl, buf, SSTP_CMD_CONN_GET, NLM_F_DUMP);
	filter_put(n, f);
	return nl_talk(nl, n, dump_each, &d);
}

struct one {
	struct conn *c;
	unsigned int n;
};

static void one_each(const struct conn *c, void *arg)
{
	struct one *o = arg;

	if (!o->n++)
		*o->c = *c;
}

void filter_one(struct nl *nl, const struct filter *f, struct conn *c)
{
	struct one o = { .c = c };

	nl_check(nl, filter_dump(nl, f, one_each, &o), "connections");
	if (!o.n)
		die("no such connection: 'sstp show -a' lists all");
	if (o.n > 1)
		die("%u connections match: name one by its ID, which 'sstp show' prints", o.n);
}

static int again_each(const struct nlmsghdr *n, void *arg)
{
	conn_parse(n, arg);
	return MNL_CB_OK;
}

int conn_again(struct nl *nl, struct conn *c)
{
	struct nlmsghdr *n;
	char buf[NL_REQUEST_MAX];

	n = nl_start(nl, buf, SSTP_CMD_CONN_GET, 0);
	/* A socket that connects again keeps its cookie but has another CID. The kernel shows
	 * CIDs only to the socket's owner and CAP_NET_ADMIN.
	 */
	if (c->has_cid)
		mnl_attr_put_u32(n, SSTP_A_CONN_CID, c->cid);
	mnl_attr_put_u64(n, SSTP_A_CONN_COOKIE, c->cookie);
	return nl_talk(nl, n, again_each, c);
}
