# SPDX-License-Identifier: GPL-2.0
"""Reports the transfers that tools/demo.d/guest measured: prints a table, and writes
goodput.json, goodput.png and goodput.svg. Exit status 1 if a transfer failed."""

import argparse
import json
import os
import sys

LABELS = {"sstp": "SSTP", "cubic": "TCP cubic", "bbr": "TCP bbr"}
COLORS = {"sstp": "#0b6e4f", "cubic": "#c8553d", "bbr": "#3d5a98"}
MBIT = 1e6


def text(directory, name):
    """Return the content of a file, or None if it cannot be read."""
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return None


def load(directory):
    """Read the description of path and file, and the results of all runs."""
    result = {"path": json.loads(text(directory, "path.json")), "file": {
        "name": text(directory, "label"),
        "bytes": os.path.getsize(os.path.join(directory, "file")),
        "sha256": text(directory, "file.sha256").split()[0]}, "runs": []}
    for name in text(directory, "runs").split():
        missing = text(directory, name + ".missing")
        if missing:
            result["runs"].append({"name": name, "missing": missing})
            continue
        try:
            measured = json.loads(text(directory, name + ".json") or "{}")
        except ValueError:
            measured = {}               # xfer was killed while it wrote
        sha = (text(directory, name + ".sha256") or "").split()[:1]
        failed = text(directory, name + ".failed")
        run = {"name": name, "ok": not failed and bool(measured.get("ok")),
               "sha256": sha[0] if sha else "", "measured": measured,
               "dropped": int(text(directory, name + ".dropped") or 0)}
        if measured:
            run["seconds_to_90"] = seconds_to_90(measured, result["path"])
        run["sha256_ok"] = run["sha256"] == result["file"]["sha256"]
        if failed or not run["ok"]:
            run["failed"] = failed or measured.get("failed") or "no result"
        result["runs"].append(run)
    return result


def file_share(path):
    """Return the share of a full frame that carries the file: the rest is headers."""
    return path["payload_bytes"] / path["frame_bytes"]


def curve(measured):
    """Return lists of seconds, and of the mean bit/s in the 300 ms before each. Data that waits
    for a retransmission arrives late and all at once, which would dominate shorter means."""
    bins = [0, 0] + measured["goodput_bins"]
    step = measured["bin_ms"] / 1e3
    means = [sum(bins[i:i + 3]) / 3 for i in range(len(bins) - 2)]
    return [i * step for i in range(len(means) + 1)], [0.0] + means


def seconds_to_90(measured, path):
    """Return the seconds until the file arrived at 90% of the line's capacity, or None if it
    never did."""
    for time, mean in zip(*curve(measured)):
        if mean >= 0.9 * file_share(path) * path["line_rate"]:
            return round(time, 1)
    return None


def table(result):
    """Return the rows of the table, of which the first two are its heading."""
    rows = [["", "goodput", "time", "to 90%", "dropped", "resent", "buffer",
             "SHA-256"],
            ["", "Mbit/s", "s", "s", "packets", "packets", "MB", ""]]
    for run in result["runs"]:
        row = [LABELS[run["name"]]]
        measured = run.get("measured")
        if "missing" in run:
            row += ["-"] * 6 + [run["missing"]]
        elif not measured:
            row += ["-"] * 6 + ["FAILED: " + run["failed"]]
        else:
            to_90 = run["seconds_to_90"]
            row += [f"{measured['goodput'] / MBIT:.1f}", f"{measured['seconds']:.1f}",
                    f"{to_90:.1f}" if to_90 else "-", f"{run['dropped']}",
                    f"{measured['retransmits']}",
                    f"{measured['receive_peak'] / MBIT:.2f}",
                    "FAILED: " + run["failed"] if not run["ok"] else
                    "ok" if run["sha256_ok"] else "DIFFERS"]
        rows.append(row)
    return rows


def show(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(7)]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:7], widths[1:])]
        print("  ".join(cells + [row[7]]).rstrip())


def draw_panel(axes, result):
    """Draw the curves, and lines for the rates of line and contract; titles are the caller's."""
    path = result["path"]
    for run in result["runs"]:
        if run.get("measured"):
            label = LABELS[run["name"]]
            if not (run["ok"] and run["sha256_ok"]):
                label += " (failed)"
            times, means = curve(run["measured"])
            axes.plot(times, [mean / MBIT for mean in means], color=COLORS[run["name"]],
                      linewidth=2, label=label, zorder=3, solid_joinstyle="round",
                      marker="o", markevery=[-1])
    axes.axhline(file_share(path) * path["line_rate"] / MBIT, color="black", linewidth=1,
                 label="the line, less headers")
    axes.axhline(file_share(path) * path["contract"] / MBIT, color=COLORS["sstp"],
                 linewidth=1, linestyle=(0, (5, 3)), label="SSTP's contract, less headers")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("goodput, Mbit/s")


def draw(result, directory):
    """Draw the first seconds, in which SSTP completes, and below them the whole transfers."""
    import matplotlib                   # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot       # pylint: disable=import-outside-toplevel

    pyplot.rcParams.update({"font.size": 11, "svg.fonttype": "none"})
    figure, (first, whole) = pyplot.subplots(2, figsize=(10, 8))
    figure.set_layout_engine("constrained", rect=(0, 0.05, 1, 0.95))
    path, file = result["path"], result["file"]
    figure.suptitle(
        f"{file['bytes'] / MBIT:.0f} MB over {path['line_rate'] / MBIT:.0f} Mbit/s, "
        f"{2 * path['delay_ms']} ms round trip, {path['loss_percent']}% loss "
        f"(Linux {path['kernel']})", fontsize=14)
    draw_panel(first, result)
    draw_panel(whole, result)
    ends = sorted(curve(run["measured"])[0][-1]
                  for run in result["runs"] if run.get("measured"))
    if ends:
        whole.set_xlim(0, 1.02 * ends[-1])
        first.set_xlim(0, min(1.02 * ends[-1], 1.2 * ends[len(ends) // 2]))
    first.set_title("The first seconds: mean of the preceding 300 ms. Above the line: "
                    "data that had waited for a lost packet.", loc="left", fontsize=11)
    whole.set_title("Whole transfers. Dots: the file is complete.", loc="left", fontsize=11)
    for axes in (first, whole):
        axes.set_xlabel("seconds since the receiver accepted the connection")
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, frameon=False)
    for kind in ("png", "svg"):
        figure.savefig(os.path.join(directory, "goodput." + kind), dpi=120)


def main():
    parser = argparse.ArgumentParser(prog="tools/demo.d/report", description=__doc__)
    parser.add_argument("measured", metavar="DIR",
                        help="directory that tools/demo.d/guest wrote to")
    parser.add_argument("out", metavar="OUT", help="directory for the results")
    args = parser.parse_args()

    result = load(args.measured)
    print()
    show(table(result))
    print()
    with open(os.path.join(args.out, "goodput.json"), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    draw(result, args.out)
    for kind in ("json", "png", "svg"):
        print(os.path.join(args.out, "goodput." + kind))
    good = all(run["ok"] and run["sha256_ok"] for run in result["runs"]
               if "missing" not in run)
    return 0 if good and result["runs"] else 1


if __name__ == "__main__":
    sys.exit(main())
