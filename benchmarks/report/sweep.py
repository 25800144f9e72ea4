# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report sweep: a kind beside all others, in settings drawn from a seed."""
from __future__ import annotations

import argparse
import math
import os
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Callable, Iterable, Sequence

from . import launch
from .results import BadInput, Result
from .simulate import MACHINES as FOLDER, Simulator
from .stats import median
from .text import Table, digits, duration, plural, rate

MACHINES = ("cx5-6nodes", "cx6-4nodes", "cloudlab-cx3-20nodes", "xc30-aries")
OTHERS = ("d-mcs", "rma-mcs", "rma-rw", "mgl", "shiftlock", "alock", "declock")
KINDS = ("adaptive", *OTHERS)
"""Kinds that can be judged; the first one is the default."""
FAIR = ("d-mcs", "rma-mcs", "rma-rw", "mgl", "shiftlock", "alock", "declock")

RANKS_MOST = 128
LEAST = 20000
"""Acquires of all ranks together, at first."""
ABOUT = f"""\
Draws settings from the seed: a machine, up to 64 nodes and {RANKS_MOST} ranks, one lock or up to a
million, how these are drawn, the share of writers, sections, pauses and bursts. Runs pawl-sim of
the build tree (default: the current folder) for --kind and each other kind in each, prints a row
for each setting, and then the distribution: the throughput of the kind over that of the best other
one, and the 99th percentile of its latency over that kind's. A run that is not steady is made
longer (pawl-sim --steady), and then those of the other kinds are as long (--lengthen); a row whose
runs are not steady then says so. The same seed gives the same rows."""


@dataclass(frozen=True)
class Setting:
    """What pawl-sim is asked, but for the lock."""

    machine: str
    nodes: int
    each: int
    package: bool
    bench: str
    fw: float
    extra: tuple[str, ...]

    @property
    def ranks(self) -> int:
        return self.nodes * self.each

    @property
    def topology(self) -> str:
        if self.package and self.each >= 4 and self.each % 2 == 0:
            return f"node:{self.nodes} package:2 core:{self.each // 2}"
        return f"node:{self.nodes} core:{self.each}"

    @property
    def options(self) -> list[str]:
        return [f"--bench={self.bench}", f"--fw={self.fw:g}", "-o", f"topology={self.topology}",
                *self.extra]

    def __str__(self) -> str:
        return " ".join([f"{self.machine} {self.nodes} x {self.each} {self.bench}",
                         f"--fw={self.fw:g}", *self.extra])


def has_packages(machine: str, folder: str) -> bool:
    with open(os.path.join(folder, machine + ".machine"), encoding="utf-8") as file:
        return any(line.startswith("topology") and "package" in line for line in file)


def draw(seed: int, count: int, folder: str) -> list[Setting]:
    """The first count settings of the seed."""
    rng = random.Random(seed)
    return [draw_one(rng, folder) for _ in range(count)]


def draw_one(rng: random.Random, folder: str) -> Setting:
    machine = rng.choice(MACHINES)
    nodes = rng.choice((2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64))
    each = rng.choice([n for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32) if n * nodes <= RANKS_MOST])
    fw = rng.choice((0, 0.2, 1, 2, 5, 10, 20, 35, 50, 75, 100, 100))
    bench = rng.choice(("ecsb", "sob", "wcsb", "warb", "locktable", "locktable", "locktable",
                        "micro", "micro", "micro"))
    extra = []
    if bench == "locktable":
        extra += [f"--locks={rng.choice((20, 100, 1000, 10000, 100000))}",
                  f"--locality={rng.choice((50, 80, 85, 90, 95, 99, 100))}"]
    if bench == "micro":
        extra += [f"--locks={rng.choice((4, 10, 100, 1000, 10000, 100000, 1000000))}",
                  f"--zipf={rng.choice((0, 0.5, 0.8, 0.99))}"]
    if rng.random() < 0.5:
        extra.append(f"--section={rng.choice((50, 100, 300, 1000, 3000, 10000))}")
    if rng.random() < 0.4:
        extra.append(f"--think={rng.choice((200, 1000, 2000, 5000, 10000, 50000))}")
    if rng.random() < 0.25:
        extra += [f"--burst={rng.choice((5, 20, 100))}",
                  f"--rest={rng.choice((10000, 50000, 200000))}"]
    return Setting(machine, nodes, each, has_packages(machine, folder), bench, fw, tuple(extra))


