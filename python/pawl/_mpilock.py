# SPDX-License-Identifier: BSD-3-Clause
"""One lock with the interface of pshmem's MPILock."""

from __future__ import annotations

from typing import Any, Optional

from ._table import Table


class MPILock:
    """A lock over all ranks of a communicator, in place of pshmem.MPILock.

    Args:
        comm: a communicator of mpi4py, or None: a lock of this process alone.
        root: the rank that has the state of the lock.
        debug: print what happens.

    Creation and close() are collective. lock() of a rank that has the lock, and unlock() of one
    that does not, have no effect. Unlike pshmem's, the garbage collector does not close
    it, because it runs at different times on different ranks.
    """

    def __init__(self, comm: Any, root: int = 0, debug: bool = False) -> None:
        self._comm = comm
        self._debug = debug
        self._alone = False  # whether it is locked, without a communicator
        self._table: Optional[Table] = None
        if comm is not None:
            self._table = Table(comm, "rma-mcs", 1, home=lambda lock: root)
            self._kept = self._table._kept(0)

    def __enter__(self) -> MPILock:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> bool:
        if kind is None:
            self.close()
        return False

    @property
    def comm(self) -> Any:
        """The communicator."""
        return self._comm

    def _print(self, what: str) -> None:
        if self._debug and self._comm is not None:
            print(f"rank {self._comm.rank} {what} the lock", flush=True)

    def lock(self) -> None:
        """Acquire the lock; wait as long as it takes."""
        if self._table is None:
            self._alone = True
        elif not self._kept._state:
            try:
                self._print("awaits")
                self._kept.acquire()
                self._print("has")
            except BaseException:
                self.unlock()
                raise

    def unlock(self) -> None:
        """Release the lock."""
        try:
            if self._table is None:
                self._alone = False
            elif self._kept._state:
                self._kept.release()
                self._print("released")
        except BaseException:
            if self._table is not None:
                self._kept.release()  # unless it is done
            raise

    def close(self) -> None:
        """Free the lock. Collective."""
        if self._table is not None:
            self._table.free()
            self._table = None
