# SPDX-License-Identifier: GPL-2.0
"""Compares measured cells with what their experiment wants. Unlike analysis.py, which makes
the numbers, this file may change while stored results stay valid."""

import itertools
import statistics

from sstptools.lab import analysis

# Measures of flows and cells that tables and pictures show
MEASURES = {"efficiency": "Share of the line", "steady": "Share of the line", "use": "Share of all",
            "fair": "Part of a fair share", "jain": "Jain's index", "stability": "Stability index",
            "time": "Median time, s", "longest": "Longest time, s",
            "queue_ms": "Mean delay in the queue, ms", "dropped": "Packets lost on the way",
            "receive_peak": "Most memory in use in the receive buffer, bytes",
            "discarded": "Share of the packets that found no room",
            "queue_95": "95% of the delays in the queue, ms", "lost": "Packets that the flow lost",
            "gain_rtt": "Round-trip times until 90% of the line after cross traffic stopped",
            "capacity": "Capacity, share of what is expected"}
SET = 3                 # phase of the policy sobas: the window is set by the rate


def queue_text(path):
    """Return the size of a queue that is apart from the wire."""
    return f"{path['queue_bdp']:g} BDP" if path.get("queue_bdp") else f"{path['queue_ms']:g} ms"


def rate_text(rate):
    return f"{rate / 1e9:g} Gbit/s" if rate >= 1e9 else f"{rate / 1e6:g} Mbit/s"


def setting_text(name, value):
    """Return a setting's value with its unit, or with its name if it has none."""
    if name == "rate":
        return rate_text(value)
    if name == "rtt":
        return f"{value:g} ms"
    return f"{name} {value}" if isinstance(value, str) else f"{name} {value:g}"


def describe(cell, names):
    """Return the values of the settings @names, and the names of the flows."""
    text = [setting_text(name, cell["path"][name]) for name in names if name != "flows"]
    return ", ".join(text + [" and ".join(dict.fromkeys(f["name"] for f in cell["flows"]))])


def algorithm(flow):
    """Return "SSTP" or "TCP", and the name of its controller; the kernel's "reno" is newreno."""
    prefix, _, name = flow.replace(",", "").partition(" ")
    return prefix, "newreno" if name == "reno" else name


def measures(cell, name):
    """Return the measurements of the cell's flows whose name contains @name. Jain's index is that
    of all flows of the cell, not of a flow's own connections, of which there may be one."""
    measured = cell["measured"]
    shared = {"jain": measured["jain"]} if "jain" in measured else {}
    return [{**measured, **flow, **shared} for flow in measured["flows"] if name in flow["name"]]


def figure(value):
    """Return a value as text: with up to six digits, or as an integer."""
    return "none" if value is None else f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"


def best(want, value, cell, cells):
    """Return as text which flow of another cell on the same path is nearest to what @want asks for,
    and how near, or that none is nearer than @value, that of @cell; "" if there is no such cell, the
    flow is the one that @want compares with, or @want has two bounds."""
    what, sign = want["measure"], 1 if "most" in want else -1
    others = [(sign * m[what], m["name"]) for c in cells
              if c["path"] == cell["path"] and c is not cell for m in measures(c, "")
              if m.get(what) is not None]
    if not others or {"least", "most"} <= set(want):
        return ""
    near, name = min(others)
    if "than" in want and want["than"] in name:
        return ""
    if value is not None and near >= sign * value:
        return f"; none has {'less' if sign == 1 else 'more'}"
    return f"; {name} has the {'least' if sign == 1 else 'most'}, {figure(sign * near)}"


