# SPDX-License-Identifier: GPL-2.0
"""Compares net/sstp/layers with the symbols of the objects.

    layers.py TABLE SYMBOLS

SYMBOLS has a line for each symbol of each object: "OBJECT LETTER NAME", the letter as nm
has it. Prints what contradicts the table, and exits with 1 if anything does.
"""

import sys


def read_table(path):
    """object -> layer, and the layers from the highest on"""
    layer_of, layers = {}, []
    with open(path, encoding="utf-8") as lines:
        for words in (line.split() for line in lines if not line.startswith("#")):
            if words and words[0] not in layers:
                layers.append(words[0])
            for name in words[1:]:
                if name in layer_of:
                    sys.exit(f"{path}: {name} is there twice")
                layer_of[name] = words[0]
    return layer_of, layers


def read_symbols(path):
    """The objects, and (caller, callee) -> the symbols that the caller needs"""
    home, needed, objects = {}, [], set()
    with open(path, encoding="utf-8") as lines:
        for name, letter, symbol in (line.split() for line in lines):
            objects.add(name)
            if letter in "Uvw":
                needed.append((name, symbol))
            elif letter.isupper():
                home[symbol] = name
    uses = {}
    for name, symbol in needed:
        if symbol in home:
            uses.setdefault((name, home[symbol]), []).append(symbol)
    return objects, uses


def circles(names, uses):
    """Groups of those that reach each other"""
    reach = {name: {b for a, b in uses if a == name} & names for name in names}
    grown = True
    while grown:
        grown = False
        for reached in reach.values():
            more = set().union(*(reach[name] for name in reached)) - reached
            reached |= more
            grown = grown or bool(more)
    found = {frozenset(b for b in reach[a] if a in reach[b]) for a in names if a in reach[a]}
    return sorted(sorted(group) for group in found)


def complaints(layer_of, layers, objects, uses):
    for name in sorted(objects - layer_of.keys()):
        yield f"{name}.o is in no layer"
    for name in sorted(layer_of.keys() - objects):
        yield f"{name}, in layer {layer_of[name]}, is no object"
    known = {pair: symbols for pair, symbols in uses.items() if set(pair) <= layer_of.keys()}
    for (caller, callee), symbols in sorted(known.items()):
        if layers.index(layer_of[callee]) < layers.index(layer_of[caller]):
            yield (f"up from {layer_of[caller]} to {layer_of[callee]}: {caller} needs "
                   f"{', '.join(sorted(symbols))} of {callee}")
    for layer in layers:
        names = {name for name in layer_of if layer_of[name] == layer}
        for group in circles(names, known):
            yield f"a circle in {layer}: {' '.join(group)}"


def main():
    table, symbols = sys.argv[1:]
    found = list(complaints(*read_table(table), *read_symbols(symbols)))
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
