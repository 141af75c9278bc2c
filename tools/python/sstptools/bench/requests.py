# SPDX-License-Identifier: GPL-2.0
"""Measures what a request to redis, nginx and memcached costs by SSTP, beside TCP.

The programs are Debian's, not changed: sstp-run starts server and client for SSTP. They run in
two network namespaces, joined by a veth pair with offloads on. The machine has one emulated
CPU that runs one instruction a nanosecond, so its busy time in nanoseconds is the number of
instructions: of both ends, of the kernel and of the programs. Each result is the difference
between a run with many requests and one with few, which excludes the start of programs and,
unless each request has a connection of its own, connection setup.

  redis      redis-benchmark sets or gets 3 bytes, one request at a time on each connection, or
             16 in a pipeline
  nginx      ab gets a file of 1 or 100 KB, on connections that are kept, or on one for each
             request
  memcached  memcslap sets values of random sizes up to 4 KB, or sets and gets them in turn

  instructions  of a request, all of the machine
  packets       of a request, both directions; a train that is sent as one counts as one
  requests/s    requests in a second of the CPU's time, 10^9 instructions
  ratio         SSTP's requests/s relative to TCP's

Where a client says that its requests took longer than the CPU was busy, both ends waited, for
a timer. This is reported as well.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time

from sstptools.bench.common import (SERVER, SHM, add_files, digest, drawing, idle_ns, listed,
                                    parser_of, read_job, report, results, run, save, show, write)
from sstptools.bench.where import (Marked, Symbols, add_functions, kernel_symbols, read_counts,
                                   sstp_files)
from sstptools.markdown import markdown_table
from sstptools.tree import CACHE, TREE
from sstptools.vm import fetch

PROTOCOLS = ("tcp", "sstp")
FEW, MANY = 250, 1250           # requests, or pipelines of requests, of all connections together
PORT = 7070
PATIENCE = 60                   # s for a server to listen
WAITS = 1.05                    # time by the client's clock relative to the instructions'
FILES = {"1 KB": 1 << 10, "100 KB": 100 << 10}
NGINX = """daemon off; user root; worker_processes 1; error_log stderr; pid nginx.pid;
events { worker_connections 1024; }
http {
	access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
	server { listen 10.9.9.2:7070; root www; }
}
"""
# Program, request, connections, requests at a time on each
CELLS = [
    *(("redis", request, connections, depth) for request in ("get", "set")
      for connections, depth in ((1, 1), (50, 1), (1, 16), (50, 16))),
    *(("nginx", size, connections, 1) for size in FILES for connections in (1, 50)),
    ("nginx", "1 KB, a connection each", 1, 1),
    ("memcached", "set", 1, 1), ("memcached", "set", 50, 1), ("memcached", "set, get", 1, 1),
]
QUICK = [("redis", "get", 1, 1), ("nginx", "1 KB", 1, 1), ("memcached", "set", 1, 1)]
PROGRAMS = ("redis", "nginx", "memcached")


def parse_args():
    parser = parser_of("requests", __doc__)
    add = parser.add_argument
    add("-q", "--quick", action="store_true",
        help="one kind of request to each program, on one connection")
    add("-P", "--program", action="append", choices=PROGRAMS,
        help="only this program (repeatable)")
    add("-n", "--connections", action="append", type=int, choices=(1, 50),
        help="only this number of connections")
    add("-w", "--where", type=int, default=0, metavar="N",
        help="count by function, as tools/bench/where does, and show N functions of each cell")
    add_files(add)
    args = parser.parse_args()
    if not wanted_cells(args):
        parser.error("no cell has such requests")
    return args


# --- the programs ----------------------------------------------------------------

def found(name):
    """Return the path of a program that is installed, or that tools/deps has unpacked."""
    places = ["/usr/bin", "/usr/sbin", f"{CACHE}/{name}/usr/bin", f"{CACHE}/{name}/usr/sbin"]
    path = shutil.which(name, path=":".join(places))
    if not path:
        raise FileNotFoundError(f"{name} is not there: tools/deps bench")
    return path


def server_words(program):
    """Return the command of a server, for the directory SHM."""
    if program == "redis":
        # The same file is redis-server by its name.
        return [f"{SHM}/redis-server", "--bind", SERVER, "--port", str(PORT), "--save", "",
                "--protected-mode", "no"]
    if program == "nginx":
        return [found("nginx"), "-e", "stderr", "-p", SHM, "-c", f"{SHM}/nginx.conf"]
    return [found("memcached"), "-u", "root", "-l", SERVER, "-p", str(PORT), "-t", "1"]


def client_words(cell, count):
    """Return the command of a client that makes @count requests, and a pattern of what it prints
    if it made them."""
    request, connections = cell["request"], cell["connections"]
    if cell["program"] == "redis":
        return [found("redis-benchmark"), "-h", SERVER, "-p", str(PORT), "-q", "-t", request,
                "-n", str(count), "-c", str(connections), "-P", str(cell["depth"])], \
            rf"{request.upper()}: [0-9.]+ requests per second"
    if cell["program"] == "nginx":
        size, _, each = request.partition(", ")
        return [found("ab"), "-q", *([] if each else ["-k"]), "-n", str(count),
                "-c", str(connections), f"http://{SERVER}:{PORT}/{FILES[size]}"], \
            rf"Complete requests: +{count}\nFailed requests: +0\n(?!Non-2xx)"
    # With "get" each key is set first. Threads have a connection each.
    pairs = request == "set, get"
    each = count // 2 if pairs else count // connections
    return [found("memcslap"), f"--servers={SERVER}:{PORT}", f"--concurrency={connections}",
            "--test=" + ("get" if pairs else "set"), f"--execute-number={each}"], \
        rf"Time to [gs]et +{each if pairs else count} +keys"


def took(cell, said, count):
    """Return the ns for @count requests from what a client printed: ab and memcslap, whole ms."""
    if cell["program"] == "redis":
        return count / float(re.search(r": ([0-9.]+) requests per", said)[1]) * 1e9
    return 1e9 * sum(map(float, re.findall(
        r"^Time (?:taken for tests|to [sg]et [^:]*): +([0-9.]+) seconds", said, re.M)))


# --- in the guest ----------------------------------------------------------------

def segments():
    """Return the number of TCP segments that this network namespace sent."""
    with open("/proc/thread-self/net/snmp", encoding="ascii") as f:
        names, values = (line.split() for line in f if line.startswith("Tcp:"))
    return int(values[names.index("OutSegs")])


def switches():
    """Return the number of context switches."""
    with open("/proc/stat", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("ctxt"))


class Bench(Marked):
    """Measures clients of one server at a time"""

    def start(self, program, protocol):
        """Start a server; return its process ID when it listens."""
        self.enter("b")
        pid = self.launch("server", self.wrap(protocol, server_words(program)))
        deadline = time.monotonic() + PATIENCE
        self.enter("a")
        while True:
            try:
                socket.create_connection((SERVER, PORT)).close()
                return pid
            except ConnectionRefusedError:
                if time.monotonic() > deadline or os.waitpid(pid, os.WNOHANG)[0]:
                    raise
                time.sleep(0.01)

    @staticmethod
    def stop(pid):
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)

    @staticmethod
    def wrap(protocol, words):
        return [f"{SHM}/sstp-run", *words] if protocol == "sstp" else words

    def ask(self, cell, count):
        """Make @count requests. Return instructions, packets and others that this took."""
        words, says = client_words(cell, count)
        before, tcp = self.sent(), segments()
        switched, idle, begin = switches(), idle_ns(), time.monotonic_ns()
        self.mark()
        pid = self.launch("client", self.wrap(cell["protocol"], words))
        status = os.waitpid(pid, 0)[1]
        self.mark()
        busy = time.monotonic_ns() - begin - (idle_ns() - idle)
        switched = switches() - switched
        after, tcp = self.sent(), segments() - tcp
        with open(f"{SHM}/client", encoding="utf-8", errors="replace") as f:
            said = f.read()
        if status or not re.search(says, said):
            raise RuntimeError(f"{words} ended with status {status}: {said}")
        return {"instructions": busy, "time": took(cell, said, count), "switches": switched,
                "segments": tcp,
                **{name: number - before[name] for name, number in after.items()}}

    def measure(self, cell):
        """Return the cell with what a request takes."""
        pid = self.start(cell["program"], cell["protocol"])
        few, many = (n * cell["depth"] for n in (FEW, MANY))
        # A first run loads programs, and lets sstp-run know that the server has SSTP.
        _, short, long = (self.ask(cell, n) for n in (few, few, many))
        self.stop(pid)
        for one in short, long:
            if (one["OutData"] > 0, one["segments"] > 0) != \
                    ((True, False) if cell["protocol"] == "sstp" else (False, True)):
                raise RuntimeError(f"not by {cell['protocol']}: {cell}, {one}")
        units = many - few
        return {**cell, "units": units,
                **{name: (long[name] - short[name]) / units for name in long}}


def guest(job_file):
    job = read_job(job_file)
    # With random addresses each start of a program would take more of the plug-in's table of
    # addresses, which would be full soon.
    subprocess.run("sysctl -qw net.ipv4.tcp_no_metrics_save=1 kernel.randomize_va_space=0",
                   shell=True, check=True)
    os.symlink("/usr/bin/redis-check-rdb", f"{SHM}/redis-server")
    os.makedirs("/var/lib/nginx", exist_ok=True)
    os.mkdir(f"{SHM}/www")
    for size in FILES.values():
        write(f"{SHM}/www/{size}", "x" * size)
    write(f"{SHM}/nginx.conf", NGINX)
    bench = Bench()
    for cell in job["cells"]:
        report(bench.measure(cell))
    report(kernel_symbols())


# --- on the host -----------------------------------------------------------------

def wanted_cells(args):
    return [{"program": program, "request": request, "connections": connections, "depth": depth,
             "protocol": protocol}
            for program, request, connections, depth in (QUICK if args.quick else CELLS)
            if program in (args.program or PROGRAMS) and
            connections in (args.connections or [connections])
            for protocol in PROTOCOLS]


def say(text):
    print(f"requests: {text}", file=sys.stderr, flush=True)


def versions():
    """Return the versions of the programs: of a package that is only unpacked, too."""
    said = {"redis": ["redis-benchmark", "--version"], "nginx": ["nginx", "-v"],
            "memcached": ["memcached", "--version"]}
    return {name: re.search(r"[0-9]+(\.[0-9]+)+", subprocess.run(
        [found(words[0]), *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=True).stdout)[0] for name, words in said.items()}


def measure(args):
    """Measure all cells in one boot."""
    subprocess.run([f"{TREE}/tools/deps", "build", "vm", "bench"], check=True)
    todo = wanted_cells(args)
    cells, symbols = [], None
    with tempfile.TemporaryDirectory(prefix="sstp-requests-") as work:
        counts = f"{work}/counts"
        for one in run("requests", {"cells": todo}, args.kernel, 300 + 120 * len(todo),
                       *(["--count", counts] if args.where else []), programs=("run",)):
            if "symbols" in one:
                symbols = one["symbols"]
            else:
                cells.append(one)
                say(f"{len(cells)}/{len(todo)} {name_of(one)}, {one['protocol']}: {summary(one)}")
        if args.where:
            add_functions(cells, read_counts(counts),
                          Symbols(symbols, sstp_files(fetch(args.kernel))))
    return {"kernel": args.kernel, "versions": versions(), "cells": cells,
            "source": digest("tools/sstp-run/*.[ch]",
                             "tools/python/sstptools/bench/requests.py",
                             "tools/python/sstptools/bench/where.py")}


def name_of(cell):
    text = f"{cell['program']}, {cell['request']}, {cell['connections']} connection"
    return text + "s" * (cell["connections"] > 1) + \
        (f", {cell['depth']} at a time" if cell["depth"] > 1 else "")


def summary(cell):
    return (f"{cell['instructions']:.0f} instructions a request, {cell['packets']:.2f} packets, "
            f"{rate(cell):.0f} requests/s")


def rate(cell):
    return 1e9 / cell["instructions"]


def pairs(cells):
    """Return the cells of TCP and of SSTP with the same requests, the lowest ratio first."""
    both = [(tcp, sstp) for tcp in cells for sstp in cells
            if (tcp["protocol"], sstp["protocol"]) == PROTOCOLS and
            name_of(tcp) == name_of(sstp)]
    return sorted(both, key=lambda pair: ratio(*pair))


def ratio(tcp, sstp):
    return rate(sstp) / rate(tcp)


def waits(cells):
    return [f"{name_of(c)}, {c['protocol']}: {c['time'] / 1e3:.1f} us a request, of which the CPU "
            f"was busy for {c['instructions'] / 1e3:.1f} us"
            for c in cells if c["time"] > WAITS * c["instructions"]]


def table(cells):
    rows = [["program", "request", "connections", "at a time", "ratio", "requests/s, SSTP", "TCP",
             "instructions, SSTP", "TCP", "packets, SSTP", "TCP"]]
    for tcp, sstp in pairs(cells):
        rows.append([tcp["program"], tcp["request"], str(tcp["connections"]), str(tcp["depth"]),
                     f"{ratio(tcp, sstp):.2f}",
                     *(f"{rate(c):.0f}" for c in (sstp, tcp)),
                     *(f"{c['instructions']:.0f}" for c in (sstp, tcp)),
                     *(f"{c['packets']:.2f}" for c in (sstp, tcp))])
    return markdown_table(rows)


def chapter(measured, picture):
    cells = measured["cells"]
    programs = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    slower = [f"{name_of(tcp)}: {ratio(tcp, sstp):.2f}" for tcp, sstp in pairs(cells)
              if ratio(tcp, sstp) < 1]
    text = (
        f"Written by `tools/bench/requests`, whose `-h` says how it is measured, on Linux "
        f"{measured['kernel']}, sources {measured['source']}, with {programs}. Server and client "
        "are started by `sstp-run` for SSTP, and share one CPU of 10^9 instructions a second. "
        "Instructions are those of the whole machine for a request, packets those of both "
        "directions; a train that is sent as one counts as one. Requests/s are those of 10^9 "
        "instructions, the ratio is SSTP's relative to TCP's.")
    return ("# Requests of real programs\n\n" + textwrap.fill(text, 88) +
            f"\n\n![Requests of real programs]({picture})\n\n" + table(cells) +
            listed("Fewer requests by SSTP than by TCP", slower) +
            listed("Both ends waited", waits(cells)))


def plot(cells, name):
    both = pairs(cells)[::-1]
    figure, axis = drawing().subplots(figsize=(9, 1 + 0.3 * len(both)))
    bars = axis.barh([name_of(tcp) for tcp, _ in both], [ratio(*pair) for pair in both],
                     color=["tab:blue" if ratio(*pair) >= 1 else "tab:orange" for pair in both])
    axis.bar_label(bars, fmt="%.2f", fontsize=8, padding=3)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlabel("SSTP's requests/s relative to TCP's")
    axis.margins(x=0.1)
    save(figure, name)


def show_functions(cells, count):
    """Show for each kind of request the functions that differ most between SSTP and TCP."""
    for tcp, sstp in pairs(cells):
        print(f"\n{name_of(tcp)}: SSTP {sstp['instructions']:.0f}, TCP {tcp['instructions']:.0f} "
              f"instructions; {sstp['switches']:.2f}, {tcp['switches']:.2f} context switches")
        total = {}
        for column, cell in enumerate((sstp, tcp)):
            for layer, function, module, number in cell.get("functions", []):
                total.setdefault((layer, function, module), [0, 0])[column] += number
        for key, (ours, theirs) in sorted(total.items(),
                                          key=lambda item: item[1][1] - item[1][0])[:count]:
            print(f"{ours:>10.1f} {theirs:>10.1f}  {key[0]:<16} {' '.join(key[1:])}".rstrip())


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    cells = measured["cells"]
    print(table(cells), end="")
    for line in waits(cells):
        say(f"both ends waited: {line}")
    if args.where:
        show_functions(cells, args.where)
    show(args, lambda name: plot(cells, name), lambda picture: chapter(measured, picture))
    return 0


if __name__ == "__main__":
    sys.exit(main())
