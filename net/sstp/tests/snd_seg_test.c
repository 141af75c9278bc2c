// SPDX-License-Identifier: GPL-2.0
/* Segments to send: their fragments, copied or by reference */
#include <linux/mm.h>
#include <linux/sizes.h>
#include "sstp_test.h"
#include "../snd_seg.c"

/* Fragments that a segment takes if each is a page, of which the first has @room bytes left, and
 * no header is in two of them
 */
static u32 snd_frags_needed(u32 len, u32 size, u32 room)
{
	u32 frags = 0, used = 0, left = 0;

	while (len) {
		u32 head = left ? 0 : SSTP_DATA_HLEN, copy;

		if (room <= head) {
			frags += used > 0;
			used = 0;
			room = PAGE_SIZE;
			continue;
		}
		if (!left)
			left = min(size, len);
		copy = min(left, room - head);
		room -= head + copy;
		used += head + copy;
		left -= copy;
		len -= copy;
	}
	return frags + (used > 0);
}

static void snd_frags(struct kunit *test)
{
	static const u32 size[] = { 8, 24, 480, 1400, 1448, 4072, 8936, 65456 };
	static const u32 len[] = {
		1, 8, 100, 1448, 4096, 10000, SZ_64K, SZ_1M, SSTP_SEGMENT_MAX,
	};
	u32 i, k, room, n, bytes;
	struct sstp_sseg *seg;

	for (n = 0; n < ARRAY_SIZE(size) * ARRAY_SIZE(len); n++) {
		i = n % ARRAY_SIZE(size);
		k = n / ARRAY_SIZE(size);
		if (DIV_ROUND_UP(len[k], size[i]) > SSTP_PACKETS_MAX)
			continue;
		seg = sstp_sseg_alloc(len[k], size[i], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, seg);
		KUNIT_EXPECT_EQ(test, seg->size, size[i]);
		for (room = 32; room <= PAGE_SIZE; room += 508) {
			u32 frags = snd_frags_needed(len[k], size[i], room);

			KUNIT_EXPECT_LE_MSG(test, frags, seg->alloc,
					    "len %u size %u room %u", len[k],
					    size[i], room);
		}
		seg->len = len[k];
		seg->packets = DIV_ROUND_UP(len[k], size[i]);
		/* The packets add up to the segment. */
		for (bytes = 0, i = 0; i < seg->packets; i++)
			bytes += sstp_sseg_bytes(seg, i);
		KUNIT_EXPECT_EQ(test, bytes, len[k]);
		sstp_sseg_free(seg);
	}
}

#define SND_REFS	20000	/* bytes of a segment by reference, at most */

struct snd_ref {
	struct kunit *test;
	struct rnd_state rnd;
	struct page *page;	/* of copied bytes */
};

/* Byte @i of such a segment; a compound page of them is @page. */
static u8 snd_ref_byte(u32 i)
{
	return i * 7 + (i >> 8);
}

/* Add pieces of random sizes, in order, with gaps in memory or without. Returns their bytes. */
static u32 snd_ref_fill(struct snd_ref *s, struct sstp_sseg *seg, struct page *page)
{
	u32 len = seg->len, off = 0, room = PAGE_SIZE << 4;

	while (seg->frags < seg->alloc && len < SND_REFS) {
		u32 n = sstp_rnd_range(&s->rnd, 1, 1 + sstp_rnd_range(&s->rnd, 1, 6000)), i;
		u32 frags = seg->frags;
		bool joins;

		n = min(n, SND_REFS - len);
		if (sstp_rnd_one_in(&s->rnd, 3))
			off += sstp_rnd_range(&s->rnd, 1, 500);
		if (off + n > room)
			break;
		joins = sstp_sseg_joins(seg, page, off);
		for (i = 0; i < n; i++)
			((u8 *)page_address(page))[off + i] = snd_ref_byte(len + i);
		get_page(page);
		sstp_sseg_add(seg, page, off, n);
		KUNIT_ASSERT_EQ(s->test, seg->frags, frags + !joins);
		off += n;
		len += n;
		KUNIT_ASSERT_EQ(s->test, seg->len, len);
		KUNIT_ASSERT_EQ(s->test, seg->packets, DIV_ROUND_UP(len, seg->size));
	}
	return len;
}

