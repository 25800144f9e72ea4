# SPDX-License-Identifier: BSD-3-Clause
"""libpawl by ctypes: the search for it, its functions and errors."""

from __future__ import annotations

import ctypes
import itertools
import os
import pathlib
import re
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_uint64, c_void_p
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._header import SIGNATURES, Code, Kind, ReadData

#: The last unit that a range can name.
RANGE_END = 2**63 - 1

#: The file to load, by the name of the MPI.
SONAME = "libpawl-{}.so.0"


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


_LOCK = [c_void_p, c_uint64]
#: Those of api/scope.h, which is in no installed header.
_PRIVATE: Dict[str, List[Any]] = {
    "pawl_private_wait_begin": [*_LOCK, c_uint64],
    "pawl_private_wait_look": [*_LOCK, c_double],
    "pawl_private_wait_end": [*_LOCK, c_uint64],
    "pawl_private_notify": [*_LOCK, c_uint64, c_int, POINTER(c_int)],
    "pawl_private_scope_read": [*_LOCK, POINTER(ReadData)],
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
        for name, types in {**SIGNATURES, **_PRIVATE}.items():
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
