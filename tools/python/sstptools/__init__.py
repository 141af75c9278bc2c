# SPDX-License-Identifier: GPL-2.0
"""The commands of tools/ and selftests/ that are written in Python."""
