# SPDX-License-Identifier: BSD-3-Clause
"""All ranks count under a mutex of an example of doc/mutexes.md:  turns.py FOLDER MODULE"""
import importlib
import struct
import sys

from mpi4py import MPI

sys.path.insert(0, sys.argv[1])
Mutex = importlib.import_module(sys.argv[2]).Mutex
comm = MPI.COMM_WORLD
mutex = Mutex(comm)
win = MPI.Win.Allocate(8, comm=comm)
if comm.rank == 0:
    win.tomemory()[:] = bytes(8)
comm.Barrier()
for turn in range(50):
    with mutex:
        got = bytearray(8)
        win.Lock(0, MPI.LOCK_SHARED)
        win.Get([got, MPI.BYTE], 0)
        win.Flush(0)
        put = struct.pack("q", struct.unpack("q", got)[0] + 1)
        win.Put([put, MPI.BYTE], 0)
        win.Unlock(0)
comm.Barrier()
win.Lock(comm.rank, MPI.LOCK_SHARED)
found = struct.unpack("q", win.tomemory())[0]
win.Unlock(comm.rank)
win.Free()
mutex.free()
assert comm.rank != 0 or found == 50 * comm.size, found
