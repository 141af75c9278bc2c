// SPDX-License-Identifier: GPL-2.0
/* Reading an skb from front to back: linear parts, fragments, and skbs that GRO has chained */
#include "sstp_test.h"
#include "../cursor.c"

#define CURSOR_PIECE	300U		/* bytes of a piece at most */

/* Byte of the skbs at an offset */
static u8 cursor_byte(u32 off)
{
	return off ^ off >> 8;
}

static void cursor_fill(u8 *p, u32 off, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		p[i] = cursor_byte(off + i);
}

/* An skb with a linear part of @head bytes and @frags fragments of @size, from offset @off on */
static struct sk_buff *cursor_skb(struct kunit *test, u32 off, u32 head, u32 frags, u32 size)
{
	struct sk_buff *skb = alloc_skb(CURSOR_PIECE, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	cursor_fill(skb_put(skb, head), off, head);
	for (i = 0; i < frags; i++) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		cursor_fill(page_address(page) + 7, off + head + i * size, size);
		skb_add_rx_frag(skb, i, page, 7, size, PAGE_SIZE);
	}
	return skb;
}

/* Chain @part to @skb, as skb_gro_receive() does. */
static void cursor_chain(struct sk_buff *skb, struct sk_buff *last, struct sk_buff *part)
{
	if (last == skb)
		skb_shinfo(skb)->frag_list = part;
	else
		last->next = part;
	skb->data_len += part->len;
	skb->len += part->len;
	skb->truesize += part->truesize;
}

static struct sk_buff *cursor_random(struct kunit *test, struct rnd_state *r, u32 parts)
{
	struct sk_buff *skb = NULL, *last = NULL, *part;
	u32 i;

	for (i = 0; i < parts; i++) {
		part = cursor_skb(test, skb ? skb->len : 0, sstp_rnd_below(r, CURSOR_PIECE + 1),
				  sstp_rnd_below(r, 4), sstp_rnd_below(r, CURSOR_PIECE + 1));
		if (skb)
			cursor_chain(skb, last, part);
		else
			skb = part;
		last = part;
	}
	return skb;
}

/* Does @p have the @len bytes that the skbs have from offset @off on? */
static bool cursor_same(const u8 *p, u32 off, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++) {
		if (p[i] != cursor_byte(off + i))
			return false;
	}
	return true;
}

/* All bytes are found, in ascending order, also in more than one piece. */
static void cursor_reads(struct kunit *test)
{
	struct rnd_state r;
	u32 n, rounds = sstp_test_rounds(500);
	u8 *buf = kunit_kzalloc(test, 16 * CURSOR_PIECE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	sstp_test_seed_rnd(test, &r);
	for (n = 0; n < rounds; n++) {
		struct sk_buff *skb = cursor_random(test, &r, sstp_rnd_range(&r, 1, 8));
		struct sstp_cursor get = { .skb = skb }, to = { .skb = skb };
		u32 off = 0, len;

		for (; off < skb->len; off += len) {
			struct kvec vec = { .iov_base = buf, .iov_len = 4 * CURSOR_PIECE };
			struct iov_iter iter;
			const u8 *p;

			len = min(skb->len - off, sstp_rnd_range(&r, 1, 4 * CURSOR_PIECE));
			p = sstp_cursor_get(&get, off, len, buf);
			KUNIT_ASSERT_NOT_NULL(test, p);
			KUNIT_EXPECT_TRUE(test, cursor_same(p, off, len));
			memset(buf, 0, len);
			iov_iter_kvec(&iter, ITER_DEST, &vec, 1, vec.iov_len);
			KUNIT_EXPECT_EQ(test, sstp_cursor_to_iter(&to, off, len, &iter), 0);
			KUNIT_EXPECT_TRUE(test, cursor_same(buf, off, len));
		}
		KUNIT_EXPECT_FALSE(test, sstp_cursor_seek(&get, skb->len));
		if (skb->len) {
			KUNIT_EXPECT_NULL(test, sstp_cursor_get(&get, skb->len - 1, 2, buf));
			KUNIT_EXPECT_EQ(test, *(u8 *)sstp_cursor_get(&get, 0, 1, buf),
					cursor_byte(0));
		}
		kfree_skb(skb);
	}
}

/* sstp_cursor_get() returns a pointer into the skb where all bytes are in one linear part or one
 * fragment, and copies bytes of two.
 */
static void cursor_does_not_copy(struct kunit *test)
{
	struct sk_buff *skb = cursor_skb(test, 0, 100, 2, 100);
	struct sk_buff *part = cursor_skb(test, 300, 100, 1, 100);
	struct sstp_cursor c = { .skb = skb };
	u8 buf[2];

	cursor_chain(skb, skb, part);
	KUNIT_EXPECT_PTR_EQ(test, sstp_cursor_get(&c, 98, 2, buf), (const void *)skb->data + 98);
	KUNIT_EXPECT_PTR_EQ(test, sstp_cursor_get(&c, 99, 2, buf), (const void *)buf);
	KUNIT_EXPECT_PTR_EQ(test, sstp_cursor_get(&c, 298, 2, buf),
			    skb_frag_address(&skb_shinfo(skb)->frags[1]) + 98);
	KUNIT_EXPECT_PTR_EQ(test, sstp_cursor_get(&c, 300, 2, buf), (const void *)part->data);
	KUNIT_EXPECT_PTR_EQ(test, sstp_cursor_get(&c, 498, 2, buf),
			    skb_frag_address(&skb_shinfo(part)->frags[0]) + 98);
	kfree_skb(skb);
}

/* An skb of a frag_list that has a frag_list itself: the kernel's functions read it. */
static void cursor_nested(struct kunit *test)
{
	struct sk_buff *skb = cursor_skb(test, 0, 10, 0, 0), *part = cursor_skb(test, 10, 10, 0, 0);
	struct sstp_cursor c = { .skb = skb }, to = { .skb = skb };
	struct kvec vec;
	struct iov_iter iter;
	u8 buf[25];

	vec = (struct kvec){ .iov_base = buf, .iov_len = sizeof(buf) };
	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, sizeof(buf));
	cursor_chain(part, part, cursor_skb(test, 20, 10, 0, 0));
	cursor_chain(skb, skb, part);
	cursor_chain(skb, part, cursor_skb(test, 30, 10, 0, 0));
	KUNIT_EXPECT_TRUE(test, sstp_cursor_seek(&c, 15));
	KUNIT_EXPECT_FALSE(test, sstp_cursor_seek(&c, 20));
	KUNIT_EXPECT_TRUE(test, cursor_same(sstp_cursor_get(&c, 15, 10, buf), 15, 10));
	KUNIT_EXPECT_TRUE(test, cursor_same(sstp_cursor_get(&c, 30, 10, buf), 30, 10));
	KUNIT_EXPECT_EQ(test, sstp_cursor_to_iter(&to, 15, sizeof(buf), &iter), 0);
	KUNIT_EXPECT_TRUE(test, cursor_same(buf, 15, sizeof(buf)));
	kfree_skb(skb);
}

static struct kunit_case cursor_cases[] = {
	KUNIT_CASE(cursor_reads),
	KUNIT_CASE(cursor_does_not_copy),
	KUNIT_CASE(cursor_nested),
	{}
};

static struct kunit_suite cursor_suite = {
	.name = "sstp_cursor",
	.test_cases = cursor_cases,
};

kunit_test_suite(cursor_suite);
