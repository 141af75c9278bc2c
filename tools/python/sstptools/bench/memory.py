# SPDX-License-Identifier: GPL-2.0
"""Measures how the receive buffers of a server follow its load and the available memory.

A server reads all received data every 250 ms, from clients that send 1.5 MB/s each. It
shares a memory cgroup of 64 MB or, in another boot, all of a small machine, with another
process, which allocates a fixed amount for a while, regardless of the memory that is left.
There is no swap. The policy is "rrda", with buffers that begin at its floor. Each boot goes
through these phases:

  5 send, 35 send   clients connect and send
  memory is filled  the other process allocates all memory of the cgroup but 8 MB, or of
                    the machine but 40 MB, which clients and their packets need
  memory is free    the other process has freed its memory
  5 send again      the other clients stay connected
  none sends
  1000 are idle     1000 connections, on which nothing arrives

Every 100 ms SSTP_INFO is read of each connection of the server: the limit of its receive
buffer and the memory in use. All received data is checked. The machine has one emulated
CPU that runs one instruction a nanosecond, so the speed of this host does not matter.

Exit status: 0, or 1 if a boot did not finish or, with --check, if a result is not as wanted.
"""

import subprocess
import sys
import textwrap
import time

from sstptools.bench.common import (SERVER, Group, Lab, Process, add_files, counters, digest,
                                    drawing, listed, numbers, parser_of, read_job, report, results,
                                    run, save, show, write)
from sstptools.markdown import markdown_table

MB = 1 << 20
INTERVAL = 100_000_000          # ns between samples
PAUSE = 250                     # ms between reads of the server
RATE = 1_500_000                # bytes/s of a client
FEW, MANY, IDLE = 5, 35, 1000   # connections
LINE, RTT, QUEUE = "1gbit", "2ms", "4mb"
MTU = 9000                      # fewer packets, so fewer instructions
FLOOR = 64 << 10
MOST = 256 * MB                 # net.sstp.rmem[2]
CGROUP, MACHINE = "cgroup", "machine"
GROUP = 64 * MB                 # memory.max of the server and the other process
# Memory that the other process leaves free in the end, that it allocates less at first, and
# that it adds between two samples
LEFT, BASE, PACE = {CGROUP: 8 * MB, MACHINE: 40 * MB}, 32 * MB, MB
PLACES = {CGROUP: "4G", MACHINE: "1G"}        # the machine's memory
# Names of the phases, and their seconds
SOME, ALL, FILLED, FREE, LESS, NONE, THOUSAND = (
    f"{FEW} send", f"{MANY} send", "memory is filled", "memory is free",
    f"{FEW} send again", "none sends", f"{IDLE} are idle")
SECONDS = {SOME: 3, ALL: 4, FILLED: 6, FREE: 4, LESS: 3, NONE: 3, THOUSAND: 2}
TURNS = 5                       # samples to average: those of two reads, between which limits vary
SETTLED = 2                     # s at the end of a phase whose mean is the phase's result
NEARLY = 0.9                    # share of the other process's memory when memory is nearly full
# Wanted
LOADED = 3                      # limits with many senders relative to their floors, at least
SHARE = 0.5                     # limits with few senders again relative to many, at most
SOON = 1.5                      # s from the last byte until all limits are at their floors
STILL = 1.05                    # limits later relative to when memory is nearly full, at most
SHRUNK = 0.5                    # limits when memory is full relative to before, at most
REGROWN = 1.5                   # limits when memory is free again relative to full, at least
# Counters that must not rise: of the cgroup, the machine, SSTP, and in the kernel's log
TROUBLES = ("memory.events max", "memory.events oom", "memory.events oom_kill",
            "vmstat oom_kill", "vmstat pswpout", "InNoMem", "OutNoMem", "page allocation failure")


