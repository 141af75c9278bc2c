# SPDX-License-Identifier: GPL-2.0
"""tools/bench: what things cost, in instructions."""
