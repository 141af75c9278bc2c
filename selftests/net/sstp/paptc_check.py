# SPDX-License-Identifier: GPL-2.0
"""Judges a transfer that xfer has a summary of, in bins of 10 ms, for paptc.sh."""

import argparse
import json
import sys

SETTLED = 100                   # bins after which queue and goodput count


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("summary")
    add("--arrival", nargs=3, type=int, action="append", default=[],
        metavar=("FROM", "TO", "MBIT"), help="rate of arrival in these bins, within 10%%")
    add("--goodput", nargs=2, metavar=("OTHER", "LEAST"), help="in relation to another transfer")
    add("--queue", nargs=2, metavar=("OTHER", "MOST"), help="memory in use, likewise")
    add("--until", type=int, default=880, metavar="BIN",
        help="the last one that counts for goodput and memory: the sender ends later")
    add("--discarded", nargs=2, type=float, metavar=("LEAST", "MOST"),
        help="share of packets that found no room")
    return parser.parse_args()


def load(path):
    with open(path, encoding="ascii") as f:
        return json.load(f)


def mean(values, begin, end):
    part = values[begin:end]
    return sum(part) / max(len(part), 1)


def judge(args):
    """Yield what is found, and whether it is as wanted."""
    run = load(args.summary)
    for begin, end, mbit in args.arrival:
        found = mean(run["arrived_bins"], begin, end) / 1e6
        yield f"{found:.1f} Mbit/s in bins {begin} to {end}", abs(found - mbit) <= mbit / 10
    if args.goodput:
        other = mean(load(args.goodput[0])["goodput_bins"], SETTLED, args.until) / 1e6
        found = mean(run["goodput_bins"], SETTLED, args.until) / 1e6
        yield f"goodput {found:.1f} of {other:.1f} Mbit/s", found >= float(args.goodput[1]) * other
    if args.queue:
        other = mean(load(args.queue[0])["used_bins"], SETTLED, args.until)
        found = mean(run["used_bins"], SETTLED, args.until)
        yield f"queue {found:.0f} of {other:.0f} bytes", found <= float(args.queue[1]) * other
    if args.discarded:
        info = load(args.summary + ".server")["info"]
        share = info["packets_discarded"] / max(info["packets_received"], 1)
        yield f"discarded {share:.4f}", args.discarded[0] <= share <= args.discarded[1]


def main():
    good = True
    for text, fine in judge(parse_args()):
        print("#", text)
        good = good and fine
    sys.exit(not good)


if __name__ == "__main__":
    main()
