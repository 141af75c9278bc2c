# SPDX-License-Identifier: GPL-2.0
"""Writes Documentation/evaluation from results of tools/lab/run, and compares them with the
figures of Gong and Parulkar, WUCS-92-38 ("the paper"). Runs the experiments first, which takes
hours, unless --from names a directory of results."""

import argparse
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

from sstptools.lab import analysis
from sstptools.lab.experiment import load, members
from sstptools.lab.verdict import (
    MEASURES, algorithm, describe, judge, means, misses, queue_text, rate_text, setting_text)
from sstptools.markdown import markdown_table
from sstptools.tree import TREE

ORDER = ("long", "wan", "start", "window", "buffer", "readers", "fresh", "sharing", "beside",
         "late", "rtts", "paths", "shallow", "near", "short", "sobas", "sobas_traces",
         "capacity", "controllers", "gtp")

SHARED = ("steady", "jain", "stability")        # measures of connections that share a line

# Gu and Grossman, "Supporting Configurable Congestion Control in Data Transport Services", 2005,
# Table 2: flows; throughput in Gbit/s, fairness and stability of TCP; the same of UDT's NewReno.
# The path is of 1 Gbit/s and 110 ms, a run takes an hour.
UDT_TABLE_2 = ((1, .112, 1, .517, .122, 1, .415), (2, .191, .997, .476, .208, .999, .426),
               (4, .322, .949, .484, .323, .999, .492), (8, .378, .971, .633, .422, .999, .550),
               (16, .672, .958, .502, .642, .985, .482), (32, .877, .988, .491, .799, .997, .470),
               (64, .921, .994, .569, .716, .996, .529))


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def grid(cells, rows, columns, value):
    """Return a table of @value of each cell; @rows and @columns return the cell's headings."""
    found, heads = {}, []
    for cell in cells:
        head = columns(cell)
        if head not in heads:
            heads.append(head)
        found.setdefault(rows(cell), {})[head] = value(cell)
    return markdown_table([[""] + heads] + [[row] + [values.get(h, "") for h in heads]
                                            for row, values in found.items()])


def path_text(cell):
    return f"{rate_text(cell['path']['rate'])}, {cell['path']['rtt']:g} ms"


def flow(cell):
    return cell["measured"]["flows"][0]


def share(cell):
    """Return the throughput efficiency of the paper: the share of the line's payload rate, from
    which lost packets are not subtracted."""
    return flow(cell)["goodput"] / analysis.line_rate(dict(cell["path"], loss=0))


def wan(cells):
    text = ""
    for name in dict.fromkeys(flow(c)["name"] for c in cells):
        here = [c for c in cells if flow(c)["name"] == name]
        text += f"{name}:\n\n" + grid(
            here, path_text,
            lambda c: f"loss {c['path']['loss']:g}" if c["path"]["loss"] else "no loss",
            lambda c: number(flow(c)["efficiency"])) + "\n"
    return text


def start(cells):
    return "".join(
        f"{title}, round-trip times:\n\n" + grid(
            [c for c in cells if key in flow(c)],
            lambda c: f"{path_text(c)}, loss {c['path']['loss']:g}",
            lambda c: flow(c)["name"], lambda c, k=key: number(flow(c)[k], 1)) + "\n"
        for key, title in (("start_rtt", "90% of the rate after connect(), in order"),
                           ("arrive_rtt", "90% of the rate after connect(), arrivals"),
                           ("back_rtt", "90% of the rate after the outage, in order"),
                           ("arrive_back_rtt", "90% of the rate after the outage, arrivals"))
        if any(key in flow(c) for c in cells))


def window(cells):
    path = cells[0]["path"]
    wa = analysis.full_window(path)
    near = [c for c in cells if c["path"]["loss"] <= 1e-3 and c["path"]["window"] <= 2 * wa + 1]
    ratios = [flow(c)["of_analysis"] for c in near]
    far = sorted({c["path"]["window"] for c in near if abs(flow(c)["of_analysis"] - 1) > 0.03})
    text = (f"Up to p = 0.001 and W = 2 w_a + 1 the measurements are {number(min(ratios))} to "
            f"{number(max(ratios))} of the analysis;\nmore than 3% off are windows of "
            f"{', '.join(map(str, far)) or 'no size'}.\n\n") if near else ""
    return text + "Efficiency, its ratio to the analysis, and to the upper bound:\n\n" + grid(
        cells, lambda c: f"W = {c['path']['window']} ({c['path']['window'] / wa:.2f} w_a)",
        lambda c: f"p = {c['path']['loss']:g}",
        lambda c: f"{number(share(c))} ({number(flow(c)['of_analysis'])}, "
                  f"{number(flow(c)['of_most'])})") + "\n"


