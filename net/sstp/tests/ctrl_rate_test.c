// SPDX-License-Identifier: GPL-2.0
/* rate: packets that leave by its period, through the core's pacing, against exact times */
#include <linux/math64.h>
#include "sstp_test.h"
#include "../ctrl_rate.c"

#define SRTT	20000		/* us */
#define MOST	64		/* packets of a train */

/**
 * struct ctrl_rate_sim - a sender that always has packets, and a clock that is never late
 * @c: its controller
 * @s: sample
 * @conf: parameters
 */
struct ctrl_rate_sim {
	struct sstp_ctrl_core c;
	struct sstp_ctrl_sample s;
	struct sstp_plugin_conf conf;
};

static void ctrl_rate_start(struct ctrl_rate_sim *x, u32 kbit, u32 frame)
{
	memset(x, 0, sizeof(*x));
	x->conf = (struct sstp_plugin_conf){ .name = "rate", .param = { kbit } };
	x->s.now = NSEC_PER_SEC;
	x->s.srtt = SRTT;
	x->s.packet_size = frame;
	x->s.shipped = -1000;		/* serial numbers wrap */
	sstp_ctrl_begin(&x->c, &sstp_ctrl_rate, &x->conf, &x->s);
}

static void ctrl_rate_ship(struct ctrl_rate_sim *x, u32 packets)
{
	x->s.now = max(x->s.now, x->c.next);
	x->s.shipped += packets;
	sstp_ctrl_pace(&x->c, packets, 0, SRTT * (u64)NSEC_PER_USEC, x->s.now);
}

/* Ship @packets in trains of random lengths, as long as the sender's, and report some. Returns
 * the time from that at which the first is due to that of the one after the last, ns.
 */
static u64 ctrl_rate_run(struct ctrl_rate_sim *x, struct rnd_state *r, u32 packets)
{
	u64 start = x->c.next;
	u32 n, most;

	for (; packets; packets -= n) {
		most = clamp_t(u64, div64_u64(NSEC_PER_MSEC, x->c.out.period), 2, MOST);
		n = min(sstp_rnd_range(r, 1, most), packets);
		ctrl_rate_ship(x, n);
		if (sstp_rnd_one_in(r, 4))
			sstp_ctrl_report(&x->c, &x->s);
	}
	return x->c.next - start;
}

/* Packets that leave before a report corrects the period are too early or too late by less than
 * 1 ns each.
 */
static void ctrl_rate_exact(struct kunit *test)
{
	static const u32 rates[] = {
		600, 999, 1000, 9999, 123457, 1000000, 9999999, 100000000, 999999937,
		4000000000U, U32_MAX,
	};
	static const u32 frames[] = { 1294, 1514, 9014, 65549 };
	u32 i, k, packets = sstp_test_rounds(100000);
	struct ctrl_rate_sim x;
	struct rnd_state r;
	u64 took, want;

	sstp_test_seed_rnd(test, &r);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		for (k = 0; k < ARRAY_SIZE(frames); k++) {
			ctrl_rate_start(&x, rates[i], frames[k]);
			KUNIT_EXPECT_EQ(test, x.c.out.cwnd, SSTP_CWND_MAX);
			ctrl_rate_ship(&x, 1);
			took = ctrl_rate_run(&x, &r, packets);
			want = mul_u64_u64_div_u64((u64)packets * frames[k] * 8, USEC_PER_SEC,
						   rates[i]);
			KUNIT_EXPECT_LE_MSG(test, abs_diff(took, want), 100ULL * MOST,
					    "%u kbit/s, %u bytes: %llu ns, not %llu", rates[i],
					    frames[k], took, want);
		}
	}
}

/* A packet of more than a second: the period is right, but the core sends one in a second. */
static void ctrl_rate_slow(struct kunit *test)
{
	struct ctrl_rate_sim x;
	struct rnd_state r;

	sstp_test_seed_rnd(test, &r);
	ctrl_rate_start(&x, 1, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.period, (u64)SSTP_PERIOD_LIMIT);
	sstp_ctrl_rate_pace(&x.c.out, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 12112000000ULL);
	sstp_ctrl_report(&x.c, &x.s);
	ctrl_rate_ship(&x, 1);
	KUNIT_EXPECT_EQ(test, ctrl_rate_run(&x, &r, 1), (u64)SSTP_PERIOD_LIMIT);
	ctrl_rate_start(&x, 12, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.period, (u64)SSTP_PERIOD_LIMIT);
	ctrl_rate_start(&x, 13, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 931692307ULL);
}

