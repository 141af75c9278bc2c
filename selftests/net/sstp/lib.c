// SPDX-License-Identifier: GPL-2.0
/* What the test programs share. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib.h"

/* KTAP */

static struct {
	unsigned int done;
	unsigned int failed;
	unsigned int skipped;
} ktap;

void ktap_plan(unsigned int tests)
{
	printf("KTAP version 1\n1..%u\n", tests);
	fflush(stdout);
}

void ktap_diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
}

void ktap_result(bool ok, const char *fmt, ...)
{
	va_list ap;

	ktap.done++;
	ktap.failed += !ok;
	printf("%s %u ", ok ? "ok" : "not ok", ktap.done);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

void ktap_skip(const char *why, const char *fmt, ...)
{
	va_list ap;

	ktap.done++;
	ktap.skipped++;
	printf("ok %u ", ktap.done);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(" # SKIP %s\n", why);
	fflush(stdout);
}

int ktap_end(void)
{
	ktap_diag("Totals: pass:%u fail:%u skip:%u",
		  ktap.done - ktap.failed - ktap.skipped, ktap.failed,
		  ktap.skipped);
	if (ktap.failed)
		return 1;
	return ktap.done == ktap.skipped ? KSFT_SKIP : 0;
}

void skip_all(const char *why)
{
	printf("KTAP version 1\n1..0 # SKIP %s\n", why);
	exit(KSFT_SKIP);
}

/* Is @word in the kernel's command line? */
static bool booted_with(const char *word)
{
	FILE *f = fopen("/proc/cmdline", "r");
	char line[4096];

	if (!f || !fgets(line, sizeof(line), f))
		die("/proc/cmdline:");
	fclose(f);
	return strstr(line, word);
}

void need_simulated_time(void)
{
	if (!booted_with("time-travel=inf-cpu"))
		skip_all("time is not simulated (time-travel=inf-cpu)");
}

void need_instruction_count(void)
{
	if (!booted_with("sstp_icount"))
		skip_all("the clock does not count instructions (tools/vm/run --icount)");
}

bool all_held = true;

void must(bool so, const char *what)
{
	if (so)
		return;
	ktap_diag("not so: %s (%s)", what, strerrorname_np(errno));
	all_held = false;
}

void must_be(const char *what, long long got, long long want)
{
	if (got == want)
		return;
	ktap_diag("%s: %lld (%#llx), not %lld (%#llx)", what, got, got, want,
		  want);
	all_held = false;
}

void ktap_held(const char *name)
{
	ktap_result(all_held, "%s", name);
	all_held = true;
}

void die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (*fmt && fmt[strlen(fmt) - 1] == ':')
		fprintf(stderr, " %s", strerror(err));
	fprintf(stderr, "\n");
	exit(1);
}

/* Sockets and addresses */

const char * const proto_names[PROTOS] = {
	[PROTO_TCP] = "tcp",
	[PROTO_SSTP] = "sstp",
	[PROTO_SCTP] = "sctp",
};

int proto_find(const char *name)
{
	int i;

	for (i = 0; i < PROTOS; i++)
		if (!strcmp(name, proto_names[i]))
			return i;
	return -1;
}

bool sstp_of_inet;

int proto_socket(enum proto proto, int family, int type, int flags)
{
	switch (proto) {
	case PROTO_SSTP:
		if (sstp_of_inet)
			return socket(family, type | flags, IPPROTO_SSTP);
		return socket(AF_SSTP, type | flags, 0);
	case PROTO_SCTP:	/* one-to-one style keeps boundaries, too */
		return socket(family, SOCK_STREAM | flags, IPPROTO_SCTP);
	default:
		return socket(family, SOCK_STREAM | flags, IPPROTO_TCP);
	}
}

