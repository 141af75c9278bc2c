# SPDX-License-Identifier: GPL-2.0
"""Draws results of tools/lab/run: reads DIR/NAME.json, writes DIR/NAME.png and DIR/NAME.svg.
The same results give the same bytes."""

import argparse
import itertools
import json
import os
import sys
import textwrap

from sstptools.lab import analysis, verdict
from sstptools.lab.experiment import load, name_of
from sstptools.lab.verdict import (
    MEASURES, algorithm, measures, queue_text, rate_text, setting_text)

COLORS = {"SSTP, contract": "#0b6e4f", "SSTP, newreno": "#58a182", "SSTP, hybrid": "#8a6d1d", "TCP cubic": "#c8553d",
          "TCP bbr": "#3d5a98"}
SHADES = ("#0b6e4f", "#3d5a98", "#c8553d", "#8a6d1d", "#6b3f87")
PALETTE = ("#0b6e4f", "#58a182", "#c8553d", "#3d5a98", "#8a6d1d", "#6b3f87", "#7f8c8d", "#d18f9c",
           "#3a3a3a")
POLICIES = {"static": "#c8553d", "large": "#c8553d", "rrda": "#0b6e4f"}
PANEL_COLUMNS = 3       # of draw_settings()
RATE_STEPS = 10         # of a trace, over which rates are means
READERS_SHOWN = 5       # s of a transfer in draw_readers()
NO_LOSS = 1e-6          # position of "none" on the logarithmic axis of loss


