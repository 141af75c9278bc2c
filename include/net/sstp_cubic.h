/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segment streaming transport protocol: how the window of CUBIC (RFC 9438) grows in congestion
 * avoidance, for controllers that do so always or at times. After a cut the window is a cubic
 * function of the time since: it returns fast to where the loss was, stays near it, and then
 * probes faster and faster. Where Reno would have a larger window, it follows Reno.
 *
 * Windows are in packets; beta is in 1/SSTP_CUBIC_ONE. Callers hold the socket lock.
 * The mean window is (C (3 + beta) / (4 (1 - beta)))^(1/4) times a function of the loss rate and
 * the round-trip time alone (section 5.1), so pairs of beta and C with the same factor have equal
 * shares.
 */
#ifndef _NET_SSTP_CUBIC_H
#define _NET_SSTP_CUBIC_H

#include <net/sstp_window.h>

#define SSTP_CUBIC_ONE	1024U	/* of alpha and beta */
#define SSTP_CUBIC_BETA	717U	/* 0.7, section 4.6 */
#define SSTP_CUBIC_C	2500000000ULL	/* 1 / C, ms^3 for a packet, with C = 0.4 packets / s^3 */
#define SSTP_CUBIC_EST	20	/* W_est is in packets / 2^20 */

/**
 * struct sstp_cubic_law - how the window is cut, and how it grows
 * @beta: part of the window that a cut leaves, 1/SSTP_CUBIC_ONE
 * @inverse: 1 / C, ms^3 for a packet; the same from an epoch's start to its end
 */
struct sstp_cubic_law {
	u32	beta;
	u64	inverse;
};

/**
 * struct sstp_cubic_epoch - a congestion avoidance epoch
 * @max: W_max: window before the last cut, less where fast convergence applies; 0 = no cut yet
 * @prior: cwnd_prior: window before the last cut
 * @k: K, ms: time from the start of the epoch until the window is @max again
 * @origin: window that the function has at K: @max, or the window at the start of an epoch that
 *	begins above it
 * @start: start of the epoch, ns; 0 = it begins with the next report
 * @est: W_est, packets / 2^SSTP_CUBIC_EST: window that Reno would have
 */
struct sstp_cubic_epoch {
	u32	max;
	u32	prior;
	u32	k;
	u32	origin;
	u64	start;
	u64	est;
};

/* Integer cube root, rounded down; at most 2^21 - 1 */
u32 sstp_cubic_root(u64 v);
/* The window, which is @cwnd, is cut. @fast: a flow whose W_max fell gives up more of it, to make
 * room for new flows (section 4.7).
 */
void sstp_cubic_cut(struct sstp_cubic_epoch *e, u32 cwnd, u32 beta, bool fast);
/* Grow the window for @packets delivered, at least 1, and begin the epoch if it has not begun. */
void sstp_cubic_avoid(struct sstp_ctrl *c, struct sstp_window *w, struct sstp_cubic_epoch *e,
		      const struct sstp_ctrl_sample *s, u32 packets,
		      const struct sstp_cubic_law *law);

#endif /* _NET_SSTP_CUBIC_H */
