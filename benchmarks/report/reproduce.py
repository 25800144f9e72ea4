# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report reproduce: the data of the papers' figures, by simulation."""
from __future__ import annotations

import argparse
import os
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Callable

from . import figures, headlines, launch, style, vary
from .papers import alock, citron, rma_rw, scaling, shiftlock
from .results import BadInput
from .simulate import Points, Simulator
from .text import Table

FIGURES: dict[str, Callable[[Simulator, bool], Points]] = {
    "3": rma_rw.figure_3,
    "4": rma_rw.figure_4,
    "5": rma_rw.figure_5,
    "6": rma_rw.figure_6,
    "alock": alock.figure,
    "shift4": shiftlock.figure_4,
    "shifttable3": shiftlock.tables_3_4,
    "shift7": shiftlock.figure_7,
    "shift8": shiftlock.figure_8,
    "shift9": shiftlock.figure_9,
    "shift10": shiftlock.figure_10,
    "shift11": shiftlock.figure_11,
    "shift12": shiftlock.figure_12,
    "shift13": shiftlock.figure_13,
    "citron6": citron.figure_6,
    "citron7": citron.figure_7,
    "citron8": citron.figure_8,
    "citron9": citron.figure_9,
    "citron10": citron.figure_10,
    "citron11": citron.figure_11,
    "citron12": citron.figure_12,
    "citrontable2": citron.table_2,
    "scaling": scaling.figure,
    "ranks": scaling.figure_ranks,
}
NONE = "none"

ABOUT = f"""\
Runs pawl-sim of the build tree (default: the current folder) on descriptions of the papers'
machines, and writes figN.tsv, the data of doc/measured/reproduction.md and speed.md, and figN.svg.
The data is the same each time. A run that is not steady is made longer (pawl-sim --steady), and is
not drawn if that does not help. Each rate has beside it Jain's index, p99, the longest wait and the
share of writers; these are in the data only. At the end it prints a table of the papers' headlines;
--only {NONE} prints it for the data that is there. The verdict is "reached", "beyond"
({headlines.BEYOND:g} times the paper's figure or more), "short", or "undecidable": a run is not
steady, or the verdict hangs on an assumed constant.

--vary simulates the headlines of these figures on machines with {", ".join(vary.CONSTANTS)} at half
and at twice, and keeps their values beside the data: a headline that is reached with some and short
with others is undecidable.

figures of --only: {", ".join(list(FIGURES)[:10])},
  {", ".join(list(FIGURES)[10:])}
  (3 to 6: the RMA-RW paper; shift4 has the paper's 5 and 6, too; scaling and ranks are not from a
  paper)"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="figures 3 to 6 and scaling up to "
                        "128 ranks only, ranks up to 2048, alock with 12 threads a node and fewer "
                        "mixes, and citron6 with two numbers of clients")
    parser.add_argument("--out", metavar="DIR", default=figures.FOLDER,
                        help="the folder of the data (default: doc/measured/figures of the "
                             "source tree)")
    parser.add_argument("--draw", metavar="DIR", default="figures",
                        help="the folder of the figures (default: figures)")
    parser.add_argument("--format", choices=style.FORMATS, default="svg", help="(default: svg)")
    parser.add_argument("--only", metavar="LIST", default=",".join(FIGURES),
                        help="these figures, separated by commas")
    parser.add_argument("--vary", action="store_true", help="only the headlines, on machines with "
                        "other constants")
    parser.add_argument("--jobs", type=int, metavar="N", default=os.cpu_count() or 1,
                        help="simulations at a time (default: the number of cores)")
    parser.add_argument("build", nargs="?", default=".", help="a build tree")


def chosen(only: str) -> list[str]:
    wanted = [] if only == NONE else only.split(",")
    for name in wanted:
        if name not in FIGURES:
            raise BadInput(f"--only: there is no figure \"{name}\"; accepted: {NONE}, "
                           + ", ".join(FIGURES))
    return wanted


def simulate(args: argparse.Namespace, wanted: list[str]) -> None:
    """All figures, each in a thread of its own, which runs one simulation after the other."""
    simulator = Simulator(launch.Build(args.build), args.jobs)
    os.makedirs(args.out, exist_ok=True)
    progress = launch.Progress(len(wanted))
    with ThreadPoolExecutor(max(len(wanted), 1)) as pool:
        running: dict[Future, str] = {pool.submit(FIGURES[name], simulator, args.quick): name
                                      for name in wanted}
        try:
            while running:
                done, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                progress.show(f"{len(wanted) - len(running)} of {len(wanted)} figures,"
                              f" {simulator.ended} simulations")
                for future in done:
                    finish(args, running.pop(future), future.result(), progress)
        except BaseException:
            simulator.stop()
            raise
    progress.clear()


def finish(args: argparse.Namespace, name: str, data: Points, progress: launch.Progress) -> None:
    path = os.path.join(args.out, f"fig{name}.tsv")
    data.write(path)
    drawn = os.path.join(args.draw, f"fig{name}.{args.format}")
    figures.draw(path, drawn)
    progress.clear()
    print(f"{path}\n{drawn}", flush=True)


def vary_headlines(args: argparse.Namespace, wanted: list[str]) -> None:
    judged = {h.figure for h in headlines.HEADLINES}
    some = {name: FIGURES[name] for name in wanted if name in judged}
    if not some:
        raise BadInput("--vary: no headline is of these figures; accepted: "
                       + ", ".join(name for name in FIGURES if name in judged))
    vary.vary(Simulator(launch.Build(args.build), args.jobs), some,
              os.path.join(args.out, f"fig{headlines.VARIED}.tsv"), launch.Progress(1))


def main(args: argparse.Namespace) -> int:
    wanted = chosen(args.only)
    if args.jobs < 1:
        raise BadInput(f"--jobs: {args.jobs} is not a whole number from 1 on")
    if args.vary:
        vary_headlines(args, wanted)
    elif wanted:
        simulate(args, wanted)
    verdicts = [v for v in headlines.judge(args.out) if not wanted or v.of.figure in wanted]
    if verdicts:
        table = Table(*headlines.COLUMNS)
        for verdict in verdicts:
            table.row(*verdict.cells)
        words = Counter(v.word for v in verdicts)
        print("\n" + ", ".join(f"{n} {word}" for word, n in sorted(words.items())))
    return 0
