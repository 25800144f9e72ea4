# SPDX-License-Identifier: BSD-3-Clause
"""Results in TAP on which all ranks agree, printed by rank 0, as tests/ranks.h has them for C."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
good = True
count = failed = 0


def expect(condition, text):
    global good
    if not condition:
        print(f"# rank {rank}: not so: {text}", flush=True)
    good = good and bool(condition)


def result(name):
    global good, count, failed
    everywhere = comm.allreduce(good, MPI.LAND)
    count += 1
    failed += not everywhere
    if rank == 0:
        print(f"{'' if everywhere else 'not '}ok {count} - {name}", flush=True)
    good = True


def end():
    """The plan. Returns the status."""
    if rank == 0:
        print(f"1..{count}", flush=True)
    return 1 if failed else 0
