// SPDX-License-Identifier: GPL-2.0
/*
 * "rrda": a buffer that follows rates and memory (paper 000), the default. Equations 1,
 * 2 and 4 are in rrda.c. Beyond the paper:
 *  - what found no room is made room for at once, as a program that reads now and then
 *    has no trend (sstp_rrda_add());
 *  - if it was full and the program took all of that, it doubles, as a sender that the
 *    window holds has no trend, either;
 *  - there is always room for what the path holds;
 *  - a buffer that nobody fills or reads falls to the floor, and one that is hardly
 *    used shrinks, as equation 4 keeps what it once had when rates are equal;
 *  - windows do not exceed the buffer until half of it has been enough for some time: a
 *    sender does not slow down for what found no room, and while the reader is slower
 *    it would send much of it for nothing;
 *  - nothing grows while nobody reads, nor beyond half of the memory to be had, nor by a
 *    trend beyond what the program reads in k epochs while it never gets to the end of
 *    what there is: a queue that stands makes its own surplus when it may grow.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include "rbuf.h"
#include "rrda.h"
#include "rrda_tunables.h"

/**
 * struct sstp_rbuf_epochs - one connection's
 * @r: equations 1, 2 and 4
 * @own: its own tunables, 0 = the system's
 * @trend: f
 * @most: bytes in use, the most of late: it is forgotten over some seconds, so that a
 *	program's next pause finds the room that the last one took
 * @silent: epochs in a row in which nothing moved
 * @unread: in which the program took nothing
 * @behind: in which it never took all that there was
 * @spare: in which three quarters of the buffer were not used
 * @enough: in which half of it was not, and nothing lacked room
 */
struct sstp_rbuf_epochs {
	struct sstp_rrda r;
	struct sstp_rrda_spec own;
	s8	trend;
	u32	most;
	u16	silent;
	u16	unread;
	u16	behind;
	u16	spare;
	u16	enough;
};

#define SSTP_RRDA_SPARE		4	/* of it, a buffer is hardly used */
#define SSTP_RRDA_ENOUGH	20	/* epochs that tell of a reader that keeps up */
#define SSTP_RRDA_DECAY		16	/* of it, an epoch, goes then */
/* Bytes that stay: PACKs would come more often than every 256 KB */
#define SSTP_RRDA_EASE		BIT(20)
#define SSTP_RRDA_FORGET	32	/* of the most in use, an epoch, is forgotten */

static u32 sstp_rrda_of(u32 own, enum sstp_rrda_tunable_id id)
{
	return own ?: READ_ONCE(sstp_rrda_tunables[id].value);
}

/* What is in force for @b: its own, or the system's. */
static void sstp_rbuf_rrda_params(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s,
				  struct sstp_rrda_params *p)
{
	const struct sstp_rrda_spec *own = &((struct sstp_rbuf_epochs *)b->priv)->own;

	b->epoch = sstp_rrda_of(own->epoch, SSTP_RRDA_EPOCH) * (u64)NSEC_PER_MSEC;
	p->k = sstp_rrda_of(own->k, SSTP_RRDA_K);
	p->beta = sstp_rrda_of(own->beta, SSTP_RRDA_BETA);
	p->omega = sstp_rrda_of(own->omega, SSTP_RRDA_OMEGA);
	p->ceiling = clamp(sstp_rrda_of(own->ceiling, SSTP_RRDA_CEILING), s->least,
			   max(s->ceiling, s->least));
	/* Who may not have memory without limit may not keep it, either. */
	p->floor = clamp(sstp_rrda_of(own->floor, SSTP_RRDA_FLOOR), s->least,
			 max(s->first, s->least));
	p->floor = min(p->floor, p->ceiling);
	b->top = p->ceiling;
	p->blind = !READ_ONCE(sstp_rrda_tunables[SSTP_RRDA_WEIGH_MEMORY].value);
}

