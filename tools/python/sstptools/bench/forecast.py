# SPDX-License-Identifier: GPL-2.0
"""Compares forecasts of the rate at which a receiving program reads: the last sample, a moving
average, autoregressive models, and what net/sstp/ar.c chooses of them, with its arithmetic.

The error is the root of the mean squared error, divided by the mean. Series: a program that has
20% of each 100 ms (cpu.max); one that shares a CPU with two burners in turns of 4 ms; and the
same with burners that come and go at random, every 2 s on average. A TRACE is what a real
program read: lines "MICROSECONDS BYTES", the time of a read and how much it took; # begins a
comment.
"""

import argparse
import json
import random
import sys
import textwrap
from operator import mul

from sstptools.markdown import markdown_table

# As in ar.h and ar.c
SHIFT = 14
BITS = 18
DEV_MAX = 1 << 24
ORDERS = (2, 4, 8)
WINDOWS = (32, 64)
LEAST = 4
DECAY = 32
STEPS = 16
LAST, MEAN = "last", "average"
FULL_RATE = 75000000            # bytes/s of the program with the whole CPU: 600 Mbit/s
WARM_UP = 80                    # samples whose errors do not count
# Series, interval in ms, steps ahead
CASES = (("periodic", 10, 1), ("periodic", 10, 4), ("periodic", 25, 1), ("turns", 10, 1),
         ("turns", 10, 4), ("turns", 25, 1), ("random", 10, 1), ("random", 25, 1),
         ("random", 25, 4), ("random", 100, 1))


