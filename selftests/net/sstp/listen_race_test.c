// SPDX-License-Identifier: GPL-2.0
/*
 * timeout: 300
 * kernels: debug 6.12 kcsan
 * cpus: 4
 * mode: parallel
 *
 * Members of a reuseport group come, go, and change their device while connections are made
 * to the group: lookups on other CPUs end, and in the end the member that stayed has all. A
 * single listener that changes its device misses no connection.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define THREADS		3
#define ROUNDS		2000
#define CONNECTIONS	1000

static union addr to;
static atomic_bool over;
static atomic_int unexpected;

/* A call failed in another way than a change of the group explains. */
static void fails(const char *call)
{
	ktap_diag("%s: %s", call, strerror(errno));
	unexpected++;
}

static int sock(void)
{
	int fd = proto_socket(PROTO_SSTP, AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket:");
	return fd;
}

/* A listener, or -1 if one without SO_REUSEPORT has the port */
static int member(int backlog)
{
	int fd = sock();

	sock_set(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (!bind(fd, &to.sa, addr_len(&to)) && !listen(fd, backlog))
		return fd;
	if (errno != EADDRINUSE)
		die("member:");
	close(fd);
	return -1;
}

static void *come_and_go(void *arg)
{
	unsigned int seed = (long)arg, n, k;
	int fd;

	for (n = 0; n < ROUNDS; n++) {
		fd = member(1);
		if (fd < 0)
			continue;
		for (k = rand_r(&seed) % 4; k; k--)
			switch (rand_r(&seed) % 4) {
			case 0:
				setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
				break;
			case 1:
				setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "", 0);
				break;
			case 2:
				shutdown(fd, SHUT_RD);
				if (listen(fd, 1) && errno != EADDRINUSE)
					fails("listen");
				break;
			default:
				sock_set(fd, SOL_SOCKET, SO_REUSEPORT, rand_r(&seed) % 2);
			}
		close(fd);
	}
	over = true;
	return NULL;
}

static void *accept_all(void *arg)
{
	int fd;

	while ((fd = accept((long)arg, NULL, NULL)) >= 0)
		close(fd);
	return NULL;
}

static bool connects(void)
{
	int fd = sock(), err = connect(fd, &to.sa, addr_len(&to)) ? errno : 0;

	if (err && err != ECONNREFUSED && err != ECONNRESET)
		fails("connect");
	close(fd);
	return !err;
}

static void *change_device(void *arg)
{
	while (!over)
		if (setsockopt((long)arg, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) ||
		    setsockopt((long)arg, SOL_SOCKET, SO_BINDTODEVICE, "", 0))
			fails("SO_BINDTODEVICE");
	return NULL;
}

/* The only listener changes its device all the time, but takes connections from it always. */
static void test_device(void)
{
	pthread_t thread, acceptor;
	unsigned int n, made = 0;
	int l = member(1000);

	pthread_create(&acceptor, NULL, accept_all, (void *)(long)l);
	pthread_create(&thread, NULL, change_device, (void *)(long)l);
	for (n = 0; n < CONNECTIONS; n++)
		made += connects();
	over = true;
	pthread_join(thread, NULL);
	shutdown(l, SHUT_RD);
	pthread_join(acceptor, NULL);
	close(l);
	ktap_diag("%u of %u connections were made", made, n);
	ktap_result(made == n && !unexpected, "connections to a listener that changes its device");
	over = false;
}

int main(void)
{
	pthread_t thread[THREADS], acceptor;
	unsigned int n, made = 0;
	long k;
	int stays;

	ktap_plan(4);
	new_namespace();
	addr_loopback(&to, AF_INET, 5000);
	test_device();
	stays = member(1000);
	pthread_create(&acceptor, NULL, accept_all, (void *)(long)stays);
	for (k = 0; k < THREADS; k++)
		pthread_create(&thread[k], NULL, come_and_go, (void *)(k + 1));
	for (n = 0; n < CONNECTIONS || !over; n++)
		made += connects();
	for (k = 0; k < THREADS; k++)
		pthread_join(thread[k], NULL);
	ktap_diag("%u of %u connections were made", made, n);
	ktap_result(made && !unexpected, "connections to a group that changes");
	for (n = 0; n < 100 && connects(); n++)
		;
	ktap_result(n == 100, "all reach the member that stayed");
	shutdown(stays, SHUT_RD);
	pthread_join(acceptor, NULL);
	close(stays);
	ktap_result(sstp_sockets_end(20000), "no socket is left");
	return ktap_end();
}
