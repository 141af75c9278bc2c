# SPDX-License-Identifier: GPL-2.0
"""Code that the commands of tools/bench share: the machine that they measure in (one emulated
CPU, which runs one instruction a nanosecond, and two network namespaces joined by a veth pair),
and functions to store and show results."""

import argparse
import ctypes
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from sstptools import vm
from sstptools.tree import TREE

SHM = "/dev/shm"                # in the guest: directory of programs and their output
SERVER = "10.9.9.2"
TARGETS = ("command", "bpf", "run")     # of selftests/net/sstp/Makefile, of several programs


# --- on the host -----------------------------------------------------------------

def run(name, job, kernel, timeout, *options, programs=("xfer",), how="--icount"):
    """Boot a machine in which tools/bench/NAME --guest FILE measures @job; yield the objects
    that it prints, one per line. @programs may have names of TARGETS; @how is an option of
    tools/vm/run."""
    with tempfile.TemporaryDirectory(prefix=f"sstp-{name}-") as work:
        # Link statically: the time of an idle guest flies while the host reads a library.
        subprocess.run(["make", "-s", "-C", f"{TREE}/selftests/net/sstp", "LDLIBS=-static",
                        f"OUT={work}/bin", *(p if p in TARGETS else f"{work}/bin/{p}" for p in programs)],
                       check=True)
        with open(f"{work}/job", "w", encoding="ascii") as f:
            json.dump(job, f)
        with subprocess.Popen(
                vm.command(kernel, [f"{TREE}/tools/bench/{name}", "--guest", f"{work}/job"],
                           how, "--timeout", str(timeout), *options),
                stdout=subprocess.PIPE, text=True) as machine:
            for line in machine.stdout:
                yield json.loads(line)
        if machine.returncode:
            sys.exit(f"{name}: the machine ended with status {machine.returncode}")


def digest(*patterns):
    """Return a digest of the files that results depend on: the module and @patterns."""
    total = hashlib.sha256()
    for pattern in ("net/sstp/*.[ch]", "include/**/*.h", "selftests/net/sstp/lib.*",
                    "tools/python/sstptools/bench/common.py", *patterns):
        for path in sorted(glob.glob(os.path.join(TREE, pattern), recursive=True)):
            with open(path, "rb") as f:
                total.update(f.read())
    return total.hexdigest()[:8]


def parser_of(name, doc, kernels="6.1 or 6.12 (default)"):
    """Return a parser for tools/bench/NAME with the options that concern the machine; run() uses
    --guest."""
    parser = argparse.ArgumentParser(
        prog=f"tools/bench/{name}", description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", "--kernel", default="6.12", metavar="KERNEL",
                        help=f"{kernels}, see tools/vm/kernel")
    parser.add_argument("--guest", metavar="JOB", help=argparse.SUPPRESS)
    return parser


def add_results(add):
    """Add the options of results()."""
    add("-f", "--file", metavar="FILE",
        help="measure nothing: report results that -j wrote to FILE")
    add("-j", "--json", metavar="FILE", help="write the results to FILE")


def add_files(add):
    """Add the options of results() and show()."""
    add_results(add)
    add("-p", "--plot", metavar="NAME", help="draw NAME.png and NAME.svg (matplotlib)")
    add("-m", "--markdown", metavar="FILE", help="write a chapter of Documentation/evaluation "
        "to FILE, with a picture beside it")


def results(args, measure):
    """Return results of --file, or else of measure(args); store them with --json."""
    if args.file:
        with open(args.file, encoding="ascii") as f:
            measured = json.load(f)
    else:
        measured = measure(args)
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump(measured, f, indent=1)
            f.write("\n")
    return measured


def show(args, plot, chapter):
    """Write what --markdown and --plot ask for: plot(NAME) draws, chapter(PICTURE) returns the
    text."""
    if args.markdown:
        picture = os.path.splitext(args.markdown)[0]
        plot(picture)
        os.unlink(picture + ".png")
        with open(args.markdown, "w", encoding="utf-8") as f:
            f.write(chapter(os.path.basename(picture) + ".svg"))
    if args.plot:
        plot(args.plot)


def drawing():
    """Return pyplot of matplotlib, set so that the same results give the same picture."""
    import matplotlib                   # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "sstp"
    from matplotlib import pyplot       # pylint: disable=import-outside-toplevel
    return pyplot


def save(figure, name):
    figure.tight_layout()
    figure.savefig(f"{name}.png", dpi=100, metadata={"Software": None})
    figure.savefig(f"{name}.svg", metadata={"Date": None, "Creator": None})


