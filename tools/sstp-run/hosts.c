// SPDX-License-Identifier: GPL-2.0
/*
 * A cache of the services that answer by SSTP, or do not, shared by all processes of a user.
 *
 * It is a table of words in a file of the user. An entry is one word, so that concurrent
 * writers need no lock. The file is read and written, not mapped, as access to a mapping
 * of a truncated file would be fatal. Other users cannot write it, and a wrong entry costs
 * time, or selects TCP for a minute. Without a file each process has its own table.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "preload.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

#define SETS		256
#define WAYS		4		/* entries in a set, which the lower bits of the key select */

/* Fields of an entry, from the lowest bit: time in seconds, enum host, upper bits of the key */
#define TIME_BITS	24
#define WHAT_BITS	2
#define KEY_SHIFT	(TIME_BITS + WHAT_BITS)

#define FRESH		5		/* seconds in which an entry is not written again */
#define REPEATED	600		/* seconds in which two misses count as HOST_WITHOUT */

/* Seconds for which an entry is valid */
static const int life[] = {
	[HOST_UNKNOWN] = 0, [HOST_ANSWERS] = 60, [HOST_MISSED] = 10, [HOST_WITHOUT] = 60,
};

/* Services that this process has asked: valid for FRESH seconds, or while there is no file */
static _Atomic uint64_t table[SETS][WAYS];

static uint32_t now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec & ((1U << TIME_BITS) - 1);
}

static uint32_t age_of(uint64_t entry, uint32_t now)
{
	return (now - (uint32_t)entry) & ((1U << TIME_BITS) - 1);
}

static enum host what_of(uint64_t entry)
{
	return entry >> TIME_BITS & ((1U << WHAT_BITS) - 1);
}

static uint64_t hash(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	while (len--)
		sum = (sum ^ *bytes++) * 0x100000001b3;
	return sum;
}

/* The key of the service at @sa in the network namespace of @fd */
uint64_t host_key(int fd, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *a6 = (const void *)sa;
	const struct sockaddr_in *a4 = (const void *)sa;
	uint64_t netns = 0, key = 0xcbf29ce484222325;
	socklen_t len = sizeof(netns);

	REAL(getsockopt)(fd, SOL_SOCKET, SO_NETNS_COOKIE, &netns, &len);
	key = hash(key, &netns, sizeof(netns));
	if (sa->sa_family == AF_INET) {
		key = hash(key, &a4->sin_addr, 4);
		key = hash(key, &a4->sin_port, 2);
	} else {
		if (IN6_IS_ADDR_V4MAPPED(&a6->sin6_addr)) {
			key = hash(key, &a6->sin6_addr.s6_addr[12], 4);
		} else {
			key = hash(key, &a6->sin6_addr, 16);
			key = hash(key, &a6->sin6_scope_id, 4);
		}
		key = hash(key, &a6->sin6_port, 2);
	}
	/* Mix in the upper bits, which an FNV hash distributes better. */
	return key ^ key >> 32;
}

static int open_owned(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		      0600);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 077) && st.st_nlink == 1)
		return fd;
	REAL(close)(fd);
	return -1;
}

/* The file is opened for each access, as the program may close descriptors or change its user. */
static int open_table(void)
{
	const char *dir = secure_getenv("XDG_RUNTIME_DIR");
	char path[200];
	struct stat st;
	int fd = -1;

	if (dir && *dir == '/' && !stat(dir, &st) && st.st_uid == geteuid() &&
	    snprintf(path, sizeof(path), "%s/sstp-run-hosts", dir) < (int)sizeof(path))
		fd = open_owned(path);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/sstp-run-hosts-%u", geteuid());
		fd = open_owned(path);
	}
	return fd;
}

static void set_read(int file, uint64_t key, uint64_t entries[WAYS])
{
	unsigned int set = key % SETS, i;

	for (i = 0; i < WAYS; i++)
		entries[i] = table[set][i];
	if (file < 0)
		return;
	if (pread(file, entries, sizeof(uint64_t [WAYS]), set * sizeof(table[0])) !=
	    sizeof(uint64_t [WAYS]))
		for (i = 0; i < WAYS; i++)
			entries[i] = 0;
}

/* Does this process know of late that the service answers? It need not read the file then. */
static bool host_recent(uint64_t key)
{
	uint64_t entry;
	int i;

	for (i = 0; i < WAYS; i++) {
		entry = table[key % SETS][i];
		if (entry && entry >> KEY_SHIFT == key >> KEY_SHIFT)
			return what_of(entry) == HOST_ANSWERS &&
			       age_of(entry, now_seconds()) < FRESH;
	}
	return false;
}

/* Keep @entry of @key in this process, and no other one: the file may have it at another place. */
static void keep(uint64_t key, int at, uint64_t entry)
{
	_Atomic uint64_t *set = table[key % SETS];
	int i;

	set[at] = entry;
	for (i = 0; i < WAYS; i++)
		if (i != at && set[i] >> KEY_SHIFT == key >> KEY_SHIFT)
			set[i] = 0;
}

/* Look up a service; callers treat HOST_MISSED like HOST_WITHOUT. */
enum host host_ask(uint64_t key)
{
	int error = errno, file, i;
	enum host what = HOST_UNKNOWN;
	uint64_t entries[WAYS];

	if (host_recent(key))
		return HOST_ANSWERS;
	file = open_table();
	set_read(file, key, entries);
	for (i = 0; i < WAYS; i++)
		if (entries[i] >> KEY_SHIFT == key >> KEY_SHIFT)
			what = age_of(entries[i], now_seconds()) <
			       (uint32_t)life[what_of(entries[i])] ?
			       what_of(entries[i]) : HOST_UNKNOWN;
	if (file >= 0)
		REAL(close)(file);
	errno = error;
	return what;
}

/* Write an entry. A second miss within REPEATED is stored as HOST_WITHOUT. */
void host_note(uint64_t key, enum host what)
{
	int error = errno, file, i, at = 0;
	uint32_t now = now_seconds(), age, oldest = 0;
	uint64_t entries[WAYS], entry;

	if (what == HOST_ANSWERS && host_recent(key))
		return;
	file = open_table();
	set_read(file, key, entries);
	for (i = 0; i < WAYS; i++) {
		age = entries[i] ? age_of(entries[i], now) : UINT32_MAX;
		if (entries[i] >> KEY_SHIFT == key >> KEY_SHIFT) {
			if (what_of(entries[i]) == what && age < FRESH) {
				keep(key, i, entries[i]);
				goto out;
			}
			at = i;
			if (what == HOST_MISSED && what_of(entries[i]) >= HOST_MISSED &&
			    age < REPEATED)
				what = HOST_WITHOUT;
			break;
		}
		if (age >= oldest) {
			oldest = age;
			at = i;
		}
	}
	entry = (key >> KEY_SHIFT << WHAT_BITS | what) << TIME_BITS | now;
	keep(key, at, entry);
	/* If the file cannot be written, only this process has the entry. */
	if (file >= 0 && pwrite(file, &entry, sizeof(entry), key % SETS * sizeof(table[0]) +
				at * sizeof(entry)) < 0)
		errno = error;
out:
	if (file >= 0)
		REAL(close)(file);
	errno = error;
}
