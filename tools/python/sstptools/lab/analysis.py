# SPDX-License-Identifier: GPL-2.0
"""Figures that follow from a cell's measurements, and those that the analysis in Gong and
Parulkar, WUCS-92-38 ("the paper"), section 4.2, expects. Symbols are those of the paper."""

import itertools
import statistics
import struct

FRAME, PAYLOAD = 1514, 1448     # bytes of a full frame and its payload, for SSTP and TCP


def line_rate(path):
    """Payload that the line can carry, bit/s, without the packets that it loses"""
    return path["rate"] * PAYLOAD / FRAME * (1 - path["loss"])


def apart(path):
    """Whether the setting of the queue's size is of the queue alone, without the wire"""
    return path.get("queue_ms") is not None or path.get("queue_bdp") is not None


def queue_time(path):
    """How long a full queue that is apart from the wire delays a packet, ms"""
    return path["queue_bdp"] * path["rtt"] if path.get("queue_bdp") else path["queue_ms"]


def limit(path):
    """Packets that netem may hold: those in the line's queue and, unless that is apart, those on
    the wire"""
    if apart(path):
        return max(1, round(queue_time(path) * path["rate"] / 8e3 / FRAME))
    return int(path["queue"] * path["rate"] * path["rtt"] / 8e3 / FRAME) + 100


def packet_time(path):
    """t_p of section 4.2, seconds."""
    return 8 * FRAME / path["rate"]


def reaches(bins, step, start, level, rtt, after=0.0):
    """Return the time from @after, in seconds, until the rate in @bins first reaches @level, or
    None if it never does. The mean over half a round-trip time up to then must be at @level, and
    also that over the whole round-trip time that follows: a repair that delivers all data that
    waited for it exceeds @level for a moment only. Bin n begins at @start + n * @step; before
    bin 0 the rate is 0."""
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
    """Jain's index of fairness: 1 if all values are equal, 1/n if all but one are 0"""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def stability(series):
    """The stability index of flows: the mean of the standard deviations of their rates over time,
    each divided by the flow's mean rate; 0 if no rate changes, larger the more they oscillate"""
    return sum(statistics.stdev(rates) / statistics.fmean(rates)
               for rates in series if any(rates)) / len(series)


def packets(capture):
    """Yield time (ns), whether it was outbound, and UDP payload of each packet of a pcap file
    (IPv4, Linux cooked capture)."""
    with open(capture, "rb") as f:
        head = f.read(24)
        link = struct.unpack("<I", head[20:])[0]
        length, kind = {113: (16, 1), 276: (20, 10)}[link]
        # The last record may be incomplete if the capture was ended while it was written.
        while len(record := f.read(16)) == 16:
            seconds, nanoseconds, size, _ = struct.unpack("<IIII", record)
            data = f.read(size)
            yield seconds * 1_000_000_000 + nanoseconds, data[kind] == 4, data[length + 28:]


def segment_delays(capture):
    """Return D_r and D_s of section 4.2 of each segment, in seconds. The router that captures
    also delays the packets: an inbound packet has just been sent, an outbound one arrives.

    D_r ends with the last packet of the segment before R_l passed it. That packet completed the
    segment, as packets that the receiver keeps are not asked for; where the buffer discards
    packets, it may have come later, so the result is an upper bound. PACK and SNAK do not show
    when a segment was complete: behind a gap they name only the last of several complete
    segments, and packets that a SNAK leaves out may have been asked for before.

    D_s ends with the acknowledgement: R_l passes the segment, or a PACK or SNAK names it without
    SOFT, with which it might still be discarded. KeyError if the capture lacks the end of a
    segment."""
    receiver, base, low, acked_to, begun, arrived, acked = None, 0, 0, 0, {}, {}, {}
    for time, out, data in packets(capture):
        if len(data) < 24:                      # shorter than the header of any type
            continue
        cid, kind, flags = data[:4], data[4], data[5]
        segment, ack = struct.unpack(">II", data[12:20])
        if kind == 0 and receiver is None:      # the first DATA has its CID
            receiver, base = cid, segment
        # DATA to the receiver has its CID; its acknowledgements have the sender's.
        if receiver is None or (kind == 0) != (cid == receiver):
            continue
        segment, ack = segment - base & 0xffffffff, ack - base & 0xffffffff
        if kind == 0 and not out:
            begun.setdefault(segment, time)
        elif kind == 0:
            if segment >= low:
                arrived[segment] = time
        elif not out:
            low = max(low, ack)
        else:
            for n in range(acked_to, ack):
                acked.setdefault(n, time)
            acked_to = max(acked_to, ack)
            if flags & 5 == 4:
                acked.setdefault(segment, time)
    return [((arrived[n] - time) / 1e9, (acked[n] - time) / 1e9) for n, time in begun.items()]


def delay(path, wait):
    """D_s of section 4.2, seconds, if an acknowledgement arrives @wait after the last packet
    of a group"""
    p, s = path["loss"], path["packets"]
    total, power = 0.0, 1.0
    while power > 1e-15:
        total += 1 - (1 - power) ** s
        power *= p
    return s * packet_time(path) / (1 - p) + wait * total


def ack_time(path):
    """t_a of section 4.2, seconds: from sending a packet to its acknowledgement"""
    return path["rtt"] / 1e3 + 3 * packet_time(path)


def full_window(path):
    """w_a of section 4.2: segments that the line carries in t_a"""
    return ack_time(path) / (path["packets"] * packet_time(path))


def late_efficiency(path, window):
    """ThE if a lost segment does not delay its whole window by w_a, unlike in the paper: segments
    before it are not delayed, those behind it by W - 1, so the mean is (w_a + W - 1) / 2. This
    assumes no other loss meanwhile, so it is an upper bound."""
    wa = full_window(path)
    if not path["loss"] or window <= 1 or window > wa + 1:
        return efficiency(path, window)
    whole = 1 / (1 - (1 - path["loss"]) ** path["packets"])
    return (whole + window) / (wa + 1 + (wa + window - 1) / 2 + path["loss"] +
                               (wa + 1) / window * whole)


def efficiency(path, window):
    """ThE of section 4.2 for a window of @window segments. As printed, the formula for
    W > w_a + 1 has min(W - w_a, w_a (1 - p)) in the denominator, too. It is left out here: the
    number of segments that an ideal sender sends does not depend on W, and only without the
    term do both formulas agree at W = w_a + 1, and is the second nearly 1 - p at 2 w_a + 1."""
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
