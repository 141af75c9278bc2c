# SPDX-License-Identifier: GPL-2.0
"""Figures that follow from a cell's measurements, and those that paper 004 expects."""

import itertools
import struct

FRAME, PAYLOAD = 1514, 1448     # bytes of a full packet and what it carries, SSTP's and TCP's


def line_rate(path):
    """Payload that the line can carry, bit/s."""
    return path["rate"] * PAYLOAD / FRAME * (1 - path["loss"])


def limit(path):
    """Packets that the line's queue takes, those on the wire included."""
    return int(path["queue"] * path["rate"] * path["rtt"] / 8e3 / FRAME) + 100


def packet_time(path):
    """t_p of section 4.2, seconds."""
    return 8 * FRAME / path["rate"]


def reaches(bins, step, start, level, rtt, after=0.0):
    """When, in seconds after @after, what comes is at @level for the first time, and not
    for a moment only, as when a repair lets go of all that waited for it: the mean over
    the half round-trip time before is, and that over a whole one from then on. Bin n is
    from @start + n * @step on; nothing came before. None: never."""
    half, whole = max(1, round(rtt / 2 / step)), max(1, round(rtt / step))
    sums = list(itertools.accumulate(bins, initial=0.0))
    for n in range(1, len(bins) - whole + 1):
        end = start + n * step
        if (end - half * step >= after - step / 2 and
                sums[n] - sums[max(0, n - half)] >= level * half and
                sums[n + whole] - sums[n] >= level * whole):
            return end - after
    return None


def jain(values):
    """Jain's index: 1 when all have the same, 1/n when one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def packets(capture):
    """Time (ns), whether it goes out, and UDP payload of each packet of a pcap file (IPv4,
    cooked)."""
    with open(capture, "rb") as f:
        head = f.read(24)
        link = struct.unpack("<I", head[20:])[0]
        length, kind = {113: (16, 1), 276: (20, 10)}[link]
        # The last may have been cut where the capture ended.
        while len(record := f.read(16)) == 16:
            seconds, nanoseconds, size, _ = struct.unpack("<IIII", record)
            data = f.read(size)
            yield seconds * 1_000_000_000 + nanoseconds, data[kind] == 4, data[length + 28:]


def segment_delays(capture):
    """D_r and D_s of section 4.2 of each segment, seconds. The line's delay is within the
    router that captured: what comes in has just been sent, what goes out is there.

    D_r ends with the last packet that came before R_l passed the segment: it completed
    the segment, as what is kept is not asked for (or came in vain, where a buffer discards;
    so D_r is that at most). PACK and SNAK do not tell when: behind a gap they name the last
    of several segments only, and what a SNAK leaves out it may have asked for before.

    D_s ends when the sender hears: by R_l, or by name, unless the segment may still be
    discarded (SOFT). KeyError if a segment's end is not in the capture."""
    there, base, low, heard, begun, came, told = None, 0, 0, 0, {}, {}, {}
    for time, out, data in packets(capture):
        if len(data) < 24:                      # the length of its header
            continue
        cid, kind, flags = data[:4], data[4], data[5]
        segment, ack = struct.unpack(">II", data[12:20])
        if kind == 0 and there is None:         # the first DATA
            there, base = cid, segment
        # The receiver's CID is on what goes to it, so not on its acknowledgements.
        if there is None or (kind == 0) != (cid == there):
            continue
        segment, ack = segment - base & 0xffffffff, ack - base & 0xffffffff
        if kind == 0 and not out:
            begun.setdefault(segment, time)
        elif kind == 0:
            if segment >= low:
                came[segment] = time
        elif not out:
            low = max(low, ack)
        else:
            for n in range(heard, ack):
                told.setdefault(n, time)
            heard = max(heard, ack)
            if flags & 5 == 4:
                told.setdefault(segment, time)
    return [((came[n] - time) / 1e9, (told[n] - time) / 1e9) for n, time in begun.items()]


def delay(path, wait):
    """D_s of section 4.2, seconds; an acknowledgement comes @wait after the last packet
    of a group."""
    p, s = path["loss"], path["packets"]
    total, power = 0.0, 1.0
    while power > 1e-15:
        total += 1 - (1 - power) ** s
        power *= p
    return s * packet_time(path) / (1 - p) + wait * total


def ack_time(path):
    """t_a of section 4.2, seconds."""
    return path["rtt"] / 1e3 + 3 * packet_time(path)


def full_window(path):
    """w_a of section 4.2, segments."""
    return ack_time(path) / (path["packets"] * packet_time(path))


def late_efficiency(path, window):
    """The result if a lost segment delays not all of a window by w_a: what was before
    it goes on, and what is behind it is W - 1 late, so (w_a + W - 1) / 2 on average. No
    other loss meanwhile: at most this can be had."""
    wa = full_window(path)
    if not path["loss"] or window <= 1 or window > wa + 1:
        return efficiency(path, window)
    whole = 1 / (1 - (1 - path["loss"]) ** path["packets"])
    return (whole + window) / (wa + 1 + (wa + window - 1) / 2 + path["loss"] +
                               (wa + 1) / window * whole)


def efficiency(path, window):
    """ThE of section 4.2 for a window of so many segments. As printed, the formula for
    W > w_a + 1 has min(W - w_a, w_a (1 - p)) in the denominator, too. But what could be
    sent ideally does not depend on W, and only without it do the two formulas agree
    at W = w_a + 1, and the second, nearly, with 1 - p at 2 w_a + 1."""
    p, s = path["loss"], path["packets"]
    wait = ack_time(path)
    wa = full_window(path)
    if window <= 1:
        return s * packet_time(path) / delay(path, wait)
    if window >= 2 * wa + 1:
        return 1 - p
    whole = 1 / (1 - (1 - p) ** s) if p else float("inf")   # g^-1
    if not p:
        return min(1.0, window / (wa + 1))
    if window <= wa + 1:
        return (whole + window) / (2 * wa + 1 + p + (wa + 1) / window * whole)
    more = min(window - wa, wa * (1 - p))
    return (wa + more + whole) / (2 * wa + 1 + p + whole)
