# SPDX-License-Identifier: BSD-3-Clause
"""The data of a figure: a file with a table for each panel, and an empty line between two tables.

The cells of a line are separated by tabs. The first line of a table is the title and the values of
x, each further line a series: its name and its values, where an empty cell is no point. In the
title, behind a "|" stands the name of x, which is the ranks if there is none, and behind another
one "linear" if the axis of x is not to be logarithmic. If x is a word there are bars, a group for
each word.

Behind the title may stand names, each after BESIDE: then a cell has, after its value, what stands
beside it, separated by CELL. That is read as panels of their own, which are not drawn."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Dict

from .launch import SOURCE
from .results import BadInput

BESIDE = "; "
CELL = ";"
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
    some: list[Panel] = []  # of this table
    xs: list[str] | None = None  # before a title
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    for n, line in enumerate(lines, 1):
        name, *values = line.split("\t")
        cells = [value.split(CELL) for value in values]
        if not line:
            xs = None
        elif xs is None:
            title, *more = name.split("|")
            main, *names = title.split(BESIDE)
            some = [Panel(t, *more[:1], linear="linear" in more[1:])
                    for t in (main, *(main + BESIDE + beside for beside in names))]
            panels += some
            xs = values
        elif not values or len(values) != len(xs) or not all(
                len(cell) <= len(some) and all(not v or is_number(v) for v in cell)
                for cell in cells):
            raise BadInput(f"{path}, line {n}: not a series and a number for each x, with tabs")
        else:
            for i, panel in enumerate(some):
                points = [(x, float(c[i])) for x, c in zip(xs, cells) if i < len(c) and c[i]]
                if points:
                    panel.series[name] = points
    panels = [panel for panel in panels if panel.series]
    if not panels:
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
        tables: dict[str, Table] = {}
        for panel, series in self.panels.items():
            title, bar, axis = panel.partition("|")
            main, _, name = title.partition(BESIDE)
            tables.setdefault(main + bar + axis, {"": {}})[name] = series
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(map(table, tables.items())))


Table = Dict[str, Dict[str, Dict[str, float]]]
"""Of a panel "", and of what stands beside it: values by series and x."""


def table(panel: tuple[str, Table]) -> str:
    title, bar, axis = panel[0].partition("|")
    parts = panel[1].values()
    names = dict.fromkeys(name for part in parts for name in part)
    xs = dict.fromkeys(x for part in parts for points in part.values() for x in points)

    def cell(name: str, x: str) -> str:
        values = (part.get(name, {}).get(x) for part in parts)
        return CELL.join("" if v is None else f"{v:.6g}" for v in values).rstrip(CELL)

    rows = [[BESIDE.join([title, *list(panel[1])[1:]]) + bar + axis, *xs]]
    rows += [[name, *(cell(name, x) for x in xs)] for name in names]
    return "".join("\t".join(row) + "\n" for row in rows)
