# SPDX-License-Identifier: BSD-3-Clause
"""pawl-report compare: the locks on this machine, with tables, numbers and pictures."""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Sequence

from . import answer, launch, plot, results
from .launch import Build
from .results import BadInput, Result
from .text import Table, duration, rate, with_spread

LIMIT = 150
"""Seconds after which a run is ended."""

ABOUT = """\
Measures in each build tree (default: the current folder) the locks of libpawl and the MPI's own,
with --baselines also those of other papers: uncontended, contended by 2 ranks, then by 8 ranks on
any number of cores, and reader-writer locks with one writer in 500. Prints pawl-bench's tables,
medians with their spread, and, at the end, adaptive, which a program gets that names no kind,
beside MPI_Win_lock. Writes into the build tree pawl.svg, a picture of that, and pawl-bench.json and
pawl-bench.svg, with all locks. Takes about a minute for each tree.

environment: MPIRUN, the launcher, in place of the one that configure found"""


@dataclass(frozen=True)
class Case:
    title: str
    ranks: int
    options: Sequence[str]
    sharing: bool = False  # only locks that readers share


CASES = (
    Case("Uncontended: one rank acquires and releases, and the lock's home is that rank.", 2,
         ("--bench=lb", "--active=1")),
    Case("Contended by 2 ranks.", 2, ("--bench=ecsb",)),
    Case(f"Contended by 8 ranks, on {os.cpu_count()} cores.", 8, ("--bench=ecsb",)),
    Case("Readers and writers: one acquire in 500 is exclusive.", 8,
         ("--bench=ecsb", "--fw=0.2"), sharing=True),
    Case("A hash table: one operation in 5 inserts.", 4, ("--bench=dht", "--fw=20")),
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S",
                        help="time of each lock in each repetition (default: 0.2)")
    parser.add_argument("--repetitions", type=int, default=3, metavar="R",
                        help="number of repetitions (default: 3)")
    parser.add_argument("--lock", metavar="A,B,...",
                        help="only these locks (default: those of libpawl, and mpi-win-lock)")
    parser.add_argument("--baselines", action="store_true",
                        help="by default also the locks of other papers")
    parser.add_argument("--match", default="", metavar="TEXT",
                        help="only the cases whose title contains TEXT")
    parser.add_argument("--out", metavar="DIR",
                        help="where to write numbers and picture (default: the build tree)")
    parser.add_argument("build", nargs="*", help="build trees")


def sharing_locks(program: str, baselines: bool) -> list[str]:
    """The locks that readers share, from pawl-bench --list."""
    text = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not baselines:  # the second list
        text = text.partition("Locks to compare with")[0] + "\n".join(
            line for line in text.splitlines() if line.split()[:1] == [answer.MPI])
    return [line.split()[0] for line in text.splitlines()
            if line.startswith("  ") and line.endswith("[readers share]")]


def leave_out_rdma(build: Build) -> None:
    if build.mpi == "openmpi" and build.major <= 4 and "OMPI_MCA_osc" not in os.environ:
        print("Open MPI 4's osc/rdma is left out, because it crashes on one node (open-mpi/ompi\n"
              "issue 7027); OMPI_MCA_osc chooses another component.\n")


def summary(measured: Sequence[Result], repetitions: int) -> None:
    """Medians with their spread, of all cases."""
    print(f"\nMedians of {repetitions}, with the smallest and the largest value:")
    table = Table("case", "lock", "acquires/s, or latency of LB")
    for r in measured:
        value = duration(r.p50) if r.bench == "lb" else with_spread(r.speed, rate)
        table.row(plot.case_title(r), r.lock, value)


def one_tree(build: Build, args: argparse.Namespace, cases: Sequence[Case]) -> int:
    program = build.program("benchmarks/pawl-bench")
    json_file = os.path.join(args.out or build.dir, "pawl-bench.json")
    part = json_file + ".part"
    status = 0
    sharing = sharing_locks(program, args.baselines)
    leave_out_rdma(build)
    with open(json_file, "w", encoding="utf-8") as everything:
        for case in cases:
            locks = args.lock.split(",") if args.lock else []
            if case.sharing:
                locks = [k for k in locks or sharing if k in sharing]
                if not locks:
                    continue
            print(case.title, flush=True)
            out = build.run([program, *case.options, f"--seconds={args.seconds}",
                             f"--verify={0.3 * args.seconds:g}",
                             f"--repetitions={args.repetitions}", "--timeout=30", f"--json={part}",
                             "--progress=" + ("always" if sys.stderr.isatty() else "auto"),
                             *([f"--lock={','.join(locks)}"] if locks else []),
                             *(["--baselines"] if args.baselines else [])],
                            ranks=case.ranks, limit=LIMIT, show=True)
            if os.path.exists(part):
                with open(part, encoding="utf-8") as file:
                    everything.write(file.read())
                os.remove(part)
            if out.status != 0:
                status = 1
                launch.complain(f"a run with {case.ranks} ranks ended with status {out.status}")
            print()
    measured = results.read(json_file)
    if not measured:
        raise BadInput("no lock was measured")
    summary(measured, args.repetitions)
    picture = os.path.join(args.out or build.dir, "pawl-bench.svg")
    plot.contestants(measured, picture, everything=True)
    found = answer.answers(measured)
    if found:
        answer.table(found)
        short = os.path.join(args.out or build.dir, "pawl.svg")
        answer.picture(found, measured[0].mpi, short)
        print(f"\npicture: {short}\n\nall locks: {picture}\nnumbers: {json_file}")
    else:
        print(f"\npicture: {picture}\nnumbers: {json_file}")
    return status


def main(args: argparse.Namespace) -> int:
    cases = [c for c in CASES if args.match.lower() in c.title.lower()]
    if not cases:
        raise BadInput(f"--match: no case contains \"{args.match}\"; the cases are: "
                       + " ".join(c.title for c in CASES))
    return max([one_tree(build, args, cases) for build in launch.builds(args.build)])
