// SPDX-License-Identifier: GPL-2.0
/* Store the segments of each client in a file of its own. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sstp.h>

#define CLIENTS		64
#define SEGMENT		(1 << 20)	/* largest that a client may send */
#define GAPS		4096		/* the kernel lists no more */

struct client {
	int file;
	unsigned int number;		/* the file's name */
	unsigned long long bytes;
	unsigned long long missing;
};

static struct pollfd fds[1 + CLIENTS];	/* the listener is the first */
static struct client clients[1 + CLIENTS];

static int start(unsigned short port, __u32 tolerance)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_SSTP, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	__u32 limit = SEGMENT;
	int yes = 1;

	if (fd < 0)
		err(1, "socket");
	/* Accepted connections inherit these options from the listener. */
	if (setsockopt(fd, SOL_SSTP, SSTP_SEGMENT_LIMIT, &limit, sizeof(limit)) ||
	    setsockopt(fd, SOL_SSTP, SSTP_TOLERANCE, &tolerance, sizeof(tolerance)))
		err(1, "setsockopt");
	/* As with TCP: connections of an earlier server may still be closing. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)))
		err(1, "setsockopt");
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, CLIENTS))
		err(1, "port %u", port);
	return fd;
}

static void welcome(struct pollfd *slot, struct client *c)
{
	static unsigned int accepted;
	char name[16];

	slot->fd = accept4(fds[0].fd, NULL, NULL, SOCK_NONBLOCK);
	if (slot->fd < 0) {
		/* The connection may have been reset before accept4(). */
		if (errno != EAGAIN)
			warn("accept");
		return;
	}
	*c = (struct client){ .number = ++accepted };
	snprintf(name, sizeof(name), "%u", c->number);
	c->file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (c->file < 0)
		err(1, "%s", name);
	slot->events = POLLIN;
	printf("%u: begins\n", c->number);
}

/* Print the gaps of the segment in @msg, which starts at offset c->bytes of the file. */
static void gaps(struct client *c, struct msghdr *msg)
{
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		const struct sstp_gap *gap = (const void *)CMSG_DATA(cmsg);
		size_t n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(*gap);

		if (cmsg->cmsg_level != SOL_SSTP || cmsg->cmsg_type != SSTP_GAPS)
			continue;
		for (; n; n--, gap++) {
			printf("%u: %u bytes are missing at %llu\n", c->number,
			       gap->len, c->bytes + gap->offset);
			c->missing += gap->len;
		}
	}
	if (msg->msg_flags & MSG_CTRUNC)
		printf("%u: more is missing\n", c->number);
}

/* Receive and store one segment; return false after the last. */
static bool receive(int fd, struct client *c)
{
	static char segment[SEGMENT];
	static union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(GAPS * sizeof(struct sstp_gap))];
	} control;
	struct iovec iov = { segment, sizeof(segment) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &msg, 0);
	char answer[80];
	int len;

	if (n < 0) {
		if (errno == EAGAIN)
			return true;
		warn("%u", c->number);
		return false;
	}
	if (n > 0) {
		gaps(c, &msg);
		if (write(c->file, segment, n) != n)
			err(1, "cannot write");
		c->bytes += n;
		return true;
	}
	len = snprintf(answer, sizeof(answer), "%llu bytes, %llu missing\n",
		       c->bytes, c->missing);
	printf("%u: %s", c->number, answer);
	if (send(fd, answer, len, MSG_NOSIGNAL) < 0)
		warn("%u", c->number);
	return false;
}

int main(int argc, char **argv)
{
	unsigned long port = 7000, tolerance = 0;
	int i, c;

	while ((c = getopt(argc, argv, "p:t:")) != -1) {
		if (c == 'p')
			port = strtoul(optarg, NULL, 0);
		else if (c == 't')
			tolerance = strtoul(optarg, NULL, 0);
		else
			argc = 0;
	}
	if (argc != optind + 1)
		errx(2, "usage: server [-p PORT] [-t TOLERANCE] DIRECTORY");
	if (chdir(argv[optind]))
		err(1, "%s", argv[optind]);
	setlinebuf(stdout);
	fds[0].fd = start(port, tolerance);
	for (i = 1; i <= CLIENTS; i++)
		fds[i].fd = -1;			/* poll() skips it */
	printf("listening on port %lu\n", port);

	for (;;) {
		int unused = 0;

		for (i = CLIENTS; i; i--)
			if (fds[i].fd < 0)
				unused = i;
		/* While all slots are used, new connections wait in the backlog. */
		fds[0].events = unused ? POLLIN : 0;
		if (poll(fds, 1 + CLIENTS, -1) < 0)
			err(1, "poll");
		for (i = 1; i <= CLIENTS; i++) {
			if (!fds[i].revents || receive(fds[i].fd, &clients[i]))
				continue;
			close(clients[i].file);
			close(fds[i].fd);
			fds[i].fd = -1;
		}
		if (fds[0].revents & POLLIN)
			welcome(&fds[unused], &clients[unused]);
	}
}
