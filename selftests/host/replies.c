// SPDX-License-Identifier: GPL-2.0
/*
 * Answers of the kernel that are malformed, for the sstp command built with the address
 * sanitizer: each attribute, alone and in each other, with every length that is too short
 * for it. A message is as large as what was allocated for it. Then a line of JSON, of a
 * counter whose name must be escaped.
 */
#include <stdlib.h>

#include "stat.c"

#define TYPES	(SSTP_A_INFO_MAX + 2)
#define LENGTHS	9	/* more than a number has */

/* In place of the library's, which the sanitizer does not see */
uint16_t mnl_attr_get_u16(const struct nlattr *a)
{
	return *(const uint16_t *)mnl_attr_get_payload(a);
}

uint64_t mnl_attr_get_u64(const struct nlattr *a)
{
	uint64_t value;

	memcpy(&value, mnl_attr_get_payload(a), sizeof(value));
	return value;
}

/* @outer has @inner, of @len bytes, unless @inner is 0: then it has these bytes */
static void answer(FILE *nowhere, uint16_t outer, uint16_t inner, uint16_t len)
{
	size_t head = NLMSG_HDRLEN + GENL_HDRLEN, nested = inner ? NLA_HDRLEN : 0;
	size_t size = head + NLA_HDRLEN + nested + len;
	struct nlmsghdr *n = calloc(1, size);
	static struct counters all;
	struct nlattr *a;
	struct conn c;

	n->nlmsg_len = size;
	a = (struct nlattr *)((char *)n + head);
	*a = (struct nlattr){ .nla_type = outer, .nla_len = size - head };
	if (inner)
		a[1] = (struct nlattr){ .nla_type = inner, .nla_len = nested + len };
	memset((char *)n + size - len, 'x', len);
	conn_parse(n, &c);
	json_conn(nowhere, &c);
	all.n = 0;
	counters_each(n, &all);
	free(n);
}

int main(void)
{
	static struct counters one = { .n = 1, .at = { { .name = "a\"b", .value = 1 } } };
	FILE *nowhere = fopen("/dev/null", "w");
	struct options o = { .json = true };
	uint16_t outer, inner, len;
	char *none = NULL;

	for (outer = 1; outer < TYPES; outer++)
		for (inner = 0; inner < TYPES; inner++)
			for (len = 0; len < LENGTHS; len++)
				answer(nowhere, outer, inner, len);
	fclose(nowhere);
	print(&one, NULL, 0, &o, false, &none);
	return 0;
}