def mean_delays(cells):
    """Compare D_r and D_s of section 4.2 with the cells in which only loss delays segments: the
    buffer is as large as the window."""
    here = [c for c in cells if c["path"]["buffer"] == 2.5 and "hard" in flow(c)["name"]]
    if not here:
        return ""
    rows = [["p", "D_r", "measured", "D_s", "measured"]]
    for cell in here:
        path = cell["path"]
        sent = analysis.delay(path, analysis.ack_time(path))
        there = sent - path["rtt"] / 2e3 - 3 * analysis.packet_time(path)
        measured = cell["measured"]
        rows.append([f"{path['loss']:g}", number(there, 4), number(measured["delay_mean"], 4),
                     number(sent, 4), number(measured["told_mean"], 4)])
    return ("Mean delay of a segment, s, in section 4.2 of the paper and measured: D_r until the "
            "receiver has it,\nD_s until its acknowledgement arrives. In the paper the receiver "
            "detects a loss with the last packet\nof the segment; here packets may be reordered, "
            "so it waits. It also delays a PACK by up to 10 ms,\nand names only the last complete "
            "segment behind a gap, so D_s of others lasts until the gap is filled:\n\n" +
            markdown_table(rows) + "\n")


def buffer(cells):
    return mean_delays(cells) + "".join(
        f"{title}:\n\n" + grid(
            cells, lambda c: f"{c['path']['buffer']:g} w_a, {flow(c)['name']}",
            lambda c: f"p = {c['path']['loss']:g}", value) + "\n"
        for title, value in (
            ("Throughput efficiency", lambda c: number(share(c))),
            ("Share of the sent packets that the receiver discarded (packets of replaced segments\n"
             "are not counted), and share that were retransmissions",
             lambda c: number(flow(c)["server_info"]["packets_discarded"] /
                              flow(c)["info"]["packets_sent"]) + ", " +
             number(flow(c)["info"]["packets_retrans"] / flow(c)["info"]["packets_sent"])),
            ("Window at the end, w_a",
             lambda c: number(flow(c)["server_info"]["rcv_window"] /
                              analysis.full_window(c["path"]), 2)),
            ("Longest delay of a segment, s", lambda c: number(c["measured"]["delay_max"])),
            ("Mean delay of a segment, s", lambda c: number(c["measured"]["delay_mean"]))))


def readers(cells):
    return "".join(
        f"{title}:\n\n" + grid(cells, path_text, lambda c: flow(c)["name"], value) + "\n"
        for title, value in (
            ("Share of the line", lambda c: number(flow(c)["efficiency"])),
            ("Share of the received packets that were discarded",
             lambda c: number(flow(c)["discarded"])),
            ("Largest buffer, and its mean, MB",
             lambda c: f"{flow(c)['buffer_max'] / 1e6:.2f}, {flow(c)['buffer_mean'] / 1e6:.2f}")))


def sharing(cells):
    def shares(cell):
        measured = cell["measured"]
        text = " + ".join(number(f["efficiency"], 2) for f in measured["flows"])
        return f"{text}, {number(measured.get('jain', 1.0))}, {measured['queue_ms']:.0f} ms"
    path = cells[0]["path"]
    product = path["rate"] * path["rtt"] / 8e3
    queue = analysis.limit(path) * analysis.FRAME - product / 2
    return (f"Besides the packets on the wire, the queue holds {number(queue / product, 2)} "
            f"bandwidth-delay products,\nor {queue * 8e3 / path['rate']:.0f} ms. Share of the "
            "line, Jain's index, mean delay in the queue:\n\n" + grid(
                cells, lambda c: c["path"]["flows"], lambda c: f"{c['path']['count']} of each",
                shares))


def controllers(cells):
    counts = list(dict.fromkeys(c["path"]["count"] for c in cells))
    names = list(dict.fromkeys(algorithm(flow(c)["name"])[1] for c in cells))
    found = {(*algorithm(flow(c)["name"]), c["path"]["loss"], c["path"]["count"]): flow(c)
             for c in cells}
    text = "Each entry is the module's controller, and the kernel's of the same name.\n\n"
    for loss in dict.fromkeys(c["path"]["loss"] for c in cells):
        for measure in SHARED:
            text += f"{MEASURES[measure]}, loss {loss:g}:\n\n" + markdown_table(
                [[""] + [f"{n} flows" for n in counts]] +
                [[name] + [", ".join(number(found.get((prefix, name, loss, n), {}).get(measure))
                                     for prefix in ("SSTP", "TCP")) for n in counts]
                 for name in names]) + "\n"
    return text + ("TCP of the kernel and UDT's NewReno in Table 2 of that paper (share of 1 "
                   "Gbit/s, Jain's index,\nstability index):\n\n" + markdown_table(
                       [["flows", "TCP", "", "", "UDT", "", ""]] +
                       [[str(count)] + [number(v) for v in row] for count, *row in UDT_TABLE_2]))


