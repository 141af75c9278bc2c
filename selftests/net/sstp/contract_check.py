# SPDX-License-Identifier: GPL-2.0
"""Checks a capture of DATA packets against a rate contract."""
import argparse
import struct
import sys

NANO = 0xa1b23c4d
ETHER, IPV4, UDP = 14, 20, 8


def data_packets(path):
    """(ns, bytes on the wire) of each DATA packet of an IPv4 capture"""
    with open(path, "rb") as f:
        head = f.read(24)
        if struct.unpack("<I", head[:4])[0] != NANO:
            raise ValueError("not a capture in nanoseconds")
        while True:
            record = f.read(16)
            if len(record) < 16:
                return
            sec, nsec, kept, length = struct.unpack("<IIII", record)
            packet = f.read(kept)
            if packet[ETHER + IPV4 + UDP + 4] == 0:
                yield sec * 10**9 + nsec, length


def most(packets, interval):
    """The most bytes in any half-open interval of that many ns"""
    best = total = first = 0
    for when, size in packets:
        total += size
        while when - packets[first][0] >= interval:
            total -= packets[first][1]
            first += 1
        best = max(best, total)
    return best


def bursts(packets, gap):
    """Lists of packets with less than gap ns between neighbours"""
    found = [[packets[0]]]
    for before, packet in zip(packets, packets[1:]):
        if packet[0] - before[0] >= gap:
            found.append([])
        found[-1].append(packet)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("capture")
    add("--peak", type=float, required=True, help="bit/s")
    add("--average", type=float, required=True, help="bit/s")
    add("--burst", type=int, help="packets that are to leave together")
    add("--used", type=float, help="least share of the average that was used")
    args = parser.parse_args()

    packets = list(data_packets(args.capture))
    frame = max(size for _, size in packets)
    wrong = []

    def limit(name, value, bound, least=False):
        print(f"# {name}: {value:.0f}, {'least' if least else 'most'} {bound:.0f}")
        if value < bound if least else value > bound:
            wrong.append(name)

    limit("bytes in 1 ms", most(packets, 10**6), args.peak / 8000 + frame)
    limit("bytes in 1 s", most(packets, 10**9), args.average / 8)
    if args.burst:
        period = args.burst * frame * 8 / args.average * 1e9
        groups = bursts(packets, period / 4)[:-1]
        starts = [group[0][0] for group in groups]
        limit("packets in a burst", max(map(len, groups)), args.burst)
        full = sum(len(group) == args.burst for group in groups)
        limit("full bursts", full, 0.9 * len(groups), least=True)
        spacing = (starts[-1] - starts[0]) / (len(starts) - 1)
        limit("us from burst to burst", spacing / 1000, period / 1000 * 0.99,
              least=True)
    if args.used:
        took = packets[-1][0] - packets[0][0]
        rate = sum(size for _, size in packets) * 8e9 / took
        limit("bit/s", rate, args.used * args.average, least=True)
    if wrong:
        print("exceeded: " + ", ".join(wrong), file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
