# SPDX-License-Identifier: GPL-2.0
"""Reads an experiment's file, and derives its cells from it."""

import ast
import itertools
import operator
import os
import random
import tomllib

from sstptools.lab import analysis
from sstptools.lab.cell import has_module
from sstptools.tree import TREE

DIRECTORY = os.path.join(TREE, "tools/lab/experiments")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.USub: operator.neg}
NEEDED = ("title", "path", "sweep", "flow")     # or "title" and "experiments"
PATH_NEEDED = ("rate", "rtt", "loss")
# Options of selftests' cross for each kind of cross traffic, besides rate, start and stop
CROSS = {"udp": ("count", "on", "off", "shape", "packet"),
         "flows": ("least", "most", "shape", "controller"), "long": ("count", "controller")}
# Pictures that tools/lab/plot can draw: "settings" fits any experiment, the others need the
# settings and flows of the experiments in the tree that name them
DRAWN = ("settings", "loss", "start", "window", "buffer", "sharing", "readers", "controllers",
         "shares", "bars", "sobas", "traces")
FUNCTIONS = {"int": int, "max": max, "min": min}


def value(expression, names):
    """Return the value of an expression of [let]: arithmetic and FUNCTIONS of numbers and
    @names. Expressions are parsed, never run, as the file may come from anybody."""
    def of(node):
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](of(left), of(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return OPERATORS[type(op)](of(operand))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(of, args))
        raise ValueError(f"in \"{expression}\": {ast.unparse(node)} is not known")
    return of(ast.parse(expression, mode="eval").body)


def experiments():
    """Return the names of the experiments in the tree."""
    return sorted(name[:-5] for name in os.listdir(DIRECTORY) if name.endswith(".toml"))


def file_of(word):
    """Return the path of an experiment in the tree, or of a file FILE.toml anywhere."""
    return word if word.endswith(".toml") else os.path.join(DIRECTORY, word + ".toml")


def name_of(word):
    """Return the name of the experiment's results: its file's, without directory and suffix."""
    return os.path.splitext(os.path.basename(file_of(word)))[0]


def members(word):
    """Return the words of the experiments that @word stands for: itself, unless its file lists
    others, or cannot be read."""
    try:
        with open(file_of(word), "rb") as f:
            return tomllib.load(f).get("experiments", [word])
    except (OSError, ValueError):
        return [word]


def load(word):
    """Read an experiment. OSError if there is no such file, ValueError if it is incomplete."""
    with open(file_of(word), "rb") as f:
        experiment = tomllib.load(f)
    for key in NEEDED if "experiments" not in experiment else ("title",):
        if key not in experiment:
            raise ValueError(f"it has no {key}")
    if experiment.setdefault("draw", "settings") not in DRAWN:
        raise ValueError(f"draw is one of {', '.join(DRAWN)}")
    if experiment.get("trace") and not experiment.get("sample"):
        raise ValueError("trace needs sample")
    if experiment.get("trace") and experiment.get("together"):
        raise ValueError("trace is of one flow, not of all together")
    if experiment["draw"] == "traces" and not experiment.get("trace"):
        raise ValueError("it draws traces, but has no trace")
    if "experiments" in experiment:
        return experiment
    experiment.setdefault("quick", experiment["sweep"])
    for sweep in experiment["sweep"], experiment["quick"]:
        lacks = [key for key in PATH_NEEDED if key not in {**experiment["path"], **sweep}]
        if lacks:
            raise ValueError(f"its path has no {', '.join(lacks)}")
        cases = experiment.get("case", {}).values() if "case" in sweep else [{}]
        for case in cases:
            given = {**experiment["path"], **sweep, **case}
            if ("queue" in given) == ("queue_ms" in given or "queue_bdp" in given):
                raise ValueError("its path has a queue or queue_ms, queue_bdp")
    return experiment


def settings(experiment, values):
    """Return the path with @values of the sweep, and with these the settings that [let] derives."""
    path = {"loss_back": None, "rate_back": None, "wire": None, "outage_at": 0, "outage_for": 0,
            "rtt_at": 0, "rtt_later": 0, "reorder": "", "bursts": "", "slot": 0, "bucket": ""}
    path.update(experiment["path"])
    path.update(values)
    path.update(experiment["case"][values["case"]] if "case" in values else {})
    for name, other in (("loss_back", "loss"), ("wire", "rate"), ("rate_back", "wire")):
        if path[name] is None:
            path[name] = path[other]
    names = dict(path, FRAME=analysis.FRAME, PAYLOAD=analysis.PAYLOAD,
                 line_rate=analysis.line_rate(path))
    for name, expression in experiment.get("let", {}).items():
        names[name] = value(expression, names)
    return path, names


def flows_of(experiment, path, names, seconds):
    """Return the flows over @path. With lists, "start" and "rtt" make several flows of one."""
    flows = []
    for flow in experiment["flow"]:
        if flow["name"] not in str(path.get("flows", flow["name"])):
            continue
        starts, rtts = (v if isinstance(v, list) else [v]
                        for v in (flow.get("start", 0), flow.get("rtt", 0)))
        for start, rtt in itertools.product(starts, rtts):
            length = (["--size", str(flow["size"]).format(**names)] if "size" in flow else
                      ["--for", str(seconds - start)])
            flows.append({"name": flow["name"], "proto": flow["proto"],
                          "client": [o.format(**names) for o in flow.get("client", [])] + length,
                          "server": [o.format(**names) for o in flow.get("server", [])],
                          "start": start, "rtt": rtt, "times": flow.get("times", 1)})
    return flows


def delays_of(path, flows, seed):
    """Return by how much each of @flows starts later, s; nothing if @path has no spread."""
    numbers = random.Random(f"{seed} {sorted(path.items())}")
    return [round(numbers.uniform(0, path["spread"]) / 1e3, 6) for _ in flows if "spread" in path]


def cross_of(experiment, names, seed):
    """Return the sources of cross traffic over the path: settings may be given by name, as in
    options of flows. A source without rate is none."""
    sources = []
    for n, given in enumerate(experiment.get("cross", [])):
        source = {k: v.format(**names) if isinstance(v, str) else v for k, v in given.items()}
        for key in {"start", "stop"} & set(source):
            source[key] = float(source[key])
        kind, rate, rtt = source["kind"], float(source["rate"]), float(source.get("rtt", names["rtt"]))
        if kind not in CROSS:
            raise ValueError(f"kind of cross traffic is one of {', '.join(CROSS)}")
        odd = set(source) - {"name", "kind", "rate", "rtt", "start", "stop", *CROSS[kind]}
        if odd:
            raise ValueError(f"{source['name']} has {', '.join(sorted(odd))}")
        if rtt < names["rtt"] / 2:
            raise ValueError(f"the round-trip time of {source['name']} is less than half the path's")
        options = [kind, "--seed", str(100 * seed + n)]
        options += [] if kind == "long" else ["--rate", f"{rate:.0f}"]
        for key in ("start", "stop", *CROSS[kind]):
            options += [f"--{key}", str(source[key])] if source.get(key) else []
        share = rate * analysis.PAYLOAD / analysis.FRAME / int(source.get("count", 1))
        if rate:
            sources.append({"name": source["name"], "options": options, "rate": rate, "rtt": rtt,
                            "window": round(share * rtt / 8e3) if kind == "long" else 0,
                            "stop": source.get("stop") or None})
    return sources


def cells(experiment, quick, seeds, kernel, keys):
    """Yield the cells: for each seed and combination of values one per flow, or one for all flows
    of an experiment with "together". @keys has the digests of the sources without the module,
    and with it (run.source_keys()). Combinations that a case makes equal are one cell."""
    known, sweep = [], experiment["quick" if quick else "sweep"]
    for cell in combinations(experiment, sweep, seeds, kernel, keys):
        if cell not in known:
            known.append(cell)
            yield cell


def combinations(experiment, sweep, seeds, kernel, keys):
    """Yield a cell for each combination of the values of @sweep, and flow, see cells()."""
    for values, seed in itertools.product(itertools.product(*sweep.values()), seeds):
        path, names = settings(experiment, dict(zip(sweep, values)))
        seconds = names.get("seconds", experiment.get("seconds"))
        if seconds is None and not all("size" in flow for flow in experiment["flow"]):
            raise ValueError("it has no seconds")
        cross = cross_of(experiment, names, seed)
        flows = flows_of(experiment, path, names, seconds)
        for together in [flows] if experiment.get("together") else [[f] for f in flows]:
            delays = delays_of(path, together, seed)
            yield {"path": path, "seconds": seconds, "seed": seed, "flows": together,
                   "source": keys[has_module(together)], "kernel": kernel,
                   "capture": experiment.get("capture", False),
                   "sample": experiment.get("sample", False),
                   **({"trace": True} if experiment.get("trace") and has_module(together) else {}),
                   **({"cross": cross} if cross else {}),
                   **({"delays": delays} if delays else {})}