def new_figure(rows, columns, size, title):
    import matplotlib                   # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot       # pylint: disable=import-outside-toplevel

    pyplot.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "sstp"})
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False)
    figure.suptitle("\n".join(textwrap.wrap(title, int(size[0] * 8))), fontsize=13)
    for axis in axes.flat:
        axis.grid(color="#dddddd", linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend(figure, axes):
    """Draw one legend for all panels, below them."""
    found = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            found.setdefault(label, handle)
    columns = max(1, min(len(found), int(figure.get_figwidth() / 3)))
    height = (0.2 + 0.2 * -(-len(found) // columns)) / figure.get_figheight()
    figure.set_layout_engine("constrained", rect=(0, height, 1, 1 - height))
    figure.legend(found.values(), found.keys(), loc="lower center",
                  ncols=columns, frameon=False)


def settle(figure):
    """Lay the panels out, and round their positions: the last bits of the layout solver's results
    depend on the addresses of its variables, so pictures would differ from run to run."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:
        axis.set_position([round(edge, 6) for edge in axis.get_position().bounds])


def color_of(flow, flows):
    """Return a flow's color: the same in all pictures for names in COLORS, else by order."""
    others = [name for name in flows if name not in COLORS]
    return COLORS.get(flow) or SHADES[others.index(flow) % len(SHADES)]


def loss_text(loss):
    return f"{loss * 100:g}%" if loss else "no loss"


def values(cells, *names):
    """Return the sorted values of the settings @names: tuples, unless there is one name."""
    found = sorted({tuple(cell["path"].get(n) for n in names) for cell in cells})
    return [f[0] for f in found] if len(names) == 1 else found


def flow_names(cells):
    return list(dict.fromkeys(flow["name"] for cell in cells for flow in cell["flows"]))


def draw_settings(result):
    """Draw the share of the line against the first number that is varied, with a panel for each
    combination of the other settings. This fits any experiment."""
    cells = result["cells"]
    names = [n for n in result["varied"] if len(values(cells, n)) > 1]
    along = next((n for n in names if not isinstance(cells[0]["path"][n], str)), "rate")
    others = [n for n in names if n != along]
    panels = list(dict.fromkeys(tuple(c["path"][n] for n in others) for c in cells))
    columns = min(len(panels), PANEL_COLUMNS)
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(rows, columns, (3.6 * columns + 1, 2.7 * rows + 1),
                              result["title"])
    flows = flow_names(cells)
    for panel, axis in zip(panels, axes.flat):
        here = [c for c in cells if tuple(c["path"][n] for n in others) == panel]
        for flow in flows:
            points = [(c["path"][along] or (NO_LOSS if along == "loss" else 0), f["efficiency"])
                      for c in here for f in c["measured"]["flows"] if f["name"] == flow]
            if points:
                axis.plot(*zip(*sorted(points)), color=color_of(flow, flows), marker="o",
                          markersize=4, label=flow, clip_on=False, zorder=3)
        if along == "loss":
            loss_axis(axis, here)
        else:
            found = values(here, along)
            if found[0] > 0 and found[-1] >= 10 * found[0]:
                axis.set_xscale("log")
                axis.minorticks_off()
            axis.set_xticks(found, [setting_text(along, v).removeprefix(f"{along} ")
                                    for v in found])
            axis.set_xlabel(along)
        axis.set_ylim(0, 1.02)
        axis.set_ylabel("of what the line can carry")
        axis.set_title(", ".join(map(setting_text, others, panel)), loc="left", fontsize=10)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    legend(figure, axes)
    return figure


def loss_axis(axis, cells):
    losses = values(cells, "loss")
    axis.set_xscale("log")
    axis.set_xticks([loss or NO_LOSS for loss in losses],
                    [f"{loss:g}" if loss else "none" for loss in losses])
    axis.minorticks_off()
    axis.set_xlabel("loss of packets")


def draw_loss(result):
    """Draw the share of the line against loss, with a panel for each rate and round-trip time."""
    cells = result["cells"]
    rates, rtts = values(cells, "rate"), values(cells, "rtt")
    figure, axes = new_figure(len(rates), len(rtts), (3.6 * len(rtts) + 1, 2.7 * len(rates) + 1),
                              result["title"])
    for rate, row in zip(rates, axes):
        for rtt, axis in zip(rtts, row):
            here = [c for c in cells if c["path"]["rate"] == rate and c["path"]["rtt"] == rtt]
            for flow in flow_names(here):
                points = [(c["path"]["loss"] or NO_LOSS, c["measured"]["flows"][0]["efficiency"])
                          for c in here if c["flows"][0]["name"] == flow]
                axis.plot(*zip(*sorted(points)), color=color_of(flow, flow_names(cells)),
                          marker="o", markersize=4, label=flow, clip_on=False, zorder=3)
            loss_axis(axis, here)
            axis.set_ylim(0, 1.02)
            axis.set_ylabel("of what the line can carry")
            axis.set_title(f"{rate_text(rate)}, {rtt:g} ms", loc="left", fontsize=10)
    legend(figure, axes)
    return figure


def means(path, flow, bins):
    """Return (time since connect() in round-trip times, mean share of the line over the half
    round-trip time before) for each bin."""
    bins, level = flow.get(bins, []), analysis.line_rate(path)
    count = max(1, round(path["rtt"] / 2 / flow["bin_ms"]))
    return [((flow["bin_start"] * 1e3 + (i + 1) * flow["bin_ms"]) / path["rtt"],
             sum(bins[max(0, i - count + 1):i + 1]) / count / level) for i in range(len(bins))]


def draw_start(result):
    """Draw goodput and arrivals over time, in round-trip times, from connect() on and from the
    end of the outage on."""
    cells = result["cells"]
    paths = values(cells, "rate", "rtt", "loss")
    figure, axes = new_figure(len(paths), 2, (11, 2.1 * len(paths) + 1), result["title"])
    for (rate, rtt, loss), row in zip(paths, axes):
        for cell in cells:
            path = cell["path"]
            if (path["rate"], path["rtt"], path["loss"]) != (rate, rtt, loss):
                continue
            flow = cell["measured"]["flows"][0]
            back = (path["outage_at"] + path["outage_for"]) * 1e3 / rtt
            for axis, zero in zip(row, (0, back)):
                for bins, style, label in (("goodput_bins", "-", ""),
                                           ("arrived_bins", ":", ", arrivals")):
                    shown = [(t - zero, mean) for t, mean in means(path, flow, bins)
                             if -1 <= t - zero <= 13]
                    if shown:
                        axis.plot(*zip(*shown), style, linewidth=1.6,
                                  color=color_of(flow["name"], flow_names(cells)),
                                  label=flow["name"] + label)
        for axis in row:
            axis.set_ylabel("of the line")
        for axis, what in zip(row, ("from connect() on", "after the outage")):
            axis.set_xlim(0, 12)
            axis.set_ylim(0, 1.5)
            axis.axhline(0.9, color="black", linewidth=0.8, label="90% of the line")
            axis.set_xlabel("round-trip times")
            axis.set_title(f"{rate_text(rate)}, {rtt:g} ms, {loss_text(loss)}: {what}",
                           loc="left", fontsize=10)
    legend(figure, axes)
    return figure


def share(cell):
    """Return the throughput efficiency of the paper: the share of the line's payload rate, from
    which lost packets are not subtracted."""
    path = cell["path"]
    return cell["measured"]["flows"][0]["goodput"] / (
        path["rate"] * analysis.PAYLOAD / analysis.FRAME)


def draw_window(result):
    """Draw figure 14 of the paper (see analysis.py)."""
    cells = result["cells"]
    figure, axes = new_figure(1, 1, (9, 6), result["title"])
    axis = axes[0][0]
    for loss, color in zip(values(cells, "loss"), SHADES):
        here = [c for c in cells if c["path"]["loss"] == loss]
        path = here[0]["path"]
        wa = analysis.full_window(path)
        axis.plot(*zip(*((c["path"]["window"] / wa, share(c)) for c in here)), "o",
                  color=color, label=f"p = {loss:g}, measured", zorder=3)
        windows = [1 + i / 10 for i in range(int(max(values(cells, "window")) * 10))]
        axis.plot([w / wa for w in windows], [analysis.efficiency(path, w) for w in windows],
                  color=color, linewidth=1, label=f"p = {loss:g}, analysis")
    axis.set_xlabel("window, in w_a")
    axis.set_ylabel("throughput efficiency")
    axis.set_ylim(0, 1.02)
    axis.set_xlim(left=0)
    legend(figure, axes)
    return figure


def draw_buffer(result):
    """Draw figures 17, 18 and 19 of the paper (see analysis.py)."""
    cells = result["cells"]
    figure, axes = new_figure(1, 3, (15, 5.5), result["title"])
    panels = (("Figure 17: larger windows", ("window = buffer", "2.5 w_a, hard ACK"), share),
              ("Figure 18: hard and soft ACK", ("2.5 w_a, hard ACK", "2.5 w_a, soft ACK"), share),
              ("Figure 19: hard and soft ACK", ("2.5 w_a, hard ACK", "2.5 w_a, soft ACK"),
               lambda cell: cell["measured"]["delay_max"]))
    for axis, (title, flows, value) in zip(axes[0], panels):
        for flow in flows:
            style = {"window = buffer": "o", "2.5 w_a, hard ACK": "-", "2.5 w_a, soft ACK": "s"}
            for size, color in zip(values(cells, "buffer"), SHADES):
                points = [(c["path"]["loss"], value(c)) for c in cells
                          if c["path"]["buffer"] == size and c["flows"][0]["name"] == flow]
                if points:
                    axis.plot(*zip(*sorted(points)), style[flow], color=color,
                              fillstyle="none" if style[flow] != "-" else "full",
                              label=f"{size:g} w_a, {flow}")
        loss_axis(axis, cells)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylabel("throughput efficiency" if value is share else
                        "longest delay of a segment, s")
        axis.set_ylim(bottom=0)
    legend(figure, axes)
    return figure


def draw_sharing(result):
    """Draw the share of each kind of flow, Jain's index, and the delay in the queue."""
    cells = result["cells"]
    figure, axes = new_figure(1, 3, (14, 4.6), result["title"])
    for kinds, color in zip(dict.fromkeys(c["path"]["flows"] for c in cells), SHADES):
        here = [c for c in cells if c["path"]["flows"] == kinds]
        counts = [c["path"]["count"] for c in here]
        for n, flow in enumerate(here[0]["flows"]):
            name = flow["name"] + (", of both" if flow["name"] != kinds else "")
            axes[0][0].plot(counts, [c["measured"]["flows"][n]["efficiency"] for c in here],
                            "-s" if n else "-o", color=color, label=name,
                            fillstyle="none" if n else "full")
        for axis, values_of in ((axes[0][1], lambda m: m.get("jain", 1.0)),
                                (axes[0][2], lambda m: m["queue_ms"])):
            axis.plot(counts, [values_of(c["measured"]) for c in here], "-o", color=color,
                      label=kinds)
    for axis, title in zip(axes[0], ("Share of the line, all flows of a kind", "Jain's index",
                                     "Mean delay in the queue, ms")):
        axis.set_xscale("log", base=2)
        axis.set_xticks(values(cells, "count"), [str(n) for n in values(cells, "count")])
        axis.set_xlabel("flows of each kind")
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylim(bottom=0)
    legend(figure, axes)
    return figure


def draw_readers(result):
    """Draw the size and the use of the receive buffer over time, while the program reads and
    pauses."""
    cells = result["cells"]
    paths = values(cells, "rate", "rtt")
    kinds = list(dict.fromkeys(c["flows"][0]["name"].split(", ")[0] for c in cells))
    figure, axes = new_figure(len(paths), len(kinds), (5.5 * len(kinds), 2.6 * len(paths) + 1),
                              result["title"])
    for (rate, rtt), row in zip(paths, axes):
        for kind, axis in zip(kinds, row):
            shares = []
            for cell in cells:
                flow, path = cell["measured"]["flows"][0], cell["path"]
                if (path["rate"], path["rtt"]) != (rate, rtt) or not flow["name"].startswith(kind):
                    continue
                policy = flow["name"].split(", ")[1]
                shares.append(f"{policy} {flow['efficiency']:.2f}")
                for bins, style, what in (("limit_bins", "-", "buffer"), ("used_bins", ":", "in use")):
                    axis.plot([flow["bin_start"] + i * flow["bin_ms"] / 1e3
                               for i in range(len(flow[bins]))], [b / 1e6 for b in flow[bins]],
                              style, color=POLICIES[policy], linewidth=1.2,
                              label=f"{policy}, {what}")
            axis.set_xlim(0, READERS_SHOWN)
            axis.set_ylim(bottom=0)
            axis.set_ylabel("MB")
            axis.set_xlabel("seconds")
            axis.set_title(f"{rate_text(rate)}, {rtt:g} ms, {kind}: {', '.join(shares)} "
                           "of the line", loc="left", fontsize=10)
    legend(figure, axes)
    return figure


def draw_controllers(result):
    """Draw throughput, Jain's index and the stability index against the number of connections,
    with a column for each algorithm: the module's beside the kernel's."""
    cells = result["cells"]
    names = list(dict.fromkeys(algorithm(name)[1] for name in flow_names(cells)))
    figure, axes = new_figure(3, len(names), (2.3 * len(names) + 1, 8), result["title"])
    for name, column in zip(names, axes.T):
        for (prefix, color), (loss, style) in itertools.product(
                (("SSTP", SHADES[0]), ("TCP", SHADES[2])), zip(values(cells, "loss"), "-:")):
            here = [c for c in cells if c["path"]["loss"] == loss and
                    algorithm(c["flows"][0]["name"]) == (prefix, name)]
            for axis, measure in zip(column, ("steady", "jain", "stability")):
                axis.plot([c["path"]["count"] for c in here],
                          [c["measured"]["flows"][0][measure] for c in here], "o" + style,
                          color=color, label=f"{prefix}, loss {loss:g}", markersize=4)
        column[0].set_title(name, loc="left", fontsize=10)
        column[-1].set_xlabel("connections")
        for axis in column:
            axis.set_xscale("log", base=2)
            axis.set_xticks(values(cells, "count"), [str(n) for n in values(cells, "count")])
            axis.set_ylim(bottom=0)
        for axis in column[:2]:
            axis.set_ylim(0, 1.02)
    for axis, what in zip(axes[:, 0], ("share of the line", "Jain's index", "stability index")):
        axis.set_ylabel(what)
    legend(figure, axes)
    return figure


def draw_bars(result):
    """Draw the measures that the experiment shows, a panel for each: a bar for each flow, by the
    settings that are varied."""
    cells, shown = result["cells"], result["show"]
    names = [n for n in result["varied"] if n != "flows" and len(values(cells, n)) > 1]
    groups = list(dict.fromkeys(tuple(c["path"][n] for n in names) for c in cells))
    bars = list(dict.fromkeys((c["path"].get("flows", ""), f["name"])
                              for c in cells for f in c["flows"]))
    figure, axes = new_figure(len(shown), 1, (max(8, 0.22 * len(groups) * len(bars) + 3,
                                                  len(groups)), 3 * len(shown) + 1),
                              result["title"])
    width = 0.85 / len(bars)
    for measure, axis in zip(shown, axes[:, 0]):
        for n, (flows, flow) in enumerate(bars):
            points = [(groups.index(tuple(c["path"][k] for k in names)) + (n + 0.5) * width - 0.425,
                       m[measure]) for c in cells if c["path"].get("flows", "") == flows
                      for m in measures(c, flow)[:1] if m.get(measure) is not None]
            if points:
                axis.bar(*zip(*points), width=width, color=PALETTE[n % len(PALETTE)],
                         hatch="///" if n >= len(PALETTE) else None, edgecolor="white",
                         label=flow if flows in ("", flow) else f"{flow}, of {flows}")
        axis.set_xticks(range(len(groups)), ["\n".join(map(setting_text, names, g)).replace(
            "case ", "").replace(", ", ",\n") for g in groups])
        axis.set_axisbelow(True)
        axis.set_ylabel(MEASURES[measure].lower())
        axis.set_ylim(bottom=0)
    legend(figure, axes)
    return figure


def draw_shares(result):
    """Draw the goodput of each connection over time, with a panel for each flow and a row for
    each round-trip time."""
    cells = result["cells"]
    rtts, flows = values(cells, "rtt"), flow_names(cells)
    figure, axes = new_figure(len(rtts), len(flows), (4.6 * len(flows), 2.8 * len(rtts) + 1),
                              result["title"])
    for cell in cells:
        flow = cell["measured"]["flows"][0]
        axis = axes[rtts.index(cell["path"]["rtt"])][flows.index(flow["name"])]
        for n, bins in enumerate(flow["connection_bins"]):
            shown = [(flow["bin_start"] + (i + 1) * flow["bin_ms"] / 1e3, b / 1e6)
                     for i, b in enumerate(bins)]
            axis.plot(*zip(*[s for s in shown if s[0] <= cell["seconds"]]), linewidth=1,
                      color=SHADES[n % len(SHADES)], alpha=0.8)
        axis.axhline(analysis.line_rate(cell["path"]) / len(flow["connection_bins"]) / 1e6,
                     color="black", linewidth=0.8, linestyle="--", label="fair share")
        axis.set_title(f"{flow['name']}, {cell['path']['rtt']:g} ms", loc="left", fontsize=10)
        axis.set_xlabel("seconds")
        axis.set_ylabel("Mbit/s of each connection")
        axis.set_ylim(bottom=0)
    legend(figure, axes)
    return figure


def draw_queues(row, cells, flows):
    """Draw goodput, the queue and lost packets of a path against the size of the queue."""
    path = cells[0]["path"]
    queues = sorted(dict.fromkeys(c["path"]["queue_bdp"] for c in cells))
    for key, style, label in (("available", "-", "A"), ("paper_sobas", "--", "the paper, SOBAS"),
                              ("paper_most", ":", "the paper, largest buffer")):
        if path[key]:
            row[0].axhline(path[key], color="black", linewidth=0.8, linestyle=style, label=label)
    for axis, (what, value) in zip(row, (
            ("Mbit/s", lambda c: c["measured"]["flows"][0]["goodput"] / 1e6),
            ("95% of the queue, ms", lambda c: c["measured"]["queue_95"]),
            ("lost packets", lambda c: c["measured"]["flows"][0]["lost"]))):
        for name, color in flows.items():
            here = [(queues.index(c["path"]["queue_bdp"]), value(c)) for c in cells
                    if c["flows"][0]["name"] == name]
            if here:
                axis.plot(*zip(*sorted(here)), "o-", color=color, label=name, markersize=4)
        axis.set_xticks(range(len(queues)), [queue_text({**path, "queue_bdp": q}) for q in queues])
        axis.set_ylabel(what)
    row[2].set_yscale("symlog")
    for axis in row:
        axis.set_ylim(0, 1.1 * axis.get_ylim()[1])
    row[0].set_title(f"{path['case']}: {rate_text(path['rate'])}, {path['rtt']:g} ms", loc="left",
                     fontsize=10)


def draw_leaves(axis, cells, flows):
    """Draw goodput over time around the time when cross traffic leaves."""
    for cell in cells:
        path, flow = cell["path"], cell["measured"]["flows"][0]
        stop = path["stop"] - cell["flows"][0]["start"]
        shown = [(t * path["rtt"] / 1e3 - stop, share * analysis.line_rate(path) / 1e6)
                 for t, share in means(path, flow, "arrived_bins" if "arrived_bins" in flow else
                                       "goodput_bins")]
        axis.plot(*zip(*[s for s in shown if -1 <= s[0] <= 4]), linewidth=1.2,
                  color=flows[flow["name"]], label=flow["name"])
        axis.set_title(f"{path['case']}, {queue_text(path)}", loc="left", fontsize=10)
    axis.set_xlabel("seconds after cross traffic stopped")
    axis.set_ylabel("Mbit/s")
    axis.set_ylim(bottom=0)


def draw_cases(axis, cells, flows, title):
    """Draw goodput of each cell as a bar, and what the paper has."""
    names = [c["path"]["case"] if "fixed" in c["flows"][0]["name"] else
             c["flows"][0]["name"].removeprefix("SSTP ") for c in cells]
    for n, cell in enumerate(cells):
        axis.barh(n, cell["measured"]["flows"][0]["goodput"] / 1e6, height=0.7,
                  color=flows[cell["flows"][0]["name"]], label=cell["flows"][0]["name"])
        if cell["path"]["paper_sobas"]:
            axis.plot(cell["path"]["paper_sobas"], n, "kx", label="the paper, this window")
    if cells:
        axis.axvline(cells[0]["path"]["available"], color="black", linewidth=0.8)
    axis.set_yticks(range(len(cells)), names)
    axis.invert_yaxis()
    axis.set_xlabel("Mbit/s")
    axis.set_title(title, loc="left", fontsize=10)


def draw_sobas(result):
    """Draw each path against the size of the queue, and below these the cases of one queue."""
    cells = result["cells"]
    flows = dict(zip(flow_names(cells), itertools.cycle(PALETTE)))
    cases = {case: [c for c in cells if c["path"]["case"] == case]
             for case in dict.fromkeys(c["path"]["case"] for c in cells)}
    leaves = cases.pop("leaves", [])
    windows, congested = ([c for case in list(cases) if case.startswith(begin)
                           for c in cases.pop(case)] for begin in ("S ", "congested"))
    figure, axes = new_figure(len(cases) + 1, 3, (16, 2.4 * len(cases) + 4.5), result["title"])
    for row, here in zip(axes, cases.values()):
        draw_queues(row, here, flows)
    draw_leaves(axes[-1][0], leaves, flows)
    draw_cases(axes[-1][1], windows, flows, "windows S on NYU 80")
    draw_cases(axes[-1][2], congested, flows, "congested")
    legend(figure, axes)
    return figure


def trace_windows(axis, path, trace):
    """Draw the windows of a traced cell over time, in packets, and when packets were lost."""
    axis.step(trace["time"], trace["cwnd"], color=SHADES[0], linewidth=1.2,
              label="congestion window of the sender")
    epochs = trace["epochs"]
    # In phase 0 the policy adds to its window all that has come.
    windows = [(t, window / analysis.PAYLOAD) for t, window, phase in
               zip(epochs["time"], epochs["window"], epochs["phase"]) if window and phase]
    if windows:
        axis.step(*zip(*windows), where="post", color=SHADES[2], linewidth=1.2,
                  label="window of the policy")
    lost = [t for t, count in zip(trace["time"], trace["lost"]) if count]
    axis.plot(lost, [0] * len(lost), "x", color="black", markersize=5, label="packets lost")
    full = path["available"] * path["rtt"] * 1e3 / 8 / 1500
    axis.axhline(full, color="black", linewidth=0.8, linestyle="--",
                 label="A and the round-trip time without a queue")
    # In slow start windows may be many times larger.
    later = [cwnd for t, cwnd in zip(trace["time"], trace["cwnd"]) if t > 1]
    axis.set_ylim(0, 1.15 * max([full, *later, *(window for _, window in windows)]))


def trace_rate(axis, trace):
    """Draw the rate at which packets of a traced cell came, over time."""
    sums, times = [0, *itertools.accumulate(trace["delivered"])], [0, *trace["time"]]
    bits, last = analysis.PAYLOAD * 8e-6, range(RATE_STEPS, len(sums))
    axis.plot(times[RATE_STEPS:], [(sums[n] - sums[n - RATE_STEPS]) * bits /
                                   (times[n] - times[n - RATE_STEPS]) for n in last],
              color=SHADES[4], linewidth=1, label="rate of the flow")


def draw_traces(result):
    """Draw what each traced cell did over time, a row for each: windows and losses, the queue, and
    the rate. A run of TCP alone has no traces."""
    cells = [c for c in result["cells"] if "trace" in c["measured"]]
    if not cells:
        return draw_settings(result)
    figure, axes = new_figure(len(cells), 3, (16, 2.6 * len(cells) + 1), result["title"])
    for row, cell in zip(axes, cells):
        path, trace = cell["path"], cell["measured"]["trace"]
        trace_windows(row[0], path, trace)
        row[1].plot([n / 100 for n in range(len(trace["queue"]))], trace["queue"],
                    color=SHADES[1], linewidth=0.8, label="queue")
        row[1].axhline(analysis.queue_time(path), color="black", linewidth=0.8, linestyle=":",
                       label="what the queue holds")
        trace_rate(row[2], trace)
        row[2].axhline(path["available"], color="black", linewidth=0.8, linestyle="--")
        row[2].set_ylim(top=1.1 * analysis.line_rate(path) / 1e6)
        for axis, what in zip(row, ("packets", "ms", "Mbit/s")):
            axis.set_xlim(0, trace["time"][-1])
            axis.set_ylim(bottom=0)
            axis.set_ylabel(what)
        row[0].set_title(f"{path['case']}, {queue_text(path)}: {cell['flows'][0]['name']}",
                         loc="left", fontsize=10)
    for axis in axes[-1]:
        axis.set_xlabel("seconds")
    legend(figure, axes)
    return figure


DRAW = {"settings": draw_settings, "loss": draw_loss, "start": draw_start, "window": draw_window,
        "buffer": draw_buffer, "sharing": draw_sharing, "readers": draw_readers,
        "controllers": draw_controllers, "shares": draw_shares, "bars": draw_bars,
        "sobas": draw_sobas, "traces": draw_traces}


def main():
    parser = argparse.ArgumentParser(prog="tools/lab/plot", description=__doc__)
    parser.add_argument("experiment", nargs="+", metavar="NAME",
                        help="name of an experiment, or its FILE.toml")
    parser.add_argument("-o", "--out", default="./lab-results", metavar="DIR",
                        help="directory of the results (default %(default)s)")
    args = parser.parse_args()
    for name in map(name_of, args.experiment):
        base = os.path.join(args.out, name)
        try:
            with open(base + ".json", encoding="utf-8") as f:
                result = json.load(f)
        except FileNotFoundError:
            parser.error(f"{base}.json is not there: see tools/lab/run")
        result["cells"] = verdict.means([c for c in result["cells"] if "measured" in c])
        if not result["cells"]:
            continue
        # Results of earlier versions lack "draw", but belong to an experiment in the tree.
        figure = DRAW[result.get("draw") or load(name)["draw"]](result)
        settle(figure)
        figure.savefig(base + ".png", dpi=100, metadata={"Software": None})
        figure.savefig(base + ".svg", metadata={"Date": None, "Creator": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
