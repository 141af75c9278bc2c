/* SPDX-License-Identifier: GPL-2.0 */
/* Sending by reference: MSG_ZEROCOPY and MSG_SPLICE_PAGES */
#ifndef _SSTP_ZEROCOPY_H
#define _SSTP_ZEROCOPY_H

#include <linux/types.h>

struct msghdr;
struct page;
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

int sstp_zc_begin(struct sock *sk, struct msghdr *msg, size_t len, struct sstp_zc *z);
void sstp_zc_end(struct sstp_zc *z, int sent);
bool sstp_zc_suits(const struct sstp_zc *z, struct sstp_sseg *s);
int sstp_zc_fill(struct sock *sk, struct sstp_sseg *s, struct msghdr *msg, u32 len,
		 struct sstp_zc *z);

#endif /* _SSTP_ZEROCOPY_H */
