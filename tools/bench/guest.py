# SPDX-License-Identifier: GPL-2.0
"""The machine that tools/bench measures in: one emulated CPU which runs one instruction
a nanosecond, two network namespaces and a veth pair between them."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SHM = "/dev/shm"                # in the guest: programs and what they write
SERVER = "10.9.9.2"


# --- on the host -----------------------------------------------------------------

def run(name, job, kernel, timeout, *options):
    """Has tools/bench/NAME --guest FILE measure @job in one boot; the objects that it
    prints, one a line."""
    with tempfile.TemporaryDirectory(prefix=f"sstp-{name}-") as work:
        # Static, as an idle guest's time flies while the host looks for a library.
        subprocess.run(["make", "-s", "-C", f"{TREE}/selftests/net/sstp", "LDLIBS=-static",
                        f"OUT={work}/bin", f"{work}/bin/xfer"], check=True)
        with open(f"{work}/job", "w", encoding="ascii") as f:
            json.dump(job, f)
        with subprocess.Popen(
                [f"{TREE}/tools/vm/run", "--kernel", kernel, "--icount",
                 "--timeout", str(timeout), *options, "--",
                 f"{TREE}/tools/bench/{name}", "--guest", f"{work}/job"],
                stdout=subprocess.PIPE, text=True) as vm:
            for line in vm.stdout:
                yield json.loads(line)
        if vm.returncode:
            sys.exit(f"{name}: the machine ended with status {vm.returncode}")


# --- in the guest ----------------------------------------------------------------

def read_job(path):
    """What run() was given; xfer's copy is where it starts soonest."""
    with open(path, encoding="ascii") as f:
        job = json.load(f)
    subprocess.run(["cp", f"{os.path.dirname(path)}/bin/xfer", SHM], check=True)
    return job


def report(result):
    print(json.dumps(result), flush=True)


def idle_ns():
    """Time without instructions, exact; /proc/stat counts in ticks."""
    with open("/proc/timer_list", encoding="ascii") as f:
        return sum(int(line.split()[2]) for line in f if ".idle_sleeptime" in line)


class Lab:
    """Two namespaces, a of clients and b of a server, and what is in them."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        for ns in "ab":
            self.command("ip", "netns", "add", ns)
        self.command("ip", "link", "add", "ab", "netns", "a", "type", "veth",
                     "peer", "ba", "netns", "b")
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

    @staticmethod
    def spawn(out, *words):
        """Runs xfer, output to a file; cheap for a process of any size, as vfork() is."""
        actions = [(os.POSIX_SPAWN_OPEN, 1, f"{SHM}/{out}",
                    os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
        return os.posix_spawn(f"{SHM}/xfer", [f"{SHM}/xfer", *words], os.environ,
                              file_actions=actions)
