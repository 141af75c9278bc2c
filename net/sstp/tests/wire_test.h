/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers and random packets of each type, for the suites of parsers and builders */
#ifndef _SSTP_WIRE_TEST_H
#define _SSTP_WIRE_TEST_H

#include "sstp_test.h"
#include "../compat.h"
#include "../wire.h"

/* An entry of a SNAK */
struct wire_entry {
	u32	segment;
	u16	first;
	u16	bits;
	u32	map[6];
};

/* The suite_init and suite_exit of those that use wire_copy() */
int wire_pool_alloc(struct kunit_suite *suite);
void wire_pool_free(struct kunit_suite *suite);
/* A buffer of @len bytes, which the caller frees */
void *wire_buf(struct kunit *test, u32 len);
/* A copy of @len bytes of @p that ends where its allocation ends; valid until the next copy of
 * this size
 */
void *wire_copy(struct kunit *test, const void *p, u32 len);

void wire_rnd_ack(struct rnd_state *r, struct sstp_ack *a);
/* A SNAK of @n random entries, in order, at @p; returns its length. */
u32 wire_build_snak(struct rnd_state *r, u8 *p, struct sstp_ack *a, struct wire_entry *e, u32 n);
void wire_rnd_init(struct rnd_state *r, struct sstp_init *i);
/* @data: room for SSTP_MSG_MAX bytes */
void wire_rnd_message(struct rnd_state *r, struct sstp_message *m, u8 *data);

#endif /* _SSTP_WIRE_TEST_H */
