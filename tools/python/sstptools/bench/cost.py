# SPDX-License-Identifier: GPL-2.0
"""Measures how many CPU instructions a byte costs with SSTP, TCP and SCTP.

The machine has one emulated CPU that runs one instruction a nanosecond, so its busy time
in nanoseconds is the number of instructions: of sender and receiver, of the kernel and of
the program (selftests/net/sstp/xfer.c). They are in two network namespaces, joined by a
veth pair with offloads on. Each result is the difference between a long transfer and a
short one, which excludes connection setup.

With -n the same number of bytes is moved over several connections, by default of SSTP's
newreno beside TCP reno. With -a SSTP's controller rate asks for a report after so many
packets; a train, of up to 64 packets, asks once. At 20 Mbit/s or less (-b) a train has two.
--paper measures cells of Tables 3 and 4 of Gu and Grossman's paper on UDT/CCC.
"""

import os
import statistics
import subprocess
import sys
import textwrap
import time

from sstptools.bench.common import (SERVER, Lab, add_results, counters, digest, drawing, idle_ns,
                                    parser_of, read_job, report, results, run, save, show)
from sstptools.markdown import markdown_table

KB = 1024
SHORT = 16 << 20        # bytes, by which windows have grown
GROWN = 4 << 20         # bytes of each connection, likewise
MORE = 1_000_000_000     # instructions that the long transfer takes beyond the short one;
                        # half of it each time with --repeat
# Options of xfer by name
PROTOCOLS = {
    "sstp": ["-P", "sstp"],
    "sstp-rate": ["-P", "sstp", "--rate", "100G"],
    "tcp": ["-P", "tcp"],
    "sctp": ["-P", "sctp"],
    "sstp-sendfile": ["-P", "sstp"],
    "tcp-sendfile": ["-P", "tcp"],
    "sstp-zerocopy": ["-P", "sstp"],
    "tcp-zerocopy": ["-P", "tcp"],
    "tcp-reno": ["-P", "tcp", "--controller", "reno"],
    "sstp-newreno": ["-P", "sstp", "--controller", "newreno"],
    # Both as fast, and the program keeps up: paptc's measurement and reports make the difference.
    "sstp-hybrid-500m": ["-P", "sstp", "--controller", "hybrid", "--rate", "500M"],
    "sstp-paptc-500m": ["-P", "sstp", "--controller", "paptc", "--rate", "500M"],
}
# How the client of a protocol sends
SENDS = {"sstp-sendfile": ["--sendfile"], "tcp-sendfile": ["--sendfile"],
         "sstp-zerocopy": ["--zerocopy"], "tcp-zerocopy": ["--zerocopy"]}
TITLES = {"sstp": "SSTP", "sstp-rate": "SSTP, rate declared", "tcp": "TCP", "sctp": "SCTP",
          "sstp-sendfile": "SSTP, sendfile()", "tcp-sendfile": "TCP, sendfile()",
          "sstp-zerocopy": "SSTP, MSG_ZEROCOPY", "tcp-zerocopy": "TCP, MSG_ZEROCOPY",
          "tcp-reno": "TCP reno", "sstp-newreno": "SSTP newreno",
          "sstp-hybrid-500m": "SSTP hybrid, 500 Mbit/s",
          "sstp-paptc-500m": "SSTP paptc, 500 Mbit/s"}
USUAL = ["sstp", "sstp-rate", "tcp", "sctp"]
RENO = ["tcp-reno", "sstp-newreno"]
CTRL = "sstp-ctrl-"     # prefix of a protocol: the name of a controller follows
ACK = "sstp-ack-"       # prefix of a protocol: ACK interval in packets, "-", kbit/s follow
WRITES = [1 * KB, 4 * KB, 16 * KB, 64 * KB]
ALL = [(mtu, write) for mtu in (1500, 9000) for write in WRITES]
QUICK = [(1500, 64 * KB), (1500, 1 * KB)]
# --paper
FLOWS = [1, 4, 16, 32, 64]
ACK_FLOWS = [1, 32]
ACKS = [2, 8, 32, 128]
KBITS = [0, 20000]      # of a connection: unpaced, and in trains of two packets
# Gu and Grossman, Tables 2 and 3: flows: Mbit/s, CPU % of sender and receiver; TCP, then CTCP
PAPER_CPU = {
    1: ((112, 9.5, 10.1), (122, 16.7, 13.0)),
    4: ((322, 31.2, 20.9), (323, 58.2, 26.5)),
    16: ((672, 62.5, 69.6), (642, 122.8, 73.1)),
    32: ((877, 88.1, 90.5), (799, 198.0, 105.7)),
    64: ((921, 93.2, 91.9), (716, 198.0, 94.2)),
}
# Table 4: flows: MHz/Mbps by ACK interval
PAPER_ACK = {
    1: {2: 3.28, 8: 3.20, 32: 2.57, 128: 2.07},
    32: {2: 5.41, 8: 5.27, 32: 5.15, 128: 4.01},
}
WANTED = 0.8            # SSTP's bytes per instruction relative to TCP's, at MTU 1500 and 64 KB


