#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the vectors that udt_test.c compares with: the equations of UDT's controller in exact
(rational) arithmetic, and its filter over random values.

    udt_reference.py > udt_vectors.h
"""
import argparse
import random
import textwrap
from fractions import Fraction
from math import ceil, floor

SYN = Fraction(1, 100)      # s
ONE = 1 << 16               # fixed point of rates


def decade(x):
    """10^ceil(log10(x)), x >= 1"""
    power = 1
    while power < x:
        power *= 10
    return power


def increase(spare, mss):
    """inc, packets in a SYN, with B = spare packets/s"""
    if spare <= 0:
        return Fraction(1, 100)
    return max(decade(8 * mss * spare) * Fraction(15, 10 ** 7) / mss, Fraction(1, 100))


def steps():
    """Yield (B, MSS, growth of the rate in a SYN in packets/s, fixed point)."""
    spares = [0, 1, 7, 8, 9, 83, 84, 833, 834, 8333, 8334, 83333, 83334, 833333, 833334,
              8333333, 8333334, 83333333, 100000000]
    for mss in 64, 576, 1500, 9000, 65536:
        for spare in spares:
            yield spare, mss, floor(increase(spare, mss) / SYN * ONE)
    # On and beside the powers of ten
    for power in range(3, 12):
        for spare in 10 ** power // 8000 - 1, 10 ** power // 8000, 10 ** power // 8000 + 1:
            if 0 < spare <= 100000000:
                yield spare, 1000, floor(increase(spare, 1000) / SYN * ONE)


def growth(period, last, capacity, mss, count):
    """P (s) after count SYN without losses"""
    for _ in range(count):
        spare = floor(capacity - 1 / period)
        if period > last:
            spare = min(spare, capacity // 9)
        period = period * SYN / (period * increase(spare, mss) + SYN)
        # Keep the fractions short; far below the precision of the controller.
        period = period.limit_denominator(10 ** 15)
    return period


def median_filter(values, least):
    """Packets/s, as UDT computes it; 0 if there are not more than least values in range"""
    median = sorted(values)[len(values) // 2]
    kept = [v for v in values if median / 8 < v < median * 8]
    if len(kept) <= least:
        return 0
    return ceil(Fraction(10 ** 9 * len(kept), sum(kept)))


def filters():
    """Yield (values, packets/s with half of them required, packets/s)."""
    for values in ([100] * 8 + [100352] * 8, [100] * 7 + [100352] * 9, [100352] * 7 + [100] * 9,
                   [10] * 5 + [1000] * 6 + [100352] * 5, [1, 8, 64, 512, 4096], [1, 2047 << 21]):
        yield values, median_filter(values, len(values) // 2), median_filter(values, 0)
    rnd = random.Random(16)
    for count in list(range(1, 17)) + [16] * 24:
        scale = rnd.choice([120, 1200, 12000, 120000, 10 ** 7])
        spread = rnd.choice([1, 2, 20, 300])
        # A mantissa of 11 bits holds these exactly.
        values = []
        for _ in range(count):
            v = max(1, round(scale * spread ** rnd.uniform(-1, 1)))
            shift = max(v.bit_length() - 11, 0)
            values.append(v >> shift << shift)
        yield values, median_filter(values, count // 2), median_filter(values, 0)


def table(name, struct, rows):
    print(f"static const struct {{\n{struct}}} {name}[] = {{")
    line = "\t"
    for row in rows:
        cell = f"{{ {row} }},"
        if len(line) + len(cell) > 92:
            print(line.rstrip())
            line = "\t"
        line += cell + " "
    print(line.rstrip() + "\n};")


def main():
    print("/* SPDX-License-Identifier: GPL-2.0 */\n/* Written by udt_reference.py */\n")
    print("/* B, MSS, and the growth of the rate in a SYN */")
    table("udt_steps", "\tu32 spare;\n\tu32 size;\n\tu64 step;\n",
          (f"{b}, {mss}, {step}" for b, mss, step in steps()))
    print("\n/* A, RTT in us, w */")
    table("udt_windows", "\tu32 arrival;\n\tu32 srtt;\n\tu32 window;\n",
          (f"{a}, {rtt}, {min(floor(a * (Fraction(rtt, 10 ** 6) + SYN)) + 16, 1 << 24)}"
           for a in (1, 50, 83, 8333, 83333, 833333, 100000000)
           for rtt in (1, 100, 40000, 1000000, 60000000)))
    print("\n/* Rate at first and before the last decrease, L, MSS, SYN; rate then, packets/s */")
    rows = []
    for rate, last, capacity, mss, count in (
            (1000, 10 ** 8, 8333, 1500, 1), (1000, 10 ** 8, 8333, 1500, 100),
            (1000, 500, 8333, 1500, 100), (7400, 8333, 8333, 1500, 300),
            (7400, 7000, 8333, 1500, 300), (9000, 8000, 8333, 1500, 500),
            (10000, 80000, 83333, 1500, 1000), (74000, 83333, 83333, 1500, 2000),
            (500000, 833333, 833333, 1500, 500), (10, 20, 83, 576, 1000),
            (100000, 50, 13888, 9000, 100), (3000000, 9000000, 90000000, 1400, 200)):
        then = 1 / growth(Fraction(1, rate), Fraction(1, last), capacity, mss, count)
        rows.append(f"{rate}, {last}, {capacity}, {mss}, {count}, {round(then * 1000)}ULL")
    table("udt_growths", "\tu32 rate;\n\tu32 last;\n\tu32 capacity;\n\tu32 size;\n"
          "\tu32 syns;\n\tu64 milli;\t/* thousandths */\n", rows)
    print("\n/* Values, ns; packets/s of more than half of them, and of any number */")
    print("static const struct {\n\tu32 count;\n\tu32 half;\n\tu32 any;\n\tu32 value[16];\n"
          "} udt_filters[] = {")
    for values, half, some in filters():
        print(f"\t{{ {len(values)}, {half}, {some}, {{")
        print(textwrap.fill(", ".join(map(str, values)) + " } },", 84, expand_tabs=False,
                            initial_indent="\t\t", subsequent_indent="\t\t"))
    print("};")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
