# SPDX-License-Identifier: BSD-3-Clause
"""Not from a paper: the locks over the number of nodes, on a fat tree of up to 64 nodes of 16
ranks; and one lock over up to 131,072 ranks."""
from __future__ import annotations

from ..simulate import Points, Simulator

MACHINE = "fat-tree-64nodes"
A_NODE = 16
NODES = (1, 2, 4, 8, 16, 32, 64)
QUICK = 8
WRITERS = ("d-mcs", "rma-mcs", "rma-rw", "alock", "shiftlock", "mgl")
SHARERS = ("rma-rw", "shiftlock", "mgl", "d-mcs")


def figure(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for nodes in NODES:
        if quick and nodes > QUICK:
            continue
        where = ["-o", f"topology=node:{nodes} package:2 core:8"]
        for panel, locks, options in (
                ("one lock, all exclusive: acquires a second|nodes", WRITERS, ["--bench=ecsb"]),
                ("one lock, 0.2 % exclusive: acquires a second|nodes", SHARERS,
                 ["--bench=ecsb", "--fw=0.2", "--iterations=150", "--seconds=0.001"]),
                ("1000 locks, 95 % of the acquires near: acquires a second|nodes", WRITERS,
                 ["--bench=locktable", "--locks=1000"])):
            found = sim.run(MACHINE, A_NODE * nodes,
                            [*options, f"--lock={','.join(locks)}", *where])
            data.points(found, panel, "throughput", x=nodes)
    return data


MANY_MACHINE = "cx6-4nodes"
MANY_A_NODE = 128
MANY = (128, 512, 2048, 8192, 32768, 131072)
MANY_QUICK = 2048
MANY_LOCKS = ("adaptive", "d-mcs", "rma-mcs", "rma-rw")


def figure_ranks(sim: Simulator, quick: bool) -> Points:
    """Each rank acquires a lock 20 times. The whole job counts, with its end, at which few ranks
    are left."""
    data = Points()
    where = f"topology=node:{MANY[-1] // MANY_A_NODE} core:{MANY_A_NODE}"
    for ranks in MANY:
        if quick and ranks > MANY_QUICK:
            continue
        for lock in MANY_LOCKS:
            found = sim.run(MANY_MACHINE, ranks, [f"--lock={lock}", "--fw=5", "--iterations=20",
                                                  "-o", where], steady=False)
            data.points(found, "one lock, 5 % exclusive: acquires a second", "throughput")
            data.points(found, "one lock, 5 % exclusive: p99 of acquire and release, us", "p99")
    return data