def parse_args():
    parser = parser_of("cost", __doc__)
    add = parser.add_argument
    add("-q", "--quick", action="store_true",
        help="MTU 1500, writes of 1 and 64 KB only (2 minutes)")
    add("-P", "--protocol", action="append", metavar="NAME", choices=list(PROTOCOLS),
        help="only this protocol: " + ", ".join(PROTOCOLS) + " (repeatable)")
    add("-m", "--mtu", action="append", type=int, help="only this MTU (repeatable)")
    add("-w", "--write", action="append", type=int, metavar="KB",
        help="only writes of 1, 4, 16 or 64 KB (repeatable)")
    add("-n", "--flows", action="append", type=positive, metavar="N",
        help="so many connections at once, MTU 1500 and writes of 64 KB, unless -m or -w say "
             "otherwise (repeatable)")
    add("-a", "--ack-interval", action="append", type=positive, metavar="PACKETS",
        help="SSTP, controller rate, with a report after so many packets (repeatable)")
    add("-b", "--kbit", type=positive, default=0, metavar="KBIT",
        help="with -a: the rate of each connection, kbit/s (unpaced)")
    add("--paper", action="store_true",
        help="cells of the paper's Tables 3 and 4: connections " + listing(FLOWS) +
             ", and ACK intervals " + listing(ACKS) + " with " + listing(ACK_FLOWS) +
             ", unpaced and at 20 Mbit/s each")
    add("-r", "--repeat", type=positive, default=1, metavar="N",
        help="measure each cell N times; print the median, and the range of all cells")
    add_results(add)
    add("--markdown", metavar="FILE", help="with --paper: write a chapter of "
        "Documentation/evaluation to FILE, with a picture beside it")
    add("-p", "--plot", metavar="NAME", help="draw NAME.png and NAME.svg (matplotlib)")
    add("-c", "--check", action="store_true",
        help=f"fail if SSTP moves less than {WANTED} of TCP's bytes per instruction at MTU "
             "1500 and writes of 64 KB, or less than SCTP anywhere")
    args = parser.parse_args()
    if args.paper and (args.flows or args.ack_interval or args.protocol or args.quick):
        parser.error("--paper chooses the cells")
    if args.markdown and not args.paper:
        parser.error("--markdown needs --paper")
    return args


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def listing(numbers):
    return ", ".join(map(str, numbers))


def xfer_options(protocol):
    """Return the options of server and client, and those of the client alone."""
    if protocol.startswith(ACK):
        packets, kbit = protocol[len(ACK):].split("-")
        return (["-P", "sstp"], ["--controller", "rate", "--param", f"ack_interval={packets}",
                                 "--param", f"kbit={kbit}"])
    if protocol.startswith(CTRL):
        return ["-P", "sstp"], ["--controller", protocol[len(CTRL):]]
    return PROTOCOLS[protocol], SENDS.get(protocol, [])


def ack(packets, kbit):
    return f"{ACK}{packets}-{kbit}"


def title(protocol):
    if protocol.startswith(ACK):
        packets, kbit = map(int, protocol[len(ACK):].split("-"))
        return f"SSTP, ACK after {packets}" + (f", {kbit / 1000:g} Mbit/s" if kbit else "")
    return TITLES[protocol]


# --- in the guest ----------------------------------------------------------------

