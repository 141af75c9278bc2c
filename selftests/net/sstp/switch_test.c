// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 200
 * kernels: uml debug 6.12
 *
 * SSTP_CONTROLLER on live connections. One that moves data over a path with losses changes from
 * each controller to each other, 1092 times: data moves on after each change, comes as it was
 * sent, and in the end no controller is in use (on debug kmemleak looks when all tests are over).
 * In each state of a connection every controller is taken, and shown. The controller that came
 * with a contract goes with it.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "pair.h"
#include "peer.h"

#define ROUNDS	6
#define AHEAD	(256 << 10)	/* bytes that are written before they are read */
#define STEP	(8 << 10)	/* bytes that have to come after a change */

static const char * const names[] = {
	"hybrid", "newreno", "rate", "scalable", "highspeed", "bic", "cubic", "westwood", "vegas",
	"fast", "udt", "gtp", "dctcp", "bbr", "paptc",
};

#define NAMES	ARRAY_SIZE(names)

static void run(const char *command)
{
	if (system(command))
		die("%s", command);
}

static int choose(int fd, const char *name)
{
	return setsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, strlen(name)) ? -errno : 0;
}

/* A connection, and how many bytes are to come */
struct goal {
	struct pair *p;
	uint64_t bytes;
};

static bool comes(void *arg)
{
	struct goal *g = arg;

	pair_fill(g->p, g->p->got + AHEAD);
	while (g->p->got < g->bytes && pair_read(g->p, SIZE_MAX))
		;
	return g->p->got >= g->bytes;
}

static void change(struct pair *p, const char *name)
{
	struct goal g = { p, p->got + STEP };

	must_be(name, choose(p->tx, name), 0);
	must(!strcmp(sock_info(p->tx).controller, name), name);
	if (!busywait(WAIT_MS, comes, &g))
		die("%s: no data in %d ms", name, WAIT_MS);
}

static void test_changes(void)
{
	int round, changes = 0;
	struct pair p;
	size_t from, to;

	pair_open(&p);
	run("tc qdisc add dev lo root netem delay 100us loss 0.5%");
	for (round = 0; round < ROUNDS; round++)
		for (from = 0; from < NAMES; from++)
			for (to = 0; to < NAMES; to++) {
				if (from == to)
					continue;
				change(&p, names[from]);
				change(&p, names[to]);
				changes++;
			}
	run("tc qdisc del dev lo root");
	must(busywait(WAIT_MS, all_read, &p), "all data came");
	must(sock_info(p.tx).packets_lost, "packets were lost");
	ktap_diag("%d changes, %llu bytes", changes, (unsigned long long)p.got);
	pair_close(&p);
	must(sstp_sockets_end(WAIT_MS), "sockets are gone");
	ktap_held("each controller is replaced by each other while data moves");
}

/* A socket takes each controller, and keeps it after a name that nobody has. */
static void must_take(const char *what, int fd, int state)
{
	char name[SSTP_NAME_MAX];
	size_t i;

	must_be(what, sock_info(fd).state, state);
	for (i = 0; i < NAMES; i++) {
		must_be(what, choose(fd, names[i]), 0);
		if (state != TCP_CLOSE && state != TCP_LISTEN)
			must(!strcmp(sock_info(fd).controller, names[i]), what);
		if (getsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, &(socklen_t){ sizeof(name) }))
			die("SSTP_CONTROLLER:");
		must(!strcmp(name, names[i]), what);
	}
	must_be(what, choose(fd, "nonesuch"), -ENOENT);
	if (getsockopt(fd, SOL_SSTP, SSTP_CONTROLLER, name, &(socklen_t){ sizeof(name) }))
		die("SSTP_CONTROLLER:");
	must(!strcmp(name, names[NAMES - 1]), what);
}

/* A socket, and the state that it is to have */
struct state {
	int fd, is;
};

static bool has_state(void *arg)
{
	struct state *s = arg;

	return sock_info(s->fd).state == s->is;
}

static void await(int fd, int state)
{
	must(busywait(WAIT_MS, has_state, &(struct state){ fd, state }), "the state is reached");
}

static bool more_left(void *arg)
{
	return sstp_counter("OutPkts") > *(long *)arg;
}

static void test_before(void)
{
	int fd = new_socket(SOCK_STREAM), l = new_socket(SOCK_STREAM);
	union addr nowhere;
	long left;

	must_take("a new socket", fd, TCP_CLOSE);
	addr_loopback(&nowhere, AF_INET, 0);
	if (bind(l, &nowhere.sa, addr_len(&nowhere)) || listen(l, 1))
		die("listen:");
	must_take("a listener", l, TCP_LISTEN);
	close(l);
	close(fd);

	/* The route leads to a device behind which nobody is. */
	run("ip link add nobody up type dummy && ip addr add 192.0.2.1/24 dev nobody");
	if (!addr_parse(&nowhere, "192.0.2.77", 9))
		die("an address");
	fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, SOCK_NONBLOCK);
	must(connect(fd, &nowhere.sa, addr_len(&nowhere)) && errno == EINPROGRESS, "it connects");
	must_take("set-up", fd, TCP_SYN_SENT);
	left = sstp_counter("OutPkts");
	must(busywait(WAIT_MS, more_left, &left), "INIT is repeated");
	close(fd);
	ktap_held("before a connection is established");
}

