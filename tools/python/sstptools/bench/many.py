# SPDX-License-Identifier: GPL-2.0
"""Measures what each of many connections costs, SSTP beside TCP.

A program connects to itself over loopback until it has so many connections. The machine has one
emulated CPU that runs one instruction a nanosecond, so its busy time in nanoseconds is the number
of instructions: of both ends, kernel and program.

  set-up      instructions of a connection: socket(), connect(), accept(), close() of both ends,
              beside so many that stay open
  idle        memory of a connection, both ends, that nothing was sent over
  used        the same after a byte went in each direction, 70 s later

Memory is all of the machine's that is not free, without the page cache, compared with that beside
10 connections: what files and descriptors take is in it, and so are SSTP's hash tables, which
grow, but not those of TCP, which do not.
"""

import json
import subprocess
import sys
import textwrap
import time

from sstptools.bench.common import (SHM, add_files, digest, drawing, idle_ns, parser_of, read_job,
                                    report, results, run, save, show, write)

PROTOCOLS = ["sstp", "tcp"]
FEW = 10                # connections of the first set-ups
CHURN = 500             # set-ups that are measured
SETTLE = 70             # s until what is not needed has been freed: TCP's TIME_WAIT takes 60
COUNTS = [10_000]       # with fewer, other memory counts
LEAST = 1.0             # TCP's to SSTP's that is wanted


def parse_args():
    parser = parser_of("many", __doc__)
    add = parser.add_argument
    add("-n", "--connections", action="append", type=int, metavar="N",
        help="so many connections, 200000 at most (repeatable, default "
             f"{' and '.join(map(str, COUNTS))})")
    add_files(add)
    add("-c", "--check", action="store_true",
        help="fail if a connection takes more memory or instructions than TCP's")
    args = parser.parse_args()
    args.connections = sorted(args.connections or COUNTS)
    if not FEW < args.connections[0] <= args.connections[-1] <= 200_000:
        parser.error(f"-n is more than {FEW}, and 200000 at most")
    return args


# --- in the guest ----------------------------------------------------------------

def used():
    """Return the bytes that are in use some time later, but for what the page cache has."""
    time.sleep(SETTLE)
    write("/proc/sys/vm/drop_caches", "3")
    with open("/proc/meminfo", encoding="ascii") as f:
        kb = {line.split(":")[0]: int(line.split()[1]) for line in f}
    return 1024 * (kb["MemTotal"] - kb["MemFree"] - kb["Cached"] - kb["Buffers"])


class Many:
    """A process of selftests/net/sstp/many.c"""

    def __init__(self, protocol):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([f"{SHM}/many", protocol], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, word, number):
        """Let it do something; return the instructions that this took."""
        idle = idle_ns()
        self.process.stdin.write(f"{word} {number}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"many ended with status {self.process.wait()} at {word}")
        return json.loads(line)["ns"] - (idle_ns() - idle)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def cell(protocol, n):
    """Measure @n connections."""
    many = Many(protocol)
    many.ask("connect", FEW)
    many.ask("exchange", FEW)
    many.ask("churn", FEW)
    before = used()
    many.ask("connect", n)
    idle = used() - before
    many.ask("exchange", n)
    after = used() - before
    measured = {"protocol": protocol, "connections": n, "setup": many.ask("churn", CHURN) / CHURN}
    many.end()
    if n == FEW:
        return measured
    return {**measured, "idle": idle / (n - FEW), "used": after / (n - FEW)}


def guest(job_file):
    job = read_job(job_file)
    for n in job["connections"]:
        for protocol in PROTOCOLS:
            report(cell(protocol, n))


# --- on the host -----------------------------------------------------------------

def measure(args):
    cells = []
    counts = [FEW, *args.connections]
    # 20 KB each, and what others need
    mem = f"{2 + args.connections[-1] * 20 // 1_000_000}G"
    for one in run("many", {"connections": counts}, args.kernel, 7200, "--mem", mem,
                   programs=("many",)):
        print(f"many: {one}", file=sys.stderr, flush=True)
        cells.append(one)
    return {"kernel": args.kernel, "cells": cells,
            "source": digest("selftests/net/sstp/many.c", "tools/python/sstptools/bench/many.py")}


def pairs(measured):
    """Return [number of connections, SSTP's results, TCP's]."""
    cells = {(one["connections"], one["protocol"]): one for one in measured["cells"]}
    return [(n, *(cells[n, protocol] for protocol in PROTOCOLS))
            for n in sorted({n for n, _ in cells})]


def rows(measured):
    """Return [number of connections, measure, SSTP's, TCP's, TCP's to SSTP's]."""
    return [[n, name, sstp[name], tcp[name], tcp[name] / sstp[name]]
            for n, sstp, tcp in pairs(measured) for name in ("idle", "used", "setup")
            if name in sstp]


TITLES = {"idle": "memory, idle, bytes", "used": "memory, used, bytes",
          "setup": "set-up, instructions"}


def table(measured):
    lines = ["| connections | of each              | SSTP   | TCP    | TCP / SSTP |",
             "|-------------|----------------------|--------|--------|------------|"]
    return lines + [f"| {n:<11} | {TITLES[name]:<20} | {sstp:<6.0f} | {tcp:<6.0f} | {ratio:<10.2f} |"
                    for n, name, sstp, tcp, ratio in rows(measured)]


def plot(measured, name):
    pyplot = drawing()
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 3.5))
    found = pairs(measured)
    for axis, what in zip(axes, TITLES):
        for i, protocol in enumerate(PROTOCOLS):
            points = [(pair[0], pair[1 + i][what]) for pair in found if what in pair[1]]
            axis.plot(*zip(*points), "o-", label=protocol.upper())
        axis.set(title=TITLES[what], xlabel="connections", xscale="log", ylim=0)
        axis.legend()
    save(figure, name)


def chapter(measured, picture):
    text = ("Written by `tools/bench/many`, whose `-h` says how it is measured, on Linux "
            f"{measured['kernel']}, sources {measured['source']}. A connection is both of its "
            "ends, with their descriptors.")
    return ("# Many connections: memory and set-up of each\n\n" + textwrap.fill(text, 80) +
            f"\n\n![Memory and instructions of each connection]({picture})\n\n" +
            "\n".join(table(measured)) + "\n")


def main():
    args = parse_args()
    if args.guest:
        guest(args.guest)
        return 0
    measured = results(args, measure)
    print("\n".join(table(measured)))
    show(args, lambda name: plot(measured, name), lambda picture: chapter(measured, picture))
    return 1 if args.check and any(row[-1] < LEAST for row in rows(measured)) else 0


if __name__ == "__main__":
    sys.exit(main())