class Bench(Lab):
    """Measures transfers. Programs of a subclass may be in other places."""

    client_ns, address, family = "a", SERVER, "-4"

    def transfer(self, cell, size):
        """Move @size bytes of each connection; return the number of instructions that this
        took, of data packets, of reports and of retransmissions, and the ns that passed."""
        options, more = xfer_options(cell["protocol"])
        common = ["-T", "300", "--read-size", "128k", "-n", str(cell["flows"]), self.family,
                  *options]
        self.enter("b")
        server = self.spawn("server", "server", *common)
        time.sleep(0.05)
        self.enter(self.client_ns)
        before = counters()
        idle, begin = idle_ns(), time.monotonic_ns()
        client = self.spawn("client", "client", "--no-check", "-S", "1", "-s", str(size),
                            "-w", str(cell["write"]), *common, *more, self.address)
        status = [os.waitpid(pid, 0)[1] for pid in (client, server)]
        end = time.monotonic_ns()
        busy = end - begin - (idle_ns() - idle)
        if any(status):
            raise RuntimeError(f"xfer failed: {cell}, {size}: {status}")
        after = counters()
        return [busy, *(after.get(name, 0) - before.get(name, 0)
                        for name in ("OutData", "InPacks", "RetransData")), end - begin]


def guest(job_file):
    job = read_job(job_file)
    subprocess.run("modprobe sctp; sysctl -qw net.ipv4.tcp_no_metrics_save=1;"
                   "echo always > /sys/kernel/mm/transparent_hugepage/shmem_enabled",
                   shell=True, check=True)
    lab = Bench()
    if any(cell["protocol"].startswith("sstp-paptc") for cell in job["cells"]):
        lab.command("insmod", f"{os.environ['SSTP_MODULE_DIR']}/sstp-ctrl-paptc.ko")
    for cell in job["cells"]:
        lab.set_mtu(cell["mtu"])
        flows = cell["flows"]
        size = max(SHORT // flows, GROWN)
        lab.transfer(cell, (1 << 20) // flows)
        for _ in range(job["repeat"]):
            short = lab.transfer(cell, size)
            more = job["more"] * size // short[0]
            long = lab.transfer(cell, size + more)
            busy, packets, reports, again, _ = (a - b for a, b in zip(long, short))
            report({**cell, "instructions_per_byte": busy / (more * flows), "packets": packets,
                    "reports": reports, "resent": again})


# --- on the host -----------------------------------------------------------------

def wanted_cells(args):
    """Return mtu, write, flows and protocol of each cell."""
    if args.paper:
        return [{"mtu": 1500, "write": 64 * KB, "flows": flows, "protocol": protocol}
                for flows in FLOWS
                for protocol in RENO + [ack(n, kbit) for kbit in KBITS for n in ACKS
                                        if flows in ACK_FLOWS]]
    protocols = args.protocol or (RENO if args.flows or args.ack_interval else USUAL)
    protocols = protocols + [ack(n, args.kbit) for n in args.ack_interval or []]
    if args.flows or args.ack_interval:
        cells = [(mtu, write * KB) for mtu in args.mtu or [1500] for write in args.write or [64]]
    else:
        cells = [(mtu, write) for mtu, write in (QUICK if args.quick else ALL)
                 if (not args.mtu or mtu in args.mtu) and
                 (not args.write or write // KB in args.write)]
    return [{"mtu": mtu, "write": write, "flows": flows, "protocol": protocol}
            for mtu, write in cells for flows in args.flows or [1] for protocol in protocols]


def place(cell):
    return cell["mtu"], cell["write"], cell["flows"]


def measure(args):
    """Measure all cells in one boot. A cell has the median of its repetitions, and all."""
    cells = {}
    for one in run("cost", {"cells": wanted_cells(args), "repeat": args.repeat,
                             "more": MORE // 2 if args.repeat > 1 else MORE}, args.kernel,
                   1800 * args.repeat):
        print(f"cost: {one['protocol']}, MTU {one['mtu']}, {one['write'] // KB} KB, "
              f"{one['flows']} flows: {one['instructions_per_byte']:.3f}", file=sys.stderr,
              flush=True)
        cell = cells.setdefault((*place(one), one["protocol"]), {**one, "all": []})
        cell["all"].append(one["instructions_per_byte"])
        for name in "packets", "reports", "resent":
            if len(cell["all"]) > 1:
                cell[name] += one[name]
        cell["instructions_per_byte"] = statistics.median(cell["all"])
    return {"kernel": args.kernel, "repeat": args.repeat,
            "source": digest("selftests/net/sstp/xfer*", "tools/python/sstptools/bench/cost.py"),
            "cells": list(cells.values())}


def add_ratios(cells):
    for cell in cells:
        for other in cells:
            if other["protocol"] in ("tcp", "tcp-reno") and place(other) == place(cell):
                cell["ratio_to_tcp"] = (other["instructions_per_byte"] /
                                        cell["instructions_per_byte"])


def spread(cells):
    """Return the widest range of a cell's repetitions, relative to their median."""
    return max((max(c["all"]) - min(c["all"])) / c["instructions_per_byte"] for c in cells)


def per_report(cell):
    return cell["packets"] / cell["reports"] if cell["reports"] else 0


def table(measured):
    cells = measured["cells"]
    print("Instructions per byte (bytes per instruction, TCP = 1)\n")
    names = list(dict.fromkeys(c["protocol"] for c in cells))
    print(f"{'MTU':>5} {'write':>6} {'flows':>5} " +
          " ".join(f"{title(name):>26}" for name in names))
    for where in dict.fromkeys(map(place, cells)):
        row = f"{where[0]:>5} {where[1] // KB:>3} KB {where[2]:>5} "
        for name in names:
            cell = find(cells, *where, name)
            ratio = f"({cell['ratio_to_tcp']:.2f})" if cell and "ratio_to_tcp" in cell else ""
            row += f" {cell['instructions_per_byte']:>18.3f} {ratio:>7}" if cell else " " * 27
        print(row)
    if any(c["protocol"].startswith(ACK) for c in cells):
        print("\nPackets per report that came:\n")
        for cell in cells:
            if cell["reports"]:
                print(f"{title(cell['protocol'])}, {cell['flows']} flows: {per_report(cell):.1f}")
    if measured["repeat"] > 1:
        print(f"\nMedians of {measured['repeat']}; the range of a cell is at most "
              f"{100 * spread(cells):.2f}% of its median.")


def find(cells, mtu, write, flows, protocol):
    for cell in cells:
        if (*place(cell), cell["protocol"]) == (mtu, write, flows, protocol):
            return cell
    return None


def check(cells):
    """Return a line for each limit of --check that is missed."""
    bad = []
    for cell in cells:
        if cell["protocol"] not in ("sstp", "sstp-rate") or cell["flows"] > 1:
            continue
        where = f"{TITLES[cell['protocol']]}, MTU {cell['mtu']}, {cell['write'] // KB} KB"
        if (cell["mtu"], cell["write"]) == (1500, 64 * KB) and \
                cell.get("ratio_to_tcp", 1) < WANTED:
            bad.append(f"{where}: {cell['ratio_to_tcp']:.2f} of TCP")
        sctp = find(cells, *place(cell), "sctp")
        if sctp and sctp["instructions_per_byte"] < cell["instructions_per_byte"]:
            bad.append(f"{where}: below SCTP")
    return bad


def plot(cells, name):
    pyplot = drawing()
    mtus = list(dict.fromkeys(c["mtu"] for c in cells))
    figure, axes = pyplot.subplots(1, len(mtus), figsize=(5 * len(mtus), 4), sharey=True,
                                   squeeze=False)
    for axis, mtu in zip(axes[0], mtus):
        for protocol in dict.fromkeys(c["protocol"] for c in cells):
            points = sorted((c["write"] // KB, 1 / c["instructions_per_byte"])
                            for c in cells if (c["mtu"], c["protocol"]) == (mtu, protocol))
            if points:
                axis.plot(*zip(*points), marker="o", label=title(protocol))
        axis.set_xscale("log", base=2)
        axis.set_xticks([w // KB for w in WRITES], [str(w // KB) for w in WRITES])
        axis.set_ylim(bottom=0)
        axis.set_title(f"MTU {mtu}")
        axis.set_xlabel("write (KB)")
        axis.grid(True, alpha=0.3)
    axes[0][0].set_ylabel("bytes per instruction")
    axes[0][0].legend()
    save(figure, name)


def plot_paper(cells, name):
    pyplot = drawing()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    for protocol in RENO:
        points = [(c["flows"], c["instructions_per_byte"]) for c in cells
                  if c["protocol"] == protocol]
        left.plot(*zip(*points), marker="o", label=title(protocol))
    left.set_xscale("log", base=2)
    left.set_xticks(FLOWS, list(map(str, FLOWS)))
    left.set_xlabel("connections")
    left.set_ylabel("instructions per byte")
    for flows in ACK_FLOWS:
        for kbit in KBITS:
            points = [(n, find(cells, 1500, 64 * KB, flows, ack(n, kbit))
                       ["instructions_per_byte"]) for n in ACKS]
            right.plot(*zip(*points), marker="o", label=f"connections: {flows}, " +
                       (f"{kbit / 1000:g} Mbit/s each" if kbit else "unpaced"))
    right.set_xscale("log", base=2)
    right.set_xticks(ACKS, list(map(str, ACKS)))
    right.set_xlabel("ACK interval (packets)")
    for axis in left, right:
        axis.set_ylim(bottom=0)
        axis.grid(True, alpha=0.3)
        axis.legend()
    save(figure, name)


def chapter(measured, picture):
    """Return the chapter of Documentation/evaluation."""
    cells = measured["cells"]

    def cost(flows, protocol):
        return find(cells, 1500, 64 * KB, flows, protocol)

    text = (
        f"Written by `tools/bench/cost --paper`, whose `-h` says how it is measured, on Linux "
        f"{measured['kernel']}, sources {measured['source']}. Instructions are those of sender "
        "and receiver, kernel and program, per byte of payload, at MTU 1500, with offloads and "
        f"writes of 64 KB. Each figure is the median of {measured['repeat']}; the range of a "
        f"cell is at most {100 * spread(cells):.2f}% of its median. \"The paper\" is Gu and "
        "Grossman's on UDT/CCC, whose CTCP is a TCP controller in user space. It gives CPU "
        "time of machines of its day, so only ratios can be compared.")
    rows = []
    for flows in FLOWS:
        tcp, sstp = (cost(flows, protocol)["instructions_per_byte"] for protocol in RENO)
        theirs, ours = ((send + receive) / rate for rate, send, receive in PAPER_CPU[flows])
        rows.append([str(flows), f"{tcp:.3f}", f"{sstp:.3f}", f"{sstp / tcp:.2f}",
                     f"{ours / theirs:.2f}"])
    head = "# Instructions per byte: number of connections, and ACK interval\n\n"
    third = (
        "SSTP's newreno and TCP reno, beside the paper's CTCP and TCP: CPU time of sender and "
        "receiver (its Table 3) per bit (its Table 2).")
    body = (f"\n## By number of connections (the paper's Table 3)\n\n{fill(third)}\n\n" +
            markdown_table([["connections", "TCP reno", "SSTP newreno", "SSTP / TCP",
                            "the paper: CTCP / TCP"], *rows]))
    rows = []
    for flows in ACK_FLOWS:
        for n in ACKS:
            row = [str(flows), str(n)]
            for kbit in KBITS:
                cell, first = cost(flows, ack(n, kbit)), cost(flows, ack(ACKS[0], kbit))
                row += [f"{per_report(cell):.1f}", f"{cell['instructions_per_byte']:.3f}",
                        f"{cell['instructions_per_byte'] / first['instructions_per_byte']:.2f}"]
            rows.append(row + [f"{PAPER_ACK[flows][n] / PAPER_ACK[flows][ACKS[0]]:.2f}"])
    fourth = (
        "SSTP's controller rate with its parameter ack_interval: unpaced, so that only the "
        f"receiver's window limits it, and with {KBITS[1] / 1000:g} Mbit/s for each connection "
        "(kbit). A train of packets asks for one report, so there are fewer than the interval "
        "says where trains are longer: up to 64 packets unpaced, two at this rate. Relative is "
        f"to an interval of {ACKS[0]}.")
    body += (f"\n## By ACK interval (the paper's Table 4)\n\n{fill(fourth)}\n\n" +
             markdown_table([["connections", "ACK interval",
                              *(f"{name}, {kind}" for kind in ("unpaced", "paced") for name in
                                ("packets per report", "instructions per byte", "relative")),
                              "the paper, relative"], *rows]))
    return head + fill(text) + f"\n\n![Instructions per byte]({picture})\n" + body


def fill(text):
    return textwrap.fill(text, 88)


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    cells = measured["cells"]
    add_ratios(cells)
    table(measured)
    if args.markdown:
        show(args, lambda name: plot_paper(cells, name),
             lambda picture: chapter(measured, picture))
    elif args.plot:
        plot(cells, args.plot)
    bad = check(cells)
    for line in bad:
        print(f"cost: not as wanted: {line}", file=sys.stderr)
    return 1 if bad and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
