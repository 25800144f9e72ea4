# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the RMA-RW paper (HPDC'16), section 5: 16 ranks a node, up to 64 nodes."""
from __future__ import annotations

from ..simulate import Points, Simulator

MACHINE = "xc30-aries"
ALL_RANKS = (8, 16, 32, 64, 128, 256, 512, 1024)
SOME_RANKS = (64, 128, 256, 512, 1024)
QUICK = 128

MUTEXES = "--lock=d-mcs,rma-mcs,fompi-spin"
READERS = "--lock=rma-rw,fompi-rw"

# Long enough for slow locks to serve all ranks, and for writers of fast locks to have many turns.
LONG = ("--iterations=150", "--seconds=0.003")
# Enough for one fast lock at many settings.
SHORT = ("--iterations=60", "--seconds=0.001")


def up_to(ranks: tuple[int, ...], quick: bool) -> list[int]:
    return [n for n in ranks if not quick or n <= QUICK]


def figure_3(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for ranks in up_to(ALL_RANKS, quick):
        for bench in ("ecsb", "sob", "wcsb", "warb"):
            found = sim.run(MACHINE, ranks, [f"--bench={bench}", MUTEXES])
            if bench == "ecsb":  # LB is the same workload
                data.points(found, "LB: mean latency, us", "mean")
            data.points(found, f"{bench.upper()}: acquires a second", "throughput")
    return data


def figure_4(sim: Simulator, quick: bool) -> Points:
    data = Points()

    def rma_rw(ranks: int, fw: float, *options: str, length=SHORT):
        return sim.run(MACHINE, ranks, ["--lock=rma-rw", f"--fw={fw:g}", *length, *options])

    for ranks in up_to(SOME_RANKS, quick):
        for n in (2, 4, 8, 16, 32, 64):
            data.points(rma_rw(ranks, 2, "-o", f"t_dc={n}"), "a: T_DC, F_W 2 %", "throughput",
                        series=f"a counter for {n} ranks")
        for n in (100, 500, 1000, 2500):
            data.points(rma_rw(ranks, 25, "-o", "t_l=node:25", "-o", f"t_w={n}"),
                        "b: T_W, F_W 25 %", "throughput", series=f"T_W {n}")
        for n in (10, 25, 50):
            found = rma_rw(ranks, 25, "-o", f"t_l=node:{n}", "-o", "t_w=1000")
            data.points(found, "c: T_L, T_W 1000, F_W 25 %", "throughput", series=f"T_L {n}")
            data.points(found, "d: the same, mean latency, us", "mean", series=f"T_L {n}")
        for n in (1000, 2000, 3000, 4000, 5000, 6000):
            # Readers need a while to reach these.
            data.points(rma_rw(ranks, 0.2, "-o", f"t_r={n}", length=("--seconds=0.004",)),
                        "e: T_R, F_W 0.2 %", "throughput", series=f"T_R {n}")
        for fw in (2, 5):
            for n in (3000, 4000, 5000):
                data.points(rma_rw(ranks, fw, "-o", f"t_r={n}"), "f: T_R, F_W 2 and 5 %",
                            "throughput", series=f"T_R {n}, F_W {fw}")
    return data


def figure_5(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for ranks in up_to(ALL_RANKS, quick):
        for fw in (0.2, 2, 5):
            options = [READERS, f"--fw={fw:g}", *LONG]
            for bench in ("ecsb", "sob"):
                found = sim.run(MACHINE, ranks, [f"--bench={bench}", *options])
                if bench == "ecsb":
                    data.points(found, "LB: mean latency, us", "mean", series=f"% {fw:g} %")
                data.points(found, f"{bench.upper()}: acquires a second", "throughput",
                            series=f"% {fw:g} %")
    return data


def figure_6(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for ranks in up_to(ALL_RANKS, quick):
        if ranks > 256:
            continue
        for fw in (0, 2, 5, 20):
            data.points(sim.run(MACHINE, ranks, ["--bench=dht", READERS + ",fompi-a",
                                                 f"--fw={fw}", "--iterations=100"]),
                        f"F_W {fw} %: seconds", "total")
    return data
