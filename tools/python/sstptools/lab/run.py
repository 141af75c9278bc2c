# SPDX-License-Identifier: GPL-2.0
"""Runs experiments: measures the module on simulated paths, in simulated time.

An experiment is a file with a path, flows over it, and the settings to vary. EXPERIMENT is the
name of one in tools/lab/experiments, or a path FILE.toml; its results have the file's name.
Each combination of settings and flow, a cell, runs in a User Mode Linux of its own. In its time
code takes none, only links and timers do, so the speed of this machine does not matter, and the
same seed gives the same bytes again. With another kind of processor, kernel or compiler other
packets are lost.

The file has, in TOML:
  title       heading of the results
  seconds     duration of a flow; may also be a setting, or in [let]
  draw        picture: "settings" (default: share of the line against the first setting that is
              varied), or one of those that tools/lab/experiments use, for the same settings
  together    true: all flows share the path, not each in a cell of its own
  sample      true: the queue is sampled every 10 ms: mean and 95% of its delays are measured
  trace       true, with sample: what windows and queue of an SSTP connection did over time is kept
  [path]      rate (bit/s), rtt (ms), loss (share of packets), and the size of the queue, as one
              of queue (bandwidth-delay products of queue and wire: half of one is on the wire, 100
              packets are added), queue_bdp (bandwidth-delay products of the queue alone) or queue_ms
              (ms, where queue_bdp is 0 or not given);
              also loss_back, rate_back (of the way back), outage_at, outage_for (s), rtt_later
              (ms), which the round-trip time becomes at rtt_at (s), reorder and bursts
              (arguments of netem's "reorder" and "loss"; loss is still what the line loses),
              slot (ms: the line delivers at multiples of it what it has sent until then, as
              interfaces do that interrupt once for several packets),
              access (bit/s: rate of the links between senders, or cross traffic, and the
              line; 0: any),
              bucket (arguments of a token bucket tbf at the rate, behind a line of wire bit/s),
              settle (s; with --bin: how the connections share the line is measured from then
              on); spread (ms: each flow starts later by up to so much, by random numbers of the
              seed and the path; the connections of one flow start together); and settings of
              your own
  [sweep]     lists of values of settings that are varied; [quick]: those for --quick
              (default: the same)
  [case.NAME] settings of the path for NAME, which is among the values of "case" in [sweep]
  [let]       settings computed from others: +, -, *, /, //, int(), max(), min()
  [[flow]]    name, proto ("sstp" or "tcp"), client and server: options of selftests' xfer, in
              which {rate} is replaced by the setting of this name; start (s) and rtt (ms, if
              not the path's), of which lists make several flows; size (bytes to send, in place
              of seconds; also {NAME} of a setting) and times (how often, one transfer after the
              other)
  [[cross]]   cross traffic that shares the line with the flows: name, kind, rate (bit/s of the
              line, with headers), rtt (ms, if not the path's; at least half of it), start and
              stop (s; a stop of 0: never); all may be {NAME} of a setting, and a rate of 0 is no traffic. Each seed
              has other random numbers. The kinds, with settings of their own:
              udp    count sources (64) that send at a constant rate for on ms, and nothing for
                     off ms (means, 50 and 150): bounded Pareto distributions of shape (1.5);
                     packet: bytes of a frame (1514)
              flows  TCP connections that begin as a Poisson process, each sends a size from least
                     to most (1e4, 1e7 bytes): a bounded Pareto distribution of shape (1.5); the
                     congestion control controller
              long   count TCP connections (1) whose windows are so small that all have the rate at
                     most; controller
  [[wanted]]  flow, measure, least, most, where: the range of a measure, and the cells in
              which it has to hold

Each flow's result has the packets that it lost on the way (lost), and those of cross traffic this
and the rate while flows last. If some of it stops, flows with --bin have the round-trip times from
then until 90% of what the rest of it leaves (gain_rtt).

A file may instead have a title and experiments, a list of those that it stands for.

Writes DIR/NAME.json with the settings and measurements of every cell, which tools/lab/plot
then draws. Exit status 1 if a cell failed, 3 if a measure is not in its wanted range.
"""

import argparse
import concurrent.futures
import functools
import glob
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

from sstptools import vm
from sstptools.lab.cell import PROGRAMS, run_cell
from sstptools.lab.experiment import cells, experiments, load, members, name_of
from sstptools.lab.verdict import describe, means, misses, unjudged
from sstptools.tree import TREE

TIMES = {"start_rtt": "90% after", "arrive_rtt": "arrivals after",
         "back_rtt": "back after", "arrive_back_rtt": "arrivals back after"}


