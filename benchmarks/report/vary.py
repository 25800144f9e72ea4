# SPDX-License-Identifier: BSD-3-Clause
"""The headlines of the papers on machines with a constant at half and at twice its value, so that
it shows which verdicts hang on an assumed one (pawl-report reproduce --vary)."""
from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterable, Sequence

from . import headlines, launch
from .data import BESIDE, Data, read
from .results import Result
from .simulate import MACHINES, Asked, Points, Simulator, each_lock

Figure = Callable[[Simulator, bool], Points]

CONSTANTS = {
    "latency": ("net latency machine", "net latency group", "link latency"),
    "NIC rate": ("net gap", "net serve put", "net serve get", "net serve atomic"),
    "word rate": ("net serve same-word",),
    "message cost": ("net send", "net serve put", "net extra put"),
}
"""The lines of a machine's file of each; rates are times there."""
FACTORS = (0.5, 2)
QUICK = ("5", "alock", "citron6")
"""Figures that are simulated with fewer ranks or settings here."""
PUT = ("net send", "net latency machine", "net serve put")
"""What a put takes: as long again, where a message costs twice."""


def lines_of(text: str) -> dict[str, float]:
    """The settings of PUT and CONSTANTS that a machine's file has."""
    names = {*PUT, *(name for some in CONSTANTS.values() for name in some)}
    found = {}
    for line in text.splitlines():
        for name in names:
            if line.startswith(name + " "):
                found[name] = float(line[len(name):].split("#")[0])
    return found


def varied(text: str, constant: str, factor: float) -> str:
    """The file of a machine with the constant so many times what it is. A message that costs twice
    as much is a put that takes twice as long, because a message of two sides needs the receiver;
    one that costs half has half of what is not latency."""
    settings = lines_of(text)
    if constant == "message cost" and factor > 1:
        # Not net extra put, which delays the answer to the sender and not the arrival.
        changed = {"net serve put": settings.get("net serve put", 0)
                   + (factor - 1) * sum(settings.get(name, 0) for name in PUT)}
    else:
        by = 1 / factor if constant.endswith("rate") else factor
        changed = {name: settings[name] * by for name in CONSTANTS[constant] if name in settings}
    kept = [line for line in text.splitlines()
            if not any(line.startswith(name + " ") for name in changed)]
    return "\n".join([*kept, *(f"{name} {value:g}" for name, value in changed.items()), ""])


class AnyTimes(dict):
    """Times without meaning, of each series of a workload."""

    def get(self, key: object, default: object = None) -> dict[str, object]:
        return {"count": 1, "p99": 1.0, "cdf": [(1.0, 0.5)]}


class Planner:
    """In place of a simulator: results without meaning, from which a figure can be made."""

    build: launch.Build

    def __init__(self, build: launch.Build):
        self.build = build

    def run(self, machine: str, ranks: int, options: Sequence[str]) -> list[Result]:
        return [Result({"asked": asked, "lock": asked.lock, "ranks": ranks, "active": ranks,
                        "throughput": 1.0, "seconds": 1.0, "fairness": 1.0, "fw": 100.0,
                        "acquires": 1, "exclusive": 1, "halves": 1.0, "aborts": 0.0,
                        "times": AnyTimes(),
                        "latency_ns": {"p50": 1.0, "p99": 1.0, "max": 1.0},
                        "ops_per_acquire": dict.fromkeys(
                            ("far", "far_atomic", "far_get", "far_put"), 1.0)})
                for asked in each_lock(machine, ranks, options)]


class Known:
    """In place of a simulator: the results that there are."""

    def __init__(self, build: launch.Build, results: dict[Asked, Result],
                 machine: Callable[[str], str]):
        self.build, self.results, self.machine = build, results, machine

    def run(self, machine: str, ranks: int, options: Sequence[str]) -> list[Result]:
        asked = each_lock(self.machine(machine), ranks, options)
        return [self.results[a] for a in asked if a in self.results]


def points_of(data: Data) -> dict[headlines.Key, float]:
    return {(title.split("|")[0], series, x): y for title, panel in data.panels.items()
            for series, points in panel.items() for x, y in points.items()}


def needed(figures: dict[str, Figure], build: launch.Build) -> set[Asked]:
    """The simulations whose results the headlines of these figures read."""
    found = set()
    for name, figure in figures.items():
        plan = figure(Planner(build), name in QUICK)
        points = headlines.Points(points_of(plan))
        for headline in headlines.HEADLINES:
            if headline.figure == name:
                headline.value(points)
        found |= {plan.asked[key] for key in points.read if key in plan.asked}
    return found


def machine_files(machines: Iterable[str], folder: str, constant: str, factor: float
                  ) -> dict[str, str]:
    """The varied machine of each one, by its name."""
    files = {}
    for name in machines:
        with open(os.path.join(MACHINES, name + ".machine"), encoding="utf-8") as file:
            text = varied(file.read(), constant, factor)
        files[name] = os.path.join(folder, f"{name} {constant} {factor:g}.machine")
        with open(files[name], "w", encoding="utf-8") as file:
            file.write(text)
    return files


def vary(simulator: Simulator, figures: dict[str, Figure], path: str,
         progress: launch.Progress) -> None:
    """Simulates the headlines of the figures with each constant at half and twice, and writes their
    values."""
    asked = needed(figures, simulator.build)
    machines = {a.machine for a in asked}
    data = Data()
    for panel in read(path) if os.path.exists(path) else ():  # of other figures
        for name, points in panel.series.items():
            for x, value in points:
                data.add(panel.title, name, x, value)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(simulator.jobs) as pool:
        files = {f"{c} x {f:g}": machine_files(machines, folder, c, f)
                 for c in CONSTANTS for f in FACTORS}
        files[headlines.AS_IT_IS] = {name: name for name in machines}
        # With all locks of the command, because not each takes all of its options.
        commands = {(of[a.machine], a.ranks, a.options) for of in files.values() for a in asked}
        results: dict[Asked, Result] = {}
        try:
            for n, some in enumerate(pool.map(lambda c: simulator.run(*c), commands), 1):
                results.update((r.json["asked"], r) for r in some)
                progress.show(f"{n} of {len(commands)} simulations")
        except BaseException:
            simulator.stop()
            raise
        for x, of in files.items():
            for name, figure in figures.items():
                known = Known(simulator.build, results, lambda m, of=of: of[m])
                points = headlines.Points(points_of(figure(known, name in QUICK)))
                for headline in headlines.HEADLINES:
                    if headline.figure == name:
                        data.add(f"headlines{BESIDE}other constants", headline.name, x,
                                 headline.value(points))
    progress.clear()
    data.write(path)
