// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: uml
 * mode: time-travel
 *
 * A path becomes ten times longer under way: the receiver, which sends nothing, measures that, and
 * its buffer grows to what the path takes now.
 */
#include <stdlib.h>
#include <unistd.h>

#include <linux/sstp.h>

#include "path.h"

#define LINE	100000000.0	/* bit/s */

static char buffer[1 << 20];
static uint64_t got;

/* Send and read all that is possible for @seconds. Returns the share of the line that was used in
 * the last one.
 */
static double flows(int tx, int rx, int seconds)
{
	uint64_t end = now_ns(), before = 0;
	ssize_t n;
	int s;

	for (s = 0; s < seconds; s++) {
		before = got;
		for (end += 1000000000; now_ns() < end; sleep_ns(2000000)) {
			while (send(tx, buffer, 65536, MSG_NOSIGNAL) > 0)
				;
			while ((n = recv(rx, buffer, sizeof(buffer), 0)) > 0)
				got += n;
		}
	}
	return (got - before) * 8 / LINE;
}

int main(void)
{
	int l, tx, rx, send_buffer = 16 << 20;
	double before, after;

	need_simulated_time();
	ktap_plan(4);
	path_make();
	path_impair(A, "delay 10ms limit 100000");
	path_impair(B, "delay 10ms rate 100mbit limit 2000");
	l = path_socket(B, SOCK_STREAM);
	tx = path_socket(A, SOCK_STREAM);
	if (setsockopt(tx, SOL_SOCKET, SO_SNDBUFFORCE, &send_buffer, sizeof(send_buffer)))
		die("SO_SNDBUFFORCE:");
	rx = path_connect(tx, l, AF_INET);
	before = flows(tx, rx, 4);
	ktap_diag("20 ms: %.3f of the line, RTT %u us at the receiver, buffer %u", before,
		  sock_info(rx).rtt, sock_info(rx).rcv_buffer);
	ktap_result(before > 0.8, "the line is filled");
	path_impair(A, "delay 100ms limit 100000");
	path_impair(B, "delay 100ms rate 100mbit limit 4000");
	after = flows(tx, rx, 30);
	ktap_diag("200 ms: %.3f of the line, RTT %u us at the receiver, buffer %u", after,
		  sock_info(rx).rtt, sock_info(rx).rcv_buffer);
	ktap_result(sock_info(rx).rtt > 150000, "the receiver measures the new round-trip time");
	ktap_result(after > 0.8, "the line is filled again");
	close(tx);
	close(rx);
	ktap_result(path_settle(), "all sockets go");
	return ktap_end();
}
