# SPDX-License-Identifier: BSD-3-Clause
"""libpawl by ctypes: the search for it, its constants, structures, functions and errors."""

from __future__ import annotations

import ctypes
import enum
import itertools
import os
import pathlib
import re
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint
from ctypes import c_uint64, c_void_p
from typing import Any, Dict, Iterator, List, Optional, Tuple

CAP_SHARED = 1
CAP_TRY = 2
CAP_TIMED = 4
CAP_FAIR = 8
CAP_INTENT = 16
CAP_RECOVERS = 32
CAP_THREADS = 64
CAP_RANGES = 128
CAP_OPTIMISTIC = 256
CAP_UPGRADE = 512

#: The last unit that a range can name.
RANGE_END = 2**63 - 1

#: The file to load, by the name of the MPI.
SONAME = "libpawl-{}.so.0"


class Mode(enum.IntFlag):
    """The modes of pawl.h; AHEAD goes with an intent."""

    EXCLUSIVE = 1
    SHARED = 2
    INTENT = 4
    AHEAD = 8
    INTENT_SHARED = 16


class Time(enum.IntEnum):
    """Which times Table.percentile() looks at."""

    ACQUIRE = 1
    HOLD = 2


class Code(enum.IntEnum):
    """What calls of the library return: PAWL_SUCCESS, PAWL_ERR_*."""

    SUCCESS = 0
    ARG = 1
    KIND = 2
    OPTION = 3
    UNSUPPORTED = 4
    THREAD = 5
    WINDOW = 6
    TOPOLOGY = 7
    MPI = 8
    NOMEM = 9
    RANGE = 10
    TOO_MANY = 11
    HELD = 12
    NOT_HELD = 13
    BUSY = 14
    TIMEOUT = 15
    LEASE_LOST = 16
    PEER = 17
    CONNECT = 18
    RECOVERED = 19


