// SPDX-License-Identifier: GPL-2.0
/* Connections, parsed from netlink messages. */
#include <linux/genetlink.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "sstp.h"

/* All members of struct sstp_info except the contract, in the order of the struct */
const struct field info_fields[] = {
#define SSTP_INFO_FIELD(NAME, field)					\
	{ #field, SSTP_A_INFO_##NAME, offsetof(struct sstp_info, field), \
	  sizeof(((struct sstp_info *)0)->field) },
#include "../../net/sstp/info_list.h"
#undef SSTP_INFO_FIELD
};

const unsigned int info_fields_count = SIZE(info_fields);

uint64_t field_number(const struct field *f, const struct sstp_info *i)
{
	uint64_t value = 0;

	/* A little-endian number begins @value, a big-endian one ends it. */
	memcpy((char *)&value + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ?
				 sizeof(value) - f->size : 0),
	       (const char *)i + f->offset, f->size);
	return value;
}

/* A newer kernel may have made the attribute larger or smaller. */
static void take(void *to, size_t size, const struct nlattr *a)
{
	size_t len = mnl_attr_get_payload_len(a);

	memcpy(to, mnl_attr_get_payload(a), len < size ? len : size);
}

#define TAKE(ATTR, field)				\
	case ATTR:					\
		take(&(field), sizeof(field), a);	\
		break

static void parse_spec(const struct nlattr *nest, struct sstp_rate_spec *r)
{
	const struct nlattr *a;

	mnl_attr_for_each_nested(a, nest) {
		switch (mnl_attr_get_type(a)) {
		TAKE(SSTP_A_RATE_PEAK, r->peak);
		TAKE(SSTP_A_RATE_AVERAGE, r->average);
		TAKE(SSTP_A_RATE_BURST_RATE, r->burst_rate);
		TAKE(SSTP_A_RATE_BURST_LEN, r->burst_len);
		}
	}
}

static void parse_info(const struct nlattr *nest, struct sstp_info *i)
{
	static const struct field *by_attr[SSTP_A_INFO_MAX + 1];
	const struct nlattr *a;
	const struct field *f;
	unsigned int k;

	if (!by_attr[info_fields[0].attr])
		for (k = 0; k < SIZE(info_fields); k++)
			by_attr[info_fields[k].attr] = &info_fields[k];
	mnl_attr_for_each_nested(a, nest) {
		if (mnl_attr_get_type(a) > SSTP_A_INFO_MAX)
			continue;
		f = by_attr[mnl_attr_get_type(a)];
		if (f)
			take((char *)i + f->offset, f->size, a);
		else if (mnl_attr_get_type(a) == SSTP_A_INFO_RATE)
			parse_spec(a, &i->rate);
	}
	i->controller[SSTP_NAME_MAX - 1] = 0;
	i->policy[SSTP_NAME_MAX - 1] = 0;
}

/* Parameters beyond those that this version can store are left out. */
static void parse_params(const struct nlattr *nest, struct params *params)
{
	const struct nlattr *in, *a;
	struct sstp_param *p;

	mnl_attr_for_each_nested(in, nest) {
		if (mnl_attr_get_type(in) != SSTP_A_PARAMS_PARAM || params->n == SIZE(params->p))
			continue;
		p = &params->p[params->n++];
		mnl_attr_for_each_nested(a, in) {
			switch (mnl_attr_get_type(a)) {
			TAKE(SSTP_A_PARAM_NAME, p->name);
			TAKE(SSTP_A_PARAM_VALUE, p->value);
			}
		}
		p->name[SSTP_NAME_MAX - 1] = 0;
	}
}

