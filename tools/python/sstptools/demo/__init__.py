# SPDX-License-Identifier: GPL-2.0
"""tools/demo: the report."""
