# SPDX-License-Identifier: GPL-2.0
"""Reads what the kernel traced while a cell ran, as series over time."""

import os
import re

# "task-pid [cpu] flags time: event: cid=... peer=... address > address name=value ...", where time
# is in 1/100 s with the clock "uptime"
LINE = re.compile(r"\s(\d+): (sstp_\w+): cid=(\w+) peer=(\w+) \S+ > \S+ (.*)")
COUNTS = re.compile(r"entries-in-buffer/entries-written: (\d+)/(\d+)")
TICKS = 100             # in a second
STEP = 2                # ticks: reports come often, so a step has the last window, and all losses
EPOCH = ("rtt", "queue", "queue_most", "rate", "capacity", "lost", "granted", "limited", "window",
         "phase")


def events(path):
    """Yield time (ticks), name, CID, CID of the peer and fields of each event. ValueError if the
    kernel's buffer did not hold all."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            if (counts := COUNTS.search(line)) and counts[1] != counts[2]:
                raise ValueError(f"the trace has {counts[1]} of {counts[2]} events")
            if found := LINE.search(line):
                fields = dict(word.split("=", 1) for word in found[5].split() if "=" in word)
                yield int(found[1]), found[2], found[3], found[4], fields


def series(work):
    """Return what the first connection of a cell did, with the time since it began, s: "epochs" of
    the receiver's policy, with its fields in units of the event sstp_rbuf_epoch, and in steps of
    STEP the sender's window "cwnd" and the packets that its controller was told are "delivered" and
    "lost"."""
    seen = list(events(os.path.join(work, "trace")))
    begin, sender = next(((time, cid) for time, name, cid, _, fields in seen
                          if name == "sstp_state" and fields["newstate"] == "SYN_SENT"), (0, None))
    epochs = {name: [] for name in ("time", *EPOCH)}
    steps = {}
    for time, name, cid, peer, fields in seen:
        if name == "sstp_ctrl" and cid == sender:
            step = steps.setdefault((time - begin) // STEP, [0, 0, 0])
            step[0] = int(fields["cwnd"])
            step[1] += int(fields["delivered"])
            step[2] += int(fields["lost"])
        elif name == "sstp_rbuf_epoch" and peer == sender:
            epochs["time"].append((time - begin) / TICKS)
            for key in EPOCH:
                epochs[key].append(int(fields.get(key, 0)))
    if not steps:
        raise ValueError("the trace has no connection with a controller")
    cwnd, delivered, lost = (list(each) for each in zip(*steps.values()))
    return {"epochs": epochs, "time": [(n + 1) * STEP / TICKS for n in steps], "cwnd": cwnd,
            "delivered": delivered, "lost": lost}
