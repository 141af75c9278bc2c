# SPDX-License-Identifier: GPL-2.0
"""Measures what flows cost on several CPUs, SSTP beside TCP.

Two network namespaces are connected by a veth pair with a queue for each CPU, and RFS on, so that
packets are handled on the CPU of the program that reads them. Connections send at once, each from
a thread to a thread. The emulated CPUs run in parallel, so numbers differ from run to run: the
means of some repetitions are shown, with the largest difference from them.

  instructions  of 1000 bytes, on all CPUs, both ends, kernel and programs: the difference between
                a long run and a short one, as tools/bench/where counts it
  waiting       those of them that were spent in waiting for a lock that another CPU had
  rise          instructions in relation to those with one CPU

With the most CPUs one more run of each counts how often a CPU had to wait for a spin lock, by the
function that takes the lock (a kprobe, and a histogram of the kernel's tracer):

  waits         of all connections together for 1,000,000 bytes
  locks         different ones; a lock that all flows take is a single one with many waits
"""

import re
import statistics
import sys
import tempfile
import textwrap

from sstptools.bench.common import (add_files, digest, drawing, parser_of, read_job, report,
                                    results, run, save, show)
from sstptools.bench.cost import KB
from sstptools.bench.where import Bench, Symbols, kernel_symbols, read_counts, sstp_files
from sstptools.vm import fetch

PROTOCOLS = ["sstp", "tcp"]
CPUS, FLOWS, SIZES, REPEAT = [1, 2, 4], 16, [4, 64], 3
SHORT, LONG = 1 << 20, 5 << 20          # bytes of each connection
WAITING = re.compile(r"lock_slowpath|osq_lock|spin_on_owner")
RISE = 1.0                              # of SSTP's to TCP's that is wanted at most
TRACING = "/sys/kernel/tracing"
EVENT = "events/sstp/wait"
SLOW = "native_queued_spin_lock_slowpath"       # is called to wait for a spin lock, with it
LOCKING = re.compile(r"spin_lock|_raw_(read|write)|lock_slowpath")
MOST = 5                                # functions that are shown


def parse_args():
    parser = parser_of("cpus", __doc__)
    add = parser.add_argument
    add("-C", "--cpus", action="append", type=int, metavar="N",
        help=f"so many CPUs, 8 at most (repeatable, default {', '.join(map(str, CPUS))})")
    add("-F", "--flows", type=int, default=FLOWS, metavar="N", help=f"connections ({FLOWS})")
    add("-w", "--write", action="append", type=int, metavar="KB",
        help=f"in writes of so many KB (repeatable, default {', '.join(map(str, SIZES))})")
    add("-n", "--repeat", type=int, default=REPEAT, metavar="N", help=f"repetitions ({REPEAT})")
    add_files(add)
    add("-c", "--check", action="store_true",
        help="fail if the instructions rise by more than TCP's")
    args = parser.parse_args()
    args.cpus = sorted({1, *(args.cpus or CPUS)})
    if not 1 <= args.cpus[0] <= args.cpus[-1] <= 8:
        parser.error("-C is 1 to 8")
    if not 1 <= args.flows <= 256 or args.repeat < 1 or min(args.write or SIZES) < 1:
        parser.error("there are 1 to 256 flows, and 1 repetition or more of 1 KB or more")
    return args


# --- in the guest ----------------------------------------------------------------

def steer(lab, cpus):
    """Turn RFS on."""
    lab.command("sysctl", "-qw", "net.core.rps_sock_flow_entries=4096")
    for ns, dev in (("a", "ab"), ("b", "ba")):
        lab.command("ip", "netns", "exec", ns, "sh", "-c",
                    f"for q in /sys/class/net/{dev}/queues/rx-*; do"
                    f" echo {(1 << cpus) - 1:x} > $q/rps_cpus; echo 4096 > $q/rps_flow_cnt; done")


def trace(name, text):
    with open(f"{TRACING}/{name}", "w", encoding="ascii") as f:
        f.write(text)


