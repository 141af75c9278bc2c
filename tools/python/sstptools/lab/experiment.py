# SPDX-License-Identifier: GPL-2.0
"""An experiment: the file, and the cells that it makes."""

import ast
import itertools
import operator
import os
import tomllib

from sstptools.lab import analysis
from sstptools.lab.cell import has_module
from sstptools.tree import TREE

DIRECTORY = os.path.join(TREE, "tools/lab/experiments")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.USub: operator.neg}
NEEDED = ("title", "path", "sweep", "flow")
PATH_NEEDED = ("rate", "rtt", "loss", "queue")
# Pictures that tools/lab/plot can draw: of any experiment the share of the line, of some
# the figure that they are about
DRAWN = ("settings", "loss", "start", "window", "buffer", "sharing", "readers")
FUNCTIONS = {"int": int, "max": max, "min": min}


def value(expression, names):
    """The value of an expression of [let]: arithmetic and FUNCTIONS of numbers and @names."""
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
    """The names of those that are in the tree"""
    return sorted(name[:-5] for name in os.listdir(DIRECTORY) if name.endswith(".toml"))


def file_of(word):
    """An experiment is named, or it is a file anywhere."""
    return word if word.endswith(".toml") else os.path.join(DIRECTORY, word + ".toml")


def name_of(word):
    """The name of the file of its results"""
    return os.path.splitext(os.path.basename(file_of(word)))[0]


def load(word):
    """An experiment; OSError or ValueError if there is none, or not a whole one."""
    with open(file_of(word), "rb") as f:
        experiment = tomllib.load(f)
    for key in NEEDED:
        if key not in experiment:
            raise ValueError(f"it has no {key}")
    if experiment.setdefault("draw", "settings") not in DRAWN:
        raise ValueError(f"draw is one of {', '.join(DRAWN)}")
    experiment.setdefault("quick", experiment["sweep"])
    for sweep in experiment["sweep"], experiment["quick"]:
        lacks = [key for key in PATH_NEEDED if key not in {**experiment["path"], **sweep}]
        if lacks:
            raise ValueError(f"its path has no {', '.join(lacks)}")
    return experiment


def settings(experiment, values):
    """The path with what is varied, and what [let] makes of both."""
    path = {"loss_back": None, "outage_at": 0, "outage_for": 0, "reorder": ""}
    path.update(experiment["path"])
    path.update(values)
    if path["loss_back"] is None:
        path["loss_back"] = path["loss"]
    names = dict(path, FRAME=analysis.FRAME, PAYLOAD=analysis.PAYLOAD,
                 line_rate=analysis.line_rate(path))
    for name, expression in experiment.get("let", {}).items():
        names[name] = value(expression, names)
    return path, names


def cells(experiment, quick, seed, kernel, keys):
    """All settings; each flow is a cell, or all are in one, if they are together. @keys stand
    for the sources without the module, and with it."""
    sweep = experiment["quick" if quick else "sweep"]
    for values in itertools.product(*sweep.values()):
        path, names = settings(experiment, dict(zip(sweep, values)))
        seconds = names.get("seconds", experiment.get("seconds"))
        if seconds is None:
            raise ValueError("it has no seconds")
        flows = [{"name": flow["name"], "proto": flow["proto"],
                  "client": [o.format(**names) for o in flow.get("client", [])] +
                            ["--for", str(seconds)],
                  "server": [o.format(**names) for o in flow.get("server", [])]}
                 for flow in experiment["flow"]
                 if str(path.get("flows", flow["name"])).find(flow["name"]) >= 0]
        for together in [flows] if experiment.get("together") else [[f] for f in flows]:
            yield {"path": path, "seconds": seconds, "seed": seed, "flows": together,
                   "source": keys[has_module(together)], "kernel": kernel,
                   "capture": experiment.get("capture", False),
                   "sample": experiment.get("sample", False)}