def shares(cells):
    return ("The least and the largest are rates of a connection, in shares of the mean of all:"
            "\n\n" + markdown_table(
                [["", *(MEASURES[k] for k in SHARED), "Least", "Largest"]] +
                [[f"{flow(c)['name']}, {c['path']['rtt']:g} ms"] +
                 [number(flow(c)[k]) for k in (*SHARED, "least", "largest")] for c in cells]))


def mbit(rate):
    return "-" if rate is None else f"{rate / 1e6:.{0 if rate >= 1e8 else 1 if rate >= 1e7 else 2}f}"


# Columns of sobas(): heading, value of a cell
SOBAS = (("Goodput, Mbit/s", lambda c: mbit(flow(c)["goodput"])),
         ("of A", lambda c: number(flow(c)["goodput"] / c["path"]["available"] / 1e6, 2)),
         ("Queue, ms", lambda c: f"{c['measured']['queue_ms']:.1f}"),
         ("95%", lambda c: f"{c['measured']['queue_95']:.1f}"),
         ("RTT, ms", lambda c: f"{c['path']['rtt'] + c['measured']['queue_ms']:.1f}"),
         ("Lost", lambda c: f"{flow(c)['lost']:.0f}"),
         ("Cross, Mbit/s", lambda c: mbit(c["measured"].get("cross_rate"))))


def sobas_path(cells):
    """Return the table of a path: a row for each flow, with a value for each size of the queue."""
    path, columns = cells[0]["path"], SOBAS
    if any("gain_rtt" in flow(c) for c in cells):
        columns += (("RTTs until 90%", lambda c: number(flow(c).get("gain_rtt"), 1)),)
    paper = "".join(f", {what} {path[key]:g}" for what, key in
                    (("SOBAS", "paper_sobas"), ("largest buffer", "paper_most")) if path[key])
    rows = []
    for name in dict.fromkeys(flow(c)["name"] for c in cells):
        here = [c for c in cells if flow(c)["name"] == name]
        rows.append([name] + [", ".join(map(value, here)) for _, value in columns])
    return (f"{path['case']}, {rate_text(path['rate'])}, {path['rtt']:g} ms, A "
            f"{path['available']:g}{paper and '; the paper' + paper.lstrip(',') + ' Mbit/s'}; "
            "queues of " + ", ".join(dict.fromkeys(queue_text(c["path"]) for c in cells)) +
            ":\n\n" + markdown_table([["", *(head for head, _ in columns)]] + rows) + "\n")


def sobas_means(cells):
    """Return a table of each flow's means over the paths on which all have results, "" if there is
    none."""
    kinds = {}
    for cell in cells:
        kinds.setdefault(flow(cell)["name"], {})[str(cell["path"])] = cell
    cubic = kinds.get("TCP cubic", {})
    kinds = {name: there for name, there in kinds.items() if set(there) & set(cubic)}
    paths = [path for path in cubic if all(path in there for there in kinds.values())]
    kinds = {name: [there[path] for path in paths] for name, there in kinds.items()}

    def ratios(name, than):
        return [flow(one)["goodput"] / flow(other)["goodput"]
                for one, other in zip(kinds[name], kinds.get(than, []))]

    def mean(values):
        return statistics.fmean(values) if values else None

    def row(name):
        rrda = ratios(name, re.sub(r"\+ .*sobas", "+ rrda", name)) if "sobas" in name else []
        here = [{**c["measured"], **flow(c)} for c in kinds[name]]
        return [name, number(mean([flow(c)["goodput"] / 1e6 / c["path"]["available"]
                                   for c in kinds[name]])),
                number(mean(ratios(name, "TCP cubic"))), number(mean(rrda)),
                number(min(rrda, default=None)), str(sum(r < 0.98 for r in rrda)) if rrda else "-",
                number(mean([h["queue_ms"] for h in here]), 1),
                number(mean([h["lost"] for h in here]), 0)]

    if not paths:
        return ""
    return (
        f"Means over {len(paths)} paths and queues. The goodput is a share of A, of that of TCP cubic, "
        "and of that\nof the same controller with rrda. Of these the least, and how many are below "
        "0.98:\n\n" + markdown_table(
            [["", "A", "cubic", "rrda", "least", "below", "Queue, ms", "Lost"],
             *map(row, kinds)]) + "\n")


