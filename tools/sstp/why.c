// SPDX-License-Identifier: GPL-2.0
/*
 * What limits a transfer, in plain words, and what to do about it: a line for each
 * direction in which something moved. The kernel tells for how long a sender was held up,
 * and by what; a receiver, whether data waited for the program and whether memory lacked.
 */
#include <stdarg.h>

#include "sstp.h"

#define LOSSY	0.002		/* share of packets that makes a path one that loses */
#define MOST	0.5
#define SOME	0.25

/* What happened, in us and so on, since some time */
struct past {
	double age, busy, contract, controller, window, sndbuf, device, unread;
	double packets, lost, received, epochs, bounded, sent;
};

static struct past past(const struct sstp_info *i, const struct sstp_info *since)
{
	static const struct sstp_info none;

	if (!since)
		since = &none;
#define SINCE(field)	((double)i->field - (double)since->field)
	return (struct past){
		.age = SINCE(age), .busy = SINCE(busy_time),
		.contract = SINCE(contract_time), .controller = SINCE(controller_time),
		.window = SINCE(window_time), .sndbuf = SINCE(sndbuf_time),
		.device = SINCE(device_time), .unread = SINCE(unread_time),
		.packets = SINCE(packets_sent), .lost = SINCE(packets_lost),
		.received = SINCE(bytes_received), .epochs = SINCE(rcv_epochs),
		.bounded = SINCE(rcv_bounded), .sent = SINCE(bytes_sent),
	};
#undef SINCE
}

/* "limited by: CAUSE", and then what to do */
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

static void why_contract(const struct conn *c, const struct past *p)
{
	const struct sstp_rate_spec *r = &c->info.rate;
	char rate[TEXT_MAX], cause[TEXT_MAX + 16];

	snprintf(cause, sizeof(cause), "contract %s", text_rate(rate, r->average ?: r->peak));
	line(cause, ", %.0f%% of the time: 'sstp set %08x rate RATE' changes it "
	     "(or the peer's SSTP_RATE_LIMIT, or SO_MAX_PACING_RATE, keeps it that low)",
	     percent(p->contract, p->busy), c->cid);
}

static void why_controller(const struct conn *c, const struct past *p)
{
	const struct sstp_info *i = &c->info;
	double lost = p->packets > 0 ? p->lost / p->packets : 0;
	bool queue = i->rtt_min && i->rtt > 2 * i->rtt_min && i->rtt > i->rtt_min + 2000;
	char a[TEXT_MAX], b[TEXT_MAX];

	if (lost >= LOSSY && !queue) {
		line("lossy path", ", %.2g%% of the packets are lost without a queue (rtt %s, "
		     "at least %s), and %s slows down for each: find what loses them; if the "
		     "capacity is yours alone, 'sstp set %08x rate RATE controller rate' does "
		     "not slow down", 100 * lost, text_us(a, i->rtt), text_us(b, i->rtt_min),
		     i->controller, c->cid);
	} else if (queue) {
		line("full path", ", a queue makes the rtt %s of %s at least, %.2g%% of the "
		     "packets are lost: there is no more capacity, or others use it",
		     text_us(a, i->rtt), text_us(b, i->rtt_min), 100 * lost);
	} else {
		line("controller", " %s, %.0f%% of the time, with %u packets under way at most "
		     "in %s: 'sstp set %08x rate RATE controller rate' if the capacity is "
		     "yours alone", i->controller, percent(p->controller, p->busy), i->cwnd,
		     text_us(a, i->rtt), c->cid);
	}
}

static void why_sndbuf(const struct conn *c, const struct past *p)
{
	char a[TEXT_MAX], b[TEXT_MAX];

	line("send buffer", ", %.0f%% of the time all of it (%s) is under way, rtt %s: do not set "
	     "SO_SNDBUF, raise net.sstp.wmem, or free memory",
	     percent(p->sndbuf, p->busy), text_bytes(a, c->info.snd_queued),
	     text_us(b, c->info.rtt));
}