def listed(head, lines):
    return f"\n{head}:\n\n" + "".join(f"- {line}\n" for line in lines) if lines else ""


# --- in the guest ----------------------------------------------------------------

def read_job(path):
    """Return the job that run() was given, and copy the programs to memory: they start sooner
    there than on the host's file system."""
    with open(path, encoding="ascii") as f:
        job = json.load(f)
    with os.scandir(os.path.join(os.path.dirname(path), "bin")) as programs:
        for program in programs:
            if program.is_file():
                shutil.copy(program.path, SHM)
    return job


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def numbers(path):
    """Read a file with a name and a number per line."""
    with open(path, encoding="ascii") as f:
        return {name: int(value) for name, value in map(str.split, f)}


def counters():
    """Return the SSTP counters of this thread's network namespace."""
    return numbers("/proc/thread-self/net/sstp_snmp")


def report(result):
    print(json.dumps(result), flush=True)


def read_lines(name):
    """Return the objects, one per line, that a program wrote to NAME.json."""
    with open(f"{SHM}/{name}.json", encoding="ascii") as f:
        return [json.loads(line) for line in f]


def idle_ns():
    """Return the CPU's idle time. It is exact here, while /proc/stat counts in ticks."""
    with open("/proc/timer_list", encoding="ascii") as f:
        return sum(int(line.split()[2]) for line in f if ".idle_sleeptime" in line)


class Group:
    """A cgroup, by default that of the server"""

    def __init__(self, controller, name="server"):
        self.path = f"/sys/fs/cgroup/{name}"
        write("/sys/fs/cgroup/cgroup.subtree_control", f"+{controller}")
        os.mkdir(self.path)

    def set(self, name, text):
        write(f"{self.path}/{name}", text)

    def read(self, name):
        with open(f"{self.path}/{name}", encoding="ascii") as f:
            return f.read()

    def numbers(self, name):
        return numbers(f"{self.path}/{name}")

    def enter(self):
        self.set("cgroup.procs", "0")

    @staticmethod
    def leave():
        write("/sys/fs/cgroup/cgroup.procs", "0")


class Lab:
    """Network namespaces a, of clients, and b, of the server, and the link between them"""

    def __init__(self, queues=1):
        self.libc = ctypes.CDLL(None, use_errno=True)
        for ns in "ab":
            self.command("ip", "netns", "add", ns)
        number = ("numtxqueues", str(queues), "numrxqueues", str(queues))
        self.command("ip", "link", "add", "ab", "netns", "a", *number, "type", "veth",
                     "peer", "ba", "netns", "b", *number)
        for ns, dev, address in (("a", "ab", "10.9.9.1"), ("b", "ba", SERVER)):
            self.command("ip", "-n", ns, "addr", "add", f"{address}/24", "dev", dev)
            self.command("ip", "-n", ns, "link", "set", dev, "up")

    @staticmethod
    def command(*words):
        subprocess.run(words, check=True)

    def enter(self, ns):
        with open(f"/run/netns/{ns}", "rb") as f:
            if self.libc.setns(f.fileno(), 0):
                raise OSError(ctypes.get_errno(), "setns")

    def set_mtu(self, mtu):
        for ns, dev in (("a", "ab"), ("b", "ba")):
            self.command("ip", "-n", ns, "link", "set", dev, "mtu", str(mtu))

    def set_line(self, rate, delay, queue):
        self.command("tc", "-n", "a", "qdisc", "replace", "dev", "ab", "root", "tbf", "rate", rate,
                     "burst", "80kb", "limit", queue)
        self.command("tc", "-n", "b", "qdisc", "replace", "dev", "ba", "root", "netem",
                     "delay", delay, "limit", "100000")

    @staticmethod
    def spawn(out, *words, program="xfer"):
        """Start a program with its output in a file. posix_spawn() costs the same for a process
        of any size, as it does not copy page tables."""
        actions = [(os.POSIX_SPAWN_OPEN, 1, f"{SHM}/{out}",
                    os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
        return os.posix_spawn(f"{SHM}/{program}", [f"{SHM}/{program}", *words], os.environ,
                              file_actions=actions)


class Process:
    """A process of selftests/net/sstp/crowd.c, which obeys requests on its standard input"""

    def __init__(self, *words):
        self.name = words[0]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([f"{SHM}/crowd", *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, word, number=0):
        self.process.stdin.write(f"{word} {number}\n")
        self.process.stdin.flush()
        return self.answer()