@dataclass
class Row:
    """A setting with the results of the kinds that can take part."""

    setting: Setting
    kind: str
    results: dict[str, Result]
    unsteady: list[str] = field(default_factory=list)

    @property
    def best(self) -> Result:
        return max((r for lock, r in self.results.items() if lock != self.kind),
                   key=lambda r: r.throughput)

    @property
    def own(self) -> Result:
        return self.results[self.kind]

    @property
    def ratio(self) -> float:
        return self.own.throughput / self.best.throughput

    @property
    def tail(self) -> float:
        return self.own.p99 / self.best.p99 if self.best.p99 else 1.0

    @property
    def slowest(self) -> float:
        """Acquires of the slowest rank for each of the mean rank."""
        return share_of_slowest(self.own)

    @property
    def wait(self) -> float:
        """The longest wait over that of the fair kind with the shortest."""
        fair = [longest(r) for lock, r in self.results.items() if lock in FAIR]
        return longest(self.own) / min(fair) if fair and min(fair) else 1.0


def longest(r: Result) -> float:
    return r.json["latency_ns"]["max"]


def share_of_slowest(r: Result) -> float:
    return r.slowest * r.active / r.throughput


Done = tuple[Result | None, str]
"""The result of a kind, and why its run is not steady; None: it cannot take part."""


def run_kind(simulator: Simulator, s: Setting, lock: str, args: argparse.Namespace,
             more: Sequence[str] = ()) -> Done:
    length = [f"--iterations={max(LEAST // s.ranks, 20)}"]
    if args.seconds:
        length.append(f"--seconds={args.seconds:g}")
    try:
        options = [f"--lock={lock}", f"--seed={args.seed + 1}", *length, *s.options, *more]
        result, = simulator.run(s.machine, s.ranks, options)
    except BadInput as error:
        if lock == args.kind:
            raise
        return None, f"{lock}: {str(error).splitlines()[-1]}"
    why = result.get("unsteady", "")
    return result, why and f"{lock}: {why}"


def lengthenings(r: Result | None) -> int:
    return r.get("lengthened", 0) if r else 0


def run_kinds(locks: Sequence[str], run: Callable[[str, Sequence[str]], Done],
              pool: ThreadPoolExecutor) -> list[Done]:
    """Runs of all kinds that are equally long, once that of each is steady, or as long as it may
    be: what a kind has in a short run, as the first uses of its locks, is not held against what
    another has in a long one."""
    done = dict(zip(locks, pool.map(lambda lock: run(lock, ()), locks)))
    while len({lengthenings(r) for r, _ in done.values() if r}) > 1:
        most = max(lengthenings(r) for r, _ in done.values())
        short = [lock for lock, (r, _) in done.items() if r and lengthenings(r) < most]
        done.update(zip(short, pool.map(lambda lock: run(lock, [f"--lengthen={most}"]), short)))
    return list(done.values())


def measure(simulator: Simulator, s: Setting, args: argparse.Namespace,
            pool: ThreadPoolExecutor) -> Row:
    locks = (args.kind, *args.others)
    done = run_kinds(locks, lambda lock, more: run_kind(simulator, s, lock, args, more), pool)
    rates = {lock: r for lock, (r, _) in zip(locks, done) if r and r.throughput > 0}
    row = Row(s, args.kind, rates)
    row.unsteady = [why for r, why in done if r and why]
    return row


