# SPDX-License-Identifier: GPL-2.0
"""Run the tests, KUnit included, on a kernel that counts how often each line of
the module runs, and print for each file how many of its lines ran.

OUT/*.gcov are the sources with the count of each line; ##### marks lines that
never ran. This takes as long as the tests on one kernel, and some minutes to
build the kernel if it is not cached. Fails if a test fails, or if too few lines
ran.
"""

import argparse
import collections
import glob
import json
import os
import shutil
import subprocess
import sys

from sstptools.tree import TREE

SOURCES = "net/sstp"
ENOUGH = 90                     # percent of the lines of .c files


def parse_args():
    parser = argparse.ArgumentParser(
        prog="tools/coverage", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-o", "--out", default=os.path.join(TREE, "build/coverage"), metavar="OUT",
        help="directory for results, emptied first (default build/coverage)")
    add("-t", "--test", action="append", default=[], metavar="GLOB",
        help="run only matching tests (repeatable)")
    add("-n", "--no-run", action="store_true",
        help="do not run tests; use the counts of an earlier run in OUT")
    return parser.parse_args()


def run_tests(out, tests):
    """Run the tests; the runner stores the counts of each boot with its results in @out."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    command = [os.path.join(TREE, "selftests/run"), "-k", "gcov"]
    for test in tests:
        command += ["-t", test]
    return subprocess.run(command, env=dict(os.environ, TMPDIR=out), check=False).returncode


def count_lines(boot):
    """Yield (file, line, count) of all objects in one boot."""
    paths = [os.path.join(top, name) for top, _, names in os.walk(boot) for name in names]
    for data in (path for path in paths if path.endswith(".gcda")):
        notes = os.path.splitext("/" + os.path.relpath(data, boot))[0] + ".gcno"
        shutil.copy(notes, os.path.dirname(data))
        done = subprocess.run(["gcov", "--json-format", "--stdout", data],
                              stdout=subprocess.PIPE, check=True)
        for source in json.loads(done.stdout)["files"]:
            # Objects are built from links to sources, which have the same relative names.
            _, found, name = source["file"].rpartition(SOURCES + "/")
            if found and not name.startswith("tests/"):
                for line in source["lines"]:
                    yield name, line["line_number"], line["count"]


def annotate(name, counts, out):
    with open(os.path.join(TREE, SOURCES, name), encoding="utf-8") as source, \
         open(os.path.join(out, name + ".gcov"), "w", encoding="utf-8") as listing:
        for number, text in enumerate(source, 1):
            times = counts.get(number, "")
            listing.write(f"{'#####' if times == 0 else times:>12} {number:5} {text}")


def main():
    args = parse_args()
    out = os.path.abspath(args.out)
    status = 0 if args.no_run else run_tests(out, args.test)
    files = collections.defaultdict(collections.Counter)
    for boot in glob.glob(f"{out}/sstp-results-*/*/gcov/*"):
        for name, line, times in count_lines(boot):
            files[name][line] += times
    if not files:
        sys.exit("coverage: nothing was counted")
    totals = {".c": [0, 0], ".h": [0, 0]}
    print(f"\n{'file':<20} {'lines':>6} {'ran':>6}")
    for name, counts in sorted(files.items()):
        annotate(name, counts, out)
        ran = sum(times > 0 for times in counts.values())
        total = totals[os.path.splitext(name)[1]]
        total[0] += len(counts)
        total[1] += ran
        print(f"{name:<20} {len(counts):6} {ran:6} {100 * ran / len(counts):6.1f} %")
    for kind, (lines, ran) in totals.items():
        if lines:
            print(f"{'all ' + kind:<20} {lines:6} {ran:6} {100 * ran / lines:6.1f} %")
    lines, ran = totals[".c"]
    if 100 * ran < ENOUGH * lines:
        print(f"coverage: less than {ENOUGH} % of the lines ran")
        status = status or 1
    print(f"list of lines that never ran: grep '#####' {os.path.relpath(out)}/*.gcov")
    return status


if __name__ == "__main__":
    sys.exit(main())
