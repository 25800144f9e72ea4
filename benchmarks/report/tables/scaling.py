# SPDX-License-Identifier: BSD-3-Clause
"""One contended lock over the number of ranks of this machine, as a table and a figure."""
from __future__ import annotations

import os

from .. import plot
from ..launch import Build, Progress, complain
from ..results import Result, by_lock
from ..text import Table, plural, rate, with_spread

PARTS = ()
REPETITIONS = 3
SECONDS = 0.5

LOCKS = ("d-mcs", "rma-mcs", "rma-rw", "shiftlock", "alock", "mgl", "mpi-win-lock")
FIGURE = "scaling"
CASES = (("exclusive", "--fw=100"), ("1 of 500 exclusive", "--fw=0.2"))


def rank_counts(cores: int) -> list[int]:
    """1, 2, 4, ... up to twice the cores, and at least 8."""
    counts = [1]
    while counts[-1] < max(8, 2 * cores):
        counts.append(2 * counts[-1])
    return counts


def measure(build: Build, args) -> bool:
    build.program("benchmarks/pawl-bench")
    cases = [c for c in CASES if args.match in c[0]]
    counts = rank_counts(os.cpu_count() or 1)
    progress = Progress(len(cases) * len(counts))
    everything: list[Result] = []
    ok = True
    for name, option in cases:
        found = {}
        for ranks in counts:
            progress.step(f"{name}, {plural(ranks, 'rank')}")
            measured = build.bench([
                "--bench=ecsb", option, f"--lock={','.join(LOCKS)}", f"--seconds={args.seconds:g}",
                f"--repetitions={args.repetitions}"], ranks=ranks)
            if not measured:
                complain(f"{name}, {plural(ranks, 'rank')}: did not run")
                ok = False
            found[ranks] = by_lock(measured)
            everything += measured
        progress.clear()
        print(f"{build.mpi}, ECSB, {name}: acquires a second by ranks, on {os.cpu_count()} cores")
        table = Table("lock", *map(str, counts))
        for lock in LOCKS:
            table.row(lock, *(with_spread(found[n][lock].speed, rate) if lock in found[n] else "-"
                              for n in counts))
        print()
    if everything:
        folder = os.path.join(build.dir, FIGURE)
        for path in plot.over_ranks(everything, folder, "svg"):
            print(f"figure: {path}")
    return ok
