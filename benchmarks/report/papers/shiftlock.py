# SPDX-License-Identifier: BSD-3-Clause
"""The ShiftLock paper (FAST'25), sections 4.2 to 4.5, 4.7 and 4.8.

One lock server and up to 240 clients. Each client has its own node, because the paper delays
messages within a machine until they take as long as those between machines, and its locks do not
distinguish machines. RMA-RW then has one counter for all readers, which is best. There are a
million locks, because ten million take ten times as long to set up.
"""
from __future__ import annotations

from ..results import Result
from ..simulate import Points, Simulator

MACHINE = "cx5-6nodes"
MESSAGES = "cx5-6nodes-dc"
"""The machine on which a hand-over is a message that has to be connected first."""
MILLION = 1000000
SWIFT = "--lock=shiftlock,d-mcs,rma-rw"
ARTEFACTS = "--lock=mcs-counted,rma-rw-entry,dslr-printed"
RETRYING = "--lock=drtm,dslr"
# The best of several limits for 240 clients of one lock.
BACKOFF = ("--lock=cas-backoff", "-o", "backoff_min=2000", "-o", "backoff_max=1000000")
SKEWED = "--zipf=0.99"
MIXES = {"WI": 50, "RI": 5, "RO": 0}


def serve(sim: Simulator, clients: int, locks: int, *options: str, machine: str = MACHINE
          ) -> list[Result]:
    """The microbenchmark."""
    one_counter = ["-o", f"t_dc={clients + 1}"] if SWIFT in options else []
    return sim.run(machine, clients + 1, [
        "--bench=micro", f"--locks={locks}", f"--active={clients}", "--active-on=remote",
        "--homes=first-node", "-o", f"topology=node:{clients + 1}", *one_counter, *options])


def both(sim: Simulator, mix: str, zipf: float) -> list[Result]:
    """All locks with 240 clients. Those that retry first get slower and slower, so they run for a
    time, where they do it for longer."""
    seconds = {("WI", 0.99): 0.1, ("RI", 0.99): 0.02}.get((mix, zipf), 0.004)
    law = [f"--fw={MIXES[mix]}", f"--zipf={zipf:g}"]
    return (serve(sim, 240, MILLION, *law, SWIFT, "--iterations=200")
            + serve(sim, 240, MILLION, *law, ARTEFACTS, "--iterations=200")
            + serve(sim, 240, MILLION, *law, RETRYING, "--iterations=10", f"--seconds={seconds}")
            + serve(sim, 240, MILLION, *law, *BACKOFF, "--iterations=10", f"--seconds={seconds}"))


def figure_4(sim: Simulator, quick: bool) -> Points:
    """Figures 4, 5 and 6 are of the same runs; and shiftlock with the paper's lease, with its
    rows, and the locks whose hand-over is a message where that is dear."""
    data = Points()
    for mix in ("WI", "RI"):
        law = (f"--fw={MIXES[mix]}", SKEWED, "--iterations=200")
        for series, found in (
                ("%, lease 10 ms",
                 serve(sim, 240, MILLION, *law, "--lock=shiftlock", "-o", "lease=10000")),
                ("%, rows of 16", serve(sim, 240, MILLION, *law, "--lock=shiftlock", "-o",
                                        "t_w=16")),
                ("%, messages", serve(sim, 240, MILLION, *law, "--lock=shiftlock,d-mcs,mcs-counted,"
                                      "rma-rw-entry", machine=MESSAGES))):
            data.points(found, "4: acquires a second", "throughput", series=series,
                        x=f"{mix} Zipf.")
            data.points(found, "5: 99 % latency, us", "p99", series=series, x=f"{mix} Zipf.")
    for mix in MIXES:
        for law, zipf in (("Unif.", 0), ("Zipf.", 0.99)):
            if (mix, law) == ("RO", "Unif."):
                continue
            x = f"{mix} {law}"
            found = both(sim, mix, zipf)
            skewed = law == "Zipf." and mix != "RO"
            if skewed:
                found += serve(sim, 240, MILLION, "--lock=cas-spin", "--iterations=10",
                               "--seconds=0.02", f"--fw={MIXES[mix]}", SKEWED)
            data.points(found, "4: acquires a second", "throughput", x=x)
            data.points(found, "5: median latency, us", "p50", x=x)
            data.points(found, "5: 99 % latency, us", "p99", x=x)
            if skewed:
                data.points(found, "6: atomics a cycle", "far_atomic", x=x)
                data.points(found, "6: reads a cycle", "far_get", x=x)
                data.points(found, "6: writes a cycle", "far_put", x=x)
    return data


