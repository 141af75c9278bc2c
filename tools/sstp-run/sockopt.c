// SPDX-License-Identifier: GPL-2.0
/* Socket options: copied from the TCP to the SSTP socket, and emulated on the latter. */
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "preload.h"

#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK	72
#endif
#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE	51
#endif

#define MEMOS		1024

/* Options that both sockets have. SSTP has one setting for the V4 and V6 options each. */
static const struct shared_option {
	int level, name;
	enum { ALWAYS, V4, V6 } when;
} shared_options[] = {
	{ SOL_SOCKET, SO_REUSEADDR, ALWAYS },
	{ SOL_SOCKET, SO_REUSEPORT, ALWAYS },
	{ SOL_SOCKET, SO_BINDTODEVICE, ALWAYS },
	{ SOL_SOCKET, SO_MARK, ALWAYS },
	{ SOL_SOCKET, SO_PRIORITY, ALWAYS },
	{ SOL_SOCKET, SO_KEEPALIVE, ALWAYS },
	{ SOL_SOCKET, SO_LINGER, ALWAYS },
	{ SOL_SOCKET, SO_OOBINLINE, ALWAYS },
	{ SOL_SOCKET, SO_DONTROUTE, ALWAYS },
	{ SOL_SOCKET, SO_RCVLOWAT, ALWAYS },
	{ SOL_SOCKET, SO_RCVTIMEO, ALWAYS },
	{ SOL_SOCKET, SO_SNDTIMEO, ALWAYS },
	{ SOL_SOCKET, SO_MAX_PACING_RATE, ALWAYS },
	{ SOL_SOCKET, SO_ZEROCOPY, ALWAYS },
	{ IPPROTO_IP, IP_FREEBIND, ALWAYS },
	{ IPPROTO_IP, IP_LOCAL_PORT_RANGE, ALWAYS },
	{ IPPROTO_IP, IP_TOS, V4 },
	{ IPPROTO_IP, IP_TTL, V4 },
	{ IPPROTO_IPV6, IPV6_V6ONLY, ALWAYS },
	{ IPPROTO_IPV6, IPV6_TCLASS, V6 },
	{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, V6 },
};

/* Options of TCP that SSTP has, too. They are copied only if they differ from TCP's default, as
 * SSTP has its own defaults.
 */
static const int tcp_options[] = {
	TCP_NODELAY, TCP_CORK, TCP_USER_TIMEOUT, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT,
	TCP_SYNCNT, TCP_LINGER2, TCP_DEFER_ACCEPT, TCP_WINDOW_CLAMP, TCP_NOTSENT_LOWAT,
};

/* Options of TCP that SSTP does not have: they can be set and read back, without effect. The
 * kernel answers a read of TCP_MAXSEG on an SSTP socket.
 */
static const struct memo_option {
	int name, min, max, value;
} memo_options[] = {
	{ TCP_MAXSEG, 0, 32767, 0 },
	{ TCP_THIN_LINEAR_TIMEOUTS, 0, 1, 0 },
	{ TCP_FASTOPEN, 0, INT32_MAX, 0 },
	{ TCP_FASTOPEN_CONNECT, 0, 1, 0 },
	{ TCP_FASTOPEN_NO_COOKIE, 0, 1, 0 },
};

/* Values of memo_options, by the inode of the socket, so that close() need not be tracked */
static struct memo {
	_Atomic uint64_t inode;
	int value[ARRAY_SIZE(memo_options)];
} memos[MEMOS];

