/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies payloads that lie a stride apart in memory, with headers between them, from and to an
 * iov_iter. One call copies all of them, as a call for each packet would cost as much as the
 * copy.
 */
#ifndef _SSTP_STRIDE_H
#define _SSTP_STRIDE_H

#include <linux/types.h>
#include <linux/uio.h>

/**
 * struct sstp_stride - position in payloads that lie a stride apart
 * @p: start of a payload
 * @in: offset in that payload, below @size
 * @size: bytes in a payload
 * @stride: bytes from the start of one payload to that of the next
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
