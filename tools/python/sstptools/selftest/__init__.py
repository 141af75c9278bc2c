# SPDX-License-Identifier: GPL-2.0
"""selftests/run: runs tests on the host and in virtual machines."""
