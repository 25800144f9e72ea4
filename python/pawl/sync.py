# SPDX-License-Identifier: BSD-3-Clause
"""The names of mpi4py.util.sync (mpi4py 4.1) over tables of Pawl: Sequential, Counter, Mutex,
Condition, Semaphore. A changed import is all that a program needs.

Creation is collective over comm, and so is free(), which may be called any number of times. Objects
belong to the process: any thread may release what another one has acquired. info has options of
the table, under keys "pawl_...". Waits look at signals 20 times a second. An exception of a handler
may end any call: an acquire has nothing then, and a release is done, unless the exception came
before its first instruction (`with` has no such moment).
"""

from __future__ import annotations

import array
import math
import operator
import struct
from ctypes import byref
from typing import Any, Callable, Dict, NoReturn, Optional, TypeVar, Union

from mpi4py import MPI

from . import _scope
from ._header import Code
from ._library import fail
from ._table import Table, _acquire

__all__ = ["Sequential", "Counter", "Mutex", "Condition", "Semaphore"]

_T = TypeVar("_T")
_Number = Union[int, float]
_CONDITIONS = 64  # of a mutex, those that are not freed
_UNKNOWN = -1


def _table(comm: Any, n: int, info: Any, home: Optional[Callable[[int], int]] = None) -> Table:
    info = None if info is None or info == MPI.INFO_NULL else info
    return Table(comm, "auto", n, info=info, home=home, events=True, owner="process")


class _Given(Dict[int, None]):
    """As the type of a result of the end of `with`, of which object is what."""

    def __init__(self, what: str) -> None:
        super().__init__({0: None})
        self._what = what

    def __missing__(self, code: int) -> NoReturn:
        if code == Code.NOT_HELD:
            raise RuntimeError(f"cannot release {self._what}")
        if code == Code.RANGE:
            raise ValueError("semaphore released too many times")
        fail(code)


def _bind(class_: type, what: str) -> None:
    """The end of `with` is a call of the library on _as_parameter_: no exception prevents it. So is
    the release of a mutex."""
    if "__exit__" not in vars(class_):
        setattr(class_, "__exit__", _scope.method("give", 3, _Given(what).__getitem__))
    if "release" not in vars(class_):
        setattr(class_, "release", _scope.method("put", 0, _Given(what).__getitem__))