bool proto_here(enum proto proto)
{
	int fd = proto_socket(proto, AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

socklen_t addr_len(const union addr *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
}

void addr_set_port(union addr *a, uint16_t port)
{
	if (a->sa.sa_family == AF_INET6)
		a->v6.sin6_port = htons(port);
	else
		a->v4.sin_port = htons(port);
}

uint16_t addr_port(const union addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->v6.sin6_port :
		     a->v4.sin_port);
}

void addr_any(union addr *a, int family, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	a->sa.sa_family = family;
	addr_set_port(a, port);
}

void addr_loopback(union addr *a, int family, uint16_t port)
{
	addr_any(a, family, port);
	if (family == AF_INET6)
		a->v6.sin6_addr = in6addr_loopback;
	else
		a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

bool addr_parse(union addr *a, const char *text, uint16_t port)
{
	char host[INET6_ADDRSTRLEN + 1 + IF_NAMESIZE], *dev;

	if (strlen(text) >= sizeof(host))
		return false;
	strcpy(host, text);
	dev = strchr(host, '%');
	if (dev)
		*dev++ = 0;
	addr_any(a, strchr(host, ':') ? AF_INET6 : AF_INET, port);
	if (a->sa.sa_family == AF_INET)
		return inet_pton(AF_INET, host, &a->v4.sin_addr) == 1;
	if (dev) {
		a->v6.sin6_scope_id = if_nametoindex(dev);
		if (!a->v6.sin6_scope_id)
			return false;
	}
	return inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1;
}

const char *addr_text(const union addr *a)
{
	static char text[INET6_ADDRSTRLEN + 16];
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof(host));
	else if (a->sa.sa_family == AF_INET)
		inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof(host));
	snprintf(text, sizeof(text), "%s:%u", host, addr_port(a));
	return text;
}

int sock_int(int fd, int level, int opt)
{
	int value = 0;
	socklen_t len = sizeof(value);

	if (getsockopt(fd, level, opt, &value, &len))
		return -errno;
	return value;
}

void sock_set(int fd, int level, int opt, int value)
{
	if (setsockopt(fd, level, opt, &value, sizeof(value)))
		die("option %d of level %d:", opt, level);
}

struct sstp_info sock_info(int fd)
{
	struct sstp_info i = {};

	if (getsockopt(fd, SOL_SSTP, SSTP_INFO, &i, &(socklen_t){ sizeof(i) }))
		die("SSTP_INFO:");
	return i;
}

int param_try(int fd, int opt, const char *name, int64_t value)
{
	struct sstp_param p = { .value = value };

	strncpy(p.name, name, sizeof(p.name) - 1);
	return setsockopt(fd, SOL_SSTP, opt, &p, sizeof(p)) ? -errno : 0;
}

void param_set(int fd, int opt, const char *name, int64_t value)
{
	errno = -param_try(fd, opt, name, value);
	if (errno)
		die("parameter %s:", name);
}

size_t params_get(int fd, int opt, struct sstp_param *p)
{
	socklen_t len = (SSTP_PARAMS_MAX + SSTP_STATE_MAX) * sizeof(*p);

	memset(p, 0xff, len);
	if (getsockopt(fd, SOL_SSTP, opt, p, &len) || len % sizeof(*p))
		die("option %d, %u bytes:", opt, len);
	return len / sizeof(*p);
}

int64_t param_get(int fd, int opt, const char *name)
{
	struct sstp_param p[SSTP_PARAMS_MAX + SSTP_STATE_MAX];
	size_t i, n = params_get(fd, opt, p);

	for (i = 0; i < n; i++)
		if (!strcmp(p[i].name, name))
			return p[i].value;
	errno = ENOENT;
	die("parameter %s:", name);
}

void *echo_serve(void *arg)
{
	int fd;
	char c;

	while ((fd = accept(*(int *)arg, NULL, NULL)) >= 0) {
		if (recv(fd, &c, 1, 0) == 1)
			send(fd, &c, 1, MSG_NOSIGNAL);
		close(fd);
	}
	return arg;
}

bool echo_ask(int fd, const union addr *to)
{
	char c = 'x';

	return !connect(fd, &to->sa, addr_len(to)) &&
	       send(fd, &c, 1, MSG_NOSIGNAL) == 1 && recv(fd, &c, 1, 0) == 1;
}

