# SPDX-License-Identifier: BSD-3-Clause
"""Distributions, operations, times and ranges of pawl-bench's results, in the manner of Figure 6 of
the ALock paper (SPAA'24), 6, 10, 11 and 13 of the ShiftLock paper (FAST'25), 7 and 9 to 12 of the
Citron paper (FAST'23)."""
from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import Callable, Sequence

from . import style
from .results import Result
from .text import plural, rate

Curve = Sequence[Sequence[float]]
"""Points, each an x and a y."""
Panels = dict  # by title: {name of a series: what is drawn of it}

SHOWN_TRANSACTIONS = {"tatp": ("GSD", "UL"), "tpcc": ("DLY", "NEW"),
                      "bank": ("balance", "transfer")}
RANGE_LENGTHS = (1, 16, 256)
OWN_FIGURES = ("range-grow", "abort")
"""Workloads that give their name to a figure."""


def where(r: Result) -> str:
    on = f" on {r.nodes} nodes" if r.nodes > 1 else ""
    return f"{r.mpi}, {plural(r.ranks, 'rank')}{on}"


def gather(results: Sequence[Result], title: Callable[[Result], str],
           what: Callable[[Result], object],
           name: Callable[[Result], str] = lambda r: r.lock) -> Panels:
    """By panel and series what() says; results of which it says nothing are left out."""
    panels: Panels = defaultdict(dict)
    for r in results:
        drawn = what(r)
        if drawn:
            panels[title(r)][name(r)] = drawn
    return panels


def sheet(panels: Panels, path: str, draw: Callable, height: float = 3.8) -> list[str]:
    """A figure with a panel for each title; none if there is no data."""
    if not panels:
        return []
    figure, axes = style.panels(len(panels), 2, 6.8, height)
    colours = style.Colours(dict.fromkeys(n for series in panels.values() for n in series))
    for ax, (title, series) in zip(axes, panels.items()):
        draw(ax, series, colours)
        ax.set_title(title)
        style.legend_right(ax)
    style.save(figure, path)
    return [path]


def curves(ax, series: dict[str, Curve], colours, step: bool = False, points: bool = False) -> None:
    for name, curve in series.items():
        line = colours.line(name)
        if not points:
            line["marker"] = ""
        ax.plot([p[0] for p in curve], [p[1] for p in curve],
                drawstyle="steps-post" if step else "default", **line)


# ---------------------------------------------------------------------- distributions

def cdf_curve(pairs: Curve) -> Curve:
    """The last pair is the maximum, which would stretch the axis for one sample."""
    return [(max(x, 1), y) for x, y in (pairs or [])[:-1]]


def draw_cdf(ax, series: dict[str, Curve], colours) -> None:
    curves(ax, series, colours, step=True)
    xs = [x for curve in series.values() for x, _ in curve]
    ax.set_xscale("log")
    style.value_axis(ax.xaxis, min(xs), max(xs), True, style.duration)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("latency")
    ax.set_ylabel("fraction done")


