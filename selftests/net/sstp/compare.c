// SPDX-License-Identifier: GPL-2.0
/* Runs rows of socket calls on TCP and on SSTP and compares. */
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/utsname.h>

#include "compare.h"

#define HOLE4		"192.0.2.77"	/* routed, but no host answers */
#define HOLE6		"2001:db8:2::77"
#define ROW_MS		180000		/* for a row, before it is called stuck */

/* Notes of a body, in memory shared with its parent */
struct notes {
	unsigned int n;
	bool failed;
	struct {
		char label[64];
		char value[160];
		char want[96];		/* "" = as TCP does */
	} line[160];
};

static struct notes *notes;
enum proto proto;
int family, type;

void notef(const char *label, const char *fmt, ...)
{
	va_list ap;

	if (notes->n == ARRAY_SIZE(notes->line))
		_exit(99);
	snprintf(notes->line[notes->n].label, sizeof(notes->line->label), "%s",
		 label);
	va_start(ap, fmt);
	vsnprintf(notes->line[notes->n].value, sizeof(notes->line->value), fmt,
		  ap);
	va_end(ap);
	notes->n++;
}

const char *result(long ret)
{
	static char text[24];

	if (ret < 0)
		return strerrorname_np(errno) ?: "errno?";
	snprintf(text, sizeof(text), "%ld", ret);
	return text;
}

void note(const char *label, long ret)
{
	notef(label, "%s", result(ret));
}

void expect_text(const char *label, const char *got, const char *want)
{
	notef(label, "%s", got);
	snprintf(notes->line[notes->n - 1].want, sizeof(notes->line->want),
		 "%s", want);
	notes->failed |= strcmp(got, want);
}

void expect(const char *label, long ret, const char *want)
{
	expect_text(label, result(ret), want);
}

void expect_num(const char *label, long long got, long long want)
{
	char a[24], b[24];

	snprintf(a, sizeof(a), "%lld", got);
	snprintf(b, sizeof(b), "%lld", want);
	expect_text(label, a, b);
}

void bail(const char *what)
{
	notef(what, "set-up failed: %s", strerrorname_np(errno));
	notes->failed = true;
	_exit(0);
}

/* Sockets */

int sock_of(int fam, int flags)
{
	int fd = proto_socket(proto, fam, type, flags);

	if (fd < 0)
		bail("socket");
	return fd;
}

int sock(void)
{
	return sock_of(family, 0);
}

int xbind(int fd, const union addr *a)
{
	return bind(fd, &a->sa, addr_len(a));
}

int xconnect(int fd, const union addr *a)
{
	return connect(fd, &a->sa, addr_len(a));
}

union addr name_of(int fd, bool peer)
{
	union addr a = {};
	socklen_t len = sizeof(a);

	if (peer ? getpeername(fd, &a.sa, &len) : getsockname(fd, &a.sa, &len))
		bail("name");
	return a;
}

void start_listening(int fd, union addr *a)
{
	addr_loopback(a, family, 0);
	if (xbind(fd, a) || listen(fd, 8))
		bail("listener");
	*a = name_of(fd, false);
}

int listener(union addr *a)
{
	int fd = sock();

	start_listening(fd, a);
	return fd;
}

void join(int fd, const union addr *to)
{
	if (xconnect(fd, to))
		bail("connect");
}

int pair_of(int fd, int l)
{
	union addr a;
	int peer;

	start_listening(l, &a);
	join(fd, &a);
	peer = accept(l, NULL, NULL);
	if (peer < 0)
		bail("accept");
	return peer;
}

int pair(int *peer)
{
	int l = sock(), fd = sock();

	*peer = pair_of(fd, l);
	close(l);
	return fd;
}

void unused(union addr *a)
{
	close(listener(a));
}

void hole(union addr *a)
{
	if (!addr_parse(a, family == AF_INET ? HOLE4 : HOLE6, 9))
		bail("hole");
}

void nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

int get_int(int fd, int level, int name)
{
	int value = sock_int(fd, level, name);

	if (value < 0 && value > -4096) {
		errno = -value;
		return -1;
	}
	return value;
}

void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		bail("say");
}

