# SPDX-License-Identifier: GPL-2.0
"""tools/vm: the machines that all else runs in."""

import os
import subprocess

from sstptools.tree import TREE

RUN = os.path.join(TREE, "tools/vm/run")
KERNEL = os.path.join(TREE, "tools/vm/kernel")


def command(kernel, words, *options):
    """The command that starts a machine, in which the command @words runs; see
    tools/vm/run -h. It is a process of its own, so that the machine ends with it however
    that ends."""
    return [RUN, "--kernel", kernel, *options, "--", *words]


def fetch(kernel):
    """The directory of a kernel, once it is there"""
    done = subprocess.run([KERNEL, "fetch", kernel], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()