/* Is this an option that keeps a socket with TCP, as SSTP does not have its function? */
static bool pins(int level, int name)
{
	static const struct { int level, name; } list[] = {
		{ IPPROTO_TCP, TCP_MD5SIG }, { IPPROTO_TCP, TCP_MD5SIG_EXT },
		{ IPPROTO_TCP, 38 /* TCP_AO_ADD_KEY */ },
		{ IPPROTO_TCP, TCP_ULP }, { IPPROTO_TCP, TCP_REPAIR },
		{ SOL_SOCKET, SO_ATTACH_FILTER }, { SOL_SOCKET, SO_ATTACH_BPF },
		{ SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF },
		{ SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF },
		{ SOL_SOCKET, SO_TIMESTAMP }, { SOL_SOCKET, SO_TIMESTAMPNS },
		{ SOL_SOCKET, SO_TIMESTAMPING }, { SOL_SOCKET, SO_TXTIME },
		{ SOL_SOCKET, SO_PEEK_OFF },
		{ IPPROTO_IP, IP_OPTIONS }, { IPPROTO_IP, IP_TRANSPARENT },
		{ IPPROTO_IP, IP_MINTTL }, { IPPROTO_IP, IP_XFRM_POLICY },
		{ IPPROTO_IP, IP_IPSEC_POLICY },
		{ IPPROTO_IPV6, IPV6_TRANSPARENT }, { IPPROTO_IPV6, IPV6_MINHOPCOUNT },
		{ IPPROTO_IPV6, IPV6_XFRM_POLICY }, { IPPROTO_IPV6, IPV6_IPSEC_POLICY },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i].level == level && list[i].name == name)
			return true;
	return false;
}

/* Options that the program has set on sockets which it made by socket(), so that connect() need
 * not read all. After dup() or fork() this is not known, as others may set options of the socket.
 * A program that is started by posix_spawn(), or gets the socket in a message, is not noticed.
 */
static struct touched {
	_Atomic uint64_t cookie;	/* of the socket; 0 = not known */
	_Atomic uint64_t set;		/* bits of touched_bit() */
	atomic_uint forks;		/* value of @forks when it was made */
} touched[FDS];

static atomic_uint forks;	/* of this process, and of those that it descends from */

#define BIT(n)		(1ULL << (n))
#define TCP_BIT		32	/* of the first of tcp_options */
#define MEMO_BIT	48	/* of the first of memo_options */
#define BUFFERS		BIT(62)
#define ALL		(~0ULL)

_Static_assert(ARRAY_SIZE(shared_options) <= TCP_BIT &&
	       ARRAY_SIZE(tcp_options) <= MEMO_BIT - TCP_BIT &&
	       ARRAY_SIZE(memo_options) <= 62 - MEMO_BIT, "bits of options");

/* The bit of an option; ALL if it is none that is copied, as it may change one that is. */
static uint64_t touched_bit(int level, int name)
{
	unsigned int i;

	if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF))
		return BUFFERS;
	for (i = 0; level == IPPROTO_TCP && i < ARRAY_SIZE(tcp_options); i++)
		if (tcp_options[i] == name)
			return BIT(TCP_BIT + i);
	for (i = 0; level == IPPROTO_TCP && i < ARRAY_SIZE(memo_options); i++)
		if (memo_options[i].name == name)
			return BIT(MEMO_BIT + i);
	for (i = 0; level != IPPROTO_TCP && i < ARRAY_SIZE(shared_options); i++)
		if (shared_options[i].level == level && shared_options[i].name == name)
			return BIT(i);
	return ALL;
}

/* The program has made the TCP socket @fd of @family. Sysctls, bind(), and programs in BPF of its
 * cgroup may set some options that the SSTP socket does not get so.
 */
void options_fresh(int fd, int family)
{
	if (fd < 0 || fd >= FDS)
		return;
	touched[fd].set = touched_bit(SOL_SOCKET, SO_MARK) | touched_bit(SOL_SOCKET, SO_PRIORITY) |
			  touched_bit(SOL_SOCKET, SO_BINDTODEVICE) | (family == AF_INET ? 0 :
			  touched_bit(IPPROTO_IPV6, IPV6_V6ONLY));
	touched[fd].forks = forks;
	touched[fd].cookie = cookie_of(fd);
}

/* Another descriptor may set options of @fd from now on. */
void options_shared(int fd)
{
	if (fd >= 0 && fd < FDS)
		touched[fd].cookie = 0;
}

/* Another process may set options of all sockets that there are. */
void options_forked(void)
{
	forks++;
}

