# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report run: the tables of doc/, measured on this machine."""
from __future__ import annotations

import argparse

from . import launch
from .results import BadInput
from .tables import dropin, kinds, ranges, readers, scaling, ucx, workloads

TABLES = {
    "workloads": (workloads, "doc/measured/workloads.md: the ALock and ShiftLock papers"),
    "ranges": (ranges, "doc/measured/ranges.md: the Citron paper"),
    "dropin": (dropin, "doc/measured/dropin.md: MPI_Win_lock, natively and by libpawl-mpi"),
    "ucx": (ucx, "doc/measured/ucx.md: the transport over UCX"),
    "readers": (readers, "doc/measured/speed.md: rma-rw and fompi-rw on two hosts, by MPI and UCX"),
    "kinds": (kinds, "doc/measured/kinds.md: the default kind in pawl-sim"),
    "scaling": (scaling, "one contended lock over the number of ranks"),
}

ABOUT = "Prints in Markdown, for each build tree, one of these tables:\n" + "".join(
    f"  {name:<10} {text}{'; parts: ' + ', '.join(module.PARTS) if module.PARTS else ''}\n"
    for name, (module, text) in TABLES.items()) + """\
Contestants take turns; a figure is the median of the repetitions, with the smallest and the largest
of them (from 5 repetitions on: with the quartiles). Rows over two hosts need root, for network
namespaces. The progress is shown on stderr."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", choices=TABLES, help="the table to measure")
    parser.add_argument("build", nargs="*", help="build trees (default: the current folder)")
    parser.add_argument("--repetitions", type=positive, metavar="R",
                        help="number of repetitions (default: 3; dropin, ucx: 5)")
    parser.add_argument("--seconds", type=seconds, metavar="S",
                        help="time of each contestant in each repetition (default: workloads 1, "
                             "dropin 0.4, others 0.5)")
    parser.add_argument("--match", default="", metavar="TEXT",
                        help="only the rows whose name contains TEXT")
    parser.add_argument("--part", metavar="A,B,...", help="only these parts of ranges or ucx")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return value


def seconds(text: str) -> float:
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def chosen_parts(args: argparse.Namespace, module) -> list[str]:
    if args.part and not module.PARTS:
        raise BadInput(f"--part: the table {args.table} has no parts")
    wanted = args.part.split(",") if args.part else list(module.PARTS)
    for part in wanted:
        if part not in module.PARTS:
            raise BadInput(f"--part: {args.table} has no part \"{part}\"; accepted: "
                           + ", ".join(module.PARTS))
    return wanted


def main(args: argparse.Namespace) -> int:
    module, _ = TABLES[args.table]
    args.part = chosen_parts(args, module)
    args.repetitions = args.repetitions or module.REPETITIONS
    args.seconds = args.seconds or module.SECONDS
    ok = [module.measure(build, args) for build in launch.builds(args.build)]
    return 0 if all(ok) else 1
