# SPDX-License-Identifier: BSD-3-Clause
"""The counter of counter.c in Python: all ranks increment one counter that lives at rank 0, by a
get and a put under one lock of a table of a thousand.

    mpirun -n 4 python3 counter.py

Open MPI 4.1 needs OMPI_MCA_osc=^rdma for MPI_Win_allocate on one node.
"""

import array
import sys

from mpi4py import MPI

import pawl

TURNS = 300
comm = MPI.COMM_WORLD
win = MPI.Win.Allocate(16, 8, comm=comm)
value = array.array("q", [0])


def get():
    win.Get(value, 0)
    win.Flush(0)


def put():
    win.Put(value, 0)
    win.Flush(0)  # the next holder is to see it


win.Lock_all(MPI.MODE_NOCHECK)
if comm.rank == 0:
    put()
comm.Barrier()

with pawl.Table(comm, "auto", 1000) as table:
    for _ in range(TURNS):
        with table.lock(7):
            get()
            value[0] += 1
            put()

comm.Barrier()
get()
if comm.rank == 0:
    print(f"counter: {value[0]}, expected {comm.size * TURNS}")
comm.Barrier()
win.Unlock_all()
win.Free()
sys.exit(value[0] != comm.size * TURNS)
