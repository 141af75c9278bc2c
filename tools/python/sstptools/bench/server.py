# SPDX-License-Identifier: GPL-2.0
"""Measures the effect of a receive buffer policy on a server with many clients and little CPU.

This repeats the evaluation of RRDA in Liu et al. ("the paper", cited in
Documentation/networking/sstp.rst): 5 to 35 clients send for 6 s as fast as they may to one
process, which reads the data with a share of the CPU. The policies "static", with a buffer
of 1 MB (SO_RCVBUF), and "rrda", which begins with 1 MB, take turns in one boot. All clients
share one buffer (SSTP_POOL), as on the paper's server. The policies may grant windows of
2.5 buffers, so that the buffer is the limit: packets that exceed it are discarded, and sent
again.

The machine has one emulated CPU that runs one instruction a nanosecond, so its busy time in
nanoseconds is the number of instructions. cpu.max of a cgroup limits the server's share;
clients, in another network namespace behind a line of 500 Mbit/s and 10 ms, are not
limited. Interrupts run in threads (threadirqs), or the server's share would be charged for
packets of the clients. It is still charged for the hard part of interrupts, which grows
with the packet rate.

  goodput      bytes from all clients that the server read within 5.9 s
  exhaustion   share of the DATA packets received in this time that were discarded as
               they exceeded the buffer
  Jain         Jain's index of the goodput of each client
  cost         instructions of the whole machine per byte, from the first connect()
               until all data is read (after the 6 s with all of the CPU)
  memory       sum over the connections of the largest memory that each had in use
  resized      number of times that a buffer grew or shrank

Exit status: 0, or 1 if a cell failed or, with --check, if a result is not as wanted.
"""

import os
import signal
import sys
import textwrap
import time

from sstptools.bench.common import (SERVER, SHM, Group, Lab, add_files, counters, digest, drawing,
                                    idle_ns, listed, parser_of, read_job, read_lines, report,
                                    results, run, save, show, write)
from sstptools.lab.analysis import jain
from sstptools.markdown import markdown_table

MB = 1 << 20
SECONDS = 6
LEVELS = [2, 5, 20]            # percent of the CPU
CLIENTS = [5, 10, 20, 35]
QUICK = [(2, 20, 0)]
LINE, RTT, QUEUE = "500mbit", "10ms", "1250kb"  # the queue holds two bandwidth-delay products
BUFFER = 1 * MB
PERIOD = 100_000                # us, cpu.max's default
WATCH = 50_000_000              # ns between samples of the buffer's size
PATIENCE = 500_000_000          # ns in which all clients must connect
OPTIONS = ["-P", "sstp", "-T", "120"]
TITLES = {"static": "static", "rrda": "RRDA"}
# RRDA without one of its parts: the tunables that switch it off
PARTS = {"no EMA": {"omega": 1000}, "memory not weighed": {"weigh_memory": 0}, "k = 1": {"k": 1}}
ABLATION = [(2, 20, 0), (2, 20, 24 * MB)]      # level, clients, the server's memory.max
TUNABLES = "/sys/kernel/sstp/rrda"
# The paper's results for RRDA, relative to the static buffer
PAPER = {"exhaustion": 0.1, "goodput": 1.3, "cost": 66.1 / 64.2}
MANY = 15                       # clients up to which the paper finds no difference
# Wanted
SCARCE = 0.01                   # static's exhaustion, above which RRDA's is compared with it
NOISE = 0.01
SPARE = 0.02                    # idle time that the machine must have, or clients may lack CPU


