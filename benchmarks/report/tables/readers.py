# SPDX-License-Identifier: BSD-3-Clause
"""The RMA-RW paper's headline on two hosts: rma-rw against fompi-rw, over both transports. Needs
root, for network namespaces."""
from __future__ import annotations

from typing import NamedTuple

from ..launch import Build, complain
from ..results import by_lock
from ..rows import matching, measure_each
from ..stats import paired_ratio, spread
from ..text import Table, rate, with_spread

PARTS = ()
REPETITIONS = 3
SECONDS = 0.5

LOCKS = ("rma-rw", "fompi-rw")
WRITERS = ("0.2", "2", "5", "25")
HOSTS = 2
LIMIT = 60
# In the paper nearly all clients are on other nodes than the lock's home.
CASES = (("all ranks of 2 x 1", 2, ()), ("all ranks of 2 x 2", 4, ()),
         ("2 ranks, not on the home's host", 4, ("--active=2", "--active-on=remote")))


class Row(NamedTuple):
    name: str
    ranks: int
    options: list[str]


ROWS = [Row(f"{transport}, {name}, F_W {fw} %", ranks,
            [f"--fw={fw}", "-o", f"transport={transport}", *options])
        for transport in ("mpi", "ucx") for name, ranks, options in CASES for fw in WRITERS]


def one_row(build: Build, args, table: Table, row: Row) -> bool:
    found = by_lock(build.bench(
        ["--bench=ecsb", f"--lock={','.join(LOCKS)}", *row.options,
         f"--seconds={args.seconds:g}", f"--repetitions={args.repetitions}"],
        ranks=row.ranks, hosts=HOSTS, osc="^rdma", limit=LIMIT))
    if len(found) < len(LOCKS):
        complain(f"{row.name}: did not run")
        table.failed(row.name)
        return False
    speeds = [found[lock].speeds for lock in LOCKS]
    table.row(row.name, *(with_spread(spread(s), rate) for s in speeds),
              with_spread(paired_ratio(*speeds)),
              *(rate(found[lock].slowest) for lock in LOCKS))
    return True


def measure(build: Build, args) -> bool:
    rows = matching(ROWS, args.match)
    print(f"{build.mpi}: acquires a second, {args.repetitions} repetitions of {args.seconds:g} s")
    table = Table("transport, clients, writers", *LOCKS, "ratio",
                  *(f"slowest rank, {lock}" for lock in LOCKS))
    return measure_each(rows, lambda row: one_row(build, args, table, row))
