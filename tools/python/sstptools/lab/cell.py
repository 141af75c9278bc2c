# SPDX-License-Identifier: GPL-2.0
"""Runs one cell of an experiment in a virtual machine of its own, and derives the numbers that
are stored from its reports. Results depend on this file, analysis.py and trace.py, and are measured
again when these change; the rest of the package may change while stored results stay valid."""

import itertools
import json
import math
import os
import shlex
import shutil
import struct
import subprocess
import tempfile
import time

from sstptools import vm
from sstptools.lab import analysis, trace
from sstptools.tree import TREE

PROGRAMS = ("xfer", "cross", "backlog")     # of selftests, which tools/lab/guest runs
KEPT = ("goodput", "seconds", "bytes", "retransmits", "receive_peak")
KEPT_INFO = ("rtt", "rcv_window", "packets_sent", "packets_retrans", "packets_received",
             "packets_discarded", "packets_duplicate", "acks_sent", "snaks_sent", "acks_received",
             "snaks_received", "tcpi_rtt", "tcpi_total_retrans")


def has_module(flows):
    """Whether the machine loads the module. TCP alone is measured without it, so that its results
    stay valid when the module changes."""
    return any(flow["proto"] != "tcp" for flow in flows)


def plugins(flows):
    """Return the module's controllers that @flows use, as ctrl-NAME, and policies, as rbuf-NAME."""
    return {f"{kind}-{options[key]}" for flow in flows if flow["proto"] != "tcp"
            for end, key, kind in (("client", "--controller", "ctrl"), ("server", "--policy", "rbuf"))
            for options in [dict(itertools.pairwise(flow[end]))] if key in options}


def shell_settings(cell):
    """Return the shell script of assignments that tools/lab/guest reads."""
    path = cell["path"]
    lines = [("rate", int(path["rate"])), ("wire", int(path["wire"])),
             ("rate_back", int(path["rate_back"])), ("rtt", path["rtt"]),
             ("rtt_at", path["rtt_at"]), ("rtt_later", path["rtt_later"]),
             *((way, f"({path['bursts'] or format(path[way] * 100, 'f') + '%'})")
               for way in ("loss", "loss_back")),
             ("slot", path["slot"]), ("access", int(path.get("access", 0))),
             ("limit", analysis.limit(path)),
             ("apart", int(analysis.apart(path))), ("crosses", len(cell.get("cross", []))),
             ("bucket", f"({path['bucket']})"), ("reorder", f"({path['reorder']})"),
             ("plugins", f"({shlex.join(sorted(plugins(cell['flows'])))})"),
             ("outage_at", path["outage_at"]), ("outage_for", path["outage_for"]),
             ("capture", int(cell["capture"])), ("sample", int(cell["sample"])),
             ("trace", int(cell.get("trace", False))),
             ("count", len(cell["flows"])), ("module", int(has_module(cell["flows"])))]
    for n, flow in enumerate(cell["flows"]):
        lines += [(f"proto{n}", flow["proto"]), (f"start{n}", flow["start"]),
                  (f"rtt{n}", flow["rtt"]), (f"times{n}", flow["times"]),
                  (f"client{n}", f"(-w 1M {shlex.join(flow['client'])})"),
                  (f"server{n}", f"({shlex.join(flow['server'])})")]
    for n, source in enumerate(cell.get("cross", [])):
        lines += [(f"cross{n}", f"({shlex.join(source['options'])})"),
                  (f"cross_rtt{n}", source["rtt"]), (f"window{n}", source["window"])]
    return "".join(f"{name}={value}\n" for name, value in lines)


