// SPDX-License-Identifier: GPL-2.0
/*
 * Trains: skbs whose packets lie in the memory of segments, by reference, and skbs of packets that
 * are copied.
 *
 * Everything here runs under the socket lock.
 */
#include <linux/highmem.h>
#include <linux/skbuff.h>
#include "sstp.h"
#include "train.h"

static void sstp_header(const struct sstp_sock *sp, const struct sstp_sseg *s,
			void *p, u32 packet, u32 stamp, u8 flags)
{
	struct sstp_data d = {
		.cid = sp->id.peer.cid,
		.type = SSTP_DATA,
		.flags = flags,
		.packet = packet,
		.shipment = sp->snd.shipment,
		.segment = s->number,
		.len = s->len,
		.stamp = stamp,
	};

	if (packet + 1 == s->packets)
		d.flags |= SSTP_F_LAST;
	if (s->eor)
		d.flags |= SSTP_F_EOR;
	sstp_build_data(p, &d);
}

/* Copy a packet into an skb of its own. Unless its segment is by reference, its pages cannot be
 * sent again: on the same host the receiver may hold those of its first shipment, whose header
 * must not change.
 */
struct sk_buff *sstp_copy_packet(struct sstp_sock *sp, const struct sstp_sseg *s, u32 packet,
				 u8 flags, u32 stamp)
{
	u32 bytes = sstp_sseg_bytes(s, packet), at = packet * s->size, head, i;
	struct sk_buff *skb;
	int err;
	u8 *p;

	/* A linear area larger than a page may not be had under GFP_ATOMIC. */
	head = bytes <= SKB_MAX_HEAD(SSTP_HEADROOM + SSTP_DATA_HLEN) ? bytes : 0;
	skb = alloc_skb_with_frags(SSTP_HEADROOM + SSTP_DATA_HLEN + head,
				   bytes - head, PAGE_ALLOC_COSTLY_ORDER, &err,
				   GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, SSTP_HEADROOM);
	p = skb_put(skb, SSTP_DATA_HLEN + head);
	sstp_header(sp, s, p, packet, stamp, flags);
	sstp_sseg_copy(s, at, p + SSTP_DATA_HLEN, head);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *f = &skb_shinfo(skb)->frags[i];

		sstp_sseg_copy(s, at, skb_frag_address(f), skb_frag_size(f));
		at += skb_frag_size(f);
	}
	skb->len += bytes - head;
	skb->data_len += bytes - head;
	/* The program learns of a copy of its pages. */
	if (s->uarg) {
		skb_zcopy_set(skb, s->uarg, NULL);
		skb_zcopy_clear(skb, false);
	}
	return skb;
}

/* Has @skb room for fragments of the @len bytes of payload from @p on, and @more others? It has
 * none if pages of another call are in it, as a skb reports to one.
 */
static bool sstp_refs_fit(const struct sk_buff *skb, const struct sstp_sseg *s,
			  struct sstp_spos p, u32 len, u32 more)
{
	struct ubuf_info *uarg = skb_zcopy((struct sk_buff *)skb);

	return skb_shinfo(skb)->nr_frags + more + sstp_sseg_pieces(s, p, len) <= MAX_SKB_FRAGS &&
	       (!uarg || !s->uarg || uarg == s->uarg);
}

/* Add the @len bytes of payload from @p on to @skb by reference, and move @p past them. */
static void sstp_add_refs(struct sk_buff *skb, const struct sstp_sseg *s, struct sstp_spos *p,
			  u32 len)
{
	struct skb_shared_info *sh = skb_shinfo(skb);

	skb_zcopy_set(skb, s->uarg, NULL);
	/* The bytes may change: who computes a checksum late has to copy them first. */
	sh->flags |= SKBFL_SHARED_FRAG;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	while (len) {
		struct bio_vec piece;

		len -= sstp_sseg_take(s, p, len, &piece);
		get_page(piece.bv_page);
		skb_fill_page_desc(skb, sh->nr_frags, piece.bv_page, piece.bv_offset,
				   piece.bv_len);
	}
}

/* Build an skb for a packet of a segment by reference, which may be shipped again so: its header
 * is the skb's own. NULL without memory, or if the packet has too many fragments.
 */
static struct sk_buff *sstp_refer_packet(struct sstp_sock *sp, const struct sstp_sseg *s,
					 u32 packet, u8 flags, u32 stamp)
{
	struct sstp_spos p = sstp_sseg_seek(s, packet * s->size);
	u32 len = sstp_sseg_bytes(s, packet);
	struct sk_buff *skb;

	if (sstp_sseg_pieces(s, p, len) > MAX_SKB_FRAGS)
		return NULL;
	skb = alloc_skb(SSTP_HEADROOM + SSTP_DATA_HLEN, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, SSTP_HEADROOM);
	sstp_header(sp, s, skb_put(skb, SSTP_DATA_HLEN), packet, stamp, flags);
	sstp_add_refs(skb, s, &p, len);
	return skb;
}

/* Build an skb for a packet that is shipped again. */
struct sk_buff *sstp_again_packet(struct sstp_sock *sp, const struct sstp_sseg *s, u32 packet,
				  u32 stamp)
{
	struct sk_buff *skb = NULL;

	if (s->refs)
		skb = sstp_refer_packet(sp, s, packet, SSTP_F_AGAIN, stamp);
	return skb ?: sstp_copy_packet(sp, s, packet, SSTP_F_AGAIN, stamp);
}

