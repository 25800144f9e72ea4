# SPDX-License-Identifier: BSD-3-Clause
"""What all figures share: colours, axes, legends, and how they are written to a file."""
from __future__ import annotations

import math
import os
from typing import Callable, Iterable, Sequence

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of the backend)
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator  # noqa: E402

from .text import duration, rate  # noqa: E402

# Okabe and Ito, which colour-blind readers tell apart; then Tol's for more than eight.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999",
           "#882255", "#332288", "#999933", "#44AA99")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
FORMATS = ("svg", "png", "pdf")

plt.rcParams.update({
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",  # text stays text, which a browser finds
    "svg.hashsalt": "pawl",  # the same figure gives the same file
})


class Colours:
    """A colour and a marker for each name, the same in all panels of a figure."""

    def __init__(self, names: Iterable[str] = ()):
        self.names: list[str] = []
        for name in names:
            self.index(name)

    def index(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def colour(self, name: str) -> str:
        return COLOURS[self.index(name) % len(COLOURS)]

    def marker(self, name: str) -> str:
        return MARKERS[self.index(name) % len(MARKERS)]

    def line(self, name: str) -> dict:
        """Of a series with points; the second dozen of series is dashed."""
        dashed = self.index(name) // len(COLOURS) % 2
        return {"color": self.colour(name), "marker": self.marker(name), "markersize": 5,
                "linewidth": 1.8, "linestyle": "--" if dashed else "-", "label": name}


def panels(count: int, columns: int, width: float = 4.8, height: float = 3.8):
    """A figure with that number of axes, side by side; surplus ones at the end are blank."""
    columns = max(1, min(columns, count))
    rows = math.ceil(count / columns)
    figure, grid = plt.subplots(rows, columns, squeeze=False, layout="constrained",
                                figsize=(width * columns, height * rows))
    axes = list(grid.flat)
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, axes[:count]


def number(value: float) -> str:
    """Up to a million as it is, 65536; then 2 M."""
    return rate(value) if value >= 1e6 else f"{value:.6g}"


def formatter(show: Callable[[float], str]) -> FuncFormatter:
    return FuncFormatter(lambda value, _: show(value) if value > 0 else "0")


def value_axis(axis, low: float, high: float, log: bool, show: Callable[[float], str]) -> None:
    """Ticks for values between these: powers of ten, or also 2 and 5 times these where they would
    be fewer than three."""
    axis.set_minor_locator(NullLocator())
    if log and low > 0:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        steps = (1,) if last - first > 3 else (1, 2, 5) if last - first <= 2 else (1, 3)
        ticks = [m * 10.0**e for e in range(first, last + 1) for m in steps]
        if last - first > 8:
            ticks = ticks[::2]
        axis.set_major_locator(FixedLocator(ticks))
    else:
        axis.set_major_locator(MaxNLocator(6))
    axis.set_major_formatter(formatter(show))


def point_axis(ax, values: Sequence[float], log: bool) -> None:
    """The x axis of a series over points: a tick for each of them, unless they are many."""
    points = sorted(set(values))
    log = log and points[0] > 0
    ax.set_xscale("log" if log else "linear")
    ax.xaxis.set_minor_locator(NullLocator())
    if len(points) <= 12:
        # Two labels need some room between them.
        place = [math.log(p) if log else p for p in points]
        least = (place[-1] - place[0]) / 11 if len(points) > 1 else 0
        shown, last = [], None
        for p, x in zip(reversed(points), reversed(place)):
            if last is None or last - x >= least:
                shown.append(p)
                last = x
        ax.xaxis.set_major_locator(FixedLocator(shown))
    elif log:
        value_axis(ax.xaxis, points[0], points[-1], True, number)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(6))
    small = points[0] < 0.01 and log
    ax.xaxis.set_major_formatter(FuncFormatter(
        lambda v, _: f"{v:.0e}".replace("e-0", "e-") if small else number(v)))
    if log and len(points) > 1:
        ax.set_xlim(points[0] / 1.15, points[-1] * 1.15)


def y_values(ax, values: Sequence[float], log: bool, show: Callable[[float], str]) -> None:
    """The y axis: logarithmic from below the smallest to above the largest, or linear from 0."""
    positive = [v for v in values if v > 0]
    log = log and bool(positive)
    if log:
        low, high = min(positive), max(positive)
        ax.set_yscale("log")
        if high / low < 4:  # a power of ten is to be seen
            low, high = low / 2, high * 2
        ax.set_ylim(low / 1.3, high * 1.3)
        value_axis(ax.yaxis, low / 1.3, high * 1.3, True, show)
    else:
        ax.set_ylim(bottom=0)
        value_axis(ax.yaxis, 0, max(values, default=1), False, show)


def legend_below(ax, columns: int = 3) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=columns,
                  columnspacing=1.2, handlelength=1.8)


def legend_right(ax) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if labels:
        ax.legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=1.8)


def save(figure, path: str) -> None:
    """By its suffix as SVG, PNG or PDF. The same data gives the same file."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    metadata = {"Date": None} if path.endswith(".svg") else {}
    figure.savefig(path, metadata=metadata, dpi=110)
    plt.close(figure)


__all__ = ["Colours", "FORMATS", "duration", "legend_below", "legend_right", "number", "panels",
           "point_axis", "rate", "save", "value_axis", "y_values"]
