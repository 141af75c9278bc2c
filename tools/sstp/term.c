// SPDX-License-Identifier: GPL-2.0
/* Properties of the terminal on standard output, if there is one. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sstp.h"

static bool terminal, colored;

void term_init(void)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

	terminal = isatty(STDOUT_FILENO);
	colored = terminal && !(none && *none) && term && strcmp(term, "dumb");
}

bool term_is_one(void)
{
	return terminal;
}

unsigned int term_rows(void)
{
	struct winsize w = {};

	if (!terminal)
		return ~0U;
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_row ? w.ws_row : 24;
}

unsigned int term_columns(void)
{
	struct winsize w = {};

	return terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : 80;
}

const char *color(enum color c)
{
	static const char *const code[] = {
		[PLAIN] = "\033[0m", [BOLD] = "\033[1m", [RED] = "\033[31m",
		[GREEN] = "\033[32m", [YELLOW] = "\033[33m", [CYAN] = "\033[36m",
		[FAINT] = "\033[2m",
	};

	return colored ? code[c] : "";
}
