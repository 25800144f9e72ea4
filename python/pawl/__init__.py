# SPDX-License-Identifier: BSD-3-Clause
"""Pawl: distributed locks for MPI programs, beside mpi4py.

    from mpi4py import MPI
    import pawl

    with pawl.Table(MPI.COMM_WORLD, "rma-rw", 1000) as table:
        with table.lock(7):
            ...  # change what lock 7 protects
        with table.lock(7, shared=True):
            ...  # read it

The manual page pawl(3) says what each kind of lock does. A call that waits lets other threads of
Python run, and handlers of signals: Ctrl-C ends it, and leaves nothing held or requested. Only a
wait of ss, or for units of citron without a timeout, goes on until the lock is free if
the MPI provides less than MPI_THREAD_MULTIPLE and carries the operations between several nodes.

The module calls libpawl, which must be built for the MPI of mpi4py; pawl.library() says where the
module looks for it.
"""

from ._header import (
    CAP_FAIR,
    CAP_INTENT,
    CAP_OPTIMISTIC,
    CAP_RANGES,
    CAP_RECOVERS,
    CAP_SHARED,
    CAP_THREADS,
    CAP_TIMED,
    CAP_TRY,
    CAP_UPGRADE,
    Code,
    Mode,
    Time,
)
from ._library import RANGE_END, Error, Timeout, kinds, library, version
from ._mpilock import MPILock
from ._table import Held, Request, Table

__version__ = "0.1.0"
__all__ = [
    "CAP_FAIR",
    "CAP_INTENT",
    "CAP_OPTIMISTIC",
    "CAP_RANGES",
    "CAP_RECOVERS",
    "CAP_SHARED",
    "CAP_THREADS",
    "CAP_TIMED",
    "CAP_TRY",
    "CAP_UPGRADE",
    "RANGE_END",
    "Code",
    "Error",
    "Held",
    "MPILock",
    "Mode",
    "Request",
    "Table",
    "Time",
    "Timeout",
    "kinds",
    "library",
    "version",
]
