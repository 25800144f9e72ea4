# SPDX-License-Identifier: BSD-3-Clause
"""Not from a paper: the locks over the number of nodes, on a fat tree of up to 64 nodes of 16
ranks."""
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
