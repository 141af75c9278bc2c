// SPDX-License-Identifier: GPL-2.0
/* Lines below a connection: what is known of it, in words that begin with a name. */
#include <arpa/inet.h>
#include <inttypes.h>

#include "sstp.h"

static void put_bytes(const char *name, double bytes)
{
	char buf[TEXT_MAX];

	printf(" %s:%s", name, text_bytes(buf, bytes));
}

static void put_rate(const char *name, double bits)
{
	char buf[TEXT_MAX];

	printf(" %s:%s", name, text_rate(buf, bits));
}

static void put_us(const char *name, double us)
{
	char buf[TEXT_MAX];

	printf(" %s:%s", name, text_us(buf, us));
}

static void put_count(const char *name, double n)
{
	char buf[TEXT_MAX];

	printf(" %s:%s", name, text_number(buf, n));
}

static void begin(const char *topic)
{
	printf("\t%s%s%s:", color(FAINT), topic, color(PLAIN));
}

static void path(const struct conn *c)
{
	const struct sstp_info *i = &c->info;

	begin("path");
	put_us("rtt", i->rtt);
	put_us("rttvar", i->rttvar);
	put_us("rtt_min", i->rtt_min);
	printf(" mtu:%u packet:%u", i->mtu, i->packet_size);
	if (i->reordering)
		printf(" reordering:%u", i->reordering);
	printf(" udp_port:%u peer_cid:%08x\n", c->encap_port, c->peer_cid);
}

static void agreed(const struct sstp_info *i)
{
	begin("contract");
	if (!i->rate.peak) {
		printf(" none");
	} else {
		put_rate("peak", i->rate.peak);
		if (i->rate.average)
			put_rate("average", i->rate.average);
		if (i->rate.burst_rate)
			printf(" bursts:%.3f/s", i->rate.burst_rate / 1000.0);
		if (i->rate.burst_len)
			printf(" burst:%u packets", i->rate.burst_len);
	}
	printf(" controller:%s", i->controller);
	if (i->cwnd != UINT32_MAX)
		printf(" cwnd:%u", i->cwnd);
	if (i->period)
		put_us("period", i->period / 1000.0);
	if (i->tolerance)
		printf(" tolerance:%g%%", i->tolerance / 10000.0);
	printf(" ack:%s\n", i->ack_strategy == SSTP_ACK_SOFT ? "soft" : "hard");
}

static void sent(const struct sstp_info *i)
{
	begin("sent");
	put_bytes("bytes", i->bytes_sent);
	put_bytes("acked", i->bytes_acked);
	put_bytes("again", i->bytes_retrans);
	put_count("packets", i->packets_sent);
	put_count("again", i->packets_retrans);
	put_count("lost", i->packets_lost);
	put_count("segments", i->segments_sent);
	put_rate("arrives", i->delivery_rate);
	printf(" in_flight:%d window:%u segments", (int)i->in_flight, i->snd_window);
	if (i->backoff)
		printf(" unanswered:%u", i->backoff);
	printf("\n");
}

static void received(const struct sstp_info *i)
{
	begin("received");
	put_bytes("bytes", i->bytes_received);
	put_bytes("unread", i->rcv_readable);
	put_count("packets", i->packets_received);
	put_count("twice", i->packets_duplicate);
	put_count("discarded", i->packets_discarded);
	put_count("segments", i->segments_received);
	if (i->segments_holed)
		put_count("holed", i->segments_holed);
	put_rate("arrival", i->arrival_rate);
	put_rate("service", i->service_rate);
	printf(" window:%u segments\n", i->rcv_window);
}

static void times(const struct sstp_info *i)
{
	begin("time");
	put_us("age", i->age);
	put_us("busy", i->busy_time);
	put_us("contract", i->contract_time);
	put_us("controller", i->controller_time);
	put_us("window", i->window_time);
	put_us("sndbuf", i->sndbuf_time);
	put_us("device", i->device_time);
	put_us("unread", i->unread_time);
	printf("\n");
}

void info_print(const struct conn *c)
{
	if (conn_listens(c)) {
		begin("listener");
		printf(" uid:%u inode:%" PRIu64 " controller:%s policy:%s\n", c->uid, c->inode,
		       c->info.controller[0] ? c->info.controller : "-",
		       c->info.policy[0] ? c->info.policy : "-");
		return;
	}
	path(c);
	agreed(&c->info);
	sent(&c->info);
	received(&c->info);
	times(&c->info);
}

void info_memory(const struct conn *c)
{
	const struct sstp_info *i = &c->info;

	begin("memory");
	put_bytes("snd_queued", i->snd_queued);
	put_bytes("rcv_queued", i->rcv_queued);
	put_bytes("rcv_buffer", i->rcv_buffer);
	printf(" policy:%s", i->policy[0] ? i->policy : "-");
	if (!conn_listens(c)) {
		put_bytes("rcv_peak", i->rcv_peak);
		put_bytes("rcv_buffer_peak", i->rcv_buffer_peak);
		printf(" grown:%ux", i->rcv_grown);
		put_bytes("by", i->rcv_grown_bytes);
		printf(" shrunk:%ux", i->rcv_shrunk);
		put_bytes("by", i->rcv_shrunk_bytes);
		put_bytes("discarded", i->bytes_discarded);
		printf(" bounded:%u/%u epochs", i->rcv_bounded, i->rcv_epochs);
		printf(" used:%.1f%%", i->mem_used / 10.0);
		put_bytes("available", i->mem_available);
	}
	printf("\n");
}
