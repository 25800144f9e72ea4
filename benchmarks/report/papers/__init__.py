# SPDX-License-Identifier: BSD-3-Clause
"""What "pawl-report reproduce" simulates: each figure is a function that returns its data."""
