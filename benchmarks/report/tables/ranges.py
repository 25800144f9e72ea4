# SPDX-License-Identifier: BSD-3-Clause
"""The workloads of the Citron paper (FAST'23): citron against its baselines, which take turns in
one run of pawl-bench. Each row shows its options of pawl-bench."""
from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import Iterator

from ..launch import Build, Progress, complain
from ..results import Result, by_lock
from ..rows import matching
from ..stats import paired_ratio
from ..text import Table, digits, rate, us, with_spread

PARTS = ("speed", "operations", "memory", "conflicts", "aborts", "files", "grow")
REPETITIONS = 3
SECONDS = 0.5

OSC = "^rdma"
SPACE = 16777216
"""The largest number of segments that ss takes, so that segments may have 1 unit."""
FEW = "--space=4096 --zipf=0.99"
"""A few units, so that clients contend."""
ALL = ("citron", "ss", "lld", "it", "llc", "mt")


@dataclass
class Job:
    """What the parts share: where to run, for how long, and whether all runs succeeded."""

    build: Build
    args: object
    progress: Progress
    ok: bool = True

    def bench(self, hosts: int, ranks: int, options: str, seconds: float = 0,
              repetitions: int = 0) -> list[Result]:
        return self.build.bench(
            [*options.split(), f"--seconds={seconds or self.args.seconds:g}",
             f"--repetitions={repetitions or self.args.repetitions}"],
            ranks=ranks, hosts=hosts, osc=OSC)

    def failed(self, table: Table, name: str) -> None:
        table.failed(name)
        complain(f"{name}: did not run")
        self.ok = False


@dataclass(frozen=True)
class Case:
    name: str
    hosts: int
    ranks: int
    options: str
    segments: tuple[int, ...] = ()
    series: str = ""


def on(hosts: int, ranks: int, options: str = "") -> str:
    text = f"{ranks} ranks" if hosts == 1 else f"2 x {ranks // 2}"
    return text + (", far clients" if "--active-on=remote" in options else "")


# ------------------------------------------------------------------- speed, latency

def speed_cases() -> Iterator[Case]:
    places = ((1, 2, ""), (1, 6, ""), (2, 4, ""), (2, 4, " --active=2 --active-on=remote"),
              (2, 8, " --active=4 --active-on=remote"))
    shapes = (
        ("L = 1", f"--length=1 --space={SPACE}", (1, 8), ""),
        ("L = 16", f"--length=16 --space={SPACE}", (16, 128, 2), ""),
        ("L = 256", f"--length=256 --space={SPACE}", (256, 2048, 32), ""),
        ("mixed", f"--length=mixed --space={SPACE}", (1, 16, 256), "length-1"),
        ("mixed, contended", f"--length=mixed {FEW}", (1, 16, 256), "length-1"),
    )
    for hosts, ranks, far in places:
        for name, options, segments, series in shapes:
            yield Case(f"{name}, {on(hosts, ranks, far)}", hosts, ranks, options + far, segments,
                       series)


def units_of(options: str) -> int:
    return next(int(o.split("=")[1]) for o in options.split() if o.startswith("--space="))


def p99(r: Result, series: str) -> float | None:
    """The p99 of one of the workload's own series, or of all acquires."""
    return r.times(series).get("p99") if series else r.p99


