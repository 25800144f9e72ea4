# SPDX-License-Identifier: BSD-3-Clause
"""Acquires that an exception may end at any instruction: src/api/scope.h of the library.

An exception of a signal handler (Ctrl-C: KeyboardInterrupt) comes after any call and at the start
of any function. So a call of this package that acquires has a Scope, in which the library notes
what it has before it returns to Python, and ends it by `except BaseException: _end(scope)`. What
releases at the end of a `with` is no function of Python at all: method() binds a function of the
library to a class, and CODES checks its result.
"""

from __future__ import annotations

import ctypes
import operator
from ctypes import POINTER, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p, py_object
from typing import Any, NoReturn, Optional, Tuple

from ._header import Code
from ._library import Error, fail, lib

LOCK, PART, MANY, RANGE, SEMAPHORE = range(5)
WAITS, TIMED, TRIES = range(3)
NONE, PENDING, HELD = range(3)
GO_ON = -1


class Scope(ctypes.Structure):
    """struct pawl_private_scope."""

    __slots__ = ()
    _fields_ = [
        ("_cell", c_void_p),
        ("_lock", c_uint64),
        ("_mode", c_int32),
        ("_what", c_int32),
        ("_wait", c_int32),
        ("_state", c_int32),
        ("_seconds", c_double),
        ("_part", c_uint64),
        ("_first", c_int64),
        ("_last", c_int64),
        ("_n", c_uint64),
        ("_locks", c_void_p),
        ("_modes", c_void_p),
        ("_done", c_uint64),
        ("_latest", c_uint64),
        ("_deadline_ns", c_uint64),
        ("_request", c_uint64 * 4),
        ("_range", c_uint64 * 2),
    ]


class _Codes(dict):  # type: ignore[type-arg]
    """As the type of a result: a code that is not 0 raises its exception."""

    def __missing__(self, code: int) -> NoReturn:
        fail(code)


CODES = _Codes({0: None}).__getitem__


class _Unused:
    """The type of an argument that is not used: any object."""

    from_param = callable  # of C, and cheap


def function(name: str, scopes: int = 1, others: int = 0, result: Any = c_int) -> Any:
    """A call of the library on that many scopes; it does not use its other arguments."""
    call = lib()["pawl_private_scope_" + name]
    call.argtypes = (POINTER(Scope),) * scopes + (_Unused,) * others
    call.restype = result
    return call


def method(name: str, others: int = 0, result: Any = CODES) -> Any:
    """A call of the library as a method of a class of scopes."""
    new = ctypes.pythonapi.PyInstanceMethod_New
    new.argtypes = (py_object,)
    new.restype = py_object
    return new(function(name, 1, others, result))


def acquired(code: int) -> bool:
    """False if another client has it, or the deadline has passed."""
    if not code:
        return True
    if code in (Code.BUSY, Code.TIMEOUT):
        return False
    fail(code)


def index(value: Any, what: str) -> int:
    """An argument as an int."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is not an integer") from None


def integer(value: Any, what: str, most: int, least: int = 0) -> int:
    """An argument as an int in this range."""
    number = index(value, what)
    if not least <= number <= most:
        raise Error(Code.RANGE, f"{what} {number} is not in {least} to {most}")
    return number


def waiting(timeout: Any) -> Tuple[int, float]:
    """The fields _wait and _seconds for a timeout."""
    if timeout is None:
        return WAITS, 0.0
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        raise TypeError(f"timeout: {timeout!r} is not a number of seconds") from None
    return (TRIES, 0.0) if seconds == 0 else (TIMED, seconds)


def python_timeout(blocking: bool, timeout: float) -> Optional[float]:
    """The timeout for the arguments of threading.Lock.acquire()."""
    if not blocking:
        return 0
    return None if isinstance(timeout, (int, float)) and timeout < 0 else timeout