int module_load(const char *name)
{
	char path[300];
	int file, err;

	snprintf(path, sizeof(path), "%s/%s.ko", getenv("SSTP_MODULE_DIR") ?: ".", name);
	file = open(path, O_RDONLY);
	if (file < 0)
		return -errno;
	err = syscall(SYS_finit_module, file, "", 0) && errno != EEXIST ? -errno : 0;
	close(file);
	return err;
}

bool module_unloaded(void *name)
{
	return !syscall(SYS_delete_module, name, O_NONBLOCK) || errno == ENOENT;
}

int echo_load(void)
{
	return module_load("sstp-echo");
}

bool echo_unloaded(void *unused)
{
	(void)unused;
	return module_unloaded("sstp_echo");
}

bool parse_scaled(const char *text, unsigned int unit, uint64_t *value)
{
	static const char units[] = "kMGT";
	const char *u;
	double number;
	char *end;

	number = strtod(text, &end);
	if (end == text || number < 0)
		return false;
	if (*end) {
		u = strchr(units, *end == 'K' ? 'k' : *end);
		if (!u || end[1])
			return false;
		for (; u >= units; u--)
			number *= unit;
	}
	*value = number;
	return true;
}

/* Content */

uint64_t mix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static uint64_t content_word(uint64_t seed, uint64_t index)
{
	return htole64(mix64(seed + index * 0x9e3779b97f4a7c15));
}

/* Bytes from @pos to the end of its word: at most @len of them. */
static size_t content_piece(uint8_t piece[8], size_t len, uint64_t seed,
			    uint64_t pos)
{
	uint64_t word = content_word(seed, pos / 8);
	size_t skip = pos % 8, n = 8 - skip;

	memcpy(piece, (uint8_t *)&word + skip, n);
	return n < len ? n : len;
}

void content_fill(void *buf, size_t len, uint64_t seed, uint64_t pos)
{
	uint8_t *p = buf, piece[8];
	uint64_t word;
	size_t n;

	for (; len; p += n, pos += n, len -= n) {
		for (; !(pos % 8) && len >= 8; p += 8, pos += 8, len -= 8) {
			word = content_word(seed, pos / 8);
			memcpy(p, &word, 8);
		}
		n = len ? content_piece(piece, len, seed, pos) : 0;
		memcpy(p, piece, n);
	}
}

size_t content_check(const void *buf, size_t len, uint64_t seed, uint64_t pos)
{
	const uint8_t *p = buf;
	size_t done = 0, n, i;
	uint8_t piece[8];
	uint64_t word;

	while (done < len) {
		for (; !((pos + done) % 8) && len - done >= 8; done += 8) {
			word = content_word(seed, (pos + done) / 8);
			if (memcmp(p + done, &word, 8))
				break;
		}
		if (done == len)
			break;
		n = content_piece(piece, len - done, seed, pos + done);
		for (i = 0; i < n; i++)
			if (p[done + i] != piece[i])
				return done + i;
		done += n;
	}
	return len;
}

void hash_init(struct hash *h)
{
	memset(h, 0, sizeof(*h));
	h->state = 0x243f6a8885a308d3;
}

static void hash_word(struct hash *h, const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	w = (h->state ^ le64toh(w)) * 0x9fb21c651e98df25;
	h->state = (w << 27 | w >> 37) * 0xd6e8feb86659fd93;
}

void hash_add(struct hash *h, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t have = h->len % 8;

	h->len += len;
	for (; have && len; len--) {
		h->tail[have++] = *p++;
		if (have == 8) {
			hash_word(h, h->tail);
			have = 0;
		}
	}
	for (; len >= 8; p += 8, len -= 8)
		hash_word(h, p);
	if (len)
		memcpy(h->tail, p, len);
}

