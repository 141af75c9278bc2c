// SPDX-License-Identifier: GPL-2.0
/* Reads an skb from front to back, see cursor.h. Any context; the caller holds the skb. */
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include <linux/uio.h>
#include "cursor.h"

/* Move on to the piece that has offset @off. Returns false if @off is before the piece, if no piece
 * follows that has it, or if one is not mapped or is in the frag_list of a frag_list's skb: the
 * caller then takes the functions of the kernel.
 */
bool sstp_cursor_seek(struct sstp_cursor *c, u32 off)
{
	if (!c->part) {
		c->part = c->skb;
		c->p = c->skb->data;
		c->to = skb_headlen(c->skb);
	}
	while (off >= c->to) {
		const struct skb_shared_info *sh = skb_shinfo(c->part);
		const struct sk_buff *next;
		struct page *page;
		u32 size;

		if (c->frag < sh->nr_frags) {
			const skb_frag_t *f = &sh->frags[c->frag];

			/* A fragment in a device's memory has no page. */
			page = skb_frag_page(f);
			if (!page || PageHighMem(page))
				return false;
			c->p = skb_frag_address(f);
			c->frag++;
			size = skb_frag_size(f);
		} else {
			if (c->part != c->skb && sh->frag_list)
				return false;
			next = c->part == c->skb ? sh->frag_list : c->part->next;
			if (!next)
				return false;
			c->part = next;
			c->p = next->data;
			c->frag = 0;
			size = skb_headlen(next);
		}
		c->from = c->to;
		c->to += size;
	}
	return off >= c->from;
}

/* Return @len bytes from offset @off on: where they are, or copied to @buf if they are not
 * contiguous; NULL if the skb has no such bytes.
 */
const void *sstp_cursor_get(struct sstp_cursor *c, u32 off, u32 len, void *buf)
{
	if (sstp_cursor_seek(c, off) && len <= c->to - off)
		return c->p + (off - c->from);
	return skb_copy_bits(c->skb, off, buf, len) ? NULL : buf;
}

/* Copy @len bytes from offset @off on to @to. Returns 0 or -EFAULT. */
int sstp_cursor_to_iter(struct sstp_cursor *c, u32 off, u32 len, struct iov_iter *to)
{
	while (len && sstp_cursor_seek(c, off)) {
		const u8 *p = c->p + (off - c->from);
		u32 n = min(len, c->to - off);

		/* copy_to_iter() checks that bytes of a linear part do not go beyond its memory;
		 * a fragment is copied at once, unlike with copy_page_to_iter().
		 */
		if ((c->frag ? _copy_to_iter(p, n, to) : copy_to_iter(p, n, to)) != n)
			return -EFAULT;
		off += n;
		len -= n;
	}
	return len ? skb_copy_datagram_iter(c->skb, off, to, len) : 0;
}