/* Go through bytes [@from, @from + @len) by pieces, and by a copy. */
static void snd_ref_range(struct snd_ref *s, const struct sstp_sseg *seg, u32 from, u32 len,
			  u8 *buf)
{
	struct sstp_spos p = sstp_sseg_seek(seg, from);
	u32 pieces = sstp_sseg_pieces(seg, p, len), at = from, left = len, i, n;
	struct bio_vec piece;

	for (n = 0; left; n++) {
		u32 got = sstp_sseg_take(seg, &p, left, &piece);
		const u8 *b = (u8 *)page_address(piece.bv_page) + piece.bv_offset;

		KUNIT_ASSERT_GT(s->test, got, 0U);
		KUNIT_ASSERT_LE(s->test, got, left);
		KUNIT_ASSERT_EQ(s->test, got, piece.bv_len);
		for (i = 0; i < got; i++)
			KUNIT_ASSERT_EQ(s->test, b[i], snd_ref_byte(at + i));
		at += got;
		left -= got;
	}
	KUNIT_ASSERT_EQ(s->test, n, pieces);
	memset(buf, 0, len);
	sstp_sseg_copy(seg, from, buf, len);
	for (i = 0; i < len; i++)
		KUNIT_ASSERT_EQ(s->test, buf[i], snd_ref_byte(from + i));
}

/* A segment that begins with @head copied bytes, and goes on by reference */
static void snd_ref_of(struct snd_ref *s, struct page *page, u8 *buf, u32 head)
{
	u32 size = 8 * sstp_rnd_range(&s->rnd, 20, 1100), len, i;
	struct sstp_sseg *seg = sstp_sseg_alloc(SND_REFS, size, GFP_KERNEL);
	u8 *p = page_address(s->page);
	struct kunit *test = s->test;

	KUNIT_ASSERT_NOT_NULL(test, seg);
	if (head) {
		for (i = 0; i < head; i++)
			p[SSTP_DATA_HLEN + i] = snd_ref_byte(i);
		get_page(s->page);
		bvec_set_page(&seg->frag[seg->frags++], s->page, SSTP_DATA_HLEN + head, 0);
		seg->len = head;
		seg->packets = 1;
		seg->fill = SSTP_DATA_HLEN + head;
	}
	KUNIT_ASSERT_TRUE(test, sstp_sseg_refer(seg));
	KUNIT_ASSERT_EQ(test, seg->fill, 0U);
	KUNIT_ASSERT_TRUE(test, sstp_sseg_refer(seg));
	len = snd_ref_fill(s, seg, page);
	snd_ref_range(s, seg, 0, len, buf);
	for (i = 0; i < 30; i++) {
		u32 from = sstp_rnd_range(&s->rnd, 0, len - 1);

		snd_ref_range(s, seg, from, sstp_rnd_range(&s->rnd, 1, len - from), buf);
	}
	sstp_sseg_free(seg);
	KUNIT_ASSERT_EQ(test, page_count(page), 1);
	KUNIT_ASSERT_EQ(test, page_count(s->page), 1);
}

/* Segments by reference: their pieces, copies of them, and their pages' references */
static void snd_refs(struct kunit *test)
{
	struct snd_ref s = { .test = test, .page = alloc_page(GFP_KERNEL) };
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 4);
	u8 *buf = kunit_kzalloc(test, SND_REFS, GFP_KERNEL);
	struct sstp_sseg *seg;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_NOT_NULL(test, s.page);
	sstp_test_seed_rnd(test, &s.rnd);
	for (i = 0; i < sstp_test_rounds(100); i++)
		snd_ref_of(&s, page, buf, i % 4 ? 0 : sstp_rnd_range(&s.rnd, 1, 160));
	put_page(page);
	put_page(s.page);
	/* A segment of two copied packets stays as it is. */
	seg = sstp_sseg_alloc(100, 48, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seg);
	seg->packets = 2;
	KUNIT_ASSERT_FALSE(test, sstp_sseg_refer(seg));
	KUNIT_ASSERT_FALSE(test, seg->refs);
	sstp_sseg_free(seg);
}

static struct kunit_case snd_seg_cases[] = {
	KUNIT_CASE(snd_frags),
	KUNIT_CASE(snd_refs),
	{ }
};

static struct kunit_suite snd_seg_suite = {
	.name = "sstp_snd_seg",
	.test_cases = snd_seg_cases,
};

kunit_test_suite(snd_seg_suite);
