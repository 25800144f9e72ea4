# SPDX-License-Identifier: BSD-3-Clause
"""The kind that a program gets when it names none, beside the MPI's own lock: a table and a
picture of a few bars."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from . import plot, style
from .results import Result
from .text import Table, digits, rate

OURS = "adaptive"
MPI = "mpi-win-lock"
PSEUDO = ("raw-pair", "fompi-a", "redlock", "poet-free", "citron-tree")
"""Contestants that are no locks of this job."""


@dataclass(frozen=True)
class Answer:
    """One case: acquires a second."""

    title: str
    ours: float
    mpi: float
    best: float
    best_lock: str

    @property
    def times(self) -> str:
        return f"{digits(self.ours / self.mpi)} x"


def speed(r: Result) -> float:
    """Acquires a second; of LB, where one client is alone, from its median latency."""
    return 1e9 / r.p50 if r.bench == "lb" and r.p50 else r.throughput


def title(r: Result) -> str:
    if r.bench == "lb":
        text = "one rank alone"
    elif r.bench == "dht":
        text = f"hash table of {r.ranks} ranks"
    elif r.bench == "ecsb":
        text = f"{r.ranks} ranks at one lock"
    else:
        return plot.case_title(r)
    return text + (f", {r.fw:g} % exclusive" if r.fw < 100 else "")


def answers(measured: Sequence[Result]) -> list[Answer]:
    """The cases in which both were measured."""
    cases: dict[tuple, list[Result]] = {}
    for r in measured:
        if r.lock not in PSEUDO:
            cases.setdefault(plot.case_key(r), []).append(r)
    found = []
    for of_case in cases.values():
        by_lock = {r.lock: speed(r) for r in of_case}
        if by_lock.get(OURS, 0) <= 0 or by_lock.get(MPI, 0) <= 0:
            continue
        others = {k: v for k, v in by_lock.items() if k not in (OURS, MPI)}
        best = max(others, key=others.__getitem__, default="")
        found.append(Answer(title(of_case[0]), by_lock[OURS], by_lock[MPI],
                            others.get(best, 0), best))
    return found


def table(found: Sequence[Answer]) -> None:
    print(f"\nWhat a program gets that names no kind, {OURS}, and what the MPI gives:")
    rows = Table("case", OURS, "MPI_Win_lock", "ratio", "the best other lock")
    for a in found:
        rows.row(a.title, rate(a.ours), rate(a.mpi), a.times,
                 f"{a.best_lock} {rate(a.best)}" if a.best_lock else "-")


def picture(found: Sequence[Answer], mpi: str, path: str) -> None:
    """Two bars for each case."""
    figure, axes = style.panels(1, 1, 8.4, 1.3 + 0.8 * len(found))
    ax = axes[0]
    values = [v for a in found for v in (a.ours, a.mpi)]
    for y, a in enumerate(found):
        ax.barh(y - 0.2, a.ours, 0.36, color=style.COLOURS[0])
        ax.barh(y + 0.2, a.mpi, 0.36, color="#999999")
        ax.annotate(f"{rate(a.ours)}, {a.times}", (a.ours, y - 0.2), xytext=(4, 0),
                    textcoords="offset points", va="center", fontsize=9, fontweight="bold")
        ax.annotate(rate(a.mpi), (a.mpi, y + 0.2), xytext=(4, 0), textcoords="offset points",
                    va="center", fontsize=9)
    ax.set_yticks(range(len(found)), [a.title for a in found])
    ax.set_ylim(len(found) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xscale("log")
    low, high = min(values) / 3, max(values) * 20
    ax.set_xlim(low, high)
    style.value_axis(ax.xaxis, low, high, True, rate)
    ax.set_xlabel("acquires a second, logarithmic; longer is better")
    handles = [style.plt.Rectangle((0, 0), 1, 1, color=c) for c in (style.COLOURS[0], "#999999")]
    ax.legend(handles, [f"Pawl ({OURS})", f"MPI_Win_lock of {mpi}"], loc="upper center",
              bbox_to_anchor=(0.5, 1.25 if len(found) < 3 else 1.14), ncols=2)
    style.save(figure, path)
