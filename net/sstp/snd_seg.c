// SPDX-License-Identifier: GPL-2.0
/* Segments to send */
#include <linux/bitmap.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "snd_seg.h"

struct sstp_sseg *sstp_sseg_alloc(u32 len, u32 size, gfp_t gfp)
{
	/* In the worst case every fragment is a page that loses a header's worth at its end. */
	u32 packets = DIV_ROUND_UP(len, size);
	u32 bytes = len + packets * SSTP_DATA_HLEN;
	u32 frags = bytes / (PAGE_SIZE - SSTP_DATA_HLEN) + 2;
	struct sstp_sseg *s;

	s = kvmalloc(struct_size(s, frag, frags), gfp);
	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s));
	s->size = size;
	s->mem = size;
	s->alloc = frags;
	return s;
}

void sstp_rtx_free(struct sstp_rtx *r, u32 packets)
{
	u32 i;

	for (i = 0; i < DIV_ROUND_UP(packets, SSTP_RTX_CHUNK); i++)
		kfree(r->ship[i]);
	bitmap_free(r->pending);
	kfree(r);
}

void sstp_sseg_free(struct sstp_sseg *s)
{
	u32 i;

	if (s->rtx)
		sstp_rtx_free(s->rtx, s->packets);
	for (i = 0; i < s->frags; i++)
		put_page(s->frag[i].bv_page);
	net_zcopy_put(s->uarg);
	kvfree(s);
}

bool sstp_sseg_refer(struct sstp_sseg *s)
{
	if (s->refs)
		return true;
	if (s->packets > 1)
		return false;
	/* At least a byte of payload follows a header in the same fragment. */
	if (s->packets) {
		s->frag[0].bv_offset += SSTP_DATA_HLEN;
		s->frag[0].bv_len -= SSTP_DATA_HLEN;
		s->fill = 0;
	}
	s->refs = 1;
	return true;
}

bool sstp_sseg_joins(const struct sstp_sseg *s, const struct page *page, u32 off)
{
	const struct bio_vec *f = s->frags ? &s->frag[s->frags - 1] : NULL;

	return f && f->bv_page == page && f->bv_offset + f->bv_len == off;
}

void sstp_sseg_add(struct sstp_sseg *s, struct page *page, u32 off, u32 len)
{
	if (sstp_sseg_joins(s, page, off)) {
		s->frag[s->frags - 1].bv_len += len;
		put_page(page);
	} else {
		s->frag[s->frags++] = (struct bio_vec){
			.bv_page = page, .bv_offset = off, .bv_len = len,
		};
	}
	s->len += len;
	s->packets = DIV_ROUND_UP(s->len, s->size);
}

struct sstp_spos sstp_sseg_seek(const struct sstp_sseg *s, u32 from)
{
	struct sstp_spos p = { .off = from };

	while (p.off > s->frag[p.frag].bv_len)
		p.off -= s->frag[p.frag++].bv_len;
	return p;
}

u32 sstp_sseg_take(const struct sstp_sseg *s, struct sstp_spos *p, u32 len,
		   struct bio_vec *piece)
{
	if (p->off == s->frag[p->frag].bv_len) {
		p->frag++;
		p->off = 0;
	}
	*piece = s->frag[p->frag];
	piece->bv_offset += p->off;
	piece->bv_len = min(len, piece->bv_len - p->off);
	p->off += piece->bv_len;
	return piece->bv_len;
}

u32 sstp_sseg_pieces(const struct sstp_sseg *s, struct sstp_spos p, u32 len)
{
	struct bio_vec piece;
	u32 n;

	for (n = 0; len; n++)
		len -= sstp_sseg_take(s, &p, len, &piece);
	return n;
}

/* sstp_sseg_copy() for a segment by reference, whose pages may be in high memory */
static void sstp_sseg_copy_refs(const struct sstp_sseg *s, u32 from, u8 *to, u32 len)
{
	struct sstp_spos p = sstp_sseg_seek(s, from);

	while (len) {
		struct bio_vec piece;
		u32 n = sstp_sseg_take(s, &p, len, &piece);

		len -= n;
		while (n) {
			u32 off = piece.bv_offset % PAGE_SIZE;
			u32 here = min_t(u32, n, PAGE_SIZE - off);

			memcpy_from_page((char *)to,
					 piece.bv_page + piece.bv_offset / PAGE_SIZE, off, here);
			piece.bv_offset += here;
			to += here;
			n -= here;
		}
	}
}

void sstp_sseg_copy(const struct sstp_sseg *s, u32 from, u8 *to, u32 len)
{
	const struct bio_vec *f = s->frag;
	/* @in: offset in the packet's payload; @off: offset in @f */
	u32 in = from % s->mem, off = from / s->mem * (SSTP_DATA_HLEN + s->mem) +
				      SSTP_DATA_HLEN + in;

	if (s->refs) {
		sstp_sseg_copy_refs(s, from, to, len);
		return;
	}
	while (len) {
		u32 n = min(len, s->mem - in);

		for (in += n, len -= n; n; ) {
			u32 here;

			while (off >= f->bv_len)
				off -= f++->bv_len;
			here = min(n, f->bv_len - off);
			memcpy(to, page_address(f->bv_page) + f->bv_offset + off, here);
			to += here;
			off += here;
			n -= here;
		}
		if (in == s->mem) {
			in = 0;
			off += SSTP_DATA_HLEN;
		}
	}
}
