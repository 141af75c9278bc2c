/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Payloads that lie a stride apart in memory, with headers between, copied from
 * and to what a program gave: in one go, since to start anew for every packet
 * costs as much as to copy it.
 */
#ifndef _SSTP_STRIDE_H
#define _SSTP_STRIDE_H

#include <linux/types.h>
#include <linux/uio.h>

/**
 * struct sstp_stride - a place in such memory
 * @p: a payload
 * @in: offset in it, below @size
 * @size: bytes in a payload
 * @stride: bytes from one to the next
 */
struct sstp_stride {
	u8	*p;
	u32	in;
	u32	size;
	u32	stride;
};

size_t sstp_stride_to_iter(struct sstp_stride *s, size_t len,
			   struct iov_iter *to);
size_t sstp_stride_from_iter(struct sstp_stride *s, size_t len,
			     struct iov_iter *from);

#endif /* _SSTP_STRIDE_H */
