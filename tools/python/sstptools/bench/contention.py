# SPDX-License-Identifier: GPL-2.0
"""Measures transfers to a program that other programs leave too little CPU.

This repeats the evaluation of PAPTC in Lu, Wu, Rao and Wang ("the paper", cited in
Documentation/networking/sstp.rst): a program receives over a dedicated line while 0, 2 or 4
processes "cpuburn" use the CPUs, of which the paper's hosts had two each. Here the machine has
one emulated CPU, which runs one instruction a nanosecond. The reader works for each byte; how
long is calibrated first, so that with the whole CPU it keeps up with a little less than the
line. Reader and burners are in cgroups.

  1, 2/3, 2/5   the reader's share of the CPU (cpu.weight) beside 0, 2 and 4 burners, as if two
                CPUs were divided among them
  plain 1, 2, 4 so many burners beside the reader in one cgroup, each a thread as the reader is
  quota         2/5 by cpu.max, 40 of each 100 ms
  change        2/5 from the third to the sixth of 9 s, 1 before and after

The sender and the kernel's threads that handle packets have real-time priority, so burners
delay none of them; what they use, about a twentieth of the CPU, the reader lacks. Flows whose
name has no other controller declare the line as their contract (SSTP_RATE), as the paper's
link is dedicated.

  static 2.5    a buffer of 1 MB, and windows of 2.5 buffers
  static        the same, and windows that fit it
  rrda          the buffer policy rrda
  udt           its native controller, without a contract, and rrda
  paptc         the controller, and rrda; "paptc, paper" with law = 1
  tcp           for reference: TCP cubic

  goodput       that the program read from the first second to the end
  discards      share of DATA packets that came for which there was no room; of TCP,
                retransmissions
  queue         memory in use in the receive buffer, mean of samples each 10 ms, and peak
  reaction      of "change": how far the rate of arrival is off the mean of the last 2 s at
                2/5, in 0.3 s from 5 (RTT + epoch) after the change on

With -i the machine counts the instructions from the first second to the end as tools/bench/where
does; those of 1000 bytes that the reader gets are shown by layer and by function. The programs
are the reader, the burners and the sender, so most of their instructions are the same for all
flows of a cell.

Exit status: 0, or 1 if a transfer failed or, with --check, if a result is not as wanted.
"""

import json
import os
import random
import signal
import statistics
import sys
import tempfile
import textwrap
import time

from sstptools.bench.common import (SERVER, SHM, Group, add_files, counters, digest, drawing,
                                    idle_ns, listed, parser_of, read_job, read_lines, report,
                                    results, run, save, show, write)
from sstptools.bench.where import Marked, Symbols, kernel_symbols, read_counts, sstp_files
from sstptools.markdown import markdown_table
from sstptools.vm import fetch

