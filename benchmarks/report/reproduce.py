# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report reproduce: the data of the papers' figures, by simulation."""
from __future__ import annotations

import argparse
import os
from typing import Callable

from . import figures, launch, style
from .papers import alock, citron, rma_rw, scaling, shiftlock
from .results import BadInput
from .simulate import Data, Simulator

FIGURES: dict[str, Callable[[Simulator, bool], Data]] = {
    "3": rma_rw.figure_3,
    "4": rma_rw.figure_4,
    "5": rma_rw.figure_5,
    "6": rma_rw.figure_6,
    "alock": alock.figure,
    "shift4": shiftlock.figure_4,
    "shift7": shiftlock.figure_7,
    "shift8": shiftlock.figure_8,
    "shift9": shiftlock.figure_9,
    "shift12": shiftlock.figure_12,
    "shift13": shiftlock.figure_13,
    "citron6": citron.figure_6,
    "citron7": citron.figure_7,
    "citron9": citron.figure_9,
    "citron10": citron.figure_10,
    "citron11": citron.figure_11,
    "citron12": citron.figure_12,
    "scaling": scaling.figure,
}

ABOUT = f"""\
Runs pawl-sim of the build tree (default: the current folder) on descriptions of the papers'
machines, and writes figN.tsv, the data of doc/reproduction.md, and figN.svg. The data is the same
each time. Takes about an hour.

figures of --only: {", ".join(list(FIGURES)[:9])},
  {", ".join(list(FIGURES)[9:])}
  (3 to 6: the RMA-RW paper; shift4 has the paper's 5 and 6, too; scaling is not from a paper)"""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="figures 3 to 6 and scaling up to "
                        "128 ranks only")
    parser.add_argument("--out", metavar="DIR", default=figures.FOLDER,
                        help="the folder of the data (default: doc/figures of the source tree)")
    parser.add_argument("--draw", metavar="DIR", default="figures",
                        help="the folder of the figures (default: figures)")
    parser.add_argument("--format", choices=style.FORMATS, default="svg", help="(default: svg)")
    parser.add_argument("--only", metavar="LIST", default=",".join(FIGURES),
                        help="these figures, separated by commas")
    parser.add_argument("build", nargs="?", default=".", help="a build tree")


def main(args: argparse.Namespace) -> int:
    wanted = args.only.split(",")
    for name in wanted:
        if name not in FIGURES:
            raise BadInput(f"--only: there is no figure \"{name}\"; accepted: "
                           + ", ".join(FIGURES))
    simulator = Simulator(launch.Build(args.build))
    os.makedirs(args.out, exist_ok=True)
    progress = launch.Progress(len(wanted))
    for name in wanted:
        progress.step(f"figure {name}")
        path = os.path.join(args.out, f"fig{name}.tsv")
        FIGURES[name](simulator, args.quick).write(path)
        drawn = os.path.join(args.draw, f"fig{name}.{args.format}")
        figures.draw(path, drawn)
        progress.clear()
        print(f"{path}\n{drawn}", flush=True)
    return 0
