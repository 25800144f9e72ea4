# SPDX-License-Identifier: BSD-3-Clause
"""Locks of windows through mpi4py: exclusive, shared, lock_all, and errors.

Prints TAP. TEST_BREAK=1 in the environment: no lock has an effect.
"""
import array
import os
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
NOCHECK = MPI.MODE_NOCHECK if os.environ.get("TEST_BREAK") == "1" else 0
results = failures = 0


def report(good, name):
    global results, failures
    good = comm.allreduce(bool(good), op=MPI.LAND)
    results += 1
    failures += not good
    if rank == 0:
        print("%sok %d - %s" % ("" if good else "not ", results, name), flush=True)


def get(win, target):
    word = array.array("q", [-1])
    win.Get([word, MPI.INT64_T], target)
    win.Flush(target)
    return word[0]


def total(win):
    """The words of all ranks, and all of them held at a time."""
    win.Lock_all(NOCHECK)
    comm.Barrier()
    found = sum(get(win, t) for t in range(size))
    win.Unlock_all()
    comm.Barrier()
    return found


def exclusive(win, name):
    done, end, i = 0, time.monotonic() + 0.1, 0
    comm.Barrier()
    while i < 5 or time.monotonic() < end:
        target = 0 if i % 2 else (rank + i) % size
        win.Lock(target, MPI.LOCK_EXCLUSIVE, NOCHECK)
        word = array.array("q", [get(win, target) + 1])
        comm.Iprobe()
        win.Put([word, MPI.INT64_T], target)
        win.Unlock(target)
        done, i = done + 1, i + 1
    done = comm.allreduce(done)
    found = total(win)
    report(found == done, "%s: exclusive locks" % name)


def shared(win, name):
    win.Lock(0, MPI.LOCK_SHARED, NOCHECK)
    first = get(win, 0)
    comm.Barrier()
    second = get(win, 0)
    win.Unlock(0)
    report(first == second, "%s: shared locks" % name)


def wrong(win, name):
    win.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        win.Lock(size + 1, MPI.LOCK_SHARED)
        code = MPI.SUCCESS
    except MPI.Exception as error:
        code = error.Get_error_class()
    report(code == MPI.ERR_RANK, "%s: a bad rank raises" % name)


for name, make in (
    ("Win.Allocate", lambda: MPI.Win.Allocate(16, 8, comm=comm)),
    ("Win.Create", lambda: MPI.Win.Create(bytearray(16), 8, comm=comm)),
):
    win = make()
    win.Lock(rank, MPI.LOCK_EXCLUSIVE)
    win.Put([array.array("q", [0]), MPI.INT64_T], rank)
    win.Unlock(rank)
    comm.Barrier()
    exclusive(win, name)
    shared(win, name)
    wrong(win, name)
    comm.Barrier()
    win.Free()
if rank == 0:
    print("1..%d" % results, flush=True)
sys.exit(failures > 0)
