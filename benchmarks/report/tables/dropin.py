# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Win_lock of the MPI against that of libpawl-mpi: win-bench runs with each in turn."""
from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..launch import Build, complain
from ..results import BadInput
from ..rows import matching, measure_each
from ..stats import paired_ratio, spread
from ..text import Table, digits, rate, with_spread

PARTS = ()
REPETITIONS = 5
SECONDS = 0.4
LIMIT = 60

EMPTY = "--section=empty"
GETPUT = "--section=getput"


@dataclass(frozen=True)
class Row:
    name: str
    mpi: str  # "": either
    osc: str | None
    hosts: int
    ranks: int
    options: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


def both_sections(name: str, mpi: str, osc: str | None, hosts: int, ranks: int,
                  *options: str) -> list[Row]:
    return [Row(f"{name}, exclusive, {text}", mpi, osc, hosts, ranks, (*options, section))
            for text, section in (("empty section", EMPTY), ("get + put", GETPUT))]


ROWS = (
    *both_sections("2 ranks", "mpich", None, 1, 2),
    *both_sections("4 ranks", "mpich", None, 1, 4),
    Row("8 ranks, 0.2 % exclusive, get", "mpich", None, 1, 8, (GETPUT, "--fw=0.2")),
    Row("8 ranks, 0.2 % exclusive, empty section", "mpich", None, 1, 8, (EMPTY, "--fw=0.2")),
    *both_sections("osc/sm, 2 ranks", "openmpi", "sm", 1, 2),
    *both_sections("osc/sm, 8 ranks", "openmpi", "sm", 1, 8),
    # Pawl needs the shared windows of sm; other components serve windows of MPI_Win_create only.
    *both_sections("osc/ucx, 2 ranks", "openmpi", "ucx", 1, 2, "--window=create"),
    *both_sections("osc/pt2pt, 2 ranks", "openmpi", "pt2pt", 1, 2, "--window=create"),
    *both_sections("2 x 2 over TCP", "", None, 2, 4),
    Row("2 x 2 over TCP, 10 % exclusive, get", "", None, 2, 4, (GETPUT, "--fw=10")),
    Row("2 x 2 over TCP, 10 % exclusive, get, PAWL_LOCK=rma-rw", "", None, 2, 4,
        (GETPUT, "--fw=10"), {"PAWL_LOCK": "rma-rw"}),
    Row("2 x 2 over TCP, one rank, remote target", "", None, 2, 4,
        (EMPTY, "--active=1", "--target=3")),
)


@dataclass(frozen=True)
class Sample:
    """Output of win-bench: sections a second, the longest wait in us, and whether the counter that
    exclusive sections increment is right."""

    speed: float
    longest: float
    right: bool


def parse(text: str) -> Sample | None:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] in ("right", "WRONG"):
            return Sample(float(words[0]), float(words[2]), words[3] == "right")
    return None


def one(build: Build, args, row: Row, layer: str | None) -> Sample | None:
    env = dict(row.env)
    if layer:
        env["LD_PRELOAD"] = layer
    options = [*row.options, f"--seconds={args.seconds:g}"]
    if row.hosts > 1 and build.mpi == "mpich":
        options.append("--exit")  # MPICH hangs in MPI_Finalize over several hosts
    out = build.run([build.program("benchmarks/win-bench"), *options], ranks=row.ranks,
                    hosts=row.hosts, osc=row.osc, env=env, limit=LIMIT)
    sample = parse(out.text)
    if sample is None:
        complain(f"{row.name}: win-bench ended with status {out.status}", out.errors)
    return sample


def one_row(build: Build, args, table: Table, row: Row, layer: str) -> bool:
    native: list[Sample] = []
    pawl: list[Sample] = []
    for _ in range(args.repetitions):
        pair = one(build, args, row, None), one(build, args, row, layer)
        if pair[0] and pair[1]:
            native.append(pair[0])
            pawl.append(pair[1])
    if not native:
        table.failed(row.name)
        return False
    right = all(s.right for s in native + pawl)
    if not right:
        complain(f"{row.name}: a counter is WRONG")
    waits = [spread(s.longest / 1000 for s in side) for side in (native, pawl)]
    table.row(row.name, *(with_spread(spread(s.speed for s in side), rate)
                          for side in (native, pawl)),
              with_spread(paired_ratio([s.speed for s in pawl], [s.speed for s in native])),
              " / ".join(digits(w.median) for w in waits if w))
    return right


def measure(build: Build, args) -> bool:
    layer = os.path.join(build.dir, ".libs", "libpawl-mpi.so")
    if not os.path.exists(layer):
        raise BadInput(f"{layer} is missing: run make in {build.dir}")
    rows = matching([r for r in ROWS if r.mpi in ("", build.mpi)], args.match,
                    f"row of {build.mpi}")
    print(f"{build.mpi}: sections a second, {args.repetitions} runs of each side in turn")
    table = Table("case", "native", "libpawl-mpi", "ratio",
                  "longest wait, ms: native / libpawl-mpi")
    return measure_each(rows, lambda row: one_row(build, args, table, row, layer))
