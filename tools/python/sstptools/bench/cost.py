# SPDX-License-Identifier: GPL-2.0
"""Measures how many CPU instructions a byte costs with SSTP, TCP and SCTP.

The machine has one emulated CPU that runs one instruction a nanosecond, so its busy time
in nanoseconds is the number of instructions: of sender and receiver, of the kernel and of
the program (selftests/net/sstp/xfer.c). They are in two network namespaces, joined by a
veth pair with offloads on. Each result is the difference between a long transfer and a
short one, which excludes connection setup.
"""

import argparse
import json
import os
import subprocess
import sys
import time

from sstptools.bench.common import SERVER, Lab, idle_ns, read_job, report, run

KB = 1024
SHORT = 16 << 20        # bytes, by which windows have grown
MORE = 1_000_000_000     # instructions that the long transfer takes beyond the short one
# Options of xfer by name
PROTOCOLS = {
    "sstp": ["-P", "sstp"],
    "sstp-rate": ["-P", "sstp", "--rate", "100G"],
    "tcp": ["-P", "tcp"],
    "sctp": ["-P", "sctp"],
}
TITLES = {"sstp": "SSTP", "sstp-rate": "SSTP, rate declared", "tcp": "TCP", "sctp": "SCTP"}
WRITES = [1 * KB, 4 * KB, 16 * KB, 64 * KB]
ALL = [(mtu, write) for mtu in (1500, 9000) for write in WRITES]
QUICK = [(1500, 64 * KB), (1500, 1 * KB)]
WANTED = 0.8            # SSTP's bytes per instruction relative to TCP's, at MTU 1500 and 64 KB


def parse_args():
    parser = argparse.ArgumentParser(
        prog="tools/bench/cost", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-k", "--kernel", default="6.12", metavar="KERNEL",
        help="6.1 or 6.12 (default), see tools/vm/kernel")
    add("-q", "--quick", action="store_true",
        help="MTU 1500, writes of 1 and 64 KB only (2 minutes)")
    add("-P", "--protocol", action="append", metavar="NAME", choices=list(PROTOCOLS),
        help="only this protocol: " + ", ".join(PROTOCOLS) + " (repeatable)")
    add("-m", "--mtu", action="append", type=int, help="only this MTU (repeatable)")
    add("-w", "--write", action="append", type=int, metavar="KB",
        help="only writes of 1, 4, 16 or 64 KB (repeatable)")
    add("-j", "--json", metavar="FILE", help="write the results to FILE")
    add("-p", "--plot", metavar="NAME", help="draw NAME.png and NAME.svg (matplotlib)")
    add("-c", "--check", action="store_true",
        help=f"fail if SSTP moves less than {WANTED} of TCP's bytes per instruction at MTU "
             "1500 and writes of 64 KB, or less than SCTP anywhere")
    add("--guest", metavar="JOB", help=argparse.SUPPRESS)
    return parser.parse_args()


# --- in the guest ----------------------------------------------------------------

class Bench(Lab):
    """Measures transfers over one connection"""

    def transfer(self, options, write, size):
        """Move @size bytes; return the number of instructions that this took."""
        self.enter("b")
        common = ["-T", "300", "--read-size", "128k", *options]
        server = self.spawn("server", "server", "-n", "1", *common)
        time.sleep(0.05)
        self.enter("a")
        idle, begin = idle_ns(), time.monotonic_ns()
        client = self.spawn("client", "client", "--no-check", "-s", str(size),
                            "-w", str(write), *common, SERVER)
        status = [os.waitpid(pid, 0)[1] for pid in (client, server)]
        end = time.monotonic_ns()
        busy = end - begin - (idle_ns() - idle)
        if any(status):
            raise RuntimeError(f"xfer failed: {options}, {write}, {size}: {status}")
        return busy


def guest(job_file):
    job = read_job(job_file)
    subprocess.run("modprobe sctp; sysctl -qw net.ipv4.tcp_no_metrics_save=1",
                   shell=True, check=True)
    lab = Bench()
    for mtu, write in job["cells"]:
        lab.set_mtu(mtu)
        for name in job["protocols"]:
            options = PROTOCOLS[name]
            lab.transfer(options, write, 1 << 20)
            short = lab.transfer(options, write, SHORT)
            more = MORE * SHORT // short
            long = lab.transfer(options, write, SHORT + more)
            cell = {"mtu": mtu, "write": write, "protocol": name,
                    "instructions_per_byte": (long - short) / more}
            report(cell)


