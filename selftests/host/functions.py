# SPDX-License-Identifier: GPL-2.0
"""Finds functions that are too long, or that have too many parameters.

    functions.py FILE...

Reads C, shell and Python. Lines count from that of the name to the end. The parameters of a
shell function are the numbers that it expands, but for those between single quotes, which
awk and others expand. Prints what is too much, and exits with 1 if anything is.
"""

import ast
import re
import sys

MOST_LINES, MOST_PARAMETERS = 80, 6
# (file, function): why it has more parameters
EXCEPTIONS = {("tools/sstp-run/fds.c", "first_syscall"): "those of syscall(2)"}

# What may contain braces, parentheses and commas that mean nothing
C_TEXT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
C_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
# Name and parameters, of which some are functions
C_HEAD = re.compile(r"(\w+)\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\s*\Z")
SHELL_FUNCTION = re.compile(r"^([ \t]*)([\w-]+)\(\)\s*([{(])", re.M)
SHELL_QUOTED = re.compile(r"""\\.|("(?:\\.|[^"\\])*")|('[^']*'|(?:^|(?<=\s))#[^\n]*)""", re.M)
SHELL_EXPANSION = re.compile(r"\$\{[^{}]*\}")
SHELL_PARAMETER = re.compile(r"(?<!\\)\$\{?#?(\d+)")


def blank(match):
    """As long as it was, in lines and characters"""
    return re.sub(r"[^\n]", " ", match[0])


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def c_parameters(text):
    nested = 1
    while nested:
        text, nested = re.subn(r"\([^()]*\)", "", text)
    return 0 if text.strip() in ("", "void") else text.count(",") + 1


def c_functions(text):
    text = C_DIRECTIVE.sub(blank, C_TEXT.sub(blank, text))
    depth = since = 0
    head = None
    for m in re.finditer(r"[{};]", text):
        if m[0] == "{":
            if not depth:
                head = C_HEAD.search(text[since:m.start()])
            depth += 1
        elif m[0] == "}":
            depth -= 1
            if not depth and head:
                first = line_of(text, since + head.start())
                yield (head[1], first, line_of(text, m.start()) - first + 1,
                       c_parameters(head[2]))
        if not depth:
            since = m.end()
    if depth:
        raise ValueError("braces do not match")


def shell_end(text, begin):
    """Position of the end of the function whose name, and brace, @begin matches"""
    close = {"{": "}", "(": ")"}[begin[3]]
    if text.startswith("\n", begin.end()):
        end = re.compile(rf"^{begin[1]}\{close}", re.M).search(text, begin.end())
        if end:
            return end.start()
    else:
        # Its commands begin next to the brace: the end is where braces match.
        depth = 0
        code = SHELL_EXPANSION.sub(blank, SHELL_QUOTED.sub(
            lambda m: blank(m) if m[1] or m[2] else m[0], text[begin.end() - 1:]))
        for m in re.finditer(rf"\{begin[3]}|\{close}", code):
            depth += 1 if m[0] == begin[3] else -1
            if not depth:
                return begin.end() - 1 + m.start()
    raise ValueError(f"{begin[2]}() has no end")


def shell_functions(text):
    for m in SHELL_FUNCTION.finditer(text):
        body = text[m.end(2):shell_end(text, m)]
        expanded = SHELL_QUOTED.sub(lambda m: blank(m) if m[2] else m[0], body)
        yield (m[2], line_of(text, m.start(2)), body.count("\n") + 1,
               max(map(int, SHELL_PARAMETER.findall(expanded)), default=0))


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            args = node.args
            yield (node.name, node.lineno, node.end_lineno - node.lineno + 1,
                   len(args.posonlyargs) + len(args.args) + len(args.kwonlyargs))


def reader(path, text):
    first, _, more = text.partition("\n")
    if path.endswith((".c", ".h")):
        return c_functions
    if path.endswith(".py") or re.match(r"#!.*python3", first):
        return python_functions
    if path.endswith((".sh", ".bash")) or re.match(r"#!.*sh\b", first) or \
            more.startswith("# shellcheck shell="):
        return shell_functions
    return None


def functions(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    read = reader(path, text)
    return list(read(text)) if read else []


def complaints(path):
    excepted = {name for file, name in EXCEPTIONS if file == path}
    try:
        found = functions(path)
    except (SyntaxError, ValueError) as e:
        yield f"{path}: {e}"
        return
    for name, line, lines, parameters in found:
        if lines > MOST_LINES:
            yield f"{path}:{line}: {name}() has {lines} lines"
        if parameters <= MOST_PARAMETERS:
            continue
        if name in excepted:
            excepted.remove(name)
        else:
            yield f"{path}:{line}: {name}() has {parameters} parameters"
    for name in sorted(excepted):
        yield f"{path}: {name}() needs no exception"


def main():
    found = [complaint for path in sys.argv[1:] for complaint in complaints(path)]
    print(*found, sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
