# SPDX-License-Identifier: BSD-3-Clause
"""The default kind over several nodes beside the best other kind, in pawl-sim."""
from __future__ import annotations

from dataclasses import dataclass

from ..launch import Build, complain
from ..results import Result
from ..rows import matching
from ..simulate import Simulator
from ..text import Table, digits, rate

PARTS = ("locks", "zipf", "clients", "few")
REPETITIONS = 1
SECONDS = 0.0
"""Of virtual time, at least; 0: by acquires."""
KIND = "adaptive"
BENCHES = ("ecsb", "sob", "wcsb", "warb")


@dataclass(frozen=True)
class Row:
    """A row, and what pawl-sim is asked for it."""

    name: str
    machine: str
    nodes: int
    each: int
    iterations: int
    others: tuple[str, ...]
    options: tuple[str, ...]


def locks() -> list[Row]:
    return [Row(f"locality {locality} %, {fw} % exclusive", "cx6-4nodes", 2, 2, 20000,
                ("alock", "rma-rw"),
                ("--bench=locktable", f"--locality={locality}", f"--fw={fw}"))
            for locality in (85, 95, 100) for fw in (100, 5, 1, 0)]


def zipf() -> list[Row]:
    return [Row(f"Zipf 0.99, {fw} % exclusive", "cx6-4nodes", 2, 2, 20000,
                ("alock", "rma-rw", "shiftlock"),
                ("--bench=micro", "--locks=100000", "--zipf=0.99", f"--fw={fw}"))
            for fw in (100, 50, 5, 0)]


def clients() -> list[Row]:
    return [Row(f"{bench.upper()}, 5 nodes of 48, {fw} % exclusive", "cx5-6nodes", 5, 48, 100,
                ("rma-rw", "mgl"), (f"--bench={bench}", f"--fw={fw}"))
            for bench in BENCHES for fw in ("100", "2", "0.2")]


def few() -> list[Row]:
    return [Row(f"{bench.upper()}, {nodes} nodes of 2, {fw} % exclusive", "cx6-4nodes", nodes, 2,
                10000 // nodes, ("rma-rw", "alock", "rma-mcs", "shiftlock", "mgl"),
                (f"--bench={bench}", f"--fw={fw}"))
            for bench in BENCHES for fw in ("100", "20", "5", "2", "0.2") for nodes in (2, 4)]


ROWS = {"locks": locks, "zipf": zipf, "clients": clients, "few": few}


def found(simulator: Simulator, row: Row, seconds: float) -> dict[str, Result]:
    topology = f"node:{row.nodes} core:{row.each}"
    length = [f"--seconds={seconds:g}"] if seconds else []
    asked = [f"--lock={','.join((KIND, *row.others))}", f"--iterations={row.iterations}", *length,
             "-o", f"topology={topology}", *row.options]
    results = simulator.run(row.machine, row.nodes * row.each, asked)
    return {r.lock: r for r in results}


def measure(build: Build, args) -> bool:
    rows = matching([r for part in args.part for r in ROWS[part]()], args.match,
                    "row of these parts")
    simulator = Simulator(build, 2)
    table = Table("", KIND, "best other kind", "ratio", "p99 of its p99", "Jain's index",
                  "not steady")
    ok = True
    for row in rows:
        by_kind = found(simulator, row, args.seconds)
        if len(by_kind) < 1 + len(row.others):
            complain(f"{row.name}: did not run")
            ok = False
            continue
        own = by_kind.pop(KIND)
        best = max(by_kind.values(), key=lambda r: r.throughput)
        table.row(row.name, rate(own.throughput), f"`{best.lock}` {rate(best.throughput)}",
                  digits(own.throughput / best.throughput),
                  digits(own.p99 / best.p99) if best.p99 else "-", digits(own.fairness),
                  own.get("unsteady", "") or best.get("unsteady", ""))
    return ok
