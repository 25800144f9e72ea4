# SPDX-License-Identifier: BSD-3-Clause
"""Tables of locks, and their locks, parts and ranges."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_double, c_int, c_int64, c_void_p
from types import TracebackType
from typing import Any, Callable, Dict, Optional, Type, TypeVar

from . import _library
from ._library import Code, Error, Mode, Time, check, fail


_T = TypeVar("_T")
_EXCLUSIVE, _SHARED = int(Mode.EXCLUSIVE), int(Mode.SHARED)


def _mode(shared: bool, mode: Optional[int]) -> int:
    if mode is not None:
        return int(mode)
    return _SHARED if shared else _EXCLUSIVE


class Held:
    """A lock for `with`, or to acquire() and release() like a threading.Lock.

    It is made by Table.lock(), and acquires nothing before `with` or acquire().
    """

    __slots__ = ("_table", "_lock", "_mode", "_timeout")

    def __init__(self, table: Table, lock: int, mode: int, timeout: Optional[float]) -> None:
        self._table = table
        self._lock = lock
        self._mode = mode
        self._timeout = timeout

    def __enter__(self) -> Held:
        if self._timeout is None:
            table = self._table
            code = table._acquire(table._handle, self._lock, self._mode)
        else:
            code = self._table._timed(self._lock, self._mode, self._timeout)
        if code:
            fail(code)
        return self

    def __exit__(self, *_: object) -> None:
        table = self._table
        code = table._release(table._handle, self._lock)
        if code:
            fail(code)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As threading.Lock.acquire(): False if it is held, or the deadline has passed."""
        return self._table.acquire(
            self._lock,
            mode=self._mode,
            timeout=0 if not blocking else None if timeout < 0 else timeout,
        )

    def release(self) -> None:
        self._table.release(self._lock)


class HeldPart:
    """A part, with an intent at its whole, for `with`."""

    __slots__ = ("_table", "_whole", "_part", "_mode")

    def __init__(self, table: Table, whole: int, part: int, mode: int) -> None:
        self._table = table
        self._whole = whole
        self._part = part
        self._mode = mode

    def __enter__(self) -> HeldPart:
        table = self._table
        check(table._lib.pawl_lock_acquire_part(table._handle, self._whole, self._part, self._mode))
        return self

    def __exit__(self, *_: object) -> None:
        table = self._table
        check(table._lib.pawl_lock_release_part(table._handle, self._whole, self._part))


def _array(values: Any, type_: Any) -> Any:
    """A C array of integers from a sequence, or from a NumPy array of any integer type."""
    numbers = values.tolist() if hasattr(values, "tolist") else values
    return (type_ * len(numbers))(*numbers)


class HeldMany:
    """Several locks, for `with`, or to acquire() and release()."""

    __slots__ = ("_table", "_locks", "_modes", "_timeout")

    def __init__(self, table: Table, locks: Any, modes: Any, timeout: Optional[float]) -> None:
        self._table = table
        self._locks = locks
        self._modes = modes
        self._timeout = timeout

    def __enter__(self) -> HeldMany:
        check(self._table._many(self._locks, self._modes, self._timeout))
        return self

    def __exit__(self, *_: object) -> None:
        self._table.release_many(self._locks)


class Request:
    """An acquire that goes on while this thread does something else; made by Table.iacquire().

    test() or wait() says when the lock is held; Table.release() releases it then. For `with`: waits
    at its begin, and releases at its end.
    """

    __slots__ = ("_table", "_lock", "_data")

    def __init__(self, table: Table, lock: int, mode: int) -> None:
        self._table = table
        self._lock = lock
        self._data = _library.RequestData()
        check(table._lib.pawl_lock_iacquire(table._handle, lock, mode, byref(self._data)))

    def test(self) -> bool:
        """Look once, without waiting: whether the lock is held now, or the request has ended."""
        done = c_int()
        check(self._table._lib.pawl_request_test(byref(self._data), byref(done)))
        return done.value != 0

    def wait(self) -> None:
        """Wait until the lock is held."""
        check(self._table._lib.pawl_request_wait(byref(self._data)))

    def cancel(self) -> None:
        """End the request without the lock."""
        check(self._table._lib.pawl_request_cancel(byref(self._data)))

    def __enter__(self) -> Request:
        self.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._table.release(self._lock)


