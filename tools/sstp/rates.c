// SPDX-License-Identifier: GPL-2.0
/* What connections did between two looks at them: rates for sstp show and sstp top. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "sstp.h"

/* Counters of struct sstp_monitor: @total and @recent of the field @to, of the field @from of
 * struct sstp_info
 */
static const struct counter {
	const char *name;
	uint16_t from, to;
} counters[] = {
#define SSTP_MONITOR_COUNT(field)	\
	{ #field, offsetof(struct sstp_info, field), offsetof(struct sstp_monitor, field) },
#include "../../net/sstp/monitor_list.h"
#undef SSTP_MONITOR_COUNT
};

static void add(const struct conn *c, void *arg)
{
	struct rows *r = arg;

	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->at = realloc(r->at, r->room * sizeof(*r->at));
		if (!r->at)
			die("no memory for %zu connections", r->room);
	}
	r->at[r->n++] = (struct row){ .c = *c };
}

/* A socket that connects again keeps its cookie, but has another CID, and counts from 0. */
int row_by_identity(const void *a, const void *b)
{
	const struct conn *x = &((const struct row *)a)->c, *y = &((const struct row *)b)->c;

	if (x->cookie != y->cookie)
		return x->cookie < y->cookie ? -1 : 1;
	return x->cid < y->cid ? -1 : x->cid > y->cid;
}

/* As the kernel fills struct sstp_monitor, between @was and @is; only its counters and the rates
 * of the interval are set.
 */
static void compare(struct sstp_monitor *m, const struct sstp_info *was,
		    const struct sstp_info *is)
{
	double seconds = (is->age - was->age) / 1e6;
	uint64_t lost, sent, before, *pair;
	const struct counter *c;

	for (c = counters; c < counters + SIZE(counters); c++) {
		pair = (uint64_t *)((char *)m + c->to);
		pair[0] = *(uint64_t *)((char *)is + c->from);
		before = *(uint64_t *)((char *)was + c->from);
		/* What was shipped of a segment that is cut anew is taken off again. */
		pair[1] = pair[0] > before ? pair[0] - before : 0;
	}
	if (seconds > 0) {
		m->send_rate = 8 * m->bytes_sent.recent / seconds;
		m->receive_rate = 8 * m->bytes_received.recent / seconds;
	}
	lost = m->packets_lost.recent;
	sent = m->packets_sent.recent;
	/* Packets sent in an earlier interval may be reported lost in this one. */
	if (sent)
		m->loss_rate = 1e6 * (lost < sent ? lost : sent) / sent;
}

void rows_get(struct nl *nl, const struct filter *f, struct rows *rows, struct rows *before)
{
	const struct row *old;
	struct row *r;

	rows->n = 0;
	nl_check(nl, filter_dump(nl, f, add, rows), "connections");
	if (before->n)
		qsort(before->at, before->n, sizeof(*before->at), row_by_identity);
	for (r = rows->at; r < rows->at + rows->n; r++) {
		old = before->n ? bsearch(r, before->at, before->n, sizeof(*r),
					  row_by_identity) : NULL;
		/* Without its CID, a new connection of an old socket is known by its age. A
		 * new one has rates from the next interval on.
		 */
		if (!old || old->c.info.age > r->c.info.age || conn_listens(&r->c))
			continue;
		r->known = true;
		compare(&r->m, &old->c.info, &r->c.info);
	}
}

static void per_second(const char *name, const struct sstp_count *n, const struct row *r)
{
	double seconds = r->m.age.recent / 1e6;
	char buf[TEXT_MAX];

	printf(" %s:%s/s", name, text_number(buf, seconds > 0 ? n->recent / seconds : 0));
}

void rates_print(const struct row *r)
{
	const struct sstp_monitor *m = &r->m;
	char buf[TEXT_MAX];

	printf("\t%ssending%s: rate:%s", color(FAINT), color(PLAIN),
	       text_rate(buf, m->send_rate));
	per_second("packets", &m->packets_sent, r);
	per_second("retrans", &m->packets_retrans, r);
	printf(" lost:%.2f%%", m->loss_rate / 1e4);
	per_second("acks", &m->acks_received, r);
	per_second("snaks", &m->snaks_received, r);
	printf("\n\t%sreceiving%s: rate:%s", color(FAINT), color(PLAIN),
	       text_rate(buf, m->receive_rate));
	per_second("packets", &m->packets_received, r);
	per_second("duplicate", &m->packets_duplicate, r);
	per_second("discarded", &m->packets_discarded, r);
	per_second("acks", &m->acks_sent, r);
	per_second("snaks", &m->snaks_sent, r);
	printf("\n");
}

void json_rates(FILE *f, const struct row *r)
{
	const struct sstp_monitor *m = &r->m;
	const struct counter *c;

	fprintf(f, ", \"recent\": {\"send_rate\": %" PRIu64 ", \"receive_rate\": %" PRIu64
		", \"loss_rate\": %u", (uint64_t)m->send_rate, (uint64_t)m->receive_rate,
		m->loss_rate);
	for (c = counters; c < counters + SIZE(counters); c++)
		fprintf(f, ", \"%s\": %" PRIu64, c->name, ((uint64_t *)((char *)m + c->to))[1]);
	putc('}', f);
}
