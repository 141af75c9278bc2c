# SPDX-License-Identifier: GPL-2.0
"""Compares what Wireshark shows of captures with their bytes, with the counters of the
kernel that sent and received them, and with the module's own parser."""
import argparse
import collections
import os
import random
import re
import socket
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True

NANO = 0xa1b23c4d
ETHER, UDP, PORT = 14, 8, 25719
TYPES = ["DATA", "KEEPALIVE", "EOS", "PACK", "SNAK", "INIT", "INIT_ACK", "COOKIE", "RESET",
         "CLOSE", "MESSAGE"]
DATA, KEEPALIVE, EOS, PACK, SNAK, INIT, INIT_ACK, COOKIE, RESET, CLOSE, MESSAGE = range(11)
OPTIONS = range(1, 11)
LAST, AGAIN, ECHO, ECN, RIDES = 1, 2, 2, 16, 128
# The numbers behind the header, as Documentation/networking/sstp-protocol.rst draws them
DATA_FIELDS = "shipment segment len stamp".split()
ACK_FIELDS = ("control accepted ack limit echo hold highest received arrival service "
              "late progress unsettled").split()
INIT_FIELDS = ("init.cid srcport dstport init.shipment init.segment init.window init.limit stamp "
               "echo hold version sktype reserved").split()
FIELDS = {
    DATA: (DATA_FIELDS, "4I"), KEEPALIVE: (DATA_FIELDS, "4I"), EOS: (DATA_FIELDS, "4I"),
    PACK: (ACK_FIELDS, "10I2HI"), SNAK: (ACK_FIELDS, "10I2HI"),
    INIT: (INIT_FIELDS, "I2H7I2BH"), INIT_ACK: (INIT_FIELDS, "I2H7I2BH"), COOKIE: ([], ""),
    RESET: (["code", "seq"], "2I"), CLOSE: (["code", "seq"], "2I"),
    MESSAGE: (["message", "message.controller", "state"], "I2H"),
}
THIRD = {DATA: "packet", KEEPALIVE: "packet", SNAK: "entries", INIT: "options_len",
         INIT_ACK: "options_len", MESSAGE: "kind"}


class Wrong(Exception):
    pass


def expect(what, condition):
    if not condition:
        raise Wrong(what)


# --- captures ---------------------------------------------------------------------

def read_capture(path):
    """(from whom, to whom, offset of the payload, payload or None) of each frame"""
    with open(path, "rb") as f:
        expect("a capture in nanoseconds", struct.unpack("<I", f.read(24)[:4])[0] == NANO)
        while record := f.read(16):
            frame = f.read(struct.unpack("<4I", record)[2])
            if frame[12:14] == b"\x08\x00":
                at, proto, hosts = ETHER + 4 * (frame[ETHER] & 15), frame[23], (26, 30, 4)
            else:
                at, proto, hosts = ETHER + 40, frame[20], (22, 38, 16)
            src, dst = (frame[n:n + hosts[2]] for n in hosts[:2])
            ports = struct.unpack(">2H", frame[at:at + 4])
            payload = frame[at + UDP:] if proto == 17 and PORT in ports else None
            yield (src, ports[0]), (dst, ports[1]), at + UDP, payload


