# SPDX-License-Identifier: GPL-2.0
"""Compares controllers in BPF (tools/bpf) with those of the same algorithms in C.

The machine is that of tools/bench/cost, whose busy time in nanoseconds is the number of
instructions: of sender and receiver, kernel and program. First each controller moves data over
a link that nothing limits, with few reports (PACKs), for the instructions per byte. Then each
moves data over a line of 100 Mbit/s and 20 ms, whose queue overflows, with many: for the
instructions per report, and for the time, which has to be the same. What BPF adds to a report is
the difference, where both forms sent as many reports and retransmissions: otherwise the two did
different work, and there is no number.
"""

import os
import subprocess
import sys

from sstptools.bench.common import (SHM, add_results, digest, parser_of, read_job, report, results,
                                    run)
from sstptools.bench.cost import CTRL, KB, MORE, SHORT, Bench
from sstptools.markdown import markdown_table

# Not udt: that in BPF has no receiving half, and so measures otherwise.
NAMES = ["newreno", "scalable", "cubic", "vegas"]
LINE = ("100mbit", "20ms", "50kb")      # a fifth of what is in flight may queue
LINE_SIZE = 40 << 20    # bytes, more than three seconds of the line
SAME = 0.02             # the most that the times of the two may differ


def parse_args():
    parser = parser_of("bpf", __doc__, "6.12 (default) or stock")
    add = parser.add_argument
    add("-n", "--name", action="append", choices=NAMES,
        help="only this algorithm (repeatable)")
    add_results(add)
    add("-m", "--markdown", metavar="FILE",
        help="write a chapter of Documentation/evaluation to FILE")
    add("-c", "--check", action="store_true",
        help=f"fail if the times of C and BPF on the line differ by more than {SAME:.0%}%")
    return parser.parse_args()


# --- in the guest ----------------------------------------------------------------

def load(name, programs):
    """Load both forms of an algorithm; newreno in C is always there."""
    module = os.path.join(os.environ["SSTP_MODULE_DIR"], f"sstp-ctrl-{name}.ko")
    if os.path.exists(module):
        subprocess.run(["insmod", module], check=True)
    subprocess.run([f"{SHM}/sstp", "ctrl", "load", f"{programs}/{name}.bpf.o"], check=True,
                   stdout=subprocess.DEVNULL)


def cell(controller):
    return {"protocol": CTRL + controller, "flows": 1, "write": 64 * KB}


def guest(job_file):
    job = read_job(job_file)
    programs = os.path.join(os.path.dirname(job_file), "bin", "bpf")
    controllers = []
    for name in job["names"]:
        load(name, programs)
        controllers += [name, "bpf-" + name]
    lab = Bench()
    lab.set_mtu(1500)
    costs = {}
    for controller in controllers:
        lab.transfer(cell(controller), 1 << 20)
        short = lab.transfer(cell(controller), SHORT)
        more = job["more"] * SHORT // short[0]
        long = lab.transfer(cell(controller), SHORT + more)
        costs[controller] = {"instructions_per_byte": (long[0] - short[0]) / more}
    lab.set_line(*LINE)
    for controller in controllers:
        busy, _, reports, again, took = lab.transfer(cell(controller), LINE_SIZE)
        report({"controller": controller, **costs[controller], "instructions": busy,
                "reports": reports, "ns": took, "resent": again})


# --- on the host -----------------------------------------------------------------

def measure(args):
    cells = {}
    for one in run("bpf", {"names": args.name or NAMES, "more": MORE // 2}, args.kernel, 3600,
                   programs=("xfer", "command", "bpf")):
        cells[one["controller"]] = one
    return {"kernel": args.kernel, "cells": cells,
            "source": digest("selftests/net/sstp/xfer*", "tools/bpf/*.[ch]",
                             "tools/python/sstptools/bench/cost.py",
                             "tools/python/sstptools/bench/bpf.py")}


def pairs(measured):
    """Return name, C and BPF of each algorithm."""
    cells = measured["cells"]
    return [(name, cells[name], cells["bpf-" + name]) for name in NAMES if name in cells]


def per_report(one):
    return one["instructions"] / one["reports"]


def difference(ours, theirs):
    return theirs["ns"] / ours["ns"] - 1


def added(ours, theirs):
    """Return what BPF adds to a report, if both did the same work."""
    if any(ours[n] != theirs[n] for n in ("reports", "resent")):
        return "-"
    return f"{per_report(theirs) - per_report(ours):+.0f}"


def rows(measured):
    result = [["controller", "form", "per byte", "reports", "per report", "BPF adds", "time (s)",
               "resent"]]
    for name, ours, theirs in pairs(measured):
        for form, one, adds in (("C", ours, ""), ("BPF", theirs, added(ours, theirs))):
            result.append([name, form, f"{one['instructions_per_byte']:.3f}",
                           str(one["reports"]), f"{per_report(one):.0f}", adds,
                           f"{one['ns'] / 1e9:.3f}", str(one["resent"])])
    return result


def chapter(measured):
    return (
        "# Controllers in BPF, and the same in C\n\n"
        "Written by `tools/bench/bpf`, whose `-h` says how it is measured, on Linux\n"
        f"{measured['kernel']}, sources {measured['source']}: instructions per byte over a "
        "link\nthat nothing limits, and of "
        f"{LINE_SIZE >> 20} MiB over a line of {LINE[0].replace('mbit', ' Mbit/s')} and\n"
        f"{LINE[1].replace('ms', ' ms')} whose queue overflows the reports (PACKs), all "
        "instructions, divided\nby the number of reports, what BPF adds where both forms sent "
        "as many reports\nand retransmissions, the time, and the retransmissions.\n\n" +
        markdown_table(rows(measured)))


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    for row in rows(measured):
        print("  ".join(f"{word:>13}" for word in row))
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as f:
            f.write(chapter(measured))
    bad = [name for name, ours, theirs in pairs(measured)
           if abs(difference(ours, theirs)) > SAME]
    for name in bad:
        print(f"bpf: not as wanted: the forms of {name} differ by more than {SAME:.0%}",
              file=sys.stderr)
    return 1 if bad and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
