# SPDX-License-Identifier: BSD-3-Clause
"""The Citron paper (FAST'23), sections 4.2 to 4.7.

One lock server and up to 192 clients, each on its own node. The space has 2^24 units and not
2^28, because ss takes no more segments. The servers of it, llc and mt take the times in the file
of the machine.
"""
from __future__ import annotations

from ..results import Result
from ..simulate import Points, Simulator

MACHINE = "cx6-4nodes"
UNITS = 16777216
CITRON_AND_SERVERS = "--lock=citron,it,llc,mt"
# So that clients wait for the most popular units many times, as long as ss runs.
LONG = ("--iterations=5", "--seconds=0.02")


def ask(sim: Simulator, clients: int, *options: str) -> list[Result]:
    """The microbenchmark of ranges."""
    return sim.run(MACHINE, clients + 1, [
        "--bench=range", f"--space={UNITS}", f"--active={clients}", "--active-on=remote",
        "--homes=first-node", "-o", f"topology=node:{clients + 1}", *options])


def turns(clients: int, of_all: int) -> str:
    """The option for that many iterations altogether, but at least 5 of each client."""
    return f"--iterations={max(of_all // clients, 5)}"


def segments(sim: Simulator, clients: int, size: int, *options: str) -> list[Result]:
    """ss with segments of that size. It gets slower at first, so it runs for a fixed time."""
    return ask(sim, clients, "--lock=ss", "--iterations=5", "--seconds=0.02", "-o",
               f"segment_units={size}", "-o", f"segments={UNITS // size}", *options)