const char *poll_text(int fd, short events, int ms)
{
	static const struct {
		short bit;
		const char *name;
	} names[] = {
		{ POLLIN, "IN" }, { POLLOUT, "OUT" }, { POLLPRI, "PRI" },
		{ POLLRDHUP, "RDHUP" }, { POLLHUP, "HUP" }, { POLLERR, "ERR" },
		{ POLLNVAL, "NVAL" },
	};
	static char texts[4][48];
	static int turn;
	char *text = texts[turn++ % 4];
	struct pollfd p = { .fd = fd, .events = events };
	unsigned int i;

	*text = 0;
	poll(&p, 1, ms);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (p.revents & names[i].bit)
			sprintf(text + strlen(text), "%s%s", *text ? "|" : "",
				names[i].name);
	return text;
}

void note_state(const char *label, int fd)
{
	notef(label, "%s", poll_text(fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP,
				     0));
}

void await(const char *label, int fd, short events)
{
	poll_text(fd, events, WAIT_MS);
	note_state(label, fd);
}

void note_recv(const char *label, int fd, size_t len, int flags)
{
	char buf[256] = "";
	ssize_t n = recv(fd, buf, len, flags);

	if (n < 0)
		note(label, n);
	else
		notef(label, "%zd '%s'", n, buf);
}

uint64_t fill(int fd)
{
	static char buf[32768];
	uint64_t sum = 0;
	int quiet = 0;
	ssize_t n;

	/* Packets in flight may yet make room, and so may a receiver that is probed (TCP's
	 * collapses its queue then), twice before this gives up.
	 */
	while (quiet < 6) {
		quiet++;
		while ((n = send(fd, buf, sizeof(buf),
				 MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
			sum += n;
			quiet = 0;
		}
		sleep_ns(QUIET_MS * 1000000ULL);
	}
	return sum;
}

/* Nothing came for WAIT_MS: show what both ends know, for the log of a failed test. */
static void show_connections(void)
{
	static const char * const commands[] = { "sstp show -im", "sstp stat" };
	unsigned int i;
	char line[512];

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		FILE *f = popen(commands[i], "r");

		while (f && fgets(line, sizeof(line), f))
			ktap_diag("%.*s", (int)strcspn(line, "\n"), line);
		if (f)
			pclose(f);
	}
}

uint64_t drain(int fd, uint64_t want)
{
	static char buf[65536];
	struct timeval tv = { .tv_sec = WAIT_MS / 1000 };
	uint64_t sum = 0;
	ssize_t n = 0;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	while (sum < want && (n = recv(fd, buf, sizeof(buf), 0)) > 0)
		sum += n;
	if (n < 0 && errno == EAGAIN && proto == PROTO_SSTP)
		show_connections();
	return sum;
}

void timeout_opt(int fd, int name, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000,
			      .tv_usec = ms % 1000 * 1000 };

	if (setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv)))
		bail("timeout");
}

/* Signals */

volatile sig_atomic_t signals;
int signal_fd = -1;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
	if (signal_fd >= 0 && send(signal_fd, "s", 1, 0) != 1)
		_exit(98);
}

void catch(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

void alarm_ms(int ms)
{
	struct itimerval it = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

	if (setitimer(ITIMER_REAL, &it, NULL))
		bail("timer");
}

static bool sleeps(void *arg)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", *(pid_t *)arg);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		_exit(1);
	fclose(f);
	return state == 'S';
}

void alarm_sleeper(void)
{
	pid_t self = getpid(), pid = fork();

	if (pid < 0)
		bail("fork");
	if (pid)
		return;
	if (busywait(ROW_MS, sleeps, &self))
		kill(self, SIGALRM);
	_exit(0);
}

