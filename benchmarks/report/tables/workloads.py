# SPDX-License-Identifier: BSD-3-Clause
"""The workloads of the ALock and ShiftLock papers: the first lock of each row against the others,
which take turns in one run of pawl-bench."""
from __future__ import annotations

from dataclasses import dataclass

from ..launch import Build, complain
from ..results import by_lock
from ..rows import matching, measure_each
from ..stats import paired_ratio
from ..text import Table, digits, rate, with_spread

PARTS = ()
REPETITIONS = 3
SECONDS = 1.0

NEAR = ("alock", "rdma-mcs", "rdma-spin")
READERS = ("shiftlock", "cas-backoff", "dslr", "d-mcs", "rma-rw", "drtm")


@dataclass(frozen=True)
class Row:
    name: str
    osc: str
    hosts: int
    ranks: int
    locks: tuple[str, ...]
    options: str


def micro(name: str, options: str, locks: tuple[str, ...] = READERS) -> Row:
    """The microbenchmark of the ShiftLock paper, over two hosts."""
    return Row(name, "^rdma", 2, 4, locks, f"--bench=micro {options}")


def failing(text: str, probability: str) -> Row:
    return Row(f"{text} forgotten", "^rdma", 1, 2, ("shiftlock", "dslr"),
               f"--bench=micro --fail={probability}")


ROWS = (
    Row("near locks, 20", "ucx", 1, 2, NEAR, "--bench=locktable --locality=100 --locks=20"),
    Row("near locks, 1000", "ucx", 1, 2, NEAR, "--bench=locktable --locality=100 --locks=1000"),
    Row("95 % near, 20 locks, 2 x 2", "^rdma", 2, 4, NEAR, "--bench=locktable --locks=20"),
    Row("95 % near, 100 locks, 2 x 2", "^rdma", 2, 4, NEAR, "--bench=locktable --locks=100"),
    Row("95 % near, 1000 locks, 2 x 2", "^rdma", 2, 4, NEAR, "--bench=locktable --locks=1000"),
    micro("WI, Zipf 0.99, 2 x 2", "--fw=50 --zipf=0.99"),
    micro("RI, Zipf 0.99, 2 x 2", "--fw=5 --zipf=0.99"),
    micro("WI, uniform, 2 x 2", "--fw=50"),
    micro("RI, uniform, 2 x 2", "--fw=5"),
    micro("WI, Zipf 0.99, 10 locks, 2 x 2", "--fw=50 --zipf=0.99 --locks=10"),
    micro("RI, Zipf 0.99, 10 locks, 2 x 2", "--fw=5 --zipf=0.99 --locks=10"),
    micro("WI, Zipf 0.99, 2 x 2, messages", "--fw=50 --zipf=0.99", ("shiftlock", "rpc")),
    Row("WI, Zipf 0.99, 10 M locks", "^rdma", 1, 2, READERS,
        "--bench=micro --fw=50 --zipf=0.99 --locks=10000000"),
    Row("TATP", "^rdma", 1, 2, READERS, "--bench=tatp"),
    Row("TPC-C", "^rdma", 1, 2, READERS, "--bench=tpcc"),
    Row("bank", "^rdma", 1, 4, ("shiftlock", "redlock"), "--bench=bank"),
    Row("bank, Zipf 0.99", "^rdma", 1, 4, ("shiftlock", "redlock"), "--bench=bank --zipf=0.99"),
    failing("1e-5", "0.00001"),
    failing("1e-3", "0.001"),
    failing("1e-2", "0.01"),
)


def one_row(build: Build, args, table: Table, row: Row) -> bool:
    found = by_lock(build.bench(
        [*row.options.split(), f"--lock={','.join(row.locks)}", f"--seconds={args.seconds:g}",
         f"--repetitions={args.repetitions}"], ranks=row.ranks, hosts=row.hosts, osc=row.osc))
    first = found.get(row.locks[0])
    if not first:
        complain(f"{row.name}: did not run")
        table.failed(row.name)
        return False
    others = ", ".join(
        f"{k} {with_spread(paired_ratio(first.speeds, found[k].speeds) if k in found else None)}"
        for k in row.locks[1:])
    atomics, gets = first.operation("atomic"), first.operation("get")
    counted = f"{atomics:.2f} atomics, {gets:.2f} gets" if atomics is not None else "-"
    table.row(row.name, with_spread(first.speed, rate), others, counted)
    return True


def measure(build: Build, args) -> bool:
    build.program("benchmarks/pawl-bench")
    rows = matching(ROWS, args.match)
    print(f"{build.mpi}: the first lock's acquires (TATP, TPC-C, bank: transactions) a second, and "
          f"its ratio\nto each other lock; {args.repetitions} repetitions of "
          f"{digits(args.seconds)} s")
    table = Table("case", "a second", "first lock over others", "operations")
    return measure_each(rows, lambda row: one_row(build, args, table, row))
