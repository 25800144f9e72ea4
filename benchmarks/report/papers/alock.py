# SPDX-License-Identifier: BSD-3-Clause
"""The ALock paper (SPAA'24): its figures 1, 4 and 5 (85, 95 and 100 % of the acquires near), and
one lock on one node. Ranks are the paper's threads, on one node or on 20."""
from __future__ import annotations

from ..simulate import Points, Simulator

MACHINE = "cloudlab-cx3-20nodes"
LOCKS = "--lock=alock,rdma-mcs,rdma-spin"
ON_ONE_NODE = ("-o", "topology=core:16", "--iterations=2000")


def figure(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for ranks in (1, 2, 4, 8, 16):
        data.points(sim.run(MACHINE, ranks, [LOCKS, "--locks=1000", *ON_ONE_NODE]),
                    "1: one node, 1000 locks: acquires a second", "throughput")
        data.points(sim.run(MACHINE, ranks, [LOCKS, "--locks=1", *ON_ONE_NODE]),
                    "one node, 1 lock: acquires a second", "throughput")
    for threads in (1, 2, 4, 8):
        for n in (20, 100):
            for budget in (5, 10, 20):
                data.points(sim.run(MACHINE, 20 * threads, [
                    "--lock=alock", f"--locks={n}", "-o", f"topology=node:20 core:{threads}",
                    "-o", f"remote_budget={budget}"]),
                    f"4: 20 nodes, {n} locks: acquires a second", "throughput",
                    series=f"remote budget {budget}")
    for n in (20, 100, 1000):
        for near in (85, 95, 100):
            for threads in (1, 4, 8):
                data.points(sim.run(MACHINE, 20 * threads, [
                    LOCKS, "--bench=locktable", f"--locks={n}", f"--locality={near}", "-o",
                    f"topology=node:20 core:{threads}"]),
                    f"5: 20 nodes, {n} locks, {near} % near: acquires a second", "throughput")
    return data