void try_int(const char *name, int fd, int level, int opt, int value)
{
	char label[64];
	long long wide = value;
	socklen_t len = 1;
	unsigned char byte = 0;
	int bad;

	snprintf(label, sizeof(label), "%s", name);
	note(label, set_int(fd, level, opt, value));
	snprintf(label, sizeof(label), "%s is", name);
	note(label, get_int(fd, level, opt));
	snprintf(label, sizeof(label), "%s, optlen 0", name);
	note(label, setsockopt(fd, level, opt, &value, 0));
	snprintf(label, sizeof(label), "%s, optlen 8", name);
	note(label, setsockopt(fd, level, opt, &wide, sizeof(wide)));
	snprintf(label, sizeof(label), "%s, bad pointer", name);
	note(label, setsockopt(fd, level, opt, BAD_POINTER, sizeof(value)));
	snprintf(label, sizeof(label), "%s, one byte back", name);
	bad = getsockopt(fd, level, opt, &byte, &len);
	notef(label, "%s %u", result(bad), bad ? 0 : len);
	snprintf(label, sizeof(label), "%s, back to a bad pointer", name);
	len = sizeof(value);
	note(label, getsockopt(fd, level, opt, BAD_POINTER, &len));
	snprintf(label, sizeof(label), "%s, negative length back", name);
	len = -1;
	note(label, getsockopt(fd, level, opt, &value, &len));
}

/* Run a body in a process of its own; returns false if it did not end well. */

