// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 * kernels: uml
 * mode: time-travel
 *
 * A path swallows large packets without telling, and small ones pass: a message that takes
 * a large packet arrives nevertheless, within some round trips.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "path.h"

#define MOST_MS		2000
#define LARGE		1400	/* bytes: one packet of more than 1400 */
#define SMALL		100

/* The messages are the large one, and small ones @every_ms that keep on coming. */
static void test_small_ones_pass(unsigned int every_ms)
{
	uint64_t seed = nonce(), start, ms = 0;
	char out[LARGE], in[LARGE + 1];
	ssize_t n = -1;
	int tx, rx, l;

	path_impair(B, "delay 25ms");
	path_impair(A, "delay 25ms");
	l = path_socket(B, SOCK_SEQPACKET);
	tx = path_socket(A, SOCK_SEQPACKET);
	rx = path_connect(tx, l, AF_INET);
	path_run(B, "ip link set to-r mtu 1400");
	content_fill(out, LARGE, seed, 0);
	if (send(tx, out, LARGE, 0) != LARGE)
		die("send:");
	for (start = now_ns(); n < 0 && ms < 30 * MOST_MS; ms = (now_ns() - start) / 1000000) {
		if (send(tx, out, SMALL, 0) != SMALL)
			die("send:");
		usleep(every_ms * 1000);
		n = recv(rx, in, sizeof(in), MSG_DONTWAIT);
	}
	ktap_diag("%llu ms", (unsigned long long)ms);
	ktap_result(n == LARGE && content_check(in, LARGE, seed, 0) == LARGE && ms <= MOST_MS,
		    "a large message, and a small one each %u ms", every_ms);
	close(tx);
	close(rx);
	path_run(B, "ip link set to-r mtu 1500");
	path_impair(A, NULL);
	path_impair(B, NULL);
	path_settle();
}

/* Losses of a path that takes all sizes do not look alike, however many there are. */
static void test_lossy(void)
{
	const struct sstp_rate_spec rate = { .peak = 100000000 };
	uint64_t seed = nonce();
	size_t len = 10 << 20, n = 0, sent = 0;
	char *out = malloc(len), in[65536];
	int tx, rx, l;
	long shrunk;

	if (!out)
		die("malloc:");
	content_fill(out, len, seed, 0);
	path_impair(B, "delay 50ms loss 10% limit 10000");
	path_impair(A, "delay 50ms");
	l = path_socket(B, SOCK_STREAM);
	tx = path_socket(A, SOCK_STREAM);
	sock_set(tx, SOL_SOCKET, SO_SNDBUFFORCE, 2 * len);
	if (setsockopt(tx, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
	rx = path_connect(tx, l, AF_INET);
	shrunk = path_counter(A, "PmtuShrunk");
	while (n < len) {
		ssize_t got = send(tx, out + sent, len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		sent += got > 0 ? got : 0;
		if (!path_poll(rx, POLLIN, 30 * MOST_MS))
			break;
		got = recv(rx, in, sizeof(in), MSG_DONTWAIT);
		if (got <= 0 || memcmp(in, out + n, got))
			break;
		n += got;
	}
	shrunk = path_counter(A, "PmtuShrunk") - shrunk;
	ktap_diag("%zu of %zu bytes came, %ld packets dropped, MTU made smaller %ld times", n, len,
		  path_dropped(), shrunk);
	/* By chance the last packet may be lost time and again, with nothing after it. */
	ktap_result(n == len && shrunk <= 1, "a contract on a path that loses a tenth");
	close(tx);
	close(rx);
	free(out);
	path_impair(A, NULL);
	path_impair(B, NULL);
	path_settle();
}

int main(void)
{
	const unsigned int every_ms[] = { 50, 20, 12, 8, 5, 2 };
	unsigned int i;

	need_simulated_time();
	ktap_plan(ARRAY_SIZE(every_ms) + 1);
	path_make();
	for (i = 0; i < ARRAY_SIZE(every_ms); i++)
		test_small_ones_pass(every_ms[i]);
	test_lossy();
	return ktap_end();
}
