// SPDX-License-Identifier: GPL-2.0
/* xfer's report: one line of JSON. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "xfer.h"

#define INFO_FIELDS(X)							\
	X(state) X(type) X(ack_strategy) X(backoff) X(mtu)		\
	X(packet_size) X(segment_limit) X(tolerance) X(rtt) X(rttvar)	\
	X(rtt_min) X(cwnd) X(in_flight) X(rate.peak) X(rate.average)	\
	X(rate.burst_rate) X(rate.burst_len) X(period) X(snd_segment)	\
	X(snd_una) X(snd_window) X(snd_queued) X(rcv_segment)		\
	X(rcv_window) X(rcv_buffer) X(rcv_queued) X(rcv_peak)		\
	X(reordering) X(bytes_sent) X(bytes_retrans) X(bytes_acked)	\
	X(bytes_received) X(packets_sent) X(packets_retrans)		\
	X(packets_received) X(packets_duplicate) X(packets_discarded)	\
	X(segments_sent) X(segments_received) X(segments_with_gaps)		\
	X(acks_sent) X(acks_received) X(snaks_sent) X(snaks_received)	\
	X(arrival_rate) X(service_rate) X(delivery_rate)

#define TCP_FIELDS(X)							\
	X(tcpi_state) X(tcpi_rtt) X(tcpi_rttvar) X(tcpi_min_rtt)	\
	X(tcpi_snd_mss) X(tcpi_snd_cwnd) X(tcpi_total_retrans)		\
	X(tcpi_bytes_sent) X(tcpi_bytes_retrans) X(tcpi_bytes_acked)	\
	X(tcpi_bytes_received) X(tcpi_segs_out) X(tcpi_segs_in)		\
	X(tcpi_delivery_rate) X(tcpi_rcv_space)

static void print_info(const struct conn *c)
{
	const struct sstp_info *i = &c->info;
	const struct tcp_info *t = &c->tcp;

	fprintf(json, ", \"info\": {");
#define X(field) fprintf(json, "\"" #field "\": %" PRIu64 ", ", (uint64_t)i->field);
	if (opt.proto == PROTO_SSTP) {
		INFO_FIELDS(X)
		fprintf(json, "\"controller\": \"%.16s\", \"policy\": \"%.16s\"",
			i->controller, i->policy);
	}
#undef X
#define X(field) fprintf(json, "\"" #field "\": %" PRIu64 ", ", (uint64_t)t->field);
	if (opt.proto == PROTO_TCP) {
		TCP_FIELDS(X)
		fprintf(json, "\"tcpi_retransmits\": %u", t->tcpi_retransmits);
	}
#undef X
	fprintf(json, "}");
}

static uint64_t retransmits(const struct conn *c)
{
	return opt.proto == PROTO_SSTP ? c->info.packets_retrans :
	       c->tcp.tcpi_total_retrans;
}

/* Sum of one field of each bin over @n connections. */
static void print_bins(const char *name, const struct bin *sum, uint64_t bins,
		       size_t field, double times)
{
	uint64_t i;

	fprintf(json, ", \"%s\": [", name);
	for (i = 0; i < bins; i++)
		fprintf(json, "%s%.0f", i ? ", " : "", times *
			*(const uint64_t *)((const char *)&sum[i] + field));
	fprintf(json, "]");
}

/* Goodput of each connection in each bin */
static void print_connections(struct receiver * const *r, unsigned int n,
			      double times)
{
	unsigned int k;
	uint64_t i;

	fprintf(json, ", \"connection_bins\": [");
	for (k = 0; k < n; k++) {
		fprintf(json, "%s[", k ? ", " : "");
		for (i = 0; r[k]->bin && i < r[k]->res.bins; i++)
			fprintf(json, "%s%.0f", i ? ", " : "",
				times * r[k]->bin[i].bytes);
		fprintf(json, "]");
	}
	fprintf(json, "]");
}

