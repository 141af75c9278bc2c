# SPDX-License-Identifier: GPL-2.0
"""A machine: its command line, its process and streams."""

import argparse
import ctypes
import os
import platform
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from sstptools.tree import CACHE
from sstptools.vm.prepare import (check_output, compiled, counter, locked, preinit, say,
                                  stock_boot_files)

QEMU_LOG = "qemu.log"           # of resets and power-offs, in the job's directory
GUEST_SHUTDOWN = "reason=6"     # SHUTDOWN_CAUSE_GUEST_SHUTDOWN in that log


def clock_options(args, accel):
    """Pass the frequency of the TSC to an emulated machine. Its TSC is the host's, unless it
    counts instructions. On a busy host its kernel may calibrate the TSC far too low (307 MHz
    instead of 2300 was seen), and then its clock runs several times too fast."""
    if accel == "kvm" or args.icount or platform.machine() != "x86_64":
        return []
    return ["tsc_early_khz=" + check_output(compiled("tsc"))]


def qemu_command(args, kernel, job, accel, ports):
    boot = stock_boot_files(kernel)
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
               "-machine", "q35", "-no-reboot", "-m", args.mem, "-smp", str(args.cpus),
               "-kernel", f"{boot}/vmlinux", "-initrd", f"{boot}/initrd",
               # Machine.how() reads this file.
               "-D", f"{job}/{QEMU_LOG}", "-d", "cpu_reset",
               "-trace", "qemu_system_shutdown_request"]
    # Without these a copy is one instruction for each byte, or for all of it.
    cpu = "max,-erms,-fsrm" if args.icount or args.count else "max"
    if accel == "kvm":
        command += ["-accel", "kvm", "-cpu", "host"]
    elif args.icount:
        command += ["-accel", "tcg,thread=single", "-cpu", cpu, "-icount", "shift=0,sleep=off"]
    else:
        # With a thread for each CPU, QEMU before 8.1 may keep the translation of code that
        # another CPU has just changed, including the breakpoint that the kernel inserts while
        # it flips a static key: "Oops: int3". Toggling kernel.sched_schedstats, without the
        # module, triggered this in QEMU 7.2 within 4 s in two runs of four; with one thread
        # not within 60 s. The kernel patches much code at boot, which also caused other
        # crashes ("list_add corruption", an oops in sched_clock_cpu()). With --parallel an
        # oops ends the machine, and the caller may start another.
        # QEMU 7.2 computes the flags that cmpxchg16b leaves with the operands of the instruction
        # before it, but as the kind of instruction that ended the translated block before: after
        # an iret it takes an operand for EFLAGS, with its trap, VM and IOPL bits. The kernel's
        # slab allocator uses cmpxchg16b, so an interrupt there caused a debug trap or a double
        # fault. With --icount the instruction stays, because real CPUs have it.
        threads = "multi" if args.parallel else "single"
        command += ["-accel", f"tcg,thread={threads}", "-cpu", f"{cpu},-cx16"]
    if args.count:
        command += ["-plugin", f"{counter()},out={args.count}"]
    command += ["-device", "virtio-rng-pci",
                "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
                "-device", "virtio-9p-pci,fsdev=root,mount_tag=hostroot"]
    if args.out:
        command += ["-fsdev", f"local,id=out,path={args.out},security_model=none,multidevs=remap",
                    "-device", "virtio-9p-pci,fsdev=out,mount_tag=out"]
    command += ["-device", "virtio-serial-pci"]
    for n, (name, fd) in enumerate(ports.items()):
        command += ["-add-fd", f"fd={fd},set={n}",
                    "-chardev", f"file,id={name},path=/dev/fdset/{n},append=on"]
        command += (["-serial", f"chardev:{name}"] if name == "log" else
                    ["-device", f"virtserialport,chardev={name},name={name}"])
    append = [*clock_options(args, accel),
              "console=ttyS0", "loglevel=7", "panic=-1", "mitigations=off", "nokaslr",
              "tsc=reliable", "no_timer_check", "random.trust_cpu=on", "audit=0",
              "apparmor=0", "selinux=0", "cgroup_no_v1=all", args.append,
              "oops=panic" if args.parallel else "",
              "sstp_icount" if args.icount else "",        # for need_instruction_count()
              f"sstp_guest={job}/guest", f"sstp_job={job}"]
    return command + ["-append", " ".join(filter(None, append))]


def uml_command(args, kernel, job, _accel, ports):
    command = [f"{kernel}/image", f"mem={args.mem}", "seccomp=auto", f"uml_dir={job}/",
               "umid=vm", "rootfstype=hostfs", "ro", f"init={preinit()}",
               "con=null", f"con0=null,fd:{ports['log']}"]
    command += [f"con{n}=null,fd:{ports[name]}"
                for n, name in ((1, "out"), (2, "err"), (3, "status"))]
    command += ["loglevel=7", "panic=-1", "random.trust_cpu=on",
                "kunit.enable=1", "kunit.autorun=1"]
    if args.kernel == "debug-smp":
        # UML with several CPUs needs the host's seccomp(2), else it exits with a message.
        command += [f"ncpus={args.cpus}"]
        # With several CPUs an RCU grace period takes some ticks of 10 ms, which would double
        # the time to load the module.
        command += ["rcupdate.rcu_expedited=1"]
    if args.kernel in ("debug", "debug-smp"):
        # Report every KASAN error, so that a later test fails for its own ones.
        command += ["kasan_multi_shot"]
        # Slabs with consistency checks have no per-CPU arrays, whose old pointers would hide
        # leaks from kmemleak.
        command += ["slab_debug=F"]
    if args.time_travel:
        # In simulated time, the garbage collection of conntrack would scan its table all the
        # time: make the table small.
        command += ["time-travel=inf-cpu", "nf_conntrack.hashsize=256"]
    if args.seed is not None:
        command += ["time-travel-start=1600000000000000000"]
    command += shlex.split(args.append)
    return command + [f"sstp_guest={job}/guest", f"sstp_job={job}"]