# --- on the host -----------------------------------------------------------------

def wanted_cells(args):
    cells = QUICK if args.quick else ALL
    return [(mtu, write) for mtu, write in cells
            if (not args.mtu or mtu in args.mtu) and
            (not args.write or write // KB in args.write)]


def measure(args):
    """Measure all cells in one boot."""
    cells = []
    for cell in run("cost", {"cells": wanted_cells(args),
                             "protocols": args.protocol or list(PROTOCOLS)}, args.kernel, 580):
        cells.append(cell)
        print(f"cost: {cell['protocol']}, MTU {cell['mtu']}, {cell['write'] // KB} KB: "
              f"{cell['instructions_per_byte']:.3f}", file=sys.stderr, flush=True)
    return cells


def add_ratios(cells):
    for cell in cells:
        for other in cells:
            if other["protocol"] == "tcp" and (other["mtu"], other["write"]) == \
                    (cell["mtu"], cell["write"]):
                cell["ratio_to_tcp"] = (other["instructions_per_byte"] /
                                        cell["instructions_per_byte"])


def table(cells):
    print("Instructions per byte (bytes per instruction, TCP = 1)\n")
    names = [name for name in PROTOCOLS if any(c["protocol"] == name for c in cells)]
    print(f"{'MTU':>5} {'write':>6} " + " ".join(f"{TITLES[name]:>20}" for name in names))
    for mtu, write in dict.fromkeys((c["mtu"], c["write"]) for c in cells):
        row = f"{mtu:>5} {write // KB:>3} KB "
        for name in names:
            cell = find(cells, mtu, write, name)
            ratio = f"({cell['ratio_to_tcp']:.2f})" if "ratio_to_tcp" in cell else ""
            row += f" {cell['instructions_per_byte']:>12.3f} {ratio:>7}"
        print(row)


def find(cells, mtu, write, protocol):
    for cell in cells:
        if (cell["mtu"], cell["write"], cell["protocol"]) == (mtu, write, protocol):
            return cell
    return None


def check(cells):
    """Return a line for each limit of --check that is missed."""
    bad = []
    for cell in cells:
        if not cell["protocol"].startswith("sstp"):
            continue
        where = f"{TITLES[cell['protocol']]}, MTU {cell['mtu']}, {cell['write'] // KB} KB"
        if (cell["mtu"], cell["write"]) == (1500, 64 * KB) and \
                cell.get("ratio_to_tcp", 1) < WANTED:
            bad.append(f"{where}: {cell['ratio_to_tcp']:.2f} of TCP")
        sctp = find(cells, cell["mtu"], cell["write"], "sctp")
        if sctp and sctp["instructions_per_byte"] < cell["instructions_per_byte"]:
            bad.append(f"{where}: below SCTP")
    return bad


def plot(cells, name):
    import matplotlib                   # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot       # pylint: disable=import-outside-toplevel
    mtus = list(dict.fromkeys(c["mtu"] for c in cells))
    figure, axes = pyplot.subplots(1, len(mtus), figsize=(5 * len(mtus), 4), sharey=True,
                                   squeeze=False)
    for axis, mtu in zip(axes[0], mtus):
        for protocol, title in TITLES.items():
            points = sorted((c["write"] // KB, 1 / c["instructions_per_byte"])
                            for c in cells if (c["mtu"], c["protocol"]) == (mtu, protocol))
            if points:
                axis.plot(*zip(*points), marker="o", label=title)
        axis.set_xscale("log", base=2)
        axis.set_xticks([w // KB for w in WRITES], [str(w // KB) for w in WRITES])
        axis.set_ylim(bottom=0)
        axis.set_title(f"MTU {mtu}")
        axis.set_xlabel("write (KB)")
        axis.grid(True, alpha=0.3)
    axes[0][0].set_ylabel("bytes per instruction")
    axes[0][0].legend()
    figure.tight_layout()
    for suffix in ("png", "svg"):
        figure.savefig(f"{name}.{suffix}", metadata={"Date": None} if suffix == "svg" else None)


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    cells = measure(args)
    add_ratios(cells)
    table(cells)
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump({"kernel": args.kernel, "cells": cells}, f, indent=1)
            f.write("\n")
    if args.plot:
        plot(cells, args.plot)
    bad = check(cells)
    for line in bad:
        print(f"cost: not as wanted: {line}", file=sys.stderr)
    return 1 if bad and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
