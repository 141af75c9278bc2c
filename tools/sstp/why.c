// SPDX-License-Identifier: GPL-2.0
/*
 * "limited by: CAUSE" for each direction in which data moved, and what to do about it. It
 * follows from SSTP_INFO: at a sender, from the times that each cause held up data; at a
 * receiver, from the times that data waited for the program, and epochs without memory.
 */
#include <stdarg.h>

#include "sstp.h"

#define LOSSY	0.002		/* share of lost packets that makes a path lossy */
#define MOST	0.5
#define SOME	0.25
#define UNANSWERED	2	/* unanswered probes that are not unusual */
#define FEW	4		/* segments of a buffer that is hardly ever filled */

static double lost_share(const struct sstp_info *i)
{
	return i->packets_sent ? (double)i->packets_lost / i->packets_sent : 0;
}

/* Print "limited by: @cause" and the advice of @format. */
__attribute__((format(printf, 2, 3)))
static void line(const char *cause, const char *format, ...)
{
	va_list args;

	printf("\t%slimited by:%s %s%s%s", color(BOLD), color(PLAIN), color(RED), cause,
	       color(PLAIN));
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void why_contract(const struct conn *c)
{
	const struct sstp_info *i = &c->info;
	const struct sstp_rate_spec *r = &i->rate;
	char rate[TEXT_MAX], cause[TEXT_MAX + 16];

	snprintf(cause, sizeof(cause), "contract %s", text_rate(rate, r->average ?: r->peak));
	line(cause, ", %.0f%% of the time: 'sstp set %llx rate RATE' changes it "
	     "(unless the peer's SSTP_RATE_LIMIT or SO_MAX_PACING_RATE limits it)",
	     percent(i->contract_time, i->busy_time), (unsigned long long)c->cookie);
}

static void why_controller(const struct conn *c)
{
	const struct sstp_info *i = &c->info;
	double lost = lost_share(i);
	/* hybrid and others keep the queue of a full path shorter than the round trip. */
	bool queue = i->rtt_min && i->rtt > i->rtt_min + i->rtt_min / 4 + 2000;
	char a[TEXT_MAX], b[TEXT_MAX];

	if (lost >= LOSSY && !queue) {
		line("lossy path", ", %.2g%% of the packets are lost without a queue (rtt %s, "
		     "minimum %s), and %s slows down at each loss: find the link that loses them; "
		     "on reserved capacity, 'sstp set %llx rate RATE controller rate' does not "
		     "slow down", 100 * lost, text_us(a, i->rtt), text_us(b, i->rtt_min),
		     i->controller, (unsigned long long)c->cookie);
	} else if (queue) {
		line("full path", ", a queue raises the rtt to %s from %s, %.2g%% of the packets "
		     "are lost: the path has no more capacity, or other traffic uses it",
		     text_us(a, i->rtt), text_us(b, i->rtt_min), 100 * lost);
	} else {
		line("controller", " %s, %.0f%% of the time, with a window of %u packets and an "
		     "rtt of %s: use 'sstp set %llx rate RATE controller rate' on reserved "
		     "capacity", i->controller, percent(i->controller_time, i->busy_time),
		     i->cwnd, text_us(a, i->rtt), (unsigned long long)c->cookie);
	}
}

static void why_sndbuf(const struct sstp_info *i)
{
	char a[TEXT_MAX];

	line("send buffer", ", %.0f%% of the time all of its data is in flight, rtt %s: do not "
	     "set SO_SNDBUF, raise net.sstp.wmem, or free memory",
	     percent(i->sndbuf_time, i->busy_time), text_us(a, i->rtt));
}

static void why_sending(const struct conn *c)
{
	const struct sstp_info *i = &c->info;
	double other = (double)i->age - i->contract_time - i->controller_time -
		       i->window_time - i->sndbuf_time - i->device_time;
	double lost = lost_share(i);
	uint64_t most = i->contract_time;
	char a[TEXT_MAX];

	if (i->backoff > UNANSWERED) {
		line("peer", ", which has not answered %u probes: check that it can be reached "
		     "(ping) and that UDP port %u is open", i->backoff, c->encap_port);
		return;
	}
	if (i->controller_time > most)
		most = i->controller_time;
	if (i->window_time > most)
		most = i->window_time;
	if (i->sndbuf_time > most)
		most = i->sndbuf_time;
	if (i->device_time > most)
		most = i->device_time;
	if (other > most) {
		line("program", " that sends, which had no more data for %.0f%% of the time",
		     percent(other, i->age));
	} else if (most == i->contract_time) {
		why_contract(c);
	} else if (most == i->controller_time) {
		why_controller(c);
	} else if (most == i->window_time) {
		line("peer", ", whose window limits %.0f%% of the time (%s arrive there): its "
		     "program reads slowly, its buffer is small, or it lacks memory: run 'sstp' "
		     "at the peer",
		     percent(i->window_time, i->busy_time), text_rate(a, i->delivery_rate));
	} else if (most == i->sndbuf_time) {
		why_sndbuf(i);
	} else {
		line("device", ", whose queue is full %.0f%% of the time: its link carries no "
		     "more ('ip -s link', 'tc -s qdisc')",
		     percent(i->device_time, i->busy_time));
	}
	/* Retransmissions use a part of the contract, and later data waits for them. */
	if (lost >= LOSSY && most != i->controller_time)
		printf("\tand %.2g%% of the packets are lost on the path\n", 100 * lost);
}

static void why_receiving(const struct conn *c)
{
	const struct sstp_info *i = &c->info;
	double round = i->arrival_rate / 8.0 * i->rtt / 1e6;
	char a[TEXT_MAX], b[TEXT_MAX], d[TEXT_MAX];

	if (i->rcv_bounded > SOME * i->rcv_epochs) {
		line("memory pressure", " here: %.0f%% of the memory is in use, and the receive "
		     "buffer (%s) could not grow in %u of %u epochs: free memory, or raise "
		     "memory.max of the program's cgroup, or net.sstp.mem",
		     i->mem_used / 10.0, text_bytes(a, i->rcv_buffer), i->rcv_bounded,
		     i->rcv_epochs);
	} else if (i->unread_time > MOST * i->age && i->rcv_queued > i->rcv_buffer / 4) {
		line("slow reader", ", the program here: data waited for it %.0f%% of the time, %s "
		     "now; it reads %s: make it read faster, or see what keeps it busy (top)",
		     percent(i->unread_time, i->age), text_bytes(a, i->rcv_readable),
		     text_rate(b, i->service_rate));
	} else if (i->rtt && round > i->rcv_buffer / (i->rcv_window < FEW ? 5.0 : 3.0)) {
		line("receive buffer", " here, of %s (%s), for %s per round-trip time: do not set "
		     "SO_RCVBUF, raise net.sstp.rmem, or 'sstp set %llx policy rrda'",
		     text_bytes(a, i->rcv_buffer), i->policy, text_bytes(d, round), (unsigned long long)c->cookie);
	} else {
		printf("\tlimited by: nothing here, at the receiver: run 'sstp' at the sender\n");
	}
}

void why_print(const struct conn *c)
{
	const struct sstp_info *i = &c->info;

	/* Up to an eighth of the data sent is taken for answers, not for a transfer. */
	if (i->bytes_sent || i->snd_unacked || i->backoff > UNANSWERED)
		why_sending(c);
	if (i->bytes_received > i->bytes_sent / 8)
		why_receiving(c);
	if (!i->bytes_sent && !i->bytes_received && !i->snd_unacked && i->backoff <= UNANSWERED)
		printf("\tlimited by: nothing, as no data was sent yet\n");
}