class HeldRange:
    """Units of a space, for `with`, or to acquire() and release()."""

    __slots__ = ("_table", "_space", "_first", "_last", "_mode", "_timeout", "_range")

    def __init__(
        self,
        table: Table,
        space: int,
        first: int,
        last: int,
        mode: int,
        timeout: Optional[float],
    ) -> None:
        self._table = table
        self._space = space
        self._first = first
        self._last = last
        self._mode = mode
        self._timeout = timeout
        self._range = _library.Range()

    def _take(self, timeout: Optional[float]) -> int:
        table = self._table
        units = (table._handle, self._space, self._first, self._last, self._mode)
        if timeout is None:
            return int(table._lib.pawl_range_acquire(*units, byref(self._range)))
        if timeout == 0:
            return int(table._lib.pawl_range_try_acquire(*units, byref(self._range)))
        return int(table._lib.pawl_range_timed_acquire(*units, timeout, byref(self._range)))

    def __enter__(self) -> HeldRange:
        check(self._take(self._timeout))
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As threading.Lock.acquire(): False if units are held, or the deadline has passed."""
        return _acquired(self._take(0 if not blocking else None if timeout < 0 else timeout))

    def release(self) -> None:
        check(self._table._lib.pawl_range_release(self._table._handle, byref(self._range)))


def _acquired(code: int) -> bool:
    if code in (Code.BUSY, Code.TIMEOUT):
        return False
    check(code)
    return True


class Table:
    """n locks of a kind, spread over the ranks of a communicator. Creation is collective.

    Args:
        comm: a communicator of mpi4py.
        kind: the kind of lock, by its name: kinds() has them; "auto": the default kind.
        n: the number of locks, or of address spaces for kinds with ranges.
        home: the home rank of a lock, a pure function that is the same on all ranks.
        info: options as an MPI.Info with keys "pawl_...".
        options: options by their names in pawl(3): max_held=64, distribution="cyclic".

    As a context manager it frees itself, which is collective; not if an exception leaves the
    `with`, for other ranks need not come to its end.
    """

    def __init__(
        self,
        comm: Any,
        kind: str = "auto",
        n: int = 1,
        *,
        home: Optional[Callable[[int], int]] = None,
        info: Any = None,
        **options: object,
    ) -> None:
        from mpi4py import MPI

        self._lib = _library.lib()
        self._handle = c_void_p()
        self._acquire = self._lib.pawl_lock_acquire
        self._release = self._lib.pawl_lock_release
        own = MPI.INFO_NULL
        if options:
            own = MPI.Info.Create() if info is None else info.Dup()
            for name, value in options.items():
                own.Set("pawl_" + name, str(value))
        handle = None
        if options or info is not None:
            handle = byref(c_int((own if options else info).py2f()))
        try:
            if home is None:
                code = self._lib.pawl_table_create_f(
                    comm.py2f(), kind.encode(), n, handle, byref(self._handle)
                )
            else:
                code = self._create_homed(comm, kind, n, home, handle)
        finally:
            if options:
                own.Free()
        check(code)

    def _create_homed(
        self, comm: Any, kind: str, n: int, home: Callable[[int], int], handle: Any
    ) -> int:
        failure = []

        def call(lock: int, _: object) -> int:
            try:
                return home(lock)
            except BaseException as e:
                failure.append(e)
                return -1

        code = self._lib.pawl_table_create_homed_f(
            comm.py2f(),
            kind.encode(),
            n,
            _library.HOME_FUNCTION(call),
            None,
            handle,
            byref(self._handle),
        )
        if failure:
            raise failure[0]
        return int(code)

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if kind is None:
            self.free()

    def free(self) -> None:
        """Free the table, unless it is free already. Collective."""
        if self._handle:
            check(self._lib.pawl_table_free(byref(self._handle)))

    def lock(
        self,
        lock: int,
        shared: bool = False,
        *,
        mode: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Held:
        """A lock for `with`.

        Args:
            lock: 0 <= lock < n.
            shared: for readers; kinds with CAP_SHARED.
            mode: a Mode in place of shared.
            timeout: seconds to wait at most; then Timeout is raised. 0 does not wait.
        """
        return Held(self, lock, _mode(shared, mode), timeout)

    def part(self, whole: int, part: int, shared: bool = False) -> HeldPart:
        """Lock part, and the intent at lock whole, for `with`; kinds with CAP_INTENT."""
        return HeldPart(self, whole, part, _mode(shared, None))

    def range(
        self,
        space: int,
        first: int,
        last: int = _library.RANGE_END,
        shared: bool = False,
        *,
        timeout: Optional[float] = None,
    ) -> HeldRange:
        """Units first to last, both included, of a space, for `with`; kinds with CAP_RANGES."""
        return HeldRange(self, space, first, last, _mode(shared, None), timeout)

    def _timed(self, lock: int, mode: int, timeout: float) -> int:
        if timeout == 0:
            return int(self._lib.pawl_lock_try_acquire(self._handle, lock, mode))
        return int(self._lib.pawl_lock_timed_acquire(self._handle, lock, mode, timeout))

    def acquire(
        self,
        lock: int,
        shared: bool = False,
        *,
        mode: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> bool:
        """Acquire a lock; False if the deadline has passed, or, with timeout=0, if it is held."""
        taken = _mode(shared, mode)
        if timeout is None:
            check(self._acquire(self._handle, lock, taken))
            return True
        return _acquired(self._timed(lock, taken, timeout))

    def _many(self, locks: Any, modes: Any, timeout: Optional[float]) -> int:
        names = _array(locks, ctypes.c_uint64)
        each = None
        if modes is not None:
            each = _array(modes, c_int)
            if len(each) != len(names):
                raise ValueError(f"{len(names)} locks, and {len(each)} modes")
        call = (self._handle, len(names), names, each)
        if timeout is None:
            return int(self._lib.pawl_lock_acquire_many(*call))
        if timeout == 0:
            return int(self._lib.pawl_lock_try_acquire_many(*call))
        return int(self._lib.pawl_lock_timed_acquire_many(*call, timeout))

    def locks(self, locks: Any, modes: Any = None, *, timeout: Optional[float] = None) -> HeldMany:
        """Several locks for `with`: a sequence or an integer array of NumPy; modes likewise.

        Clients that acquire several locks by one call do not dead-lock with each other.
        """
        return HeldMany(self, locks, modes, timeout)

    def acquire_many(
        self, locks: Any, modes: Any = None, *, timeout: Optional[float] = None
    ) -> bool:
        """Acquire all of these locks, or none of them: False if the time is over, or, with
        timeout=0, if one is held."""
        return _acquired(self._many(locks, modes, timeout))

    def iacquire(self, lock: int, shared: bool = False, *, mode: Optional[int] = None) -> Request:
        """Begin to acquire a lock, without waiting; see Request."""
        return Request(self, lock, _mode(shared, mode))

    def read(self, lock: int, copy: Callable[[], _T]) -> _T:
        """Read what a lock protects without acquiring it; kinds with CAP_OPTIMISTIC.

        copy() is called until no exclusive client was in meanwhile. It must only copy, for what it
        reads may change under it: `record = table.read(7, lambda: shared[7].copy())`. An exception
        of copy() is raised if what it read was valid.
        """
        data = _library.ReadData()
        while True:
            check(self._lib.pawl_lock_read_begin(self._handle, lock, byref(data)))
            try:
                value = copy()
            except BaseException:
                if self._is_valid(lock, data):
                    raise
            else:
                if self._is_valid(lock, data):
                    return value

    def _is_valid(self, lock: int, data: _library.ReadData) -> bool:
        return _acquired(self._lib.pawl_lock_read_validate(self._handle, lock, byref(data)))

    def release_many(self, locks: Any) -> None:
        """Release locks that this thread holds."""
        names = _array(locks, ctypes.c_uint64)
        check(self._lib.pawl_lock_release_many(self._handle, len(names), names))

    def release(self, lock: int) -> None:
        """Release a lock that this thread holds."""
        check(self._release(self._handle, lock))

    def home(self, lock: int) -> int:
        """The home rank of a lock."""
        rank = c_int()
        check(self._lib.pawl_table_home(self._handle, lock, byref(rank)))
        return rank.value

    def info(self) -> Dict[str, Any]:
        """A description of the table: kind, n, ranks, nodes, max_held, transport, topology, ..."""
        info = _library.TableInfo()
        check(self._lib.pawl_table_get_info_sized(self._handle, byref(info), ctypes.sizeof(info)))
        kind = info.kind.contents
        fields: Dict[str, Any] = {"kind": kind.name.decode(), "capabilities": kind.capabilities}
        for name, _ in info._fields_[1:]:
            value = getattr(info, name)
            fields[name] = value.decode() if isinstance(value, bytes) else value
        fields["crowded"] = bool(info.crowded)
        return fields

    def set_name(self, name: str) -> None:
        """Name the table in messages of this rank; "" removes the name."""
        check(self._lib.pawl_table_set_name(self._handle, name.encode()))

    def stats(self) -> Dict[str, Any]:
        """The counts of this rank since creation or reset_stats(); pairs count targets on the same
        node, and on other nodes."""
        stats = _library.Stats()
        size = ctypes.sizeof(stats)
        check(self._lib.pawl_table_get_stats_sized(self._handle, byref(stats), size))
        return {
            name: tuple(value) if isinstance(value, ctypes.Array) else value
            for name, value in ((name, getattr(stats, name)) for name, _ in stats._fields_)
        }

    def reset_stats(self) -> None:
        """Set the counts to 0."""
        check(self._lib.pawl_table_reset_stats(self._handle))

    def percentile(self, what: Time, percent: float) -> float:
        """What percent (0 .. 100) of this rank's acquires or holds do not exceed, in seconds. For
        tables created with PAWL_STATS in the environment: pawl_table_get_percentile()."""
        seconds = c_double()
        check(self._lib.pawl_table_get_percentile(self._handle, what, percent, byref(seconds)))
        return seconds.value

    def grow(self, space: int) -> int:
        """Let a space grow; the number of units it then has: pawl_range_grow()."""
        units = c_int64()
        check(self._lib.pawl_range_grow(self._handle, space, byref(units)))
        return units.value

    def shrink(self, space: int, units: int) -> None:
        """Shrink a space to this many units. Collective: pawl_range_shrink()."""
        check(self._lib.pawl_range_shrink(self._handle, space, units))


__all__ = ["Error", "Held", "HeldMany", "HeldPart", "HeldRange", "Mode", "Request", "Table"]
