# SPDX-License-Identifier: GPL-2.0
"""Run the tests of selftests/host on this machine, and those of
selftests/net/sstp in one boot of each kernel (tests that ask for other CPUs,
memory, a mode or kernel arguments get boots of their own), two machines at a time.

The first lines of a test may have:
  timeout: SECONDS      (60)
  kernels: NAME...      kernels to run the test on (all but stock)
  cpus: N               (2; uml, debug and gcov have one)
  mem: SIZE             (2G)
  mode: icount          one instruction per nanosecond (QEMU), or
  mode: time-travel     simulated time (UML), or
  mode: parallel        emulated CPUs run in parallel (QEMU; no effect elsewhere)
  append: ARGUMENTS     kernel arguments
  quick: yes            the test is one of --quick

The last line of the output is "N passed, N failed, N skipped" and counts cases.
"""

import argparse
import concurrent.futures
import fcntl
import fnmatch
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from sstptools import vm
from sstptools.selftest.ktap import SPARE, Case, Test
from sstptools.selftest.report import Reader, Results
from sstptools.tree import CACHE, TREE, TREE_KEY
from sstptools.vm import kernlog

SELFTESTS = os.path.join(TREE, "selftests")

KERNELS = ["6.1", "6.12", "stock", "uml", "debug"]
MORE_KERNELS = ["gcov", "kcsan", "debug-smp", "6.12-rt"]   # only run on request
LAST_LINES = 25                 # lines shown of the log of a kernel that died silently
EMULATOR_ERRORS = 3             # machines of a kernel that may die of emulator errors
HOST_NICE = 5                   # of the tests on this machine, which compile most of the time
BOOT_SECONDS = 180              # timeout of a boot on a busy host
GUEST = os.path.join(SELFTESTS, "guest")
KTAP_STARTS = ("ok ", "not ok ", "1..", "KTAP", "#")    # of lines of selftests/guest


