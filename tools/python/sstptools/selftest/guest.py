# SPDX-License-Identifier: GPL-2.0
"""Run tests in a test kernel (or, with --host, on the host) and print KTAP.

Each test's own results are indented below a "# Subtest" line. After each test
its processes are killed, its network namespaces are deleted and the kernel log
is read: a warning or the like fails the test. The first test, "boot", checks the
log of the boot. The last, "teardown", unloads, loads and unloads the module
again, and on kernels with kmemleak checks for leaks.
"""

import argparse
import errno
import glob
import math
import os
import re
import selectors
import signal
import subprocess
import sys
import time

from sstptools.selftest.ktap import Case, Stream, Test
from sstptools.tree import TREE
from sstptools.vm import kernlog

KMEMLEAK = "/sys/kernel/debug/kmemleak"
CGROUPS = "/sys/fs/cgroup"


def emit(line):
    print(line, flush=True)


def put(path, text):
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        return True
    except OSError:
        return False


def command(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout


class KernelLog:
    """Reads the kernel log; take() returns the lines since the last call."""

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        self.lines = []

    def fileno(self):
        return self.fd

    def read(self):
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except OSError as error:
                if error.errno == errno.EPIPE:
                    self.lines.append(kernlog.LOST)
                    continue
                return
            head, _, text = record.partition(";")
            stamp = int(head.split(",")[2])
            self.lines.append(f"[{stamp / 1e6:12.6f}] " + text.split("\n")[0])

    def take(self):
        self.read()
        lines, self.lines = self.lines, []
        return lines


class NoLog:
    """Used on the host, whose kernel log is not checked."""

    def take(self):
        return []


class Cage:
    """A cgroup with the processes of one test, which are killed together."""

    def __init__(self, name):
        self.path = os.path.join(CGROUPS, "test-" + re.sub(r"\W", "_", name))
        try:
            os.mkdir(self.path)
        except OSError:
            self.path = None

    def enter(self):
        """Runs in the child."""
        os.setsid()
        if self.path:
            put(os.path.join(self.path, "cgroup.procs"), "0")

    def clear(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        if not self.path:
            return
        for _ in range(100):
            put(os.path.join(self.path, "cgroup.kill"), "1")
            for path, _, _ in os.walk(self.path, topdown=False):
                try:
                    os.rmdir(path)
                except OSError:
                    pass
            if not os.path.exists(self.path):
                break
            time.sleep(0.05)


def time_limit(seconds):
    """Return when the clock shows that SECONDS are over. In a machine that counts instructions it
    jumps from timer to timer while the machine waits for a file of the host, so that only the
    host's time limit of the machine applies."""
    with open("/proc/cmdline", encoding="ascii") as line:
        counts = "sstp_icount" in line.read().split()
    return math.inf if counts else time.monotonic() + seconds


def run_test(test, log):
    """Run one test; return the stream of its results."""
    stream = Stream()
    cage = Cage(test.name)
    process = subprocess.Popen(
        [test.path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, preexec_fn=cage.enter)
    deadline = time_limit(test.timeout)
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    if isinstance(log, KernelLog):
        selector.register(log, selectors.EVENT_READ)
    rest, timed_out = b"", False

    def line(raw):
        text = raw.decode(errors="replace").rstrip("\r")
        case = stream.feed(text)
        if case:
            emit(f"    {case.line(len(stream.cases))}")
        elif text and not text.startswith(("1..", "TAP version", "KTAP version")):
            emit(f"    # {text.removeprefix('# ')}")

    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            timed_out = process.poll() is None
            break
        # All that the test wrote before its end is in the pipe by then.
        over = process.poll() is not None
        ready = [key.fileobj for key, _ in selector.select(0 if over else min(left, 1))]
        if log in ready:
            log.read()
        if process.stdout in ready:
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, rest = (rest + data).split(b"\n")
            for raw in lines:
                line(raw)
        elif over:
            break                       # something it left behind holds the pipe
    if not timed_out:
        try:
            process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            timed_out = True
    cage.clear(process)
    status = process.wait()
    if rest:
        line(rest)
    first = len(stream.cases) + 1
    for n, case in enumerate(stream.finish(status, timed_out, test.timeout), first):
        emit(f"    {case.line(n)}")
    return stream


def delete_namespaces():
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else []:
        command("ip", "netns", "del", name)


def judge_log(log, stream):
    lines = log.take()
    if any(kernlog.is_splat(line) for line in lines):
        stream.cases.append(Case("kernel log", "fail", "suspicious lines"))
        for line in kernlog.excerpt(lines):
            emit(f"    # | {line}")
        emit(f"    {stream.cases[-1].line(len(stream.cases))}")


def report(number, name, stream, start):
    failed = any(case.status == "fail" for case in stream.cases)
    emit(f"    1..{len(stream.cases)}")
    emit(f"{'not ok' if failed else 'ok'} {number} {name} # time {time.monotonic() - start:.1f} s")
    return failed


def modules():
    """Of ours, in the order of unloading."""
    with open("/proc/modules", encoding="ascii") as lines:
        return sorted((m for m in (line.split()[0] for line in lines)
                       if m.startswith("sstp")), reverse=True)


def unload():
    """Removes the module; references of what is being torn down may take a while."""
    failed = 0
    while modules():
        status, text = command("rmmod", modules()[0])
        if not status:
            continue
        failed += 1
        if failed > 450:                # 90 s
            return text.strip() or "rmmod failed"
        time.sleep(0.2)
    return ""


def teardown(stream, ko):
    """The verdict, after everything else."""
    def case(name, problem):
        stream.cases.append(Case(name, "fail" if problem else "pass",
                                 problem.splitlines()[0] if problem else ""))
        emit(f"    {stream.cases[-1].line(len(stream.cases))}")
        return not problem

    if case("module unloads", unload()) and ko:
        status, text = command("insmod", ko)
        case("module loads again", text.strip() or "insmod failed" if status else "")
        case("module unloads again", unload())
    if os.access(KMEMLEAK, os.W_OK):
        _, leaks = command(os.path.join(TREE, "tools/vm/leaks"), "-s")
        for line in leaks.splitlines()[:100]:
            emit(f"    # | {line}")
        case("nothing leaked", f"{leaks.count('unreferenced object')} objects" if leaks else "")


def main():
    parser = argparse.ArgumentParser(
        prog="selftests/guest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", action="store_true", help="no kernel log, no teardown")
    parser.add_argument("--no-teardown", action="store_true")
    parser.add_argument("tests", nargs="*", metavar="TEST[=SOURCE]",
                        help="test file (and the file with its header lines)")
    args = parser.parse_args()

    log = NoLog() if args.host else KernelLog()
    last = not (args.host or args.no_teardown)
    if last:
        put(os.path.join(CGROUPS, "cgroup.subtree_control"), "+memory +pids")
    failures = 0
    emit("KTAP version 1")
    emit(f"1..{len(args.tests) + 2 * last}")
    if last:
        start, stream = time.monotonic(), Stream()
        emit("# Subtest: boot")
        judge_log(log, stream)
        if not stream.cases:
            stream.cases.append(Case("kernel log", "pass"))
            emit(f"    {stream.cases[0].line(1)}")
        failures += report(1, "boot", stream, start)
    for number, name in enumerate(args.tests, 1 + last):
        path, _, source = name.partition("=")
        test = Test(path, source or None)
        start = time.monotonic()
        emit(f"# Subtest: {test.name}")
        stream = run_test(test, log)
        if not args.host:
            delete_namespaces()
        judge_log(log, stream)
        failures += report(number, test.name, stream, start)
    if last:
        start, stream = time.monotonic(), Stream()
        emit("# Subtest: teardown")
        ko = glob.glob(os.path.join(os.environ.get("SSTP_MODULE_DIR", ""), "sstp.ko"))
        teardown(stream, ko[0] if ko else None)
        judge_log(log, stream)
        failures += report(len(args.tests) + 2, "teardown", stream, start)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
