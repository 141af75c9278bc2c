// SPDX-License-Identifier: GPL-2.0
/* Sending by reference: which pages may be referenced */
#include <linux/slab.h>
#include "sstp_test.h"
#include "../zerocopy.h"

#define ZC_ORDER	2
#define ZC_LEN		(PAGE_SIZE << ZC_ORDER)

/* Bytes of @page that may be referenced, of @len at @off, after @used that were taken already */
static size_t zc_may_refer(struct page *page, u32 off, size_t len, size_t used)
{
	struct bio_vec bv = { .bv_page = page, .bv_offset = off, .bv_len = len };
	struct iov_iter iter;

	iov_iter_bvec(&iter, ITER_SOURCE, &bv, 1, len);
	iov_iter_advance(&iter, used);
	return sstp_zc_may_refer(&iter, iov_iter_single_seg_count(&iter));
}

static void zc_free(void *pages)
{
	__free_pages(pages, ZC_ORDER);
}

static struct page *zc_pages(struct kunit *test, gfp_t gfp)
{
	struct page *pages = alloc_pages(GFP_KERNEL | gfp, ZC_ORDER);

	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, zc_free, pages), 0);
	return pages;
}

/* Memory of a slab is copied, wherever it begins. */
static void zc_slab(struct kunit *test)
{
	u8 *p = kunit_kmalloc(test, 2048, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_TRUE(test, folio_test_slab(virt_to_folio(p)));
	KUNIT_EXPECT_EQ(test, zc_may_refer(virt_to_page(p), offset_in_page(p), 2048, 0), 0U);
	KUNIT_EXPECT_EQ(test, zc_may_refer(virt_to_page(p), offset_in_page(p), 2048, 1000), 0U);
}

/* Pages with references of their own, or with those of the folio that they are of */
static void zc_own(struct kunit *test)
{
	struct page *pages = zc_pages(test, __GFP_COMP);

	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 0, ZC_LEN, 0), ZC_LEN);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 100, ZC_LEN - 100, 0), ZC_LEN - 100);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, PAGE_SIZE + 100, 10, 3), 7U);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 100, ZC_LEN - 100, 2 * PAGE_SIZE),
			ZC_LEN - 100 - 2 * PAGE_SIZE);
}

/* Of pages that are no folio only the first has a reference: the piece is taken up to its end. */
static void zc_mixed(struct kunit *test)
{
	struct page *pages = zc_pages(test, 0);

	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 0, ZC_LEN, 0), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 100, ZC_LEN - 100, 0), PAGE_SIZE - 100);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 100, ZC_LEN - 100, 50), PAGE_SIZE - 150);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, 100, ZC_LEN - 100, PAGE_SIZE - 100), 0U);
	KUNIT_EXPECT_EQ(test, zc_may_refer(pages, PAGE_SIZE, PAGE_SIZE, 0), 0U);
}

static struct kunit_case zc_cases[] = {
	KUNIT_CASE(zc_slab),
	KUNIT_CASE(zc_own),
	KUNIT_CASE(zc_mixed),
	{ }
};

static struct kunit_suite zc_suite = {
	.name = "sstp_zerocopy",
	.test_cases = zc_cases,
};

kunit_test_suite(zc_suite);
