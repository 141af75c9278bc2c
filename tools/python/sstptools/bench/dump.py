# SPDX-License-Identifier: GPL-2.0
"""Measures the cost of a netlink dump of 10,000 connections, and its effect on a transfer.

A server has 10,000 idle connections. Once a second a program dumps all of them, with every
field of SSTP_INFO, while another connection of the same namespace moves 1 GB under a rate
contract, over a veth pair with offloads on. The machine has one emulated CPU that runs one
instruction a nanosecond, so its busy time in nanoseconds is the number of instructions: of
sender and receiver, of the kernel and of the programs. The loss of the data path is the
instructions that a transfer with dumps takes beyond those of a transfer alone and of the
same number of dumps alone. Transfers with and without dumps alternate, several of each, as
they vary a little.
"""

import os
import statistics
import sys
import time

from sstptools.bench.common import (SERVER, Lab, Process, add_results, digest, idle_ns, parser_of,
                                    read_job, report, results, run)

CONNECTIONS = 10_000
SIZE = 1 << 30          # bytes: a transfer takes more than a second
ROUNDS = 4              # each of a transfer without dumps and one with dumps
SHORT = 64 << 20        # bytes of a first transfer, which is not measured
ALONE = 3               # dumps without a transfer
PERIOD = 1000           # ms between dumps
SETTLE = 5              # s until the buffers of idle connections no longer change
LOSS = 0.01             # share of the transfer's instructions that dumps may add to the data path


def parse_args():
    parser = parser_of("dump", __doc__)
    add = parser.add_argument
    add_results(add)
    add("-c", "--check", action="store_true",
        help=f"fail if a dump lacks a connection, or the data path loses {LOSS:.0%}% or more")
    return parser.parse_args()


# --- in the guest ----------------------------------------------------------------

class Bench(Lab):
    """Idle connections, the program that dumps them, and a transfer"""

    def __init__(self):
        super().__init__()
        self.enter("b")
        self.server, self.watcher = Process("server"), Process("watcher")
        self.server.ask("pause", 3_600_000)
        self.enter("a")
        self.client = Process("client", SERVER, "1000000000")
        self.client.ask("connect", CONNECTIONS)
        time.sleep(SETTLE)

    @staticmethod
    def busy(work):
        """Return the number of instructions that work() takes, and its result."""
        idle, begin = idle_ns(), time.monotonic_ns()
        result = work()
        return time.monotonic_ns() - begin - (idle_ns() - idle), result

    def move(self, size):
        self.enter("b")
        common = ["-T", "300", "-p", "7001", "--read-size", "128k", "--rate", "100G"]
        server = self.spawn("server", "server", "-n", "1", *common)
        time.sleep(0.05)
        self.enter("a")
        client = self.spawn("client", "client", "--no-check", "-s", str(size), "-w", "65536",
                            *common, SERVER)
        if any(os.waitpid(pid, 0)[1] for pid in (client, server)):
            raise RuntimeError("xfer failed")

    def watched(self):
        """Move SIZE bytes while connections are dumped; return once the last dump is complete."""
        self.watcher.ask("every", PERIOD)
        self.move(SIZE)
        return self.watcher.ask("end")


def guest(job_file):
    read_job(job_file)
    try:
        bench = Bench()
        took, dumps = bench.busy(lambda: bench.watcher.ask("dump", ALONE))
        report({"dump": took / ALONE, "connections": dumps["seen"] / ALONE})
        bench.move(SHORT)
        for _ in range(ROUNDS):
            alone_took, _ = bench.busy(lambda: bench.move(SIZE))
            took, dumps = bench.busy(bench.watched)
            report({"round": {"alone": alone_took, "watched": took, **dumps}})
    except (RuntimeError, OSError, ValueError, LookupError) as error:
        report({"failed": repr(error)})


# --- on the host -----------------------------------------------------------------

def measure(args):
    measured = {"kernel": args.kernel, "size": SIZE, "rounds": [],
                "source": digest("selftests/net/sstp/*.c", "tools/python/sstptools/bench/dump.py")}
    for line in run("dump", {}, args.kernel, 2400, "--mem", "4G", programs=("xfer", "crowd")):
        if "round" in line:
            measured["rounds"].append(line["round"])
        else:
            measured.update(line)
        print(f"dump: {line}", file=sys.stderr, flush=True)
    if len(measured["rounds"]) < ROUNDS:
        measured.setdefault("failed", "the machine reported no result")
    return measured


def alone(m):
    return [r["alone"] for r in m["rounds"]]


def own(m):
    """Return the instructions of each transfer with dumps, without those of the dumps."""
    return [r["watched"] - r["dumps"] * m["dump"] for r in m["rounds"]]


def loss(m):
    """Return the loss of the data path, as a share of a transfer, and its standard error."""
    base = statistics.mean(alone(m))
    error = sum(statistics.variance(x) / len(x) for x in (alone(m), own(m))) ** 0.5
    return statistics.mean(own(m)) / base - 1, error / base


def table(m):
    print(f"A dump of {m['connections']:.0f} sockets: {m['dump'] / 1e9:.4f} s at 10^9 "
          f"instructions a second, {m['dump'] / m['connections']:.0f} instructions each\n\n"
          f"Instructions per byte of transfers of {m['size'] / 1e9:.2f} GB, on average:")
    for name, values in (("alone", alone(m)),
                         ("with dumps", [r["watched"] for r in m["rounds"]]),
                         ("with dumps, dumps excluded", own(m))):
        print(f"  {name:26} {statistics.mean(values) / m['size']:.4f}  "
              f"({min(values) / m['size']:.4f} to {max(values) / m['size']:.4f})")
    print(f"{sum(r['dumps'] for r in m['rounds'])} dumps in {len(m['rounds'])} transfers. "
          "The data path loses {:.2%}, standard error {:.2%}".format(*loss(m)))


def wanted(m):
    return (loss(m)[0] < LOSS and m["connections"] > CONNECTIONS and
            all(r["seen"] > CONNECTIONS * r["dumps"] for r in m["rounds"]))


def main():
    args = parse_args()
    if args.guest:
        guest(args.guest)
        return 0
    measured = results(args, measure)
    if "failed" in measured:
        print(f"dump: {measured['failed']}", file=sys.stderr)
        return 1
    table(measured)
    return 1 if args.check and not wanted(measured) else 0


if __name__ == "__main__":
    sys.exit(main())