static bool ended(void *arg)
{
	siginfo_t info = {};

	return !waitid(P_PID, *(pid_t *)arg, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

static bool run(const struct row *row, enum proto p, struct notes *to)
{
	bool stuck;
	int status;
	pid_t pid;

	memset(to, 0, sizeof(*to));
	notes = to;
	proto = p;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork:");
	if (!pid) {
		setpgid(0, 0);
		row->run();
		_exit(0);
	}
	setpgid(pid, pid);
	stuck = !busywait(ROW_MS, ended, &pid);
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (stuck)
		ktap_diag("%s: %s: stuck after \"%s\"", row->name, proto_names[p],
			  to->n ? to->line[to->n - 1].label : "start");
	else if (WIFSIGNALED(status))
		ktap_diag("%s: %s: signal %d after \"%s\"", row->name,
			  proto_names[p], WTERMSIG(status),
			  to->n ? to->line[to->n - 1].label : "start");
	else if (status)
		ktap_diag("%s: %s: exit status %d", row->name, proto_names[p],
			  WEXITSTATUS(status));
	return !stuck && !status;
}

static bool applies(unsigned int flags)
{
	return flags & (type == SOCK_STREAM ? ROW_STREAM : ROW_SEQPACKET) &&
	       flags & (family == AF_INET ? ROW_V4 : ROW_V6);
}

/* Is the difference one of this kernel? */
static bool here(const struct difference *d)
{
	const char *begins;
	struct utsname u;
	bool other;

	if (uname(&u))
		die("uname:");
	if (!d->kernel)
		return true;
	other = *d->kernel == '!';
	begins = d->kernel + other;
	return other ^ !strncmp(begins, u.release, strlen(begins));
}

static bool compare(const struct row *row, const struct notes *tcp,
		    const struct notes *sstp, const struct difference *diffs,
		    size_t n, bool *seen)
{
	unsigned int i, most = tcp->n > sstp->n ? tcp->n : sstp->n;
	bool ok = true;
	size_t k;

	for (i = 0; i < most; i++) {
		const char *label = sstp->line[i].label;
		const char *got = sstp->line[i].value;

		if (!strcmp(tcp->line[i].label, label) &&
		    !strcmp(tcp->line[i].value, got))
			continue;
		for (k = 0; k < n; k++)
			if (!strcmp(diffs[k].row, row->name) &&
			    !strcmp(diffs[k].label, label) &&
			    !strcmp(tcp->line[i].label, label) &&
			    applies(diffs[k].flags ?: ROW_ALL) &&
			    here(&diffs[k]) &&
			    !strcmp(diffs[k].sstp, got))
				break;
		if (k < n) {
			seen[k] = true;
			continue;
		}
		ktap_diag("%s: \"%s\": TCP %s, SSTP %s%s%s", row->name, label,
			  tcp->line[i].value, got,
			  strcmp(tcp->line[i].label, label) ? ", TCP's is " : "",
			  strcmp(tcp->line[i].label, label) ?
			  tcp->line[i].label : "");
		ok = false;
	}
	return ok;
}

/* A difference that does not occur any more must not stay listed. */
static void judge_list(const struct difference *diffs, size_t n,
		       const bool *seen)
{
	bool ok = true;
	size_t k;

	for (k = 0; k < n; k++) {
		if (seen[k] || !here(&diffs[k]))
			continue;
		ktap_diag("%s: \"%s\": %s was never seen", diffs[k].row,
			  diffs[k].label, diffs[k].sstp);
		ok = false;
	}
	ktap_result(ok, "every listed difference is there");
}

static bool judge_own(const struct row *row, const struct notes *got)
{
	unsigned int i;

	for (i = 0; i < got->n; i++)
		if (*got->line[i].want &&
		    strcmp(got->line[i].want, got->line[i].value))
			ktap_diag("%s: \"%s\": %s, expected %s", row->name,
				  got->line[i].label, got->line[i].value,
				  got->line[i].want);
	return !got->failed;
}

static void print_notes(const struct notes *n, enum proto p)
{
	unsigned int i;

	for (i = 0; i < n->n; i++)
		ktap_diag("%s: %s: %s", proto_names[p], n->line[i].label,
			  n->line[i].value);
}

/* Enter a namespace with a device behind which no host is. */
static void make_namespace(void)
{
	static const char * const commands[] = {
		"ip link set lo up",
		"ip link add hole type dummy",
		"ip link set hole up",
		"ip addr add 192.0.2.1/24 dev hole",
		"ip addr add 2001:db8:2::1/64 dev hole nodad",
	};
	unsigned int i;

	if (unshare(CLONE_NEWNET))
		die("unshare:");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (system(commands[i]))
			die("failed: %s", commands[i]);
}

static void usage(const char *name, int status)
{
	fprintf(status ? stderr : stdout,
"Usage: %s [-t | -i] [-v] [ROW...]\n"
"Runs rows of socket calls on TCP and SSTP and compares. Needs root and ip.\n"
"  -t  TCP on both sides: only says whether the rows themselves are sound\n"
"  -i  sockets of SSTP are those of IPPROTO_SSTP\n"
"  -v  show all results\n", name);
	exit(status);
}

int compare_main(int argc, char **argv, const struct row *rows, size_t n,
		 const struct difference *diffs, size_t n_diffs)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };
	static const int families[] = { AF_INET, AF_INET6 };
	struct notes *of = mmap(NULL, 2 * sizeof(*of), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum proto other = PROTO_SSTP;
	bool *seen = calloc(n_diffs + 1, sizeof(*seen));
	bool verbose = false, list;
	unsigned int tests = 0, run_it;
	size_t k, turn;
	int c, j;

	while ((c = getopt(argc, argv, "tivh")) != -1) {
		if (c == 't')
			other = PROTO_TCP;
		else if (c == 'i')
			sstp_of_inet = true;
		else if (c == 'v')
			verbose = true;
		else
			usage(argv[0], c == 'h' ? 0 : 2);
	}
	if (of == MAP_FAILED)
		die("mmap:");
	signal(SIGPIPE, SIG_IGN);
	make_namespace();
	list = n_diffs && other == PROTO_SSTP && !sstp_of_inet && optind == argc;
	for (turn = 0; turn < 2; turn++) {
		/* First only count. */
		if (turn)
			ktap_plan(tests + list);
		if (turn && !proto_here(other))
			die("socket(AF_SSTP):");
		for (k = 0; k < 4 * n; k++) {
			const struct row *row = &rows[k % n];
			bool ok;

			type = types[k / n / 2];
			family = families[k / n % 2];
			run_it = applies(row->flags) &&
				 !(other == PROTO_TCP && row->flags & ROW_OWN);
			for (j = optind; j < argc; j++)
				if (!strcmp(argv[j], row->name))
					break;
			if (!run_it || (optind < argc && j == argc))
				continue;
			if (!turn) {
				tests++;
				continue;
			}
			ok = row->flags & ROW_OWN ||
			     run(row, PROTO_TCP, &of[0]);
			ok &= run(row, other, &of[1]);
			if (verbose && !(row->flags & ROW_OWN))
				print_notes(&of[0], PROTO_TCP);
			if (verbose)
				print_notes(&of[1], other);
			ok &= row->flags & ROW_OWN ? judge_own(row, &of[1]) :
			      compare(row, &of[0], &of[1], diffs, n_diffs,
				      seen);
			ktap_result(ok, "%s IPv%d %s", row->name,
				    family == AF_INET ? 4 : 6,
				    type == SOCK_STREAM ? "stream" : "seqpacket");
		}
	}
	if (list)
		judge_list(diffs, n_diffs, seen);
	return ktap_end();
}
