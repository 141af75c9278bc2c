# SPDX-License-Identifier: GPL-2.0
"""Build the module for a kernel, boot that kernel, and run a command in it.

The guest sees the host's whole file system; its changes are discarded when it
ends, except in the directory given with --out. COMMAND runs as root in this
tree's directory, with the module loaded; its output is shown as it comes.

Exit status: COMMAND's own, or
   96  the module could not be built or loaded
   97  the kernel did not start, or ended early
   98  the kernel log has a warning, an oops or the like (shown)
  124  the timeout expired
"""

import argparse
import os
import signal
import sys
import tempfile
import time

from sstptools.vm import KERNEL, kernlog
from sstptools.vm.machine import Machine, kvm_works
from sstptools.vm.prepare import (BOOT_FAILED, BUILD_FAILED, SPLAT, TIMEOUT, Failure,
                                  build_messages, build_modules, check_output, say, write_job)


def parse_args():
    parser = argparse.ArgumentParser(
        prog="tools/vm/run", usage="%(prog)s [OPTION]... COMMAND [ARGUMENT]...",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--kernel", "-k", default="uml", metavar="VER",
        help="6.1, 6.12, 6.12-rt, stock, uml (default), debug, gcov, kcsan or debug-smp, "
             "see tools/vm/kernel")
    add("--cpus", type=int, default=2,
        help="virtual CPUs (default 2; uml, debug and gcov always have one)")
    add("--mem", default="2G", help="guest memory (default 2G)")
    add("--accel", choices=["auto", "kvm", "tcg"], default="auto",
        help="auto: KVM if a kernel boots with it here, else emulation")
    add("--icount", action="store_true",
        help="emulate one CPU at exactly one instruction per nanosecond")
    add("--count", metavar="FILE",
        help="with --icount or --parallel: write the number of instructions by address to FILE, "
             "each time that the guest asks for it; see tools/vm/count.c")
    add("--parallel", action="store_true",
        help="run emulated CPUs in parallel, not in turns; see qemu_command() in "
             "tools/python/sstptools/vm/machine.py")
    add("--time-travel", action="store_true",
        help="UML: simulated time, code takes none (not debug-smp)")
    add("--seed", type=lambda text: int(text, 0), metavar="N",
        help="with --time-travel: boot at a fixed date, and generate the entropy that the "
             "kernel gets from N")
    add("--build", action="store_true",
        help="build the modules only, and show what make said when it compiled all of them, "
             "and where they are")
    add("--no-load", action="store_true", help="do not load the module")
    add("--module-param", "-p", action="append", default=[], metavar="NAME=VALUE")
    add("--append", default="", metavar="ARGS", help="kernel arguments")
    add("--out", metavar="DIR", help="directory the guest may write to")
    add("--log", metavar="FILE", help="write the kernel log to FILE")
    add("--show-log", action="store_true", help="show the kernel log as it comes")
    add("--allow-splat", action="store_true",
        help="do not fail for warnings and the like in the kernel log")
    add("--timeout", type=float, default=600, metavar="SEC",
        help="for boot and command together (default 600)")
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND",
        help="a shell command line in one word, or a command with its arguments")
    args = parser.parse_args()
    # The command begins with the first word that is no option.
    args.command = args.command[args.command[:1] == ["--"]:]
    if not args.command and not args.build:
        parser.error("COMMAND is missing")
    args.kernel = {"newest": "uml"}.get(args.kernel, args.kernel)
    args.uml = args.kernel in ("uml", "debug", "gcov", "debug-smp")
    if args.seed is not None and not args.time_travel:
        parser.error("--seed needs --time-travel")
    if args.time_travel and args.kernel == "debug-smp":
        parser.error("debug-smp has no --time-travel: simulated time needs a single CPU")
    if args.count and not args.icount and not args.parallel:
        parser.error("--count needs --icount or --parallel")
    if args.count:
        args.accel = "tcg"
    if args.icount:
        args.cpus, args.accel = 1, "tcg"
    return args


def run(args, job):
    begin = time.monotonic()
    kernel = check_output(KERNEL, "fetch", args.kernel)
    if args.build:
        directory, messages = build_messages(kernel)
        print(f"{messages}built in {directory}")
        return 0
    write_job(args, kernel, job)
    if not args.no_load:
        build_modules(kernel, job)
    accel = args.accel
    if accel == "auto":
        accel = "kvm" if not args.uml and kvm_works(kernel) else "tcg"

    booted = time.monotonic()
    machine = Machine(args, kernel, job, accel)
    try:
        in_time = machine.relay(booted + args.timeout)
    finally:
        machine.end()
    if machine.started:
        say(f"{args.kernel}: prepared in {booted - begin:.1f} s, booted in "
            f"{machine.started - booted:.1f} s, ran {time.monotonic() - machine.started:.1f} s")

    found = kernlog.excerpt(machine.log.lines)
    if found and not args.allow_splat:
        quote(found)
        raise Failure(SPLAT, "suspicious lines in the kernel log")
    if not in_time:
        quote(machine.log.lines[-25:])
        raise Failure(TIMEOUT, f"timeout after {args.timeout:.0f} s")
    kind, value = machine.status or ("", "")
    if kind == "exit":
        return int(value)
    quote(machine.log.lines[-25:])
    if kind == "load":
        raise Failure(BUILD_FAILED, f"loading the module failed: {value}")
    raise Failure(BOOT_FAILED, f"the kernel ended early: {value or machine.how()}")


def quote(lines):
    for line in lines:
        print("|", line, file=sys.stderr)


def main():
    args = parse_args()
    if args.out:
        args.out = os.path.realpath(args.out)
        os.makedirs(args.out, exist_ok=True)

    def stop(number, _frame):
        raise SystemExit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        with tempfile.TemporaryDirectory(prefix="sstp-vm-") as job:
            return run(args, job)
    except Failure as failure:
        say(f"{args.kernel}: {failure}")
        return failure.status


if __name__ == "__main__":
    sys.exit(main())
