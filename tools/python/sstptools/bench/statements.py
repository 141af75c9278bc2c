# SPDX-License-Identifier: GPL-2.0
"""Counts the statements of each controller, as Table 1 of Gu and Grossman's paper on UDT/CCC.

The paper counts semicolons. Here these are semicolons in bodies of functions, of which a
for () has two, without comments and strings: once in all functions, and once without those
that the paper's classes have no counterpart of, get_info() and check(), which show the state
and refuse parameters. Structures, tables and the registration are not counted. As the paper's
other TCP classes inherit from CTCP, what the controllers share (net/sstp/window.c,
include/net/sstp_window.h) counts for TCP alone, with newreno.
"""

import argparse
import json
import os
import re
import textwrap

from sstptools.markdown import markdown_table
from sstptools.tree import TREE

SHARED = ["net/sstp/window.c", "include/net/sstp_window.h"]
# Name in the paper, controller, the paper's numbers: UDT/CCC, native (lines of kernel patches)
ROWS = [
    ("TCP", "newreno", 28, None),
    ("Scalable TCP", "scalable", 11, 370),
    ("HighSpeed TCP", "highspeed", 8, 40),
    ("BiC TCP", "bic", 38, 430),
    ("TCP Westwood", "westwood", 27, 182),
    ("TCP Vegas", "vegas", 37, 247),
    ("FAST TCP", "fast", 31, 481),
    ("-", "cubic", None, None),
    ("UDPBlast", "rate", None, None),
    ("UDT", "udt", None, None),
    ("GTP", "gtp", None, None),
    ("-", "dctcp", None, None),
    ("-", "bbr", None, None),
    ("-", "paptc", None, None),
    ("-", "hybrid", None, None),
]
EXTRA = re.compile(r"_(get_info|check)$")
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
FUNCTION = re.compile(r"(\w+)\s*\([^;{}]*\)\s*\Z")


def parse_args():
    parser = argparse.ArgumentParser(
        prog="tools/bench/statements", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-j", "--json", metavar="FILE", help="write the numbers to FILE")
    add("-m", "--markdown", metavar="FILE",
        help="write a chapter of Documentation/evaluation to FILE")
    return parser.parse_args()


def functions(text):
    """Return the number of semicolons in the body of each function."""
    text = NOT_CODE.sub(" ", text)
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", text, flags=re.MULTILINE)
    found, depth, since, name = {}, 0, 0, None
    for m in re.finditer(r"[{};]", text):
        if m[0] == "{":
            if not depth:
                head = FUNCTION.search(text[since:m.start()])
                name = head and head[1]
                if name:
                    found[name] = 0
            depth += 1
        elif m[0] == "}":
            depth -= 1
        elif depth and name:
            found[name] += 1
        if not depth:
            since = m.end()
    return found


def count(files):
    """Return the numbers of semicolons without and with functions of EXTRA."""
    without = total = 0
    for file in files:
        with open(os.path.join(TREE, file), encoding="utf-8") as f:
            for name, semicolons in functions(f.read()).items():
                total += semicolons
                without += 0 if EXTRA.search(name) else semicolons
    return without, total


def measure():
    rows = []
    for title, name, ccc, native in ROWS:
        files = [f"net/sstp/ctrl_{name}.c"]
        alone = count(files)
        if name == "cubic":
            files.append("net/sstp/cubic.c")
        if name == "newreno":
            files += SHARED
        without, total = count(files)
        rows.append({"algorithm": title, "controller": name, "files": files,
                     "without_shared": alone[0], "statements": without, "with_info": total,
                     "paper": ccc, "paper_native": native})
    return rows


def table(rows):
    def number(value):
        return "-" if value is None else str(value)

    return markdown_table([
        ["algorithm", "controller", "here", "here, with get_info() and check()",
         "UDT/CCC", "the paper's native"],
        *([row["algorithm"], row["controller"], str(row["statements"]), str(row["with_info"]),
           number(row["paper"]), number(row["paper_native"])] for row in rows)])


def chapter(rows):
    text = [textwrap.fill(part.replace("\n", " "), 88) for part in (
        "Written by `tools/bench/statements`.",
        __doc__.split("\n\n", 1)[1].strip(),
        f"Of newreno's {rows[0]['statements']}, {rows[0]['without_shared']} are in "
        f"`{rows[0]['files'][0]}`, and the others shared. The paper's native implementations are "
        "lines that patches added to Linux or removed from it.")]
    return "# Statements of each controller (the paper's Table 1)\n\n" + \
        "\n\n".join(text) + "\n\n" + table(rows)


def main():
    args = parse_args()
    rows = measure()
    print(table(rows), end="")
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump(rows, f, indent=1)
            f.write("\n")
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as f:
            f.write(chapter(rows))


if __name__ == "__main__":
    main()