/* Options of @fd that may differ from the defaults. */
static uint64_t options_set(int fd)
{
	uint64_t cookie = fd >= 0 && fd < FDS ? touched[fd].cookie : 0;

	return cookie && touched[fd].forks == forks && cookie == cookie_of(fd) ?
		touched[fd].set : ALL;
}

static bool copy_option(int from, int to, int level, int name)
{
	char want[32] = {}, have[32] = {};
	socklen_t len = sizeof(want), size = sizeof(have);

	if (REAL(getsockopt)(from, level, name, want, &len))
		return true;
	if (!REAL(getsockopt)(to, level, name, have, &size) && size == len &&
	    !memcmp(want, have, len))
		return true;
	return !REAL(setsockopt)(to, level, name, want, len);
}

/* Copy the sizes of buffers that the program has set; getsockopt() returns them doubled. */
static bool copy_buffers(int from, int to)
{
	int locks = get_int(from, SOL_SOCKET, SO_BUF_LOCK), size;

	if (locks < 0)
		return true;
	if (locks & 1) {
		size = get_int(from, SOL_SOCKET, SO_SNDBUF) / 2;
		if (REAL(setsockopt)(to, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
			return false;
	}
	if (locks & 2) {
		size = get_int(from, SOL_SOCKET, SO_RCVBUF) / 2;
		if (REAL(setsockopt)(to, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)))
			return false;
	}
	return true;
}

/* Values of tcp_options on a new TCP socket, or NULL */
static const int *tcp_defaults(void)
{
	static int value[ARRAY_SIZE(tcp_options)];
	static _Atomic bool known;
	unsigned int i;
	int fd;

	if (known)
		return value;
	fd = REAL(socket)(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	if (fd < 0)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(tcp_options); i++)
		value[i] = get_int(fd, IPPROTO_TCP, tcp_options[i]);
	REAL(close)(fd);
	known = true;
	return value;
}

static bool copy_tcp(int from, int to, uint64_t set)
{
	const int *given = tcp_defaults();
	unsigned int i;
	int value;

	for (i = 0; given && i < ARRAY_SIZE(tcp_options); i++) {
		if (!(set & BIT(TCP_BIT + i)))
			continue;
		value = get_int(from, IPPROTO_TCP, tcp_options[i]);
		if (value != given[i] &&
		    REAL(setsockopt)(to, IPPROTO_TCP, tcp_options[i], &value, sizeof(value)))
			return false;
	}
	return given;
}

/* Set the options of sstp-run; returns the name of one that failed, or NULL. */
static const char *set_wanted(int fd)
{
	if (options.rate.peak && REAL(setsockopt)(fd, SOL_SSTP, SSTP_RATE, &options.rate,
						  sizeof(options.rate)))
		return "rate";
	if (options.controller && REAL(setsockopt)(fd, SOL_SSTP, SSTP_CONTROLLER,
						   options.controller,
						   strlen(options.controller)))
		return "controller";
	if (options.policy && REAL(setsockopt)(fd, SOL_SSTP, SSTP_BUFFER_POLICY,
					       options.policy, strlen(options.policy)))
		return "policy";
	return NULL;
}

static struct memo *memo_find(int fd, bool make)
{
	struct stat st;
	struct memo *m;
	unsigned int i;

	if (fstat(fd, &st))
		return NULL;
	m = &memos[st.st_ino % MEMOS];
	if (m->inode == st.st_ino)
		return m;
	if (!make)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(memo_options); i++)
		m->value[i] = memo_options[i].value;
	m->inode = st.st_ino;
	return m;
}

/* A later socket may have the inode of one that is closed, but not its values. */
static void memo_copy(int from, int to, uint64_t set)
{
	struct memo *m = memo_find(to, set >> MEMO_BIT);
	unsigned int i;

	for (i = 0; m && i < ARRAY_SIZE(memo_options); i++)
		m->value[i] = set & BIT(MEMO_BIT + i) ?
			get_int(from, IPPROTO_TCP, memo_options[i].name) :
			memo_options[i].value;
}