def parse_args():
    parser = argparse.ArgumentParser(
        prog="tools/bench/forecast", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("trace", nargs="*", metavar="TRACE", help="file with what a program read")
    add("-d", "--delta", type=int, action="append", metavar="MS",
        help="interval of samples of each TRACE (10, 25, 100)")
    add("-a", "--ahead", type=int, action="append", metavar="STEPS",
        help=f"samples ahead, up to {STEPS}, for each TRACE (1, 4)")
    add("-s", "--seconds", type=int, default=60, help="length of each series (60)")
    add("-S", "--seed", type=int, default=1, metavar="N", help="of the random burners (1)")
    add("-j", "--json", metavar="FILE", help="write the numbers to FILE")
    add("--vectors", action="store_true",
        help="write net/sstp/tests/ar_vectors.h to standard output: forecasts in floating point")
    args = parser.parse_args()
    if not all(1 <= steps <= STEPS for steps in args.ahead or ()):
        parser.error(f"--ahead: 1 to {STEPS}")
    if not all(ms >= 1 for ms in args.delta or ()) or args.seconds < 1:
        parser.error("times must be positive")
    return args


# --- Burg's method in floating point -----------------------------------------------

def fit(samples, order):
    """Return mean, deviations and phi (7) of an autoregressive model in floating point."""
    mean = sum(samples) / len(samples)
    dev = [x - mean for x in samples]
    forward, backward, phi = dev, dev, []
    for _ in range(order):
        ahead, behind = forward[1:], backward[:-1]
        power = sum(map(mul, ahead, ahead)) + sum(map(mul, behind, behind))
        k = 2 * sum(map(mul, ahead, behind)) / power if power > 1e-6 else 0.0
        phi = [p - k * q for p, q in zip(phi, reversed(phi))] + [k]
        forward = [f - k * b for f, b in zip(ahead, behind)]
        backward = [b - k * f for f, b in zip(ahead, behind)]
    return mean, dev, phi


def forecast(samples, order, steps):
    """Return what an autoregressive model forecasts, in floating point."""
    mean, dev, phi = fit(samples, order)
    dev = dev[-order:]
    for _ in range(steps):
        dev.append(sum(map(mul, phi, reversed(dev[-order:]))))
    return min(max(mean + dev[-1], 0), 2 * max(samples))


# --- the same as net/sstp/ar.c has it ----------------------------------------------

def rounded(value, bits):
    """sstp_ar_round()"""
    return (value + (1 << bits - 1)) >> bits


def scaled(value, shift):
    """sstp_ar_scale()"""
    return rounded(value, shift) if shift > 0 else value << -shift


class Fit:
    """struct sstp_ar_fit"""

    def __init__(self, samples):
        self.mean = sum(samples) // len(samples)
        self.most = max(samples)
        top = max(self.most - self.mean, self.mean - min(samples))
        self.shift = top.bit_length() - BITS
        self.dev = [scaled(x - self.mean, self.shift) for x in samples]
        self.forward = self.backward = self.dev
        self.phi = []

    def increase(self):
        """sstp_ar_raise()"""
        ahead, behind = self.forward[1:], self.backward[:-1]
        power = sum(map(mul, ahead, ahead)) + sum(map(mul, behind, behind))
        both = sum(map(mul, ahead, behind)) << SHIFT + 1
        k = (abs(both) // power if both > 0 else -(abs(both) // power)) if power else 0
        self.phi = [p - rounded(k * q, SHIFT)
                    for p, q in zip(self.phi, reversed(self.phi))] + [k]
        self.forward = [f - rounded(k * b, SHIFT) for f, b in zip(ahead, behind)]
        self.backward = [b - rounded(k * f, SHIFT) for f, b in zip(ahead, behind)]

    def ahead(self, steps):
        """sstp_ar_ahead()"""
        order = len(self.phi)
        dev = self.dev[-order:]
        for _ in range(steps):
            value = rounded(sum(map(mul, self.phi, reversed(dev[-order:]))), SHIFT)
            dev.append(max(min(value, DEV_MAX), -DEV_MAX))
        return min(max(self.mean + scaled(dev[-1], -self.shift), 0), 2 * self.most)


def models(samples, steps):
    """Return the forecasts of all models by name: sstp_ar_models()"""
    found = {}
    for window in WINDOWS:
        part = samples[-window:]
        model = Fit(part)
        for order in ORDERS:
            if len(part) < LEAST * order:
                found[f"AR({order}), {window}"] = samples[-1]
                continue
            while len(model.phi) < order:
                model.increase()
            found[f"AR({order}), {window}"] = model.ahead(steps)
    return found


class Chooser:
    """struct sstp_ar"""

    def __init__(self):
        self.error, self.ahead, self.samples = {}, {}, []
        self.average = None

    def add(self, sample, steps):
        """Return all forecasts, and the name of the chosen one: sstp_ar_add()"""
        for name, value in self.ahead.pop(len(self.samples), {}).items():
            was = self.error.get(name, 0)
            self.error[name] = was + (value - sample) ** 2 // DECAY - was // DECAY
        self.samples.append(sample)
        self.average = 4 * sample if self.average is None else \
            self.average - self.average // 4 + sample
        found = {LAST: sample, MEAN: self.average // 4,
                 **models(self.samples[-max(WINDOWS):], steps)}
        self.ahead[len(self.samples) - 1 + steps] = found
        return found, self.choose(found)

    def choose(self, found):
        """sstp_ar_choose()"""
        error = {name: self.error.get(name, 0) for name in found}
        best = MEAN if error[MEAN] < error[LAST] else LAST
        least = error[best] // 4 * 3
        for name in found:
            if name not in (LAST, MEAN) and error[name] < least:
                best, least = name, error[name]
        return best


# --- series --------------------------------------------------------------------

def periodic(_rnd, seconds):
    """Bytes that the program reads in each ms: 20% of each 100 ms"""
    return [FULL_RATE // 1000 if ms % 100 < 20 else 0 for ms in range(seconds * 1000)]


def turns(_rnd, seconds):
    """The same with two burners, in turns of 4 ms"""
    return [FULL_RATE // 1000 if ms // 4 % 3 == 0 else 0 for ms in range(seconds * 1000)]


def random_burners(rnd, seconds):
    """The same with two burners that come and go"""
    change = [rnd.expovariate(1 / 2000) for _ in range(2)]
    burns = [rnd.random() < 0.5 for _ in range(2)]
    read = []
    while len(read) < seconds * 1000:
        for i in range(2):
            while change[i] <= len(read):
                burns[i] = not burns[i]
                change[i] += rnd.expovariate(1 / 2000)
        read += [FULL_RATE // 1000] * 4 + [0] * (4 * sum(burns))
    return read[:seconds * 1000]


SERIES = {"periodic": periodic, "turns": turns, "random": random_burners}


def sample(read, delta):
    """Rates in kbit/s of intervals of @delta ms from the bytes of each ms"""
    return [sum(read[i:i + delta]) * 8 // delta for i in range(0, len(read) - delta + 1, delta)]


def load(path):
    """Bytes that a recorded program read in each ms"""
    read = []
    with open(path, encoding="ascii") as f:
        for number, line in enumerate(f, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            try:
                at, count = map(int, words)
            except ValueError:
                sys.exit(f"{path}:{number}: not MICROSECONDS BYTES")
            at //= 1000
            if at < len(read) - 1 or at > 86400000 or count < 0:
                sys.exit(f"{path}:{number}: times must ascend, up to a day, and bytes be positive")
            read += [0] * (at + 1 - len(read))
            read[at] += count
    return read


# --- comparison -----------------------------------------------------------------

def compare(rates, steps):
    """Return the errors of all forecasts of a series, relative to its mean."""
    chooser, due, total, count = Chooser(), {}, {}, 0
    for number, rate in enumerate(rates):
        if number in due and number >= WARM_UP:
            count += 1
            for name, value in due[number].items():
                total[name] = total.get(name, 0) + (value - rate) ** 2
        found, best = chooser.add(rate, steps)
        floating = forecast(rates[number + 1 - WINDOWS[-1]:number + 1], 8, steps) \
            if number + 1 >= WINDOWS[-1] else rate
        due[number + steps] = {**found, "floating": floating, "chosen": found[best]}
        due.pop(number, None)
    mean = sum(rates[WARM_UP:]) / max(len(rates) - WARM_UP, 1)
    if not count or not mean:
        sys.exit(f"a series needs {WARM_UP + steps + 1} samples, not all 0")
    return {name: (value / count) ** 0.5 / mean for name, value in total.items()}


def measure(args):
    rows = []
    rnd = random.Random(args.seed)
    series = {name: make(rnd, args.seconds) for name, make in SERIES.items()}
    cases = CASES
    if args.trace:
        series = {path: load(path) for path in args.trace}
        cases = [(path, delta, steps) for path in args.trace
                 for delta in args.delta or (10, 25, 100) for steps in args.ahead or (1, 4)]
    for name, delta, steps in cases:
        rows.append({"series": name, "delta_ms": delta, "steps": steps,
                     "error": compare(sample(series[name], delta), steps)})
    return rows


def table(rows):
    columns = [LAST, MEAN, *(f"AR({p}), {WINDOWS[-1]}" for p in ORDERS), "floating", "chosen"]
    titles = [*columns[:5], "AR(8), floating", "chosen"]
    return markdown_table([
        ["series", "ms", "steps", *titles, "of simple"],
        *([row["series"], str(row["delta_ms"]), str(row["steps"]),
           *(f"{row['error'][name]:.3f}" for name in columns), ratio(row["error"])]
          for row in rows)])


def ratio(error):
    """The chosen forecast's error in relation to the better of the simple ones"""
    best = min(error[LAST], error[MEAN])
    return f"{error['chosen'] / best:.2f}" if best > 1e-9 else "-"


# --- vectors of the KUnit suite -----------------------------------------------------

def vector_series():
    """Yield series of samples: periodic, in turns, random, constant, with a trend, and tiny."""
    rnd = random.Random(7)
    yield sample(periodic(rnd, 2), 10)
    yield sample(turns(rnd, 2), 10)
    yield sample(random_burners(rnd, 4), 25)
    yield [rnd.randrange(400000, 600000) for _ in range(64)]
    yield [rnd.randrange(0, 3) for _ in range(64)]
    yield [rnd.choice((1 << 30, 0)) for _ in range(64)]
    yield [600000] * 64
    yield [10000 * i + rnd.randrange(20000) for i in range(64)]
    value = [0.0]
    for _ in range(63):
        value.append(0.9 * value[-1] + rnd.gauss(0, 30000))
    yield [int(500000 + x) for x in value]


def vectors():
    print("/* SPDX-License-Identifier: GPL-2.0 */\n"
          "/* Written by tools/bench/forecast --vectors */\n")
    print("/* Forecasts of Burg's method in floating point. @order: of the model; @ahead: the sample\n"
          " * that follows 1, 4 and 8 after the last of @count; @mean: of these\n */")
    print("static const struct {\n\tu32 order;\n\tu32 count;\n\tu32 mean;\n\tu32 ahead[3];\n"
          "\tu32 sample[64];\n} ar_vectors[] = {")
    for series in vector_series():
        for order, count in ((2, 32), (4, 32), (8, 32), (2, 64), (8, 64)):
            part = series[:count]
            ahead = [round(forecast(part, order, steps)) for steps in (1, 4, 8)]
            print(f"\t{{ {order}, {count}, {round(sum(part) / count)}, "
                  f"{{ {', '.join(map(str, ahead))} }}, {{")
            print(textwrap.fill(", ".join(map(str, part)) + " } },", 84, expand_tabs=False,
                                initial_indent="\t\t", subsequent_indent="\t\t"))
    print("};")


def main():
    args = parse_args()
    if args.vectors:
        vectors()
        return
    rows = measure(args)
    print(table(rows), end="")
    if args.json:
        with open(args.json, "w", encoding="ascii") as f:
            json.dump(rows, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
