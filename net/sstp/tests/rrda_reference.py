#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Writes the vectors that rrda_test.c compares with: equations 1, 2 and 4 of Liu et al. in
exact (rational) arithmetic, over thousands of random epochs.

    rrda_reference.py > rrda_vectors.h
"""

import argparse
import sys
from fractions import Fraction

ONE = 1 << 16
EPOCHS = 1000       # in a row of each set
# k, beta, omega (thousandths), floor, ceiling; and rates are below two to the power of this
SETS = [
    ((3, 16, 500, 65536, 1 << 30), 22),         # the paper's
    ((1, 16, 500, 65536, 1 << 30), 20),
    ((3, 16, 1000, 65536, 1 << 30), 21),        # no EMA
    ((16, 4, 63, 0, 1 << 22), 18),
    ((2, 1024, 1, 4096, (1 << 32) - 1), 24),
    ((8, 1, 999, 1000, 1000000), 16),
    ((4, 7, 333, 1, 1 << 28), 24),
    ((2, 16, 500, 0, 1 << 30), 31),
]


class Random:
    """The sequence of rrda_test.c: a linear congruential generator."""
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n


class Epochs:
    """What comes and goes in each epoch: runs of surplus or want, quiet, and jumps."""
    def __init__(self, seed, bits):
        self.rnd, self.bits = Random(seed), bits
        self.left = 0
        self.rate = self.lean = 0

    def next(self):
        rnd = self.rnd
        if not self.left:
            self.left = 1 + rnd.below(30)
            self.rate = (1 << rnd.below(self.bits)) - 1
            self.lean = rnd.below(5)
        self.left -= 1
        came = self.rate + rnd.below(self.rate // 8 + 1)
        took = self.rate + rnd.below(self.rate // 8 + 1)
        if self.lean == 0:
            took -= took // 4
        elif self.lean == 1:
            came -= came // 4
        elif self.lean == 2:
            came = took = 0
        elif self.lean == 3 and rnd.below(8) == 0:
            came *= 8
        return came, took, rnd.below(ONE + 1)


class Exact:
    """A buffer, with no rounding."""
    def __init__(self, size, params):
        self.k, self.beta, self.omega, self.floor, self.ceiling = params
        self.size, self.surplus = Fraction(size), Fraction(0)
        self.signs = []

    def epoch(self, came, took, used):
        omega = Fraction(self.omega, 1000)
        self.surplus = omega * (came - took) + (1 - omega) * self.surplus   # (1)
        # Less than a byte an epoch is no surplus.
        sign = (self.surplus >= 1) - (self.surplus <= -1)
        self.signs = (self.signs + [sign])[-self.k:]
        trend = sign if self.signs == [sign] * self.k else 0                # (2)
        alpha = Fraction(used, ONE)
        step = self.beta * abs(self.surplus)                                # (4)
        if trend > 0:
            self.size += (1 - alpha) * step
        elif trend < 0:
            self.size -= alpha * step
        self.size = min(max(self.size, self.floor), self.ceiling)
        return self.size


def doubtful(exact):
    """Would a rounded surplus have another sign?"""
    return abs(abs(exact.surplus) - 1) < Fraction(1, 4096)


def row(seed, params, bits):
    """Sizes after each epoch, rounded down; None if a sign is too close to call."""
    exact, epochs, sizes = Exact(params[4] // 2, params), Epochs(seed, bits), []
    for _ in range(EPOCHS):
        sizes.append(int(exact.epoch(*epochs.next())))
        if doubtful(exact):
            return None
    return sizes


def main():
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    out = sys.stdout
    out.write("/* SPDX-License-Identifier: GPL-2.0 */\n"
              "/* Written by rrda_reference.py: sizes in bytes after each epoch */\n\n"
              f"#define RRDA_EPOCHS\t{EPOCHS}\n\n"
              "static const struct {\n\tu64 seed;\n\tu32 bits;\n\tstruct sstp_rrda_params params;\n"
              "\tu32 size[RRDA_EPOCHS];\n} rrda_vectors[] = {\n")
    seed = 1
    for params, bits in SETS:
        while (sizes := row(seed, params, bits)) is None:
            seed += 1
        k, beta, omega, floor, ceiling = params
        out.write(f"\t{{ {seed}, {bits}, {{ {k}, {beta}, {omega}, {floor}, {ceiling}u }}, {{\n")
        for i in range(0, EPOCHS, 6):
            line = "".join(f" {s}u," for s in sizes[i:i + 6])
            out.write(f"\t\t{line[1:]}\n")
        out.write("\t} },\n")
        seed += 1
    out.write("};\n")


if __name__ == "__main__":
    main()