/* Copy the settings of @tcp to @sstp; returns NULL, or a word for one that SSTP refuses. */
const char *copy_options(int tcp, int sstp, bool v4)
{
	uint64_t set = options_set(tcp);
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shared_options); i++) {
		const struct shared_option *o = &shared_options[i];

		if (!(set & BIT(i)) || o->when == (v4 ? V6 : V4))
			continue;
		if (!copy_option(tcp, sstp, o->level, o->name))
			return "an option";
	}
	if ((set & BUFFERS && !copy_buffers(tcp, sstp)) || !copy_tcp(tcp, sstp, set))
		return "an option";
	why = set_wanted(sstp);
	if (!why)
		memo_copy(tcp, sstp, set);
	return why;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Is this an option of level IP that may have no effect on an SSTP socket? */
static bool is_idle_option(int level, int name)
{
	if (level == IPPROTO_IP)
		return name == IP_RECVERR || name == IP_BIND_ADDRESS_NO_PORT;
	return level == IPPROTO_IPV6 && name == IPV6_RECVERR;
}

/* Is this a request for a mode of path MTU discovery? SSTP has one, and ignores others. */
static bool is_discovery(int level, int name, const void *value, socklen_t len)
{
	int how;

	if (!(level == IPPROTO_IP && name == IP_MTU_DISCOVER) &&
	    !(level == IPPROTO_IPV6 && name == IPV6_MTU_DISCOVER))
		return false;
	if (len < sizeof(how))
		return false;
	memcpy(&how, value, sizeof(how));
	return how >= IP_PMTUDISC_DONT && how <= IP_PMTUDISC_OMIT;
}

static int set_tcp(int fd, int name, const void *value, socklen_t len)
{
	struct memo *m;
	unsigned int i;
	int number;

	for (i = 0; i < ARRAY_SIZE(memo_options); i++) {
		if (memo_options[i].name != name)
			continue;
		if (len < sizeof(number))
			return fail(EINVAL);
		memcpy(&number, value, sizeof(number));
		if (number < memo_options[i].min || number > memo_options[i].max)
			return fail(EINVAL);
		m = memo_find(fd, true);
		if (m)
			m->value[i] = number;
		return 0;
	}
	return fail(ENOPROTOOPT);
}

EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	struct listener *l = listener_of(fd);
	int ret, error;

	if (l) {
		ret = REAL(setsockopt)(l->part[BY_TCP], level, name, value, len);
		error = errno;
		if (!ret)
			setsockopt(l->part[BY_SSTP], level, name, value, len);
		errno = error;
		return ret;
	}
	if (kind_of(fd) <= FD_FRESH)
		touched[fd].set |= touched_bit(level, name);
	ret = REAL(setsockopt)(fd, level, name, value, len);
	if (!ret && kind_of(fd) == FD_FRESH && pins(level, name))
		settle(fd, FD_TCP);
	if (ret && errno == EINVAL && is_discovery(level, name, value, len) && is_sstp(fd))
		return 0;
	/* The name of a TCP algorithm is accepted, without effect. */
	if (ret && (errno == ENOENT || errno == EISCONN) && level == IPPROTO_TCP &&
	    name == TCP_CONGESTION && is_sstp(fd))
		return 0;
	if (!ret || errno != ENOPROTOOPT || !value)
		return ret;
	if (level == IPPROTO_TCP && is_sstp(fd))
		return set_tcp(fd, name, value, len);
	if (is_idle_option(level, name) && is_sstp(fd))
		return 0;
	return fail(ENOPROTOOPT);
}

static int give(void *to, socklen_t *len, const void *from, socklen_t size)
{
	if (*len > size)
		*len = size;
	memcpy(to, from, *len);
	return 0;
}

static int get_sstp_info(int fd, struct sstp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return REAL(getsockopt)(fd, SOL_SSTP, SSTP_INFO, info, &len);
}

