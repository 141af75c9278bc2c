# SPDX-License-Identifier: GPL-2.0
"""Whether cells are as their experiment has it. Unlike analysis.py, which makes
the numbers, this may change while results stay."""

def rate_text(rate):
    return f"{rate / 1e9:g} Gbit/s" if rate >= 1e9 else f"{rate / 1e6:g} Mbit/s"


def setting_text(name, value):
    """In short, with its unit"""
    if name == "rate":
        return rate_text(value)
    if name == "rtt":
        return f"{value:g} ms"
    return f"{name} {value}" if isinstance(value, str) else f"{name} {value:g}"


def describe(cell, names):
    """The settings of these names in short, and the flows."""
    text = [setting_text(name, cell["path"][name]) for name in names if name != "flows"]
    return ", ".join(text + [" and ".join(flow["name"] for flow in cell["flows"])])


def measures(cell, name):
    """The measurements of flows whose name contains @name."""
    return [{**cell["measured"], **flow} for flow in cell["measured"]["flows"]
            if name in flow["name"]]


def judge(want, cells):
    """For each measured cell that @want is about: the cell, what is there, as text, and
    whether it is as wanted. That is the measure, or with "than" its ratio to that of another
    flow on the same path."""
    for cell in cells:
        path, what = cell["path"], want["measure"]
        if any(not low <= path[k] <= high for k, (low, high) in want.get("where", {}).items()):
            continue
        others = [flow[what] for other in cells if other["path"] == path
                  for flow in measures(other, want["than"])] if "than" in want else [1]
        for flow in measures(cell, want["flow"]) if others else []:
            # Results of earlier sources may lack it.
            value = flow.get(what) and round(flow[what] / others[0], 4)
            text = f"{what} {value}" + (f" of that of {want['than']}" if "than" in want else "")
            yield cell, text, value is not None and (
                want.get("least", value) <= value <= want.get("most", value))


def misses(wants, cells):
    """The wants that do not hold: cells, and text."""
    return [(cell, f"{text}, wanted " + " and ".join(
                f"at {k} {want[k]}" for k in ("least", "most") if k in want))
            for want in wants for cell, text, good in judge(want, cells) if not good]


def unjudged(wants, cells):
    """The wants that apply to no cell: a name in them is wrong."""
    return [want for want in wants if not list(judge(want, cells))]
