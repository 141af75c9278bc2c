# SPDX-License-Identifier: GPL-2.0
"""tools/bench: benchmarks that count CPU instructions."""