def environment(args, job):
    """Return the environment of the machine. UML keeps the guest's memory in a file in TMPDIR:
    in /dev/shm if there is room."""
    room = "/dev/shm"
    size = int(args.mem[:-1]) << {"K": 10, "M": 20, "G": 30}[args.mem[-1].upper()]
    try:
        space = os.statvfs(room)
        fits = space.f_bavail * space.f_frsize > size
    except OSError:
        fits = False
    result = dict(os.environ, TMPDIR=room if fits else job)
    if args.seed is not None:
        result.update(LD_PRELOAD=compiled("random", "-shared", "-fPIC"),
                      SSTP_SEED=str(args.seed))
    return result


def child_setup(seeded):
    """Runs in the child: make a process group that dies with this process. With --seed, do not
    randomize addresses."""
    os.setsid()
    libc = ctypes.CDLL(None)
    libc.prctl(1, signal.SIGKILL)                   # PR_SET_PDEATHSIG
    if seeded:
        libc.personality(0x0040000)                 # ADDR_NO_RANDOMIZE


class Log:
    """The kernel log of a machine: kept in a file, and split into lines."""

    def __init__(self, path, show):
        self.file = open(path, "ab")
        self.show = show
        self.rest = b""
        self.lines = []

    def feed(self, data):
        self.file.write(data)
        self.file.flush()
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            self.lines.append(text)
            if self.show:
                print(text, file=sys.stderr, flush=True)

    def finish(self):
        if self.rest:
            self.feed(b"\n")
        self.file.close()


class Machine:
    """One boot: start the process, relay its streams, kill it."""

    def __init__(self, args, kernel, job, accel):
        self.status = None              # last report of the guest: (kind, value)
        self.started = None             # time at which the command began
        self.ended = None               # time at which its status came
        self.log = Log(args.log or os.path.join(job, "log"), args.show_log)
        self.selector = selectors.DefaultSelector()
        self.qemu_log = None if args.uml else os.path.join(job, QEMU_LOG)
        ends = {}
        for name in ("log", "out", "err", "status"):
            ends[name] = os.pipe()
            self.selector.register(ends[name][0], selectors.EVENT_READ, name)
        ports = {name: end[1] for name, end in ends.items()}
        make = uml_command if args.uml else qemu_command
        command = make(args, kernel, job, accel, ports)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=environment(args, job),
            preexec_fn=lambda: child_setup(args.seed is not None),
            stdout=ports["log"] if args.uml else sys.stderr,
            stderr=ports["log"] if args.uml else sys.stderr,
            pass_fds=ports.values())
        for fd in ports.values():
            os.close(fd)

    def relay(self, deadline):
        """Relay output until the machine has ended; return False after the deadline."""
        words = b""
        while self.selector.get_map():
            if self.reported():
                # The command has ended; the machine only has to power off.
                deadline = min(deadline, self.ended + 10)
            left = deadline - time.monotonic()
            if left <= 0:
                return self.reported()
            for key, _ in self.selector.select(left):
                data = os.read(key.fd, 65536)
                if not data:
                    self.selector.unregister(key.fd)
                    os.close(key.fd)
                elif key.data == "log":
                    self.log.feed(data)
                elif key.data == "status":
                    words += data
                    while b"\n" in words:
                        line, words = words.split(b"\n", 1)
                        self.report(line.decode(errors="replace").strip())
                else:
                    stream = sys.stdout if key.data == "out" else sys.stderr
                    stream.buffer.write(data)
                    stream.flush()
        # The process has closed its streams, but may not have exited yet.
        try:
            self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return self.reported()
        return True

    def reported(self):
        """Has the guest reported how the command, or the way to it, ended?"""
        return bool(self.status and self.status[0] != "start")

    def how(self):
        """Describe how the process, which end() has waited for, ended."""
        name = "QEMU" if self.qemu_log else "UML"
        status = self.process.returncode
        if status < 0:
            return f"{name} was killed by signal {-status}"
        words = f"{name} exited with status {status}"
        if not self.qemu_log or not os.path.exists(self.qemu_log):
            return words
        with open(self.qemu_log, encoding="utf-8", errors="replace") as log:
            text = log.read()
        if "Triple fault" in text:
            return f"{words}, a triple fault"
        if GUEST_SHUTDOWN in text:
            return f"{words}, the guest switched itself off"
        return words

    def report(self, line):
        self.status = line.partition(" ")[::2]
        if self.status[0] == "start":
            self.started = time.monotonic()
        else:
            self.ended = time.monotonic()

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.finish()


def kvm_works(kernel):
    """Does a kernel boot with KVM? The answer is cached until the host reboots."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        answer = os.path.join(CACHE, "boot", "kvm-" + f.read().strip())
    with locked(os.path.join(CACHE, "boot", ".kvm-lock")):
        if not os.path.exists(answer):
            say("trying KVM (once)")
            probe = argparse.Namespace(
                uml=False, cpus=1, mem="512M", icount=False, parallel=False, count=None, out=None,
                append="", log=None, show_log=False, seed=None)
            with tempfile.TemporaryDirectory(prefix="sstp-vm-") as job:
                # With no script to run, preinit powers off right away.
                machine = Machine(probe, kernel, job, "kvm")
                try:
                    done = machine.relay(time.monotonic() + 15)
                finally:
                    machine.end()
                works = done and machine.process.returncode == 0
            with open(answer, "w", encoding="ascii") as f:
                f.write("yes" if works else "no")
        with open(answer, encoding="ascii") as f:
            return f.read() == "yes"