/* setRate(): the new rate holds from the packet on that is due, or at once; a larger packet too */
static void ctrl_rate_changed(struct kunit *test)
{
	struct ctrl_rate_sim x;

	/* Without the parameter there is no period. */
	ctrl_rate_start(&x, 0, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 0ULL);
	sstp_ctrl_report(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 0ULL);
	x.conf.param[0] = 1;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, (u64)SSTP_PERIOD_LIMIT);
	ctrl_rate_ship(&x, 1);
	KUNIT_EXPECT_GT(test, x.c.next, x.s.now + NSEC_PER_SEC / 2);
	/* A faster rate does not wait for the slow one's next packet. */
	x.conf.param[0] = 12112;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 1000000ULL);
	KUNIT_EXPECT_EQ(test, x.c.next, x.s.now + 1000000);
	/* The path takes larger packets: as many bytes leave. */
	x.s.packet_size = 3028;
	sstp_ctrl_report(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 2000000ULL);
	/* Off, and on again after many packets: nothing is made up for. */
	x.conf.param[0] = 0;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 0ULL);
	x.s.shipped += S32_MAX;
	x.conf.param[0] = 4000000000U;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 6ULL);
	sstp_ctrl_report(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 6ULL);
}

/* setACKInterval(): the core's own without the parameter, and again when it is taken back */
static void ctrl_rate_ack_interval(struct kunit *test)
{
	struct ctrl_rate_sim x;

	ctrl_rate_start(&x, 0, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.ack_interval, 0U);
	x.conf.param[1] = 2;
	sstp_ctrl_begin(&x.c, &sstp_ctrl_rate, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.ack_interval, 2U);
	KUNIT_EXPECT_EQ(test, x.c.out.period, 0ULL);
	x.conf.param[1] = U16_MAX;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.ack_interval, (u32)U16_MAX);
	sstp_ctrl_report(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.ack_interval, (u32)U16_MAX);
	x.conf.param[1] = 0;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.ack_interval, 0U);
}

/* A time-out of its own: likewise */
static void ctrl_rate_rto(struct kunit *test)
{
	struct ctrl_rate_sim x;

	ctrl_rate_start(&x, 0, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.rto, 0U);
	x.conf.param[2] = 1000;
	sstp_ctrl_begin(&x.c, &sstp_ctrl_rate, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rto, 1000U);
	x.conf.param[2] = 60000000;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rto, 60000000U);
	sstp_ctrl_report(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rto, 60000000U);
	x.conf.param[2] = 0;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rto, 0U);
}

/* A round-trip time of its own */
static void ctrl_rate_rtt(struct kunit *test)
{
	struct ctrl_rate_sim x;

	ctrl_rate_start(&x, 0, 1514);
	KUNIT_EXPECT_EQ(test, x.c.out.rtt, 0U);
	x.conf.param[3] = 1;
	sstp_ctrl_begin(&x.c, &sstp_ctrl_rate, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rtt, 1U);
	x.conf.param[3] = 3000000;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rtt, 3000000U);
	sstp_ctrl_report(&x.c, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rtt, 3000000U);
	x.conf.param[3] = 0;
	sstp_ctrl_tune(&x.c, &x.conf, &x.s);
	KUNIT_EXPECT_EQ(test, x.c.out.rtt, 0U);
}

static struct kunit_case ctrl_rate_cases[] = {
	KUNIT_CASE(ctrl_rate_exact),
	KUNIT_CASE(ctrl_rate_slow),
	KUNIT_CASE(ctrl_rate_changed),
	KUNIT_CASE(ctrl_rate_ack_interval),
	KUNIT_CASE(ctrl_rate_rto),
	KUNIT_CASE(ctrl_rate_rtt),
	{}
};

static struct kunit_suite ctrl_rate_suite = {
	.name = "sstp_ctrl_rate",
	.test_cases = ctrl_rate_cases,
};

kunit_test_suite(ctrl_rate_suite);
