# SPDX-License-Identifier: GPL-2.0
"""The report of the runner: a line for each as it ends, what the failing cases of a
failed one printed, and where the time of all of it went."""

import threading
import time

from sstptools.selftest.ktap import PLAN, Case

CASES = 5               # of a test that failed: told whole, others are counted
LINES = 40              # before and after such a case, each
KERNEL_LINES = 80       # of the kernel's log, from where it began to be suspicious
SLOWEST = 12            # tests in the table of times
KERNEL_MARK = "# | "    # selftests/guest puts it before lines of the kernel's log


def bounded(lines, most, tail):
    """The first, or last, of them; and how many there are besides."""
    left = len(lines) - most
    if left <= 0:
        return lines
    note = f"# ({left} more lines)"
    return [note] + lines[left:] if tail else lines[:most] + [note]


class Transcript:
    """The lines that a test printed, by the cases that they belong to."""

    def __init__(self):
        self.plan = None
        self.cases, self.results = [], []       # as parsed, and their lines
        self.between = [[]]     # diagnostics: n are before case n and after the one before

    def feed(self, line):
        plan = PLAN.match(line)
        case = None if plan or line.startswith(("#", " ")) else Case.parse(line)
        if plan:
            self.plan = int(plan.group(1))
        elif case:
            self.add(case, line)
        else:
            self.between[-1].append(line)

    def add(self, case, line=None):
        self.cases.append(case)
        self.results.append(line or case.line(len(self.cases)))
        self.between.append([])

    def failed(self):
        return [case for case in self.cases if case.status == "fail"]

    def part(self, n, tail):
        lines = self.between[n]
        log = [line for line in lines if line.startswith(KERNEL_MARK)]
        own = [line for line in lines if not line.startswith(KERNEL_MARK)]
        return bounded(own, LINES, tail) + bounded(log, KERNEL_LINES, False)

    def cause(self):
        """The failing cases, each between the diagnostics before it and those after it: some
        tests print what is wrong first, others the result. None of that comes twice."""
        text, shown = [], -1
        failed = [n for n, case in enumerate(self.cases) if case.status == "fail"]
        for n in failed[:CASES]:
            if n > shown:
                text += self.part(n, True)
            text += [self.results[n]] + self.part(n + 1, False)
            shown = n + 1
        if len(failed) > CASES:
            text.append(f"# {len(failed) - CASES} more cases failed")
        return text


class Results:
    """Counts cases, prints as they come; several threads use it."""

    def __init__(self, directory, verbose):
        self.directory = directory
        self.verbose = verbose
        self.lock = threading.Lock()
        self.counts = {"pass": 0, "fail": 0, "skip": 0}
        self.failures = []
        self.times = []                 # (seconds, where, test)
        self.machines = []              # (name, begin, end, seconds of tests, of CPU)
        self.start = self.prepared = time.monotonic()

    def say(self, text):
        with self.lock:
            print(f"{time.monotonic() - self.start:6.1f}s  {text}", flush=True)

    def detail(self, where, line):
        if self.verbose:
            self.say(f"{where:<6} {line}")

    def add(self, where, test, cases, cause=(), note=""):
        """A test has ended; @cause is told if it failed."""
        tally = {"pass": 0, "fail": 0, "skip": 0}
        for case in cases:
            tally[case.status] += 1
        failures = [f"{where} {test}: {case.name} {case.note}".rstrip()
                    for case in cases if case.status == "fail"]
        more = len(failures) - CASES
        with self.lock:
            for status, number in tally.items():
                self.counts[status] += number
            self.failures += failures[:CASES]
            if more > 0:
                self.failures.append(f"{where} {test}: {more} more cases")
        verdict = "FAIL" if tally["fail"] else "ok" if tally["pass"] else "skip"
        text = f"{tally['pass']} passed"
        text += f", {tally['fail']} FAILED" if tally["fail"] else ""
        text += f", {tally['skip']} skipped" if tally["skip"] else ""
        self.say(f"{where:<6} {verdict:<4}  {test:<24} {text}  {note}".rstrip())
        for case in cases:
            if case.status == "skip":
                self.say(f"{where:<6}       skipped: {case.name}: {case.note}")
        if tally["fail"] and not self.verbose:
            for line in cause:
                self.say(f"{where:<6}       {line}")

    def took(self, where, test, seconds):
        with self.lock:
            self.times.append((seconds, where, test))

    def machine(self, name, begin, tests, cpu):
        """One has ended."""
        with self.lock:
            self.machines.append((name, begin, time.monotonic(), tests, cpu))

    def tell_times(self, jobs):
        """Which tests took longest, what machines did besides, and how long none was there."""
        if not self.times:
            return
        self.say("slowest tests:")
        for seconds, where, test in sorted(self.times, reverse=True)[:SLOWEST]:
            self.say(f"{seconds:8.1f} s  {where:<16} {test}")
        self.say(f"kernels and programs were there after {self.prepared - self.start:.0f} s")
        self.say("machines:            from       to    tests    other  no CPU used")
        for name, begin, end, tests, cpu in sorted(self.machines, key=lambda m: m[1]):
            self.say(f"{name:<18}{begin - self.start:5.0f} s  {end - self.start:5.0f} s  "
                     f"{tests:5.0f} s  {max(0.0, end - begin - tests):5.0f} s  "
                     f"{max(0.0, end - begin - cpu):9.0f} s")
        every = time.monotonic() - self.start
        there = sum(end - begin for _, begin, end, _, _ in self.machines)
        self.say(f"of {jobs} at a time, {max(0.0, jobs * every - there):.0f} s of "
                 f"{jobs * every:.0f} s had none")


class Reader:
    """Follows the KTAP that selftests/guest prints, test by test."""

    def __init__(self, results, where, log):
        self.results, self.where, self.log = results, where, log
        self.name = None                # the test that is running
        self.transcript = Transcript()
        self.begin, self.seconds = time.monotonic(), 0.0        # of that test, of all so far
        self.done = set()

    def spent(self):
        """Seconds of tests, the one that is running included."""
        return self.seconds + (time.monotonic() - self.begin if self.name else 0)

    def feed(self, line):
        self.results.detail(self.where, line)
        if line.startswith("# Subtest: "):
            self.name, self.transcript = line[11:], Transcript()
            self.begin = time.monotonic()
        elif line.startswith("    ") and self.name:
            self.transcript.feed(line[4:])
        elif line.startswith(("ok ", "not ok ")) and self.name:
            cases = self.transcript.cases
            extra = []
            # Lines may be lost on the way from a machine.
            if (self.transcript.plan != len(cases) or
                    bool(self.transcript.failed()) != line.startswith("not")):
                extra.append(Case("results", "fail", f"{len(cases)} came, then: {line}"))
            self.close(extra, line.partition("# time ")[2])

    def close(self, extra=(), note="", kernel=()):
        """The test is over, with cases that it did not print itself, and what the kernel said."""
        for case in extra:
            self.transcript.add(case)
        cause = self.transcript.cause()
        cause += [f"| {line}" for line in bounded(list(kernel), KERNEL_LINES, False)]
        took = time.monotonic() - self.begin
        self.seconds += took
        self.results.took(self.where, self.name, took)
        self.results.add(self.where, self.name, self.transcript.cases,
                         cause + [f"all of it: {self.log}"], note)
        self.done.add(self.name)
        self.name = None