def summary(cell):
    """Return the measurements of a cell in one line."""
    measured = cell["measured"]
    text = [f"{r['goodput'] / 1e6:.1f} Mbit/s, {r['efficiency']:.3f} of the line"
            for r in measured["flows"]]
    for r in measured["flows"]:
        text += [f"{what} {r[k]} RTT" for k, what in TIMES.items() if k in r]
        if "discarded" in r:
            text.append(f"buffer {r['buffer_max'] / 1e6:.2f} MB at most, "
                        f"{r['buffer_mean'] / 1e6:.2f} on average, {r['discarded']:.4f} discarded")
    text += [f"{r['of_analysis']:.3f} of the analysis" for r in measured["flows"]
             if "of_analysis" in r]
    text += [f"{r['time']:.3f} s each" for r in measured["flows"] if "time" in r]
    text += [f"{r['fair']:.3f} of its share" for r in measured["flows"] if "fair" in r]
    if "use" in measured:
        text.append(f"all use {measured['use']:.3f}")
    if "jain" in measured:
        text.append(f"Jain {measured['jain']:.3f}")
    if "queue_ms" in measured:
        text.append(f"queue {measured['queue_ms']:.1f} ms")
    if "delay_mean" in measured:
        text.append("segment delay {delay_mean:.4f} s, at most {delay_max:.4f} s".format(**measured))
    return ", ".join(text)


MODULE = ("net/sstp/*.[ch]", "net/sstp/Kbuild", "Kbuild", "include/**/*.h")
BENCH = ("selftests/net/sstp/xfer*", "selftests/net/sstp/cross.c",
         "selftests/net/sstp/backlog.c", "selftests/net/sstp/lib.*", "selftests/net/sstp/path.sh",
         "selftests/net/sstp/Makefile", "tools/lab/guest", "tools/vm/config.uml", "tools/vm/*.c",
         "tools/vm/guest", "tools/python/sstptools/lab/analysis.py",
         "tools/python/sstptools/lab/cell.py", "tools/python/sstptools/lab/trace.py",
         "tools/python/sstptools/vm/*.py")


@functools.cache
def compiler():
    return subprocess.run(["gcc", "--version"], check=True, stdout=subprocess.PIPE).stdout


def source(*patterns):
    """Return a digest of the compiler and of the files that match @patterns."""
    digest = hashlib.sha256(compiler())
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(TREE, pattern), recursive=True)):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    digest.update(f.read())
    return digest.hexdigest()[:16]


def source_keys():
    """Return digests of all that a result depends on, without the module and with it."""
    return source(*BENCH), source(*MODULE, *BENCH)


def fetch_kernel():
    """Build or download the kernel; return its name, with release, package and configuration."""
    return os.path.basename(vm.fetch("uml"))


def earlier(path):
    """Return the cells of an earlier run, if there was one."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)["cells"]
    except FileNotFoundError:
        return []


def known(path, todo):
    """Return results of earlier cells with the same settings, source and kernel, by index in
    @todo."""
    done, found = earlier(path), {}
    for i, cell in enumerate(todo):
        same = [d for d in done if "measured" in d and all(d.get(k) == cell[k] for k in cell)]
        if same:
            found[i] = same[0]
    return found


def same_settings(one, other):
    return all(one.get(k) == other.get(k)
               for k in ("path", "seconds", "seed", "flows", "cross", "delays", "trace"))


def others(path, every, todo):
    """Return results of an earlier run of cells that are not in @todo, by index in @every."""
    done = earlier(path)
    return {i: old for i, cell in enumerate(every) if cell not in todo
            for old in done if same_settings(old, cell)}


def set_aside(path, results):
    """Keep an earlier run's file beside the new one, if @results lacks some of what it has: the
    experiment, the sources or the kernel may be changed back."""
    dropped = sum("measured" in old and old not in results for old in earlier(path))
    if dropped:
        old = next(name for n in itertools.count(1)
                   if not os.path.exists(name := f"{path}.old{n}"))
        shutil.copyfile(path, old)
        print(f"{dropped} results of other settings, sources or kernels are in {old}", flush=True)


def save(path, experiment, quick, results):
    """Write the results so far; a reader never finds an incomplete file."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump({"title": experiment["title"], "draw": experiment["draw"],
                   "varied": list(experiment["quick" if quick else "sweep"]), "quick": quick,
                   "show": experiment.get("show", ["efficiency"]),
                   "count": len(results), "cells": [cell for cell in results if cell]},
                  f, indent=1)
        f.write("\n")
    os.replace(path + ".new", path)


def checked(cell):
    """Return @cell as failed if the tree changed while the cell ran: each machine builds the
    module and runs the programs of the tree as it is then."""
    if cell["source"] in source_keys():
        return cell
    return {**{k: v for k, v in cell.items() if k != "measured"},
            "failed": "the sources changed while it ran"}


