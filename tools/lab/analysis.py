# SPDX-License-Identifier: GPL-2.0
"""What follows from a cell's measurements, and what paper 004 expects of it."""

import struct

FRAME, PAYLOAD = 1514, 1448     # bytes of a full packet and what it carries, SSTP's and TCP's


def line_rate(path):
    """Payload that the line can carry, bit/s."""
    return path["rate"] * PAYLOAD / FRAME * (1 - path["loss"])


def packet_time(path):
    """t_p of section 4.2, seconds."""
    return 8 * FRAME / path["rate"]


def reaches(bins, step, start, level, width, after=0.0):
    """When, in seconds after @after, the mean over @width is at @level for the first
    time. Bin n is from @start + n * @step on; nothing came before. None: never."""
    count = max(1, round(width / step))
    total, window = 0.0, [0.0] * count
    for n, value in enumerate(bins):
        total += value - window[n % count]
        window[n % count] = value
        end = start + (n + 1) * step
        if end - count * step >= after - step / 2 and total / count >= level:
            return end - after
    return None


def jain(values):
    """Jain's index: 1 when all have the same, 1/n when one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def packets(capture):
    """Time (ns) and UDP payload of each packet of a pcap file (IPv4, cooked)."""
    with open(capture, "rb") as f:
        head = f.read(24)
        link = struct.unpack("<I", head[20:])[0]
        skip = {113: 16, 276: 20}[link] + 28
        # The last may have been cut where the capture ended.
        while len(record := f.read(16)) == 16:
            seconds, nanoseconds, size, _ = struct.unpack("<IIII", record)
            yield seconds * 1_000_000_000 + nanoseconds, f.read(size)[skip:]


def segment_delays(capture):
    """Seconds from the first packet of each segment to the first PACK or SNAK that
    tells it accepted: both as the router sees them that is beside the
    sender and the receiver. That is the line's delay there and t_s more than
    nothing, thus D_r of section 4.2."""
    there, base, low, begun, delays = None, 0, 0, {}, []
    for time, data in packets(capture):
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
        if kind == 0:
            begun.setdefault(segment, time)
            continue
        done = list(range(low, ack)) if ack < 1 << 31 else []
        low += len(done)
        for n in done + [segment] * bool(flags & 4):
            if n in begun:
                delays.append((time - begun.pop(n)) / 1e9)
    return delays


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


def efficiency(path, window):
    """ThE of section 4.2 for a window of so many segments. As printed, the formula for
    W > w_a + 1 has min(W - w_a, w_a (1 - p)) in the denominator, too. But what could be
    sent ideally does not depend on W, and only without it do the two formulas agree
    at W = w_a + 1 and the second with 1 - p at 2 w_a + 1."""
    p, s = path["loss"], path["packets"]
    wait = ack_time(path)
    wa = wait / (s * packet_time(path))
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
