# SPDX-License-Identifier: GPL-2.0
"""Shows where the instructions of a transfer or of an exchange go: by layer and by function,
SSTP beside TCP.

The machine is that of tools/bench/cost: one emulated CPU, two network namespaces, a veth pair
with offloads on. A plug-in of QEMU (tools/vm/count.c) counts the instructions at each address,
which costs the guest none, so the numbers are exact: of sender and receiver, kernel and programs,
interrupts included. Each result is the difference between a long run and a short one, which
excludes set-up and the start of programs. /proc/kallsyms of the guest names the functions; code
that the compiler has inlined counts for the function that it is in.

  write     bytes in writes of so many KB (-w), at MTU 1500 or 9000 (-m), over one or several
            connections (-F): instructions per 1000 bytes
  exchange  a request and an answer of so many bytes (-e), one at a time, with Nagle's algorithm
            and without: instructions, packets and KEEPALIVEs of an exchange
  connect   a connection for each exchange of so many bytes (-c): socket(), connect(), request,
            answer and close()

A layer of SSTP's own is a group of its source files; other functions are put in layers by name.
"""

import bisect
import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

from sstptools.bench.common import (SERVER, SHM, Lab, add_results, counters, digest, parser_of,
                                    read_job, report, results, run)
from sstptools.bench.cost import ALL, CTRL, KB, PROTOCOLS, xfer_options
from sstptools.tree import CACHE, TREE_KEY
from sstptools.vm import fetch

MARK = 0x535354500000           # as in tools/vm/count.c
SHORT, MORE = 4 << 20, 32 << 20         # bytes of a transfer: of each connection, and of all that
                                        # a long one has more, but SHORT of each at least
FEW, MANY = 200, 1200           # exchanges
PAGE, PROT, MAP = 4096, 7, 0x32         # mmap(): read, write, execute; private, anonymous, fixed
KERNEL = 1 << 63                # addresses from here on are the kernel's
TOP = 25                        # functions that are shown