class _Freed:
    """What is freed: any access to a table is an error of the program."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"{self._what} already freed")

    def __bool__(self) -> bool:
        return False


class Sequential:
    """The ranks of a communicator run the body of `with` one after the other."""

    def __init__(self, comm: Any, tag: int = 0) -> None:
        self.comm = comm
        self.tag = int(tag)

    def __enter__(self) -> Sequential:
        self.begin()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def begin(self) -> None:
        """Wait for the turn of this rank."""
        rank = self.comm.Get_rank()
        if rank > 0:
            self.comm.Recv((bytearray(), 0, MPI.BYTE), rank - 1, self.tag)

    def end(self) -> None:
        """Let the next rank go on."""
        rank = self.comm.Get_rank()
        if rank + 1 < self.comm.Get_size():
            self.comm.Send((bytearray(), 0, MPI.BYTE), rank + 1, self.tag)


class Counter:
    """A counter for all ranks of comm, and an iterator over its values; in the memory of rank root.

    Integers of typecode (as of array.array) wrap around; floating-point numbers add under a lock.
    """

    def __init__(
        self,
        start: _Number = 0,
        step: _Number = 1,
        *,
        typecode: str = "i",
        comm: Any = MPI.COMM_SELF,
        info: Any = MPI.INFO_NULL,
        root: int = 0,
    ) -> None:
        fromcode = getattr(MPI.Datatype, "fromcode", None)  # of mpi4py 4
        typecode = fromcode(typecode).typechar if fromcode else typecode
        sample = array.array(typecode, [0])
        self._real = isinstance(sample[0], float)
        if not self._real:
            start = operator.index(start)  # type: ignore[arg-type]
        self._bits = 8 * sample.itemsize
        self._signed = typecode.islower()
        self._typecode = typecode
        self._start = start
        self._step = step
        self._table: Any = _table(comm, 1, info, lambda lock: root)

    def __iter__(self) -> Counter:
        return self

    def __next__(self) -> _Number:
        return self.next()

    def next(self, incr: Optional[_Number] = None) -> _Number:
        """Add incr (None: the step); returns the value before."""
        incr = self._step if incr is None else incr
        if self._real:
            return self._next_real(incr)
        value = self._start + self._table.add(0, self._in_range(operator.index(incr), 64, True))
        return self._in_range(value, self._bits, self._signed)

    @staticmethod
    def _in_range(value: _Number, bits: int, signed: bool) -> int:
        number = int(value) & ((1 << bits) - 1)
        return number - (1 << bits) if signed and number >> (bits - 1) else number

    def _next_real(self, incr: _Number) -> float:
        """The counter has the bits of a number, to which start is added."""
        with self._table.lock(0):
            bits = self._table.add(0, 0)
            (value,) = struct.unpack("d", struct.pack("q", bits))
            (after,) = struct.unpack("q", struct.pack("d", value + incr))
            self._table.add(0, self._in_range(after - bits, 64, True))
        return float(array.array(self._typecode, [math.fsum((self._start, value))])[0])

    def free(self) -> None:
        """Free the counter. Collective."""
        table, self._table = self._table, _Freed("counter")
        if table:
            table.free()


class Mutex:
    """Mutual exclusion of the ranks of comm; recursive: a rank may acquire it several times.
    release() releases what this rank has acquired, once."""

    __exit__: Callable[..., None]
    release: Callable[[], None]

    def __init__(
        self, *, recursive: bool = False, comm: Any = MPI.COMM_SELF, info: Any = MPI.INFO_NULL
    ) -> None:
        self._recursive = bool(recursive)
        self._comm = comm
        self._table: Any = _table(comm, 1 + _CONDITIONS, info)
        self._lock: Any = self._table._kept(0)  # knows whether it is held, and how many times more
        self._as_parameter_ = byref(self._lock)
        _bind(Mutex, "unheld mutex")
        self._queues = list(range(_CONDITIONS, 0, -1))  # of conditions that do not exist
        self._end = _scope.function("end")

    def __enter__(self) -> Mutex:
        held = self._lock._state
        count = self.count() if held else 0
        try:
            if held:
                self._get_again()
            else:
                _acquire(self._lock)
            return self
        except BaseException:
            self._undo(count)
            raise

    def acquire(self, blocking: bool = True) -> bool:
        """Whether this rank has it now; waits for it if blocking."""
        held = self._lock._state
        count = self.count() if held else 0
        try:
            if held:
                return self._get_again()
            if blocking:
                return _acquire(self._lock)
            return self._lock.acquire(False)  # type: ignore[no-any-return]
        except BaseException:
            self._undo(count)
            raise

    def _undo(self, count: int) -> None:
        """After an exception in an acquire, before which there were count."""
        if _UNKNOWN < count < self.count():
            self._give()

    def _redo(self, count: int) -> None:
        """After an exception in a release, before which there were count."""
        if self.count() >= max(count, 1):
            self._give()

    def _get_again(self) -> bool:
        if not self._recursive:
            raise RuntimeError("cannot acquire already held mutex")
        self._lock._n += 1
        return True

    def _give(self) -> None:
        lock = self._lock
        if lock._n:
            lock._n -= 1
            return
        if not lock._state:
            raise RuntimeError("cannot release unheld mutex")
        code = self._end(lock)
        if code:
            fail(code)

    def locked(self) -> bool:
        """Whether this rank has it."""
        return self.count() > 0

    def count(self) -> int:
        """How many times this rank has acquired it."""
        return (self._lock._state == _scope.HELD) + int(self._lock._n)

    def free(self) -> None:
        """Free the mutex, released if this rank has it. Collective."""
        table, self._table = self._table, _Freed("mutex")
        lock, self._lock = self._lock, self._table
        if table:
            lock._n = 0
            self._end(lock)
            table.free()


class Condition:
    """A condition of a mutex: of a new one, if mutex is None. Creation is collective, in the same
    order for all conditions of a mutex."""

    __exit__: Callable[..., None]

    def __init__(
        self,
        mutex: Optional[Mutex] = None,
        *,
        recursive: bool = True,
        comm: Any = MPI.COMM_SELF,
        info: Any = MPI.INFO_NULL,
    ) -> None:
        self._own = mutex is None
        self._mutex = Mutex(recursive=recursive, comm=comm, info=info) if mutex is None else mutex
        if not self._mutex._queues:
            raise RuntimeError(f"a mutex has {_CONDITIONS} conditions at most")
        self._queue = self._mutex._queues.pop()
        self._freed = False
        self._as_parameter_ = self._mutex._as_parameter_
        _bind(Condition, "unheld mutex")

    def __enter__(self) -> Condition:
        count = _UNKNOWN
        try:
            self._check()
            count = self._mutex.count()
            if self._mutex._lock._state:
                self._mutex._get_again()
            else:
                _acquire(self._mutex._lock)
            return self
        except BaseException:
            self._mutex._undo(count)
            raise

    def _check(self) -> None:
        if self._freed:
            raise RuntimeError("condition already freed")

    def acquire(self, blocking: bool = True) -> bool:
        """Acquire the mutex."""
        self._check()
        return self._mutex.acquire(blocking)

    # An exception that comes before the release does not prevent it (but for one at the first
    # instruction), here and below; so nothing comes before `try`.

    def release(self, _count: int = _UNKNOWN) -> None:
        """Release the mutex."""
        try:
            self._check()
            _count = self._mutex.count()
            self._mutex._give()
        except BaseException:
            if not self._freed:
                self._mutex._redo(_count)
            raise

    def locked(self) -> bool:
        """Whether this rank has the mutex."""
        return self._mutex.locked()

    def wait(self) -> bool:
        """Release the mutex, wait for a notification, and acquire it again. Always True."""
        self._check()
        if not self.locked():
            raise RuntimeError("cannot wait on unheld mutex")
        self._mutex._table.wait(0, condition=self._queue)
        return True

    def wait_for(self, predicate: Callable[[], _T]) -> _T:
        """Wait until predicate() is true; returns its result."""
        result = predicate()
        while not result:
            self.wait()
            result = predicate()
        return result

    def notify(self, n: int = 1) -> int:
        """Wake up to n ranks that wait; returns their number."""
        self._check()
        if not self.locked():
            raise RuntimeError("cannot notify on unheld mutex")
        return int(self._mutex._table.notify(0, max(n, 0), condition=self._queue))

    def notify_all(self) -> int:
        """Wake all ranks that wait; returns their number."""
        return self.notify(2**31 - 1)

    def free(self) -> None:
        """Free the condition, and its mutex if it has made it; else release that. Collective."""
        if not self._freed:
            self._freed = True
            self._mutex._queues.append(self._queue)
            if self._own:
                self._mutex.free()
            elif self._mutex._table:
                while self._mutex.locked():
                    self._mutex.release()


class _Permits:
    """The number of permits, as tests of mpi4py.util.sync ask for it."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def next(self, incr: int) -> int:
        """The number; incr is 0."""
        return max(0, int(self._table.semaphore_value(0)) + incr)


