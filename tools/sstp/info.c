// SPDX-License-Identifier: GPL-2.0
/* Details of a connection: "name:value" pairs on the lines below it. */
#include <arpa/inet.h>
#include <inttypes.h>

#include "sstp.h"

/* Print " @name:value"; @text is a formatter of text.c. */
static void put(const char *name, char *(*text)(char buf[TEXT_MAX], double n), double value)
{
	char buf[TEXT_MAX];

	printf(" %s:%s", name, text(buf, value));
}

static void begin(const char *topic)
{
	printf("\t%s%s%s:", color(FAINT), topic, color(PLAIN));
}

static void path(const struct conn *c)
{
	const struct sstp_info *i = &c->info;

	begin("path");
	put("rtt", text_us, i->rtt);
	put("rttvar", text_us, i->rttvar);
	put("rtt_min", text_us, i->rtt_min);
	put("rto", text_us, i->rto);
	printf(" mtu:%u packet:%u", i->mtu, i->packet_size);
	if (i->reordering)
		printf(" reordering:%u", i->reordering);
	printf(" udp_port:%u", c->encap_port);
	if (c->has_cid)
		printf(" cid:%08x peer_cid:%08x", c->cid, c->peer_cid);
	putchar('\n');
}

static void agreed(const struct sstp_info *i)
{
	begin("contract");
	if (!i->rate.peak) {
		printf(" none");
	} else {
		put("peak", text_rate, i->rate.peak);
		if (i->rate.average)
			put("average", text_rate, i->rate.average);
		if (i->rate.burst_rate)
			printf(" bursts:%.3f/s", i->rate.burst_rate / 1000.0);
		if (i->rate.burst_len)
			printf(" burst:%u packets", i->rate.burst_len);
	}
	if (i->contract_breaks)
		printf(" broken:%ux", i->contract_breaks);
	if (i->contract_wait)
		put("tried_in", text_us, i->contract_wait * 1000.0);
	printf(" controller:%s", i->controller);
	if (i->cwnd != UINT32_MAX)
		printf(" cwnd:%u", i->cwnd);
	if (i->period)
		put("period", text_us, i->period / 1000.0);
	if (i->tolerance)
		printf(" tolerance:%g%%", i->tolerance / 10000.0);
	printf(" ack:%s\n", i->ack_strategy == SSTP_ACK_SOFT ? "soft" : "hard");
}

static void sent(const struct sstp_info *i)
{
	begin("sent");
	put("bytes", text_bytes, i->bytes_sent);
	put("acked", text_bytes, i->bytes_acked);
	put("retrans", text_bytes, i->bytes_retrans);
	put("packets", text_number, i->packets_sent);
	put("retrans", text_number, i->packets_retrans);
	put("lost", text_number, i->packets_lost);
	if (i->ecn != SSTP_ECN_OFF) {
		printf(" ecn:%s", ecn_name(i->ecn));
		put("marked", text_number, i->packets_marked);
	}
	put("segments", text_number, i->segments_sent);
	put("delivery", text_rate, i->delivery_rate);
	put("acked_rate", text_rate, i->acked_rate);
	if (i->app_limited)
		printf(" app_limited");
	printf(" in_flight:%d window:%u segments", (int)i->in_flight, i->snd_window);
	if (i->backoff)
		printf(" unanswered:%u", i->backoff);
	printf("\n");
}

static void received(const struct sstp_info *i)
{
	begin("received");
	put("bytes", text_bytes, i->bytes_received);
	put("unread", text_bytes, i->rcv_readable);
	put("packets", text_number, i->packets_received);
	put("duplicate", text_number, i->packets_duplicate);
	put("discarded", text_number, i->packets_discarded);
	if (i->packets_marked_in)
		put("marked", text_number, i->packets_marked_in);
	put("segments", text_number, i->segments_received);
	if (i->segments_with_gaps)
		put("gapped", text_number, i->segments_with_gaps);
	put("arrival", text_rate, i->arrival_rate);
	put("service", text_rate, i->service_rate);
	printf(" window:%u segments\n", i->rcv_window);
}

static void times(const struct sstp_info *i)
{
	begin("time");
	put("age", text_us, i->age);
	put("busy", text_us, i->busy_time);
	put("contract", text_us, i->contract_time);
	put("controller", text_us, i->controller_time);
	put("window", text_us, i->window_time);
	put("sndbuf", text_us, i->sndbuf_time);
	put("device", text_us, i->device_time);
	put("unread", text_us, i->unread_time);
	printf("\n");
}

/* Print " @name:(parameter:value ...)", as ss does for controllers of TCP. */
static void put_params(const char *name, const struct params *params)
{
	unsigned int i;

	if (!params->n)
		return;
	printf(" %s:(", name);
	for (i = 0; i < params->n; i++)
		printf("%s%s:%" PRId64, i ? " " : "", params->p[i].name,
		       (int64_t)params->p[i].value);
	putchar(')');
}

/* Parameters that are not the default, and state. The kernel does not tell which plug-in a
 * listener's are of.
 */
static void plugins(const struct conn *c)
{
	if (!c->controller.n && !c->policy.n)
		return;
	begin("state");
	put_params(c->info.controller[0] ? c->info.controller : "controller", &c->controller);
	put_params(c->info.policy[0] ? c->info.policy : "policy", &c->policy);
	putchar('\n');
}

void info_print(const struct conn *c)
{
	if (conn_listens(c)) {
		begin("listener");
		printf(" uid:%u inode:%" PRIu64 " controller:%s policy:%s\n", c->uid, c->inode,
		       c->info.controller[0] ? c->info.controller : "-",
		       c->info.policy[0] ? c->info.policy : "-");
		plugins(c);
		return;
	}
	path(c);
	agreed(&c->info);
	sent(&c->info);
	received(&c->info);
	times(&c->info);
	plugins(c);
}

void info_memory(const struct conn *c)
{
	const struct sstp_info *i = &c->info;

	begin("memory");
	put("snd_queued", text_bytes, i->snd_queued);
	put("rcv_queued", text_bytes, i->rcv_queued);
	put("rcv_buffer", text_bytes, i->rcv_buffer);
	printf(" policy:%s", i->policy[0] ? i->policy : "-");
	if (!conn_listens(c)) {
		put("rcv_peak", text_bytes, i->rcv_peak);
		put("rcv_buffer_peak", text_bytes, i->rcv_buffer_peak);
		printf(" grown:%ux", i->rcv_grown);
		put("by", text_bytes, i->rcv_grown_bytes);
		printf(" shrunk:%ux", i->rcv_shrunk);
		put("by", text_bytes, i->rcv_shrunk_bytes);
		put("discarded", text_bytes, i->bytes_discarded);
		printf(" bounded:%u/%u epochs", i->rcv_bounded, i->rcv_epochs);
		printf(" used:%.1f%%", i->mem_used / 10.0);
		put("available", text_bytes, i->mem_available);
	}
	printf("\n");
}
