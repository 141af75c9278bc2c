/* SPDX-License-Identifier: GPL-2.0 */
/* Environment variables by which sstp-run passes its options to the library. */
#ifndef _SSTP_RUN_OPTIONS_H
#define _SSTP_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sstp.h>

#define ENV_RATE	"SSTP_RUN_RATE"
#define ENV_CONTROLLER	"SSTP_RUN_CONTROLLER"
#define ENV_POLICY	"SSTP_RUN_POLICY"
#define ENV_LISTEN	"SSTP_RUN_LISTEN"
#define ENV_TIMEOUT	"SSTP_RUN_TIMEOUT"
#define ENV_VERBOSE	"SSTP_RUN_VERBOSE"
#define ENV_LOG		"SSTP_RUN_LOG"

#define TIMEOUT_DEFAULT	2000	/* ms: INIT is sent at 0, 250, 750 and 1750 */

enum { LISTEN_BOTH, LISTEN_SSTP, LISTEN_TCP, LISTENS };
static const char * const listen_names[LISTENS] = { "both", "sstp", "tcp" };

struct run_options {
	struct sstp_rate_spec rate;
	const char *controller;
	const char *policy;
	int listen;
	int timeout;		/* ms */
	bool verbose;
	const char *log;	/* file for messages, instead of standard error */
};

/* Parse a number such as "950M" or "1.5G"; *text then points behind it. */
static inline bool run_number(const char **text, double *value)
{
	static const char units[] = "kMGT";
	const char *unit;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*value = strtod(*text, &end);
	unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
	if (unit) {
		for (; unit >= units; unit--)
			*value *= 1000;
		end++;
	}
	*text = end;
	return *value >= 0 && *value < 1e18;
}

/* Parse PEAK[:AVERAGE[:F[:L]]]. */
static inline bool run_rate(const char *text, struct sstp_rate_spec *rate)
{
	double part[4] = {};
	int i;

	for (i = 0; i < 4; i++) {
		if (!run_number(&text, &part[i]))
			return false;
		if (!*text)
			break;
		if (*text++ != ':')
			return false;
	}
	if (i == 4 || part[2] > ~0U || part[3] > ~0U)
		return false;
	rate->peak = part[0];
	rate->average = part[1];
	rate->burst_rate = part[2];
	rate->burst_len = part[3];
	return true;
}

static inline int run_listen(const char *text)
{
	int i;

	for (i = 0; i < LISTENS; i++)
		if (!strcmp(text, listen_names[i]))
			return i;
	return -1;
}

/* Parse 1 to 60000 ms; returns -1 for other values. */
static inline int run_timeout(const char *text)
{
	char *end;
	long ms = strtol(text, &end, 10);

	return *text && !*end && ms >= 1 && ms <= 60000 ? ms : -1;
}

/* Invalid values are ignored, as sstp-run has rejected them. */
static inline void run_options_get(struct run_options *o)
{
	const char *text = getenv(ENV_RATE);

	memset(o, 0, sizeof(*o));
	if (text && !run_rate(text, &o->rate))
		memset(&o->rate, 0, sizeof(o->rate));
	o->controller = getenv(ENV_CONTROLLER);
	o->policy = getenv(ENV_POLICY);
	text = getenv(ENV_LISTEN);
	o->listen = text ? run_listen(text) : LISTEN_BOTH;
	if (o->listen < 0)
		o->listen = LISTEN_BOTH;
	text = getenv(ENV_TIMEOUT);
	o->timeout = text ? run_timeout(text) : TIMEOUT_DEFAULT;
	if (o->timeout < 0)
		o->timeout = TIMEOUT_DEFAULT;
	text = getenv(ENV_VERBOSE);
	o->verbose = text && *text && strcmp(text, "0");
	o->log = getenv(ENV_LOG);
	if (o->log && !*o->log)
		o->log = NULL;
}

#endif
