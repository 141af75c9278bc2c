/* SPDX-License-Identifier: GPL-2.0 */
/* A send window and a model of it, for the suites that use one */
#ifndef _SSTP_SND_SIM_H
#define _SSTP_SND_SIM_H

#include "sstp_test.h"
#include "../snd_wnd.h"

#define SND_SEGMENTS	1000	/* in a run */
#define SND_PACKETS	5U	/* of a segment that is granted, or more */
#define SND_LIMIT	(4 * SSTP_SND_SEGMENTS)	/* a peer may grant so many */

struct snd_packet {
	bool	want;
	bool	again;		/* shipped more than once */
	s64	first;		/* first shipment */
	s64	ship;		/* last shipment */
};

/* Segment @first + its index */
struct snd_seg {
	struct snd_packet *packet;
	u32	packets;
	u32	shipped;
	u32	wanted;
	bool	sealed;
	bool	accepted;	/* and reported so */
	bool	kept;		/* neither acknowledged nor freed */
};

/**
 * struct snd_sim - the window and the model of it
 * @first: number of segment 0
 * @first_ship: number of shipment 0
 * @low: S_l, an index, as are the next three
 * @high: S_h
 * @shipment: index of the next shipment
 * @wanted: packets to ship again
 * @lost: newest shipment that the running operation asked for again
 * @kept: segments that were not freed
 * @page: page of data, on which each segment of the window has a reference
 * @released: segments that the running operation released
 * @calls: operations that had something to do
 */
struct snd_sim {
	struct kunit *test;
	struct rnd_state rnd;
	struct sstp_snd_wnd w;
	u32	first;
	u32	first_ship;
	s64	low;
	s64	high;
	s64	next;
	s64	end;
	s64	shipment;
	u32	wanted;
	s64	lost;
	u32	kept;
	struct page *page;
	u32	released;
	u32	calls[8];
	struct snd_seg seg[SND_SEGMENTS];
};

/* The window releases a segment. @arg: the struct snd_sim */
void snd_release(void *arg, struct sstp_sseg *seg);
/* An empty window: segment 0 of the model is number @first, shipment 0 is @shipment. */
void snd_start(struct snd_sim *s, u32 first, u32 shipment);
/* Free the window, and check that all segments with it are freed. */
void snd_stop(struct snd_sim *s);
/* Add a segment of @packets packets of a random size. */
void snd_add(struct snd_sim *s, u32 packets, bool sealed);

/* Compare the window's counts with the model's; _all() its segments as well. */
void snd_check(struct snd_sim *s);
void snd_check_all(struct snd_sim *s);

/* Do something random to the window and the model. True if there was something to do */
bool snd_op_add(struct snd_sim *s);
bool snd_op_ship(struct snd_sim *s);
bool snd_op_ship_again(struct snd_sim *s);
bool snd_op_ack(struct snd_sim *s);
bool snd_op_accept(struct snd_sim *s);
bool snd_op_snak(struct snd_sim *s);

/* .init and .exit of suites; test->priv is the struct snd_sim. */
int snd_sim_init(struct kunit *test);
void snd_sim_exit(struct kunit *test);

#endif /* _SSTP_SND_SIM_H */