uint64_t hash_end(const struct hash *h)
{
	struct hash end = *h;

	memset(end.tail + h->len % 8, 0, 8 - h->len % 8);
	hash_word(&end, end.tail);
	return mix64(end.state ^ h->len);
}

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void sha256_block(struct sha256 *s, const uint8_t *p)
{
	uint32_t w[64], v[8], t1, t2;
	int i;

	for (i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, s->h, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha256_k[i] + w[i];
		t2 = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t h[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->h, h, sizeof(h));
	s->len = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len) {
		size_t have = s->len % 64, n = 64 - have;

		if (n > len)
			n = len;
		memcpy(s->block + have, p, n);
		s->len += n;
		p += n;
		len -= n;
		if (have + n == 64)
			sha256_block(s, s->block);
	}
}

void sha256_end(const struct sha256 *s, uint8_t digest[32])
{
	struct sha256 end = *s;
	uint64_t bits = htobe64(s->len * 8);
	int i;

	sha256_add(&end, "\x80", 1);
	while (end.len % 64 != 56)
		sha256_add(&end, "", 1);
	sha256_add(&end, &bits, sizeof(bits));
	for (i = 0; i < 32; i++)
		digest[i] = end.h[i / 4] >> (24 - 8 * (i % 4));
}

/* Time */

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = ns / 1000000000,
		.tv_nsec = ns % 1000000000,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void use_cpu(uint64_t instructions)
{
	uint64_t i;

	/* 3 more are the loop's. An emulator is fast with instructions that do nothing. */
	for (i = 0; i < instructions; i += 251)
		__asm__ volatile(".rept 248\n\tnop\n\t.endr");
}

uint64_t nonce(void)
{
	uint64_t n = 0;

	while (!n)
		if (getrandom(&n, sizeof(n), 0) != sizeof(n))
			n = now_ns();
	return n;
}

bool thread_sleeps(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		die("%s:", path);
	fclose(f);
	return state == 'S';
}

bool busywait(unsigned int ms, bool (*cond)(void *arg), void *arg)
{
	uint64_t end = now_ns() + ms * 1000000ULL;
	uint64_t pause = 100000;

	while (!cond(arg)) {
		if (now_ns() >= end)
			return cond(arg);
		sleep_ns(pause);
		if (pause < 10000000)
			pause *= 2;
	}
	return true;
}

int file_try(const char *file, const char *fmt, ...)
{
	int fd = open(file, O_WRONLY), err = 0;
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

long file_number(const char *file, const char *name, int column)
{
	char line[512], *word, *rest;
	FILE *f = fopen(file, "r");
	long value = -1;
	int i;

	if (!f)
		die("%s:", file);
	while (value < 0 && (rest = fgets(line, sizeof(line), f))) {
		word = strsep(&rest, " \t\n");
		if (strcmp(word, name))
			continue;
		for (i = 0; word && i < column; i += word && *word)
			word = strsep(&rest, " \t\n");
		if (word)
			value = atol(word);
	}
	fclose(f);
	return value;
}

long sstp_counter(const char *name)
{
	long value = file_number("/proc/thread-self/net/sstp_snmp", name, 1);

	if (value < 0)
		die("there is no counter %s", name);
	return value;
}

long sstp_sockets(void)
{
	long value = file_number("/proc/thread-self/net/protocols", "SSTP", 2);

	if (value < 0)
		die("there is no SSTP");
	return value;
}

long sstp_pages(void)
{
	return file_number("/proc/thread-self/net/protocols", "SSTP", 3);
}

bool sstp_no_sockets(void *unused)
{
	(void)unused;
	return !sstp_sockets();
}

void sstp_show_sockets(void)
{
	FILE *f = popen("sstp show -ain", "r");
	char line[1024];

	ktap_diag("%ld sockets are left, of which these are connections or listeners:",
		  sstp_sockets());
	if (!f)
		die("sstp show:");
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		ktap_diag("%s", line);
	}
	pclose(f);
}

bool sstp_sockets_end(unsigned int ms)
{
	if (busywait(ms, sstp_no_sockets, NULL))
		return true;
	sstp_show_sockets();
	return false;
}

void new_namespace(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET))
		die("unshare:");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("lo:");
	close(fd);
}
