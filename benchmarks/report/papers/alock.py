# SPDX-License-Identifier: BSD-3-Clause
"""The ALock paper (SPAA'24): its figures 1, 4, 5 and 6, and one lock on one node. Figures 4 and 5
have 5, 10 and 20 nodes and up to 12 threads a node, figure 6 has 10 nodes of 8; the MCS lock is
there twice, as the paper prints it and in its better form."""
from __future__ import annotations

from ..simulate import Points, Simulator

MACHINE = "cloudlab-cx3-20nodes"
OTHERS = ("mcs-printed", "rdma-mcs", "rdma-spin")
LOCKS = "--lock=alock," + ",".join(OTHERS)
ON_ONE_NODE = ("-o", "topology=core:16", "--iterations=2000")
NODES = (5, 10, 20)
THREADS = (1, 4, 8, 12)
NEAR = (85, 90, 95, 100)
BUDGETS = (5, 10, 20)


def table(sim: Simulator, nodes: int, threads: int, locks: int, near: int, *options: str):
    return sim.run(MACHINE, nodes * threads, [
        "--bench=locktable", f"--locks={locks}", f"--locality={near}", "-o",
        f"topology=node:{nodes} core:{threads}", *options])


def figure(sim: Simulator, quick: bool) -> Points:
    data = Points()
    for ranks in (1, 2, 4, 8, 16):
        data.points(sim.run(MACHINE, ranks, [LOCKS, "--locks=1000", *ON_ONE_NODE]),
                    "1: one node, 1000 locks: acquires a second", "throughput")
        data.points(sim.run(MACHINE, ranks, [LOCKS, "--locks=1", *ON_ONE_NODE]),
                    "one node, 1 lock: acquires a second", "throughput")
    some = THREADS[-1:] if quick else THREADS
    for threads in some:
        for near in (95,) if quick else NEAR[:3]:
            for budget in BUDGETS:
                data.points(table(sim, 20, threads, 100, near, "--lock=alock", "-o",
                                  f"remote_budget={budget}"),
                            f"4: 20 nodes, 100 locks, {near} % near: acquires a second|"
                            "threads a node", "throughput", series=f"remote budget {budget}",
                            x=threads)
    for nodes in (5, 20) if quick else NODES:
        for n in (20, 1000) if quick else (20, 100, 1000):
            for near in (95, 100) if quick else NEAR:
                for threads in some:
                    data.points(table(sim, nodes, threads, n, near, LOCKS),
                                f"5: {nodes} nodes, {n} locks, {near} % near: acquires a second|"
                                "threads a node", "throughput", x=threads)
    for n, near in ((20, 100),) if quick else ((20, 85), (20, 95), (20, 100), (100, 90)):
        for r in table(sim, 10, 8, n, near, LOCKS):
            data.distribution(r, f"6: {n} locks, {near} % near", r.get("cdf", ()))
    return data