def run_cells(args, experiment, every, path):
    """Run the cells of the flows that were asked for, several at a time, and print each result
    as it arrives. Return how many cells failed, and how many values are not as wanted."""
    todo = [c for c in every
            if not args.flow or any(args.flow in f["name"] for f in c["flows"])]
    print(f"{experiment['title']}, {len(todo)} cells", flush=True)
    sweep = experiment["quick" if args.quick else "sweep"]
    results = [None] * len(every)
    for i, cell in others(path, every, todo).items():
        results[i] = cell
    for i, cell in (known(path, every) if args.resume else {}).items():
        if every[i] in todo:
            results[i] = cell
            print(f"{describe(cell, sweep)}: {summary(cell)} (known)", flush=True)
    if args.resume:
        set_aside(path, results)
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["make", "-s", "-C", os.path.join(TREE, "selftests/net/sstp"),
                        f"OUT={work}", *(f"{work}/{name}" for name in PROGRAMS)], check=True)
        # Build kernel and module, if need be, before several machines need them at once.
        subprocess.run(vm.command("uml", ["true"]), check=True, stdout=subprocess.DEVNULL)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            futures = {pool.submit(run_cell, cell, work, args.timeout): i for i, cell in enumerate(every)
                       if cell in todo and not results[i]}
            for n, future in enumerate(concurrent.futures.as_completed(futures), 1):
                cell, seconds = future.result()
                cell = results[futures[future]] = checked(cell)
                print(f"{n}/{len(futures)} {describe(cell, sweep)}: ", end="")
                if "failed" in cell:
                    print(f"failed: {cell['failed']}", flush=True)
                    continue
                print(f"{summary(cell)} ({seconds:.0f} s)", flush=True)
                save(path, experiment, args.quick, results)
    save(path, experiment, args.quick, results)
    here = [cell for cell, asked in zip(results, every) if asked in todo]
    good = [cell for cell in here if "measured" in cell]
    wanted = experiment.get("wanted", [])
    missed = [f"{describe(cell, sweep)}: {text}" for cell, text in misses(wanted, means(good))]
    if not args.quick and not args.flow:
        missed += [f"applies to no cell: {want}" for want in unjudged(wanted, means(good))]
    for text in missed:
        print(f"missed: {text}", flush=True)
    return len(here) - len(good), len(missed)


def seeds(args):
    return range(args.seed, args.seed + args.seeds)


def read_experiments(args, parser):
    """Return the experiments by name. Their cells are derived once to find errors early."""
    read = {}
    for word in itertools.chain.from_iterable(map(members, args.experiment)):
        name = name_of(word)
        if name in read:
            parser.error(f"two experiments are called {name}")
        try:
            read[name] = load(word)
            list(cells(read[name], args.quick, seeds(args), "", ("", "")))
        except FileNotFoundError:
            parser.error(f"no experiment {word}: see tools/lab/list")
        except LookupError as error:
            parser.error(f"{word} lacks {error}")
        except (OSError, ValueError, TypeError, SyntaxError, ArithmeticError) as error:
            parser.error(f"{word}: {error}")
    return read


def main():
    parser = argparse.ArgumentParser(
        prog="tools/lab/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="*", metavar="EXPERIMENT",
                        help=", ".join(experiments()) + ', "all" for all of these, or FILE.toml')
    parser.add_argument("-l", "--list", action="store_true", help="list the experiments")
    parser.add_argument("-q", "--quick", action="store_true",
                        help="only the cells of the file's [quick]")
    parser.add_argument("-f", "--flow", metavar="TEXT",
                        help="only flows whose name contains this")
    parser.add_argument("-r", "--resume", action="store_true",
                        help="skip cells with results in DIR/NAME.json, unless the kernel or the "
                        "sources (for TCP alone: other than the module's) have changed since; "
                        "what it has of others is kept in DIR/NAME.json.old1, .old2, ...")
    parser.add_argument("-S", "--seed", type=int, default=1, metavar="N",
                        help="of the machine's random numbers (default %(default)s)")
    parser.add_argument("-n", "--seeds", type=int, default=1, metavar="N",
                        help="measure each cell with N seeds from --seed on, of which pictures and "
                        "report have the means (default %(default)s)")
    parser.add_argument("-o", "--out", metavar="DIR",
                        help="directory for results (default ./lab-results, with --quick "
                        "./lab-results/quick); results of other flows stay there")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(),
                        help="machines that run at a time (default: number of CPUs)")
    parser.add_argument("-T", "--timeout", type=int, default=3600, metavar="SECONDS",
                        help="of a cell (default %(default)s)")
    args = parser.parse_args()
    if args.list or not args.experiment:
        for name in experiments():
            print(f"{name:12} {load(name)['title']}")
        return 0 if args.list else 2
    args.out = args.out or "./lab-results" + "/quick" * args.quick
    if args.experiment == ["all"]:
        args.experiment = [name for name in experiments() if members(name) == [name]]
    todo = read_experiments(args, parser)

    os.makedirs(args.out, exist_ok=True)
    subprocess.run([os.path.join(TREE, "tools/deps"), "build", "vm", "net", "demo"], check=True)
    status, kernel = 0, fetch_kernel()
    for name, experiment in todo.items():
        every = list(cells(experiment, args.quick, seeds(args), kernel, source_keys()))
        print(f"{name}: ", end="")
        bad, missed = run_cells(args, experiment, every, os.path.join(args.out, name + ".json"))
        subprocess.run([os.path.join(TREE, "tools/lab/plot"), "-o", args.out, name], check=True)
        status = 1 if bad else status or (3 if missed else 0)
    return status


if __name__ == "__main__":
    sys.exit(main())