static void fill_tcp_info(int fd, const struct sstp_info *s, struct tcp_info *t)
{
	int unsent = 0;

	ioctl(fd, SIOCOUTQNSD, &unsent);
	memset(t, 0, sizeof(*t));
	t->tcpi_state = s->state;
	t->tcpi_backoff = s->backoff;
	t->tcpi_probes = s->backoff;
	t->tcpi_rto = s->rtt + 4 * s->rttvar;
	t->tcpi_snd_mss = s->packet_size;
	t->tcpi_rcv_mss = s->packet_size;
	t->tcpi_advmss = s->packet_size;
	t->tcpi_unacked = s->in_flight;
	t->tcpi_pmtu = s->mtu;
	t->tcpi_rtt = s->rtt;
	t->tcpi_rttvar = s->rttvar;
	t->tcpi_min_rtt = s->rtt_min;
	/* A controller may have no congestion window. */
	t->tcpi_snd_cwnd = s->cwnd == ~0U ? s->in_flight : s->cwnd;
	t->tcpi_snd_ssthresh = INT32_MAX;
	t->tcpi_reordering = s->reordering;
	t->tcpi_rcv_space = s->rcv_buffer;
	t->tcpi_total_retrans = s->packets_retrans;
	t->tcpi_pacing_rate = s->rate.average ? s->rate.average / 8 : ~0ULL;
	t->tcpi_max_pacing_rate = s->rate.peak ? s->rate.peak / 8 : ~0ULL;
	t->tcpi_delivery_rate = s->delivery_rate / 8;
	t->tcpi_bytes_acked = s->bytes_acked;
	t->tcpi_bytes_received = s->bytes_received;
	t->tcpi_bytes_sent = s->bytes_sent + s->bytes_retrans;
	t->tcpi_bytes_retrans = s->bytes_retrans;
	t->tcpi_segs_out = s->packets_sent + s->acks_sent + s->snaks_sent;
	t->tcpi_segs_in = s->packets_received + s->acks_received + s->snaks_received;
	t->tcpi_data_segs_out = s->packets_sent;
	t->tcpi_data_segs_in = s->packets_received;
	t->tcpi_notsent_bytes = unsent;
}

static int get_tcp(int fd, int name, void *value, socklen_t *len)
{
	struct sstp_info info;
	struct tcp_info tcp;
	struct memo *m;
	unsigned int i;
	int number;

	if (name == TCP_INFO) {
		if (get_sstp_info(fd, &info))
			return -1;
		fill_tcp_info(fd, &info, &tcp);
		return give(value, len, &tcp, sizeof(tcp));
	}
	for (i = 0; i < ARRAY_SIZE(memo_options); i++) {
		if (memo_options[i].name != name)
			continue;
		m = memo_find(fd, false);
		number = m ? m->value[i] : memo_options[i].value;
		return give(value, len, &number, sizeof(number));
	}
	return fail(ENOPROTOOPT);
}

/* Show a program the protocol and family of the TCP socket that it made. */
static int disguise(int fd, int name, int *value)
{
	struct sockaddr_storage at = {};
	socklen_t len = sizeof(at);

	if (!is_sstp(fd))
		return 0;
	if (name == SO_PROTOCOL)
		*value = IPPROTO_TCP;
	else if (!REAL(getsockname)(fd, (struct sockaddr *)&at, &len))
		*value = at.ss_family;
	return 0;
}

EXPORT int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct listener *l = listener_of(fd);
	int ret;

	if (l)
		return REAL(getsockopt)(l->part[BY_TCP], level, name, value, len);
	ret = REAL(getsockopt)(fd, level, name, value, len);
	if (!ret) {
		if (level == SOL_SOCKET && (name == SO_DOMAIN || name == SO_PROTOCOL) &&
		    *len == sizeof(int))
			return disguise(fd, name, value);
		if (kind_of(fd) == FD_ASKED && level == SOL_SOCKET && name == SO_ERROR &&
		    *len == sizeof(int))
			*(int *)value = asked_outcome(fd, *(int *)value);
		return 0;
	}
	if (level == IPPROTO_TCP && errno == ENOPROTOOPT && value && is_sstp(fd))
		return get_tcp(fd, name, value, len);
	return ret;
}
