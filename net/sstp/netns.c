// SPDX-License-Identifier: GPL-2.0
/* State of a network namespace: access to its names of controllers and policies */
#include <linux/seqlock.h>
#include <linux/string.h>
#include "netns.h"

unsigned int sstp_net_id __read_mostly;

/* Guards the names in struct sstp_net, which sysctls change */
static DEFINE_SEQLOCK(sstp_net_names);

void sstp_net_names_get(const char *field, char *names, size_t len)
{
	u32 seq;

	do {
		seq = read_seqbegin(&sstp_net_names);
		memcpy(names, field, len);
	} while (read_seqretry(&sstp_net_names, seq));
}

void sstp_net_names_set(char *field, const char *names, size_t len)
{
	write_seqlock_bh(&sstp_net_names);
	strscpy_pad(field, names, len);
	write_sequnlock_bh(&sstp_net_names);
}

/* Is @name one of the words of @names? */
static bool sstp_net_word(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (names = skip_spaces(names); *names; names = skip_spaces(names)) {
		size_t len = strcspn(names, " \t");

		if (len == n && !strncmp(names, name, n))
			return true;
		names += len;
	}
	return false;
}

bool sstp_net_allows(struct net *net, const char *name)
{
	char names[SSTP_ALLOWED_MAX];

	sstp_net_names_get(sstp_pernet(net)->allowed, names, sizeof(names));
	return sstp_net_word(names, name);
}
