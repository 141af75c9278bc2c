/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate and resource detection (Liu et al., cited in sstp.rst): computes the size of a receive
 * buffer from the bytes that came and that the program read in each epoch, and from the share
 * of memory in use. Pure mechanism: no socket, no clock.
 */
#ifndef _SSTP_RRDA_H
#define _SSTP_RRDA_H

#include <net/sstp.h>

#define SSTP_RRDA_ONE	SSTP_RBUF_ONE	/* 1.0 in shares, a byte in sizes */
#define SSTP_RRDA_BYTE	0x1000000	/* a byte in the surplus */

/**
 * struct sstp_rrda_params - tunables, which the caller has checked
 * @k: epochs in a row whose surplus must have one sign before the size changes, 1 to 255
 * @beta: epochs whose surplus the buffer is to hold, 1 to 1024
 * @omega: weight of the newest epoch, in thousandths, 1 to 1000
 * @floor: least size, bytes
 * @ceiling: largest size, bytes, not below @floor
 * @held: a surplus does not let the buffer grow
 * @blind: memory in use does not count: alpha and 1 - alpha are 1
 */
struct sstp_rrda_params {
	u32	k;
	u32	beta;
	u32	omega;
	u32	floor;
	u32	ceiling;
	bool	held;
	bool	blind;
};

/**
 * struct sstp_rrda - one buffer
 * @surplus: v'_b, smoothed surplus, bytes an epoch * SSTP_RRDA_BYTE
 * @size: L, bytes * SSTP_RRDA_ONE
 * @same: epochs in a row whose surplus had the same sign, 255 at most
 * @sign: that sign; 0 = the surplus is less than a byte
 *
 * The caller has a lock for it.
 */
struct sstp_rrda {
	s64	surplus;
	s64	size;
	u8	same;
	s8	sign;
};

void sstp_rrda_init(struct sstp_rrda *r, u32 size);
/* An epoch ended, in which @arrived bytes came and the program read @served, with @used (alpha,
 * 0 to SSTP_RRDA_ONE) of memory in use. Returns the new size in bytes.
 */
u32 sstp_rrda_epoch(struct sstp_rrda *r, const struct sstp_rrda_params *p,
		    u64 arrived, u64 served, u32 used);
/* Grow by @bytes, which found no room in the epoch, scaled by free memory as a surplus is.
 * Returns the new size in bytes.
 */
u32 sstp_rrda_add(struct sstp_rrda *r, const struct sstp_rrda_params *p, u64 bytes,
		  u32 used);

#endif /* _SSTP_RRDA_H */