static void why_sending(const struct conn *c, const struct past *p)
{
	double other = p->age - p->contract - p->controller - p->window - p->sndbuf - p->device;
	double lost = p->packets > 0 ? p->lost / p->packets : 0;
	double most = p->contract;
	char a[TEXT_MAX];

	if (c->info.backoff > 2) {
		line("peer", ", which has not answered %u times: is there a way to it? (ping; is "
		     "UDP port %u open?)", c->info.backoff, c->encap_port);
		return;
	}
	if (p->controller > most)
		most = p->controller;
	if (p->window > most)
		most = p->window;
	if (p->sndbuf > most)
		most = p->sndbuf;
	if (p->device > most)
		most = p->device;
	if (other > most) {
		line("program", " that sends, which had nothing more to send %.0f%% of the time",
		     percent(other, p->age));
	} else if (most == p->contract) {
		why_contract(c, p);
	} else if (most == p->controller) {
		why_controller(c, p);
	} else if (most == p->window) {
		line("peer", ", whose window is closed %.0f%% of the time (%s arrive there): its "
		     "program reads slowly, or it has no memory for more: 'sstp' at the peer "
		     "says which", percent(p->window, p->busy),
		     text_rate(a, c->info.delivery_rate));
	} else if (most == p->sndbuf) {
		why_sndbuf(c, p);
	} else {
		line("device", ", whose queue is full %.0f%% of the time: what it is attached to "
		     "takes no more ('ip -s link', 'tc -s qdisc')", percent(p->device, p->busy));
	}
	/* What is sent again takes its part of a contract, and data waits for it. */
	if (lost >= LOSSY && most != p->controller)
		printf("\tand %.2g%% of the packets are lost on the path\n", 100 * lost);
}

static void why_receiving(const struct conn *c, const struct past *p)
{
	const struct sstp_info *i = &c->info;
	double round = i->arrival_rate / 8.0 * i->rtt / 1e6;
	char a[TEXT_MAX], b[TEXT_MAX], d[TEXT_MAX];

	if (p->epochs && p->bounded / p->epochs > SOME) {
		line("memory pressure", ", here: %.0f%% of the memory is in use, and the receive "
		     "buffer (%s) could not grow in %.0f of %.0f epochs: free memory, or raise "
		     "memory.max of the program's cgroup, or net.sstp.mem",
		     i->mem_used / 10.0, text_bytes(a, i->rcv_buffer), p->bounded, p->epochs);
	} else if (p->unread > MOST * p->age && i->rcv_queued > i->rcv_buffer / 4) {
		line("slow reader", ", the program here: data waited for it %.0f%% of the time, %s "
		     "now; it reads %s: make it read sooner, or find what keeps it busy (top)",
		     percent(p->unread, p->age), text_bytes(a, i->rcv_readable),
		     text_rate(b, i->service_rate));
	} else if (i->rtt && round > i->rcv_buffer / 3.0) {
		line("receive buffer", " here, of %s (%s) for %s in a round-trip time: do not set "
		     "SO_RCVBUF, raise net.sstp.rmem, or 'sstp set %08x policy rrda'",
		     text_bytes(a, i->rcv_buffer), i->policy, text_bytes(d, round), c->cid);
	} else {
		printf("\tlimited by: nothing here, where it is received: 'sstp' at the sender "
		       "says what\n");
	}
}

void why_print(const struct conn *c, const struct sstp_info *since)
{
	struct past p = past(&c->info, since);

	/* A request and its answer are no transfers. */
	if (p.sent > 0 || c->info.snd_unacked)
		why_sending(c, &p);
	if (p.received > 0 && p.received > p.sent / 8)
		why_receiving(c, &p);
	if (!(p.sent > 0) && !(p.received > 0) && !c->info.snd_unacked)
		printf("\tlimited by: nothing, as nothing was sent yet\n");
}
