// SPDX-License-Identifier: GPL-2.0
/* Print and parse numbers, rates and addresses. */
#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "sstp.h"

static char *scaled(char buf[TEXT_MAX], double n, double unit, const char *tail)
{
	static const char prefix[] = " kMGTPE";
	unsigned int i = 0;

	while (n >= unit - 0.5 && i < sizeof(prefix) - 2) {
		n /= unit;
		i++;
	}
	/* Print three digits (1000 to 1023 have four); 99.96 is rounded to 100, not 100.0. */
	snprintf(buf, TEXT_MAX, "%.*f%.*s%s", !i || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n,
		 !!i, prefix + i, tail);
	return buf;
}

char *text_bytes(char buf[TEXT_MAX], double bytes)
{
	return scaled(buf, bytes, 1024, "B");
}

char *text_rate(char buf[TEXT_MAX], double bits)
{
	return scaled(buf, bits, 1000, "bit/s");
}

char *text_number(char buf[TEXT_MAX], double n)
{
	return scaled(buf, n, 1000, "");
}

char *text_us(char buf[TEXT_MAX], double us)
{
	if (us < 1000)
		snprintf(buf, TEXT_MAX, "%.0fus", us);
	else if (us < 1000000)
		snprintf(buf, TEXT_MAX, "%.*fms", us < 99950, us / 1000);
	else
		snprintf(buf, TEXT_MAX, "%.1fs", us / 1000000);
	return buf;
}

/* The name of the TCP service on @port, which sstp-run(1) may run over SSTP, or NULL. All
 * names are read once, as getservbyport() would read /etc/services for each port.
 */
static const char *service(uint16_t port)
{
	static char *names[65536];
	static bool known;
	struct servent *s;

	if (!known) {
		known = true;
		while ((s = getservent())) {
			char **name = &names[ntohs(s->s_port)];

			if (!strcmp(s->s_proto, "tcp") && !*name)
				*name = strdup(s->s_name);
		}
		endservent();
	}
	return names[port];
}

char *text_addr(char buf[TEXT_MAX], int family, const void *addr, uint16_t port, bool numeric)
{
	const char *name = !numeric && port ? service(port) : NULL;
	char text[INET6_ADDRSTRLEN] = "*", number[8] = "*";
	bool v6 = family == AF_INET6;

	/* A socket of AF_SSTP has no family before it has an address. */
	if (family)
		inet_ntop(family, addr, text, sizeof(text));
	if (port)
		snprintf(number, sizeof(number), "%u", port);
	snprintf(buf, TEXT_MAX, "%s%s%s:%.30s", v6 ? "[" : "", text, v6 ? "]" : "",
		 name ? name : number);
	return buf;
}

bool parse_number(const char *text, unsigned int unit, uint64_t *value)
{
	static const char prefix[] = "kmgt";
	const char *at;
	double n;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	n = strtod(text, &end);
	if (*end) {
		at = strchr(prefix, tolower((unsigned char)*end));
		if (!at || end[1])
			return false;
		n *= pow(unit, at - prefix + 1);
	}
	if (!(n < 9e18))		/* range of llround() */
		return false;
	*value = llround(n);
	return true;
}

bool parse_rate(const char *text, struct sstp_rate_spec *r)
{
	uint64_t value[4] = {};
	char copy[TEXT_MAX], *rest = copy, *part;
	unsigned int i;

	*r = (struct sstp_rate_spec){};
	if (!strcmp(text, "none"))
		return true;
	snprintf(copy, sizeof(copy), "%s", text);
	for (i = 0; (part = strsep(&rest, ":")); i++)
		if (i == SIZE(value) || !parse_number(part, 1000, &value[i]))
			return false;
	if (!value[0] || value[2] > UINT32_MAX || value[3] > UINT32_MAX)
		return false;
	r->peak = value[0];
	r->average = value[1];
	r->burst_rate = value[2];
	r->burst_len = value[3];
	return true;
}

bool parse_port(const char *text, uint16_t *port)
{
	struct servent *s;
	unsigned long n;
	char *end;

	n = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : ULONG_MAX;
	if (n <= UINT16_MAX && !*end) {
		*port = n;
		return true;
	}
	s = getservbyname(text, "tcp");
	if (!s)
		return false;
	*port = ntohs(s->s_port);
	return true;
}

bool parse_addr(const char *text, struct in6_addr *addr, int *family)
{
	char copy[TEXT_MAX];
	size_t len = strlen(text);

	if (*text == '[' && len < sizeof(copy) && text[len - 1] == ']') {
		snprintf(copy, sizeof(copy), "%.*s", (int)len - 2, text + 1);
		text = copy;
	}
	*addr = (struct in6_addr){};
	*family = AF_INET6;
	if (inet_pton(AF_INET6, text, addr) == 1)
		return true;
	*family = AF_INET;
	addr->s6_addr16[5] = 0xffff;
	return inet_pton(AF_INET, text, &addr->s6_addr32[3]) == 1;
}

double parse_seconds(const char *text)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= 0.001 && s <= 86400))
		misused("'%s' is not a number of seconds from 0.001 to 86400", text);
	return s;
}
