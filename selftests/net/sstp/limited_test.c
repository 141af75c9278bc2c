// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * kernels: uml
 * mode: time-travel
 *
 * Samples of the rate are limited by the program if it has too little data, also if it holds that
 * back itself, but not if the peer's window is closed. In simulated time, as a cork has an end.
 */
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/sstp.h>

#include "path.h"

static int fd, peer;

static void make(int rcvbuf)
{
	int l = path_socket(B, SOCK_STREAM);

	if (rcvbuf)
		sock_set(l, SOL_SOCKET, SO_RCVBUF, rcvbuf);
	fd = path_socket(A, SOCK_STREAM);
	peer = path_connect(fd, l, AF_INET);
}

/* Write @bytes, or what the socket takes of them, and look at the last sample @ms later. */
static void must_limit(size_t bytes, unsigned int ms, unsigned int limited)
{
	struct sstp_info info = {};
	char *buf = calloc(1, bytes);

	must(buf && send(fd, buf, bytes, 0) > 0, "send");
	free(buf);
	sleep_ns(ms * 1000000ULL);
	must(!getsockopt(fd, SOL_SSTP, SSTP_INFO, &info, &(socklen_t){ sizeof(info) }),
	     "SSTP_INFO");
	must(info.acked_rate, "a sample");
	must_be("app_limited", info.app_limited, limited);
	close(fd);
	close(peer);
}

int main(void)
{
	need_simulated_time();
	ktap_plan(4);
	path_make();
	path_impair(A, "delay 2ms");
	path_impair(B, "delay 2ms");
	make(0);
	must_limit(100000, 100, 1);
	ktap_held("a program that writes little");
	make(0);
	sock_set(fd, IPPROTO_TCP, TCP_CORK, 1);
	must_limit(100000, 100, 1);
	ktap_held("one that holds back the last of it");
	make(65536);
	must_limit(1000000, 1000, 0);
	ktap_held("a program that does not read closes the window");
	ktap_result(path_settle(), "all sockets go");
	return ktap_end();
}
