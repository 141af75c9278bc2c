#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the vectors that gtp_test.c compares with: max-min fair shares of up to 4096 random wants,
by the formula of GTP with sorted wants, in exact arithmetic.

    gtp_reference.py > gtp_vectors.h
"""
import argparse
from fractions import Fraction

ALL = 1000000000    # share where all wants are satisfied


class Random:
    """The sequence of gtp_test.c: a linear congruential generator."""
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % n


def want(rnd, bits):
    """Between 1 and 2^bits, any order of magnitude as likely; now and then 0 or more than any"""
    kind = rnd.below(16)
    if kind < 2:
        return ALL if kind else 0
    return (1 << rnd.below(bits)) + rnd.below(1 << rnd.below(bits))


def fill(wants, capacity):
    """x_i = min(r_i, (C - sum of x_j) / (number of those left)), r ascending"""
    shares, rest = [], Fraction(capacity)
    for i, r in enumerate(sorted(wants)):
        x = min(Fraction(r), rest / (len(wants) - i))
        shares.append(x)
        rest -= x
    satisfied = shares[-1] == max(wants)
    return ALL if satisfied else int(shares[-1]), sum(int(x) for x in shares)


def main():
    print("/* SPDX-License-Identifier: GPL-2.0 */\n"
          "/* Written by gtp_reference.py: wants, C; share of those not satisfied, sum of shares */\n")
    print("static const struct {\n\tu64 seed;\n\tu32 count;\n\tu32 bits;\n\tu32 capacity;\n"
          "\tu32 level;\n\tu64 sum;\n} gtp_fills[] = {")
    seed = 0
    for count in 1, 2, 3, 5, 16, 64, 100, 1000, 4096:
        for bits, capacity in (10, 1000), (20, 100000), (20, 10000000), (29, 1000000000):
            seed += 1
            rnd = Random(seed)
            level, total = fill([want(rnd, bits) for _ in range(count)], capacity)
            print(f"\t{{ {seed}, {count}, {bits}, {capacity}, {level}, {total} }},")
    print("};")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