def parse_args():
    parser = argparse.ArgumentParser(
        prog="selftests/run", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-l", "--list", action="store_true", help="list the tests")
    add("-k", "--kernel", action="append", metavar="KERNEL",
        choices=KERNELS + MORE_KERNELS + ["host"],
        help="6.1, 6.12, stock, uml, debug, or host for tests without a kernel "
             "(repeatable; default: all of these); gcov: see tools/coverage; kcsan: data "
             "races; debug-smp: debug with several CPUs; 6.12-rt: 6.12 with PREEMPT_RT")
    add("-q", "--quick", action="store_true",
        help='run only tests with "quick: yes", which cover all areas in five minutes, on the '
             "host and on uml (or on the kernels that -k names)")
    add("-t", "--test", action="append", metavar="GLOB",
        help="run only matching tests (repeatable)")
    add("-v", "--verbose", action="store_true", help="show all output of tests")
    add("-j", "--jobs", type=int, default=2, help="number of concurrent machines (default 2)")
    args = parser.parse_args()
    args.kernel = args.kernel or ["host"] + (["uml"] if args.quick else KERNELS)
    return args


processes = set()


def yield_cpu(process):
    """Let others go before @process, also where the kernel shares the CPU among sessions."""
    os.setpriority(os.PRIO_PGRP, process.pid, HOST_NICE)
    try:
        with open(f"/proc/{process.pid}/autogroup", "w", encoding="ascii") as f:
            f.write(str(HOST_NICE))
    except OSError:
        pass                    # a kernel without it


def stream(command, feed, log, nice=False):
    """Run a command, pass each line of its output to @feed and write it to @log; return the
    exit status and the CPU seconds of the command."""
    with open(log, "a", encoding="utf-8") as copy:
        process = subprocess.Popen(command, cwd=TREE, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace", start_new_session=True)
        processes.add(process)
        if nice:
            yield_cpu(process)
        for line in process.stdout:
            copy.write(line)
            copy.flush()
            feed(line.rstrip("\n"))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        processes.discard(process)
    return process.returncode, usage.ru_utime + usage.ru_stime


def objects(_, names):
    """Object files, but not those of BPF, which are programs"""
    return [name for name in names if name.endswith(".o") and not name.endswith(".bpf.o")]


# --- what is there to run --------------------------------------------------------

def executables(directory):
    return sorted(p for p in glob.glob(os.path.join(SELFTESTS, directory, "*"))
                  if os.path.isfile(p) and os.access(p, os.X_OK))


def find_tests(args):
    """Return the tests for the host, and (test, C source or None) of those for kernels."""
    def matches(path, pattern):
        name = os.path.basename(path)
        return (fnmatch.fnmatch(name, pattern) or
                fnmatch.fnmatch(os.path.splitext(name)[0], pattern))

    def wanted(path):
        return not args.test or any(matches(path, g) for g in args.test)

    sources = sorted(glob.glob(os.path.join(SELFTESTS, "net/sstp", "*_test.c")))
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
    if args.quick:
        host = [test for test in host if test.quick]
        kernel = [(test, source) for test, source in kernel if test.quick]
    for test in host + [t for t, _ in kernel]:
        odd = set(test.kernels or []) - set(KERNELS + MORE_KERNELS)
        if odd:
            sys.exit(f"selftests/run: {test.path}: no kernel {' '.join(sorted(odd))}")
    return host, kernel


def list_tests(host, kernel):
    for test in host:
        print(f"{test.name:<28} host                 {test.timeout:>5} s "
              f"{' ' * 12}{'quick' * test.quick}".rstrip())
    for test, _ in kernel:
        print(f"{test.name:<28} {' '.join(filter(test.runs_on, KERNELS)):<20} "
              f"{test.timeout:>5} s {test.mode:<12}{'quick' * test.quick:<6}"
              f"{test.append}".rstrip())


# --- running ------------------------------------------------------------------------

def fetch(kernel, results):
    """Download or build a kernel; return False if that fails."""
    log = os.path.join(results.directory, f"fetch-{kernel}.log")
    status, _ = stream([vm.KERNEL, "fetch", kernel],
                    lambda line: line.startswith("/") or results.say(line), log)
    if status:
        results.add(kernel, "kernel", [Case("fetch", "fail", f"see {log}")])
    return not status


def build_programs(results):
    """Build the programs of tests whose sources changed since the last run of this tree."""
    made = os.path.join(CACHE, "programs", TREE_KEY)
    out = os.path.join(results.directory, "bin")
    log = os.path.join(results.directory, "bin.log")
    lines = []
    os.makedirs(made, exist_ok=True)
    with open(made + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        status, _ = stream(["make", "-s", f"-j{os.cpu_count()}", "-C",
                         os.path.join(SELFTESTS, "net/sstp"), f"OUT={made}",
                         "CFLAGS=-O2 -g -Werror"], lines.append, log)
        # A copy, so that another run may build while this one's tests use them.
        shutil.copytree(made, out, symlinks=True, ignore=objects)
    if status:
        results.add("host", "programs", [Case("build", "fail", f"see {log}")], lines[-60:])
    return out


def run_host(tests, results, kernels):
    log = os.path.join(results.directory, "host.log")
    reader = Reader(results, "host", log)
    if tests:
        # Not those whose modules the machine's own compiler may not build
        kernels = [k for k in kernels if k != "host" and k not in SPARE]
        env = ["env", "SSTP_KERNELS=" + " ".join(kernels)]
        begin = time.monotonic()
        _, cpu = stream(env + [GUEST, "--host"] + [t.path for t in tests], reader.feed, log,
                        nice=True)
        results.machine("host", begin, reader.spent(), cpu)
        finish(reader, [t.name for t in tests], "the runner ended early")


def finish(reader, names, reason):
    """Closes the test that was running; what never ran has failed too."""
    if reader.name:
        reader.close([Case("finished", "fail", reason)])
    for name in names:
        if name not in reader.done:
            reader.results.add(reader.where, name, [Case("ran", "fail", reason)])


def kernel_said(path, offset):
    """Of its log from there on: what is suspicious, else the end."""
    try:
        with open(path, "rb") as log:
            log.seek(offset)
            lines = log.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return kernlog.excerpt(lines) or lines[-LAST_LINES:]


def emulator_error(path):
    """Did a machine crash by the breakpoint error, or before it loaded our module?"""
    with open(path, encoding="utf-8", errors="replace") as log:
        text = log.read()
    return ("Oops: int3" in text or "int3: 0000" in text or
            "sstp: loading out-of-tree module" not in text)


def run_kernel(kernel, setup, tests, results, out):
    """One boot for tests that want the same machine; another after a crash."""
    cpus, mem, mode, append = setup
    label = "-".join(filter(None, [kernel, mode, re.sub(r"[^\w.=]+", "-", append)]))
    again = EMULATOR_ERRORS
    base = os.path.join(results.directory, f"{label}-{cpus}-{mem}")
    kernel_log = base + ".kernel.log"
    reader = Reader(results, label, base + ".log")
    while tests:
        words = ["env", f"SSTP_BIN={out}", f"SSTP_OUT={base}",
                 f"PATH={out}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 GUEST, *(f"{out}/{t.name}={source}" if source else t.path for t, source in tests)]
        command = vm.command(
            kernel, words, "--cpus", str(cpus), "--mem", mem, "--allow-splat",
            "--log", kernel_log, "--out", base, *([f"--{mode}"] if mode else []),
            "--timeout", str(BOOT_SECONDS + sum(t.timeout + 30 for t, _ in tests)),
            f"--append={append}")
        noise = []

        def feed(line, noise=noise):    # pylint: disable=dangerous-default-value
            # Lines of the build, the boot, QEMU and, outside of KTAP, the guest
            if not line.startswith(KTAP_STARTS + ("    ",) * bool(reader.name)):
                noise.append(line)
            reader.feed(line)

        before = len(reader.done)
        said = os.path.getsize(kernel_log) if os.path.exists(kernel_log) else 0
        begin, earlier = time.monotonic(), reader.spent()
        status, cpu = stream(command, feed, base + ".log")
        results.machine(os.path.basename(base), begin, reader.spent() - earlier, cpu)
        if "teardown" in reader.done:
            finish(reader, [t.name for t, _ in tests], "it was not told of")
            return
        retry = mode == "parallel" and again and emulator_error(kernel_log)
        if retry or not reader.name:
            for line in noise[-30:]:
                results.say(f"{label:<6} {line}")
        if retry:
            # See qemu_command() in vm/machine.py. What was running starts anew.
            results.say(f"{label:<6} an error of the emulator, another machine")
            again -= 1
            reader.name = None
            tests = [(t, s) for t, s in tests if t.name not in reader.done]
            os.unlink(kernel_log)
            continue
        crashed = f"the machine ended early, status {status}"
        if reader.name:
            # tools/vm/run quotes the end of the kernel's log in lines that begin with "|".
            ending = [line for line in noise[-60:] if not line.startswith("|")]
            reader.close([Case("survives", "fail", crashed)],
                         kernel=ending + kernel_said(kernel_log, said))
        elif len(reader.done) == before:
            break
        tests = [(t, s) for t, s in tests if t.name not in reader.done]
    names = [t.name for t, _ in tests]
    if not names and "teardown" not in reader.done:
        names = ["teardown"]
    finish(reader, names, "no machine to run it in")


def plan(args, kernel_tests, results, out):
    """Jobs for the pool, one for each machine. The first boot of each kernel has most of its
    tests; emulated ones take longest. Small jobs come last, so that both places are in use
    to the end."""
    first, last = [], []
    for kernel in args.kernel:
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
                setup = (cpus, test.mem, mode, test.append)
                groups.setdefault(setup, []).append((test, source))
        boots = [(run_kernel, kernel, setup, tests, results, out)
                 for setup, tests in sorted(groups.items(), key=lambda g: -len(g[1]))]
        first += boots[:1]
        last += boots[1:]
    return first + sorted(last, key=lambda job: -len(job[3]))


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
        wanted = list(reversed(kernels))        # those that take longest to build first
        if "host" in args.kernel and host:
            wanted.append("source")
        there = dict(zip(wanted, pool.map(lambda k: fetch(k, results), wanted)))
        out = build_programs(results)
        results.prepared = time.monotonic()
        args.kernel = [k for k in args.kernel if there.get(k, k == "host")]
        machines = plan(args, kernel_tests, results, out)
        jobs = [pool.submit(*machine) for machine in machines]
        # Beside the machines, which leave the CPU idle for a third of their time
        if "host" in args.kernel:
            run_host(host, results, args.kernel)
            # Then, machines that no thread has begun
            for job, (run, *words) in zip(jobs, machines):
                if job.cancel():
                    run(*words)
        for job in jobs:
            if not job.cancelled():
                job.result()

    results.tell_times(args.jobs)
    results.tell_failures()
    results.say(f"results: {directory}")
    counts = results.counts
    if not counts["pass"] + counts["fail"]:
        results.say("nothing ran")
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped",
          flush=True)
    return 1 if counts["fail"] or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
