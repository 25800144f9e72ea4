# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report figures: draw the data that pawl-report reproduce wrote (data.py)."""
from __future__ import annotations

import argparse
import os
from typing import Sequence

from . import style
from .data import BESIDE, FOLDER, Panel, read
from .simulate import UNSTEADY
from .text import rate

COLUMNS = {"fig6": 2, "figalock": 2, "figranks": 2, "figshift7": 2, "figshift8": 2,
           "figshift9": 2, "figshift11": 2, "figshift12": 2, "figshift13": 1, "figcitron7": 2,
           "figcitron8": 2, "figcitron9": 2, "figcitron10": 1, "figcitron11": 1, "figcitron12": 2}
"""The number of panels side by side; default 3."""

ABOUT = """\
Draws the data that "pawl-report reproduce" wrote: FILE.tsv becomes FILE.svg. Without a name: all of
doc/measured/figures in the source tree, which are the figures of doc/measured/reproduction.md and
of speed.md beside it."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", default="figures",
                        help="the folder of the figures (default: figures)")
    parser.add_argument("--format", choices=style.FORMATS, default="svg", help="(default: svg)")
    parser.add_argument("file", nargs="*",
                        help="data, FILE.tsv (default: all of doc/measured/figures)")


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


def steady_panels(path: str) -> list[Panel]:
    """Those that are drawn, without the points of runs that are not steady."""
    read_all = read(path)
    unsteady = {(panel.title, name, x) for panel in read_all if panel.title.endswith(UNSTEADY)
                for name, points in panel.series.items() for x, _ in points}
    panels = [panel for panel in read_all if not panel.is_beside]
    for panel in panels:
        steady = {name: [(x, y) for x, y in points if
                         (panel.title + BESIDE + UNSTEADY, name, x) not in unsteady]
                  for name, points in panel.series.items()}
        panel.series = {name: points for name, points in steady.items() if points}
    return [panel for panel in panels if panel.series]


def draw(path: str, out: str) -> None:
    """One file of data, with the same colour for a series in all panels."""
    panels = steady_panels(path)
    name = os.path.splitext(os.path.basename(path))[0]
    colours = style.Colours(dict.fromkeys(s for p in panels for s in p.series))
    figure, axes = style.panels(len(panels), COLUMNS.get(name, 3))
    for ax, panel in zip(axes, panels):
        (draw_bars if panel.has_bars else draw_lines)(ax, panel, colours)
        ax.set_title(panel.title)
        style.legend_below(ax, 2 if max(map(len, panel.series)) > 14 else 3)
    style.save(figure, out)


def all_data() -> Sequence[str]:
    """All files with something to draw."""
    paths = sorted(os.path.join(FOLDER, f) for f in os.listdir(FOLDER) if f.endswith(".tsv"))
    return [path for path in paths if not all(panel.is_beside for panel in read(path))]


def main(args: argparse.Namespace) -> int:
    for path in args.file or all_data():
        name = os.path.splitext(os.path.basename(path))[0]
        out = os.path.join(args.out, f"{name}.{args.format}")
        draw(path, out)
        print(out, flush=True)
    return 0
