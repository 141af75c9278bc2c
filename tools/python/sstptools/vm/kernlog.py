# SPDX-License-Identifier: GPL-2.0
"""Find warnings, oopses and the like in a kernel log."""

import re

SPLATS = re.compile("|".join((
    r"WARNING: ", r"BUG: ", r"kernel BUG", r"BUG at ", r"Oops", r"[Kk]ernel panic",
    r"general protection", r"Unable to handle kernel", r"Segfault with no mm",
    r"KASAN", r"UBSAN", r"KCSAN", r"unreferenced object",
    r"INFO: (possible|inconsistent|task |rcu|trying)", r"possible circular locking",
    r"[Ss]uspicious RCU", r"suspicious rcu", r"self-detected stall", r"stalls on CPUs",
    r"scheduling while atomic", r"sleeping function called", r"bad unlock balance",
    r"held lock freed", r"lock held when returning", r"DEBUG_LOCKS_WARN_ON",
    r"refcount_t: ", r"ref_tracker: ", r"reference_tracker", r"ODEBUG",
    r"unregister_netdevice: waiting", r"list_(add|del) corruption", r"double free",
    r"soft lockup", r"hard LOCKUP", r"blocked for more than", r"Bad page state",
    r"Slab.*(err|corrupt)", r"sstp: assertion", r"lines were overwritten unread")))
LOST = "kernel log: lines were overwritten unread"
# Lines that match SPLATS but are harmless
HARMLESS = re.compile("|".join((
    r"[Cc]ommand line", r"KernelAddressSanitizer initialized", r"ODEBUG: selftest",
    r"kcsan: (non-)?strict mode",
    # Fault injection makes ref_tracker run out of memory.
    r"ref_tracker: memory allocation failure")))


def is_splat(line):
    return bool(SPLATS.search(line)) and not HARMLESS.search(line)


def excerpt(lines, before=3, after=200, most=600):
    """Return the suspicious lines with their context: call traces of UML have frames that only may
    belong to them between the others."""
    wanted = set()
    for n, line in enumerate(lines):
        if is_splat(line):
            wanted.update(range(max(0, n - before), min(len(lines), n + after)))
    return [lines[n] for n in sorted(wanted)][:most]