/* Memory for a header at the end of train @skb: in its linear part if it is empty, else a
 * fragment. NULL without memory.
 */
static void *sstp_train_header(struct sock *sk, struct sk_buff *skb)
{
	struct page_frag *pf = &sk->sk_frag;
	void *h;

	if (!skb->len)
		return skb_put(skb, SSTP_DATA_HLEN);
	if (!skb_page_frag_refill(SSTP_DATA_HLEN, pf, GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	h = page_address(pf->page) + pf->offset;
	get_page(pf->page);
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, pf->page, pf->offset, SSTP_DATA_HLEN);
	pf->offset += SSTP_DATA_HLEN;
	skb->len += SSTP_DATA_HLEN;
	skb->data_len += SSTP_DATA_HLEN;
	skb->truesize += SSTP_DATA_HLEN;
	return h;
}

/* Add the next packet of a segment by reference, of @len bytes of payload, to train @skb. Returns
 * its header, or NULL if the train has no room for it.
 */
u8 *sstp_train_refer(struct sstp_sock *sp, struct sk_buff *skb, struct sstp_sseg *s, u32 len,
		     u32 stamp)
{
	struct sstp_spos p = { s->cur, s->cur_off };
	u8 *h;

	if (!sstp_refs_fit(skb, s, p, len, skb->len ? 1 : 0))
		return NULL;
	h = sstp_train_header(&sp->sk, skb);
	if (!h)
		return NULL;
	sstp_header(sp, s, h, s->next, stamp, 0);
	sstp_add_refs(skb, s, &p, len);
	s->cur = p.frag;
	s->cur_off = p.off;
	return h;
}

/* Add the segment's next packets, headers included, to a train by reference:
 * all, up to @max, that lie in one fragment, or one that does not. @bytes is the
 * size of each. Returns how many, 0 when the skb has no room; @header is where
 * the first one's header is, the others follow @bytes apart.
 */
u32 sstp_train_add(struct sk_buff *skb, struct sstp_sseg *s, u32 bytes, u32 max, u8 **header)
{
	struct skb_shared_info *sh = skb_shinfo(skb);
	u32 cur = s->cur, off = s->cur_off, n = sh->nr_frags, count, left;

	if (off == s->frag[cur].bv_len) {
		cur++;
		off = 0;
	}
	*header = page_address(s->frag[cur].bv_page) + s->frag[cur].bv_offset +
		  off;
	count = clamp((s->frag[cur].bv_len - off) / bytes, 1U, max);
	bytes *= count;
	left = bytes;
	/* Count the fragments first: those added to the skb cannot be taken back. */
	{
		u32 c = cur, o = off, l = left, k = n + 1;

		while (l > s->frag[c].bv_len - o) {
			l -= s->frag[c++].bv_len - o;
			o = 0;
			k++;
		}
		if (k > MAX_SKB_FRAGS)
			return 0;
	}
	for (;;) {
		const struct bio_vec *f = &s->frag[cur];
		u32 take = min(left, f->bv_len - off);
		skb_frag_t *last = n ? &sh->frags[n - 1] : NULL;

		if (last && skb_frag_page(last) == f->bv_page &&
		    skb_frag_off(last) + skb_frag_size(last) ==
		    f->bv_offset + off) {
			skb_frag_size_add(last, take);
		} else {
			get_page(f->bv_page);
			skb_fill_page_desc(skb, n, f->bv_page,
					   f->bv_offset + off, take);
			n++;
		}
		left -= take;
		off += take;
		if (!left)
			break;
		cur++;
		off = 0;
	}
	s->cur = cur;
	s->cur_off = off;
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += bytes;
	return count;
}

/* The headers of @count packets of the segment from the next one on, @bytes
 * apart. Returns the last.
 */
struct sstp_data_hdr *sstp_train_headers(const struct sstp_sock *sp, const struct sstp_sseg *s,
					 u8 *p, u32 bytes, u32 count, u32 stamp)
{
	struct sstp_data_hdr *h = (void *)p;
	u32 i;

	sstp_header(sp, s, h, s->next, stamp, 0);
	for (i = 1; i < count; i++) {
		h = (void *)(p + i * bytes);
		memcpy(h, p, sizeof(*h));
		h->h.packet = cpu_to_be16(s->next + i);
		h->shipment = cpu_to_be32(sp->snd.shipment + i);
	}
	return h;
}

/* Move the position of the next packet of @s on by @len bytes, which have been copied. */
void sstp_sseg_step(struct sstp_sseg *s, u32 len)
{
	if (s->cur_off == s->frag[s->cur].bv_len) {
		s->cur++;
		s->cur_off = 0;
	}
	while (len > s->frag[s->cur].bv_len - s->cur_off) {
		len -= s->frag[s->cur++].bv_len - s->cur_off;
		s->cur_off = 0;
	}
	s->cur_off += len;
}

/* Move the header of the only packet of @skb, @h, to the linear part, where the receiver finds it
 * without a copy. Only packets of longer segments are coalesced there, which this would prevent.
 */
void *sstp_train_lift(struct sk_buff *skb, const void *h)
{
	skb_frag_t *f = &skb_shinfo(skb)->frags[0];

	skb_frag_off_add(f, SSTP_DATA_HLEN);
	skb_frag_size_sub(f, SSTP_DATA_HLEN);
	skb->data_len -= SSTP_DATA_HLEN;
	skb->truesize -= SSTP_DATA_HLEN;
	skb->tail += SSTP_DATA_HLEN;
	return memcpy(skb->data, h, SSTP_DATA_HLEN);
}
