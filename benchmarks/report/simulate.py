# SPDX-License-Identifier: BSD-3-Clause
"""Runs of pawl-sim, whose results become points of a figure."""
from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import dataclass
from typing import Iterable, Sequence

from . import data
from .launch import SOURCE, Build
from .results import BadInput, Result, parse

MACHINES = os.path.join(SOURCE, "machines")


PERCENTS = (1, 10, 25, 50, 75, 90, 95, 99)
UNSTEADY = "not steady: second half of the first"


def beside(r: Result) -> dict[str, float]:
    """What every rate has beside it."""
    found = {"Jain's index": r.fairness, "99 % latency, us": r.p99 / 1000,
             "longest wait, us": r.json["latency_ns"]["max"] / 1000}
    if r.fw < 100 and r.readers == "shared":
        found["% exclusive"] = 100 * r.exclusive / r.acquires
    if r.get("unsteady"):
        found[UNSTEADY] = r.halves
    return found


@dataclass(frozen=True)
class Asked:
    """A simulation of one lock, among those of a command."""

    machine: str
    ranks: int
    options: tuple[str, ...]
    lock: str

    def of(self, machine: str) -> Asked:
        return Asked(machine, self.ranks, self.options, self.lock)


class Points(data.Data):
    """The points of a figure."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[tuple[str, str, str], Asked] = {}
        """The simulation from which a point (panel without the name of x, series, x) is."""

    def points(self, results: Iterable[Result], panel: str, field: str, *, series: str = "%",
               x: object = None) -> None:
        """Add a point for each result. The first % in the series stands for the lock; x is the
        number of ranks, unless it is given."""
        for r in results:
            if r.throughput > 0:
                self.point(r, panel, series.replace("%", r.lock, 1), r.ranks if x is None else x,
                           value(r, field), rate=field == "throughput")

    def point(self, r: Result, panel: str, series: str, x: object, y: float, *, rate: bool) -> None:
        """A point of the result; if it is its rate, with what stands beside it."""
        title, bar, axis = panel.partition("|")
        if "asked" in r.json:
            self.asked[title, series, str(x)] = r.json["asked"]
        self.add(panel, series, x, y)
        if rate:
            for name, also in beside(r).items():
                self.add(f"{title}{data.BESIDE}{name}{bar}{axis}", series, x, also)

    def distribution(self, r: Result, panel: str, cdf: Iterable[tuple[float, float]]) -> None:
        """Percentiles of a latency: the points of a curve of its distribution."""
        for latency, share in cdf:
            percent = round(100 * share, 1)
            if percent in PERCENTS:
                self.point(r, f"{panel}, latency, us|per cent done|linear", r.lock,
                           f"{percent:g}", latency / 1000, rate=False)


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


LOCK = "--lock="


def each_lock(machine: str, ranks: int, options: Sequence[str]) -> list[Asked]:
    """The parts of a command with several locks."""
    locks, = (o[len(LOCK):].split(",") for o in options if o.startswith(LOCK))
    return [Asked(machine, ranks, tuple(options), lock) for lock in locks]


class Simulator:
    """pawl-sim of a build tree. Threads may share it: at most so many simulations run at a time,
    those of the figures in turn."""

    def __init__(self, build: Build, jobs: int = 1):
        self.build = build
        self.jobs = jobs
        self.free = threading.Semaphore(jobs)
        self.ended = 0
        self.stopped = False
        self.program = build.program("benchmarks/sim/pawl-sim",
                                     "configure where SimGrid is, and make")

    def stop(self) -> None:
        """Start no simulation any more."""
        self.stopped = True

    def run(self, machine: str, ranks: int, options: Sequence[str],
            steady: bool = True) -> list[Result]:
        """The results of --lock. steady: a run that is not steady is made longer; else it is
        judged as it is."""
        found = self.execute([self.program, f"--machines={MACHINES}", f"--machine={machine}",
                              f"--ranks={ranks}", *(["--steady"] if steady else []),
                              "--progress=never", "--json", *options])
        asked = {a.lock: a for a in each_lock(machine, ranks, options)}
        for r in found:
            r.json["asked"] = asked[r.lock]
            if not steady:
                r.json.pop("unsteady", None)
        return found

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
