# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and Markdown tables."""
from __future__ import annotations

from typing import Callable, Iterable

from .stats import Spread

RATE_UNITS = ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1, ""))
TIME_UNITS = ((1e9, " s"), (1e6, " ms"), (1e3, " us"), (1, " ns"))


def digits(value: float) -> str:
    """Three significant digits, never as 1e+03."""
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.3g}"


def scaled(value: float, units: Iterable[tuple[float, str]]) -> str:
    size, unit = 1.0, ""
    for size, unit in units:
        if value >= 0.9995 * size:
            break
    return digits(value / size) + unit


def rate(value: float | None) -> str:
    """12300 is "12.3 k"."""
    return "-" if value is None else scaled(value, RATE_UNITS)


def duration(ns: float | None) -> str:
    """12300 is "12.3 us"."""
    return "-" if ns is None else scaled(ns, TIME_UNITS)


def us(ns: float | None) -> str:
    return digits(ns / 1000) if ns else "-"


def with_spread(s: Spread | None, show: Callable[[float], str] = digits) -> str:
    """The median, with the range of the repetitions if there are several."""
    if s is None:
        return "-"
    if s.count < 2:
        return show(s.median)
    return f"{show(s.median)} ({show(s.low)} to {show(s.high)})"


def plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


class Table:
    """A table in Markdown whose lines are printed one by one."""

    def __init__(self, *columns: str):
        self.columns = len(columns)
        print()
        self.row(*columns)
        self.row(*["---"] * len(columns))

    def row(self, *cells: object) -> None:
        print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)

    def failed(self, name: str) -> None:
        self.row(name, "did not run", *[""] * (self.columns - 2))