class Error(RuntimeError):
    """A call failed: its text is the message of the library, `code` a Code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        try:
            self.code: int = Code(code)
        except ValueError:
            self.code = code


class Timeout(Error, TimeoutError):
    """The deadline of `with table.lock(i, timeout=...)` has passed; with timeout=0, it is held."""


class ReadData(ctypes.Structure):
    """struct pawl_read: a read without the lock."""

    _fields_ = [("opaque", c_uint64 * 4)]


class Stats(ctypes.Structure):
    """struct pawl_stats."""

    _fields_ = [
        ("acquires", c_uint64),
        ("atomics", c_uint64 * 2),
        ("gets", c_uint64 * 2),
        ("puts", c_uint64 * 2),
        ("flushes", c_uint64 * 2),
        ("waits", c_uint64),
        ("parks", c_uint64),
        ("recoveries", c_uint64),
        ("aborts", c_uint64),
    ]


class Kind(ctypes.Structure):
    """struct pawl_kind."""

    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("reference", c_char_p),
        ("options", c_char_p),
        ("capabilities", c_uint),
    ]


class TableInfo(ctypes.Structure):
    """struct pawl_table_info."""

    _fields_ = [
        ("kind", POINTER(Kind)),
        ("n", c_uint64),
        ("ranks", c_int),
        ("nodes", c_int),
        ("levels", c_int),
        ("max_held", c_int),
        ("bytes", c_uint64),
        ("transport", c_char_p),
        ("topology", c_char_p),
        ("parameters", c_char_p),
        ("crowded", c_int),
        ("name", c_char_p),
    ]


HOME_FUNCTION = ctypes.CFUNCTYPE(c_int, c_uint64, c_void_p)

_LOCK = [c_void_p, c_uint64]
_SIGNATURES: Dict[str, List[Any]] = {
    "pawl_table_create_f": [c_int, c_char_p, c_uint64, POINTER(c_int), POINTER(c_void_p)],
    "pawl_table_create_homed_f": [
        c_int,
        c_char_p,
        c_uint64,
        HOME_FUNCTION,
        c_void_p,
        POINTER(c_int),
        POINTER(c_void_p),
    ],
    "pawl_table_free": [POINTER(c_void_p)],
    "pawl_table_shrink_f": [POINTER(c_void_p), c_int],
    "pawl_table_get_info_sized": [c_void_p, POINTER(TableInfo), c_size_t],
    "pawl_table_home": [*_LOCK, POINTER(c_int)],
    "pawl_table_get_stats_sized": [c_void_p, POINTER(Stats), c_size_t],
    "pawl_table_rehome": [c_void_p, HOME_FUNCTION, c_void_p],
    "pawl_table_reset_stats": [c_void_p],
    "pawl_table_set_name": [c_void_p, c_char_p],
    "pawl_lock_named": [c_void_p, c_char_p, POINTER(c_uint64)],
    "pawl_lock_consistent": _LOCK,
    "pawl_lock_is_consistent": [*_LOCK, POINTER(c_int)],
    "pawl_lock_token": [*_LOCK, POINTER(c_int64)],
    "pawl_lock_timed_upgrade": [*_LOCK, c_double],
    "pawl_lock_downgrade": _LOCK,
    "pawl_range_consistent": [c_void_p, c_void_p],
    "pawl_range_is_consistent": [c_void_p, c_void_p, POINTER(c_int)],
    "pawl_range_token": [c_void_p, c_void_p, POINTER(c_int64)],
    "pawl_counter_add": [*_LOCK, c_int64, POINTER(c_int64)],
    "pawl_lock_notify": [*_LOCK, c_int, POINTER(c_int)],
    "pawl_semaphore_init": [*_LOCK, c_int64],
    "pawl_semaphore_get_value": [*_LOCK, POINTER(c_int64)],
    "pawl_private_wait_begin": [*_LOCK, c_uint64],
    "pawl_private_wait_look": [*_LOCK, c_double],
    "pawl_private_wait_end": [*_LOCK, c_uint64],
    "pawl_private_notify": [*_LOCK, c_uint64, c_int, POINTER(c_int)],
    "pawl_table_get_percentile": [c_void_p, c_int, c_double, POINTER(c_double)],
    "pawl_private_scope_read": [*_LOCK, POINTER(ReadData)],
    "pawl_lock_read_validate": [*_LOCK, POINTER(ReadData)],
    "pawl_request_fd": [c_void_p, POINTER(c_int)],
    "pawl_request_mpi_f": [c_void_p, POINTER(c_int)],
    "pawl_range_grow": [*_LOCK, POINTER(c_int64)],
    "pawl_range_shrink": [*_LOCK, c_int64],
}

_loaded: Optional[ctypes.CDLL] = None
_path = ""


def _pkg_config(ours: str) -> Iterator[Tuple[str, str]]:
    """The MPI and the library of each pawl-MPI.pc and pawl.pc in the folders of PKG_CONFIG_PATH."""
    folders = os.environ.get("PKG_CONFIG_PATH", "").split(os.pathsep)
    for folder, file in itertools.product(folders, (f"pawl-{ours}.pc", "pawl.pc")):
        try:
            text = (pathlib.Path(folder) / file).read_text()
        except OSError:
            continue
        values = dict(re.findall(r"^([a-z_]+)=(.*)$", text, re.MULTILINE))
        libdir = values.get("libdir", "")
        while "${" in libdir:
            before = libdir
            libdir = re.sub(r"\$\{([a-z_]+)\}", lambda m: values.get(m.group(1), ""), libdir)
            if libdir == before:
                break
        yield values.get("mpi", ""), os.path.join(libdir, SONAME.format(values.get("name", "")))


def _candidates(vendor: str) -> Iterator[str]:
    given = os.environ.get("PAWL_LIBRARY")
    if given:
        yield given
        return
    # The other MPIs that mpi4py knows are made from MPICH.
    ours = "openmpi" if vendor in ("Open MPI", "Spectrum MPI") else "mpich"
    for mpi, path in _pkg_config(ours):
        if mpi == ours and os.path.exists(path):
            yield path
    yield SONAME.format(ours)


def _mpi_of(lib: ctypes.CDLL) -> str:
    """MPI_Get_library_version() of the MPI that a library is linked with."""
    text = ctypes.create_string_buffer(65536)
    lib.MPI_Get_library_version(text, byref(c_int()))
    return text.value.decode(errors="replace").strip("\0 \n")


def _load() -> ctypes.CDLL:
    from mpi4py import MPI

    global _path
    vendor = MPI.get_vendor()[0]
    wanted = MPI.Get_library_version().strip("\0 \n")
    problems = []
    for path in _candidates(vendor):
        try:
            lib = ctypes.CDLL(path)
        except OSError as e:
            problems.append(str(e))
            continue
        found = _mpi_of(lib)
        if found != wanted:
            problems.append(
                f"{path} is built for {found.splitlines()[0].split(',')[0]},"
                f" and mpi4py uses {wanted.splitlines()[0].split(',')[0]}"
            )
            continue
        for name, types in _SIGNATURES.items():
            getattr(lib, name).argtypes = types
            getattr(lib, name).restype = c_int
        for name in ("pawl_error_message", "pawl_strerror", "pawl_version"):
            getattr(lib, name).restype = c_char_p
        lib.pawl_kind_get.argtypes = [c_int]
        lib.pawl_kind_get.restype = POINTER(Kind)
        _path = path
        return lib
    raise ImportError(
        f"no libpawl for mpi4py's MPI ({vendor}): {'; '.join(problems)}. Set PAWL_LIBRARY to the"
        " file, or PKG_CONFIG_PATH or LD_LIBRARY_PATH to the folder of the libpawl of that MPI."
    )


def lib() -> ctypes.CDLL:
    """The library, loaded at the first call."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def library() -> str:
    """The file of the libpawl in use.

    PAWL_LIBRARY in the environment names it; otherwise it is that of the first pawl.pc or
    pawl-MPI.pc in PKG_CONFIG_PATH for mpi4py's MPI, or the one that the loader finds.
    """
    lib()
    return _path


def version() -> str:
    """The version of the library."""
    return str(lib().pawl_version().decode())


def kinds() -> Dict[str, int]:
    """The kinds of locks by name, with their capabilities: bits CAP_*."""
    found: Dict[str, int] = {}
    while True:
        kind = lib().pawl_kind_get(len(found))
        if not kind:
            return found
        found[kind.contents.name.decode()] = kind.contents.capabilities


def fail(code: int) -> None:
    """Raise the exception of a code that is not 0."""
    message = lib().pawl_error_message().decode(errors="replace")
    if code in (Code.BUSY, Code.TIMEOUT):
        raise Timeout(code, message)
    raise Error(code, message)


def check(code: int) -> None:
    if code:
        fail(code)