def speed_row(job: Job, table: Table, case: Case) -> None:
    others, tails, fair = [], [], []
    first = None
    locks: tuple[str, ...] = ("ss", "lld", "it", "llc", "mt")
    for size in case.segments:
        pieces = -(-units_of(case.options) // size)
        found = by_lock(job.bench(case.hosts, case.ranks,
                                  f"--bench=range {case.options} --lock=citron,{','.join(locks)} "
                                  f"-o segment_units={size} -o segments={pieces}"))
        mine = found.get("citron")
        if not mine:
            continue
        if not first:
            first = mine
            fair.append(f"citron {mine.fairness}")
        for lock in locks:
            r = found.get(lock)
            name = f"ss/{size}" if lock == "ss" else lock
            ratio = with_spread(paired_ratio(mine.speeds, r.speeds)) if r else "-"
            others.append(f"{name} {ratio}")
            tails.append(f"{name} {us(p99(r, case.series)) if r else '-'}")
            fair.append(f"{name} {r.fairness if r else '-'}")
        locks = ("ss",)
    if not first:
        return job.failed(table, case.name)
    table.row(case.name, f"`{case.options}`", with_spread(first.speed, rate), ", ".join(others),
              us(p99(first, case.series)), ", ".join(tails), ", ".join(fair))


def speed(job: Job) -> None:
    print("""\
Acquires of `citron` a second, and the ratio of `citron` to each other lock; p99 of acquire and
release together, in us (mixed: of the ranges of 1 unit). ss/U has segments of U units. Fairness is
Jain's index over the clients: 1 if all are served alike. "Far clients" are the ranks of the host
that is not the home, as in the paper.

    pawl-bench --bench=range OPTIONS --lock=citron,ss,lld,it,llc,mt -o segment_units=U
        -o segments=UNITS/U""")
    table = Table("case", "OPTIONS", "a second", "citron over others", "p99 of citron",
                  "p99 of others", "fairness")
    for case in wanted(job, list(speed_cases())):
        speed_row(job, table, case)


# ------------------------------------------------------------------------ operations

def operations(job: Job) -> None:
    print("""\
Operations of an acquire and its release, by one client on another host than the home. A flush is a
round trip.

    pawl-bench --bench=range --zipf=0 --active=1 --active-on=remote OPTIONS --lock=citron,ss,lld""")
    table = Table("OPTIONS", "lock", "atomics", "gets", "puts", "round trips", "p50, us")
    cases = [Case(f"--length={n}", 2, 4, f"--length={n} --space={SPACE}", (n,))
             for n in (1, 16, 64, 256, 512, 4096, 65536, 1048576, 16777216)]
    for case in wanted(job, cases):
        size = case.segments[0]
        found = by_lock(job.bench(
            2, 4, f"--bench=range --zipf=0 --active=1 --active-on=remote {case.options} "
            f"--lock=citron,ss,lld -o segment_units={size} -o segments={SPACE // size}",
            repetitions=1))
        for lock in ("citron", "ss", "lld"):
            r = found.get(lock)
            if not r:
                job.failed(table, case.name)
                break
            table.row(f"`{case.options}`", f"ss/{size}" if lock == "ss" else lock,
                      *(r.operation(k) for k in ("far_atomic", "far_get", "far_put", "flush")),
                      us(r.p50))


# ---------------------------------------------------------------------------- memory

MEMORY_NODES = 5592405


def mappings(program: str, least: int) -> Iterator[tuple[int, int]]:
    """Size and resident kB of the program's mappings that have at least that many kB."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.realpath(f"/proc/{pid}/exe") != program:
                continue
            with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as file:
                size = 0
                for line in file:
                    if line.startswith("Size:"):
                        size = int(line.split()[1])
                    elif line.startswith("Rss:") and size >= least:
                        yield size, int(line.split()[1])
        except OSError:
            continue  # it ended meanwhile


def memory(job: Job) -> None:
    options = "--bench=range --length=1 --zipf=0 --space=268435456 --lock=citron --no-verify"
    print(f"""\
A tree of 2^28 units has {MEMORY_NODES} nodes of 8 bytes. The table has the kB of the largest
mapping of a rank after 4 seconds of units drawn uniformly.

    pawl-bench {options} --seconds=4 --repetitions=1""")
    table = Table("nodes x 8", "reserved", "used")
    job.progress.step("memory")
    built = job.build.program("benchmarks/pawl-bench")
    real = os.path.join(os.path.dirname(built), ".libs", "pawl-bench")
    program = os.path.realpath(real if os.path.exists(real) else built)
    run = threading.Thread(target=job.bench, args=(1, 2, options, 4, 1))
    run.start()
    least = MEMORY_NODES * 8 // 1024
    seen: list[tuple[int, int]] = []
    while run.is_alive():
        seen += mappings(program, least)
        time.sleep(0.5)
    if not seen:
        return job.failed(table, "memory")
    table.row(least, *max(seen, key=lambda m: m[1]))


# ------------------------------------------------------------------- false conflicts

def conflicts(job: Job) -> None:
    options = "--bench=falseconflict --space=268435456"
    print(f"""\
Of pairs of ranges of L units, the share that meets in the tree and has no unit in common, in 10^-6.
For k = 2 also: that share by ranges (two a pair), as in the paper's Figure 11; over the share of
k = 1; and over L/N.

    pawl-bench {options} --seconds=10 --repetitions=1""")
    table = Table("L", "pairs", "k = 1", *"23456", "k = 2, by ranges", "k = 2 over k = 1",
                  "over L/N")
    job.progress.step("conflicts")
    found = job.bench(1, 2, options, seconds=10, repetitions=1)
    if not found:
        return job.failed(table, "conflicts")
    for length, pairs, *shares in found[0].false_conflicts:
        one, two = shares[:2]
        table.row(f"{length:.0f}", f"{pairs / 1e6:.2g} M", *(digits(s * 1e6) for s in shares),
                  digits(two * 5e5), f"{two / one:.3f}" if one > 0 else "-",
                  f"{two * 2**28 / length:.2f}")


# ---------------------------------------------------------------------------- aborts

def aborts(job: Job) -> None:
    print("""\
Attempts that met others and began again, for each acquire, and acquires a second, by the number of
clients; mixed lengths.

    pawl-bench --bench=abort OPTIONS --lock=citron""")
    table = Table("case", "OPTIONS", "clients: aborts, acquires/s")
    whole = "--space=268435456"
    # All m where it matters.
    cases = [Case(name, hosts, ranks, f"{options} -o m={m}")
             for name, hosts, ranks, options, several in (
                 ("8 ranks", 1, 8, whole, (1, 2, 3, 4, 5)),
                 ("2 x 2", 2, 4, whole, (1, 2, 3, 4, 5)),
                 ("8 ranks, few units", 1, 8, FEW, (4,)),
                 ("2 x 2, few units", 2, 4, FEW, (4,)))
             for m in several]
    for case in wanted(job, cases):
        found = job.bench(case.hosts, case.ranks, f"--bench=abort {case.options} --lock=citron")
        if not found:
            job.failed(table, case.name)
            continue
        table.row(case.name, f"`{case.options}`", "; ".join(
            f"{clients:.0f}: {again:.2g}, {rate(speed_)}"
            for clients, again, speed_ in found[0].by_clients))


# ----------------------------------------------------------------------------- files

def files(job: Job) -> None:
    print("""\
Bytes a second under `citron`, and the ratio of `citron` to each other lock; p99 of reads (for btio:
of writes), in us.

    pawl-bench OPTIONS --lock=citron,ss,lld,it,llc,mt -o segment_units=1 -o segments=65536""")
    table = Table("case", "OPTIONS", "bytes a second", "citron over others", "p99")
    cases = [Case(f"{name}, {on(hosts, ranks)}", hosts, ranks, options, (), series)
             for name, hosts, ranks, series, options in (
                 ("BT-IO", 1, 2, "write", "--bench=btio"),
                 ("BT-IO", 1, 6, "write", "--bench=btio"),
                 ("BT-IO", 2, 4, "write", "--bench=btio --grid=16"),
                 ("OLTP", 1, 2, "read", "--bench=oltp"),
                 ("OLTP", 1, 6, "read", "--bench=oltp"),
                 ("OLTP", 2, 4, "read", "--bench=oltp --file=1048576"))]
    for case in wanted(job, cases):
        found = by_lock(job.bench(case.hosts, case.ranks,
                                  f"{case.options} --lock={','.join(ALL)} -o segment_units=1 "
                                  "-o segments=65536"))
        mine = found.get("citron")
        if not mine or not mine.get("bytes_per_second"):
            job.failed(table, case.name)
            continue
        table.row(case.name, f"`{case.options}`", rate(mine.bytes_per_second),
                  ", ".join(f"{k} {times(mine, found.get(k), 'bytes_per_second')}"
                            for k in ALL[1:]),
                  ", ".join(f"{k} {us(found[k].times(case.series).get('p99'))}"
                            for k in ALL if k in found))


def times(mine: Result, other: Result | None, name: str) -> str:
    below = other.get(name) if other else 0
    return digits(mine.get(name) / below) if below else "-"


# ------------------------------------------------------------------------------ grow

def grow(job: Job) -> None:
    print("""\
Acquires a second of IO500's hard write under `citron`, and the ratio of `citron` to each other
lock. A tree of 1024 units at first has to grow; one of 2^28 units does not.

    pawl-bench --bench=range-grow OPTIONS --lock=citron,ss,lld,it,llc,mt -o segment_units=1
        -o segments=16777216""")
    table = Table("case", "OPTIONS", "a second", "citron over others")
    cases = [Case(on(hosts, ranks), hosts, ranks, f"--space={units}")
             for hosts, ranks in ((1, 2), (2, 4)) for units in (1024, 268435456)]
    for case in wanted(job, cases):
        found = by_lock(job.bench(case.hosts, case.ranks,
                                  f"--bench=range-grow {case.options} --lock={','.join(ALL)} "
                                  "-o segment_units=1 -o segments=16777216"))
        mine = found.get("citron")
        if not mine:
            job.failed(table, case.name)
            continue
        table.row(case.name, f"`{case.options}`", with_spread(mine.speed, rate), ", ".join(
            f"{k} {with_spread(paired_ratio(mine.speeds, found[k].speeds)) if k in found else '-'}"
            for k in ALL[1:]))


# --------------------------------------------------------------------------- the table

DRAW = {"speed": speed, "operations": operations, "memory": memory, "conflicts": conflicts,
        "aborts": aborts, "files": files, "grow": grow}


REPEATED = ("speed", "aborts", "files", "grow")


def wanted(job: Job, cases: list[Case]) -> Iterator[Case]:
    """The cases that --match selects, with progress."""
    chosen = [c for c in cases if job.args.match in c.name]
    job.progress.total += max(len(chosen) - 1, 0)
    for case in chosen:
        job.progress.step(case.name)
        job.progress.clear()
        yield case


def measure(build: Build, args) -> bool:
    build.program("benchmarks/pawl-bench")
    if args.part == ["speed"]:
        matching(speed_cases(), args.match, "case of speed")
    job = Job(build, args, Progress(len(args.part)))
    for part in args.part:
        repeated = f" ({args.repetitions} repetitions of {args.seconds:g} s)"
        print(f"### {build.mpi}: {part}{repeated if part in REPEATED else ''}\n")
        DRAW[part](job)
        print()
    job.progress.clear()
    return job.ok