# Layers of SSTP by source file
FILES = {
    "headers, trains": "output train wire encap stride",
    "windows": "snd_seg snd_wnd rcv_wnd arrivals want rcvbuf rbuf rbuf_call rbuf_rrda rrda pool",
    "ACKs": "ack pack report rcv_snak small talk message half group rtt sample ecn",
    "timers": "clock timer probe life",
    "pacing, control": "rate cc ctrl ctrl_call window cubic prr breaker chrono",
    "input": "input rcv_data table backlog",
    "socket calls": "af_sstp sendmsg recvmsg poll sockopt tcpopt wait sndbuf mem owner state",
}
# Other layers by name of the function; the first that matches counts
NAMES = [
    ("copy", r"copy_(to|from|user|page)|_copy|copyin|copyout|memcpy|memmove|csum_partial|rep_movs"
             r"|skb_copy_bits|clear_page|memset|iov_iter|fault_in"),
    ("ACKs", r"tcp_(ack|clean_rtx|rack|sack|send_ack|rate_|delack|__tcp_ack|event_data_recv"
             r"|cwnd|rearm_rto|rtt|update_rtt|check_sack|mtup|init_cwnd|schedule_loss)"
             r"|__tcp_(ack|send_ack|select_window|cleanup_rbuf)"),
    ("pacing, control", r"tcp_(reno|cong|slow_start|pacing|update_pacing|small_queue|tsq)"
                        r"|cubictcp|bictcp|tcp_tasklet"),
    ("timers", r"hrtimer|timer|tick_|clockevents|lapic|ktime|read_tsc|sched_clock|timekeeping"
               r"|sysvec|apic|native_(write_msr|read_msr)|delay_tsc|jiffies"),
    ("GSO, GRO", r"gso|gro_|_gro|skb_segment|inet_.*segment|skb_mac_|udp.*segment"),
    ("UDP", r"udp"),
    ("wake-ups", r"wake|schedule|sched|enqueue_|dequeue_|pick_next|update_(curr|load|rq)|__switch"
                 r"|finish_task|prepare_task|set_next|put_prev|place_entity|avg_vruntime"
                 r"|sock_def_(readable|write)|sk_wait|wait_woken|ttwu|select_task|cpuidle|idle"
                 r"|check_preempt|resched|switch_(mm|fpu|to)|wait_queue|vruntime|entity|min_v"
                 r"|_cfs|fair|psi_|poll|ep_|remove_wait|add_wait|rb_(insert|erase)|update_se"),
    ("IP, routes", r"^_*ip6?_|ipv[46]|^_*fib|dst_|nf_|inet_|rt_|neigh|raw_|icmp|arp"),
    ("device, queues", r"dev_|veth|napi|net_rx|qdisc|^_*netif|eth_|xmit|softirq|backlog|skb_list"
                       r"|validate_xmit|loopback|fq_|pfifo|sch_direct|enqueue|rps|packet_rcv"
                       r"|skb_scrub|ptype|harmonize|__netdev|deliver_skb|skb_tx_|net_tx"),
    ("memory", r"kmalloc|kmem|kfree|slab|alloc|free|page|memcg|skb_release|kfree_skb|obj_cgroup"
               r"|folio|zone|skb_page|sk_page_frag|put_page|get_page|rmqueue|lru|rmem|wmem|sk_mem"
               r"|sock_(w|r)free|___cache|refill|objcg|charge"),
    ("locks", r"lock|rcu|preempt|mutex|bh_enable|bh_disable|refcount|atomic"),
    ("socket calls", r"entry_SYSCALL|syscall|sock_|__sys_|sys_|fdget|fput|fget|sockfd|security_|lsm"
                     r"|aa_|apparmor|import_|move_addr|audit|release_sock|sk_|inet_send|inet_recv"
                     r"|ksys|vfs_|x64_sys|exit_to_user|irqentry|asm_|ret_from|entry_|fpregs"
                     r"|_file|tcp_(sendmsg|recvmsg|poll|stream|push|skb_entail|send_mss|mark_push"
                     r"|release_cb|remove_empty|recv_skb|recv_timestamp|rcv_space|eat)"),
    ("windows", r"tcp_(grow|clamp|select|rcv_win|new_window|space|rcvbuf|sndbuf|window|prune)"),
    ("headers, trains", r"tcp_(transmit|write|tso|queue_xmit|options|wfree|skb|established_opt"
                        r"|init_tso|event_new|v4_send|v6_send|current_mss|fragment|snd|parse"
                        r"|rbtree|set_skb|minshall|nagle|tstamp|rtx|tx|update_skb)"
                        r"|__tcp_(transmit|push|v4_send)|bpf_skops|skb_(clone|split|push|pull|put)"
                        r"|__skb_clone|__copy_skb|pskb|skb_"),
    ("input", r"tcp"),
]
NAMES = [(layer, re.compile(words)) for layer, words in NAMES]
PROGRAM, OTHER = "programs", "other"
EXCHANGES = [(protocol, delay) for protocol in ("sstp", "tcp") for delay in ("delay", "nodelay")]


