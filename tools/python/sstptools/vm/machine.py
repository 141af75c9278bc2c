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
from sstptools.vm.prepare import check_output, compiled, locked, preinit, say, stock_boot_files


def clock_options(args, accel):
    """An emulated machine's TSC is the host's, unless it counts instructions. On a busy host
    its kernel may take it for much slower than it is (307 MHz was seen, of 2300), and then
    its time goes by several times too fast: the kernel is told."""
    if accel == "kvm" or args.icount or platform.machine() != "x86_64":
        return []
    return ["tsc_early_khz=" + check_output(compiled("tsc"))]


def qemu_command(args, kernel, job, accel, ports):
    boot = stock_boot_files(kernel)
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
               "-machine", "q35", "-no-reboot", "-m", args.mem, "-smp", str(args.cpus),
               "-kernel", f"{boot}/vmlinux", "-initrd", f"{boot}/initrd"]
    if accel == "kvm":
        command += ["-accel", "kvm", "-cpu", "host"]
    elif args.icount:
        command += ["-accel", "tcg,thread=single", "-cpu", "max,-erms,-fsrm",
                    "-icount", "shift=0,sleep=off"]
    else:
        # With a thread for each CPU, QEMU before 8.1 may keep the translation of code that
        # another CPU has changed meanwhile, and so the breakpoint that the kernel puts
        # there for that long when it flips a static key: "Oops: int3". Writing 0 and 1 to
        # kernel.sched_schedstats over and over, without our module, did that to QEMU 7.2
        # within 4 s in two runs of four; in one thread not in 60 s. At boot the kernel patches
        # much code, and crashes of that in other forms were seen, too ("list_add corruption",
        # an oops in sched_clock_cpu()). With --parallel an oops ends the machine: the caller
        # may try again.
        threads = "multi" if args.parallel else "single"
        command += ["-accel", f"tcg,thread={threads}", "-cpu", "max"]
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
        # Several need the host's seccomp(2); without it UML says so and ends.
        command += [f"ncpus={args.cpus}"]
        # With several CPUs a grace period of RCU is some ticks of 10 ms: to load the
        # module takes twice as long.
        command += ["rcupdate.rcu_expedited=1"]
    if args.kernel in ("debug", "debug-smp"):
        # Each, not only the first: one may come before the test that it is of.
        command += ["kasan_multi_shot"]
        # Checked slabs are not cached per CPU in arrays of old pointers, in which
        # kmemleak would find what has leaked.
        command += ["slab_debug=F"]
    if args.time_travel:
        # Of connections to track there are none, but the whole table is looked through
        # all the time when code takes none.
        command += ["time-travel=inf-cpu", "nf_conntrack.hashsize=256"]
    if args.seed is not None:
        command += ["time-travel-start=1600000000000000000"]
    command += shlex.split(args.append)
    return command + [f"sstp_guest={job}/guest", f"sstp_job={job}"]


def environment(args, job):
    """UML keeps the guest's memory in a file: in memory if there is room."""
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


def child_setup(job, where):
    """In the child: a process group of its own, that dies with this process. The kernel
    mixes its command line, which names the job, into its entropy: with --seed
    it is always in the same place.
    """
    os.setsid()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(1, signal.SIGKILL)                   # PR_SET_PDEATHSIG
    if job == where:
        return
    libc.personality(0x0040000)                     # ADDR_NO_RANDOMIZE
    if (libc.unshare(0x00020000) or                 # CLONE_NEWNS, MS_REC | MS_PRIVATE, MS_BIND
            libc.mount(b"none", b"/", None, 0x44000, None) or
            libc.mount(job.encode(), where.encode(), None, 0x1000, None)):
        raise OSError(ctypes.get_errno(), "--seed needs root")


class Log:
    """The kernel log, read as it comes."""

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
    """One boot: starts the process, relays its streams, ends it."""

    def __init__(self, args, kernel, job, accel):
        self.status = None              # what the guest reported last
        self.started = None             # when the command began
        self.ended = None               # when the verdict came
        self.log = Log(args.log or os.path.join(job, "log"), args.show_log)
        self.selector = selectors.DefaultSelector()
        ends = {}
        for name in ("log", "out", "err", "status"):
            ends[name] = os.pipe()
            self.selector.register(ends[name][0], selectors.EVENT_READ, name)
        ports = {name: end[1] for name, end in ends.items()}
        make = uml_command if args.uml else qemu_command
        where = job if args.seed is None else os.path.join(CACHE, "boot", "job")
        os.makedirs(where, exist_ok=True)
        command = make(args, kernel, where, accel, ports)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=environment(args, job),
            preexec_fn=lambda: child_setup(job, where),
            stdout=ports["log"] if args.uml else sys.stderr,
            stderr=ports["log"] if args.uml else sys.stderr,
            pass_fds=ports.values())
        for fd in ports.values():
            os.close(fd)

    def relay(self, deadline):
        """Passes on what comes until all streams end; False when out of time."""
        words = b""
        while self.selector.get_map():
            if self.status and self.status[0] != "start":
                # The verdict is in: what is left is powering off.
                deadline = min(deadline, self.ended + 10)
            left = deadline - time.monotonic()
            if left <= 0:
                return bool(self.status and self.status[0] != "start")
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
        return True

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
    """Whether a kernel boots with KVM; the answer holds until the host reboots."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        answer = os.path.join(CACHE, "boot", "kvm-" + f.read().strip())
    with locked(os.path.join(CACHE, "boot", ".kvm-lock")):
        if not os.path.exists(answer):
            say("trying KVM (once)")
            probe = argparse.Namespace(
                uml=False, cpus=1, mem="512M", icount=False, parallel=False, out=None, append="",
                log=None, show_log=False, seed=None)
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
