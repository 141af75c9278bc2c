# SPDX-License-Identifier: GPL-2.0
"""Prepare the files that a machine needs to start: module, preinit, job."""

import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys

from sstptools.tree import CACHE, TREE, TREE_KEY

DIRECTORY = os.path.join(TREE, "tools/vm")
BUILD_FAILED, BOOT_FAILED, SPLAT, TIMEOUT = 96, 97, 98, 124


class Failure(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def say(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def locked(path):
    """Open and lock a file; closing the result unlocks it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lock = open(path, "w", encoding="ascii")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def check_output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Failure(BOOT_FAILED, f"{shlex.join(command)} failed")
    return done.stdout.strip()


def make_command(kernel):
    """Return the make that builds modules for a kernel; see tools/vm/kernel -h."""
    own = os.path.join(kernel, "make")
    return own if os.path.exists(own) else "make"


def build_modules(kernel, job):
    """Build the modules in the cache, separately for each tree and kernel; copy *.ko to job."""
    with build_directory(kernel) as build:
        make_modules(kernel, build)
        for path in glob.glob(f"{build}/**/*.ko", recursive=True):
            shutil.copy(path, job)


def build_messages(kernel):
    """Build the modules; return where, and what make says about all files. What is there is used
    only if no file was compiled since all were.
    """
    with build_directory(kernel) as build:
        make_modules(kernel, build)
        if not os.path.exists(build + ".whole.log"):
            shutil.rmtree(build)
            make_modules(kernel, build)
        with open(build + ".whole.log", encoding="utf-8") as log:
            return build, log.read()


@contextlib.contextmanager
def build_directory(kernel):
    build = os.path.join(CACHE, "build", TREE_KEY, os.path.basename(os.path.realpath(kernel)))
    with locked(build + ".lock"):
        yield build


def make_modules(kernel, build):
    whole, messages = not os.path.exists(build), None
    if os.path.exists(build + ".whole.log"):
        with open(build + ".whole.log", encoding="utf-8") as log:
            messages = log.read()
        os.unlink(build + ".whole.log")     # A build that is killed has compiled some files.
    # The comments for kernel-doc are the same in all builds: only the one for uml checks them.
    read = [] if os.path.basename(build).startswith("uml-") else ["cmd_checkdoc="]
    with open(build + ".log", "w+", encoding="utf-8", errors="replace") as log:
        done = subprocess.run(
            [make_command(kernel), "-C", TREE, "--no-print-directory", f"KDIR={kernel}/build",
             f"BUILD={build}", "SSTP_TESTS=y", "W=1", *read, f"-j{os.cpu_count()}"],
            stdout=log, stderr=subprocess.STDOUT, check=False)
        log.seek(0)
        said = log.readlines()
    if done.returncode:
        sys.stderr.write("".join(said[-40:]))
        raise Failure(BUILD_FAILED, f"building the module failed, see {build}.log")
    if whole:
        messages = "".join(said)
    if messages is not None and (whole or not any(line.startswith("  CC ") for line in said)):
        with open(build + ".whole.log", "w", encoding="utf-8") as log:
            log.write(messages)


def compiled(name, *flags):
    """Compile a program of tools/vm, unless this version of it is cached."""
    source = os.path.join(DIRECTORY, name + ".c")
    with open(source, "rb") as f:
        key = hashlib.sha256(f.read() + " ".join(flags).encode()).hexdigest()[:8]
    path = os.path.join(CACHE, "boot", f"{name}-{key}")
    with locked(os.path.join(CACHE, "boot", ".lock")):
        if not os.path.exists(path):
            check_output("gcc", "-O2", "-Wall", *flags, "-o", path + ".tmp", source)
            os.replace(path + ".tmp", path)
    return path


def preinit():
    return compiled("preinit", "-static")


def counter():
    """Return the plug-in of QEMU that counts instructions by address."""
    version = check_output("qemu-system-x86_64", "--version")
    major = int(re.search(r"version (\d+)", version)[1])
    # The plug-in uses what the interface has in both versions; QEMU 9 does not load version 1.
    return compiled("count", "-shared", "-fPIC", f"-DVERSION={2 if major >= 9 else 1}")


def stock_boot_files(kernel):
    first = preinit()
    initrd = os.path.join(DIRECTORY, "initrd")
    with locked(os.path.join(kernel, ".boot-lock")):
        made = os.path.join(kernel, "boot", "made-of")
        with open(initrd, "rb") as f:
            parts = f"{os.path.basename(first)} {hashlib.sha256(f.read()).hexdigest()}\n"
        try:
            with open(made, encoding="ascii") as f:
                there = f.read()
        except FileNotFoundError:
            there = ""
        if there != parts:
            check_output(initrd, kernel, first)
            with open(made, "w", encoding="ascii") as f:
                f.write(parts)
    return os.path.join(kernel, "boot")


def write_job(args, kernel, job):
    with open(os.path.join(kernel, "release"), encoding="ascii") as f:
        release = f.read().strip()
    facts = {
        "kernel": args.kernel, "release": release, "tree": TREE,
        "kernel_kind": "uml" if args.uml else "stock", "out": args.out or "",
        "modroot": kernel if os.path.isdir(f"{kernel}/lib/modules/{release}") else "",
        "load": "" if args.no_load else "1", "params": " ".join(args.module_param),
        "seed": "" if args.seed is None else str(args.seed),
    }
    with open(os.path.join(job, "job.sh"), "w", encoding="utf-8") as f:
        for name, value in facts.items():
            f.write(f"{name}={shlex.quote(value)}\n")
    with open(os.path.join(job, "command"), "w", encoding="utf-8") as f:
        # A single argument is a shell command line, several are a command and its arguments.
        words = args.command
        f.write((words[0] if len(words) == 1 else "exec " + shlex.join(words)) + "\n")
    shutil.copy(os.path.join(DIRECTORY, "guest"), job)
