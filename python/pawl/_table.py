# SPDX-License-Identifier: BSD-3-Clause
"""Tables of locks, and their locks, parts and ranges."""

from __future__ import annotations

import ctypes
import time
from ctypes import byref, c_double, c_int, c_int64, c_uint64, c_void_p
from types import TracebackType
from typing import Any, Callable, Dict, Optional, Tuple, Type, TypeVar, cast

from . import _header, _library, _scope
from ._header import Code, Mode, Time
from ._library import Error, Timeout, check, fail
from ._scope import GO_ON, HELD, MANY, NONE, PART, PENDING, RANGE, SEMAPHORE, TRIES
from ._scope import Scope, acquired, integer

_T = TypeVar("_T")
_EXCLUSIVE, _SHARED = int(Mode.EXCLUSIVE), int(Mode.SHARED)
_INT_MAX, _UINT64_MAX = 2**31 - 1, 2**64 - 1
_SLICE = 0.05  # seconds between two looks at signals

# Calls of the library on a Scope.
_begin = _enter = _wait = _end = _look = _request = cast(Callable[..., int], None)


def _bind() -> None:
    """Load the library and bind its calls, at the first table."""
    global _begin, _enter, _wait, _end, _look, _request
    if _end is not None:
        return
    _begin, _wait, _look, _request = map(_scope.function, ("begin", "wait", "look", "request"))
    _enter = _scope.function("enter", 2)
    for class_, leave, release in (
        (Held, "leave", "release"),
        (Kept, "exit", "end"),
        (Request, "leave", "release"),
    ):
        setattr(class_, "__exit__", _scope.method(leave, 3))
        setattr(class_, "release", _scope.method(release))
    setattr(Request, "__del__", _scope.method("drop", 0, None))
    _end = _scope.function("end")


def _acquire(scope: Scope, then: Optional[Tuple[int, float]] = None) -> bool:
    """False if another client has it, or the deadline has passed. then: what `with` waits."""
    try:
        code = _begin(scope)
        while code == GO_ON:
            code = _wait(scope)
        if then:
            scope._wait, scope._seconds = then
        return acquired(code)
    except BaseException:
        _end(scope)
        raise


def _mode(shared: bool, mode: Optional[int]) -> int:
    if mode is not None:
        return integer(mode, "mode", _INT_MAX)
    return _SHARED if shared else _EXCLUSIVE


class _Lockable(Scope):
    """What all that `with` takes has in common. __exit__() and release() are calls of the library:
    see _bind()."""

    __slots__ = ("_table", "_arrays")
    _table: Table
    _arrays: Any
    __exit__: Callable[..., None]
    release: Callable[[], None]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._lock} of {self._table!r}>"

    def _call(self, name: str, *out: Any) -> None:
        """A call of the library about the lock or the range that this object names."""
        table = self._table
        if self._what == RANGE:
            what: Any = ctypes.addressof(self) + Scope._range.offset
            check(getattr(table._lib, f"pawl_range_{name}")(table._handle, what, *out))
        elif self._what == _scope.LOCK:
            check(getattr(table._lib, f"pawl_lock_{name}")(table._handle, self._lock, *out))
        else:
            raise Error(Code.UNSUPPORTED, "of several locks, ask for each: table.lock(i)")

    @property
    def is_consistent(self) -> bool:
        """While it is held: False if it was recovered from a holder that did not release it, and
        what it protects may be half changed; until consistent()."""
        consistent = c_int()
        self._call("is_consistent", byref(consistent))
        return bool(consistent.value)

    def consistent(self) -> None:
        """What it protects is repaired; for the exclusive holder: pawl_lock_consistent()."""
        self._call("consistent")

    def token(self) -> int:
        """While it is held: a number that is larger than those of all earlier holders, for writes
        to storage: pawl_lock_token()."""
        token = c_int64()
        self._call("token", byref(token))
        return token.value