def figure_7(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for n in (1000, 10000, 100000, MILLION):
        found = serve(sim, 240, n, SWIFT, "--iterations=300", "--fw=50", SKEWED)
        data.points(found, "7: WI, acquires a second|locks", "throughput", x=n)
        data.points(found, "7: WI, 99 % latency, us|locks", "p99", x=n)
    return data


def figure_8(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for clients in (20, 40, 80, 160, 240):
        for mix in ("WI", "RI"):
            found = serve(sim, clients, MILLION, SWIFT, "--iterations=150", f"--fw={MIXES[mix]}",
                          SKEWED)
            data.points(found, f"8: {mix}, acquires a second|clients", "throughput", x=clients)
            data.points(found, f"8: {mix}, 99 % latency, us|clients", "p99", x=clients)
    return data


def figure_9(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for clients in (40, 80, 120, 240):
        for mix in ("WI", "RI"):
            for skew in (0, 0.8, 0.9, 0.99):
                data.points(serve(sim, clients, MILLION, "--lock=shiftlock", "--iterations=100",
                                  f"--fw={MIXES[mix]}", f"--zipf={skew:g}"),
                            f"9: {mix}, acquires a second|clients", "throughput",
                            series=f"skew {skew:g}", x=clients)
    return data


ITEMS = {"writer IA": "writer-atomics", "writer NP": "writer-puts", "writer WP": "writer-waits",
         "writer WR": "writer-looks", "reader IA": "reader-atomics", "reader WW": "reader-looks",
         "release IA": "release-atomics", "release NS": "release-others"}
"""Of tables 2 to 4, where a lock that retries has IA and RT in one: all its atomics."""


def tables_3_4(sim: Simulator, quick: bool) -> Points:
    """Means of all acquires and releases. Table 4 is that of other locks with 240 clients."""
    data = Points()
    for mix in ("WI", "RI"):
        law = (f"--fw={MIXES[mix]}", SKEWED, "--iterations=150")
        for clients in (5, 20, 40, 80, 160, 240):
            for r in serve(sim, clients, MILLION, *law, "--lock=shiftlock", "-o", "lease=10000"):
                for item, series in ITEMS.items():
                    data.add(f"table 3: {mix}, us|clients", item, clients,
                             r.times(series).get("mean", 0) / 1000)
        for r in (serve(sim, 240, MILLION, *law, "--lock=dslr-printed,mcs-counted,rma-rw-entry")
                  + serve(sim, 240, MILLION, f"--fw={MIXES[mix]}", SKEWED, *BACKOFF,
                          "--iterations=10", "--seconds=0.02")):
            for item, series in ITEMS.items():
                data.add(f"table 4: {mix}, us", r.lock, item, r.times(series).get("mean", 0) / 1000)
    return data


TRANSACTIONS = ("--lock=shiftlock,d-mcs,rma-rw", "--lock=mcs-counted,rma-rw-entry",
                "--lock=dslr,dslr-printed,cas-backoff")


def transactions(sim: Simulator, bench: str) -> list[Result]:
    """48 clients on each of 5 machines, because the warehouses of TPC-C are those of a machine."""
    return [r for locks in TRANSACTIONS for r in sim.run(MACHINE, 288, [
        f"--bench={bench}", "--active=240", "--active-on=remote", "--homes=first-node",
        "--seconds=0.005", "--iterations=10", locks])]


def add_distributions(data: Points, found: list[Result], title: str,
                      types: tuple[str, ...]) -> None:
    """The latency of each type."""
    for r in found:
        for kind in types:
            data.distribution(r, f"{title} {kind}", r.times(kind).get("cdf", ()))


def figure_10(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for bench, types in (("tatp", ("GSD", "UL")), ("tpcc", ("DLY", "NEW"))):
        found = transactions(sim, bench)
        data.points(found, "10: transactions a second", "throughput", x=bench)
        add_distributions(data, found, f"10: {bench}", types)
    return data


def figure_11(sim: Simulator, quick: bool) -> Points:
    """Without Redlock, which is no lock but a server that needs more time than a NIC."""
    data = Points()
    found = transactions(sim, "bank")
    data.points(found, "11: transactions a second", "throughput", x="bank")
    add_distributions(data, found, "11: bank", ("balance", "transfer"))
    return data


def figure_12(sim: Simulator, quick: bool) -> Points:
    """The largest value of the option stands for the paper's infinity: there are never that many
    writers in a row."""
    data = Points()
    for n in (1, 2, 4, 8, 16, 32, 64, 32767):
        found = serve(sim, 240, MILLION, "--lock=shiftlock", "--iterations=300", "--fw=50", SKEWED,
                      "-o", f"t_w={n}")
        data.points(found, "12: WI, acquires a second|N", "throughput", x=n)
        data.points(found, "12: WI, latency, us|N", "p50", series="p50", x=n)
        data.points(found, "12: WI, latency, us|N", "p99", series="p99", x=n)
    return data


def figure_13(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for p in ("1e-5", "1e-4", "1e-3", "1e-2"):
        data.points(serve(sim, 240, MILLION, "--lock=shiftlock,dslr", "--seconds=0.06", "--fw=50",
                          SKEWED, f"--fail={p}", "-o", "lease=10000", "-o", "recoveries=100000"),
                    "13: WI, acquires a second|failures for each acquire", "throughput", x=p)
    return data
