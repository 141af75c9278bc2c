/* SPDX-License-Identifier: GPL-2.0 */
/* Talks to the generic netlink family "sstp", without a library. */
#ifndef _SSTP_TEST_NL_H
#define _SSTP_TEST_NL_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @why, @bad: message of the last error, and offset of the attribute that it names */
struct nl {
	int fd;
	uint16_t family;
	uint32_t events;	/* group */
	uint32_t seq;
	char why[128];
	uint32_t bad;
};

struct nl_request {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attrs[1024];
};

/* Received messages: the command and its attributes */
struct nl_message {
	uint8_t cmd;
	const void *attrs;
	size_t len;
};

/* In the namespace of the calling thread */
void nl_open(struct nl *nl);
void nl_close(struct nl *nl);
/* Join the multicast group of events. */
void nl_join(struct nl *nl);

void nl_start(struct nl_request *r, struct nl *nl, uint8_t cmd, uint16_t flags);
void nl_add(struct nl_request *r, uint16_t type, const void *data, size_t len);
void nl_add_u32(struct nl_request *r, uint16_t type, uint32_t value);
void nl_add_u64(struct nl_request *r, uint16_t type, uint64_t value);
void nl_add_text(struct nl_request *r, uint16_t type, const char *text);
size_t nl_nest(struct nl_request *r, uint16_t type);
void nl_nest_end(struct nl_request *r, size_t nest);

/* Sends it and calls @each for every answer, up to the last one; 0 or -errno. */
int nl_talk(struct nl *nl, struct nl_request *r,
	    void (*each)(const struct nl_message *m, void *arg), void *arg);
/* Receive an event into @buf within @ms; returns false if there is none. errno is ENOBUFS if events
 * were lost.
 */
bool nl_event(struct nl *nl, void *buf, size_t size, struct nl_message *m, int ms);

/* End the connection, or listener, whose socket has @cookie; returns 0 or -errno. */
int nl_destroy(struct nl *nl, uint64_t cookie);

/* The payload of an attribute, or NULL; @len may be NULL. */
const void *nl_attr(const struct nl_message *m, uint16_t type, size_t *len);
/* The number in an attribute of 1 to 8 bytes; 0 if there is none */
uint64_t nl_number(const struct nl_message *m, uint16_t type);
/* Attributes nested in an attribute; none if it is absent */
struct nl_message nl_inside(const struct nl_message *m, uint16_t type);
/* The next attribute from *@pos on, 0 at first: its type and payload; false: no more */
bool nl_next(const struct nl_message *m, size_t *pos, uint16_t *type, const void **data,
	     size_t *len);

#endif /* _SSTP_TEST_NL_H */