def parse_args():
    parser = parser_of("where", __doc__, "6.1, 6.12 (default) or stock")
    add = parser.add_argument
    add("-P", "--protocol", action="append", metavar="NAME",
        choices=[*PROTOCOLS, *(CTRL + name for name in ("newreno", "cubic", "bbr", "rate"))],
        help="with -w: this protocol (repeatable), default sstp and tcp: " +
             ", ".join(PROTOCOLS) + f", {CTRL}newreno, -cubic, -bbr, -rate")
    add("-m", "--mtu", action="append", type=int, help="with -w: this MTU (1500, repeatable)")
    add("-w", "--write", action="append", type=int, metavar="KB",
        help="a transfer in writes of 1, 4, 16 or 64 KB (repeatable)")
    add("-F", "--flows", action="append", type=int, metavar="N",
        help="with -w: so many connections at once (repeatable)")
    add("-e", "--exchange", action="append", type=int, metavar="BYTES",
        help="exchanges of so many bytes (repeatable; 1 and 100 if there is no other)")
    add("-c", "--connect", action="append", type=int, metavar="BYTES",
        help="connections with one exchange of so many bytes (repeatable)")
    add("-n", "--functions", type=int, default=TOP, metavar="N",
        help=f"show N functions of each cell (default {TOP})")
    add("-l", "--layer", metavar="NAME", help="show functions of this layer only")
    add_results(add)
    args = parser.parse_args()
    if not args.exchange and not args.write and not args.connect:
        args.exchange = [1, 100]
    for write in args.write or []:
        if (1500, write * KB) not in ALL:
            parser.error("-w is 1, 4, 16 or 64")
    return args


# --- in the guest ----------------------------------------------------------------

