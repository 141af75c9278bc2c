// SPDX-License-Identifier: GPL-2.0
/*
 * "rrda": a buffer that follows rates and memory, the default policy, after Liu et al. (see
 * Documentation/networking/sstp.rst). Equations 1, 2 and 4 are in rrda.c. Beyond the paper:
 *  - the buffer grows at once by the bytes that were discarded, as the surplus of a program
 *    that reads at intervals has no trend (sstp_rrda_add());
 *  - it doubles if the program emptied it after it was full, as the surplus of a sender that
 *    the window limits has no trend, either;
 *  - it always has room for the data that the path holds;
 *  - it falls to the floor when it is idle, and shrinks when little of it is used, as equation
 *    4 keeps the size while rates are equal;
 *  - at the floor it rests after an epoch with little traffic;
 *  - the window does not exceed the buffer until half of the buffer has been enough for
 *    SSTP_RRDA_ENOUGH epochs: discarded packets do not slow a sender down, and with a slow
 *    reader it would send many of them in vain;
 *  - the buffer does not grow while the program does not read, nor beyond half of the
 *    available memory, nor, by a trend, beyond k epochs of reading while the program never
 *    empties it: a standing queue that may grow causes the surplus itself.
 */
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include "rbuf.h"
#include "rrda.h"
#include "rrda_tunables.h"

/**
 * struct sstp_rbuf_epochs - state of the policy for one buffer
 * @r: state of equations 1, 2 and 4
 * @trend: f of equation 2: sign of the surplus if it lasted k epochs, else 0
 * @most: most bytes in use, decayed over some seconds, so that the room that the program
 *	needed in its last pause is kept for the next
 * @silent: epochs in a row without traffic
 * @unread: epochs in a row in which the program read nothing
 * @behind: epochs in a row in which the program never emptied the buffer
 * @spare: epochs in a row in which less than a quarter of the buffer was used
 * @enough: epochs in a row in which less than half was used, and nothing discarded
 */
struct sstp_rbuf_epochs {
	struct sstp_rrda r;
	s8	trend;
	u32	most;
	u16	silent;
	u16	unread;
	u16	behind;
	u16	spare;
	u16	enough;
};

#define SSTP_RRDA_SPARE		4	/* with less than 1/4 in use the buffer shrinks */
#define SSTP_RRDA_ENOUGH	20	/* epochs that show that the reader keeps up */
#define SSTP_RRDA_DECAY		16	/* by 1/16 in an epoch */
/* Bytes: a buffer that is used does not shrink below this, as PACKs would come more often than
 * every 256 KB.
 */
#define SSTP_RRDA_EASE		BIT(20)
/* Bytes per second, half of what makes the core count a buffer as one with much traffic */
#define SSTP_RRDA_LITTLE	(32 << 10)
#define SSTP_RRDA_FORGET	32	/* @most decays by 1/32 in an epoch */

static u32 sstp_rrda_param(const struct sstp_rbuf *b, enum sstp_rrda_tunable_id id)
{
	return b->param[id] ?: READ_ONCE(sstp_rrda_tunables[id].value);
}