class Semaphore:
    """value permits for the ranks of comm; bounded: there are never more than that."""

    __exit__: Callable[..., None]

    def __init__(
        self,
        value: int = 1,
        *,
        bounded: bool = True,
        comm: Any = MPI.COMM_SELF,
        info: Any = MPI.INFO_NULL,
    ) -> None:
        value = operator.index(value)
        if value < 0:
            raise ValueError("initial value must be non-negative")
        self._value = value
        self._table: Any = _table(comm, 1, info)
        self._end = _scope.function("end")
        self._bounded = bool(bounded)
        _bind(Semaphore, "a permit of what is freed")
        if comm.Get_rank() == 0:
            self._table.semaphore_init(0, value)
        comm.Barrier()

    def __enter__(self) -> Semaphore:
        permit = self._table._permits(0)
        try:
            _acquire(permit)
            return self
        except BaseException:
            self._end(permit)
            raise

    def acquire(self, blocking: bool = True) -> bool:
        """Take a permit; False if there is none, and not blocking."""
        return self._table.semaphore_acquire(0, None if blocking else 0)  # type: ignore

    def release(self, n: int = 1, _given: Optional[_scope.Scope] = None) -> None:
        """Give n permits."""
        try:
            _given = self._permits(n)
            code = self._end(_given)
        except BaseException:
            self._end(_given or self._permits(n))
            raise
        if n < 1:
            raise ValueError("increment must be one or more")
        if code == Code.RANGE or not self._may_give:
            raise ValueError("semaphore released too many times")
        if code:
            fail(code)

    def _permits(self, n: int) -> _scope.Scope:
        state = _scope.HELD if n > 0 and self._may_give else _scope.NONE
        return self._table._permits(0, max(n, 0), self._most, state)  # type: ignore

    @property
    def _bounded(self) -> bool:
        """Whether there are never more than the first permits; programs for mpi4py change it."""
        return self._most > 0 or not self._may_give

    @_bounded.setter
    def _bounded(self, bounded: bool) -> None:
        self._most = self._value if bounded else 0
        self._may_give = self._value > 0 or not bounded
        self._one = self._permits(1)
        self._as_parameter_ = byref(self._one)

    @property
    def _counter(self) -> _Permits:
        return _Permits(self._table)

    def free(self) -> None:
        """Free the semaphore. Collective."""
        table, self._table = self._table, _Freed("semaphore")
        self._one._state = _scope.NONE
        if table:
            table.free()