class Marked(Lab):
    """Runs programs between two marks, and counts what they sent"""

    def __init__(self, queues=1):
        super().__init__(queues)
        self.libc.mmap.restype = ctypes.c_void_p
        self.libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3,
                                   ctypes.c_long]
        if self.libc.mmap(MARK, PAGE, PROT, MAP, -1, 0) != MARK:
            raise OSError(ctypes.get_errno(), "mmap")
        ctypes.memset(MARK, 0xc3, PAGE)         # RET
        self.mark = ctypes.CFUNCTYPE(None)(MARK)

    @staticmethod
    def packets():
        """Return the number of packets, or trains, that both ends sent."""
        with open("/proc/thread-self/net/dev", encoding="ascii") as f:
            fields = next(line for line in f if "ab:" in line).split()
        return int(fields[2]) + int(fields[10])

    def sent(self):
        """Return the number of packets, and SSTP's counters of both ends; stay in namespace a."""
        self.enter("b")
        theirs = counters()
        self.enter("a")
        ours = counters()
        return {"packets": self.packets(), **{
            name: ours.get(name, 0) + theirs.get(name, 0)
            for name in ("OutKeepalives", "OutPacks", "OutData", "OutPkts")}}

    @staticmethod
    def launch(out, words):
        """Start a program, by its path or from SHM, with its output in a file."""
        actions = [(os.POSIX_SPAWN_OPEN, 1, f"{SHM}/{out}",
                    os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
        return os.posix_spawn(os.path.join(SHM, words[0]), words, os.environ,
                              file_actions=actions)


class Bench(Marked):
    """Transfers and exchanges, each between two marks"""

    def measure(self, server, client):
        """Run commands of server and client. Return packets and KEEPALIVEs."""
        self.enter("b")
        pids = [self.launch("server", server)]
        time.sleep(0.05)
        before = self.sent()
        self.mark()
        pids.append(self.launch("client", client))
        status = [os.waitpid(pid, 0)[1] for pid in reversed(pids)]
        if any(status):
            raise RuntimeError(f"failed: {client}")
        self.mark()
        return {name: number - before[name] for name, number in self.sent().items()}

    def cell(self, cell, amount):
        """Measure a cell: @amount exchanges, or bytes of each connection."""
        if cell["kind"] != "write":
            words = [cell["protocol"], cell["delay"], str(cell["size"]), str(amount)]
            return self.measure(["exchange", "server", *words],
                                ["exchange", "client", *words, SERVER])
        options, more = xfer_options(cell["protocol"])
        common = ["-T", "300", "--read-size", "128k", "-n", str(cell["flows"]), *options]
        return self.measure(["xfer", "server", *common],
                            ["xfer", "client", "--no-check", "-S", "1", "-s", str(amount), "-w",
                             str(cell["size"]), *common, *more, SERVER])


def guest(job_file):
    job = read_job(job_file)
    subprocess.run("sysctl -qw net.ipv4.tcp_no_metrics_save=1", shell=True, check=True)
    lab = Bench()
    # Controllers are modules, but for those that a connection may get without asking.
    for name in {cell["protocol"].removeprefix(CTRL) for cell in job["cells"]}:
        name = "paptc" if name.startswith("sstp-paptc") else name
        module = f"{os.environ['SSTP_MODULE_DIR']}/sstp-ctrl-{name}.ko"
        if os.path.exists(module):
            lab.command("insmod", module)
    for cell in job["cells"]:
        lab.set_mtu(cell["mtu"])
        short, long = (FEW, MANY) if cell["kind"] != "write" else \
            (SHORT, SHORT + max(MORE // cell["flows"], SHORT))
        lab.cell(cell, short)
        few, many = lab.cell(cell, short), lab.cell(cell, long)
        units = long - short
        if cell["kind"] == "write":
            units *= cell["flows"] / 1000
        report({**cell, "units": units, **{name: (many[name] - few[name]) / units
                                           for name in many}})
    report(kernel_symbols())


def kernel_symbols():
    with open("/proc/kallsyms", encoding="ascii") as f:
        return {"symbols": [[address, name, *module] for address, kind, name, *module in
                            map(str.split, f) if kind in "tTwW"]}


# --- on the host -----------------------------------------------------------------

def wanted_cells(args):
    cells = [{"kind": "write", "mtu": mtu, "size": write * KB, "flows": flows,
              "protocol": protocol}
             for mtu in args.mtu or [1500] for write in args.write or []
             for flows in args.flows or [1] for protocol in args.protocol or ["sstp", "tcp"]]
    return cells + [{"kind": "exchange", "mtu": 1500, "size": size, "protocol": protocol,
                     "delay": delay} for size in args.exchange or []
                    for protocol, delay in EXCHANGES] + [
        {"kind": "connect", "mtu": 1500, "size": size, "protocol": protocol, "delay": "each"}
        for size in args.connect or [] for protocol in ("sstp", "tcp")]


def read_counts(path):
    """Return what was counted before each mark: a number by address."""
    marks, now = [], {}
    with open(path, encoding="ascii") as f:
        for line in f:
            word, number = line.split()
            if word == "mark":
                now = {}
                marks.append(now)
            else:
                address = int(word, 16)
                now[address] = now.get(address, 0) + int(number)
    return marks


def sstp_files(kernel):
    """Return the source file of each function of the module."""
    build = os.path.join(CACHE, "build", TREE_KEY, os.path.basename(os.path.realpath(kernel)))
    found = {}
    for path in glob.glob(f"{build}/**/*.o", recursive=True):
        name = os.path.basename(path)[:-2]
        if name.startswith("sstp") or name.endswith(".mod"):
            continue
        done = subprocess.run(["nm", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tT":
                found[words[2]] = name
    return found


def layer_of(name, module, files):
    if module.startswith("[sstp"):
        file = files.get(name, "")
        for layer, names in FILES.items():
            if file in names.split():
                return layer
        return "pacing, control" if file.startswith("ctrl_") else OTHER
    return next((layer for layer, words in NAMES if words.search(name)), OTHER)


class Symbols:
    """Functions by address"""

    def __init__(self, symbols, files):
        self.files = files
        table = sorted((int(address, 16), name, module[0] if module else "")
                       for address, name, *module in symbols)
        self.starts = [row[0] for row in table]
        self.table = table

    def find(self, address):
        """Return layer, function and module of an address."""
        if address < KERNEL:
            return PROGRAM, "(programs)", ""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0:
            return OTHER, "(unknown)", ""
        _, name, module = self.table[at]
        return layer_of(name, module, self.files), name, module

    def sums(self, counts):
        """Return the instructions by layer, function and module."""
        total = {}
        for address, number in counts.items():
            key = self.find(address)
            total[key] = total.get(key, 0) + number
        return total


def measure(args):
    cells, symbols = [], None
    with tempfile.TemporaryDirectory(prefix="sstp-where-") as work:
        path = f"{work}/counts"
        for one in run("where", {"cells": wanted_cells(args)}, args.kernel, 3600, "--count", path,
                       programs=("xfer", "exchange")):
            if "symbols" in one:
                symbols = Symbols(one["symbols"], sstp_files(fetch(args.kernel)))
            else:
                print(f"where: {title(one)}", file=sys.stderr, flush=True)
                cells.append(one)
        add_functions(cells, read_counts(path), symbols)
    return {"kernel": args.kernel, "cells": cells,
            "source": digest("selftests/net/sstp/xfer*", "selftests/net/sstp/exchange.c",
                             "tools/vm/count.c", "tools/python/sstptools/bench/where.py")}


def add_functions(cells, marks, symbols):
    """Add the instructions of a unit by function to each cell, which consists of three runs: the
    first loads programs, the third has more units than the second."""
    for n, cell in enumerate(cells):
        # Two marks for each run; the second has what the run took.
        few, many = (symbols.sums(marks[6 * n + i]) for i in (3, 5))
        cell["functions"] = sorted(
            ([*key, (many.get(key, 0) - few.get(key, 0)) / cell["units"]]
             for key in many.keys() | few.keys()), key=lambda f: -f[3])


def title(cell):
    if cell["kind"] == "write":
        return f"{cell['protocol']}, MTU {cell['mtu']}, writes of {cell['size'] // KB} KB, " + \
            f"{cell['flows']} flows"
    if cell["kind"] == "connect":
        return f"{cell['protocol']}, connection with an exchange of {cell['size']} bytes"
    return f"{cell['protocol']}, exchange of {cell['size']} bytes" + \
        (", no delay" if cell["delay"] == "nodelay" else "")


def by_layer(cell):
    total = {}
    for layer, _, _, number in cell["functions"]:
        total[layer] = total.get(layer, 0) + number
    return total


def show_group(cells):
    """Print cells of one kind and size side by side, by layer."""
    unit = {"write": f"1000 bytes, {cells[0].get('flows')} flows", "exchange": "an exchange",
            "connect": "a connection with an exchange"}[cells[0]["kind"]]
    print(f"Instructions of {unit}\n")
    heads = [cell["protocol"] + (" nodelay" if cell.get("delay") == "nodelay" else "")
             for cell in cells]
    print(f"{'MTU ' + str(cells[0]['mtu']) + ', ' + str(cells[0]['size']) + ' bytes':<22}" +
          "".join(f"{head:>18}" for head in heads))
    layers = [by_layer(cell) for cell in cells]
    names = sorted({name for one in layers for name in one},
                   key=lambda name: -max(one.get(name, 0) for one in layers))
    for name in names:
        print(f"{name:<22}" + "".join(f"{one.get(name, 0):>18.1f}" for one in layers))
    print(f"{'all':<22}" + "".join(f"{sum(one.values()):>18.1f}" for one in layers))
    for field in "packets", "OutData", "OutPacks", "OutKeepalives":
        print(f"{field:<22}" + "".join(f"{cell[field]:>18.3f}" for cell in cells))
    print()


def show_functions(cell, args):
    print(f"{title(cell)}:")
    functions = [f for f in cell["functions"] if not args.layer or f[0] == args.layer]
    for layer, name, module, number in functions[:args.functions]:
        print(f"{number:>10.1f}  {layer:<16} {name} {module}".rstrip())
    print()


def main():
    args = parse_args()
    if args.guest:
        return guest(args.guest)
    measured = results(args, measure)
    groups = {}
    for cell in measured["cells"]:
        groups.setdefault((cell["kind"], cell["mtu"], cell["size"], cell.get("flows")),
                          []).append(cell)
    for cells in groups.values():
        show_group(cells)
    if args.functions:
        for cell in measured["cells"]:
            show_functions(cell, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
