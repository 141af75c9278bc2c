// SPDX-License-Identifier: GPL-2.0
/* Copies of payloads that lie a stride apart */
#include <linux/fault-inject-usercopy.h>
#include <linux/instrumented.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "stride.h"

static u32 sstp_stride_piece(const struct sstp_stride *s, size_t len)
{
	return min_t(size_t, len, s->size - s->in);
}

static void sstp_stride_step(struct sstp_stride *s, u32 n)
{
	s->in += n;
	if (s->in == s->size) {
		s->in = 0;
		s->p += s->stride;
	}
}

#ifdef SSTP_HAVE_ITERATE
/* Steps of iterate_and_advance(): return what is left of @len. */
static size_t sstp_stride_to_user(void __user *to, size_t progress, size_t len,
				  void *priv, void *priv2)
{
	struct sstp_stride *s = priv;

	if (!access_ok(to, len))
		return len;
	while (len) {
		u32 n = sstp_stride_piece(s, len), left;

		if (should_fail_usercopy())
			return len;
		instrument_copy_to_user(to, s->p + s->in, n);
		left = raw_copy_to_user(to, s->p + s->in, n);
		if (unlikely(left))
			return len - n + left;
		to += n;
		len -= n;
		sstp_stride_step(s, n);
	}
	return 0;
}

static size_t sstp_stride_to_kernel(void *to, size_t progress, size_t len,
				    void *priv, void *priv2)
{
	struct sstp_stride *s = priv;

	while (len) {
		u32 n = sstp_stride_piece(s, len);

		memcpy(to, s->p + s->in, n);
		to += n;
		len -= n;
		sstp_stride_step(s, n);
	}
	return 0;
}

static size_t sstp_stride_from_user(void __user *from, size_t progress,
				    size_t len, void *priv, void *priv2)
{
	struct sstp_stride *s = priv;

	if (!access_ok(from, len))
		return len;
	/* As in copy_from_user(): @from is used only if access_ok() has said so. */
	barrier_nospec();
	while (len) {
		u32 n = sstp_stride_piece(s, len), left;

		if (should_fail_usercopy())
			return len;
		instrument_copy_from_user_before(s->p + s->in, from, n);
		left = raw_copy_from_user(s->p + s->in, from, n);
		instrument_copy_from_user_after(s->p + s->in, from, n, left);
		if (unlikely(left))
			return len - n + left;
		from += n;
		len -= n;
		sstp_stride_step(s, n);
	}
	return 0;
}

static size_t sstp_stride_from_kernel(void *from, size_t progress, size_t len,
				      void *priv, void *priv2)
{
	struct sstp_stride *s = priv;

	while (len) {
		u32 n = sstp_stride_piece(s, len);

		memcpy(s->p + s->in, from, n);
		from += n;
		len -= n;
		sstp_stride_step(s, n);
	}
	return 0;
}
#else
static size_t sstp_stride_each(struct sstp_stride *s, size_t len,
			       struct iov_iter *i, bool out)
{
	size_t done = 0;

	while (done < len) {
		u32 n = sstp_stride_piece(s, len - done), got;

		got = out ? _copy_to_iter(s->p + s->in, n, i) :
			    _copy_from_iter(s->p + s->in, n, i);
		done += got;
		if (got < n)
			break;
		sstp_stride_step(s, n);
	}
	return done;
}
#endif

/**
 * sstp_stride_to_iter - copy payloads to a program
 * @s: position to copy from; moves past the bytes copied, if that is all of @len
 * @len: bytes
 * @to: destination
 *
 * Context: May sleep, or fault.
 * Return: bytes copied; fewer than @len where @to ends or cannot be written.
 */
size_t sstp_stride_to_iter(struct sstp_stride *s, size_t len,
			   struct iov_iter *to)
{
#ifdef SSTP_HAVE_ITERATE
	return iterate_and_advance(to, len, s, sstp_stride_to_user,
				   sstp_stride_to_kernel);
#else
	return sstp_stride_each(s, len, to, true);
#endif
}

/**
 * sstp_stride_from_iter - copy payloads from a program
 * @s: position to copy to; moves past the bytes copied, if that is all of @len
 * @len: bytes
 * @from: source
 *
 * Context: May sleep, or fault.
 * Return: bytes copied; fewer than @len where @from ends or cannot be read.
 */
size_t sstp_stride_from_iter(struct sstp_stride *s, size_t len,
			     struct iov_iter *from)
{
#ifdef SSTP_HAVE_ITERATE
	return iterate_and_advance(from, len, s, sstp_stride_from_user,
				   sstp_stride_from_kernel);
#else
	return sstp_stride_each(s, len, from, false);
#endif
}