/* Bytes received: by the server if content went up, here otherwise */
static void print_received(struct receiver * const *r, unsigned int n,
			   uint64_t begin, const struct job *job)
{
	uint64_t bin = job->bin, bins = 0, peak = 0, gaps = 0, ns = 0, i;
	struct bin *sum;
	unsigned int k;

	for (k = 0; k < n; k++) {
		if (bins < r[k]->res.bins)
			bins = r[k]->res.bins;
		if (peak < r[k]->res.peak)
			peak = r[k]->res.peak;
		if (ns < r[k]->res.ns)
			ns = r[k]->res.ns;
		gaps += r[k]->res.gaps;
	}
	sum = calloc(bins + 1, sizeof(*sum));
	for (k = 0; k < n; k++)
		for (i = 0; r[k]->bin && i < r[k]->res.bins; i++) {
			sum[i].bytes += r[k]->bin[i].bytes;
			sum[i].limit += r[k]->bin[i].limit;
			sum[i].used += r[k]->bin[i].used;
			sum[i].arrived += r[k]->bin[i].arrived;
		}
	fprintf(json, ", \"receive_seconds\": %.6f, \"receive_peak\": %" PRIu64
		", \"gaps\": %" PRIu64, ns / 1e9, peak, gaps);
	/* Seconds from connect(), where both ends have one clock */
	fprintf(json, ", \"bin_ms\": %.9g, \"bin_start\": %.6f", bin / 1e3,
		((int64_t)r[0]->res.epoch - (int64_t)begin) / 1e9);
	print_bins("goodput_bins", sum, bins, offsetof(struct bin, bytes),
		   8e6 / bin);
	if (bins_watched(job))
		print_bins("arrived_bins", sum, bins,
			   offsetof(struct bin, arrived), 8e6 / bin);
	print_bins("limit_bins", sum, bins, offsetof(struct bin, limit), 1);
	print_bins("used_bins", sum, bins, offsetof(struct bin, used), 1);
	print_connections(r, n, 8e6 / bin);
	free(sum);
}

static void print_each(const struct conn *c, unsigned int n)
{
	unsigned int k;

	fprintf(json, ", \"connection_bytes\": [");
	for (k = 0; k < n; k++)
		fprintf(json, "%s%" PRIu64, k ? ", " : "",
			c[k].sent + c[k].rx.pos);
	fprintf(json, "]");
}

void print_summary(const char *role, struct conn *c, unsigned int n)
{
	uint64_t begin = UINT64_MAX, end = 0, bytes = 0, again = 0;
	struct receiver **r = calloc(n, sizeof(*r));
	const char *what = NULL;
	unsigned int k;
	int error = 0;

	for (k = 0; k < n; k++) {
		if (c[k].begin < begin)
			begin = c[k].begin;
		if (c[k].end > end)
			end = c[k].end;
		bytes += c[k].sent + c[k].rx.pos;
		again += retransmits(&c[k]);
		if (!what && c[k].what) {
			what = c[k].what;
			error = c[k].error;
		}
		r[k] = c[k].peer.bin ? &c[k].peer : &c[k].rx;
	}
	if (end < begin)
		end = begin;
	fprintf(json, "{\"role\": \"%s\", \"proto\": \"%s\", \"type\": \"%s\", "
		"\"family\": %d, \"connections\": %u, \"size\": %" PRIu64
		", \"write\": %" PRIu64 ", \"seed\": \"%#" PRIx64 "\", ",
		role, proto_names[opt.proto],
		opt.type == SOCK_STREAM ? "stream" : "seqpacket",
		opt.family == AF_INET6 ? 6 : 4, n, c->job.size, c->job.write,
		c->job.seed);
	fprintf(json, "\"ok\": %s, \"failed\": \"%s\", \"error\": \"%s\", "
		"\"bytes\": %" PRIu64 ", \"seconds\": %.6f, \"goodput\": %.0f, "
		"\"retransmits\": %" PRIu64, what ? "false" : "true",
		what ?: "", error ? strerrorname_np(error) : "", bytes,
		(end - begin) / 1e9, end > begin ? bytes * 8e9 / (end - begin) :
		0.0, again);
	print_received(r, n, begin, &c->job);
	print_each(c, n);
	print_info(c);
	fprintf(json, "}\n");
	fflush(json);
	free(r);
}

void print_sha(const char *what, const struct sha256 *sha, const uint64_t *got)
{
	uint8_t digest[32];
	int i;

	if (sha)
		sha256_end(sha, digest);
	else
		memcpy(digest, got, sizeof(digest));
	printf("sha256 %s ", what);
	for (i = 0; i < 32; i++)
		printf("%02x", digest[i]);
	printf("\n");
	fflush(stdout);
}
