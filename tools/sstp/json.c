// SPDX-License-Identifier: GPL-2.0
/* Connections as JSON; names are those of struct sstp_info and of sstp.yaml. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>

#include "sstp.h"

void json_text(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c > '~')
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

static void json_end(FILE *f, const char *name, const struct conn *c,
		     const struct in6_addr *addr, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];

	if (c->family && inet_ntop(c->family, addr, text, sizeof(text)))
		fprintf(f, ", \"%s_addr\": \"%s\"", name, text);
	fprintf(f, ", \"%s_port\": %u", name, port);
}

static void json_spec(FILE *f, const struct sstp_rate_spec *r)
{
	fprintf(f, "\"rate\": {\"peak\": %" PRIu64 ", \"average\": %" PRIu64
		", \"burst_rate\": %u, \"burst_len\": %u}", (uint64_t)r->peak,
		(uint64_t)r->average, r->burst_rate, r->burst_len);
}

static void json_info(FILE *f, const struct sstp_info *i)
{
	const struct field *field;
	unsigned int k;

	fprintf(f, ", \"info\": {");
	json_spec(f, &i->rate);
	for (k = 0; k < info_fields_count; k++) {
		field = &info_fields[k];
		fprintf(f, ", \"%s\": ", field->name);
		if (field->size == SSTP_NAME_MAX)
			json_text(f, (const char *)i + field->offset);
		else
			fprintf(f, "%" PRIu64, field_number(field, i));
	}
	putc('}', f);
}

static void json_params(FILE *f, const char *name, const struct params *params)
{
	unsigned int i;

	fprintf(f, ", \"%s\": {", name);
	for (i = 0; i < params->n; i++) {
		if (i)
			fprintf(f, ", ");
		json_text(f, params->p[i].name);
		fprintf(f, ": %" PRId64, (int64_t)params->p[i].value);
	}
	putc('}', f);
}

void json_conn(FILE *f, const struct conn *c)
{
	fprintf(f, "\"cookie\": %" PRIu64, c->cookie);
	if (c->has_cid)
		fprintf(f, ", \"cid\": \"%08x\"", c->cid);
	fprintf(f, ", \"type\": \"%s\", \"state\": \"%s\"",
		c->type == SOCK_STREAM ? "stream" : "seqpacket", state_name(c->state));
	json_end(f, "local", c, &c->local, c->local_port);
	if (conn_listens(c)) {
		fprintf(f, ", \"backlog\": %u, \"backlog_max\": %u", c->backlog,
			c->backlog_max);
	} else {
		json_end(f, "remote", c, &c->remote, c->remote_port);
		if (c->has_cid)
			fprintf(f, ", \"peer_cid\": \"%08x\"", c->peer_cid);
		fprintf(f, ", \"encap_port\": %u", c->encap_port);
	}
	fprintf(f, ", \"uid\": %u, \"inode\": %" PRIu64, c->uid, c->inode);
	if (c->ifindex)
		fprintf(f, ", \"ifindex\": %u", c->ifindex);
	if (c->has_rate) {
		fprintf(f, ", ");
		json_spec(f, &c->rate);
	}
	if (c->has_info) {
		json_info(f, &c->info);
		json_params(f, "controller_params", &c->controller);
		json_params(f, "policy_params", &c->policy);
	}
}