static void sstp_rbuf_rrda_init(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	struct sstp_rbuf_epochs *e = (void *)b->priv;
	struct sstp_rrda_params p;

	BUILD_BUG_ON(sizeof(*e) > sizeof(b->priv));
	sstp_rbuf_rrda_params(b, s, &p);
	b->limit = clamp(s->limit, p.floor, p.ceiling);
	sstp_rrda_init(&e->r, b->limit);
	e->unread = U16_MAX;
	e->behind = U16_MAX;
	b->exact = true;
}

/* Farther than any tunable that it is compared with */
static void sstp_rrda_count(u16 *epochs, bool more)
{
	*epochs = more ? min(*epochs + 1, U16_MAX) : 0;
}

static void sstp_rbuf_rrda_update(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	struct sstp_rbuf_epochs *e = (void *)b->priv;
	struct sstp_rrda_params p;
	u32 limit, floor, most;
	bool idle;

	sstp_rbuf_rrda_params(b, s, &p);
	sstp_rrda_count(&e->silent, !s->arrived && !s->served && !s->lacked);
	sstp_rrda_count(&e->unread, !s->served);
	sstp_rrda_count(&e->behind, !s->emptied);
	e->most = max(s->queued, e->most - e->most / SSTP_RRDA_FORGET);
	sstp_rrda_count(&e->spare, e->most < s->limit / SSTP_RRDA_SPARE);
	sstp_rrda_count(&e->enough, !s->lacked && s->queued < s->limit / 2);
	b->exact = e->enough < SSTP_RRDA_ENOUGH;
	floor = p.floor;
	if (!p.blind) {
		most = min_t(u64, s->available / 2, p.ceiling);
		p.ceiling = max(most, floor);
	}
	p.floor = clamp(s->path, floor, p.ceiling);
	/* It follows what others made of the limit. */
	if (s->limit != (u32)(e->r.size / SSTP_RRDA_ONE))
		e->r.size = (s64)s->limit * SSTP_RRDA_ONE;

	p.held = e->behind >= p.k && s->limit >= p.k * s->served;
	/* Without any memory that counts always. */
	p.blind &= s->used < SSTP_RRDA_ONE;
	limit = sstp_rrda_epoch(&e->r, &p, s->arrived, s->served, s->used);
	e->trend = e->r.same >= p.k ? e->r.sign : 0;
	/* With little CPU, and many to serve, its turn may come late. */
	if (e->unread < p.beta)
		limit = sstp_rrda_add(&e->r, &p, s->lacked +
				      (s->drained ? s->limit : 0), s->used);
	/* A program that pauses finds its buffer again, for as long as one that reads
	 * late has room made.
	 */
	idle = e->silent >= (s->queued ? max(p.k, p.beta) : p.k);
	if (idle)
		limit = floor;
	else if (e->spare >= p.k && limit > SSTP_RRDA_EASE)
		limit = max3(limit - limit / SSTP_RRDA_DECAY, p.floor,
			     (u32)SSTP_RRDA_EASE);
	b->rest = idle;
	b->limit = limit;
}

static void sstp_rbuf_rrda_set_param(struct sstp_rbuf *b, int option, const void *param,
				     size_t len)
{
	struct sstp_rbuf_epochs *e = (void *)b->priv;

	if (option == SSTP_RRDA && len == sizeof(e->own))
		memcpy(&e->own, param, len);
}

static void sstp_rbuf_rrda_get_info(const struct sstp_rbuf *b, struct sstp_rbuf_info *i)
{
	const struct sstp_rbuf_epochs *e = (const void *)b->priv;

	i->surplus = div_s64(e->r.surplus, SSTP_RRDA_BYTE);
	i->trend = e->trend;
}

struct sstp_rbuf_ops sstp_rbuf_rrda = {
	.init	= sstp_rbuf_rrda_init,
	.update	= sstp_rbuf_rrda_update,
	.set_param = sstp_rbuf_rrda_set_param,
	.get_info = sstp_rbuf_rrda_get_info,
	.sysfs	= &sstp_rrda_group,
	.name	= "rrda",
	.owner	= THIS_MODULE,
};
