# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report figures: draw the data that pawl-report reproduce wrote.

A line of such a file is: panel, series, x, value, with tabs between. PANEL is a title; behind a "|"
stands the name of x, which is the ranks if there is none, and behind another one "linear" if the
axis of x is not to be logarithmic. If x is a word there are bars, a group for each word.
"""
from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from typing import Sequence

from . import launch, style
from .results import BadInput
from .text import rate

FOLDER = os.path.join(launch.SOURCE, "doc", "figures")
COLUMNS = {"fig6": 2, "figalock": 2, "figshift7": 2, "figshift8": 2, "figshift9": 2,
           "figshift12": 2, "figshift13": 1, "figshift4costly": 2, "figcitron7": 2,
           "figcitron9": 2, "figcitron10": 1, "figcitron11": 1, "figcitron12": 2}
"""The number of panels side by side; default 3."""

ABOUT = """\
Draws the data that "pawl-report reproduce" wrote: FILE.tsv becomes FILE.svg. Without a name: all of
doc/figures in the source tree, which are the figures of doc/reproduction.md."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", default="figures",
                        help="the folder of the figures (default: figures)")
    parser.add_argument("--format", choices=style.FORMATS, default="svg", help="(default: svg)")
    parser.add_argument("file", nargs="*", help="data, FILE.tsv (default: all of doc/figures)")


@dataclass
class Panel:
    title: str
    xlabel: str = "ranks"
    linear: bool = False
    series: dict[str, list[tuple[str, float]]] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The x values in the order of the file, each once."""
        return list(dict.fromkeys(x for points in self.series.values() for x, _ in points))

    @property
    def has_bars(self) -> bool:
        return not all(is_number(x) for x in self.words)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read(path: str) -> list[Panel]:
    panels: dict[str, Panel] = {}
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None
    for n, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) != 4 or not is_number(cells[3]):
            raise BadInput(f"{path}, line {n}: not \"panel TAB series TAB x TAB value\"")
        title, *more = cells[0].split("|")
        panel = panels.setdefault(title, Panel(title, *more[:1], linear="linear" in more[1:]))
        panel.series.setdefault(cells[1], []).append((cells[2], float(cells[3])))
    if not panels:
        raise BadInput(f"{path}: no data")
    return list(panels.values())


def small(value: float) -> str:
    return f"{value:.0e}".replace("e-0", "e-") if 0 < value < 1e-3 else f"{value:.7g}"


def show_values(title: str):
    return rate if title.endswith("a second") else small


def draw_lines(ax, panel: Panel, colours) -> None:
    xs = [float(x) for x in panel.words]
    many = len(xs) > 20
    for name, points in panel.series.items():
        line = colours.line(name)
        if many:
            line["marker"] = ""
        ax.plot([float(x) for x, _ in points], [y for _, y in points], **line)
    style.point_axis(ax, xs, not panel.linear)
    values = [y for points in panel.series.values() for _, y in points]
    style.y_values(ax, values, not panel.linear, show_values(panel.title))
    ax.set_xlabel(panel.xlabel)


def draw_bars(ax, panel: Panel, colours) -> None:
    width = 0.84 / len(panel.series)
    for i, (name, points) in enumerate(panel.series.items()):
        places = [panel.words.index(x) - 0.42 + (i + 0.5) * width for x, _ in points]
        ax.bar(places, [y for _, y in points], width * 0.94, color=colours.colour(name), label=name)
    ax.set_xticks(range(len(panel.words)), panel.words)
    ax.grid(axis="x", visible=False)
    values = [y for points in panel.series.values() for _, y in points]
    log = panel.title.endswith(("a second", "us"))
    style.y_values(ax, values, log, show_values(panel.title))


def draw(path: str, out: str) -> None:
    """One file of data, with the same colour for a series in all panels."""
    panels = read(path)
    name = os.path.splitext(os.path.basename(path))[0]
    colours = style.Colours(dict.fromkeys(s for p in panels for s in p.series))
    figure, axes = style.panels(len(panels), COLUMNS.get(name, 3))
    for ax, panel in zip(axes, panels):
        (draw_bars if panel.has_bars else draw_lines)(ax, panel, colours)
        ax.set_title(panel.title)
        style.legend_below(ax, 2 if max(map(len, panel.series)) > 14 else 3)
    style.save(figure, out)


def all_data() -> Sequence[str]:
    return sorted(os.path.join(FOLDER, f) for f in os.listdir(FOLDER) if f.endswith(".tsv"))


def main(args: argparse.Namespace) -> int:
    for path in args.file or all_data():
        name = os.path.splitext(os.path.basename(path))[0]
        out = os.path.join(args.out, f"{name}.{args.format}")
        draw(path, out)
        print(out, flush=True)
    return 0