def taker(stack):
    """Return the function that takes the lock: that which calls the functions of locks."""
    at = max((n + 1 for n, name in enumerate(stack) if LOCKING.search(name)), default=0)
    return stack[at] if at < len(stack) else "(unknown)"


def read_waits(text):
    """Return [function, waits, number of locks] from a histogram by lock and call stack."""
    found = {}
    for entry in re.findall(r"^\{(.*?)\} hitcount: +(\d+)", text, re.MULTILINE | re.DOTALL):
        lock = re.search(r"lock: +(\w+)", entry[0])[1]
        name = taker(re.findall(r"^\s+([\w.]+)\+0x", entry[0], re.MULTILINE))
        locks = found.setdefault(name, {})
        locks[lock] = locks.get(lock, 0) + int(entry[1])
    return sorted(([name, sum(locks.values()), len(locks)] for name, locks in found.items()),
                  key=lambda row: -row[1])


def waits(lab, cell):
    """Run a transfer. Return the waits for locks in it."""
    trace(f"{EVENT}/trigger", "hist:keys=lock,stacktrace:size=16384")
    lab.cell(cell, LONG)
    with open(f"{TRACING}/{EVENT}/hist", encoding="ascii") as f:
        found = read_waits(f.read())
    trace(f"{EVENT}/trigger", "!hist:keys=lock,stacktrace:size=16384")
    return found


def guest(job_file):
    job = read_job(job_file)
    lab = Bench(job["cpus"])
    steer(lab, job["cpus"])
    for cell in job["cells"]:
        for amount in SHORT, SHORT, LONG:
            lab.cell(cell, amount)
        report(cell)
    if job["waits"]:
        trace("kprobe_events", f"p:sstp/wait {SLOW} lock=%di")
        for cell in job["waits"]:
            report({**cell, "locks": waits(lab, cell)})
    report(kernel_symbols())


# --- on the host -----------------------------------------------------------------

def measure(args):
    measured = {"kernel": args.kernel, "flows": args.flows, "cells": [], "waits": [],
                "source": digest("selftests/net/sstp/xfer*", "tools/vm/count.c",
                                 "tools/python/sstptools/bench/where.py",
                                 "tools/python/sstptools/bench/cpus.py")}
    for cpus in args.cpus:
        cells = [{"kind": "write", "cpus": cpus, "size": size * KB, "flows": args.flows,
                  "protocol": protocol, "repetition": n}
                 for size in args.write or SIZES for n in range(args.repeat)
                 for protocol in PROTOCOLS]
        measured["cells"] += measure_cells(args, cpus, cells, measured["waits"])
    return measured


def measure_cells(args, cpus, cells, waited):
    """Measure cells with so many CPUs in one boot, and with the most also what CPUs wait for, which
    is added to @waited."""
    done, symbols = [], None
    job = {"cells": cells, "cpus": cpus, "waits": [cell for cell in cells if not cell["repetition"]
                                                   and cpus == args.cpus[-1] > 1]}
    with tempfile.TemporaryDirectory(prefix="sstp-cpus-") as work:
        path = f"{work}/counts"
        for one in run("cpus", job, args.kernel, 3600, "--count", path, "--cpus", str(cpus),
                       how="--parallel"):
            if "symbols" in one:
                symbols = Symbols(one["symbols"], sstp_files(fetch(args.kernel)))
            elif "locks" in one:
                waited.append(one)
            else:
                done.append(one)
                print(f"cpus: {cpus} CPUs: {len(done)} of {len(cells)}", file=sys.stderr,
                      flush=True)
        marks = read_counts(path)
    for n, cell in enumerate(done):
        # Two marks for each run, of which the second has what the run took
        few, many = (symbols.sums(marks[6 * n + i]) for i in (3, 5))
        units = (LONG - SHORT) * cell["flows"] / 1000
        total = {key: (many.get(key, 0) - few.get(key, 0)) / units
                 for key in many.keys() | few.keys()}
        cell["instructions"] = sum(total.values())
        cell["waiting"] = sum(n for (_, name, _), n in total.items() if WAITING.search(name))
        cell["functions"] = sorted(([*key, n] for key, n in total.items() if n >= 1),
                                   key=lambda f: -f[3])
    return done


