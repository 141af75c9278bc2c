#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write net/sstp/ctrl_highspeed_table.h: the response function of HighSpeed TCP (RFC 3649).

For each whole a(w): the smallest window with that increase, and b(w) there, of section 5:

    b(w) = (High_Decrease - 0.5) (log w - log W) / (log W_1 - log W) + 0.5
    a(w) = w^2 p(w) 2 b(w) / (2 - b(w)),  p(w) = 0.078 / w^1.2

with Low_Window W = 38, High_Window W_1 = 83000 and High_Decrease 0.1.
"""
import argparse
import math

LOW, HIGH, DECREASE = 38, 83000, 0.1


def b(w):
    return (DECREASE - 0.5) * math.log(w / LOW) / math.log(HIGH / LOW) + 0.5


def a(w):
    return w * w * 0.078 / w ** 1.2 * 2 * b(w) / (2 - b(w))


def rows():
    """Yield (w, b in 1/256) for a = 1, 2, ... up to High_Window."""
    yield LOW, 128
    w, n = LOW, 2
    while w <= HIGH:
        if a(w) >= n:
            yield w, round(b(w) * 256)
            n += 1
        w += 1


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print("/* SPDX-License-Identifier: GPL-2.0 */")
    print("/* Written by tests/highspeed_table.py: { w, 256 b(w) } for a(w) = 1, 2, ... */")
    line = ""
    for w, decrease in rows():
        cell = f"{{ {w}, {decrease} }},"
        if len(line) + len(cell) > 90:
            print(line)
            line = ""
        line += (" " if line else "") + cell
    print(line)
