# SPDX-License-Identifier: GPL-2.0
"""Paths of this source tree and of the cache."""

import hashlib
import os

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
CACHE = os.environ.get("SSTP_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sstp")
# Several trees share the cache; each has its own programs and modules in it.
TREE_KEY = hashlib.sha256(TREE.encode()).hexdigest()[:8]
