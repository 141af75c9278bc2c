// SPDX-License-Identifier: GPL-2.0
/* Talks to the generic netlink family "sstp". */
#include <errno.h>
#include <linux/sstp_netlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "nl.h"

void nl_start(struct nl_request *r, struct nl *nl, uint8_t cmd, uint16_t flags)
{
	memset(r, 0, sizeof(*r));
	r->n.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r->n.nlmsg_type = nl->family;
	r->n.nlmsg_flags = NLM_F_REQUEST | flags;
	r->g.cmd = cmd;
	r->g.version = 1;
}

void nl_add(struct nl_request *r, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (void *)((char *)r + NLMSG_ALIGN(r->n.nlmsg_len));

	if (NLMSG_ALIGN(r->n.nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(len) > sizeof(*r))
		die("a request is too long");
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	r->n.nlmsg_len = NLMSG_ALIGN(r->n.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

void nl_add_u32(struct nl_request *r, uint16_t type, uint32_t value)
{
	nl_add(r, type, &value, sizeof(value));
}

void nl_add_u64(struct nl_request *r, uint16_t type, uint64_t value)
{
	nl_add(r, type, &value, sizeof(value));
}

void nl_add_text(struct nl_request *r, uint16_t type, const char *text)
{
	nl_add(r, type, text, strlen(text) + 1);
}

size_t nl_nest(struct nl_request *r, uint16_t type)
{
	size_t nest = NLMSG_ALIGN(r->n.nlmsg_len);

	nl_add(r, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void nl_nest_end(struct nl_request *r, size_t nest)
{
	struct nlattr *a = (void *)((char *)r + nest);

	a->nla_len = r->n.nlmsg_len - nest;
}

bool nl_next(const struct nl_message *m, size_t *pos, uint16_t *type, const void **data,
	     size_t *len)
{
	const struct nlattr *a = (const void *)((const char *)m->attrs + *pos);

	if (*pos + NLA_HDRLEN > m->len)
		return false;
	if (a->nla_len < NLA_HDRLEN || *pos + a->nla_len > m->len)
		die("an attribute of %u bytes, with %zu left", a->nla_len, m->len - *pos);
	*type = a->nla_type & NLA_TYPE_MASK;
	*data = (const char *)a + NLA_HDRLEN;
	*len = a->nla_len - NLA_HDRLEN;
	*pos += NLA_ALIGN(a->nla_len);
	return true;
}

const void *nl_attr(const struct nl_message *m, uint16_t type, size_t *len)
{
	const void *data;
	size_t pos = 0, n;
	uint16_t t;

	while (nl_next(m, &pos, &t, &data, &n))
		if (t == type) {
			if (len)
				*len = n;
			return data;
		}
	return NULL;
}

uint64_t nl_number(const struct nl_message *m, uint16_t type)
{
	uint64_t value = 0;
	size_t len = 0;
	const void *data = nl_attr(m, type, &len);

	if (len > sizeof(value))
		die("attribute %u has %zu bytes", type, len);
	if (len)
		memcpy(&value, data, len);	/* little endian */
	return value;
}

struct nl_message nl_inside(const struct nl_message *m, uint16_t type)
{
	struct nl_message in = { .cmd = m->cmd };

	in.attrs = nl_attr(m, type, &in.len);
	if (!in.attrs)
		in.len = 0;
	return in;
}

static struct nl_message nl_parse(const struct nlmsghdr *n)
{
	const struct genlmsghdr *g = NLMSG_DATA(n);

	return (struct nl_message){
		.cmd = g->cmd,
		.attrs = (const char *)g + GENL_HDRLEN,
		.len = n->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN),
	};
}

/* An answer's end: @n, with @size bytes before what may be told */
static int nl_end(struct nl *nl, const struct nlmsghdr *n, size_t size)
{
	struct nl_message m = { .attrs = (const char *)NLMSG_DATA(n) + size };
	const char *why;

	if (n->nlmsg_flags & NLM_F_ACK_TLVS) {
		m.len = n->nlmsg_len - NLMSG_LENGTH(size);
		why = nl_attr(&m, NLMSGERR_ATTR_MSG, NULL);
		snprintf(nl->why, sizeof(nl->why), "%s", why ? why : "");
		nl->bad = nl_number(&m, NLMSGERR_ATTR_OFFS);
	}
	return *(const int *)NLMSG_DATA(n);
}

int nl_talk(struct nl *nl, struct nl_request *r,
	    void (*each)(const struct nl_message *m, void *arg), void *arg)
{
	bool dump = (r->n.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	static __thread char buf[65536];
	struct nlmsghdr *n;
	struct nl_message m;
	int len;

	nl->why[0] = 0;
	nl->bad = 0;
	r->n.nlmsg_seq = ++nl->seq;
	if (!dump)
		r->n.nlmsg_flags |= NLM_F_ACK;
	if (send(nl->fd, r, r->n.nlmsg_len, 0) < 0)
		return -errno;
	for (;;) {
		len = recv(nl->fd, buf, sizeof(buf), 0);
		if (len < 0)
			return -errno;
		for (n = (void *)buf; NLMSG_OK(n, len); n = NLMSG_NEXT(n, len)) {
			if (n->nlmsg_seq != nl->seq)
				continue;
			if (n->nlmsg_type == NLMSG_ERROR)
				return nl_end(nl, n, sizeof(struct nlmsgerr));
			if (n->nlmsg_type == NLMSG_DONE)
				return nl_end(nl, n, sizeof(int));
			m = nl_parse(n);
			if (each)
				each(&m, arg);
		}
	}
}

int nl_destroy(struct nl *nl, uint64_t cookie)
{
	struct nl_request r;

	nl_start(&r, nl, SSTP_CMD_CONN_DESTROY, 0);
	nl_add_u64(&r, SSTP_A_CONN_COOKIE, cookie);
	return nl_talk(nl, &r, NULL, NULL);
}

bool nl_event(struct nl *nl, void *buf, size_t size, struct nl_message *m, int ms)
{
	struct pollfd p = { .fd = nl->fd, .events = POLLIN };

	errno = ETIMEDOUT;
	if (poll(&p, 1, ms) != 1 || recv(nl->fd, buf, size, 0) < 0)
		return false;
	*m = nl_parse(buf);
	return true;
}

static void nl_found(const struct nl_message *m, void *arg)
{
	struct nl_message groups = nl_inside(m, CTRL_ATTR_MCAST_GROUPS), group;
	struct nl *nl = arg;
	const void *data;
	size_t pos = 0;
	uint16_t type;

	nl->family = nl_number(m, CTRL_ATTR_FAMILY_ID);
	while (nl_next(&groups, &pos, &type, &data, &group.len)) {
		group.attrs = data;
		if (!strcmp(nl_attr(&group, CTRL_ATTR_MCAST_GRP_NAME, NULL),
			    SSTP_MCGRP_EVENTS))
			nl->events = nl_number(&group, CTRL_ATTR_MCAST_GRP_ID);
	}
}

void nl_open(struct nl *nl)
{
	struct nl_request r;
	int err;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		die("netlink:");
	sock_set(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
	sock_set(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
	nl->family = GENL_ID_CTRL;
	nl_start(&r, nl, CTRL_CMD_GETFAMILY, 0);
	nl_add_text(&r, CTRL_ATTR_FAMILY_NAME, SSTP_FAMILY_NAME);
	err = nl_talk(nl, &r, nl_found, nl);
	if (err)
		die("no netlink family sstp: %s", strerror(-err));
}

void nl_join(struct nl *nl)
{
	sock_set(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, nl->events);
}

void nl_close(struct nl *nl)
{
	close(nl->fd);
}
