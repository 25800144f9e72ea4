# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report plot: figures of the JSON lines of pawl-bench, in the manner of Figures 3 to 6 of the
RMA-RW paper (HPDC'16)."""
from __future__ import annotations

import argparse
import os
import re
from collections import defaultdict
from typing import Iterable, Sequence

from . import plot_more, results, style
from .results import BadInput, Result
from .text import duration, plural, rate

ABOUT = """\
Draws what the data has, one figure for each MPI and number of nodes where there are several:
  contestants       bars: the locks of each run side by side
  BENCH             throughput over ranks, a line for each lock (lb: latency)
                    (range-grow-ranks and abort-ranks for these two)
  BENCH-fw          the same, a panel for each fraction of writers
  locktable-cdf, tatp-cdf, tpcc-cdf, bank-cdf
                    distributions of the latencies, of some transactions each
  micro-ops         operations for an acquire and its release
  micro-goodput     acquires over time, of clients that abandon locks
  range-sizes       ranges of mixed lengths: acquires by length
  range-skew        acquires over the skew of where ranges begin
  range-grow        acquires over time, in a space that grows
  falseconflict     ranges that meet in citron's tree alone, by length and k
  abort             attempts that began again, by number of clients"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", help="draw all figures into this folder")
    parser.add_argument("--bars", metavar="FILE",
                        help="draw contestants alone, to this file (.svg, .png or .pdf)")
    parser.add_argument("--format", choices=style.FORMATS, default="svg",
                        help="of the figures in --out (default: svg)")
    parser.add_argument("file", nargs="+", help="what pawl-bench --json wrote")


# ---------------------------------------------------------------------- what a result is of

def units(bench: str) -> str:
    if bench in ("dht", "btio", "oltp", "poet"):
        return "operations"
    return "transactions" if bench in ("tatp", "tpcc", "bank") else "acquires"


def law(r: Result) -> str:
    """What distinguishes two cases of a workload."""
    text = f", zipf {r.zipf:g}" if r.get("zipf", 0) > 0 else ""
    if r.bench == "locktable":
        text += f", locality {r.get('locality', 100):g} %"
    if r.bench in ("range", "abort"):
        text += f", length {r.length}, {r.units} units"
    if r.bench == "range-grow":
        text += f", {r.units} units at first"
    if r.get("fail", 0) > 0:
        text += f", failures {r.fail:g}"
    return text


def case_key(r: Result) -> tuple:
    return r.bench, r.ranks, r.nodes, r.active, r.fw, r.locks, law(r)


def case_title(r: Result) -> str:
    text = f"{r.bench.upper()}, {plural(r.ranks, 'rank')}"
    if r.nodes > 1:
        text += f" on {r.nodes} nodes"
    if r.active < r.ranks and r.bench != "dht":
        text += ", uncontended" if r.active == 1 else f", {r.active} active"
    if r.locks > 1:
        text += f", {r.locks} locks"
    text += law(r)
    if r.fw < 100 or r.bench == "dht":
        text += f", F_W = {r.fw:g} %"
    return text


def value(r: Result) -> float:
    """The value of a result in the figures: a latency in ns for LB, else a throughput."""
    return r.p50 if r.bench == "lb" else r.throughput


# ---------------------------------------------------------------------- bars

def bars_of_case(ax, of_case: Sequence[Result], mpis: Sequence[str], colours) -> None:
    time = of_case[0].bench == "lb"
    show = duration if time else rate
    locks = list(dict.fromkeys(r.lock for r in of_case))
    thickness = 0.8 / len(mpis)
    values = [v for r in of_case for v in [value(r), *([] if time else r.speeds)] if v > 0]
    for r in of_case:
        if value(r) <= 0:
            continue
        y = locks.index(r.lock) - 0.4 + (mpis.index(r.mpi) + 0.5) * thickness
        ax.barh(y, value(r), thickness * 0.92,
                color=colours.colour(r.mpi if len(mpis) > 1 else r.lock))
        end = value(r)
        if not time and len(r.speeds) > 1:
            end = max(r.speeds)
            ax.plot([min(r.speeds), end], [y, y], color="#333333", linewidth=1)
        ax.annotate(show(value(r)), (end, y), xytext=(4, 0), textcoords="offset points",
                    va="center", fontsize=8)
    ax.set_yticks(range(len(locks)), locks)
    ax.set_ylim(len(locks) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_xscale("log")
    low = min(values, default=1) / 3
    high = max(values, default=10) * 8
    ax.set_xlim(low, high)
    style.value_axis(ax.xaxis, low, high, True, show)
    ax.set_title(case_title(of_case[0]))
    ax.set_xlabel("acquire + release, median; logarithmic" if time
                  else f"{units(of_case[0].bench)} a second, logarithmic; line: all repetitions")


def contestants(measured: Sequence[Result], path: str, everything: bool) -> None:
    """Bars of all cases; of a series over ranks, the case with the most ranks."""
    cases: dict[tuple, list[Result]] = defaultdict(list)
    for r in measured:
        cases[case_key(r)].append(r)
    whole = [r.ranks for r in measured if r.active == r.ranks or r.bench == "dht"]
    most = max(whole or [r.ranks for r in measured])
    shown = [c for c in cases.values() if everything or c[0].ranks == most]
    mpis = list(dict.fromkeys(r.mpi for r in measured))
    colours = style.Colours(mpis if len(mpis) > 1 else dict.fromkeys(r.lock for r in measured))
    rows = max(len({r.lock for r in c}) for c in shown)
    figure, axes = style.panels(len(shown), 2, 6.2, 1.1 + 0.24 * rows)
    for ax, of_case in zip(axes, shown):
        bars_of_case(ax, of_case, mpis, colours)
    if len(mpis) > 1:
        handles = [style.plt.Rectangle((0, 0), 1, 1, color=colours.colour(m)) for m in mpis]
        axes[0].legend(handles, mpis, loc="lower right", frameon=True)
    figure.suptitle("Pawl: locks compared in one run" + (f", {mpis[0]}" if len(mpis) == 1 else ""))
    style.save(figure, path)


# ---------------------------------------------------------------------- lines over ranks

def lines_panel(ax, of_panel: Sequence[Result], title: str, colours) -> None:
    time = of_panel[0].bench == "lb"
    series: dict[str, dict[int, Result]] = defaultdict(dict)
    for r in of_panel:
        series[r.lock][r.ranks] = r
    for lock, by_ranks in series.items():
        ranks = sorted(by_ranks)
        ax.plot(ranks, [value(by_ranks[k]) for k in ranks], **colours.line(lock))
        if not time:
            ax.vlines(ranks, [min(by_ranks[k].speeds) for k in ranks],
                      [max(by_ranks[k].speeds) for k in ranks],
                      color=colours.colour(lock), alpha=0.4, linewidth=3)
    style.point_axis(ax, [r.ranks for r in of_panel], log=True)
    style.y_values(ax, [value(r) for r in of_panel], True, duration if time else rate)
    ax.set_title(title)
    ax.set_xlabel("ranks")
    ax.set_ylabel("acquire + release, median" if time
                  else f"{units(of_panel[0].bench)} a second")
    style.legend_right(ax)


def file_name(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower())


def group_key(r: Result) -> tuple:
    return r.mpi, r.nodes, r.bench, r.locks, law(r)


def draw_group(of_group: Sequence[Result], name: str, out: str, suffix: str) -> list[str]:
    """The figures of one workload: over ranks, and by fraction of writers."""
    first = of_group[0]
    if len({r.ranks for r in of_group}) < 2:
        return []
    title = f"{first.bench.upper()}: {first.mpi}, {plural(first.nodes, 'node')}" + (
        f", {first.locks} locks" if first.locks > 1 else "") + law(first)
    colours = style.Colours(dict.fromkeys(r.lock for r in of_group))
    fractions = sorted({r.fw for r in of_group})
    by_fw = {fw: [r for r in of_group if r.fw == fw] for fw in fractions}
    sheets: list[tuple[str, list[float]]] = []
    if first.bench == "dht" or len(fractions) == 1:
        sheets.append((name, fractions))
    else:
        # All locks with exclusive acquires only; for each other fraction, the locks that have it.
        if 100 in by_fw:
            sheets.append((name, [100]))
        several = {r.lock for r in of_group
                   if len({x.fw for x in of_group if x.lock == r.lock}) > 1}
        if several:
            sheets.append((name + "-fw", fractions))
    drawn = []
    for sheet, of_sheet in sheets:
        figure, axes = style.panels(len(of_sheet), 2, 7, 3.9)
        for ax, fw in zip(axes, of_sheet):
            chosen = by_fw[fw]
            if sheet.endswith("-fw"):
                chosen = [r for r in chosen if r.lock in several]
            lines_panel(ax, chosen, f"{title}, F_W = {fw:g} %", colours)
        drawn.append(os.path.join(out, f"{sheet}.{suffix}"))
        style.save(figure, drawn[-1])
    return drawn


def over_ranks(measured: Iterable[Result], out: str, suffix: str) -> list[str]:
    groups: dict[tuple, list[Result]] = defaultdict(list)
    for r in measured:
        # LB uncontended has one point, whatever the number of ranks.
        if r.active != 1 or r.ranks == 1 or r.bench == "dht":
            groups[group_key(r)].append(r)
    drawn = []
    for (mpi, nodes, bench, locks, rest), of_group in groups.items():
        name = f"{bench}-ranks" if bench in plot_more.OWN_FIGURES else bench
        if sum(key[2] == bench for key in groups) > 1:
            some = f"-{locks}l" if locks > 1 else ""
            name = file_name(f"{bench}-{mpi}-{nodes}n{some}{rest}")
        drawn += draw_group(of_group, name, out, suffix)
    return drawn


# ---------------------------------------------------------------------- the command

def main(args: argparse.Namespace) -> int:
    if not args.out and not args.bars:
        raise BadInput("--out DIR or --bars FILE is needed; see pawl-report plot --help")
    if args.bars and not args.bars.endswith(tuple("." + f for f in style.FORMATS)):
        raise BadInput(f"--bars: {args.bars} is of no known format; accepted: "
                       + ", ".join("." + f for f in style.FORMATS))
    measured = [r for file in args.file for r in results.read(file)]
    if not measured:
        raise BadInput("no results of pawl-bench in " + ", ".join(args.file))
    drawn = []
    if args.bars:
        contestants(measured, args.bars, everything=True)
        drawn.append(args.bars)
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        path = os.path.join(args.out, f"contestants.{args.format}")
        contestants(measured, path, everything=False)
        drawn.append(path)
        drawn += over_ranks(measured, args.out, args.format)
        drawn += plot_more.draw_all(measured, args.out, args.format)
    print("\n".join(drawn))
    return 0
