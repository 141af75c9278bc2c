# SPDX-License-Identifier: GPL-2.0
"""The report of the runner: a line for each test as it ends, the output of failing cases, and
a table of times."""

import threading
import time

from sstptools.selftest.ktap import PLAN, Case

CASES = 5               # failing cases of a test that are shown; others are counted
LINES = 40              # lines shown before, and after, such a case
KERNEL_LINES = 80       # lines of the kernel log shown, from the first suspicious one
CAUSES = 4              # tests whose causes are shown again in the end,
CAUSE_LINES = 50        # and lines of each
SLOWEST = 12            # tests in the table of times
KERNEL_MARK = "# | "    # selftests/guest puts it before lines of the kernel's log


def bounded(lines, most, tail):
    """Return the first, or last, @most lines, and a note of how many were left out."""
    left = len(lines) - most
    if left <= 0:
        return lines
    note = f"# ({left} more lines)"
    return [note] + lines[left:] if tail else lines[:most] + [note]


class Transcript:
    """The output of a test, split by the cases that it belongs to."""

    def __init__(self):
        self.plan = None
        self.cases, self.results = [], []       # parsed cases, and their lines
        self.between = [[]]     # between[n]: diagnostics between cases n - 1 and n

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
        """Return the failing cases with the diagnostics before and after each, as some tests
        print the cause first, others the result. No line is repeated."""
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
    """Counts cases, and prints tests as they end; several threads use it."""

    def __init__(self, directory, verbose):
        self.directory = directory
        self.verbose = verbose
        self.lock = threading.Lock()
        self.counts = {"pass": 0, "fail": 0, "skip": 0}
        self.failures = []
        self.causes = []                # lines for each test that failed
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
        """Add a test that has ended; print @cause if it failed."""
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
        if tally["fail"]:
            lines = [f"{where:<6}       {line}" for line in cause]
            self.causes.append([f"{where:<6} {test}:", *lines])
            if not self.verbose:
                for line in lines:
                    self.say(line)

    def took(self, where, test, seconds):
        with self.lock:
            self.times.append((seconds, where, test))

    def machine(self, name, begin, tests, cpu):
        """Add a machine that has ended."""
        with self.lock:
            self.machines.append((name, begin, time.monotonic(), tests, cpu))

    def tell_failures(self):
        """Print each failure, and the causes of the first again: of a long log, often only the
        end is kept."""
        for line in self.failures:
            self.say(f"failed: {line}")
        for cause in self.causes[:CAUSES]:
            for line in cause[:CAUSE_LINES]:
                self.say(line)

    def tell_times(self, jobs):
        """Print the slowest tests, the times of machines, and the time without a machine."""
        if not self.times:
            return
        self.say("slowest tests:")
        for seconds, where, test in sorted(self.times, reverse=True)[:SLOWEST]:
            self.say(f"{seconds:8.1f} s  {where:<16} {test}")
        self.say(f"kernels and programs were ready after {self.prepared - self.start:.0f} s")
        self.say("machines:            from       to    tests    other  no CPU used")
        for name, begin, end, tests, cpu in sorted(self.machines, key=lambda m: m[1]):
            self.say(f"{name:<18}{begin - self.start:5.0f} s  {end - self.start:5.0f} s  "
                     f"{tests:5.0f} s  {max(0.0, end - begin - tests):5.0f} s  "
                     f"{max(0.0, end - begin - cpu):9.0f} s")
        every = time.monotonic() - self.start
        running = sum(end - begin for name, begin, end, _, _ in self.machines if name != "host")
        self.say(f"{jobs} slots for machines for {every:.0f} s; machines ran for {running:.0f} s")


class Reader:
    """Reads the KTAP output of selftests/guest."""

    def __init__(self, results, where, log):
        self.results, self.where, self.log = results, where, log
        self.name = None                # of the running test
        self.transcript = Transcript()
        # When the running test began, and the time of all tests before it
        self.begin, self.seconds = time.monotonic(), 0.0
        self.done = set()

    def spent(self):
        """Return the seconds spent in tests, the running one included."""
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
            # A machine may lose lines of its output.
            if (self.transcript.plan != len(cases) or
                    bool(self.transcript.failed()) != line.startswith("not")):
                extra.append(Case("results", "fail", f"{len(cases)} came, then: {line}"))
            self.close(extra, line.partition("# time ")[2])

    def close(self, extra=(), note="", kernel=()):
        """The running test has ended. Add @extra cases that it did not print itself, and lines
        of the @kernel log."""
        for case in extra:
            self.transcript.add(case)
        cause = self.transcript.cause()
        cause += [f"| {line}" for line in bounded(list(kernel), KERNEL_LINES, False)]
        took = time.monotonic() - self.begin
        self.seconds += took
        self.results.took(self.where, self.name, took)
        self.results.add(self.where, self.name, self.transcript.cases,
                         cause + [f"whole log: {self.log}"], note)
        self.done.add(self.name)
        self.name = None