def read_all(work, name):
    """Return the objects of a report: a server writes one per connection, a client one each time
    that it runs."""
    with open(os.path.join(work, name), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def read_json(work, name):
    return read_all(work, name)[0]


def times(path, measured):
    """Return the times until data in order, and arrivals in any order, came at 90% of what the
    line can carry; in round-trip times, from connect() and from the end of the outage."""
    rtt, step = path["rtt"] / 1e3, measured["bin_ms"] / 1e3
    level = 0.9 * analysis.line_rate(path)
    back = path["outage_at"] + path["outage_for"]
    values = {name: analysis.reaches(measured[bins], step, measured["bin_start"], level, rtt, after)
              for name, bins, after in (("start_rtt", "goodput_bins", 0),
                                        ("back_rtt", "goodput_bins", back),
                                        ("arrive_rtt", "arrived_bins", 0),
                                        ("arrive_back_rtt", "arrived_bins", back))
              if bins in measured}
    return {k: v if v is None else round(v / rtt, 3) for k, v in values.items()}


def buffer_use(measured, info):
    """Return the size of the receive buffer, in bytes, and the share of the received packets
    that were discarded as they exceeded it."""
    limits = measured["limit_bins"]
    return {"buffer_max": max(limits), "buffer_mean": round(sum(limits) / len(limits)),
            "discarded": round(info["packets_discarded"] / info["packets_received"], 5)}


def gain(cell, flow, measured):
    """Return the time until 90% of what cross traffic leaves comes, in round-trip times from the end
    of the source that stops last; None if it never comes. Reads of SSTP have whole segments, which
    may take longer than a bin, so its packets are counted as they arrive."""
    rtt, step = cell["path"]["rtt"] / 1e3, measured["bin_ms"] / 1e3
    stop = max(source["stop"] for source in cell["cross"] if source["stop"] is not None)
    stays = sum(source["rate"] for source in cell["cross"] if source["stop"] is None)
    level = 0.9 * (analysis.line_rate(cell["path"]) - stays * analysis.PAYLOAD / analysis.FRAME)
    bins = measured.get("arrived_bins", measured["goodput_bins"])
    found = analysis.reaches(bins, step, measured["bin_start"], level, rtt,
                             stop - flow["start"])
    return found if found is None else round(found / rtt, 3)


def each_result(cell, flow, measured):
    """Return how the connections of a flow share the line, from the path's setting "settle" (s)
    until the flow's time is over: the share of the line of all, the least and the largest rate
    of one and Jain's index, and the stability index of the rates."""
    step = measured["bin_ms"] / 1e3
    begin, end = (t - flow["start"] for t in (cell["path"]["settle"], cell["seconds"]))
    first, last = (math.ceil((t - measured["bin_start"]) / step) for t in (begin, end))
    # The last bin may end after the flow's time, when less is sent.
    series = [(bins + [0] * last)[first:last - 1] for bins in measured["connection_bins"]]
    rates = [sum(s) / len(s) for s in series]
    mean = sum(rates) / len(rates) or 1     # a flow may have nothing
    return {"rates": [round(r) for r in rates],
            "steady": round(sum(rates) / analysis.line_rate(cell["path"]), 4),
            "jain": round(analysis.jain(rates), 4),
            "stability": round(analysis.stability(series), 4),
            "least": round(min(rates) / mean, 4), "largest": round(max(rates) / mean, 4),
            "connection_bins": measured["connection_bins"]}


def flow_result(cell, flow, clients, server):
    """Return the part of a flow's measurements that is stored. @clients: the report of each time
    that its client ran"""
    client = clients[0]
    # The window must be the one that was asked for, unless it is a multiple of the buffer: then
    # it depends on the memory that segments take.
    options, window = dict(itertools.pairwise(flow["server"])), server["info"].get("rcv_window")
    if "--window-factor" not in options and options.get("--window", str(window)) != str(window):
        raise ValueError(f"window {window}, not {options['--window']}")
    result = {k: client[k] for k in KEPT}
    result["info"] = {k: client["info"][k] for k in KEPT_INFO if k in client["info"]}
    result["server_info"] = {k: server["info"][k] for k in KEPT_INFO if k in server["info"]}
    result["name"] = flow["name"]
    result["efficiency"] = round(client["goodput"] / analysis.line_rate(cell["path"]), 4)
    if len(client["connection_bytes"]) > 1 or len(cell["flows"]) > 1:
        result["connection_bytes"] = client["connection_bytes"]
    if flow["times"] > 1:
        seconds = sorted(c["seconds"] for c in clients)
        result.update(time=round(seconds[len(seconds) // 2], 6), longest=round(seconds[-1], 6))
    if "--bin" in flow["client"]:
        kept = ["bin_ms", "bin_start"]
        if cell["path"]["outage_for"]:
            result.update(times(cell["path"], client))
            kept += [k for k in ("goodput_bins", "arrived_bins") if k in client]
        elif any(source["stop"] is not None for source in cell.get("cross", [])):
            result["gain_rtt"] = gain(cell, flow, client)
            kept += [k for k in ("goodput_bins", "arrived_bins") if k in client]
        elif "settle" in cell["path"]:
            result.update(each_result(cell, flow, client))
        elif flow["proto"] != "tcp":
            result.update(buffer_use(client, server["info"]))
            kept += ["limit_bins", "used_bins"]
        result.update((k, client[k]) for k in kept)
    return result


def of_analysis(path, flow, dropped):
    """Return the ratios of the throughput efficiency to the analysis and to its upper bound, both
    for the loss that occurred: by chance it differs from the loss that the path is set to."""
    share = flow["goodput"] / (path["rate"] * analysis.PAYLOAD / analysis.FRAME)
    there = dict(path, loss=dropped / flow["info"]["packets_sent"])
    return {"of_analysis": round(share / analysis.efficiency(there, path["window"]), 4),
            "of_most": round(share / analysis.late_efficiency(there, path["window"]), 4)}


def counters(work, name):
    """Return packets and bytes to each address, as tc shows the filters that count them."""
    counts = {}
    for item in read_json(work, name):
        options = item.get("options", {})
        address = options.get("keys", {}).get("dst_ip")
        if address:
            stats = options["actions"][0]["stats"]
            counts[address] = stats["packets"], stats["bytes"]
    return counts


def add_counts(cell, work, measured):
    """Add to each flow the packets that it lost on the way, and to each source of cross traffic
    these and its rate (bit/s of the line) during the flows."""
    sent, came = counters(work, "sent.drained"), counters(work, "came.drained")
    begin, end = (counters(work, f"came.{when}") for when in ("begin", "end"))
    for n, flow in enumerate(measured["flows"]):
        address = f"10.0.2.{10 + n}"
        flow.update(sent=sent[address][0], lost=sent[address][0] - came[address][0])
    seconds = max(f["start"] + r["seconds"] for f, r in zip(cell["flows"], measured["flows"]))
    seconds -= min(f["start"] for f in cell["flows"])
    sources = []
    for n, source in enumerate(cell.get("cross", [])):
        address = f"10.0.2.{100 + n}"
        rate = 8 * (end[address][1] - begin[address][1]) / seconds
        sources.append({"name": source["name"], "rate": round(rate), "sent": sent[address][0],
                        "lost": sent[address][0] - came[address][0]})
    if sources:
        measured["cross"] = sources
        measured["cross_rate"] = sum(s["rate"] for s in sources)


def queue_delays(cell, work):
    """Return how long the queue delayed packets at each sample since the first flow began, ms.
    Unless the queue is apart from the wire, samples have the packets of both."""
    path, first = cell["path"], min(f["start"] for f in cell["flows"])
    wire = 0 if analysis.apart(path) else path["rtt"] / 2
    with open(os.path.join(work, "queue"), encoding="utf-8") as f:
        samples = [line.split() for line in f]
    return [max(0.0, int(bytes_) * 8e3 / path["rate"] - wire)
            for time_, bytes_ in samples if float(time_) >= first]


def measure(cell, work):
    """Derive the numbers to store from the reports that the machine wrote to @work."""
    results = [flow_result(cell, flow, read_all(work, f"client{n}.json"),
                           read_json(work, f"server{n}.json"))
               for n, flow in enumerate(cell["flows"])]
    measured = {"flows": results, "dropped": read_json(work, "dropped")}
    if "window" in cell["path"]:
        results[0].update(of_analysis(cell["path"], results[0], measured["dropped"]))
    each = [b for r in results for b in r.get("connection_bytes", [r["bytes"]])]
    if len(each) > 1:
        measured["jain"] = round(analysis.jain(each), 4)
        measured["efficiency"] = round(sum(r["efficiency"] for r in results), 4)
    steady = [r for r in results if "rates" in r]
    if len(steady) > 1:
        rates = [rate for r in steady for rate in r["rates"]]
        measured["jain"] = round(analysis.jain(rates), 4)
        measured["use"] = round(sum(rates) / analysis.line_rate(cell["path"]), 4)
        for r in steady:
            r["fair"] = round(sum(r["rates"]) * len(rates) / len(r["rates"]) / sum(rates), 4)
    if cell["capture"]:
        arrived, acked = zip(*analysis.segment_delays(os.path.join(work, "capture")))
        measured.update(segments=len(arrived), delay_max=round(max(arrived), 6),
                        delay_mean=round(sum(arrived) / len(arrived), 6),
                        told_mean=round(sum(acked) / len(acked), 6))
    if cell["sample"]:
        delays = queue_delays(cell, work)
        queue = sorted(delays)
        measured["queue_ms"] = round(sum(queue) / len(queue), 3)
        measured["queue_95"] = round(queue[int(0.95 * len(queue))], 3)
    if cell.get("trace"):
        measured["trace"] = {**trace.series(work), "queue": [round(d, 2) for d in delays]}
    add_counts(cell, work, measured)
    return measured


def delayed(cell):
    """Return @cell with the times at which its flows do start."""
    delays = cell.get("delays", [0] * len(cell["flows"]))
    return {**cell, "flows": [{**flow, "start": round(flow["start"] + delay, 6)}
                              for flow, delay in zip(cell["flows"], delays)]}


def run_cell(cell, programs, timeout):
    """Run @cell; return it with its measurements or its failure, and the seconds it took.
    @programs: the directory of PROGRAMS"""
    with tempfile.TemporaryDirectory() as work:
        for name in PROGRAMS:
            shutil.copy(os.path.join(programs, name), work)
        with open(os.path.join(work, "cell"), "w", encoding="utf-8") as f:
            f.write(shell_settings(delayed(cell)))
        begin = time.monotonic()
        done = subprocess.run(
            vm.command("uml", [os.path.join(TREE, "tools/lab/guest"), work], "--time-travel",
                       *([] if has_module(cell["flows"]) else ["--no-load"]),
                       "--seed", str(cell["seed"]), "--mem", "6G", "--timeout", str(timeout),
                       "--out", work),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        result = dict(cell)
        try:
            if done.returncode:
                raise ValueError(f"status {done.returncode}")
            result["measured"] = measure(delayed(cell), work)
        except (OSError, ValueError, LookupError, ArithmeticError, struct.error) as error:
            result["failed"] = f"{error!r}: {done.stdout.strip()[-2000:]}"
        return result, time.monotonic() - begin