def parse_args():
    parser = parser_of("memory", __doc__)
    add = parser.add_argument
    add_files(add)
    add("-c", "--check", action="store_true",
        help=f"fail unless the sum of the limits is at least {LOADED} times the floors with {MANY} "
             f"senders, and more than with {FEW}; at most {SHARE} of that with {FEW} again; at the "
             f"floors {SOON} s after the last byte, and with {IDLE} idle connections; at most "
             f"{STILL} of its first value while memory is nearly full (means of {TURNS} samples); "
             f"at most {SHRUNK} of that with {MANY} senders when memory is full, and at least "
             f"{REGROWN} times as much when it is free again; and unless every byte arrived, no "
             "process was killed, no page swapped out and no allocation failed")
    return parser.parse_args()


# --- in the guest ----------------------------------------------------------------

class Limited(Group):
    """A cgroup whose memory.max is GROUP"""

    def __init__(self):
        super().__init__("memory")
        self.set("memory.max", str(GROUP))
        self.most = GROUP

    def used(self):
        return int(self.read("memory.current"))

    def events(self):
        return self.numbers("memory.events")


class Machine:
    """All memory of the machine, with the interface of Limited"""

    def __init__(self):
        self.most = self.available()

    @staticmethod
    def available():
        with open("/proc/meminfo", encoding="ascii") as f:
            return next(int(line.split()[1]) << 10 for line in f if "MemAvailable" in line)

    def used(self):
        return self.most - self.available()

    def events(self):
        return dict.fromkeys(("max", "oom", "oom_kill"), 0)

    def enter(self):
        pass

    leave = enter