def judge(want, cells):
    """For each measured cell that @want applies to, yield the cell, its measure, the text of the
    value, and whether the value is in the wanted range. The value is the measure or, with "than", its
    ratio to the measure of another flow on the same path."""
    for cell in cells:
        path, what = cell["path"], want["measure"]
        if any(not low <= path[k] <= high for k, (low, high) in want.get("where", {}).items()):
            continue
        others = [flow[what] for other in cells if other["path"] == path
                  for flow in measures(other, want["than"])] if "than" in want else [1]
        for flow in measures(cell, want["flow"]) if others else []:
            # Results of earlier sources may lack this measure, which is a miss.
            value = flow.get(what) and round(flow[what] / others[0], 4)
            text = f"{what} {figure(value)}" + f" of that of {want.get('than')}" * ("than" in want)
            yield cell, flow.get(what), text, value is not None and (
                want.get("least", value) <= value <= want.get("most", value))


def misses(wants, cells):
    """Return (cell, text) for each value that is out of its wanted range."""
    return [(cell, f"{text}, wanted " + " and ".join(
                f"at {k} {figure(want[k])}" for k in ("least", "most") if k in want) +
             best(want, value, cell, cells))
            for want in wants for cell, value, text, good in judge(want, cells) if not good]


def unjudged(wants, cells):
    """Return the wants that apply to no cell: they have a wrong name or value."""
    return [want for want in wants if not list(judge(want, cells))]


def expected(cell):
    """Return the rate at which trains leave the line, bytes/s of payload: packets of UDP sources
    come between theirs. Prasad, Jain and Dovrolis: r_in C/(r_in + cross)"""
    path = cell["path"]
    cross = sum(s["rate"] for s in cell.get("cross", []) if s["options"][0] == "udp")
    share = path["access"] / (path["access"] + cross) if path.get("access") else 1
    return analysis.line_rate(path) * share / 8


def derived(cell):
    """Return measures of a cell that follow from others: the rate of cross traffic that yields to
    others, and of a trace of the policy sobas the mean of the estimates of the capacity until the
    window is set by the rate, and the packets that the sender is told to be lost from two round
    trips after that on: the window needs half of one to have an effect, and a loss one to be known."""
    measured, more = cell["measured"], {}
    for source, came in zip(cell.get("cross", []), measured.get("cross", [])):
        if source["options"][0] != "udp":
            more["yielding_rate"] = more.get("yielding_rate", 0) + came["rate"]
    trace = measured.get("trace")
    if trace:
        epochs = trace["epochs"]
        begun = list(itertools.takewhile(lambda e: e[1] != SET,
                                         zip(epochs["capacity"], epochs["phase"])))
        known = [capacity for capacity, _ in begun if capacity]
        more["capacity"] = round(statistics.fmean(known) / expected(cell), 4) if known else None
        if len(begun) < len(epochs["time"]):
            since = epochs["time"][len(begun)] + 2 * cell["path"]["rtt"] / 1e3
            more["lost_later"] = sum(n for t, n in zip(trace["time"], trace["lost"]) if t > since)
    return more


def mean(values):
    """Return the mean of numbers, of each value of dictionaries and of lists of one length; None if
    one of these is None, which never came about; of anything else the first."""
    first = values[0]
    if all(isinstance(v, dict) for v in values):
        return {k: mean([v[k] for v in values if k in v]) for k in first}
    if all(isinstance(v, list) and len(v) == len(first) for v in values):
        return [mean(list(each)) for each in zip(*values)]
    numbers = (int, float)
    if all(isinstance(v, numbers) and not isinstance(v, bool) for v in values):
        return first if len(set(values)) == 1 else round(statistics.fmean(values), 6)
    return None if None in values else first


def means(cells):
    """Return measured cells that differ in the seed as one, with the mean of their measures, and the
    trace of the first."""
    groups = []
    for cell in cells:
        for group in groups:
            if all(group[0][k] == cell[k] for k in ("path", "seconds", "flows")):
                group.append(cell)
                break
        else:
            groups.append([cell])
    return [{**group[0], "measured": {
                **mean([{**{k: v for k, v in c["measured"].items() if k != "trace"}, **derived(c)}
                        for c in group]),
                **{k: v for k, v in group[0]["measured"].items() if k == "trace"}}}
            for group in groups]