def sobas(cells):
    return (sobas_means(cells) +
            "Each entry has a value for each size of the queue. RTT is the path's with the mean "
            "delay in the queue,\nlost are the flow's own packets, and cross is what cross traffic "
            "has while the flow lasts:\n\n" + "".join(
                sobas_path([c for c in cells if c["path"]["case"] == case])
                for case in dict.fromkeys(c["path"]["case"] for c in cells)))


def traces(cells):
    """Return a table with a row for each traced cell."""
    rows = [[c["path"]["case"], queue_text(c["path"]), flow(c)["name"], mbit(flow(c)["goodput"]),
             number(flow(c)["goodput"] / 1e6 / c["path"]["available"], 2),
             number(c["measured"]["queue_ms"], 1), number(flow(c)["lost"], 0),
             number(c["measured"].get("lost_later"), 0), number(flow(c).get("gain_rtt"), 1)]
            for c in cells]
    return markdown_table([["", "Queue", "", "Goodput, Mbit/s", "of A", "Queue, ms", "Lost",
                            "Lost later", "RTTs until 90%"]] + rows)


def compared(cells):
    """Return a table for each measure that the experiment shows: a column for each flow, or for
    all that share the line, with the measure of each if they differ in it."""
    experiment = load(cells[0]["experiment"])
    names = [n for n in experiment["sweep"] if n != "flows"]

    def row(cell):
        return ", ".join(setting_text(n, cell["path"][n]).removeprefix("case ") for n in names)

    def column(cell):
        return cell["path"].get("flows") or flow(cell)["name"]

    def values(cell, measure):
        measured = cell["measured"]
        found = [measured[measure]] if measure in measured else [
            f[measure] for f in measured["flows"] if measure in f]
        return " + ".join(number(v, 0 if measure in ("dropped", "receive_peak") else 3)
                          for v in found)

    return "".join(f"{MEASURES[measure]}:\n\n" +
                   grid(cells, row, column, lambda c, m=measure: values(c, m)) + "\n"
                   for measure in experiment["show"])


def listed(title, lines):
    """Return a list with a heading, or "" if there are no lines."""
    return f"\n{title}:\n\n" + "".join(f"- {line}\n" for line in lines) if lines else ""


def found_in_paper(experiment, cells):
    """Return the findings of the paper, with the number of cells in which each holds here, and
    the values of the cells in which it does not."""
    lines = []
    claims = experiment.get("wanted", []) + experiment.get("paper", [])
    for says in [c for c in claims if "says" in c]:
        judged = list(judge(says, cells))
        other = [f"\n  - {describe(c, experiment['sweep'])}: {what}"
                 for c, _, what, so in judged if not so]
        if judged:
            lines.append(f"{says['says']}: holds in {len(judged) - len(other)} of "
                         f"{len(judged)} cells" + ", but not in" * bool(other) + "".join(other))
    return listed("Findings of the paper", lines)


def section(name, directory, out):
    """Return a chapter of the report, and copy its picture to @out."""
    with open(os.path.join(directory, name + ".json"), encoding="utf-8") as f:
        result = json.load(f)
    experiment = load(name)
    measured = [c for c in result["cells"] if "measured" in c]
    cells = [{"experiment": name, **cell} for cell in means(measured)]
    tell = {"wan": wan, "long": wan, "start": start, "window": window, "buffer": buffer,
            "readers": readers, "fresh": readers, "sharing": sharing,
            "controllers": controllers, "gtp": shares, "sobas": sobas,
            "sobas_traces": traces}.get(name, compared)
    text = (f"## {result['title']}\n\n{experiment['text'].strip()}\n\n"
            f"`tools/lab/run {'--quick ' if result['quick'] else ''}{name}`, "
            f"{len(measured)} of {result['count']} cells, on " +
            ", ".join(sorted({c["kernel"] for c in result["cells"]})) +
            ", seed " + ", ".join(sorted({str(c["seed"]) for c in result["cells"]})) +
            (" (means)" if len(measured) > len(cells) else "") +
            ", sources " + ", ".join(sorted({c["source"][:8] for c in result["cells"]})) +
            ".\n\n")
    if cells:
        shutil.copy(os.path.join(directory, name + ".svg"), out)
        text += f"![{result['title']}]({name}.svg)\n\n{tell(cells)}"
    sweep = experiment["sweep"]
    return (text + found_in_paper(experiment, cells) +
            listed("Not as wanted", dict.fromkeys(
                f"{describe(c, sweep)}: {what}"
                for c, what in misses(experiment.get("wanted", []), cells))) +
            listed("Failed", [f"{describe(c, sweep)}: {c['failed'].splitlines()[0]}"
                              for c in result["cells"] if "failed" in c]))


