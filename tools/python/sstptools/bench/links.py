# SPDX-License-Identifier: GPL-2.0
"""Measures how many CPU instructions a byte costs on links of several kinds, SSTP beside TCP.

As tools/bench/cost does it: one emulated CPU that runs one instruction a nanosecond, writes of
64 KB, and devices with an MTU of 1500, but for loopback, which has its own. Both protocols pay for
a link's headers, copies and encryption; a link that suits SSTP less than TCP has a lower ratio
than veth has.

  veth          a veth pair with all offloads: trains of packets pass whole
  no offloads   its devices do not segment trains; the receiver makes trains again (GRO)
  no GRO        likewise, and the receiver gets each packet by itself
  loopback      both ends in one network namespace
  IPv6          the veth pair, IPv6
  VLAN          a VLAN of the veth pair
  VXLAN         a VXLAN tunnel, over the veth pair
  WireGuard     a WireGuard tunnel, likewise
  fq            the veth pair with the queueing discipline fq, which sends packets when it is time
"""

import os
import subprocess
import sys
import textwrap
import time

from sstptools.bench.common import (SERVER, add_files, digest, drawing, parser_of, read_job,
                                    report, results, run, save, show)
from sstptools.bench.cost import KB, SHORT, Bench
from sstptools.tree import TREE

PROTOCOLS = ["sstp", "tcp"]
MORE = 1_000_000_000    # instructions that the long transfer takes beyond the short one
WANTED = 0.8            # of the ratio on veth
ADDRESSES = {"loopback": "127.0.0.1", "IPv6": "fd00:9::2", "VLAN": "10.9.5.2", "VXLAN": "10.9.6.2",
             "WireGuard": "10.9.7.2"}
# Features of the devices that differ from those of veth. With GRO veth receives through NAPI, as
# network cards do, and trains are made of single packets.
FEATURES = {"no offloads": {"tx-udp-segmentation": False, "tso": False, "gro": True},
            "no GRO": {"tx-udp-segmentation": False, "tso": False}}
LINKS = ["veth", *FEATURES, *ADDRESSES, "fq"]
DEVICES = (("a", "ab", "10.9.9.1", SERVER, 1), ("b", "ba", SERVER, "10.9.9.1", 2))


def parse_args():
    parser = parser_of("links", __doc__)
    add = parser.add_argument
    add("-l", "--link", action="append", metavar="NAME", choices=LINKS,
        help="only veth and this link (repeatable)")
    add_files(add)
    add("-c", "--check", action="store_true",
        help=f"fail if a link has less than {WANTED} of veth's ratio")
    return parser.parse_args()


# --- in the guest ----------------------------------------------------------------

class Links(Bench):
    """The links, in two network namespaces"""

    def __init__(self):
        super().__init__()
        keys = [subprocess.run(["wg", "genkey"], capture_output=True, check=True).stdout
                for _ in "ab"]
        public = [subprocess.run(["wg", "pubkey"], input=key, capture_output=True,
                                 check=True).stdout.decode().strip() for key in keys]
        for n, (ns, dev, here, there, number) in enumerate(DEVICES):
            self.ip(ns, "link", "set", "lo", "up")
            self.ip(ns, "addr", "add", f"fd00:9::{number}/64", "dev", dev, "nodad")
            self.ip(ns, "link", "add", "link", dev, "vlan", "type", "vlan", "id", "5")
            self.ip(ns, "link", "add", "vxlan", "type", "vxlan", "id", "1", "dstport", "4789",
                    "local", here, "remote", there, "dev", dev)
            self.ip(ns, "link", "add", "wireguard", "type", "wireguard")
            self.command("ip", "netns", "exec", ns, "wg", "set", "wireguard", "listen-port",
                         "51820", "private-key", self.key(keys[n]), "peer", public[1 - n],
                         "allowed-ips", "0.0.0.0/0", "endpoint", f"{there}:51820")
            for kind in "VLAN", "VXLAN", "WireGuard":
                net = ADDRESSES[kind].rsplit(".", 1)[0]
                self.ip(ns, "addr", "add", f"{net}.{number}/24", "dev", kind.lower())
                self.ip(ns, "link", "set", kind.lower(), "up")

    def ip(self, ns, *words):
        self.command("ip", "-n", ns, *words)

    @staticmethod
    def key(text):
        path = "/run/wireguard.key"
        with open(path, "wb") as f:
            f.write(text)
        return path

    def change(self, link, there):
        """Make the veth pair this link, if it is one, or undo that."""
        for ns, dev, *_ in DEVICES:
            for name, value in FEATURES.get(link, {}).items():
                self.command("ip", "netns", "exec", ns, "ethtool", "-K", dev, name,
                             "on" if value == there else "off")
            if link == "fq":
                self.command("tc", "-n", ns, "qdisc", "replace" if there else "del", "dev", dev,
                             "root", *(["fq"] if there else []))

    def measure(self, cell):
        self.address = ADDRESSES.get(cell["link"], SERVER)
        self.client_ns = "b" if cell["link"] == "loopback" else "a"
        self.family = "-6" if cell["link"] == "IPv6" else "-4"
        self.transfer(cell, 1 << 20)
        short = self.transfer(cell, SHORT)
        more = MORE * SHORT // short[0]
        long = self.transfer(cell, SHORT + more)
        return (long[0] - short[0]) / more