def distributions(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    drawn = []
    panels = gather([r for r in results if r.bench == "locktable"],
                    lambda r: f"LOCKTABLE, {where(r)}, {r.locks} locks, "
                              f"locality {r.get('locality', 100):g} %",
                    lambda r: cdf_curve(r.get("cdf")))
    drawn += sheet(panels, os.path.join(out, f"locktable-cdf.{suffix}"), draw_cdf)
    for bench, types in SHOWN_TRANSACTIONS.items():
        panels = {}
        for kind in types:
            panels.update(gather([r for r in results if r.bench == bench],
                                 lambda r: f"{bench.upper()}, {kind}: {where(r)}",
                                 lambda r: cdf_curve(r.times(kind).get("cdf"))))
        drawn += sheet(panels, os.path.join(out, f"{bench}-cdf.{suffix}"), draw_cdf)
    return drawn


# ---------------------------------------------------------------------- stacked bars

def stacked(parts: Sequence[str], xlabel: str, show: Callable[[float], str]) -> Callable:
    """A drawing of rows whose parts lie one behind the other."""
    def draw(ax, series: dict[str, Sequence[float]], _) -> None:
        names = list(series)
        left = [0.0] * len(names)
        for i, part in enumerate(parts):
            widths = [series[n][i] for n in names]
            ax.barh(range(len(names)), widths, 0.7, left=left, label=part,
                    color=style.COLOURS[(0, 2, 1)[i]])
            left = [a + b for a, b in zip(left, widths)]
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_xlim(left=0)
        style.value_axis(ax.xaxis, 0, max(left), False, show)
        ax.set_xlabel(xlabel)
    return draw


def row_height(panels: Panels) -> float:
    return 1.2 + 0.3 * max((len(series) for series in panels.values()), default=0)


def operations(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    panels = gather([r for r in results if r.bench == "micro" and not r.get("fail")
                     and r.operation("atomic") is not None],
                    lambda r: f"{where(r)}, {r.locks} locks, F_W = {r.fw:g} %"
                              + (f", zipf {r.zipf:g}" if r.zipf > 0 else ""),
                    lambda r: [r.operation(k) for k in ("atomic", "get", "put")])
    draw = stacked(("atomics", "gets", "puts"), "operations per acquire and release",
                   lambda v: f"{v:g}")
    return sheet(panels, os.path.join(out, f"micro-ops.{suffix}"), draw, row_height(panels))


def sizes(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    def speeds(r: Result) -> list[float]:
        return [r.times(f"length-{n}").get("count", 0) / r.seconds for n in RANGE_LENGTHS]

    panels = gather([r for r in results if r.bench == "range" and r.length == "mixed"],
                    lambda r: f"RANGE, {where(r)}, zipf {r.zipf:g}, {r.units} units", speeds)
    draw = stacked([plural(n, "unit") for n in RANGE_LENGTHS], "acquires a second", rate)
    return sheet(panels, os.path.join(out, f"range-sizes.{suffix}"), draw, row_height(panels))


# ---------------------------------------------------------------------- over time, by skew

def over_time(xlabel: str) -> Callable:
    def draw(ax, series: dict[str, Curve], colours) -> None:
        curves(ax, series, colours)
        ax.set_xlim(left=0)
        style.y_values(ax, [y for c in series.values() for _, y in c], False, rate)
        ax.set_xlabel(xlabel)
        ax.set_ylabel("acquires a second")
    return draw


def goodput_curve(r: Result) -> Curve:
    parts = r.get("goodput") or []
    return [((i + 0.5) * 100 / len(parts), v) for i, v in enumerate(parts)]


def goodput(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    panels = gather([r for r in results if r.get("fail", 0) > 0],
                    lambda r: f"MICRO, {where(r)}, failures {r.fail:g}", goodput_curve)
    return sheet(panels, os.path.join(out, f"micro-goodput.{suffix}"),
                 over_time("time, per cent of the run"))


def grow(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    panels = gather([r for r in results if r.bench == "range-grow"],
                    lambda r: f"RANGE-GROW, {where(r)}, {r.units} units at first",
                    lambda r: r.get("over_time"))
    return sheet(panels, os.path.join(out, f"range-grow.{suffix}"), over_time("time in seconds"))


def skew(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    """Where there is more than one skew."""
    panels: Panels = defaultdict(lambda: defaultdict(list))
    for r in results:
        if r.bench == "range":
            title = f"RANGE, {where(r)}, length {r.length}, {r.units} units"
            panels[title][r.lock].append((r.zipf, r.throughput))
    panels = {title: {lock: sorted(points) for lock, points in series.items()}
              for title, series in panels.items()
              if len({x for points in series.values() for x, _ in points}) > 1}

    def draw(ax, series: dict[str, Curve], colours) -> None:
        curves(ax, series, colours, points=True)
        style.y_values(ax, [y for c in series.values() for _, y in c], False, rate)
        ax.set_xlabel("exponent of Zipf's law")
        ax.set_ylabel("acquires a second")

    return sheet(panels, os.path.join(out, f"range-skew.{suffix}"), draw)


# ---------------------------------------------------------------------- columns of rows

def column(rows: Curve | None, c: int) -> Curve:
    """The first and one other column, without the zeros that a logarithmic axis cannot show."""
    return [(row[0], row[c]) for row in rows or [] if row[c] > 0]


def power(value: float) -> str:
    return f"{value:g}" if 1e-3 <= value < 1e4 else f"{value:.0e}".replace("e-0", "e-")


def both_log(xlabel: str, ylabel: str, shares: bool = False) -> Callable:
    def draw(ax, series: dict[str, Curve], colours) -> None:
        curves(ax, series, colours, points=True)
        style.point_axis(ax, [x for c in series.values() for x, _ in c], log=True)
        style.y_values(ax, [y for c in series.values() for _, y in c], True, power)
        if shares:
            ax.set_ylim(top=1)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
    return draw


def false_conflicts(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    panels: Panels = {}
    for r in results:
        if r.bench == "falseconflict":
            lines = {f"k = {k}": column(r.get("false_conflicts"), k + 1) for k in range(1, 7)}
            lines = {name: line for name, line in lines.items() if line}
            if lines:
                panels[f"FALSECONFLICT, {r.units} units"] = lines
    return sheet(panels, os.path.join(out, f"falseconflict.{suffix}"),
                 both_log("units of a range", "false conflicts of all pairs", shares=True))


def with_m(r: Result) -> str:
    """The lock, and its option m if that was set."""
    found = re.search(r"(?:^|[ ,])(m \d+)", r.get("parameters", ""))
    return f"{r.lock} {found.group(1)}" if found else r.lock


def aborts(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    panels = gather([r for r in results if r.bench == "abort"],
                    lambda r: f"ABORT, {where(r)}, length {r.length}, zipf {r.zipf:g}",
                    lambda r: column(r.get("by_clients"), 1), with_m)
    return sheet(panels, os.path.join(out, f"abort.{suffix}"),
                 both_log("clients", "aborts per acquire"))


def draw_all(results: Sequence[Result], out: str, suffix: str) -> list[str]:
    drawn = []
    for draw in (distributions, operations, goodput, grow, sizes, skew, false_conflicts, aborts):
        drawn += draw(results, out, suffix)
    return drawn
