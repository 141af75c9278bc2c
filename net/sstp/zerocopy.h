/* SPDX-License-Identifier: GPL-2.0 */
/* Sending by reference: MSG_ZEROCOPY and MSG_SPLICE_PAGES */
#ifndef _SSTP_ZEROCOPY_H
#define _SSTP_ZEROCOPY_H

#include <linux/bvec.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/types.h>
#include <linux/uio.h>

struct msghdr;
struct sock;
struct socket;
struct sstp_sseg;
struct ubuf_info;

/**
 * struct sstp_zc - how one call's data gets into segments
 * @uarg: what is to be told when its pages are not used any more, or NULL
 * @refs: by reference, not by copies
 * @own: @uarg was made for the call, or extended by it
 * @used: some of the data went by reference
 */
struct sstp_zc {
	struct ubuf_info *uarg;
	bool	refs;
	bool	own;
	bool	used;
};

/* How many of the next @len bytes of @iter, which are in one piece, lie in pages that may be
 * referenced? Pages of slabs have no references of their own: who frees such memory does not wait
 * for them. Only callers in the kernel, which pass pages, can have them. What sendpage_ok() looks
 * at is in the first page of a folio.
 */
static inline size_t sstp_zc_may_refer(const struct iov_iter *iter, size_t len)
{
	size_t off, done = 0;
	struct page *page;

	if (!iov_iter_is_bvec(iter))
		return len;
	off = iter->bvec->bv_offset + iter->iov_offset;
	page = iter->bvec->bv_page + off / PAGE_SIZE;
	for (off %= PAGE_SIZE; done < len && sendpage_ok(compound_head(page)); page++, off = 0)
		done += PAGE_SIZE - off;
	return min(done, len);
}

int sstp_zc_begin(struct sock *sk, struct msghdr *msg, size_t len, struct sstp_zc *z);
void sstp_zc_end(struct sstp_zc *z, int sent);
bool sstp_zc_suits(const struct sstp_zc *z, struct sstp_sseg *s);
int sstp_zc_fill(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg, u32 len,
		 struct sstp_zc *z);

#endif /* _SSTP_ZEROCOPY_H */