MB = 1 << 20
LINE = 200                      # Mbit/s
FILLED = 0.97                   # of the line that the reader alone keeps up with
QUEUE = "4mb"                   # of the line: holds any window of static buffers
BUFFER = 1 * MB
BIN = 10                        # ms
SECONDS, CHANGE = 5, (3, 6, 9)
SETTLED = 1                     # s, before which nothing counts
# Profiles: burners, the weight of their cgroup where the reader's is 100 (None: they are in the
# reader's), and its quota of 100 ms
PROFILES = {
    "1": (0, None, None), "2/3": (2, 50, None), "2/5": (4, 150, None),
    "plain 1": (1, None, None), "plain 2": (2, None, None), "plain 4": (4, None, None),
    "quota": (0, None, 40), "change": (4, 150, None),
}
TABLES = {"1": 1, "2/3": 2 / 3, "2/5": 2 / 5}   # the paper's: share of the CPU
RTTS = (0.2, 10, 50)            # ms
STATIC = ["--policy", "static", "--rcvbuf", str(BUFFER // 2)]   # The kernel doubles it.
# Flows: options of the client, options of the server
FLOWS = {
    "static 2.5": (["--rate", "{rate}"], [*STATIC, "--window-factor", "250"]),
    "static": (["--rate", "{rate}"], STATIC),
    "rrda": (["--rate", "{rate}"], ["--policy", "rrda"]),
    "udt": (["--controller", "udt"], ["--policy", "rrda"]),
    "paptc": (["--controller", "paptc", "--rate", "{rate}"], ["--policy", "rrda"]),
    "paptc, paper": (["--controller", "paptc", "--param", "law=1", "--rate", "{rate}"],
                     ["--policy", "rrda"]),
    "tcp": ([], []),
}
REPEAT = 10
FIFO = 10                       # priority of the sender and of the kernel's threads
PATIENCE = 5                    # s, in which the receiver must start
# The paper's means and standard deviations, Mbit/s, computed from what its Tables 1 to 3 print
PAPER = {
    "1": {"PAPTC": (866.1, 5.9), "UDT": (844.5, 12.3), "Tsunami": (673.7, 11.3)},
    "2/3": {"PAPTC": (809.3, 5.9), "UDT": (722.1, 8.8), "Tsunami": (668.4, 11.5)},
    "2/5": {"PAPTC": (651.3, 14.6), "UDT": (619.9, 5.9), "Tsunami": (623.9, 2.4)},
}


def parse_args():
    parser = parser_of("contention", __doc__)
    add = parser.add_argument
    add("-q", "--quick", action="store_true",
        help="share 2/5 and RTT 10 ms only, two repetitions")
    add("-P", "--profile", action="append", choices=list(PROFILES),
        help="only this share of the CPU: " + ", ".join(PROFILES) + " (repeatable)")
    add("-R", "--rtt", action="append", type=float, metavar="MS",
        help="only this round-trip time: 0.2, 10, 50 (repeatable)")
    add("-F", "--flow", action="append", choices=list(FLOWS),
        help="only this flow: " + ", ".join(FLOWS) + " (repeatable)")
    add("-n", "--repeat", type=int, metavar="N", help=f"repetitions ({REPEAT})")
    add("-l", "--line", type=int, default=LINE, metavar="MBIT", help=f"of the line ({LINE})")
    add("-w", "--work", type=float, metavar="N",
        help="the reader works for N instructions a byte (calibrated)")
    add("-i", "--instructions", type=int, metavar="N",
        help="show where the instructions go, and the N functions in which flows differ most")
    add("-r", "--resume", action="append", default=[], metavar="FILE",
        help="take from FILE, which -j wrote with the same sources, the cells that it has, and "
        "measure only those that no FILE has (repeatable)")
    add_files(add)
    add("-c", "--check", action="store_true", help="fail if a result is not as wanted")
    args = parser.parse_args()
    if not 1 <= args.line <= 1000 or (args.repeat or 1) < 1:
        parser.error("a line has 1 to 1000 Mbit/s, and repetitions are 1 or more")
    if args.work is not None and (args.work <= 0 or args.markdown):
        parser.error("-w is more than 0, and a chapter needs the calibration")
    if args.resume and (args.file or args.instructions is not None):
        parser.error("--resume measures, and counts no instructions")
    return args


# --- in the guest ----------------------------------------------------------------

class Bench(Marked):
    """Measures transfers"""

    def __init__(self, line):
        super().__init__()
        self.line = line
        self.work = 0           # instructions for 1000 bytes read
        self.rtt = None
        self.reader = Group("cpu", "reader")
        self.others = Group("cpu", "burners")
        write("/proc/sys/net/core/rmem_max", str(1 << 30))
        for name in ("sstp-ctrl-paptc", "sstp-ctrl-udt"):
            module = f"{os.environ['SSTP_MODULE_DIR']}/{name}.ko"
            if os.path.exists(module):
                self.command("insmod", module)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if handles_packets(pid):
                first(int(pid))

    def set_path(self, rtt):
        if rtt != self.rtt:
            self.set_line(f"{self.line}mbit", f"{rtt}ms", QUEUE)
        self.rtt = rtt

    def burn(self, profile):
        """Start the burners, stopped if they come later; return their process IDs."""
        burners, weight, quota = PROFILES[profile]
        self.reader.set("cpu.max", f"{quota * 1000 if quota else 'max'} 100000")
        self.others.set("cpu.weight", str(weight or 100))
        group = self.others if weight else self.reader
        group.enter()
        pids = [self.spawn(f"burner{i}", program="burner") for i in range(burners)]
        group.leave()
        if profile == "change":
            signal_all(pids, signal.SIGSTOP)
        return pids

    def serve(self, flow):
        self.enter("b")
        self.reader.enter()
        proto = ["-P", "tcp"] if flow == "tcp" else []
        pid = self.spawn("server", "server", "-T", "120", "--read-size", "16k", "--read-work",
                         str(self.work), *proto, *FLOWS[flow][1])
        self.reader.leave()
        return pid

    def send(self, flow, seconds):
        self.enter("a")
        proto = ["-P", "tcp"] if flow == "tcp" else []
        options = [word.format(rate=self.line * 1_000_000) for word in FLOWS[flow][0]]
        pid = self.spawn("client", "client", "--no-check", "-T", "120", "--for", str(seconds),
                         "--bin", str(BIN * 1000), "--json", f"{SHM}/client.json", *proto,
                         *options, SERVER)
        first(pid)
        return pid

    def state(self):
        self.enter("b")
        return {**counters(), "time": time.monotonic_ns(), "idle": idle_ns()}

    def transfer(self, cell):
        """Run a transfer, return its results."""
        burners = self.burn(cell["profile"])
        pids = list(burners)
        try:
            states = self.run(cell, pids, burners)
        except (RuntimeError, OSError):
            # Nothing may run beside the next transfer.
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            raise
        finally:
            self.reader.set("cpu.max", "max 100000")
        signal_all(burners, signal.SIGKILL)
        status = [os.waitpid(pid, 0)[1] for pid in pids][len(burners):]
        if any(status):
            raise RuntimeError(f"xfer failed: status of server and client: {status}")
        return result(cell, states, read_lines("client")[0])

    def run(self, cell, pids, burners):
        """Run a transfer to its end, add its processes to @pids; return the states at its
        beginning, when the share changes, and at its end."""
        seconds = CHANGE[-1] if cell["profile"] == "change" else SECONDS
        server = self.serve(cell["flow"])
        pids.append(server)
        # Where bursts of CPU time begin is different in each repetition.
        time.sleep(0.2 + random.Random(cell["seed"]).random() / 10)
        pids.append(self.send(cell["flow"], seconds))
        states = [self.state()]
        if cell["flow"] != "tcp":
            self.hurry_watcher(server)
        if cell["profile"] == "change":
            for at, number in zip(CHANGE, (signal.SIGCONT, signal.SIGSTOP)):
                sleep_until(states[0]["time"] + at * 1_000_000_000)
                states.append(self.state())
                signal_all(burners, number)
        if cell.get("count"):
            sleep_until(states[0]["time"] + SETTLED * 1_000_000_000)
            states[0]["sent"] = self.sent()
            self.mark()
        sleep_until(states[0]["time"] + seconds * 1_000_000_000)
        if cell.get("count"):
            self.mark()
            return states + [{**self.state(), "sent": self.sent()}]
        return states + [self.state()]

    @staticmethod
    def hurry_watcher(server):
        """Let the server's thread that samples the buffer, its last, run at once."""
        until = time.monotonic() + PATIENCE
        while len(threads := os.listdir(f"/proc/{server}/task")) < 3:
            if time.monotonic() > until:
                raise RuntimeError("the receiver did not start")
            time.sleep(0.002)
        first(max(map(int, threads)))

    def calibrate(self):
        """Find the work for a byte with which the reader alone keeps up with FILLED of the
        line."""
        cell = {"profile": "1", "flow": "rrda", "rtt": RTTS[0], "seed": 0}
        self.set_path(cell["rtt"])
        self.transfer(cell)             # loads programs, resolves addresses
        idle = self.transfer(cell)
        wanted = 8e9 / (FILLED * idle["goodput"])       # instructions for a byte
        self.work = round(1000 * (wanted - idle["busy"]))
        for _ in range(2):
            found = self.transfer(cell)
            self.work += round(1000 * (wanted - 8e9 / found["goodput"]))
        return {"line": idle["goodput"], "busy": idle["busy"], "work": self.work / 1000,
                "alone": found["goodput"]}


def handles_packets(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().startswith(("ksoftirqd", "irq/", "ktimers"))
    except OSError:
        return False


def first(pid):
    os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(FIFO))


def signal_all(pids, number):
    for pid in pids:
        os.kill(pid, number)


def sleep_until(ns):
    time.sleep(max(ns - time.monotonic_ns(), 0) / 1e9)


def between(bins, begin, end):
    """Return the mean of bins from @begin to @end, in s."""
    part = bins[round(begin * 1000 / BIN):round(end * 1000 / BIN)]
    return sum(part) / max(len(part), 1)


def result(cell, states, sent):
    """Return the results of a transfer, from counters and xfer's report."""
    start, end = states[0], states[-1]
    seconds = (end["time"] - start["time"]) / 1e9
    done = {
        "goodput": between(sent["goodput_bins"], SETTLED, seconds),
        "queue": between(sent["used_bins"], SETTLED, seconds),
        "limit": between(sent["limit_bins"], SETTLED, seconds),
        "peak": sent["receive_peak"],
        "busy": (seconds * 1e9 - (end["idle"] - start["idle"])) /
                max(sum(sent["goodput_bins"]) * BIN / 8e3, 1),
    }
    if cell["flow"] == "tcp":
        info = sent["info"]
        done["discards"] = info["tcpi_total_retrans"] / max(info["tcpi_segs_out"], 1)
    else:
        done["discards"] = discards(start, end)
    if cell["profile"] == "change":
        done.update(reaction(cell, states, sent))
    if "sent" in end:
        done["sent"] = {name: number - start["sent"][name]
                        for name, number in end["sent"].items()}
    return done


def discards(before, after):
    """Return the share of the DATA packets that came between two states."""
    count = {name: after[name] - before[name]
             for name in ("InPkts", "InPacks", "InSnaks", "InDiscarded")}
    packets = count["InPkts"] - count["InPacks"] - count["InSnaks"]
    return count["InDiscarded"] / max(packets, 1)


def reaction(cell, states, sent):
    """Return what happened when the share of the CPU fell."""
    epoch = min(max(cell["rtt"] / 4, 10), 100)
    late = CHANGE[0] + 5 * (cell["rtt"] + epoch) / 1000
    bins = sent.get("arrived_bins", sent["goodput_bins"])
    rate = between(sent["goodput_bins"], CHANGE[1] - 2, CHANGE[1])
    return {"off": between(bins, late, late + 0.3) / max(rate, 1) - 1,
            "change_discards": discards(states[1], states[2]),
            "arrived": bins if cell["seed"] == 0 else []}


def guest(job_file):
    job = read_job(job_file)
    bench = Bench(job["line"])
    if job["work"]:
        bench.work = round(1000 * job["work"])
    else:
        report({"calibration": bench.calibrate()})
    for cell in job["cells"]:
        bench.set_path(cell["rtt"])
        done = dict(cell)
        try:
            done.update(bench.transfer(cell))
        except (RuntimeError, OSError, ValueError, LookupError, ArithmeticError) as error:
            done["failed"] = repr(error)
        report(done)
    if any(cell["count"] for cell in job["cells"]):
        report(kernel_symbols())


# --- on the host -----------------------------------------------------------------

def wanted_cells(args):
    repeat = args.repeat or (2 if args.quick else REPEAT)
    profiles = args.profile or (["2/5"] if args.quick else list(PROFILES))
    rtts = args.rtt or ([10] if args.quick else RTTS)
    return [{"profile": profile, "rtt": rtt, "flow": flow, "seed": seed,
             "count": args.instructions is not None}
            for profile in profiles for rtt in rtts for seed in range(repeat)
            for flow in args.flow or FLOWS]


def say(text):
    print(f"contention: {text}", file=sys.stderr, flush=True)


def key(cell):
    """Return what a cell is known by, and comes in order by."""
    return (list(PROFILES).index(cell["profile"]), cell["rtt"], cell["seed"],
            list(FLOWS).index(cell["flow"]))


def resume(measured, names):
    """Add the cells of files to @measured, and their calibration, which must be the same."""
    there = {}
    for name in names:
        with open(name, encoding="ascii") as f:
            part = json.load(f)
        for word in ("kernel", "line", "source", "calibration"):
            if part.get(word) != measured.setdefault(word, part.get(word)):
                sys.exit(f"contention: {name}: another {word}: {part.get(word)}")
        there.update((key(cell), cell) for cell in part["cells"] if "failed" not in cell)
    measured["cells"] = list(there.values())


def measure(args):
    """Measure all cells, but for those of --resume, in one boot."""
    measured = {"kernel": args.kernel, "line": args.line,
                "source": digest("selftests/net/sstp/xfer*", "selftests/net/sstp/burner.c",
                                 "tools/python/sstptools/bench/contention.py")}
    resume(measured, args.resume)
    there = {key(cell) for cell in measured["cells"]}
    todo = [cell for cell in wanted_cells(args) if key(cell) not in there]
    if todo:
        measure_cells(args, todo, measured)
    measured["cells"].sort(key=key)
    return measured


def measure_cells(args, todo, measured):
    """Add cells @todo to @measured, and the calibration if it is not known."""
    known = measured.get("calibration") or {"work": args.work}
    job = {"cells": todo, "line": args.line, "work": known["work"]}
    before = len(measured["cells"])
    say(f"{len(todo)} transfers of {SECONDS} s, or {CHANGE[-1]} s where the share changes")
    with tempfile.TemporaryDirectory(prefix="sstp-contention-") as work:
        count = ("--count", f"{work}/counts") if todo[0]["count"] else ()
        for one in run("contention", job, args.kernel, 600 + 120 * len(todo), "--mem", "2G",
                       "--append", "threadirqs", *count, programs=("xfer", "burner")):
            if "calibration" in one:
                measured.update(one)
                say(f"calibrated: {one['calibration']}")
            elif "symbols" in one:
                add_functions(measured["cells"], read_counts(f"{work}/counts"),
                              Symbols(one["symbols"], sstp_files(fetch(args.kernel))))
            else:
                measured["cells"].append(one)
                say(f"{len(measured['cells']) - before}/{len(todo)} {one['profile']}, "
                    f"{one['rtt']} ms, {one['flow']}: {summary(one)}")


def add_functions(cells, marks, symbols):
    """Add the instructions of 1000 bytes by function to each cell. Two marks are of each
    transfer that did not fail; the second has what was counted since the first."""
    done = [cell for cell in cells if "failed" not in cell]
    if len(marks) != 2 * len(done):
        raise RuntimeError("a transfer failed between its marks")
    for cell, counts in zip(done, marks[1::2]):
        end = CHANGE[-1] if cell["profile"] == "change" else SECONDS
        units = cell["goodput"] * (end - SETTLED) / 8e3
        cell["sent"] = {name: number / units for name, number in cell["sent"].items()}
        cell["functions"] = [[*key, number / units]
                             for key, number in symbols.sums(counts).items()]


def summary(cell):
    if "failed" in cell:
        return f"failed: {cell['failed']}"
    more = f", off by {cell['off']:.1%}, {cell['change_discards']:.2%} then" \
        if "off" in cell else ""
    return (f"{cell['goodput'] / 1e6:.1f} Mbit/s, discards {cell['discards']:.2%}, queue "
            f"{cell['queue'] / 1e3:.0f} kB, peak {cell['peak'] / 1e3:.0f} kB{more}")


def place(cell):
    return cell["profile"], cell["rtt"]


def averages(cells):
    """Return, by (profile, RTT) and flow, the means over the repetitions, and the standard
    deviation of the goodput."""
    found = {}
    for cell in cells:
        if "failed" not in cell:
            found.setdefault(place(cell), {}).setdefault(cell["flow"], []).append(cell)
    for flows in found.values():
        for flow, runs in flows.items():
            flows[flow] = mean = {
                key: statistics.mean(r[key] for r in runs)
                for key in ("goodput", "discards", "queue", "limit", "peak")}
            mean["runs"] = len(runs)
            mean["deviation"] = statistics.stdev(r["goodput"] for r in runs) \
                if len(runs) > 1 else 0
            if "off" in runs[0]:
                mean["off"] = max(abs(r["off"]) for r in runs)
                mean["change_discards"] = max(r["change_discards"] for r in runs)
    return found


# --- what is wanted ----------------------------------------------------------------

# Share of the CPU: least goodput of paptc in relation to static 2.5 and to udt, which is that of
# the paper's Tables 1 to 3
WANTED = {"1": (0, 1.026), "2/3": (1.12, 1.121), "2/5": (1.05, 1.051)}
DISCARDS, MANY = 0.005, 0.05    # of paptc at most, where static 2.5 has so many
GOODPUT = 0.98                  # of rrda's
THIRD = 1 / 3                   # of the queue of rrda and static
STEADY = 0.01                   # standard deviation of the goodput
OFF, LOSSY = 0.1, 0.01          # when the share has changed


def ratio(flows, name, other):
    return flows["paptc"][name] / max(flows[other][name], 1)


def judge(where, flows):
    """Yield what is wanted of paptc @where, what was found, and whether it is so."""
    paptc, share = flows["paptc"], WANTED.get(where[0])
    if flows.get("static 2.5", paptc)["discards"] >= MANY:
        yield f"discards {DISCARDS:.1%} at most", f"{paptc['discards']:.2%}", \
            paptc["discards"] <= DISCARDS
    if "rrda" in flows:
        found = ratio(flows, "goodput", "rrda")
        yield f"goodput {GOODPUT} of rrda's", f"{found:.3f}", found >= GOODPUT
    for other, least in zip(("static 2.5", "udt"), share or ()):
        if other in flows and least:
            found = ratio(flows, "goodput", other)
            yield f"goodput {least} of {other}'s", f"{found:.3f}", found >= least
    for other in ("rrda", "static"):
        if other in flows:
            found = ratio(flows, "queue", other)
            yield f"a third of {other}'s queue", f"{found:.3f}", found <= THIRD
    if paptc["runs"] > 2 and "rrda" in flows:
        found = paptc["deviation"] / paptc["goodput"]
        most = STEADY if where[0] in ("1", "2/3") else \
            max(STEADY, flows["rrda"]["deviation"] / flows["rrda"]["goodput"])
        yield f"standard deviation {most:.1%} at most", f"{found:.1%}", found <= most
    if "off" in paptc:
        yield f"within {OFF:.0%} after 5 (RTT + epoch)", f"{paptc['off']:.1%}", \
            paptc["off"] <= OFF
        yield f"discards {LOSSY:.0%} at most then", f"{paptc['change_discards']:.2%}", \
            paptc["change_discards"] <= LOSSY


def described(where):
    return f"{where[0]}, RTT {where[1]:g} ms"


def check(cells):
    """Return a line for each result that is not as wanted."""
    return [f"{described(where)}: {found}, wanted: {wanted}"
            for where, flows in averages(cells).items() if "paptc" in flows
            for wanted, found, fine in judge(where, flows) if not fine]


def held(cells):
    """Return, for each thing that is wanted, in how many of the places it is so."""
    count = {}
    for where, flows in averages(cells).items():
        if "paptc" not in flows:
            continue
        for wanted, _, fine in judge(where, flows):
            if not wanted.startswith("standard"):
                good, of = count.get(wanted, (0, 0))
                count[wanted] = (good + fine, of + 1)
    return [f"{wanted}: in {good} of {of} cells" for wanted, (good, of) in count.items()]


# --- report ------------------------------------------------------------------------

def table(where, flows):
    """Return the table of a share of the CPU and a round-trip time."""
    rows = [["flow", "runs", "goodput, Mbit/s", "standard deviation", "of udt's", "discards",
             "queue, kB", "peak, kB"] + (["off", "discards then"] if where[0] == "change" else [])]
    for name, f in flows.items():
        of = f"{f['goodput'] / flows['udt']['goodput']:.3f}" if "udt" in flows else "-"
        spread = f"{f['deviation'] / 1e6:.1f}" if f["runs"] > 1 else "-"
        rows.append([name, str(f["runs"]), f"{f['goodput'] / 1e6:.1f}", spread, of,
                     f"{f['discards']:.2%}", f"{f['queue'] / 1e3:.0f}", f"{f['peak'] / 1e3:.0f}"] +
                    ([f"{f['off']:.0%}", f"{f['change_discards']:.2%}"] if "off" in f else []))
    return markdown_table(rows)


def instructions(where, cells, most):
    """Return tables of the instructions of flows side by side: by layer, and of the @most
    functions in which they differ most."""
    layers, functions = {}, {}
    for n, cell in enumerate(cells):
        for layer, name, module, number in cell["functions"]:
            for total, key in ((layers, layer), (functions, f"{name} {module}".rstrip())):
                total.setdefault(key, [0] * len(cells))[n] += number
    layers["all"] = [sum(row) for row in zip(*layers.values())]
    head = ["", *(cell["flow"] for cell in cells)]
    sent = [[name, *(f"{cell['sent'][name]:.3f}" for cell in cells)]
            for name in cells[0]["sent"]]
    by_number = sorted(layers.items(), key=lambda item: -max(item[1]))
    by_range = sorted(functions.items(), key=lambda item: min(item[1]) - max(item[1]))[:most]
    rows = [[[name, *(f"{v:.1f}" for v in row)] for name, row in total]
            for total in (by_number, by_range)]
    return f"\n## {described(where)}: instructions of 1000 bytes\n\n" + "\n".join(
        markdown_table([head] + part) for part in (rows[0] + sent, rows[1]))


def show_instructions(cells, most):
    places = {}
    for cell in cells:
        if "functions" in cell:
            places.setdefault(place(cell), []).append(cell)
    for where, found in places.items():
        print(instructions(where, found, most))


def paper_table():
    rows = [["share", *(f"{name}, Mbit/s" for name in PAPER["1"]), "PAPTC / UDT"]]
    for share in TABLES:
        row = PAPER[share]
        rows.append([share, *(f"{mean} ({deviation})" for mean, deviation in row.values()),
                     f"{row['PAPTC'][0] / row['UDT'][0]:.3f}"])
    return markdown_table(rows)


def possible(measured):
    """Return a table of what any controller could have at most, beside udt and what is wanted."""
    rows = [["share", "at most, Mbit/s", "udt, Mbit/s", "discards of udt", "at most / udt",
             "wanted"]]
    for (share, rtt), flows in averages(measured["cells"]).items():
        if share not in TABLES or rtt != RTTS[0] or "udt" not in flows:
            continue
        most = min(measured["calibration"]["line"],
                   TABLES[share] * 8e9 / measured["calibration"]["work"])
        udt = flows["udt"]
        rows.append([share, f"{most / 1e6:.1f}", f"{udt['goodput'] / 1e6:.1f}",
                     f"{udt['discards']:.2%}", f"{most / udt['goodput']:.3f}",
                     str(WANTED[share][1])])
    text = ("The paper's ratios to UDT are no measure here if udt discards nothing: then it "
            "loses only the instructions that the protocol takes. With a protocol that takes "
            "none, the reader has its share of the CPU for its work alone, or the line:")
    return "" if len(rows) == 1 else "\n" + textwrap.fill(text, 88) + "\n\n" + \
        markdown_table(rows)


def tables(cells):
    text = ""
    for where, flows in averages(cells).items():
        number = f" (Table {list(TABLES).index(where[0]) + 1})" if where[0] in TABLES else ""
        text += f"\n## {described(where)}{number}\n\n" + table(where, flows)
    return text


def chapter(measured, picture):
    cells, found = measured["cells"], measured["calibration"]
    text = (
        f"Written by `tools/bench/contention`, whose `-h` says how it is measured and what the "
        f"names are, on Linux {measured['kernel']}, sources {measured['source']}. Figures are "
        "means of as many runs as their row says. The line has "
        f"{measured['line']} Mbit/s, of which {found['line'] / 1e6:.1f} are payload. The reader "
        f"works for {found['work']:.1f} instructions a byte, with which it reads "
        f"{found['alone'] / 1e6:.1f} Mbit/s alone; sender and receiver take {found['busy']:.1f} "
        "instructions a byte more. Discards are packets for which the receiver had no room, and "
        "retransmissions of TCP; the queue is the mean of the memory in use in the receive "
        "buffer. \"Off\" is how far the rate of arrival is off the rate at which the program "
        "reads, 5 (RTT + epoch) after its share fell, and discards then are those of the time "
        "with the small share; both are the largest of the repetitions. \"The paper\" is Lu, "
        "Wu, Rao and Wang, \"Performance-Adaptive Prediction-Based Transport Control over "
        "Dedicated Links\".")
    paper = (
        "The paper's Tables 1 to 3: 1 Gbit/s, two hosts with two CPUs each, 0, 2 and 4 cpuburn "
        "processes; means (standard deviations) of ten transfers, computed from what it prints. "
        "Its CPUs also had the protocols to run, so only ratios can be compared. It reports no "
        "discards.")
    failed = [f"{described(place(c))}, {c['flow']}: {c['failed']}" for c in cells
              if "failed" in c]
    return ("# A receiving program with too little CPU\n\n" + textwrap.fill(text, 88) +
            f"\n\n![A receiving program with too little CPU]({picture})\n\n" +
            textwrap.fill(paper, 88) + "\n\n" + paper_table() + possible(measured) + tables(cells) +
            listed("Wanted of paptc", held(cells)) + listed("Not as wanted", check(cells)) +
            listed("Failed", failed))


def plot(cells, name):
    pyplot = drawing()
    found = averages(cells)
    rtts = sorted({rtt for _, rtt in found})
    changed = [c for c in cells if c.get("arrived")]
    color = {flow: f"C{i}" for i, flow in enumerate(FLOWS)}
    figure, axes = pyplot.subplots(len(rtts), 3, squeeze=False, figsize=(15, 3.5 * len(rtts)))
    for row, rtt in zip(axes, rtts):
        profiles = [p for p in PROFILES if (p, rtt) in found and p != "change"]
        for flow in FLOWS:
            at = [p for p in profiles if flow in found[p, rtt]]
            values = [found[p, rtt][flow] for p in at]
            row[0].errorbar(at, [v["goodput"] / 1e6 for v in values], fmt="o", label=flow,
                            yerr=[v["deviation"] / 1e6 for v in values], color=color[flow],
                            alpha=0.7)
            row[1].plot(at, [max(v["queue"] / 1e3, 1) for v in values], "o",
                        color=color[flow], alpha=0.7)
        row[1].set_yscale("log")
        for cell in (c for c in changed if c["rtt"] == rtt):
            rates = cell["arrived"][:CHANGE[-1] * 1000 // BIN]
            means = [sum(rates[i:i + 5]) / 5e6 for i in range(0, len(rates) - 4, 5)]
            row[2].plot([i * 5 * BIN / 1000 for i in range(len(means))], means, alpha=0.7,
                        color=color[cell["flow"]], linewidth=1)
        for axis, label in zip(row, ("goodput, Mbit/s", "mean queue, kB", "arrival, Mbit/s")):
            axis.set_title(f"RTT {rtt:g} ms", loc="left", fontsize=10)
            axis.set_ylabel(label)
            axis.grid(True, alpha=0.3)
        row[0].set_ylim(bottom=0)
        row[0].set_xlabel("share of the CPU")
        row[1].set_xlabel("share of the CPU")
        row[2].set_xlabel("s (the share is 2/5 from 3 to 6)")
        row[0].legend(fontsize=7)
    save(figure, name)


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    cells = measured["cells"]
    if not args.markdown:
        print(tables(cells))
    if args.instructions is not None:
        show_instructions(cells, args.instructions)
    show(args, lambda name: plot(cells, name), lambda picture: chapter(measured, picture))
    bad = check(cells)
    for line in bad:
        say(f"not as wanted: {line}")
    failed = sum("failed" in c for c in cells)
    return 1 if failed or (bad and args.check) else 0


if __name__ == "__main__":
    sys.exit(main())
