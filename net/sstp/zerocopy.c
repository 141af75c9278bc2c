// SPDX-License-Identifier: GPL-2.0
/*
 * Sending by reference: segments take the pages of a program (MSG_ZEROCOPY), or of a file or a
 * pipe (MSG_SPLICE_PAGES, which sendfile() and splice() use), instead of copies of them.
 *
 * Nothing of SSTP's lies in these pages, as their owner may write to them at any time: headers
 * have memory of their own, see sstp_train_refer().
 */
#include <linux/netdevice.h>
#include <linux/uio.h>
#include "encap.h"
#include "mem.h"
#include "sstp.h"
#include "zerocopy.h"

#define SSTP_ZC_PIECE	(PAGE_SIZE / 2)	/* shorter pieces of memory are copied */
#define SSTP_ZC_PAGES	16		/* that are taken at once */

/* Bytes in a piece of memory, the pages of which lie side by side, on average of the first pages
 * of @msg; 0 if they cannot be taken.
 */
static u32 sstp_zc_piece(const struct msghdr *msg)
{
	struct iov_iter iter = msg->msg_iter;
	struct page *page[SSTP_ZC_PAGES];
	u32 bytes = 0, pieces = 0, i = 0, n;
	const struct page *next = NULL;
	size_t off, len;
	ssize_t got;

	while (i < SSTP_ZC_PAGES && iov_iter_count(&iter)) {
		/* Skip pieces of no length. */
		iov_iter_advance(&iter, 0);
		len = min_t(size_t, SSTP_ZC_PAGES * PAGE_SIZE, iov_iter_single_seg_count(&iter));
		len = sstp_zc_may_refer(&iter, len);
		if (!len)
			break;
		got = iov_iter_get_pages2(&iter, page, len, SSTP_ZC_PAGES - i, &off);
		if (got <= 0)
			break;
		n = DIV_ROUND_UP(off + got, PAGE_SIZE);
		pieces += off || page[0] != next;
		bytes += got;
		next = (off + got) % PAGE_SIZE ? NULL : page[n - 1] + 1;
		i += n;
		while (n--) {
			pieces += n && page[n] != page[n - 1] + 1;
			put_page(page[n]);
		}
	}
	return pieces ? bytes / pieces : 0;
}

/* Does it pay to send @len bytes by reference? A train has no room for more than MAX_SKB_FRAGS
 * pieces of memory, and short trains cost more than copies. A packet takes one for its header,
 * except the first, and of its payload one more than it is long, as it may begin anywhere.
 * A device that takes no fragments would have all of them copied once more.
 */
static bool sstp_zc_pays(struct sock *sk, const struct msghdr *msg, size_t len)
{
	u32 size, enough, piece;
	struct dst_entry *dst;
	bool sg;

	sstp_mtu_update(sk);
	size = sstp_sk(sk)->path.size;
	enough = min_t(u32, SSTP_TRAIN_BYTES, SSTP_TRAIN_PACKETS * size) / 4 * 3;
	/* Are the packets so small that pieces of no length would do? */
	if (len < SSTP_ZC_PIECE || size * (MAX_SKB_FRAGS + 1) < 2 * enough)
		return false;
	piece = sstp_zc_piece(msg);
	if (piece < SSTP_ZC_PIECE ||
	    (u64)size * (MAX_SKB_FRAGS + 1) * piece < (2ULL * piece + size) * enough)
		return false;
	dst = sstp_encap_dst(sk);
	/* A route does not hold its device. */
	rcu_read_lock();
	sg = dst && READ_ONCE(dst->dev)->features & NETIF_F_SG;
	rcu_read_unlock();
	dst_release(dst);
	return sg;
}

/**
 * sstp_zc_begin - begin to send a call's data
 * @sk: socket; its lock is held
 * @msg: the call's parameters
 * @len: bytes of the call
 * @z: how they are to be sent
 *
 * Return: 0, or -ENOBUFS if there is no memory to tell the program of a completion, or if more
 * pages would be locked than it may.
 */
int sstp_zc_begin(struct sock *sk, struct msghdr *msg, size_t len, struct sstp_zc *z)
{
	struct sstp_sseg *open = sstp_sk(sk)->tx.open;

	*z = (struct sstp_zc){ };
	if (msg->msg_flags & MSG_ZEROCOPY && len) {
		if (msg->msg_ubuf) {
			z->uarg = msg->msg_ubuf;
		} else if (sock_flag(sk, SOCK_ZEROCOPY)) {
			z->uarg = sstp_msg_zerocopy(sk, len, open && open->msgzc ?
						    open->uarg : NULL);
			if (!z->uarg)
				return -ENOBUFS;
			z->own = true;
		}
		z->refs = z->uarg && sstp_zc_pays(sk, msg, len);
	} else if (msg->msg_flags & MSG_SPLICE_PAGES && len) {
		z->refs = sstp_zc_pays(sk, msg, len);
	}
	return 0;
}