def geometric(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else 0.0


def part(values: Sequence[float], least: float) -> str:
    return f"{100 * sum(v >= least for v in values) / len(values):.0f} %"


def summary(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The distribution, of all rows."""
    ratios = [r.ratio for r in rows]
    return [
        ("settings", str(len(rows))),
        ("not steady", str(sum(bool(r.unsteady) for r in rows))),
        ("0.9 of the best other kind or more", part(ratios, 0.9)),
        ("0.75 or more", part(ratios, 0.75)),
        ("worst", digits(min(ratios))),
        ("median", digits(median(ratios) or 0)),
        ("geometric mean", digits(geometric(ratios))),
        ("p99 over the best kind's, geometric mean", digits(geometric(r.tail for r in rows))),
        ("Jain's index, least", digits(min(r.own.fairness for r in rows))),
        ("slowest rank at least half of the mean one", part([r.slowest for r in rows], 0.5)),
        ("longest wait over the best fair kind's, geometric mean",
         digits(geometric(r.wait for r in rows))),
    ]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, metavar="S", default=1,
                        help="of the settings, and of the simulations (default: 1)")
    parser.add_argument("--settings", type=int, metavar="N", default=20,
                        help="how many are drawn (default: 20)")
    parser.add_argument("--kind", metavar="KIND", default=KINDS[0],
                        help=f"the kind that is judged: {', '.join(KINDS)} (default: {KINDS[0]})")
    parser.add_argument("--others", metavar="LIST", default=",".join(OTHERS),
                        help="the other kinds (default: all)")
    parser.add_argument("--seconds", type=float, metavar="S", default=0,
                        help="virtual time of each run, at least (default: by acquires)")
    parser.add_argument("--only", type=int, metavar="I", help="only the setting of this number")
    parser.add_argument("--jobs", type=int, metavar="N", default=os.cpu_count() or 1,
                        help="simulations at a time (default: the number of cores)")
    parser.add_argument("build", nargs="?", default=".", help="a build tree")


def check(args: argparse.Namespace) -> None:
    for name in ("settings", "jobs"):
        if getattr(args, name) < 1:
            raise BadInput(f"--{name}: {getattr(args, name)} is not a whole number from 1 on")
    if args.seed < 0:
        raise BadInput(f"--seed: {args.seed} is not a whole number from 0 on")
    if args.seconds < 0:
        raise BadInput(f"--seconds: {args.seconds:g} is negative")
    if args.only is not None and not 1 <= args.only <= args.settings:
        raise BadInput(f"--only: {args.only} is not in 1 to {args.settings}")
    if args.kind not in KINDS:
        accepted = ", ".join(KINDS)
        raise BadInput(f'--kind: there is no "{args.kind}" to judge; accepted: {accepted}')
    args.others = args.others.split(",")
    for lock in args.others:
        if lock not in OTHERS:
            raise BadInput(f"--others: there is no kind \"{lock}\"; accepted: {', '.join(OTHERS)}")
    args.others = [lock for lock in args.others if lock != args.kind]
    if not args.others:
        raise BadInput(f"--others: no other kind than {args.kind}")


def main(args: argparse.Namespace) -> int:
    check(args)
    simulator = Simulator(launch.Build(args.build), args.jobs)
    settings = list(enumerate(draw(args.seed, args.settings, FOLDER), 1))
    if args.only:
        settings = [settings[args.only - 1]]
    rows = []
    table = Table("", "setting", args.kind, "best other", "ratio", "p99", "of its p99",
                  "slowest/mean", "longest wait/fair", "not steady")
    with ThreadPoolExecutor(args.jobs) as pool:
        for number, setting in settings:
            row = measure(simulator, setting, args, pool)
            rows.append(row)
            table.row(number, f"`{row.setting}`", rate(row.own.throughput),
                      f"{row.best.lock} {rate(row.best.throughput)}", digits(row.ratio),
                      duration(row.own.p99), digits(row.tail), digits(row.slowest),
                      digits(row.wait), "; ".join(row.unsteady))
    table = Table(plural(len(rows), "setting") + f" of seed {args.seed}", "")
    for name, value in summary(rows)[1:]:
        table.row(name, value)
    return 0