/* Get the parameters of @b, or those of the system where @b has none, bounded by @s. */
static void sstp_rbuf_rrda_params(struct sstp_rbuf *b, const struct sstp_rbuf_sample *s,
				  struct sstp_rrda_params *p)
{
	b->epoch = sstp_rrda_param(b, SSTP_RRDA_EPOCH) * (u64)NSEC_PER_MSEC;
	p->k = sstp_rrda_param(b, SSTP_RRDA_K);
	p->beta = sstp_rrda_param(b, SSTP_RRDA_BETA);
	p->omega = sstp_rrda_param(b, SSTP_RRDA_OMEGA);
	p->ceiling = clamp(sstp_rrda_param(b, SSTP_RRDA_CEILING), s->least,
			   max(s->ceiling, s->least));
	/* A floor must not keep more memory than the initial limit, whatever a program sets. */
	p->floor = clamp(sstp_rrda_param(b, SSTP_RRDA_FLOOR), s->least,
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

/* Count epochs in a row, up to 65535, which is above all tunables they are compared with. */
static void sstp_rrda_count(u16 *epochs, bool more)
{
	*epochs = more ? min(*epochs + 1, U16_MAX) : 0;
}

/* Was the traffic of the epoch so little that a buffer at its floor needs no more epochs? Each is
 * a timer that wakes the CPU, for what may be a byte a minute on each of many connections.
 */
static bool sstp_rrda_little(const struct sstp_rbuf *b, const struct sstp_rbuf_sample *s)
{
	u64 little = mul_u64_u64_div_u64(b->epoch, SSTP_RRDA_LITTLE, NSEC_PER_SEC);

	return !s->lacked && max(s->arrived, s->served) <= little;
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
	/* The core may have changed the limit: start from that. */
	if (s->limit != (u32)(e->r.size / SSTP_RRDA_ONE))
		e->r.size = (s64)s->limit * SSTP_RRDA_ONE;

	p.held = e->behind >= p.k && s->limit >= p.k * s->served;
	/* When memory is used up it counts even if weigh_memory is off. */
	p.blind &= s->used < SSTP_RRDA_ONE;
	limit = sstp_rrda_epoch(&e->r, &p, s->arrived, s->served, s->used);
	e->trend = e->r.same >= p.k ? e->r.sign : 0;
	/* A program that gets little CPU may read only every few epochs. */
	if (e->unread < p.beta)
		limit = sstp_rrda_add(&e->r, &p, s->lacked +
				      (s->drained ? s->limit : 0), s->used);
	/* Unread data keeps the limit for beta epochs, as long as a late reader is given room
	 * above.
	 */
	idle = e->silent >= (s->queued ? max(p.k, p.beta) : p.k);
	if (!idle && limit == floor)
		idle = sstp_rrda_little(b, s) && e->spare;
	if (idle)
		limit = floor;
	else if (e->spare >= p.k && limit > SSTP_RRDA_EASE)
		limit = max3(limit - limit / SSTP_RRDA_DECAY, p.floor,
			     (u32)SSTP_RRDA_EASE);
	b->rest = idle;
	b->limit = limit;
}

static int sstp_rbuf_rrda_check(const struct sstp_param_values *v)
{
	u32 floor = v->param[SSTP_RRDA_FLOOR], ceiling = v->param[SSTP_RRDA_CEILING];

	return floor && ceiling && floor > ceiling ? -EINVAL : 0;
}

static void sstp_rbuf_rrda_get_info(const struct sstp_rbuf *b, s64 *state)
{
	const struct sstp_rbuf_epochs *e = (const void *)b->priv;

	state[0] = div_s64(e->r.surplus, SSTP_RRDA_BYTE);
	state[1] = e->trend;
}

struct sstp_rbuf_ops sstp_rbuf_rrda = {
	.init	= sstp_rbuf_rrda_init,
	.update	= sstp_rbuf_rrda_update,
	.name	= "rrda",
	.owner	= THIS_MODULE,
	/* Ranges as of sstp_rrda_tunables[] */
	.params	= {
		[SSTP_RRDA_EPOCH] = { "epoch", 1, 10000 },
		[SSTP_RRDA_K] = { "k", 1, 255 },
		[SSTP_RRDA_BETA] = { "beta", 1, 1024 },
		[SSTP_RRDA_OMEGA] = { "omega", 1, 1000 },
		[SSTP_RRDA_FLOOR] = { "floor", 4096, 1 << 30 },
		[SSTP_RRDA_CEILING] = { "ceiling", 4096, 1 << 30 },
	},
	.state	= { "surplus", "trend" },
	.check_params = sstp_rbuf_rrda_check,
	.get_info = sstp_rbuf_rrda_get_info,
	.sysfs	= &sstp_rrda_group,
};
