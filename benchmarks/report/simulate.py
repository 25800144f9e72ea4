# SPDX-License-Identifier: BSD-3-Clause
"""Runs of pawl-sim, whose results become points of a figure."""
from __future__ import annotations

import os
import subprocess
import threading
from typing import Iterable, Sequence

from . import data
from .launch import SOURCE, Build
from .results import BadInput, Result, parse

MACHINES = os.path.join(SOURCE, "machines")


class Points(data.Data):
    """The points of a figure."""

    def points(self, results: Iterable[Result], panel: str, field: str, *, series: str = "%",
               x: object = None) -> None:
        """Add a point for each result. The first % in the series stands for the lock; x is the
        number of ranks, unless it is given."""
        for r in results:
            if r.throughput > 0:
                self.add(panel, series.replace("%", r.lock, 1),
                         r.ranks if x is None else x, value(r, field))


def value(r: Result, field: str) -> float:
    """p50 and p99 in us; mean: the mean latency in us, which is the number of ranks over the
    throughput where each acquires again at once; total: the seconds for 100 operations a rank; an
    operation, for each acquire; or any other number of the result."""
    if field in ("p50", "p99"):
        return getattr(r, field) / 1000
    if field == "mean":
        return 1e6 * r.active / r.throughput
    if field == "total":
        return 100 * r.active / r.throughput
    operations = r.operation(field)
    return r.json[field] if operations is None else operations


class Simulator:
    """pawl-sim of a build tree. Threads may share it: at most so many simulations run at a time,
    those of the figures in turn."""

    def __init__(self, build: Build, jobs: int = 1):
        self.build = build
        self.free = threading.Semaphore(jobs)
        self.ended = 0
        self.stopped = False
        self.program = build.program("benchmarks/sim/pawl-sim",
                                     "configure where SimGrid is, and make")

    def stop(self) -> None:
        """Start no simulation any more."""
        self.stopped = True

    def run(self, machine: str, ranks: int, options: Sequence[str]) -> list[Result]:
        return self.execute([self.program, f"--machines={MACHINES}", f"--machine={machine}",
                             f"--ranks={ranks}", "--progress=never", "--json", *options])

    def execute(self, command: Sequence[str]) -> list[Result]:
        with self.free:
            if self.stopped:
                raise BadInput("stopped")
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=False)
            self.ended += 1
        if done.returncode != 0:
            raise BadInput(f"{' '.join(command)}: status {done.returncode}\n{done.stderr.strip()}")
        return list(parse(done.stdout.splitlines()))
