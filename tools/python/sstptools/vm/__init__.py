# SPDX-License-Identifier: GPL-2.0
"""tools/vm: virtual machines for tests and measurements."""

import os
import subprocess

from sstptools.tree import TREE

RUN = os.path.join(TREE, "tools/vm/run")
KERNEL = os.path.join(TREE, "tools/vm/kernel")


def command(kernel, words, *options):
    """Return the command line that runs @words in a machine; see tools/vm/run -h. The machine
    ends when that process ends, for whatever reason."""
    return [RUN, "--kernel", kernel, *options, "--", *words]


def fetch(kernel):
    """Download or build a kernel if needed, and return its directory."""
    done = subprocess.run([KERNEL, "fetch", kernel], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()
