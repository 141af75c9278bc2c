# SPDX-License-Identifier: GPL-2.0
"""Tests and KTAP, for the runner on the host and the one in the guest."""

import os
import re

HEADER = re.compile(r"^\W*(timeout|kernels|cpus|mem|mode|append|quick):\s*(.+?)\s*(\*/)?$")
RESULT = re.compile(r"^(\s*)(ok|not ok)\b\s*(\d+)?\s*-?\s*([^#]*?)\s*(?:#\s*(.*))?$")
PLAN = re.compile(r"^\s*1\.\.(\d+)\s*(#\s*SKIP\s*(.*))?$", re.I)
SPARE = ("stock",)      # kernels for tests that name them
SKIP_STATUS = 4         # of a test that says nothing else


class Test:
    """A test file and what its first lines say about it."""

    def __init__(self, path, source=None):
        self.path = path
        self.name = os.path.basename(path)
        self.timeout = 60
        self.kernels = None             # all but SPARE
        self.cpus = 2
        self.mem = "2G"
        self.quick = False
        self.mode = ""                  # "icount", "time-travel" or "parallel"
        self.append = ""                # kernel arguments
        with open(source or path, encoding="utf-8", errors="replace") as lines:
            for _, line in zip(range(30), lines):
                match = HEADER.match(line)
                if match:
                    key, value = match.group(1, 2)
                    kind = {"timeout": int, "cpus": int, "kernels": str.split,
                            "quick": lambda word: word == "yes"}.get(key, str)
                    setattr(self, key, kind(value))

    def runs_on(self, kernel):
        # "gcov" is "uml" with counters, "debug-smp" is "debug" with CPUs.
        like = {"gcov": "uml", "debug-smp": "debug", "6.12-rt": "6.12"}.get(kernel)
        if self.kernels is None:
            return kernel not in SPARE
        return kernel in self.kernels or like in self.kernels


class Case:
    """One result line: status is "pass", "fail" or "skip"."""

    def __init__(self, name, status, note=""):
        self.name, self.status, self.note = name, status, note

    @classmethod
    def parse(cls, line):
        match = RESULT.match(line)
        if not match:
            return None
        _, verdict, number, name, directive = match.groups()
        note = directive or ""
        status = "pass" if verdict == "ok" else "fail"
        if note.upper().startswith("SKIP"):
            status, note = "skip", note[4:].strip(" :-")
        return cls(name or f"case {number}", status, note)

    def line(self, number):
        text = f"{'not ok' if self.status == 'fail' else 'ok'} {number} {self.name}"
        if self.status == "skip":
            return f"{text} # SKIP {self.note}".rstrip()
        return f"{text} # {self.note}" if self.note else text


class Stream:
    """Reads one test's output line by line, and closes the books at its end."""

    def __init__(self):
        self.cases = []
        self.plan = None
        self.skip_all = None

    def feed(self, line):
        """Returns the case that the line reports, if it does."""
        plan = PLAN.match(line)
        if plan and not line.startswith(" "):
            self.plan = int(plan.group(1))
            if plan.group(2):
                self.skip_all = plan.group(3) or "no reason given"
            return None
        case = None if line.startswith((" ", "#")) else Case.parse(line)
        if case:
            self.cases.append(case)
        return case

    def finish(self, status, timed_out, timeout):
        """Cases to add for what the lines alone do not show."""
        extra = []
        failed = any(case.status == "fail" for case in self.cases)
        if timed_out:
            extra.append(Case("timeout", "fail", f"no end after {timeout} s"))
        elif not self.cases and (status == SKIP_STATUS or (self.skip_all and not status)):
            extra.append(Case("all", "skip", self.skip_all or "see its output"))
        elif self.plan is not None and len(self.cases) != self.plan:
            extra.append(Case("plan", "fail",
                              f"{self.plan} results planned, {len(self.cases)} came"))
        elif status not in (0, SKIP_STATUS) and not failed:
            extra.append(Case("exit", "fail", f"exit status {status}"))
        elif not self.cases or self.plan is None:
            extra.append(Case("plan", "fail", "no result came" if not self.cases else
                              "no plan came"))
        self.cases += extra
        return extra