class Bench(Lab):
    """The server, its clients and the process that fills memory"""

    def __init__(self, place):
        super().__init__()
        self.set_mtu(MTU)
        self.set_line(LINE, RTT, QUEUE)
        self.enter("a")
        self.client = Process("client", SERVER, str(RATE))
        self.enter("b")
        write("/proc/sys/net/sstp/rmem", f"{FLOOR} {FLOOR} {MOST}")
        write("/proc/sys/net/sstp/buffer_policy", "rrda")
        self.group = Limited() if place == CGROUP else Machine()
        self.fill = self.group.most - LEFT[place]
        self.group.enter()
        self.server, self.filler = Process("server"), Process("filler")
        self.group.leave()
        self.server.ask("pause", PAUSE)
        self.filled = 0
        self.client.ask("connect", FEW)
        self.before = self.troubles()
        self.start = self.next = time.monotonic_ns()

    def sample(self, phase):
        self.next += INTERVAL
        now = time.monotonic_ns()
        if now < self.next:
            time.sleep((self.next - now) / 1e9)
        else:
            self.next = now
        seen = self.server.ask("look")
        seen.update(time=round((time.monotonic_ns() - self.start) / 1e9, 3), phase=phase,
                    group=self.group.used(), filled=self.filled)
        report({"sample": seen})

    def pass_time(self, phase):
        for _ in range(SECONDS[phase] * 1_000_000_000 // INTERVAL):
            if phase == FILLED:
                self.take(min(max((self.filled or 0) + PACE, self.fill - BASE), self.fill))
            self.sample(phase)

    def take(self, count):
        """Let the other process allocate @count bytes in all, unless it was killed."""
        if self.filled is None:
            return
        try:
            self.filler.ask("take", count)
            self.filled = count
        except (RuntimeError, BrokenPipeError):
            self.filled = None

    def troubles(self):
        """Return the counters of TROUBLES: kills, swap, drops and failed allocations."""
        events = self.group.events()
        machine = numbers("/proc/vmstat")
        log = subprocess.run(["dmesg"], stdout=subprocess.PIPE, text=True, check=True).stdout
        total = {f"memory.events {name}": events[name] for name in ("max", "oom", "oom_kill")}
        total.update({f"vmstat {name}": machine[name] for name in ("oom_kill", "pswpout")})
        total.update(dict.fromkeys(("InNoMem", "OutNoMem"), 0))
        for ns in "ab":
            self.enter(ns)
            for name in ("InNoMem", "OutNoMem"):
                total[name] += counters()[name]
        total["page allocation failure"] = log.count("page allocation failure")
        return total

    def timeline(self):
        self.client.ask("send", FEW)
        self.pass_time(SOME)
        self.client.ask("connect", MANY)
        self.client.ask("send", MANY)
        self.pass_time(ALL)
        self.pass_time(FILLED)
        self.take(0)
        self.pass_time(FREE)
        self.client.ask("send", FEW)
        self.pass_time(LESS)
        self.client.ask("send", 0)
        self.pass_time(NONE)
        self.client.ask("connect", IDLE)
        self.pass_time(THOUSAND)

    def result(self):
        """Return the totals of the whole timeline."""
        sent = self.client.ask("end")["bytes"]
        now = self.troubles()
        return {"most": self.group.most, "fill": self.fill,
                "sent": sent, "received": self.server.ask("end")["bytes"],
                "troubles": {name: now[name] - self.before[name] for name in TROUBLES}}


def guest(job_file):
    job = read_job(job_file)
    try:
        bench = Bench(job["place"])
        bench.timeline()
        report({"result": bench.result()})
    except (RuntimeError, OSError, ValueError, LookupError) as error:
        report({"failed": repr(error)})


# --- on the host -----------------------------------------------------------------

def measure(args):
    say(f"{sum(SECONDS.values())} s of each machine's time, which take a minute or two")
    return {"kernel": args.kernel,
            "source": digest("selftests/net/sstp/crowd.c", "tools/python/sstptools/bench/memory.py"),
            "places": {place: measure_in(place, args.kernel) for place in PLACES}}


def measure_in(place, kernel):
    measured = {"samples": [], "result": {}}
    samples = measured["samples"]
    for line in run("memory", {"place": place}, kernel, 900, "--mem", PLACES[place],
                    programs=("crowd",)):
        if "sample" in line:
            if samples and samples[-1]["phase"] != line["sample"]["phase"]:
                say(f"{place}: {summary(samples)}")
            samples.append(line["sample"])
        else:
            measured.update(line)
    if samples:
        say(f"{place}: {summary(samples)}")
    if not measured["result"]:
        measured.setdefault("failed", "the machine reported no result")
    return measured


def say(text):
    print(f"memory: {text}", file=sys.stderr, flush=True)


def megabytes(count):
    return f"{count / MB:.1f}"


def of_phase(samples, phase):
    return [s for s in samples if s["phase"] == phase]


def summary(samples):
    """Return a line about the phase of the last sample."""
    phase = samples[-1]["phase"]
    here = of_phase(samples, phase)
    limits = [s["limit"] for s in here]
    return (f"{phase}: limits of {megabytes(min(limits))} to {megabytes(max(limits))} MB, "
            f"in use {megabytes(max(s['queued'] for s in here))} MB at most")


def settled(samples, phase):
    """Return the mean sum of the limits in the last SETTLED seconds of a phase."""
    last = of_phase(samples, phase)
    last = [s["limit"] for s in last if s["time"] > last[-1]["time"] - SETTLED]
    return sum(last) / len(last)


def most(samples, phase, key):
    return max(s[key] for s in of_phase(samples, phase))


def at_floor(sample):
    return sample["least"] == sample["most"] == FLOOR


def fall(here):
    """Return the seconds from the last byte that was read until all limits stay at the floor, or
    None if they do not."""
    if not at_floor(here[-1]):
        return None
    last = next(s["time"] for s in here if s["bytes"] == here[-1]["bytes"])
    return max([s["time"] for s in here if not at_floor(s)] + [last]) - last


def growth(here):
    """Return the largest mean of TURNS samples, relative to the first: 1 if limits never grow."""
    limits = [s["limit"] for s in here]
    means = [sum(limits[i:i + TURNS]) for i in range(max(len(limits) - TURNS, 0) + 1)]
    return max(means) / means[0]


def figures(measured):
    """Return the numbers that facts() prints and check() compares."""
    samples, result = measured["samples"], measured["result"]
    # "filled" is None once the other process was killed.
    filled = [s for s in of_phase(samples, FILLED) if s["filled"] is not None]
    late = [s for s in filled if s["filled"] >= NEARLY * result["fill"]] or filled[-1:]
    return {
        "some": settled(samples, SOME), "all": settled(samples, ALL),
        "killed": filled[-1]["filled"] if samples[-1]["filled"] is None else 0,
        "still": growth(late),
        "full": settled(late, FILLED), "free": settled(samples, FREE),
        "less": settled(samples, LESS), "fall": fall(of_phase(samples, NONE)),
        "group": max(s["group"] for s in samples),
        "idle": of_phase(samples, THOUSAND)[-1],
        "troubles": [f"{name} {count}" for name, count in result["troubles"].items() if count],
    }


def check(measured):
    """Return a line for each limit of --check that is missed."""
    result, f = measured["result"], figures(measured)
    wants = (
        (f["all"] >= LOADED * MANY * FLOOR and f["all"] > f["some"],
         f"{ALL}: limits of {megabytes(f['all'])} MB, floors of {megabytes(MANY * FLOOR)} MB"),
        (f["still"] <= STILL, f"{FILLED}: limits grow to {f['still']:.2f} of their value when "
         f"memory is nearly full, wanted {STILL}"),
        (f["full"] <= SHRUNK * f["all"], f"{FILLED}: limits are {f['full'] / f['all']:.2f} of "
         f"their value before, wanted {SHRUNK}"),
        (not f["killed"], f"{FILLED}: the other process was killed with "
         f"{megabytes(f['killed'])} MB"),
        (f["free"] >= REGROWN * f["full"], f"{FREE}: limits are {f['free'] / f['full']:.2f} of "
         f"their value when memory was full, wanted {REGROWN}"),
        (f["less"] <= SHARE * f["all"], f"{LESS}: limits are {f['less'] / f['all']:.2f} of those "
         f"with {MANY}, wanted {SHARE}"),
        (f["fall"] is not None and f["fall"] <= SOON,
         f"{NONE}: floors are not reached {SOON} s after the last byte"),
        (f["idle"]["connections"] == IDLE and at_floor(f["idle"]),
         f"{THOUSAND}: limits from {f['idle']['least']} to {f['idle']['most']} bytes of "
         f"{f['idle']['connections']}, wanted {FLOOR} each"),
        (not f["troubles"], ", ".join(f["troubles"])),
        (result["received"] == result["sent"],
         f"{result['received']} bytes of {result['sent']} arrived"))
    return [text for so, text in wants if not so]


def table(samples):
    rows = [["", "s", "connections", "limits, MB", "in use, MB at most", "of all, MB at most"]]
    for phase in dict.fromkeys(s["phase"] for s in samples):
        here = of_phase(samples, phase)
        limits = [s["limit"] for s in here]
        rows.append([phase, f"{here[0]['time']:.1f} to {here[-1]['time']:.1f}",
                     str(here[-1]["connections"]),
                     f"{megabytes(min(limits))} to {megabytes(max(limits))}, "
                     f"last {megabytes(limits[-1])}",
                     megabytes(most(here, phase, "queued")),
                     megabytes(most(here, phase, "group"))])
    return markdown_table(rows)


def facts(measured):
    result, f = measured["result"], figures(measured)
    yield (f"With {FEW} senders the limits are {megabytes(f['some'])} MB together, with {MANY} "
           f"{megabytes(f['all'])} MB, {f['all'] / (MANY * FLOOR):.1f} times their floors, and "
           f"with {FEW} again {megabytes(f['less'])} MB.")
    yield ("Without senders not all limits fall to their floors." if f["fall"] is None else
           f"Without senders all limits are at their floors {f['fall']:.1f} s after the last byte.")
    yield (f"Once the other process has {NEARLY:.0%} of its memory, the sum of the limits (a mean "
           f"over two reads of the server) is at most {f['still']:.2f} of its first value. Relative "
           f"to its mean with {MANY} senders before, it is {f['full'] / f['all']:.2f} in the last "
           f"{SETTLED} s of this phase, and {f['free'] / f['all']:.2f} when memory is free again.")
    yield ("The other process " +
           (f"was killed when it had {megabytes(f['killed'])} of its {megabytes(result['fill'])} MB."
            if f["killed"] else f"got its {megabytes(result['fill'])} MB."))
    yield (f"Of {megabytes(result['most'])} MB at most {megabytes(f['group'])} were in use. " +
           (f"Counters that must not rise: {', '.join(f['troubles'])}." if f["troubles"] else
            "No cgroup was at its limit, no process was killed, no page swapped out, and no "
            "allocation failed."))
    yield (f"{f['idle']['connections']} idle connections have limits of "
           f"{f['idle']['least'] >> 10} to {f['idle']['most'] >> 10} KB, "
           f"{megabytes(f['idle']['limit'])} MB together, of which "
           f"{megabytes(f['idle']['queued'])} MB are in use.")
    yield f"{result['received']} of {result['sent']} bytes arrived, each as it was sent."


def chapter(measured, picture):
    text = (
        f"Written by `tools/bench/memory`, whose `-h` says how it is measured, on Linux "
        f"{measured['kernel']}, sources {measured['source']}. Clients send {RATE / 1e6:g} MB/s "
        f"each to a server that reads all received data every {PAUSE} ms. It shares a memory "
        f"cgroup of {GROUP // MB} MB, or a machine of {PLACES[MACHINE]}B, without swap, with a "
        f"process that fills memory for a while; that process begins with {BASE // MB} MB less "
        f"than it has in the end, and allocates {PACE // MB} MB every {INTERVAL // 1_000_000} ms. "
        "Limits and memory in use are sums over the receive buffers of all connections of the "
        f"server. Each limit begins at the floor of {FLOOR >> 10} KB.")
    head = "# Memory: receive buffers follow the load, and leave memory to others\n\n"
    body = ""
    for place, here in measured["places"].items():
        body += f"\n## In a {place}\n\n{table(here['samples'])}"
        if "failed" in here:
            body += listed("Failed", [here["failed"]])
            continue
        body += listed("Measured", [
            textwrap.fill(fact, 86, subsequent_indent="  ") for fact in facts(here)])
        body += listed("Not as wanted", check(here))
    return (head + textwrap.fill(text, 88) +
            f"\n\n![Receive buffers, their use and all memory]({picture})\n" + body)


def plot(measured, name):
    places = {place: here for place, here in measured["places"].items() if here["samples"]}
    figure, axes = drawing().subplots(2, len(places), squeeze=False, figsize=(11, 7))
    for (place, here), above, below in zip(places.items(), *axes):
        plot_place(place, here, above, below)
    save(figure, name)


def plot_place(place, measured, above, below):
    samples, result = measured["samples"], measured["result"]
    times = [s["time"] for s in samples]
    above.plot(times, [s["limit"] / MB for s in samples], label="limits")
    above.fill_between(times, [s["queued"] / MB for s in samples], color="tab:orange", alpha=0.5,
                       label="in use")
    above.plot(times, [s["connections"] * FLOOR / MB for s in samples], "--", color="gray",
               label="floors")
    above.set_ylabel("receive buffers of all, MB")
    others = [(s["filled"] or 0) / MB for s in samples]
    below.fill_between(times, others, color="tab:red", alpha=0.3, label="the other process")
    below.plot(times, [s["group"] / MB for s in samples], color="tab:green",
               label=f"all of the {place}")
    if result:
        below.axhline(result["most"] / MB, color="black", linestyle=":", label="what there is")
    below.set_ylabel("memory, MB")
    below.set_xlabel("s")
    for axis in (above, below):
        axis.set_xlim(0, times[-1])
        axis.set_ylim(0, 1.1 * axis.get_ylim()[1])
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=7, loc="upper left")
    for phase in dict.fromkeys(s["phase"] for s in samples):
        begin = of_phase(samples, phase)[0]["time"]
        for axis in (above, below):
            axis.axvline(begin, color="black", linewidth=0.6, alpha=0.5)
        above.annotate(phase, (begin, 1), (3, 3), xycoords=("data", "axes fraction"),
                       textcoords="offset points", fontsize=7, rotation=30)


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    if any(here["samples"] for here in measured["places"].values()):
        show(args, lambda name: plot(measured, name), lambda picture: chapter(measured, picture))
    bad = 0
    for place, here in measured["places"].items():
        print(f"In a {place}:\n\n{table(here['samples'])}")
        if "failed" in here:
            say(f"{place}: failed: {here['failed']}")
            return 1
        print("".join(f"{fact}\n" for fact in facts(here)))
        for line in check(here):
            say(f"{place}: not as wanted: {line}")
            bad += 1
    return 1 if bad and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