def parse_args():
    parser = parser_of("server", __doc__)
    add = parser.add_argument
    add("-q", "--quick", action="store_true", help="2%% of the CPU and 20 clients only")
    add("-l", "--level", action="append", type=int, metavar="PERCENT",
        help="only this share of the CPU: 2, 5, 20 (repeatable)")
    add("-n", "--clients", action="append", type=int, metavar="N",
        help="only this number of clients: 5, 10, 20, 35 (repeatable)")
    add("-P", "--policy", action="append", metavar="NAME",
        help="policy to compare with static: rrda (default), or another of "
        "net.sstp.buffer_policy (repeatable)")
    add("-a", "--ablation", action="store_true",
        help="2%% of the CPU and 20 clients, with much and with little memory: also RRDA "
             "without its EMA (omega = 1000), without the weight of memory, and with k = 1")
    add("-e", "--each", action="store_true",
        help="a buffer for each client, not one for all of them")
    add("-w", "--work", action="store_true",
        help="let the process also check every byte, which takes more CPU than reading it")
    add_files(add)
    add("-c", "--check", action="store_true",
        help=f"fail unless RRDA has at most a tenth of static's exhaustion, with 20 clients or "
             f"more and where static's is over {SCARCE:.0%}; 1.3 of static's goodput with the "
             f"least CPU and more than {MANY} clients, and no less in other cells; and static's "
             f"cost where nothing is discarded (up to {NOISE:.0%} of noise)".replace("%", "%%"))
    args = parser.parse_args()
    if args.ablation and args.each:
        parser.error("-a is about one buffer for all clients")
    return args


# --- in the guest ----------------------------------------------------------------