void conn_parse(const struct nlmsghdr *n, struct conn *c)
{
	const struct genlmsghdr *g = mnl_nlmsg_get_payload(n);
	const struct nlattr *a;

	memset(c, 0, sizeof(*c));
	if (mnl_nlmsg_get_payload_len(n) < GENL_HDRLEN)
		return;
	c->cmd = g->cmd;
	mnl_attr_for_each(a, n, GENL_HDRLEN) {
		switch (mnl_attr_get_type(a)) {
		TAKE(SSTP_A_CONN_PEER_CID, c->peer_cid);
		TAKE(SSTP_A_CONN_COOKIE, c->cookie);
		TAKE(SSTP_A_CONN_FAMILY, c->family);
		TAKE(SSTP_A_CONN_LOCAL_ADDR, c->local);
		TAKE(SSTP_A_CONN_REMOTE_ADDR, c->remote);
		TAKE(SSTP_A_CONN_LOCAL_PORT, c->local_port);
		TAKE(SSTP_A_CONN_REMOTE_PORT, c->remote_port);
		TAKE(SSTP_A_CONN_ENCAP_PORT, c->encap_port);
		TAKE(SSTP_A_CONN_STATE, c->state);
		TAKE(SSTP_A_CONN_TYPE, c->type);
		TAKE(SSTP_A_CONN_UID, c->uid);
		TAKE(SSTP_A_CONN_INODE, c->inode);
		TAKE(SSTP_A_CONN_IFINDEX, c->ifindex);
		TAKE(SSTP_A_CONN_BACKLOG, c->backlog);
		TAKE(SSTP_A_CONN_BACKLOG_MAX, c->backlog_max);
		TAKE(SSTP_A_CONN_ERROR, c->error);
		TAKE(SSTP_A_CONN_CLOSED_BY, c->closed_by);
		TAKE(SSTP_A_CONN_OLD_LIMIT, c->old_limit);
		TAKE(SSTP_A_CONN_NEW_LIMIT, c->new_limit);
		TAKE(SSTP_A_CONN_PACKETS_DISCARDED, c->packets_discarded);
		TAKE(SSTP_A_CONN_BYTES_DISCARDED, c->bytes_discarded);
		case SSTP_A_CONN_CID:
			take(&c->cid, sizeof(c->cid), a);
			c->has_cid = true;
			break;
		case SSTP_A_CONN_SHARED:
			c->shared = true;
			break;
		case SSTP_A_CONN_INFO:
			parse_info(a, &c->info);
			c->has_info = true;
			break;
		case SSTP_A_CONN_CONTROLLER_PARAMS:
			parse_params(a, &c->controller);
			break;
		case SSTP_A_CONN_POLICY_PARAMS:
			parse_params(a, &c->policy);
			break;
		case SSTP_A_CONN_RATE:
			parse_spec(a, &c->rate);
			c->has_rate = true;
			break;
		}
	}
	c->local_port = ntohs(c->local_port);
	c->remote_port = ntohs(c->remote_port);
	c->encap_port = ntohs(c->encap_port);
}

bool conn_listens(const struct conn *c)
{
	return c->state == TCP_LISTEN;
}

/* States as ss(8) prints them, and as its filters name them */
static const struct {
	const char *name, *word;
} states[] = {
	[TCP_ESTABLISHED] = { "ESTAB", "established" },
	[TCP_SYN_SENT] = { "SYN-SENT", "syn-sent" },
	[TCP_SYN_RECV] = { "SYN-RECV", "syn-recv" },
	[TCP_FIN_WAIT1] = { "FIN-WAIT-1", "fin-wait-1" },
	[TCP_FIN_WAIT2] = { "FIN-WAIT-2", "fin-wait-2" },
	[TCP_CLOSE] = { "UNCONN", "closed" },
	[TCP_CLOSE_WAIT] = { "CLOSE-WAIT", "close-wait" },
	[TCP_LAST_ACK] = { "LAST-ACK", "last-ack" },
	[TCP_LISTEN] = { "LISTEN", "listening" },
	[TCP_CLOSING] = { "CLOSING", "closing" },
};

const char *state_name(unsigned int state)
{
	return state < SIZE(states) && states[state].name ? states[state].name : "UNKNOWN";
}

const char *ecn_name(unsigned int ecn)
{
	static const char *const names[] = {
		[SSTP_ECN_OFF] = "off", [SSTP_ECN_TESTED] = "tested", [SSTP_ECN_USED] = "used",
		[SSTP_ECN_BLEACHED] = "bleached", [SSTP_ECN_ALL_MARKED] = "all-marked",
		[SSTP_ECN_DROPPED] = "dropped", [SSTP_ECN_INVALID] = "invalid",
	};

	return ecn < SIZE(names) ? names[ecn] : "unknown";
}

uint32_t state_parse(const char *word)
{
	unsigned int i;

	if (!strcasecmp(word, "all"))
		return ~0U;
	for (i = 0; i < SIZE(states); i++)
		if (states[i].name && (!strcasecmp(word, states[i].name) ||
				       !strcasecmp(word, states[i].word)))
			return STATE_BIT(i);
	return 0;
}
