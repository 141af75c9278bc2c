#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the tests of selftests/host on this machine, and those of
selftests/net/sstp in one boot of each kernel (tests that ask for other CPUs,
memory or a mode get boots of their own), two machines at a time.

The first lines of a test may say:
  timeout: SECONDS      (60)
  kernels: NAME...      the kernels it applies to (all)
  cpus: N               (2; uml, debug and gcov have one)
  mem: SIZE             (2G)
  mode: icount          one instruction a nanosecond (QEMU), or
  mode: time-travel     simulated time (UML), or
  mode: parallel        emulated CPUs run at once, not by turns (QEMU; as others elsewhere)

The last line is "N passed, N failed, N skipped" and counts cases.
"""

import argparse
import concurrent.futures
import fcntl
import fnmatch
import glob
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(HERE)
CACHE = os.environ.get("SSTP_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sstp")
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from ktap import PLAN, Case, Test  # noqa: E402 pylint: disable=wrong-import-position

KERNELS = ["6.1", "6.12", "uml", "debug"]
MORE_KERNELS = ["gcov", "kcsan", "debug-smp"]   # only when told
EMULATOR_ERRORS = 3             # machines that may end by that, for each kernel
BOOT_SECONDS = 180              # at most, with everything else on a busy machine
GUEST = os.path.join(HERE, "guest")


def parse_args():
    parser = argparse.ArgumentParser(
        prog="selftests/run", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-l", "--list", action="store_true", help="list the tests")
    add("-k", "--kernel", action="append", metavar="KERNEL",
        choices=KERNELS + MORE_KERNELS + ["host"],
        help="6.1, 6.12, uml, debug, or host for those without a kernel "
             "(repeatable; default: all these); gcov: see tools/coverage; kcsan: data races; "
             "debug-smp: debug with several CPUs")
    add("-t", "--test", action="append", metavar="GLOB", help="only these (repeatable)")
    add("-v", "--verbose", action="store_true", help="show every line of every test")
    add("-j", "--jobs", type=int, default=2, help="machines at a time (default 2)")
    args = parser.parse_args()
    args.kernel = args.kernel or ["host"] + KERNELS
    return args


class Results:
    """Counts cases, prints as they come; several threads use it."""

    def __init__(self, directory, verbose):
        self.directory = directory
        self.verbose = verbose
        self.lock = threading.Lock()
        self.counts = {"pass": 0, "fail": 0, "skip": 0}
        self.failures = []
        self.start = time.monotonic()

    def say(self, text):
        with self.lock:
            print(f"{time.monotonic() - self.start:6.1f}s  {text}", flush=True)

    def detail(self, where, line):
        if self.verbose:
            self.say(f"{where:<6} {line}")

    def add(self, where, test, cases, lines, note=""):
        """A test has ended."""
        tally = {"pass": 0, "fail": 0, "skip": 0}
        for case in cases:
            tally[case.status] += 1
        with self.lock:
            for status, number in tally.items():
                self.counts[status] += number
            self.failures += [f"{where} {test}: {case.name} {case.note}".rstrip()
                              for case in cases if case.status == "fail"]
        verdict = "FAIL" if tally["fail"] else "ok" if tally["pass"] else "skip"
        text = f"{tally['pass']} passed"
        text += f", {tally['fail']} FAILED" if tally["fail"] else ""
        text += f", {tally['skip']} skipped" if tally["skip"] else ""
        self.say(f"{where:<6} {verdict:<4}  {test:<24} {text}  {note}".rstrip())
        for case in cases:
            if case.status == "skip":
                self.say(f"{where:<6}       skipped: {case.name}: {case.note}")
        if tally["fail"] and not self.verbose:
            for line in lines[-60:]:
                self.say(f"{where:<6}       {line}")


class Reader:
    """Follows the KTAP that selftests/guest prints, test by test."""

    def __init__(self, results, where):
        self.results, self.where = results, where
        self.name = None                # the test that is running
        self.cases, self.lines, self.plan = [], [], None
        self.done = set()

    def feed(self, line):
        self.results.detail(self.where, line)
        if line.startswith("# Subtest: "):
            self.name, self.cases, self.lines, self.plan = line[11:], [], [], None
        elif line.startswith("    ") and self.name:
            self.lines.append(line[4:])
            plan = PLAN.match(line)
            if plan:
                self.plan = int(plan.group(1))
            elif not line.startswith("    #"):
                case = Case.parse(line[4:])
                if case:
                    self.cases.append(case)
        elif line.startswith(("ok ", "not ok ")) and self.name:
            failed = any(case.status == "fail" for case in self.cases)
            extra = []
            # Lines may be lost on the way from a machine.
            if self.plan != len(self.cases) or failed != line.startswith("not"):
                extra.append(Case("results", "fail", f"{len(self.cases)} came, then: {line}"))
            self.close(extra, line.partition("# time ")[2])

    def close(self, extra=(), note=""):
        self.results.add(self.where, self.name, self.cases + list(extra), self.lines, note)
        self.done.add(self.name)
        self.name = None


processes = set()


def stream(command, feed, log):
    """Runs a command, hands over its lines, keeps them; returns its status."""
    with open(log, "a", encoding="utf-8") as copy:
        process = subprocess.Popen(command, cwd=TREE, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", start_new_session=True)
        processes.add(process)
        for line in process.stdout:
            copy.write(line)
            copy.flush()
            feed(line.rstrip("\n"))
        status = process.wait()
        processes.discard(process)
    return status


# --- what is there to run --------------------------------------------------------

def executables(directory):
    return sorted(p for p in glob.glob(os.path.join(HERE, directory, "*"))
                  if os.path.isfile(p) and os.access(p, os.X_OK))


def find_tests(args):
    """Tests on the host, and tests in kernels with the file of their header."""
    def matches(path, pattern):
        name = os.path.basename(path)
        return (fnmatch.fnmatch(name, pattern) or
                fnmatch.fnmatch(os.path.splitext(name)[0], pattern))

    def wanted(path):
        return not args.test or any(matches(path, g) for g in args.test)

    sources = sorted(glob.glob(os.path.join(HERE, "net/sstp", "*_test.c")))
    there = executables("host") + executables("net/sstp") + sources
    unknown = [g for g in args.test or [] if not any(matches(p, g) for p in there)]
    if unknown:
        sys.exit(f"selftests/run: no test {' '.join(unknown)}")
    host = [Test(p) for p in executables("host") if wanted(p)]
    kernel = [(Test(p), None) for p in executables("net/sstp")
              if wanted(p)]
    for source in sources:
        name = os.path.splitext(os.path.basename(source))[0]
        if wanted(name):
            test = Test(source)
            test.name = name
            kernel.append((test, source))
    for test in host + [t for t, _ in kernel]:
        odd = set(test.kernels or []) - set(KERNELS + MORE_KERNELS)
        if odd:
            sys.exit(f"selftests/run: {test.path}: no kernel {' '.join(sorted(odd))}")
    return host, kernel


def list_tests(host, kernel):
    for test in host:
        print(f"{test.name:<28} host                 {test.timeout:>5} s")
    for test, _ in kernel:
        print(f"{test.name:<28} {' '.join(test.kernels or KERNELS):<20} "
              f"{test.timeout:>5} s {test.mode}")


# --- running ------------------------------------------------------------------------

def fetch(kernel, results):
    """Gets or builds a kernel; False when that fails."""
    log = os.path.join(results.directory, f"fetch-{kernel}.log")
    status = stream(["tools/vm/kernel", "fetch", kernel],
                    lambda line: line.startswith("/") or results.say(line), log)
    if status:
        results.add(kernel, "kernel", [Case("fetch", "fail", f"see {log}")], [])
    return not status


def build_programs(results):
    """What has not changed since the last run of this tree is not built again."""
    key = hashlib.sha256(TREE.encode()).hexdigest()[:8]
    made = os.path.join(CACHE, "programs", key)
    out = os.path.join(results.directory, "bin")
    log = os.path.join(results.directory, "bin.log")
    lines = []
    os.makedirs(made, exist_ok=True)
    with open(made + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status = stream(["make", "-s", f"-j{os.cpu_count()}", "-C",
                         os.path.join(HERE, "net/sstp"), f"OUT={made}"], lines.append, log)
        # A copy, so that another run may build while this one's tests use them.
        shutil.copytree(made, out, symlinks=True, ignore=shutil.ignore_patterns("*.o"))
    if status:
        results.add("host", "programs", [Case("build", "fail", f"see {log}")], lines)
    return out


def run_host(tests, results, kernels):
    reader = Reader(results, "host")
    if tests:
        env = ["env", "SSTP_KERNELS=" + " ".join(k for k in kernels if k != "host")]
        stream(env + [GUEST, "--host"] + [t.path for t in tests], reader.feed,
               os.path.join(results.directory, "host.log"))
        finish(reader, [t.name for t in tests], "the runner ended early")


def finish(reader, names, reason):
    """Closes the test that was running; what never ran has failed too."""
    if reader.name:
        reader.close([Case("finished", "fail", reason)])
    for name in names:
        if name not in reader.done:
            reader.results.add(reader.where, name, [Case("ran", "fail", reason)], [])


def emulator_error(path):
    """Did a machine crash by the breakpoint error, or before it loaded our module?"""
    with open(path, encoding="utf-8", errors="replace") as log:
        text = log.read()
    return ("Oops: int3" in text or "int3: 0000" in text or
            "sstp: loading out-of-tree module" not in text)


def run_kernel(kernel, setup, tests, results, out):
    """One boot for tests that want the same machine; another after a crash."""
    cpus, mem, mode = setup
    label = "-".join([kernel] + ([mode] if mode else []))
    again = EMULATOR_ERRORS
    reader = Reader(results, label)
    base = os.path.join(results.directory, f"{label}-{cpus}-{mem}")
    while tests:
        command = ["tools/vm/run", "--kernel", kernel, "--cpus", str(cpus), "--mem", mem,
                   "--allow-splat", "--log", base + ".kernel.log", "--out", base,
                   "--timeout", str(BOOT_SECONDS + sum(t.timeout + 30 for t, _ in tests))]
        command += [f"--{mode}"] if mode else []
        command += ["--", "env", f"SSTP_BIN={out}", f"SSTP_OUT={base}",
                    f"PATH={out}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                    GUEST]
        command += [f"{out}/{t.name}={source}" if source else t.path
                    for t, source in tests]
        noise = []

        def feed(line, noise=noise):    # pylint: disable=dangerous-default-value
            if not reader.name and not line.startswith(("ok ", "not ok ", "1..", "KTAP", "#")):
                noise.append(line)          # of the build or the boot
            reader.feed(line)

        before = len(reader.done)
        status = stream(command, feed, base + ".log")
        if "teardown" in reader.done:
            finish(reader, [t.name for t, _ in tests], "it was not told of")
            return
        for line in noise[-30:]:
            results.say(f"{label:<6} {line}")
        if mode == "parallel" and again and emulator_error(base + ".kernel.log"):
            # See qemu_command() in tools/vm/run. What was running starts anew.
            results.say(f"{label:<6} an error of the emulator, another machine")
            again -= 1
            reader.name = None
            tests = [(t, s) for t, s in tests if t.name not in reader.done]
            os.unlink(base + ".kernel.log")
            continue
        crashed = f"the machine ended early, status {status}"
        if reader.name:
            reader.close([Case("survives", "fail", crashed)])
        elif len(reader.done) == before:
            break
        tests = [(t, s) for t, s in tests if t.name not in reader.done]
    names = [t.name for t, _ in tests]
    if not names and "teardown" not in reader.done:
        names = ["teardown"]
    finish(reader, names, "no machine to run it in")


def plan(args, kernel_tests, results, out):
    """Jobs for the pool, one for each machine, what takes longest first."""
    jobs = []
    for kernel in reversed(args.kernel):
        groups = {}
        for test, source in kernel_tests:
            debug = kernel in ("debug", "debug-smp")
            uml = debug or kernel in ("uml", "gcov")
            # icount is QEMU's, time travel UML's and pointless on the debug kernel
            possible = {"icount": not uml, "time-travel": uml and not debug}.get(
                test.mode, True)
            if kernel != "host" and test.runs_on(kernel) and possible:
                mode = "" if uml and test.mode == "parallel" else test.mode
                cpus = 1 if uml and kernel != "debug-smp" else test.cpus
                setup = (cpus, test.mem, mode)
                groups.setdefault(setup, []).append((test, source))
        for setup, tests in groups.items():
            jobs.append((run_kernel, kernel, setup, tests, results, out))
    return jobs


def main():
    args = parse_args()
    host, kernel_tests = find_tests(args)
    if args.list:
        list_tests(host, kernel_tests)
        return 0
    directory = tempfile.mkdtemp(prefix="sstp-results-")
    results = Results(directory, args.verbose)
    results.say(f"results: {directory}")

    def stop(number, _frame):
        for process in list(processes):
            os.killpg(process.pid, signal.SIGTERM)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)

    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        kernels = [k for k in args.kernel if k != "host"]
        wanted = list(reversed(kernels))        # what takes longest first
        if "host" in args.kernel and host:
            wanted.append("source")
        there = dict(zip(wanted, pool.map(lambda k: fetch(k, results), wanted)))
        out = build_programs(results)
        args.kernel = [k for k in args.kernel if there.get(k, k == "host")]
        jobs = plan(args, kernel_tests, results, out)
        if "host" in args.kernel:
            jobs.append((run_host, host, results, args.kernel))
        for job in [pool.submit(*job) for job in jobs]:
            job.result()

    for line in results.failures:
        results.say(f"failed: {line}")
    results.say(f"results: {directory}")
    counts = results.counts
    if not counts["pass"] + counts["fail"]:
        results.say("nothing ran")
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped",
          flush=True)
    return 1 if counts["fail"] or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
