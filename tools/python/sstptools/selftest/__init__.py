# SPDX-License-Identifier: GPL-2.0
"""selftests/run: the tests, on this machine and in others."""
