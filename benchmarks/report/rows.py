# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the tables, each with a name: those that --match selects, and a job for each."""
from __future__ import annotations

from typing import Callable, Protocol, Sequence, TypeVar

from .launch import Progress
from .results import BadInput


class Named(Protocol):
    @property
    def name(self) -> str:
        ...


R = TypeVar("R", bound=Named)


def matching(rows: Sequence[R], text: str, what: str = "row") -> list[R]:
    """The rows whose names contain the text."""
    found = [r for r in rows if text in r.name]
    if not found:
        raise BadInput(f"--match: no {what} contains \"{text}\"; the names are: "
                       + "; ".join(r.name for r in rows))
    return found


def measure_each(rows: Sequence[R], measure: Callable[[R], bool]) -> bool:
    """Call measure for each row, with progress; whether all of them were right."""
    progress = Progress(len(rows))
    ok = True
    for row in rows:
        progress.step(row.name)
        ok = measure(row) and ok
    progress.clear()
    print()
    return ok