def guest(job_file):
    job = read_job(job_file)
    subprocess.run("modprobe -a vxlan 8021q wireguard sch_fq;"
                   "sysctl -qw net.ipv4.tcp_no_metrics_save=1", shell=True, check=True)
    lab = Links()
    for link in job["links"]:
        lab.change(link, True)
        for protocol in PROTOCOLS:
            cell = {"link": link, "protocol": protocol, "flows": 1, "write": 64 * KB}
            report({**cell, "instructions_per_byte": lab.measure(cell)})
        lab.change(link, False)


# --- on the host -----------------------------------------------------------------

def measure(args):
    subprocess.run([f"{TREE}/tools/deps", "build", "vm", "net", "bench"], check=True)
    links = [link for link in LINKS if link in ["veth", *(args.link or LINKS)]]
    cells, begin = [], time.monotonic()
    for cell in run("links", {"links": links}, args.kernel, 3600):
        cells.append(cell)
        print(f"links: {len(cells)} of {len(links) * len(PROTOCOLS)}: {cell['link']}, "
              f"{cell['protocol']}: {cell['instructions_per_byte']:.3f} "
              f"({time.monotonic() - begin:.0f} s)", file=sys.stderr, flush=True)
    return {"kernel": args.kernel, "cells": cells,
            "source": digest("selftests/net/sstp/xfer*", "tools/python/sstptools/bench/cost.py",
                             "tools/python/sstptools/bench/links.py")}


def rows(cells):
    """Return [link, SSTP's instructions, TCP's, bytes per instruction to TCP's, this ratio to
    veth's]."""
    found = {(c["link"], c["protocol"]): c["instructions_per_byte"] for c in cells}
    veth = found["veth", "tcp"] / found["veth", "sstp"]
    result = []
    for link in LINKS:
        if (link, "sstp") in found:
            sstp, tcp = (found[link, protocol] for protocol in PROTOCOLS)
            result.append([link, sstp, tcp, tcp / sstp, tcp / sstp / veth])
    return result


def table(cells):
    lines = ["| link        | SSTP   | TCP    | ratio | to veth's |",
             "|-------------|--------|--------|-------|-----------|"]
    for link, sstp, tcp, ratio, relative in rows(cells):
        lines.append(f"| {link:<11} | {sstp:<6.3f} | {tcp:<6.3f} | {ratio:<5.2f} | "
                     f"{relative:<9.2f} |")
    return lines


def plot(cells, name):
    pyplot = drawing()
    figure, axis = pyplot.subplots(figsize=(8, 3.5))
    shown = rows(cells)
    axis.bar([row[0] for row in shown], [row[3] for row in shown], width=0.6)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_ylabel("bytes per instruction, TCP = 1")
    axis.tick_params(axis="x", labelrotation=30)
    save(figure, name)


def chapter(measured, picture):
    text = ("Written by `tools/bench/links`, whose `-h` says what the links are and how they are "
            f"measured, on Linux {measured['kernel']}, sources {measured['source']}. The first "
            "two columns are instructions per byte, both ends; the ratio is that of bytes per "
            "instruction, SSTP's to TCP's.")
    return ("# Links of several kinds\n\n" + textwrap.fill(text, 80) +
            f"\n\n![Bytes per instruction by link]({picture})\n\n" +
            "\n".join(table(measured["cells"])) + "\n")


def main():
    args = parse_args()
    if args.guest:
        guest(args.guest)
        return 0
    measured = results(args, measure)
    cells = measured["cells"]
    print("\n".join(table(cells)))
    show(args, lambda name: plot(cells, name), lambda picture: chapter(measured, picture))
    bad = [row for row in rows(cells) if row[4] < WANTED]
    for link, *_, relative in bad:
        print(f"links: not as wanted: {link}: {relative:.2f} of veth's ratio", file=sys.stderr)
    return 1 if bad and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
