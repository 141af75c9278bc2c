# SPDX-License-Identifier: GPL-2.0
"""tools/lab: experiments in simulated time."""