class Held(_Lockable):
    """A lock for `with`, or to acquire() and release() like a threading.Lock.

    It is made by Table.lock(), and acquires nothing before `with` or acquire(). Threads may share
    it. It may be the lock of a threading.Condition, which is between threads of this process.
    """

    __slots__ = ()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As threading.Lock.acquire(): False if it is held, or the deadline has passed."""
        scope = Scope.from_buffer_copy(self)
        scope._wait, scope._seconds = _scope.waiting(_scope.python_timeout(blocking, timeout))
        return _acquire(scope)

    def __enter__(self) -> Held:
        scope = Scope()
        try:
            code = _enter(self, scope)
            if code:
                while code == GO_ON:
                    code = _wait(scope)
                if code:
                    fail(code)
            return self
        except BaseException:
            _end(scope)
            raise

    def upgrade(self, timeout: Optional[float] = None) -> None:
        """Make a lock exclusive that this thread shares, without releasing it; kinds with
        CAP_UPGRADE. Raises Timeout, with the lock shared as before, when the time is over; or at
        once, with Code.BUSY, if another holder does the same, which waits for this one. It asks
        anew 20 times a second, to look at signals: newcomers may share the lock between two
        requests, and another holder may begin to do the same."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            rest = _SLICE if until is None else min(_SLICE, until - time.monotonic())
            try:
                self._call("timed_upgrade", max(rest, 0))
                return
            except Timeout as e:
                over = until is not None and time.monotonic() >= until
                if e.code != Code.TIMEOUT or over:
                    raise

    def downgrade(self) -> None:
        """Share a lock that this thread holds exclusively; no other client is exclusive between:
        pawl_lock_downgrade()."""
        self._call("downgrade")

    def _as_held(self) -> Held:
        """Say that it is held, for _end()."""
        self._state = HELD
        return self

    def _is_owned(self) -> bool:
        """Whether this thread has it; for threading.Condition."""
        scope = Scope.from_buffer_copy(self)
        try:
            scope._wait = TRIES
            return _begin(scope) == Code.HELD
        finally:
            _end(scope)


class HeldPart(Held):
    """A part, with an intent at its whole, for `with`, or to acquire() and release()."""

    __slots__ = ()


def _array(values: Any, one: Callable[[Any], int], type_: Any) -> Any:
    """A C array of integers from a sequence, or from a NumPy array of any integer type."""
    numbers = [one(value) for value in (values.tolist() if hasattr(values, "tolist") else values)]
    return (type_ * len(numbers))(*numbers)


class HeldMany(Held):
    """Several locks, for `with`, or to acquire() and release()."""

    __slots__ = ()