def write_capture(path, payloads):
    """payloads: (bytes, how many of them the capture has, whether to the well-known port)"""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", NANO, 2, 4, 0, 0, 1 << 18, 1))
        for n, (payload, kept, up) in enumerate(payloads):
            ports = (40000, PORT) if up else (PORT, 40000)
            hosts = bytes([10, 0, 0, 1 if up else 2, 10, 0, 0, 2 if up else 1])
            frame = bytes(12) + b"\x08\x00" + struct.pack(
                ">BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0) + hosts + struct.pack(
                ">HHHH", *ports, UDP + len(payload), 0) + payload
            kept = ETHER + 20 + UDP + min(kept, len(payload))
            f.write(struct.pack("<4I", n // 1000, n % 1000, kept, len(frame)) + frame[:kept])


# --- what Wireshark shows -------------------------------------------------------------

class Packet:
    def __init__(self, frame, proto):
        self.frame = frame
        self.at, self.size = int(proto.get("pos")), int(proto.get("size"))
        self.fields = collections.defaultdict(list)
        self.malformed = False
        for field in proto.iter("field"):
            name = field.get("name", "").removeprefix("afsstp.")
            self.fields[name].append(field.get("show"))
        self.malformed = bool(self.fields["malformed"])

    def text(self, name):
        expect(f"one {name} in frame {self.frame}", len(self.fields[name]) == 1)
        return self.fields[name][0]

    def number(self, name):
        return int(self.text(name), 0)

    def has(self, name):
        return bool(self.fields[name])


def tshark(dissector, path, *options):
    """Since 4.4 it loads no script when it is run by root."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return [*(nobody if os.geteuid() == 0 else []), "tshark", "-X", f"lua_script:{dissector}",
            "-r", path, *options]


def shown(dissector, path, *options):
    """Yields number and SSTP packets of each frame. No error of Lua goes unseen."""
    command = tshark(dissector, path, "-T", "pdml", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        number = 0
        for _, packet in ET.iterparse(process.stdout):
            if packet.tag == "field" and "Lua Error" in (packet.get("showname") or "") + (
                    packet.get("show") or ""):
                raise Wrong(packet.get("showname") or packet.get("show"))
            if packet.tag != "packet":
                continue
            number += 1
            ours = packet.findall(".//proto[@name='afsstp']")
            yield number, [Packet(number, p) for p in ours        # but not trains
                           if p.find("proto[@name='afsstp']") is None]
            packet.clear()
        errors = process.stderr.read().decode()
    expect(f"tshark ends well: {errors}", process.returncode == 0)
    expect(f"no error of Lua: {errors}", "Lua" not in errors)


def judge(program, pieces):
    """What the module's parser says of each"""
    done = subprocess.run([program], input="".join(p.hex() + "\n" for p in pieces), text=True,
                          stdout=subprocess.PIPE, check=True)
    return [line == "good" for line in done.stdout.split()]


def rides(data):
    """Does a DATA packet follow the PACK?"""
    return data[4] == PACK and data[5] & RIDES


def datagrams(pieces):
    """Packets as they travel: a PACK and the DATA packet that follows it are one."""
    head = b""
    for data in pieces:
        if rides(data):
            head = data
        else:
            yield head + data
            head = b""


def numbers(text):
    """Those in a text as 3-7, 9"""
    found = set()
    for run in re.findall(r"\d+(?:-\d+)?", text):
        first, _, last = run.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def entries(data):
    """(segment, missing packets or None for whole segments, how many) of a SNAK"""
    at, found = 64 if data[5] & ECN else 56, []
    while at < len(data):
        segment, first, bits = struct.unpack_from(">IHH", data, at)
        words = (bits + 31) // 32
        bitmap = data[at + 8:at + 8 + 4 * words]
        found.append((segment, {first + n for n in range(bits)
                                if not bitmap[n // 8] << n % 8 & 128} if bits else None,
                      first))
        at += 8 + 4 * words
    return found


# --- our own transfers -----------------------------------------------------------------

def check_missing(p, data):
    texts, counts = iter(p.fields["snak.missing"]), iter(p.fields["snak.count"])
    for _, packets, _ in entries(data):
        if packets is None:
            continue
        text = next(texts)
        found = numbers(text)
        expect(f"frame {p.frame}: missing packets", found == packets or
               text.endswith("...") and len(found) >= 200 and found < packets)
        expect(f"frame {p.frame}: their number", int(next(counts)) == len(packets))


def pack_fields(data):
    """(type, value) of each field behind the fixed part of a PACK"""
    at = 64 if data[5] & ECN else 56
    while len(data) - at >= 2 and len(data) - at - 2 >= data[at + 1]:
        yield data[at], data[at + 2:at + 2 + data[at + 1]]
        at += 2 + data[at + 1]


def check_fields(p, data):
    found = list(pack_fields(data))
    expect(f"frame {p.frame}: fields", p.fields["field"] == [str(kind) for kind, _ in found])
    for field, names in ((1, ("forecast", "forecast.horizon")), (2, ("queue", "queue.refused"))):
        values = [struct.unpack_from(">2I", value) for kind, value in found
                  if kind == field and len(value) >= 8]
        for n, name in enumerate(names):
            expect(f"frame {p.frame}: {name}",
                   p.fields[name] == [str(value[n]) for value in values])


def check_numbers(p, data):
    """What is shown is what the bytes are."""
    cid, kind, flags, third = struct.unpack_from(">IBBH", data)
    names, form = FIELDS[kind]
    if kind in (PACK, SNAK) and flags & ECN:
        names, form = names + ["ect", "ce"], form + "2I"
    want = dict(zip(names, struct.unpack_from(">" + form, data, 8)))
    want.update({"cid": cid, "type": kind, "flags": flags})
    want.update({THIRD[kind]: third} if kind in THIRD else {})
    for name, value in want.items():
        if not (kind in (INIT, INIT_ACK) and name == "reserved"):
            expect(f"frame {p.frame}: {name} is {value}", p.number(name) == value)
    if kind == SNAK:
        check_missing(p, data)
    elif kind == PACK:
        check_fields(p, data)
    elif kind == DATA:
        expect(f"frame {p.frame}: data", p.text("data").replace(":", "") == data[24:].hex())


def check_streams(packets, opened):
    """A connection is what its set-up says: a pair of CIDs between two hosts."""
    streams = collections.defaultdict(list)
    for p in packets:
        streams[p.number("stream")].append(p)
    expect(f"{opened} connections, not {len(streams)}", len(streams) == opened)
    names = set()
    for number, members in streams.items():
        chosen = collections.defaultdict(set)       # CIDs of each host
        for p in members:
            if p.kind in (INIT, INIT_ACK):
                chosen[p.src].add(p.number("init.cid"))
            if p.kind != INIT:
                stray = p.kind == RESET and p.number("flags") & 1
                chosen[p.src if stray else p.dst].add(p.number("cid"))
        expect(f"connection {number} begins with INIT", members[0].kind == INIT)
        expect(f"connection {number}: two hosts", len({p.src for p in members} |
                                                      {p.dst for p in members}) == 2)
        for host, found in chosen.items():
            expect(f"connection {number}: a CID for each end", len(found) == 1)
            name = (host, *found)
            expect(f"connection {number} has CIDs of its own", name not in names)
            names.add(name)


class Asked:
    """The frames of SNAKs that asked for what a sender ships of its segments"""

    def __init__(self):
        self.packets = collections.defaultdict(list)    # (segment, packet or None): frames
        self.segments = collections.defaultdict(list)   # segment: frames
        self.sizes = {}                                 # segment: size of its packets
        self.splits = {}        # segment split anew: (frame, SNAKs before, packets since)

    def ask(self, segment, packet, frame):
        self.packets[segment, packet].append(frame)
        self.segments[segment].append(frame)

    def ship(self, p):
        """A segment that is split anew, into packets of another size, is shipped again whole."""
        segment, length, data = p.number("segment"), p.number("len"), len(p.data) - 24
        size = data
        if p.number("flags") & LAST:
            size = (length - data) // p.number("packet") if p.number("packet") else length
        if self.sizes.setdefault(segment, size) != size:
            self.splits[segment] = p.frame, self.segments[segment][:], set()
        self.sizes[segment] = size

    def frames(self, p):
        """Those that asked for a packet, or for some of its segment before it was split anew:
        each packet is shipped once without being asked for since then."""
        segment, packet = p.number("segment"), p.number("packet")
        since, before, shipped = self.splits.get(segment, (0, [], set()))
        first = packet not in shipped
        shipped.add(packet)
        found = [frame for n in (packet, None) for frame in self.packets[segment, n]
                 if frame >= since]
        return found or before * first


def check_again(packets):
    """Each packet that is shipped again was asked for, and the SNAK is shown."""
    senders, again = collections.defaultdict(Asked), 0
    for p in packets:
        stream = p.number("stream")
        if p.kind == DATA:
            asked = senders[stream, p.src]
            asked.ship(p)
            frames = asked.frames(p)
            if not p.number("flags") & AGAIN:
                continue
            again += 1
            expect(f"frame {p.frame}: was asked for", frames)
            expect(f"frame {p.frame}: asked for in {max(frames)}",
                   p.number("asked_in") == max(frames))
        elif p.kind == SNAK:
            for segment, missing, count in entries(p.data):
                for n in [0] if missing is not None else range(count):
                    for packet in [None] if missing is None else missing:
                        senders[stream, p.dst].ask((segment + n) % 2**32, packet, p.frame)
    splits = sum(len(asked.splits) for asked in senders.values())
    expect("something was sent again", again)
    print(f"# {again} packets sent again, {splits} segments split anew")


def check_snaks(packets, ours):
    """Each packet that a SNAK asks for comes again. ours: the end captured."""
    shipped = collections.defaultdict(list)     # (stream, sender, segment): (packet, shipment)
    answers = collections.defaultdict(list)     # frame of a SNAK: frames
    answered = 0
    for p in packets:
        if p.has("asked_in"):
            answers[p.number("asked_in")].append(str(p.frame))
        if p.kind == DATA:
            shipped[p.number("stream"), p.src, p.number("segment")].append(
                (p.number("packet"), p.number("shipment")))
    for p in packets:
        if p.kind != SNAK:
            continue
        for segment, missing, count in entries(p.data):
            whole = [(segment + n) % 2**32 for n in range(count)]
            for seg, n in [(seg, None) for seg in whole] if missing is None else [
                    (segment, n) for n in missing]:
                if p.src[0] in ours:
                    continue        # what is sent again may be lost before it is captured
                answered += 1
                expect(f"frame {p.frame}: segment {seg} packet {n} is shipped again", any(
                    n in (None, packet) and
                    0 < (shipment - p.number("highest") + p.number("unsettled")) % 2**32
                    < 2**31
                    for packet, shipment in shipped[p.number("stream"), p.dst, seg]))
        expect(f"frame {p.frame}: its answer", p.fields["answered_in"] == answers[p.frame][:1])
    expect("something was asked for at the captured end", answered)
    print(f"# {answered} asked for at the captured end")


def check_echoes(packets):
    """Round-trip times are of the packet that is echoed."""
    stamps, n = {}, 0
    for p in packets:
        stream = p.number("stream")
        if p.kind <= EOS:
            stamps[stream, p.src, p.number("stamp")] = p.frame
        elif p.kind in (PACK, SNAK) and p.number("flags") & ECHO:
            n += 1
            expect(f"frame {p.frame}: echoes a packet",
                   p.number("echo_of") == stamps.get((stream, p.dst, p.number("echo"))))
            expect(f"frame {p.frame}: a round-trip time", 0 <= float(p.text("rtt")) < 10)
    expect("there were round-trip times", n)


def check_counters(packets, ours, before, after):
    def counters(path):
        with open(path, encoding="ascii") as lines:
            return {name: int(value) for name, value in map(str.split, lines)}

    old, new = counters(before), counters(after)
    sent = [p for p in packets if p.src[0] in ours]
    kinds = collections.Counter(p.kind for p in sent)
    again = sum(p.kind == DATA and p.number("flags") & AGAIN > 0 for p in sent)
    out, all_of_both = (sum(not p.rides for p in some) for some in (sent, packets))
    for name, found in (("OutPkts", out), ("InPkts", all_of_both - out),
                        ("OutData", kinds[DATA] - again), ("RetransData", again),
                        ("OutPacks", kinds[PACK]), ("OutSnaks", kinds[SNAK]),
                        ("OutKeepalives", kinds[KEEPALIVE] + kinds[EOS]),
                        ("OutMessages", kinds[MESSAGE]),
                        ("OutResets", kinds[RESET])):
        want = new[name] - old[name]
        expect(f"{name}: {want}, not {found}", found == want)
    return new["ActiveOpens"] - old["ActiveOpens"]


def check_middle(args, packets):
    """A capture that began after set-up has the same connections. Both directions of one may
    begin with packets that have no number in common: only a later report joins them."""
    path = args.capture + ".middle"
    with open(path, "wb") as f:
        subprocess.run(tshark(args.dissector, args.capture, "-w", "-", "-Y",
                              "afsstp && !icmp && !(afsstp.type in {5,6,7})"),
                       stdout=f, stderr=subprocess.DEVNULL, check=True)
    later = [p for p in packets if p.kind not in (INIT, INIT_ACK, COOKIE)]
    got = [p.number("stream") for _, found in shown(args.dissector, path, "-2")
           for p in found]
    expect("the same packets without their set-up", len(later) == len(got))
    pairs = collections.defaultdict(set), collections.defaultdict(set)
    for p, number in zip(later, got):
        pairs[0][p.number("stream")].add(number)
        pairs[1][number].add(p.number("stream"))
    for stream, numbers in pairs[0].items():
        if len(numbers) > 1 or len(pairs[1][min(numbers)]) > 1:
            print(f"# connection {stream} became", *(
                f"{TYPES[p.kind]} to {p.dst[1]}: {number}," for p, number in zip(later, got)
                if p.number("stream") == stream))
    expect("the same connections without their set-up",
           all(len(other) == 1 for side in pairs for other in side.values()))


def check_transfers(args):
    ours = {socket.inet_pton(socket.AF_INET6 if ":" in a else socket.AF_INET, a)
            for a in args.ours}
    packets, trains, quoted = [], 0, 0
    for (number, found), (src, dst, start, payload) in zip(
            shown(args.dissector, args.capture, "-2"), read_capture(args.capture), strict=True):
        for p in found:
            expect(f"frame {number}: not malformed", not p.malformed)
            expect(f"frame {number}: nothing wrong", not any(
                p.has(name) for name in ("cut", "over_limit", "other_version")))
            p.kind = p.number("type")
        if payload is None:
            quoted += len(found)            # by ICMP
            continue
        at = start
        for p in found:
            expect(f"frame {number}: a packet at {at}", p.at == at)
            p.src, p.dst, p.data = src, dst, payload[at - start:at - start + p.size]
            at += p.size
            p.rides = bool(rides(p.data))
            check_numbers(p, p.data)
        trains += len(found) > 1 + any(p.rides for p in found)
        expect(f"frame {number}: {len(payload)} bytes", at - start == len(payload))
        packets += found
    expect("they are good", all(judge(args.parser, datagrams(p.data for p in packets))))
    kinds = collections.Counter(TYPES[p.kind] for p in packets)
    print(f"# {len(packets)} packets, {trains} trains, {quoted} quoted, {dict(kinds)}")
    if args.trains:
        expect("there are trains", trains)
    else:
        expect("no trains", not trains)
        expect("every type", len(kinds) == len(TYPES))
        expect("something that ICMP quotes", quoted)
        options = {int(o) for p in packets for o in p.fields["option"]}
        expect(f"every option, not only {options}", options == set(OPTIONS))
        for flag in "last again ack eor soft echo segment data stray".split():
            expect(f"the flag {flag}", any(
                {"1", "True"} & set(p.fields["flags." + flag]) for p in packets))
        expect("segments missing whole", any(p.has("snak.segments") for p in packets))
        check_middle(args, packets)
    check_streams(packets, check_counters(packets, ours, args.before, args.after))
    check_again(packets)
    check_snaks(packets, ours)
    check_echoes(packets)


# --- hostile bytes ----------------------------------------------------------------------

VALUES = [0, 1, 2, 0x7fff, 0x8000, 0xffff, 0x1000000, 0x1000001, 0x7fffffff, 0xffffffff]


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        kind = rng.randrange(6)
        at = rng.randrange(min(len(data), rng.choice([8, 64, 65536])))
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            size = rng.choice([2, 4])
            at -= at % size
            data[at:at + size] = (rng.choice(VALUES) % 256**size).to_bytes(size, "big")
        elif kind == 3:
            del data[max(at, 1):]
        elif kind == 4:
            data += rng.randbytes(rng.randrange(1, 64))
        elif len(data) > 4:
            data[4] = rng.randrange(11)
    return bytes(data)


def random_data(rng):
    """A segment cut into packets well, or nearly"""
    size, n = rng.choice([8, 9, 1000]), rng.choice([1, 2, 3, 65534, 65535, 65536])
    length = size * n - rng.randrange(size) + rng.choice([0, 0, 0, -1, 1, size])
    packet = rng.choice([0, n - 2, n - 1, n, rng.randrange(n)]) % 65536
    last = packet == n - 1 if rng.randrange(4) else rng.randrange(2)
    here = length - size * (n - 1) if last and rng.randrange(4) else size
    head = struct.pack(">IBBH4I", 1, DATA, last, packet, 1, 1, max(length, 0), 1)
    return head + bytes(max(here, 0))


def random_snak(rng):
    """Entries that ascend, or nearly"""
    body, segment, first, n = b"", rng.choice([0, 2**32 - 2]), 0, rng.randrange(1, 6)
    for _ in range(n):
        bits = rng.choice([0, 1, 31, 32, 33, 70, 1000])
        if not rng.randrange(3):
            segment, first = segment + rng.choice([1, 1, 1, 2, -1]), rng.choice([0, 40, 64000])
        body += struct.pack(">IHH", segment % 2**32, first if bits else rng.randrange(3), bits)
        body += bytes(rng.choice([0, 255, 254, 127, rng.randrange(256)])
                      for _ in range((bits + 31) // 32 * 4))
        first += bits - (not rng.randrange(8))
        first = min(max(first, 0), 65535)
        if not bits:
            segment, first = segment + rng.randrange(3), 0
    n += rng.choice([0] * 8 + [1, -1])
    return struct.pack(">IBBH11I", 1, SNAK, 0, n, *range(11)) + body


def random_ride(rng):
    """A PACK, or nearly, and what follows it"""
    flags, kind = rng.choice([RIDES] * 4 + [0, ECN]), rng.choice([PACK] * 8 + [SNAK])
    return struct.pack(">IBBH11I", rng.choice([1] * 8 + [2]), kind, flags, 0,
                       *range(11)) + bytes(4) + random_data(rng)


def random_init(rng):
    """Options of all kinds, well or nearly"""
    options = b""
    for kind in rng.sample(range(10), rng.randrange(6)) + [4] * (not rng.randrange(8)):
        size = [0, 16, 4, 4, 4, 1, 7, 15, 16, 3][kind] + rng.choice([0] * 9 + [1])
        value = bytes(rng.choice([0x61, 0x7e, 0xa1, 0xff]) if kind in (6, 7) else 0
                      for _ in range(size - 1)) + bytes([1 if size else 0])[:size]
        options += bytes([kind]) if not kind else bytes([kind, size]) + (
            value if kind not in (6, 7) else value.replace(b"\1", b"z"))
    size = len(options) + rng.choice([0] * 8 + [1, -1])
    kind = rng.choice([INIT, INIT_ACK])
    head = struct.pack(">IBBHI2H7I2BH", 1, kind, 0, max(size, 0), 2, 3, 4, 5, 6, 7,
                       2**24 + rng.choice([0, 0, 0, 1]), 9, 10, 11, 1, 1, 0)
    return (head + options).ljust(256 if kind == INIT else 0, b"\0")


def hostile(rng, args):
    """Payloads made of what was captured, of the corpus, and of nothing"""
    sources = collections.defaultdict(list)
    for path in args.captures:
        for _, _, _, payload in read_capture(path):
            if payload:
                key = payload[4], len(payload) > 1500
                sources[key] += [payload] if len(sources[key]) < 50 else []
    with open(args.corpus, encoding="ascii") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    corpus = [bytes.fromhex(p.replace('"', "")) for p in text.split(",") if '"' in p]
    sources["corpus"] = corpus
    yield from corpus
    for kind in range(len(TYPES)):      # too short, each
        yield from [struct.pack(">IB", 1, kind) + bytes(10)] * 10
    keys = sorted(sources, key=str)
    for _ in range(args.number):
        yield mutate(rng, rng.choice(sources[rng.choice(keys)]))
    for _ in range(args.number // 4):
        data = rng.randbytes(rng.choice([1, 7, 8, 24, 60, 300, 1400]))
        yield data[:4] + bytes([rng.randrange(12)]) + data[5:] if rng.randrange(2) else data
    for _ in range(args.number // 4):
        for make in random_data, random_snak, random_ride, random_init:
            yield make(rng)
    yield bytes(65000)
    # A SNAK of all entries and one of all bits that there is room for
    head = struct.pack(">IBBH11I", 1, SNAK, 0, 8000, *[0] * 11)
    yield head + b"".join(struct.pack(">IHH", n, 1, 0) for n in range(8000))
    head = struct.pack(">IBBH11I", 1, SNAK, 0, 7, *[0] * 11)
    yield head + b"".join(struct.pack(">IHH", n, 0, 65535) + b"\x55" * 8192 for n in range(7))


def check_hostile(args):
    print(f"# seed {args.seed}")
    rng = random.Random(args.seed)
    payloads = [p[:65000] for p in hostile(rng, args)]
    kept = [len(p) if rng.randrange(5) else rng.randrange(min(len(p), 200)) for p in payloads]
    up = [rng.randrange(4) > 0 for _ in payloads]
    write_capture(args.capture, zip(payloads, kept, up))
    verdicts = judge(args.parser, payloads)
    pieces, tally = [], collections.Counter()
    for number, found in shown(args.dissector, args.capture, *args.option):
        payload, n = payloads[number - 1], kept[number - 1]
        if n < len(payload):
            tally["cut"] += 1
            expect(f"frame {number}: says that it was cut", not n or all(
                p.malformed or p.has("cut") for p in found))
            continue
        expect(f"frame {number}: shown whole", sum(p.size for p in found) == len(payload))
        if len(found) > 1:
            parts = list(datagrams(payload[p.at - found[0].at:][:p.size] for p in found))
            tally["train" if len(parts) > 1 else "ride"] += 1
            expect(f"frame {number}: a train of good packets", not any(
                p.malformed for p in found))
            pieces += parts
            continue
        good = verdicts[number - 1]
        kind = TYPES[payload[4]] if len(payload) > 7 and payload[4] < len(TYPES) else "other"
        tally[kind, good] += 1
        expect(f"frame {number}: {'good' if good else 'malformed'}: {payload[:80].hex()}",
               found[0].malformed != good)
        if good and kind == "SNAK":
            check_missing(found[0], payload)
    expect("trains of good packets", all(judge(args.parser, pieces)))
    print(f"# {dict(tally)}")
    expect("there were some of each", tally["cut"] and tally["ride"] and all(
        tally[kind, good] for kind in TYPES for good in (True, False)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dissector", required=True)
    parser.add_argument("--parser", required=True, help="the program wire_check")
    commands = parser.add_subparsers(required=True)
    transfers = commands.add_parser("transfers")
    transfers.set_defaults(run=check_transfers)
    transfers.add_argument("--trains", action="store_true", help="packets came joined")
    transfers.add_argument("--ours", nargs="+", help="addresses of the captured end")
    for name in "capture", "before", "after":
        transfers.add_argument(name)
    bad = commands.add_parser("hostile")
    bad.set_defaults(run=check_hostile)
    bad.add_argument("--seed", type=int, required=True)
    bad.add_argument("--number", type=int, default=1000, help="of mutated packets")
    bad.add_argument("--corpus", required=True)
    bad.add_argument("--option", action="append", default=[], help="of tshark")
    bad.add_argument("capture", help="to be written")
    bad.add_argument("captures", nargs="+", help="to be mutated")
    args = parser.parse_args()
    try:
        args.run(args)
    except Wrong as wrong:
        print(f"not so: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
