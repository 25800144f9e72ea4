# SPDX-License-Identifier: BSD-3-Clause
"""The data of a figure: a file with a table for each panel, and an empty line between two tables.

The cells of a line are separated by tabs. The first line of a table is the title and the values of
x, each further line a series: its name and its values, where an empty cell is no point. In the
title, behind a "|" stands the name of x, which is the ranks if there is none, and behind another
one "linear" if the axis of x is not to be logarithmic. If x is a word there are bars, a group for
each word. A table whose title has BESIDE belongs to the one before it, and is not drawn."""
from __future__ import annotations

import os
from dataclasses import dataclass, field

from .launch import SOURCE
from .results import BadInput

BESIDE = "; "
FOLDER = os.path.join(SOURCE, "doc", "measured", "figures")


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass
class Panel:
    title: str
    xlabel: str = "ranks"
    linear: bool = False
    series: dict[str, list[tuple[str, float]]] = field(default_factory=dict)

    @property
    def is_beside(self) -> bool:
        return BESIDE in self.title

    @property
    def words(self) -> list[str]:
        """The x values in the order of the file, each once."""
        return list(dict.fromkeys(x for points in self.series.values() for x, _ in points))

    @property
    def has_bars(self) -> bool:
        return not all(is_number(x) for x in self.words)


def read(path: str) -> list[Panel]:
    panels: list[Panel] = []
    xs: list[str] | None = None  # before a title
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    for n, line in enumerate(lines, 1):
        name, *values = line.split("\t")
        if not line:
            xs = None
        elif xs is None:
            title, *more = name.split("|")
            panels.append(Panel(title, *more[:1], linear="linear" in more[1:]))
            xs = values
        elif not values or len(values) != len(xs) or not all(not v or is_number(v) for v in values):
            raise BadInput(f"{path}, line {n}: not a series and a number for each x, with tabs")
        else:
            panels[-1].series[name] = [(x, float(v)) for x, v in zip(xs, values) if v]
    if not any(panel.series for panel in panels):
        raise BadInput(f"{path}: no data")
    return panels


class Data:
    """What a simulation adds point by point, to be written."""

    def __init__(self) -> None:
        self.panels: dict[str, dict[str, dict[str, float]]] = {}

    def add(self, panel: str, series: str, x: object, value: float) -> None:
        self.panels.setdefault(panel, {}).setdefault(series, {})[str(x)] = value

    def write(self, path: str) -> None:
        if not self.panels:
            raise BadInput(f"{path}: the simulation gave no data")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(map(table, self.panels.items())))


def table(panel: tuple[str, dict[str, dict[str, float]]]) -> str:
    title, series = panel
    xs = list(dict.fromkeys(x for points in series.values() for x in points))
    rows = [[title, *xs]]
    rows += [[name, *(f"{points[x]:.6g}" if x in points else "" for x in xs)]
             for name, points in series.items()]
    return "".join("\t".join(row) + "\n" for row in rows)
