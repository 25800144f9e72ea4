# SPDX-License-Identifier: BSD-3-Clause
"""What "pawl-report run" measures, a table a file: PARTS, REPETITIONS, SECONDS and measure()."""