class Bench(Lab):
    """Measures transfers over many connections"""

    def __init__(self):
        super().__init__()
        self.group = Group("cpu +memory")
        # As a subreaper this process can wait for the server that --background detaches.
        self.libc.prctl(36, 1)          # PR_SET_CHILD_SUBREAPER
        write("/proc/sys/net/core/rmem_max", str(1 << 30))
        self.set_line(LINE, RTT, QUEUE)
        self.tunables = {name: read(f"{TUNABLES}/{name}") for name in os.listdir(TUNABLES)}

    def limit(self, percent):
        quota = PERIOD * percent // 100 if percent else "max"
        self.group.set("cpu.max", f"{quota} {PERIOD}")

    def must_have(self, policy):
        self.enter("b")
        try:
            write("/proc/sys/net/sstp/buffer_policy", actual(policy))
        except OSError as error:
            raise SystemExit(f"server: the module has no policy {policy}: {error}") from error

    def serve(self, clients, policy, shared):
        """Start the server; return its process ID once it listens."""
        self.enter("b")
        for name, value in {**self.tunables, **PARTS.get(policy, {})}.items():
            write(f"{TUNABLES}/{name}", str(value))
        write("/proc/sys/net/sstp/rmem", f"65536 {BUFFER} {256 * MB}")
        # The kernel doubles the value of SO_RCVBUF.
        fixed = ["--rcvbuf", str(BUFFER // 2)] if policy == "static" else []
        fixed += ["--pool"] if shared else []
        self.group.enter()
        parent = self.spawn("server", "server", "--background", "--pid", f"{SHM}/pid",
                            "--json", f"{SHM}/server.json", "-n", str(clients),
                            "--window-factor", "250", "--policy", actual(policy), *fixed, *OPTIONS)
        self.group.leave()
        status = exit_status(parent)
        if status:
            raise RuntimeError(f"the server did not start: status {status}")
        with open(f"{SHM}/pid", encoding="ascii") as f:
            return int(f.read())

    def connected(self):
        self.enter("b")
        return counters()["Established"]

    def state(self):
        """Return time, CPU statistics of the cgroup, and counters of both namespaces."""
        total = {"time": time.monotonic_ns(), "idle": idle_ns()}
        total.update(self.group.numbers("cpu.stat"))
        for ns in "ab":
            self.enter(ns)
            total.update({ns + name: value for name, value in counters().items()})
        return total

    def transfer(self, cell, policy, seconds):
        """Run the transfers of @cell with @policy; return their results."""
        server = self.serve(cell["clients"], policy, cell["shared"])
        self.limit(cell["level"])
        self.group.set("memory.max", str(cell["limit"] or "max"))
        start = self.state()
        self.enter("a")
        check = [] if cell["work"] else ["--no-check"]
        client = self.spawn("client", "client", *check, "-n", str(cell["clients"]),
                            "--for", str(seconds), "--json", f"{SHM}/client.json", *OPTIONS, SERVER)
        while self.connected() < start["bEstablished"] + cell["clients"]:
            if time.monotonic_ns() > start["time"] + PATIENCE:
                break                   # Its exit status tells why.
            time.sleep(0.001)
        begin = self.state()
        sizes = self.watch(cell, start, begin["time"] + int(seconds * 1e9))
        end = self.state()
        self.limit(None)
        self.group.set("memory.max", "max")
        status = [exit_status(client)]
        if status[0]:
            os.kill(server, signal.SIGKILL)
        status.append(exit_status(server))
        if any(status):
            raise RuntimeError(f"xfer failed: status of client and server: {status}")
        done = result([start, begin, end, self.state()], cell, seconds)
        if sizes:
            done["mean"] = sum(sizes) / len(sizes)
        return done

    @staticmethod
    def watch(cell, start, until):
        """Wait until the time @until; return samples of the size of the shared buffer if @cell
        asks for them, as they take some CPU."""
        sizes = []
        while cell["watch"] and time.monotonic_ns() < until - WATCH:
            time.sleep(WATCH / 1e9)
            now = counters()
            sizes.append(BUFFER + sum(
                sign * (now[name] - start["b" + name])
                for name, sign in (("RbufGrownBytes", 1), ("RbufShrunkBytes", -1))))
        time.sleep(max(until - time.monotonic_ns(), 0) / 1e9)
        return sizes


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read().strip()


def actual(policy):
    """Return the module's name of a policy, which has none for RRDA without a part."""
    return "rrda" if policy in PARTS else policy


def exit_status(pid):
    """Wait for a child; return its exit status, negative if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def result(states, cell, seconds):
    """Return the results of a transfer, from counters before and after, and xfer's reports."""
    start, begin, end, last = states
    served, sent = read_lines("server"), read_lines("client")[0]
    counted = {name: end[name] - begin[name] for name in end}
    took = sum(s["bytes"] for s in served)
    if len(served) != cell["clients"] or took != sent["bytes"]:
        raise RuntimeError(f"{len(served)} connections read {took} of {sent['bytes']} bytes")
    if begin["time"] - start["time"] > PATIENCE:
        raise RuntimeError("clients took too long to connect")
    if counted["idle"] < SPARE * counted["time"]:
        raise RuntimeError(f"the machine was idle for {counted['idle'] / 1e9:.2f} s only")
    # Bins are in bit/s. They begin when the server accepts the first connection, which may be
    # after @begin: the last bin could cover time in which the server has all of the CPU.
    count = round(seconds * 1e3 / sent["bin_ms"]) - 1
    each = [sum(s["goodput_bins"][:count]) / count for s in served]
    data = counted["bInPkts"] - counted["bInPacks"] - counted["bInSnaks"] - \
        counted["aOutKeepalives"]
    return {
        "goodput": sum(each),
        "exhaustion": counted["bInDiscarded"] / data,
        "jain": jain(each),
        "cost": (last["time"] - start["time"] - (last["idle"] - start["idle"])) / took,
        "memory": sum(s["receive_peak"] for s in served),
        "packets": data,
        "discarded": counted["bInDiscarded"],
        "backlog_drops": counted["bInBacklogDrop"],
        "no_memory": counted["bInNoMem"],
        "resized": counted["bRbufGrown"] + counted["bRbufShrunk"],
        "duplicates": counted["bInDuplicate"],
        "sent": counted["aOutData"] + counted["aRetransData"],
        "resent": counted["aRetransData"],
        "bytes": took,
        "seconds": (last["time"] - start["time"]) / 1e9,
        "idle": counted["idle"] / counted["time"],
        "server_cpu": counted["usage_usec"] / (counted["time"] / 1e3 * cell["level"] / 100),
        "server_user": counted["user_usec"] / max(counted["usage_usec"], 1),
        "throttled": counted["nr_throttled"] / max(counted["nr_periods"], 1),
    }


def guest(job_file):
    job = read_job(job_file)
    bench = Bench()
    for policy in job["policies"]:
        bench.must_have(policy)
    # A first transfer resolves addresses, and loads programs into memory.
    bench.transfer({"level": 100, "clients": 1, "limit": 0, "watch": False, "shared": False,
                    "work": False}, "static", 1)
    for cell in job["cells"]:
        for policy in job["policies"]:
            done = {**cell, "policy": policy}
            try:
                done.update(bench.transfer(cell, policy, SECONDS))
            except (RuntimeError, OSError, ValueError, LookupError, ArithmeticError) as error:
                done["failed"] = repr(error)
            report(done)


# --- on the host -----------------------------------------------------------------

def wanted_cells(args):
    if args.ablation:
        cells = ABLATION
    elif args.quick:
        cells = QUICK
    else:
        cells = [(level, clients, 0) for level in args.level or LEVELS
                 for clients in args.clients or CLIENTS]
    return [{"level": level, "clients": clients, "limit": limit, "watch": args.ablation,
             "shared": not args.each, "work": args.work} for level, clients, limit in cells]


def measure(args):
    """Measure all cells in one boot."""
    todo = wanted_cells(args)
    policies = list(dict.fromkeys(["static"] + (args.policy or ["rrda"]) +
                                  (list(PARTS) if args.ablation else [])))
    count = len(todo) * len(policies)
    measured = {"kernel": args.kernel,
                "source": digest("selftests/net/sstp/xfer*", "tools/python/sstptools/bench/server.py"),
                "seconds": SECONDS, "shared": not args.each, "work": args.work, "cells": []}
    cells = measured["cells"]
    say(f"{count} transfers of {SECONDS} s, a minute each or less")
    for cell in run("server", {"cells": todo, "policies": policies}, args.kernel,
                    300 + 120 * count, "--mem", "4G", "--append", "threadirqs"):
        cells.append(cell)
        say(f"{len(cells)}/{count} {name_of(cell)}, {cell['policy']}: {summary(cell)}")
    if len(cells) < count:
        sys.exit(f"server: {len(cells)} of {count} cells were measured")
    return measured


def say(text):
    print(f"server: {text}", file=sys.stderr, flush=True)


def described(here):
    level, limit = here
    return f"{level}% of the CPU" + (f", {limit // MB} MB of memory" if limit else "")


def name_of(cell):
    return f"{described(conditions(cell))}, {cell['clients']} clients"


def summary(cell):
    if "failed" in cell:
        return f"failed: {cell['failed']}"
    return (f"{cell['goodput'] / 1e6:.1f} Mbit/s, exhaustion {cell['exhaustion']:.3%}, Jain "
            f"{cell['jain']:.3f}, {cell['cost']:.3f} instructions a byte, "
            f"{cell['memory'] / MB:.1f} MB, "
            f"{cell['resized']} times resized; server {cell['server_cpu']:.0%} of its CPU, "
            f"machine idle {cell['idle']:.0%}")


def pairs(cells):
    """Yield pairs of cells with the same conditions: "static" and another policy."""
    good = [c for c in cells if "failed" not in c]
    for base in good:
        for cell in good:
            if base["policy"] == "static" != cell["policy"] and \
                    cell["policy"] not in PARTS and name_of(base) == name_of(cell):
                yield base, cell


def title(policy):
    return TITLES.get(policy, policy)


def check(cells):
    """Return a line for each limit of --check that is missed."""
    bad = []
    for base, cell in pairs(cells):
        where, ratio = name_of(cell), cell["goodput"] / base["goodput"]
        wanted = PAPER["goodput"] if cell["level"] == LEVELS[0] and cell["clients"] > MANY \
            else 1 - NOISE
        if cell["clients"] >= 20 and base["exhaustion"] > SCARCE and \
                cell["exhaustion"] > PAPER["exhaustion"] * base["exhaustion"]:
            bad.append(f"{where}: exhaustion {cell['exhaustion']:.3%}, over a tenth of "
                       f"{base['exhaustion']:.3%}")
        if ratio < wanted:
            bad.append(f"{where}: goodput {ratio:.3f} of static's, wanted {wanted:g}")
        if not base["discarded"] and not cell["discarded"] and \
                cell["cost"] > (1 + NOISE) * base["cost"]:
            bad.append(f"{where}: cost {cell['cost'] / base['cost']:.3f} of static's, "
                       f"wanted {1 + NOISE:g}")
    return bad


COLUMNS = (
    ("goodput, Mbit/s", lambda c: f"{c['goodput'] / 1e6:.1f}"),
    ("exhaustion", lambda c: f"{c['exhaustion']:.3%}"),
    ("Jain", lambda c: f"{c['jain']:.3f}"),
    ("instructions a byte", lambda c: f"{c['cost']:.3f}"),
    ("memory, MB", lambda c: f"{c['memory'] / MB:.1f}"),
    ("resized", lambda c: str(c["resized"])),
)
WATCHED = (("on average, MB", lambda c: f"{c['mean'] / MB:.1f}"),)


def conditions(cell):
    """Return the conditions that a cell shares with others of a table or a row of panels."""
    return cell["level"], cell["limit"]


def tables(cells):
    """Return a table for each of the conditions."""
    text = ""
    for here in dict.fromkeys(map(conditions, cells)):
        chosen = [c for c in cells if conditions(c) == here]
        columns = COLUMNS + (WATCHED if any("mean" in c for c in chosen) else ())
        rows = [["clients", "buffer"] + [head for head, _ in columns]]
        rows += [[str(c["clients"]), title(c["policy"])] +
                 ["failed" if "failed" in c else value(c) for _, value in columns]
                 for c in chosen]
        text += f"\n{described(here)}:\n\n" + markdown_table(rows)
    return text


def found_in_paper(cells):
    """Yield the paper's results, each with the number of cells in which it holds here, of those
    that it applies to."""
    claims = (
        (f"a tenth of static's exhaustion, with more than {MANY} clients",
         lambda b, c: b["clients"] > MANY and b["exhaustion"] > SCARCE,
         lambda b, c: c["exhaustion"] <= PAPER["exhaustion"] * b["exhaustion"]),
        (f"30% more goodput with the least CPU and more than {MANY} clients",
         lambda b, c: b["clients"] > MANY and b["level"] == LEVELS[0],
         lambda b, c: c["goodput"] >= PAPER["goodput"] * b["goodput"]),
        (f"the same goodput up to {MANY} clients (5%)",
         lambda b, c: b["clients"] <= MANY,
         lambda b, c: abs(c["goodput"] / b["goodput"] - 1) <= 0.05),
        ("3% more CPU a byte at most, with 35 clients",
         lambda b, c: b["clients"] == 35,
         lambda b, c: c["cost"] <= PAPER["cost"] * b["cost"]))
    for text, about, holds in claims:
        here = [(b, c) for b, c in pairs(cells) if about(b, c)]
        so = sum(holds(b, c) for b, c in here)
        yield f"{text}: " + (f"holds in {so} of {len(here)} cells" if here else
                             "applies to no cell")


def chapter(measured, picture):
    cells = measured["cells"]
    failed = [f"{name_of(c)}, {title(c['policy'])}: {c['failed']}" for c in cells if "failed" in c]
    many = [title(p) for p in dict.fromkeys(c["policy"] for c in cells) if p != "static"]
    text = (
        f"Written by `tools/bench/server`, whose `-h` says how it is measured, on Linux "
        f"{measured['kernel']}, sources {measured['source']}. Clients send for "
        f"{measured['seconds']} s over a line of 500 Mbit/s and 10 ms to one process, which reads "
        f"{'and checks ' if measured['work'] else ''}every byte and has a share of one CPU of 10^9 "
        "instructions a second. "
        f"{'All clients share' if measured['shared'] else 'Each client has'} a buffer of "
        f"{BUFFER // MB} MB, which is fixed (static) or adapts ({', '.join(many)}). Static "
        "grants windows of 2.5 buffers, RRDA "
        f"{'never does' if measured['shared'] else 'only while half of a buffer is enough'}. "
        "Exhaustion is the share of the DATA packets that were discarded as they exceeded the "
        "buffer; instructions are those of the whole machine; memory is the sum over the "
        "connections of the largest memory that each had in use; resized is the number of times "
        "that a buffer grew or shrank. \"The paper\" is Liu, Zhang, Zhou and Xue, \"A Rate and "
        "Resource Detection Based Receive Buffer Adaptation Approach for High-speed Data "
        "Transportation\".")
    parts = any(c["policy"] in PARTS for c in cells)
    if parts:
        text += (
            " Each variant of RRDA lacks one part: its EMA (equation 1, omega = 1000), the weight "
            "of the memory in use (equation 4 with 1 in place of alpha and of 1 - alpha), or the k "
            "epochs of equation 2 (k = 1). A size of memory is memory.max of the server's cgroup. "
            "The average is the buffer's size over time.")
    head = "The effect of each part of RRDA on a server" if parts else \
        "A server with many clients and little CPU" + \
        ("" if measured["shared"] else ", a buffer for each client")
    return (
        f"# {head}\n\n" +
        textwrap.fill(text, 88) +
        f"\n\n![A server with many clients and little CPU]({picture})\n" +
        tables(cells) + listed("Results of the paper for RRDA", list(found_in_paper(cells))) +
        listed("Not as wanted", check(cells)) + listed("Failed", failed))


PANELS = (("exhaustion", "exhaustion", 1, "a tenth of static's (Liu et al.)"),
          ("goodput", "goodput, Mbit/s", 1e6, "1.3 of static's (Liu et al.)"),
          ("cost", "instructions a byte", 1, "1.03 of static's (Liu et al.)"))
MORE_PANELS = (("mean", "size on average, MB", MB, None), ("resized", "times resized", 1, None))


def plot(cells, name):
    good = [c for c in cells if "failed" not in c]
    parts = any(c["policy"] in PARTS for c in cells)
    all_conditions = list(dict.fromkeys(map(conditions, cells)))
    panels = PANELS + MORE_PANELS if parts else PANELS
    figure, axes = drawing().subplots(len(all_conditions), len(panels), squeeze=False,
                                      figsize=(4.5 * len(panels), 3 * len(all_conditions)))
    for row, here in zip(axes, all_conditions):
        for axis, (key, label, unit, says) in zip(row, panels):
            chosen = [c for c in good if conditions(c) == here]
            if parts:
                bars(axis, chosen, key, unit)
            else:
                curves(axis, chosen, key, unit, says)
            top = max((c[key] / unit for c in chosen), default=0)
            axis.set_ylim(0, 1.5 * top or 1)
            axis.set_title(described(here), loc="left", fontsize=10)
            axis.set_ylabel(label)
            axis.grid(True, alpha=0.3)
    save(figure, name)


def bars(axis, cells, key, unit):
    for cell in cells:
        bar = axis.bar(title(cell["policy"]), cell[key] / unit)
        axis.bar_label(bar, fmt="%.3g", fontsize=8)
    axis.tick_params(axis="x", rotation=20, labelsize=8)


def curves(axis, cells, key, unit, says):
    for policy in dict.fromkeys(c["policy"] for c in cells):
        axis.plot(*points(cells, policy, key, unit), marker="o", label=title(policy))
    # The paper has results for these cells only.
    about = [c for c in cells if c["clients"] > MANY and
             (key != "exhaustion" or c[key] > SCARCE) and
             (key != "goodput" or c["level"] == LEVELS[0]) and
             (key != "cost" or c["clients"] == 35)]
    marks = points(about, "static", key, unit / PAPER[key])
    if marks[0]:
        axis.plot(*marks, "_", color="black", alpha=0.35, markersize=16, label=says)
    axis.set_xlim(left=0)
    axis.set_xlabel("clients")
    axis.legend(fontsize=8)


def points(cells, policy, key, unit):
    chosen = sorted((c["clients"], c[key] / unit) for c in cells if c["policy"] == policy)
    return [x for x, _ in chosen], [y for _, y in chosen]


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    cells = measured["cells"]
    print(tables(cells).lstrip())
    show(args, lambda name: plot(cells, name), lambda picture: chapter(measured, picture))
    failed, bad = [c for c in cells if "failed" in c], check(cells)
    for cell in failed:
        say(f"failed: {name_of(cell)}, {cell['policy']}: {cell['failed']}")
    for line in bad:
        say(f"not as wanted: {line}")
    return 1 if failed or (bad and args.check) else 0


if __name__ == "__main__":
    sys.exit(main())