def averages(cells):
    """Return (mean, largest difference, mean of waiting) by size, number of CPUs and protocol."""
    found = {}
    for cell in cells:
        found.setdefault((cell["size"], cell["cpus"], cell["protocol"]), []).append(cell)
    for key, runs in found.items():
        all_of = [r["instructions"] for r in runs]
        mean = statistics.mean(all_of)
        found[key] = mean, max(abs(n - mean) for n in all_of), \
            statistics.mean(r["waiting"] for r in runs)
    return found


def rises(found):
    """Return [size, CPUs, SSTP's rise, TCP's]."""
    return [[size, cpus, *(found[size, cpus, p][0] / found[size, 1, p][0] for p in PROTOCOLS)]
            for size, cpus in sorted({key[:2] for key in found}) if cpus > 1]


def table(cells):
    found = averages(cells)
    lines = ["| writes of | CPUs | protocol | instructions | waiting | rise |",
             "|-----------|------|----------|--------------|---------|------|"]
    for (size, cpus, protocol), (mean, off, waiting) in sorted(found.items()):
        rise = mean / found[size, 1, protocol][0]
        lines.append(f"| {f'{size // KB} KB':<9} | {cpus:<4} | {protocol:<8} | "
                     f"{f'{mean:.0f} ± {off:.0f}':<12} | {waiting:<7.1f} | {rise:<4.2f} |")
    return lines


def waits_table(waited):
    lines = ["| writes of | CPUs | protocol | lock taken by                     | waits  | locks |",
             "|-----------|------|----------|-----------------------------------|--------|-------|"]
    for cell in sorted(waited, key=lambda c: (c["size"], c["protocol"])):
        units = LONG * cell["flows"] / 1e6
        size = f"{cell['size'] // KB} KB"
        for name, number, locks in cell["locks"][:MOST] or [("(no waits)", 0, 0)]:
            lines.append(f"| {size:<9} | {cell['cpus']:<4} | {cell['protocol']:<8} | "
                         f"{name:<33} | {number / units:<6.2f} | {locks:<5} |")
    return lines


def plot(cells, name):
    pyplot = drawing()
    found = averages(cells)
    sizes = sorted({key[0] for key in found})
    figure, axes = pyplot.subplots(1, len(sizes), figsize=(4.5 * len(sizes), 3.5), squeeze=False)
    for axis, size in zip(axes[0], sizes):
        for protocol in PROTOCOLS:
            points = sorted((key[1], *found[key][:2]) for key in found
                            if key[0] == size and key[2] == protocol)
            cpus, means, off = zip(*points)
            axis.errorbar(cpus, means, off, fmt="o-", capsize=3, label=protocol.upper())
        axis.set(title=f"writes of {size // KB} KB", xlabel="CPUs", xticks=cpus, ylim=0,
                 ylabel="instructions of 1000 bytes")
        axis.legend()
    save(figure, name)


def chapter(measured, picture):
    text = ("Written by `tools/bench/cpus`, whose `-h` says how it is measured, on Linux "
            f"{measured['kernel']}, sources {measured['source']}, with {measured['flows']} "
            "connections at once. Instructions are of 1000 bytes, both ends.")
    return ("# Flows on several CPUs\n\n" + textwrap.fill(text, 80) +
            f"\n\n![Instructions of 1000 bytes by number of CPUs]({picture})\n\n" +
            "\n".join(table(measured["cells"])) +
            "\n\n## Waits for locks\n\n" + "\n".join(waits_table(measured["waits"])) + "\n")


def main():
    args = parse_args()
    if args.guest:
        guest(args.guest)
        return 0
    measured = results(args, measure)
    cells = measured["cells"]
    print("\n".join(table(cells) + [""] + waits_table(measured["waits"])))
    show(args, lambda name: plot(cells, name), lambda picture: chapter(measured, picture))
    return 1 if args.check and any(sstp > tcp * RISE for _, _, sstp, tcp in
                                   rises(averages(cells))) else 0


if __name__ == "__main__":
    sys.exit(main())
