// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family "sstp". */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sstp.h"

#define RECEIVE		(64 << 10)	/* the kernel sends a dump in parts of 32 KB */
#define EVENTS_BUFFER	(4 << 20)	/* SO_RCVBUF of the socket for events, bytes */

bool nl_is(const struct nlattr *a, uint16_t attr, enum mnl_attr_data_type type)
{
	return mnl_attr_get_type(a) == attr && !mnl_attr_validate(a, type);
}

/* Keep the message of an extended ACK. */
static int error_attr(const struct nlattr *a, void *arg)
{
	struct nl *nl = arg;

	if (nl_is(a, NLMSGERR_ATTR_MSG, MNL_TYPE_NUL_STRING))
		snprintf(nl->why, sizeof(nl->why), "%s", mnl_attr_get_str(a));
	return MNL_CB_OK;
}

static int error(const struct nlmsghdr *n, void *arg)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(n);
	size_t skip = sizeof(*e);

	if (mnl_nlmsg_get_payload_len(n) < sizeof(*e)) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	/* The error carries the whole request, unless that was capped. */
	if (e->error && !(n->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(&e->msg);
	if (n->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(n, skip, error_attr, arg);
	errno = -e->error;
	return e->error ? MNL_CB_ERROR : MNL_CB_STOP;
}

static int done(const struct nlmsghdr *n, void *arg)
{
	const int *err = mnl_nlmsg_get_payload(n);

	if (mnl_nlmsg_get_payload_len(n) >= sizeof(*err) && *err < 0) {
		if (n->nlmsg_flags & NLM_F_ACK_TLVS)
			mnl_attr_parse(n, sizeof(*err), error_attr, arg);
		errno = -*err;
		return MNL_CB_ERROR;
	}
	return MNL_CB_STOP;
}

/* Argument of the callbacks below */
struct talk {
	struct nl *nl;
	mnl_cb_t each;
	void *arg;
};

static int talk_each(const struct nlmsghdr *n, void *arg)
{
	struct talk *t = arg;

	return t->each ? t->each(n, t->arg) : MNL_CB_OK;
}

static int talk_error(const struct nlmsghdr *n, void *arg)
{
	return error(n, ((struct talk *)arg)->nl);
}

static int talk_done(const struct nlmsghdr *n, void *arg)
{
	return done(n, ((struct talk *)arg)->nl);
}

int nl_talk(struct nl *nl, struct nlmsghdr *n, mnl_cb_t each, void *arg)
{
	static mnl_cb_t control[NLMSG_MIN_TYPE] = {
		[NLMSG_ERROR] = talk_error, [NLMSG_DONE] = talk_done,
	};
	struct talk t = { .nl = nl, .each = each, .arg = arg };
	static char buf[RECEIVE];
	ssize_t len;
	int run;

	nl->why[0] = 0;
	if ((n->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		n->nlmsg_flags |= NLM_F_ACK;
	n->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->s, n, n->nlmsg_len) < 0)
		return -errno;
	do {
		len = mnl_socket_recvfrom(nl->s, buf, sizeof(buf));
		if (len < 0)
			return -errno;
		run = mnl_cb_run2(buf, len, nl->seq, mnl_socket_get_portid(nl->s), talk_each,
				  &t, control, SIZE(control));
	} while (run > MNL_CB_STOP);
	return run < 0 ? -errno : 0;
}

struct nlmsghdr *nl_start(struct nl *nl, char buf[NL_REQUEST_MAX], uint8_t cmd,
			  uint16_t flags)
{
	struct nlmsghdr *n = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g = mnl_nlmsg_put_extra_header(n, sizeof(*g));

	n->nlmsg_type = nl->family;
	n->nlmsg_flags = NLM_F_REQUEST | flags;
	g->cmd = cmd;
	g->version = SSTP_FAMILY_VERSION;
	return n;
}

static int group(const struct nlattr *a, void *arg)
{
	struct nl *nl = arg;
	const char *name = "";
	struct nlattr *in;
	uint32_t id = 0;

	mnl_attr_for_each_nested(in, a) {
		if (nl_is(in, CTRL_ATTR_MCAST_GRP_NAME, MNL_TYPE_NUL_STRING))
			name = mnl_attr_get_str(in);
		else if (nl_is(in, CTRL_ATTR_MCAST_GRP_ID, MNL_TYPE_U32))
			id = mnl_attr_get_u32(in);
	}
	if (!strcmp(name, SSTP_MCGRP_EVENTS))
		nl->events = id;
	return MNL_CB_OK;
}

static int family(const struct nlmsghdr *n, void *arg)
{
	struct nl *nl = arg;
	struct nlattr *a;

	mnl_attr_for_each(a, n, GENL_HDRLEN) {
		if (nl_is(a, CTRL_ATTR_FAMILY_ID, MNL_TYPE_U16))
			nl->family = mnl_attr_get_u16(a);
		else if (mnl_attr_get_type(a) == CTRL_ATTR_MCAST_GROUPS)
			mnl_attr_parse_nested(a, group, nl);
	}
	return MNL_CB_OK;
}

void nl_open(struct nl *nl)
{
	char buf[NL_REQUEST_MAX];
	struct nlmsghdr *n;
	int on = 1, err;

	memset(nl, 0, sizeof(*nl));
	nl->s = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->s || mnl_socket_bind(nl->s, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink: %s", strerror(errno));
	mnl_socket_setsockopt(nl->s, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->s, NETLINK_CAP_ACK, &on, sizeof(on));
	nl->family = GENL_ID_CTRL;
	n = nl_start(nl, buf, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(n, CTRL_ATTR_FAMILY_NAME, SSTP_FAMILY_NAME);
	err = nl_talk(nl, n, family, nl);
	if (err == -ENOENT)
		die("the kernel module sstp is not loaded: modprobe sstp");
	nl_check(nl, err, "netlink family sstp");
}

void nl_listen(struct nl *nl)
{
	const int bytes = EVENTS_BUFFER;
	int fd = mnl_socket_get_fd(nl->s);

	/* Without CAP_NET_ADMIN, net.core.rmem_max limits the buffer. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (mnl_socket_setsockopt(nl->s, NETLINK_ADD_MEMBERSHIP, &nl->events,
				  sizeof(nl->events)))
		die("cannot join the multicast group of events: %s", strerror(errno));
}

void nl_check(const struct nl *nl, int err, const char *what)
{
	if (!err)
		return;
	if (nl->why[0])
		die("%s: %s (%s)", what, nl->why, strerror(-err));
	if (err == -EPERM)
		die("%s: not permitted without CAP_NET_ADMIN (try sudo)", what);
	die("%s: %s", what, strerror(-err));
}