class Request(_Lockable):
    """An acquire that goes on while this thread does something else; made by Table.iacquire().

    test() or wait() says when the lock is held; Table.release() releases it then. For `with`: waits
    at its begin, and releases at its end; `async with` lets other tasks run while it waits. An
    exception within test() or wait() ends the request, and so does the end of the object's life, in
    the thread that made it.
    """

    __slots__ = ()
    __del__: Callable[[], None]

    def test(self) -> bool:
        """Look once, without waiting: whether the lock is held now, or the request has ended."""
        was = self._state
        try:
            code = _look(self)
            if code != GO_ON:
                check(code)
            return code != GO_ON
        except BaseException:
            if was == PENDING:
                _end(self)
            raise

    def wait(self) -> None:
        """Wait until the lock is held."""
        was = self._state
        try:
            code = _wait(self)
            while code == GO_ON:
                code = _wait(self)
            check(code)
        except BaseException:
            if was == PENDING:
                _end(self)
            raise

    def fileno(self) -> int:
        """A descriptor that is readable when the request has ended, for selectors and asyncio. The
        call that ends the request closes it, so unregister it before test(): pawl_request_fd()."""
        fd = c_int()
        where = ctypes.addressof(self) + Scope._request.offset
        check(self._table._lib.pawl_request_fd(where, byref(fd)))
        return fd.value

    def mpi(self) -> Any:
        """A request of mpi4py that completes when this one has ended, for MPI.Request.Waitany()
        over locks and messages; then call test(): pawl_request_mpi()."""
        from mpi4py import MPI

        handle = c_int()
        where = ctypes.addressof(self) + Scope._request.offset
        check(self._table._lib.pawl_request_mpi_f(where, byref(handle)))
        return MPI.Request.f2py(handle.value)

    async def _ended(self) -> None:
        import asyncio  # slow

        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        fd = self.fileno()
        loop.add_reader(fd, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(fd)

    async def __aenter__(self) -> Request:
        was = self._state
        try:
            await self._ended()
            self.test()
            return self
        except BaseException:
            if was == PENDING:
                _end(self)
            raise

    async def __aexit__(self, *_: object) -> None:
        self.release()

    def cancel(self) -> None:
        """End the request without the lock."""
        if self._state == PENDING:
            check(_end(self))

    def __enter__(self) -> Request:
        was = self._state
        try:
            self.wait()
            return self
        except BaseException:
            if was == PENDING:
                _end(self)
            raise


class Kept(_Lockable):
    """What knows whether it holds what it names; so each thread needs its own."""

    __slots__ = ()

    def __enter__(self) -> Kept:
        if self._state:
            raise Error(Code.HELD, "this object holds what it names already")
        try:
            code = _begin(self)
            while code == GO_ON:
                code = _wait(self)
            check(code)
            return self
        except BaseException:
            _end(self)
            raise

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As threading.Lock.acquire(): False if it is held, or the deadline has passed."""
        if self._state:
            raise Error(Code.HELD, "this object holds what it names already")
        then = self._wait, self._seconds
        try:
            self._wait, self._seconds = _scope.waiting(_scope.python_timeout(blocking, timeout))
            return _acquire(self, then)
        except BaseException:
            self._wait, self._seconds = then
            raise


class HeldRange(Kept):
    """Units of a space, for `with`, or to acquire() and release(). Each thread needs its own."""

    __slots__ = ()


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

        _bind()
        self._lib = _library.lib()
        self._handle = c_void_p()
        self._cell = ctypes.addressof(self._handle)
        self._n = integer(n, "n", _UINT64_MAX)
        if not isinstance(kind, str):
            raise TypeError(f"kind: {kind!r} is not the name of a kind; the number of locks is n")
        if not hasattr(comm, "py2f"):
            raise TypeError(f"comm: {comm!r} is not a communicator of mpi4py")
        own = MPI.INFO_NULL
        if options:
            own = MPI.Info.Create() if info is None else info.Dup()
        try:
            for name, value in options.items():
                try:
                    text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
                    own.Set("pawl_" + name, text)
                except MPI.Exception as e:
                    raise Error(Code.OPTION, f"info key pawl_{name}: {e}") from None
            handle = None
            if options or info is not None:
                handle = byref(c_int((own if options else info).py2f()))
            if home is None:
                code = self._lib.pawl_table_create_f(
                    comm.py2f(), kind.encode(), self._n, handle, byref(self._handle)
                )
            else:
                code = self._create_homed(comm, kind, self._n, home, handle)
        finally:
            if options:
                own.Free()
        check(code)

    def __repr__(self) -> str:
        if not self._handle:
            return "<pawl.Table, freed>"
        info = self.info()
        name = f' "{info["name"]}"' if info["name"] else ""
        return f"<pawl.Table{name}: {info['kind']}, {self._n} locks, {info['ranks']} ranks>"

    def __len__(self) -> int:
        """The number of locks, or of spaces."""
        return self._n

    def __bool__(self) -> bool:
        """Whether it has not been freed."""
        return bool(self._handle)

    def _number(self, value: Any, what: str = "lock") -> int:
        """The number of a lock or a space. The library says so if there is none of this number;
        one that has more than its 64 bits ends here."""
        number = _scope.index(value, what)
        if not 0 <= number <= _UINT64_MAX:
            raise Error(Code.RANGE, f"{what} {number} is not in 0 to {self._n - 1}")
        return number

    def _create_homed(
        self, comm: Any, kind: str, n: int, home: Callable[[int], int], handle: Any
    ) -> int:
        return self._with_homes(
            home,
            lambda function: self._lib.pawl_table_create_homed_f(
                comm.py2f(), kind.encode(), n, function, None, handle, byref(self._handle)
            ),
        )

    def _with_homes(self, home: Callable[[int], int], call: Callable[[Any], int]) -> int:
        """The code of a call with a home function; raises what that has raised here."""
        failure = []

        def ask(lock: int, _: object) -> int:
            try:
                return home(lock)
            except BaseException as e:
                failure.append(e)
                return -1

        code = call(_header.HOME_FUNCTION(ask))
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
        """Free the table, unless it is free already. Collective. After MPI_Finalize, which has
        named the table on stderr, it frees what is left of it."""
        from mpi4py import MPI

        if self._handle:
            code = self._lib.pawl_table_free(byref(self._handle))
            if self._handle or not MPI.Is_finalized():
                check(code)

    def rehome(self, home: Callable[[int], int]) -> None:
        """Give the locks other homes, those of home(lock), which may ask home() of the table:
        pawl_table_rehome(). Collective; nothing of the table is held or awaited meanwhile."""
        check(
            self._with_homes(
                home,
                lambda function: self._lib.pawl_table_rehome(self._handle, function, None),
            )
        )

    def shrink_to(self, survivors: Any) -> None:
        """Go on over the ranks that are left: pawl_table_shrink(). Collective over survivors, a
        communicator of mpi4py. Nothing is held any more; a `with` that held something says so."""
        if not hasattr(survivors, "py2f"):
            raise TypeError(f"survivors: {survivors!r} is not a communicator of mpi4py")
        check(self._lib.pawl_table_shrink_f(byref(self._handle), survivors.py2f()))

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
        if lock.__class__ is not int or not 0 <= lock <= _UINT64_MAX:
            lock = self._number(lock)
        held = Held(self._cell, lock, _SHARED if shared else _EXCLUSIVE)
        held._table = self
        if mode is not None:
            held._mode = _mode(shared, mode)
        if timeout is not None:
            held._wait, held._seconds = _scope.waiting(timeout)
        return held

    def _kept(self, lock: int) -> Kept:
        """A lock whose object knows whether it is held."""
        kept = Kept(self._cell, self._number(lock), _EXCLUSIVE)
        kept._table = self
        return kept

    def part(self, whole: int, part: int, shared: bool = False) -> HeldPart:
        """Lock part, and the intent at lock whole, for `with`; kinds with CAP_INTENT."""
        held = HeldPart(self._cell, self._number(whole), _mode(shared, None), PART)
        held._part = self._number(part)
        held._table = self
        return held

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
        held = HeldRange(self._cell, self._number(space, "space"), _mode(shared, None), RANGE)
        held._first = integer(first, "first", _library.RANGE_END, -_library.RANGE_END)
        held._last = integer(last, "last", _library.RANGE_END, -_library.RANGE_END)
        held._wait, held._seconds = _scope.waiting(timeout)
        held._table = self
        return held

    def acquire(
        self,
        lock: int,
        shared: bool = False,
        *,
        mode: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> bool:
        """Acquire a lock; False if the deadline has passed, or, with timeout=0, if it is held."""
        return _acquire(self.lock(lock, shared, mode=mode, timeout=timeout))

    def locks(self, locks: Any, modes: Any = None, *, timeout: Optional[float] = None) -> HeldMany:
        """Several locks for `with`: a sequence or an integer array of NumPy; modes likewise.

        Clients that acquire several locks by one call do not deadlock with each other.
        """
        held = HeldMany(self._cell, 0, _EXCLUSIVE, MANY)
        held._wait, held._seconds = _scope.waiting(timeout)
        names = _array(locks, self._number, ctypes.c_uint64)
        each = None
        if modes is not None:
            each = _array(modes, lambda mode: _mode(False, mode), c_int)
            if len(each) != len(names):
                raise ValueError(f"{len(names)} locks, and {len(each)} modes")
            held._modes = ctypes.addressof(each)
        held._n = len(names)
        held._locks = ctypes.addressof(names)
        held._arrays = names, each
        held._table = self
        return held

    def acquire_many(
        self, locks: Any, modes: Any = None, *, timeout: Optional[float] = None
    ) -> bool:
        """Acquire all of these locks, or none of them: False if the time is over, or, with
        timeout=0, if one is held."""
        return _acquire(self.locks(locks, modes, timeout=timeout))

    def iacquire(self, lock: int, shared: bool = False, *, mode: Optional[int] = None) -> Request:
        """Begin to acquire a lock, without waiting; see Request."""
        request = Request(self._cell, self._number(lock), _mode(shared, mode))
        request._table = self
        try:
            code = _request(request)
            if code != GO_ON:
                check(code)
            return request
        except BaseException:
            _end(request)
            raise

    def read(self, lock: int, copy: Callable[[], _T]) -> _T:
        """Read what a lock protects without acquiring it; kinds with CAP_OPTIMISTIC.

        copy() is called until no exclusive client was in meanwhile. It must only copy, for what it
        reads may change under it: `record = table.read(7, lambda: shared[7].copy())`. An Exception
        of copy() is raised if what it read was valid; KeyboardInterrupt and the like always.
        """
        number = self._number(lock)
        data = _header.ReadData()
        while acquired(self._lib.pawl_private_scope_read(self._handle, number, byref(data))):
            try:
                value = copy()
            except Exception:
                if self._is_valid(number, data):
                    raise
            else:
                if self._is_valid(number, data):
                    return value
        with self.lock(number, shared=True):
            return copy()

    def _is_valid(self, lock: int, data: _header.ReadData) -> bool:
        return acquired(self._lib.pawl_lock_read_validate(self._handle, lock, byref(data)))

    # An exception that comes before the release does not prevent it: the library notes in _held
    # that it is done. (But for one at the first instruction of these two.)

    def release_many(self, locks: Any, _held: Optional[Scope] = None) -> None:
        """Release locks that this thread holds."""
        try:
            _held = self.locks(locks)._as_held()
            check(_end(_held))
        except BaseException:
            _end(_held or self.locks(locks)._as_held())
            raise

    def release(self, lock: int, _held: Optional[Scope] = None) -> None:
        """Release a lock that this thread holds."""
        try:
            _held = self.lock(lock)._as_held()
            check(_end(_held))
        except BaseException:
            _end(_held or self.lock(lock)._as_held())
            raise

    def wait(self, lock: int, timeout: Optional[float] = None, *, condition: int = -1) -> bool:
        """Wait for a notification of a lock that this thread holds exclusively, and releases
        meanwhile; for tables with events=True. False: there was none for timeout seconds.

        condition: the number whose queue it is, if a lock has several conditions.
        """
        lock = self._number(lock)
        queue = lock if condition < 0 else self._number(condition)
        until = None if timeout is None else time.monotonic() + timeout
        code = int(Code.TIMEOUT)
        try:
            check(self._lib.pawl_private_wait_begin(self._handle, lock, queue))
            while code == Code.TIMEOUT:
                rest = _SLICE if until is None else min(_SLICE, until - time.monotonic())
                code = self._lib.pawl_private_wait_look(self._handle, lock, max(rest, 0))
                if until is not None and time.monotonic() >= until:
                    break
            end = self._lib.pawl_private_wait_end(self._handle, lock, queue)
        except BaseException:
            # With the lock, whatever happens. Does nothing if the wait has not begun, or has ended.
            self._lib.pawl_private_wait_end(self._handle, lock, queue)
            raise
        return acquired(end if code in (Code.SUCCESS, Code.TIMEOUT) else code)

    def notify(self, lock: int, n: int = 1, *, condition: int = -1) -> int:
        """Wake up to n clients that wait for a lock, which this thread holds exclusively, or for
        one of its conditions; returns their number."""
        lock = self._number(lock)
        queue = lock if condition < 0 else self._number(condition)
        woken = c_int()
        n = min(integer(n, "n", _UINT64_MAX), _INT_MAX)
        check(self._lib.pawl_private_notify(self._handle, lock, queue, n, byref(woken)))
        return woken.value

    def add(self, counter: int, value: int = 1) -> int:
        """Add to a counter, 0 at first, of a table with events=True; returns what it was."""
        before = c_int64()
        counter = self._number(counter, "counter")
        value = integer(value, "value", 2**63 - 1, -(2**63))
        check(self._lib.pawl_counter_add(self._handle, counter, value, byref(before)))
        return before.value

    def semaphore_init(self, semaphore: int, value: int) -> None:
        """Give a semaphore value permits: by one rank, before others use it; for tables with
        events=True."""
        semaphore = self._number(semaphore, "semaphore")
        value = integer(value, "value", 2**63 - 1)
        check(self._lib.pawl_semaphore_init(self._handle, semaphore, value))

    def semaphore_value(self, semaphore: int) -> int:
        """The number of permits; if it is negative, that of clients that wait."""
        value = c_int64()
        semaphore = self._number(semaphore, "semaphore")
        check(self._lib.pawl_semaphore_get_value(self._handle, semaphore, byref(value)))
        return value.value

    def semaphore_acquire(self, semaphore: int, timeout: Optional[float] = None) -> bool:
        """Take a permit; False if there was none for timeout seconds (0: now)."""
        scope = self._permits(semaphore)
        scope._wait, scope._seconds = _scope.waiting(timeout)
        return _acquire(scope)

    def semaphore_release(
        self, semaphore: int, n: int = 1, most: int = 0, _given: Optional[Scope] = None
    ) -> None:
        """Give n permits, by any client, if there are not more than most (0: any number) then."""
        try:
            _given = self._permits(semaphore, n, most, HELD)
            check(_end(_given))
        except BaseException:
            _end(_given or self._permits(semaphore, n, most, HELD))
            raise

    def _permits(self, semaphore: int, n: int = 1, most: int = 0, state: int = NONE) -> Scope:
        """Permits of a semaphore; HELD: for _end(), which gives them."""
        scope = Scope(self._cell, self._number(semaphore, "semaphore"), _EXCLUSIVE, SEMAPHORE)
        scope._n = integer(n, "n", 2**63 - 1)
        scope._first = integer(most, "most", 2**63 - 1)
        scope._state = state
        return scope

    def named(self, name: str) -> int:
        """The lock of this name: a number, the same on all ranks; for tables with names=True."""
        if not isinstance(name, str):
            raise TypeError(f"name: {name!r} is not a string")
        lock = c_uint64()
        check(self._lib.pawl_lock_named(self._handle, name.encode(), byref(lock)))
        return lock.value

    def home(self, lock: int) -> int:
        """The home rank of a lock."""
        rank = c_int()
        check(self._lib.pawl_table_home(self._handle, self._number(lock), byref(rank)))
        return rank.value

    def info(self) -> Dict[str, Any]:
        """A description of the table: kind, n, ranks, nodes, max_held, transport, topology, ..."""
        info = _header.TableInfo()
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
        stats = _header.Stats()
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
        check(self._lib.pawl_range_grow(self._handle, self._number(space, "space"), byref(units)))
        return units.value

    def shrink(self, space: int, units: int) -> None:
        """Shrink a space to this many units. Collective: pawl_range_shrink()."""
        check(self._lib.pawl_range_shrink(self._handle, space, units))


__all__ = ["Error", "Held", "HeldMany", "HeldPart", "HeldRange", "Mode", "Request", "Table"]
