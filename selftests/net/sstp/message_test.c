// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * quick: yes
 *
 * MESSAGE packets of a peer made by hand: states are taken and confirmed, those that it may not
 * send change nothing but a counter, and without an agreement none is sent.
 */
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"

#define CALM_MS		500	/* nothing comes for so long */
#define WAIT_MS		20000
#define FLOOD_LEN	20	/* bytes of a message of the flood */

static struct peer p;
static uint32_t seq;		/* of the next message, from 0 */

static void begin(const struct peer_init *init)
{
	int listener = socket(AF_SSTP, SOCK_STREAM, 0);

	if (listener < 0 || listen(listener, 10))
		die("listener:");
	memset(&p, 0, sizeof(p));
	peer_open(&p, listener, init);
	seq = 0;
}

static void end(const char *name)
{
	peer_must_be_right(&p);
	peer_close(&p);
	ktap_held(name);
}

static struct message_packet head(uint8_t flags, uint16_t kind, uint16_t ctrl, uint16_t state)
{
	return (struct message_packet){
		.h = { .cid = htonl(p.their_cid), .type = MESSAGE, .flags = flags,
		       .packet = htons(kind) },
		.seq = htonl(p.first + seq++), .ctrl = htons(ctrl), .state = htons(state),
	};
}

static struct message_packet state(uint8_t flags, uint16_t number, const char *name)
{
	struct message_packet m = head(flags, 0, 1, number);

	memcpy(m.name, name, strnlen(name, sizeof(m.name)));
	return m;
}

struct count {
	const char *name;
	long least;
};

static bool counted(void *arg)
{
	const struct count *c = arg;

	return sstp_counter(c->name) >= c->least;
}

/* The packet changes counter @name. */
static void counts(const char *what, const void *packet, size_t len, const char *name)
{
	struct count c = { name, sstp_counter(name) + 1 };

	peer_send(&p, packet, len);
	ktap_result(busywait(WAIT_MS, counted, &c), "%s: %s", what, name);
}

static bool confirmed(const struct peer *q)
{
	return q->states && ntohs(q->message.seen) == 1;
}

static unsigned int states_seen;

static bool told_again(const struct peer *q)
{
	return q->states > states_seen;
}

/* A state that asks is confirmed, with the state of the other end, and that once. */
static void test_state(void)
{
	struct message_packet m;

	begin(&(struct peer_init){ .window = 10, .messages = true });
	peer_listen(&p, CALM_MS);
	must_be("messages before this end has sent one", p.states + p.messages, 0);
	m = state(ASK, 1, "newreno");
	peer_send(&p, &m, STATE_LEN);
	ktap_result(peer_await(&p, WAIT_MS, confirmed), "a state is confirmed");
	must_be("kind", ntohs(p.message.h.packet), 0);
	must_be("state", ntohs(p.message.state), 1);
	must_be("ctrl", ntohs(p.message.ctrl), 1);
	must_be("half", p.message.half, 0);
	ktap_result(!strncmp(p.message.name, "hybrid", sizeof(p.message.name)),
		    "it names the controller");
	/* The kernel's state, unconfirmed, comes again. */
	states_seen = p.states;
	ktap_result(p.message.h.flags & ASK, "it asks");
	ktap_result(peer_await(&p, WAIT_MS, told_again), "it comes again until it is confirmed");
	m = state(0, 1, "newreno");
	m.seen = htons(1);
	counts("the confirmation", &m, STATE_LEN, "InMessages");
	/* One may be on its way. */
	peer_listen(&p, CALM_MS);
	states_seen = p.states;
	peer_listen(&p, 4 * CALM_MS);
	must_be("states after that", p.states - states_seen, 0);
	end("states say what they should, and no more come");
}

static void test_refused(void)
{
	struct message_packet m;

	begin(&(struct peer_init){ .window = 10, .messages = true });
	m = head(0, 1, 1, 0);
	counts("a message before a state", &m, 20, "InOutOfWindow");
	m = state(0, 1, "newreno");
	counts("a state", &m, STATE_LEN, "InMessages");
	m = state(0, 2, "newreno");
	counts("a state, too short", &m, STATE_LEN - 1, "InErrFormat");
	counts("a state, too long", &m, STATE_LEN + 1, "InErrFormat");
	seq--;
	m = state(BACK, 2, "newreno");
	counts("a state of a receiving half", &m, STATE_LEN, "InErrFormat");
	seq--;
	m = state(0, 2, "new reno");
	counts("a name with a space", &m, STATE_LEN, "InErrFormat");
	seq--;
	m = head(0, 1, 1, 0);
	counts("a message, too long", &m, sizeof(m) + 1, "InErrFormat");
	counts("a message for a half that there is not", &m, sizeof(m), "InMsgUnknown");
	counts("the same again", &m, sizeof(m), "InOutOfWindow");
	m = head(0, 1, 2, 0);
	counts("a message for a controller to come", &m, 20, "InOutOfWindow");
	m = head(BACK, 1, 1, 0);
	counts("a message for newreno, which takes none", &m, 20, "InMsgUnknown");
	seq += 1 << 20;
	m = head(0, 1, 1, 0);
	counts("a number far away", &m, 20, "InOutOfWindow");
	end("what is refused changes nothing else");
}

/* Of a flood a share is taken, and the connection goes on. */
static void test_flood(void)
{
	struct count c = { "InMsgFlood", sstp_counter("InMsgFlood") + 1000 };
	uint64_t until = now_ns() + WAIT_MS * 1000000ULL;
	struct message_packet m;
	uint8_t train[60 * FLOOD_LEN];
	size_t i;
	char byte;

	begin(&(struct peer_init){ .window = 10, .messages = true });
	m = state(0, 1, "newreno");
	counts("a state", &m, STATE_LEN, "InMessages");
	/* In trains, or a slow machine sends no flood. */
	sock_set(p.udp, SOL_UDP, UDP_SEGMENT, FLOOD_LEN);
	while (!counted(&c) && now_ns() < until) {
		for (i = 0; i < sizeof(train); i += FLOOD_LEN) {
			m = head(0, 1, 1, 0);
			memcpy(train + i, &m, FLOOD_LEN);
		}
		peer_send(&p, train, sizeof(train));
	}
	sock_set(p.udp, SOL_UDP, UDP_SEGMENT, 0);
	ktap_result(counted(&c), "most of a flood of messages is dropped: InMsgFlood");
	peer_data(&p, 0, 0, 1, 1, LAST | ACK);
	ktap_result(recv(p.fd, &byte, 1, 0) == 1, "data after that arrives");
	end("a flood");
}

static void test_not_agreed(void)
{
	struct message_packet m;

	begin(&(struct peer_init){ .window = 10 });
	m = state(ASK, 1, "newreno");
	counts("a state without an agreement", &m, STATE_LEN, "InMsgUnknown");
	m = head(BACK, 1, 0, 0);
	counts("a message without an agreement", &m, 20, "InMsgUnknown");
	peer_listen(&p, CALM_MS);
	end("nothing is sent without an agreement");
}

int main(void)
{
	ktap_plan(26);
	new_namespace();
	peer_may_vanish();
	test_state();
	test_refused();
	test_flood();
	test_not_agreed();
	return ktap_end();
}
