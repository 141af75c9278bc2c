// SPDX-License-Identifier: GPL-2.0
/* Received bytes and use of the receive buffer over time. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <linux/sock_diag.h>

#include "xfer.h"

/* Samples the buffer at the begin and the end of a bin, even if the reader waits: data behind a gap
 * cannot be read before the gap is closed.
 */
struct watcher {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool end;
	struct bin *bin;	/* BINS_MAX of them; bytes are for the reader to count */
	uint64_t bins;
};

/* The buffer's state now. Returns the most that was in it, as far as that is known. */
static uint64_t sample_buffer(const struct conn *c, struct bin *b)
{
	uint32_t mem[SK_MEMINFO_VARS] = {};
	struct sstp_info info;
	socklen_t len = sizeof(mem);

	if (opt.proto == PROTO_SSTP) {
		len = sizeof(info);
		if (getsockopt(c->fd, SOL_SSTP, SSTP_INFO, &info, &len))
			return 0;
		b->limit = info.rcv_buffer;
		b->used = info.rcv_queued;
		return info.rcv_peak;
	}
	if (getsockopt(c->fd, SOL_SOCKET, SO_MEMINFO, mem, &len))
		return 0;
	b->limit = mem[SK_MEMINFO_RCVBUF];
	b->used = mem[SK_MEMINFO_RMEM_ALLOC];
	return b->used;
}

static void note_peak(struct conn *c, uint64_t peak)
{
	if (c->rx.res.peak < peak)
		c->rx.res.peak = peak;
}

/* TCP does not record a peak. The use is largest when a gap was closed and nothing is read yet. */
void sample_peak(struct conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	if (poll(&p, 1, -1) == 1)
		note_peak(c, sample_buffer(c, &(struct bin){}));
}

/* Data after the last bin counts in it. */
static uint64_t bin_at(const struct conn *c, uint64_t now)
{
	uint64_t i = (now - c->rx.res.epoch) / (c->job.bin * 1000);

	return i < BINS_MAX ? i : BINS_MAX - 1;
}

static void grow(struct receiver *r, uint64_t bins)
{
	if (bins <= r->res.bins)
		return;
	r->bin = realloc(r->bin, bins * sizeof(*r->bin));
	memset(r->bin + r->res.bins, 0, (bins - r->res.bins) * sizeof(*r->bin));
	r->res.bins = bins;
}

void bins_count(struct conn *c, uint64_t now, size_t n)
{
	struct receiver *r = &c->rx;
	uint64_t i = bin_at(c, now);

	if (i >= r->res.bins) {
		grow(r, i + 1);
		if (!r->watcher)
			note_peak(c, sample_buffer(c, &r->bin[i]));
	}
	r->bin[i].bytes += n;
}

/* Returns true at the end, false when bin @i is over. */
static bool watch_wait(const struct conn *c, struct watcher *w, uint64_t i)
{
	uint64_t until = c->rx.res.epoch + (i + 1) * c->job.bin * 1000;
	struct timespec ts = {
		.tv_sec = until / 1000000000,
		.tv_nsec = until % 1000000000,
	};
	int rc = 0;

	while (!w->end && rc != ETIMEDOUT)
		rc = i < BINS_MAX - 1 ?
		     pthread_cond_timedwait(&w->cond, &w->lock, &ts) :
		     pthread_cond_wait(&w->cond, &w->lock);
	return w->end;
}

static uint64_t all_arrived(const struct conn *c)
{
	struct sstp_info info = {};
	socklen_t len = sizeof(info);

	getsockopt(c->fd, SOL_SSTP, SSTP_INFO, &info, &len);
	return info.bytes_received;
}

static void *watch(void *arg)
{
	struct conn *c = arg;
	struct watcher *w = c->rx.watcher;
	uint64_t i = bin_at(c, now_ns()), arrived = 0;
	bool end;

	prctl(PR_SET_TIMERSLACK, 1);
	pthread_mutex_lock(&w->lock);
	do {
		struct bin *b = &w->bin[i];

		sample_buffer(c, b);
		end = watch_wait(c, w, i);
		/* The first has all that came before it, the job too. */
		b->arrived = all_arrived(c) - arrived;
		arrived += b->arrived;
		w->bins = ++i;
	} while (!end);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* TCP does not report data behind a gap. */
bool bins_watched(const struct job *j)
{
	return j->flags & JOB_BINS && opt.proto == PROTO_SSTP;
}

void bins_begin(struct conn *c)
{
	pthread_condattr_t attr;
	struct watcher *w;

	if (!bins_watched(&c->job))
		return;
	w = calloc(1, sizeof(*w));
	w->bin = calloc(BINS_MAX, sizeof(*w->bin));
	c->rx.watcher = w;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->cond, &attr);
	if (pthread_create(&w->thread, NULL, watch, c))
		die("xfer: pthread_create:");
}

void bins_end(struct conn *c)
{
	struct watcher *w = c->rx.watcher;
	uint64_t i;

	note_peak(c, sample_buffer(c, &(struct bin){}));
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->end = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	grow(&c->rx, w->bins);
	for (i = 0; i < w->bins; i++) {
		w->bin[i].bytes = c->rx.bin[i].bytes;
		c->rx.bin[i] = w->bin[i];
	}
	free(w->bin);
	free(w);
	c->rx.watcher = NULL;
}