def chapters(path):
    """Return the chapters of an earlier report by title, {} if there is none."""
    try:
        with open(path, encoding="utf-8") as f:
            parts = f.read().split("\n## ")[1:]
    except FileNotFoundError:
        return {}
    return {part.split("\n", 1)[0]: "## " + part for part in parts}


def main():
    parser = argparse.ArgumentParser(prog="tools/lab/report", description=__doc__)
    parser.add_argument("experiment", nargs="*", metavar="NAME",
                        help="only these, of " + ", ".join(ORDER) + "; other chapters stay")
    parser.add_argument("-f", "--from", dest="results", metavar="DIR",
                        help="results of tools/lab/run; experiments without results are left out")
    parser.add_argument("-q", "--quick", action="store_true", help="run the quick sets")
    parser.add_argument("-o", "--out", default=os.path.join(TREE, "Documentation/evaluation"),
                        metavar="DIR", help="directory of the report (default %(default)s)")
    args = parser.parse_args()
    args.experiment = list(itertools.chain.from_iterable(map(members, args.experiment)))
    unknown = set(args.experiment).difference(ORDER)
    if unknown:
        parser.error(f"no chapter {', '.join(sorted(unknown))}")
    results = args.results or "./lab-results" + "/quick" * args.quick
    status = 0
    if not args.results:
        # --resume: cells that an earlier run has measured are not measured again.
        status = subprocess.run([os.path.join(TREE, "tools/lab/run"), "--resume", "-o", results] +
                                ["--quick"] * args.quick + (args.experiment or ["all"]),
                                check=False).returncode
    # 1 and 3: cells failed or are not as wanted. The report lists them.
    if status not in (0, 1, 3):
        return 1
    os.makedirs(args.out, exist_ok=True)
    text = ["# The module on long, fast and lossy paths\n\n"
            "Written by `tools/lab/report`. All results are measured with the module itself, in\n"
            "simulated time (see `tools/lab/run -h`): the speed of the host does not matter, and\n"
            "the same seed gives the same bytes again. With another kind of processor, kernel or\n"
            "compiler other packets are lost. \"The line\" in shares of the line is the payload\n"
            "that it can carry, without the packets that it loses. \"The paper\" is Gong and\n"
            "Parulkar, \"A Two-Level Flow Control Scheme for High Speed Networks\", WUCS-92-38.\n"
            "Each chapter names a digest of the sources that it was measured with, and for TCP\n"
            "alone of those without the module. It differs from today's if they have changed.\n\n"
            "Other chapters: [a server with many clients and little CPU](server.md), the same\n"
            "server with [a buffer for each client](each.md), the effect of\n"
            "[parts of RRDA](parts.md) on it,\n"
            "[how receive buffers leave memory to others](memory.md),\n"
            "[a receiving program with too little CPU](contention.md),\n"
            "[requests to redis, nginx and memcached](requests.md),\n"
            "[memory and set-up of many connections](many.md),\n"
            "[flows on several CPUs](cpus.md),\n"
            "[links of several kinds](links.md),\n"
            "[instructions per byte by number of connections and ACK interval](flows.md), and\n"
            "[the statements of each controller](statements.md). Those in BPF have\n"
            "[a comparison with the same in C](bpf.md). `make evaluation` writes all,\n"
            "`make evaluation-ccc` what has a counterpart in Gu and Grossman's paper on UDT/CCC:\n"
            "statements (its Table 1), controllers (Table 2), instructions (Tables 3 and 4), and\n"
            "groups of gtp.\n"]
    readme = os.path.join(args.out, "README.md")
    old = chapters(readme) if args.experiment else {}
    for name in ORDER:
        if (name in (args.experiment or ORDER) and
                os.path.exists(os.path.join(results, name + ".json"))):
            text.append(section(name, results, args.out))
        elif load(name)["title"] in old:
            text.append(old[load(name)["title"]])
    with open(readme, "w", encoding="utf-8") as f:
        f.write("\n".join(text))
    return status == 1


if __name__ == "__main__":
    sys.exit(main())