static void set_peak(int fd, uint64_t peak)
{
	struct sstp_rate_spec rate = { .peak = peak };

	if (setsockopt(fd, SOL_SSTP, SSTP_RATE, &rate, sizeof(rate)))
		die("SSTP_RATE:");
}

static void must_have(const char *what, int fd, const char *name)
{
	must(!strcmp(sock_info(fd).controller, name), what);
}

static void test_contract_ends(void)
{
	int l = new_socket(SOCK_STREAM);
	struct pair p;

	set_peak(l, 100000000);
	pair_connect(&p, l);
	must_have("a contract brings rate", p.rx, "rate");
	set_peak(p.rx, 50000000);
	must_have("rate stays with another contract", p.rx, "rate");
	set_peak(p.rx, 0);
	must_have("without one the default takes over", p.rx, "hybrid");
	pair_exchange(&p);

	must_be("rate is named", choose(p.rx, "rate"), 0);
	set_peak(p.rx, 100000000);
	set_peak(p.rx, 0);
	must_have("what the program named stays", p.rx, "rate");
	pair_exchange(&p);
	pair_close(&p);
	ktap_held("when a contract ends");
}

/* CLOSE, packet type 9 behind the headers of IP and UDP and the CID, is lost, so CLOSING lasts. In
 * silence all is, and the states last that an answer ends.
 */
#define NO_CLOSE "tc qdisc add dev lo root handle 1: prio && "			\
	"tc qdisc add dev lo parent 1:1 netem delay 100ms && "			\
	"tc qdisc add dev lo parent 1:2 netem delay 100ms && "			\
	"tc qdisc add dev lo parent 1:3 netem loss 100% && "			\
	"tc filter add dev lo parent 1: prio 2 protocol ip u32 match u8 9 0xff at 32 flowid 1:3"
#define SILENT	"tc filter add dev lo parent 1: prio 1 protocol ip u32 match u32 0 0 flowid 1:3"
#define ANSWERS	"tc filter del dev lo parent 1: prio 1"

static void test_states(void)
{
	struct pair p;

	/* Silence lasts for more than a second where tc is slow. */
	file_put("/proc/sys/net/sstp/user_timeout", "60000");
	run(NO_CLOSE);
	pair_open(&p);
	pair_exchange(&p);
	must_take("established", p.tx, TCP_ESTABLISHED);
	must_take("established by the peer", p.rx, TCP_ESTABLISHED);
	pair_exchange(&p);

	run(SILENT);
	if (shutdown(p.tx, SHUT_WR))
		die("shutdown:");
	must_take("its end is not acknowledged", p.tx, TCP_FIN_WAIT1);
	run(ANSWERS);
	await(p.tx, TCP_FIN_WAIT2);
	must_take("its end is acknowledged", p.tx, TCP_FIN_WAIT2);
	must_take("the peer has ended", p.rx, TCP_CLOSE_WAIT);

	run(SILENT);
	if (shutdown(p.rx, SHUT_WR))
		die("shutdown:");
	must_take("both have ended", p.rx, TCP_LAST_ACK);
	run(ANSWERS);
	await(p.tx, TCP_CLOSING);
	must_take("it waits for CLOSE", p.tx, TCP_CLOSING);
	await(p.tx, TCP_CLOSE);
	await(p.rx, TCP_CLOSE);
	must_take("after the end", p.tx, TCP_CLOSE);
	must_take("after the end of the peer's", p.rx, TCP_CLOSE);
	pair_close(&p);
	ktap_held("in each state of a connection");
}

/* Each has a reference on the module of its controller. */
static void test_unload(void)
{
	char path[64];
	size_t i;

	must(sstp_sockets_end(WAIT_MS), "sockets are gone");
	fuzz_unload();
	for (i = 0; i < NAMES; i++) {
		snprintf(path, sizeof(path), "/sys/module/sstp_ctrl_%s", names[i]);
		must(access(path, F_OK) < 0, path);
	}
	ktap_held("no controller is in use in the end");
}

int main(void)
{
	size_t i;

	new_namespace();
	peer_may_vanish();
	ktap_plan(5);
	fuzz_load();
	for (i = 3; i < NAMES; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/module/sstp_ctrl_%s", names[i]);
		if (access(path, F_OK))
			die("%s:", path);
	}
	test_changes();
	test_before();
	test_states();
	test_contract_ends();
	test_unload();
	return ktap_end();
}
