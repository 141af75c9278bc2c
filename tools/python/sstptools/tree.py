# SPDX-License-Identifier: GPL-2.0
"""Where things are: this source tree, and what is kept outside of it."""

import hashlib
import os

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
CACHE = os.environ.get("SSTP_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sstp")
# Trees share the cache; in it each has its own programs and modules.
TREE_KEY = hashlib.sha256(TREE.encode()).hexdigest()[:8]