def figure_6(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for clients in (48, 192) if quick else (3, 12, 48, 96, 192):
        for length in (1, 16, 256):
            of_length = f"--length={length}"
            found = (ask(sim, clients, of_length, CITRON_AND_SERVERS, *LONG)
                     + ask(sim, clients, of_length, "--lock=lld", turns(clients, 1000)))
            by_size = {"exact": segments(sim, clients, length, of_length),
                       "over": segments(sim, clients, 8 * length, of_length),
                       "under": segments(sim, clients, length // 8, of_length)
                       if length > 1 else []}
            for field, text in (("throughput", "acquires a second"), ("p50", "median latency, us"),
                                ("p99", "99 % latency, us")):
                panel = f"6: L = {length}, {text}|clients"
                data.points(found, panel, field, x=clients)
                for size, of_size in by_size.items():
                    data.points(of_size, panel, field, series=f"ss-{size}", x=clients)
    return data


def add_by_length(data: Points, results: list[Result], clients: int, series: str) -> None:
    """Of mixed lengths, the acquires a second of each."""
    for r in results:
        data.point(r, "7: all, acquires a second|clients", series, clients, r.throughput,
                   rate=True)
        for length in (1, 16, 256):
            count = r.times(f"length-{length}").get("count", 0)
            data.add(f"7: L = {length}, a second|clients", series, clients, count / r.seconds)


def figure_7(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for clients in (63, 129, 192):
        for r in ask(sim, clients, CITRON_AND_SERVERS, *LONG):
            add_by_length(data, [r], clients, r.lock)
        add_by_length(data, ask(sim, clients, "--lock=lld", turns(clients, 1000)), clients, "lld")
        for size in (1, 16, 256):
            add_by_length(data, segments(sim, clients, size), clients, f"ss-{size}")
    return data


def files(sim: Simulator, clients: int, *options: str) -> list[Result]:
    """An application, whose blocks of files are with all ranks."""
    return [r for locks in ("citron,it,llc,mt", "ss", "lld") for r in sim.run(
        MACHINE, clients + 1, [
            f"--active={clients}", "--active-on=remote", "--homes=first-node", "-o",
            f"topology=node:{clients + 1}", "--iterations=5", "--seconds=0.01",
            f"--lock={locks}", *options,
            *(("-o", "segment_units=1", "-o", "segments=1048576") if locks == "ss" else ())])]


def figure_8(sim: Simulator, quick: bool) -> Points:
    """A grid of class D; with 4, 16 and 64 processes a run has 8160, 4080 and 2040 bytes."""
    data = Points()
    for clients in (4, 16, 64):
        found = files(sim, clients, "--bench=btio", "--grid=408")
        data.points(found, "8: BT-IO, writes a second|clients", "throughput", x=clients)
        data.points(found, "8: BT-IO, 99 % latency, us|clients", "p99", x=clients)
    return data


def table_2(sim: Simulator, quick: bool) -> Points:
    """61 clients, as many as the threads of one in the paper, and three times as many."""
    data = Points()
    for clients in (61, 183):
        found = files(sim, clients, "--bench=oltp")
        data.points(found, "table 2: OLTP, operations a second|clients", "throughput", x=clients)
        for r in found:
            for kind in ("read", "log"):
                data.add(f"table 2: OLTP, {kind}, 99 % latency, us|clients", r.lock, clients,
                         r.times(kind).get("p99", 0) / 1000)
    return data


def figure_9(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for skew in (0, 0.3, 0.5, 0.7, 0.9, 0.99):
        for length in (16, 256):
            for path in ("yes", "no"):
                series = f"L = {length}" + ("" if path == "yes" else ", without")
                found = ask(sim, 96, f"--length={length}", "--lock=citron", f"--zipf={skew:g}",
                            "-o", f"fast_path={path}", turns(96, 10000))
                data.points(found, "9: acquires a second|skew|linear", "throughput", series=series,
                            x=f"{skew:g}")
                data.points(found, "9: median latency, us|skew|linear", "p50", series=series,
                            x=f"{skew:g}")
    return data


def figure_10(sim: Simulator, quick: bool) -> Points:
    """Acquires a second in parts of the time, which is in ms."""
    data = Points()
    for series, options in (
            ("from 1024, by call each 10 ms", ("--space=1024", "-o", "growth=call")),
            ("from 1024, by a client that needs it", ("--space=1024",)),
            ("2^28 units at once", ("--space=268435456",))):
        found = sim.run(MACHINE, 65, [
            "--bench=range-grow", "--lock=citron", "--homes=first-node", "-o", "topology=node:65",
            "--active=64", "--active-on=remote", "--seconds=0.1", *options])
        for seconds, speed in found[0].over_time:
            data.add("10: acquires a second|ms|linear", series, f"{seconds * 1000:g}", speed)
    return data


def figure_11(sim: Simulator, quick: bool) -> Points:
    """Computed, by a program that needs an MPI but no job. A pair of ranges that has a false
    conflict: all k of one length."""
    data = Points()
    found = sim.execute([
        sim.build.program("benchmarks/pawl-bench"), "--bench=falseconflict", "--iterations=11000",
        "--seconds=3600", "--no-verify", "--repetitions=1", "--timeout=0", "--json",
        "--progress=never"])
    for length, _, *shares in found[0].false_conflicts:
        for k, share in enumerate(shares, 1):
            if share > 0:
                data.add("11: false conflicts|length", f"k = {k}", f"{length:.0f}", share)
    return data


def figure_12(sim: Simulator, quick: bool) -> Points:
    """Of it: the requests that met others, at their arrival."""
    data = Points()
    for clients in (3, 12, 24, 48, 96, 192):
        found = ask(sim, clients, "--lock=citron", *LONG)
        data.points(found, "12: aborts an acquire|clients", "aborts", x=clients)
        data.points(found, "12: acquires a second|clients", "throughput", x=clients)
        data.points(ask(sim, clients, "--lock=it", *LONG),
                    "12: aborts an acquire|clients", "aborts", x=clients)
    for m in range(1, 6):
        found = ask(sim, 96, "--lock=citron", "-o", f"m={m}", turns(96, 10000))
        data.points(found, "12: aborts an acquire|m|linear", "aborts", x=m)
        data.points(found, "12: acquires a second|m|linear", "throughput", x=m)
    return data