/* End the call, which sent @sent bytes, or failed. */
void sstp_zc_end(struct sstp_zc *z, int sent)
{
	if (!z->own)
		return;
	/* The program learns that copies were made. */
	if (!z->used)
		uarg_to_msgzc(z->uarg)->zerocopy = 0;
	if (sent > 0)
		net_zcopy_put(z->uarg);
	else
		msg_zerocopy_put_abort(z->uarg, true);
}

/* May segment @s, which is open, take the call's data as well? */
bool sstp_zc_suits(const struct sstp_zc *z, struct sstp_sseg *s)
{
	if (!z->refs)
		return true;
	return (!s->uarg || !z->uarg || s->uarg == z->uarg) && sstp_sseg_refer(s);
}

/* Copy up to @len bytes into a segment by reference. Returns as sstp_zc_fill() does. */
static int sstp_zc_copy(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg, u32 len)
{
	struct page_frag *pf = sk_page_frag(sk);

	if (!sk_page_frag_refill(sk, pf))
		return -ENOMEM;
	if (s->frags == s->alloc && !sstp_sseg_joins(s, pf->page, pf->offset))
		return 0;
	len = sstp_mem_may_charge(sk, s, min_t(u32, len, pf->size - pf->offset));
	if (!len)
		return -ENOMEM;
	len = copy_from_iter(page_address(pf->page) + pf->offset, len, &msg->msg_iter);
	if (!len)
		return -EFAULT;
	get_page(pf->page);
	sstp_sseg_add(s, pf->page, pf->offset, len);
	pf->offset += len;
	sstp_mem_charge_segment(sk, s, len);
	return len;
}

/* Add pages with up to @len bytes, which may be referenced, to a segment. Returns as
 * sstp_zc_fill() does.
 */
static int sstp_zc_refer(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg, u32 len)
{
	struct page *page[SSTP_ZC_PAGES], **p = page;
	u32 free = s->alloc - s->frags;
	ssize_t got, left;
	size_t off;

	if (!free)
		return 0;
	len = sstp_mem_may_charge(sk, s, min_t(u32, len, SSTP_ZC_PAGES * PAGE_SIZE));
	if (!len)
		return -ENOMEM;
	got = iov_iter_get_pages2(&msg->msg_iter, page, len, min_t(u32, free, SSTP_ZC_PAGES),
				  &off);
	if (got <= 0)
		return -EFAULT;
	for (left = got; left; p++) {
		u32 n = min_t(size_t, left, PAGE_SIZE - off);
		struct folio *folio = page_folio(*p);

		sstp_sseg_add(s, folio_page(folio, 0),
			      folio_page_idx(folio, *p) * PAGE_SIZE + off, n);
		left -= n;
		off = 0;
	}
	sstp_mem_charge_segment(sk, s, got);
	SSTP_ADD(sock_net(sk), OUTREFBYTES, got);
	return got;
}

/**
 * sstp_zc_fill - add data to a segment by reference
 * @sk: socket; its lock is held
 * @s: segment
 * @msg: where the data is
 * @len: bytes to add at most
 * @z: the call; unless it is by reference, the data is copied
 *
 * Return: bytes added; -ENOMEM if there is no memory now; 0 if the segment can take no more
 * pieces; or another error if the data cannot be read.
 */
int sstp_zc_fill(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg, u32 len,
		 struct sstp_zc *z)
{
	u32 done = 0;

	while (done < len) {
		u32 piece, refs;
		int n;

		/* Skip pieces of no length. */
		iov_iter_advance(&msg->msg_iter, 0);
		piece = min_t(size_t, len - done, iov_iter_single_seg_count(&msg->msg_iter));
		refs = z->refs && piece >= SSTP_ZC_PIECE ?
		       sstp_zc_may_refer(&msg->msg_iter,
					 min_t(u32, piece, SSTP_ZC_PAGES * PAGE_SIZE)) : 0;
		if (refs) {
			n = sstp_zc_refer(sk, s, msg, refs);
			if (n > 0)
				z->used = true;
			if (n > 0 && z->uarg && !s->uarg) {
				net_zcopy_get(z->uarg);
				s->uarg = z->uarg;
				s->msgzc = z->own;
			}
		} else {
			n = sstp_zc_copy(sk, s, msg, piece);
		}
		if (n <= 0)
			return done ?: n;
		done += n;
	}
	return done;
}
