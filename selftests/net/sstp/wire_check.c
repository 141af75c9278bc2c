// SPDX-License-Identifier: GPL-2.0
/* Prints "good" or "malformed" for each line with a packet in hexadecimal, as the module's own
 * parsers judge it. For wireshark.sh.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <asm/byteorder.h>
#include <linux/types.h>

/* Definitions that net/sstp/wire.c needs of the kernel */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;

#define __packed		__attribute__((packed))
#define BIT(n)			(1UL << (n))
#define BUILD_BUG_ON(wrong)	_Static_assert(!(wrong), #wrong)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define U32_MAX			UINT32_MAX
#define div_u64(a, b)		((a) / (b))
#define be16_to_cpu		__be16_to_cpu
#define be32_to_cpu		__be32_to_cpu
#define cpu_to_be16		__cpu_to_be16
#define cpu_to_be32		__cpu_to_be32
/* The kernel's table has Latin-1. */
#define isgraph(c)		((c) > 32 && ((c) < 127 || (c) > 160))

static u32 get_unaligned_be32(const void *p)
{
	__be32 v;

	memcpy(&v, p, sizeof(v));
	return be32_to_cpu(v);
}

static void put_unaligned_be32(u32 v, void *p)
{
	__be32 b = cpu_to_be32(v);

	memcpy(p, &b, sizeof(b));
}

#define _SSTP_COMPAT_H
#include "../../../net/sstp/wire.c"

static bool good(const u8 *p, u32 len)
{
	struct sstp_message message;
	struct sstp_data data;
	struct sstp_init init;
	struct sstp_ack ack;

	if (len < sizeof(struct sstp_hdr))
		return false;
	switch (((const struct sstp_hdr *)p)->type) {
	case SSTP_DATA:
	case SSTP_KEEPALIVE:
	case SSTP_EOS:
		return sstp_parse_data(p, len, &data);
	case SSTP_PACK:
	case SSTP_SNAK:
		return sstp_parse_ack(p, len, &ack) &&
		       (!ack.data || sstp_parse_data(p + ack.data, len - ack.data, &data));
	case SSTP_INIT:
	case SSTP_INIT_ACK:
		return sstp_parse_init(p, len, &init);
	case SSTP_COOKIE:
		return len >= sizeof(struct sstp_cookie_hdr);
	case SSTP_RESET:
	case SSTP_CLOSE:
		return len >= sizeof(struct sstp_end_hdr);
	case SSTP_MESSAGE:
		return sstp_parse_message(p, len, &message);
	}
	return false;
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		u32 len = strspn(line, "0123456789abcdef") / 2, i;
		u8 *p = malloc(len ?: 1);

		for (i = 0; p && i < len; i++)
			sscanf(line + 2 * i, "%2hhx", &p[i]);
		puts(p && good(p, len) ? "good" : "malformed");
		free(p);
	}
	free(line);
	return 0;
}
