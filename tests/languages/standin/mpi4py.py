# SPDX-License-Identifier: BSD-3-Clause
"""What tests/python.sh needs of mpi4py, for an MPICH without mpi4py (Debian builds it for one MPI):
calls of the library that STANDIN_MPI names, by ctypes. A handle of MPICH is an int, in C and in
Fortran."""

import atexit
import ctypes
import os
import pickle
from ctypes import byref, c_int, c_ssize_t, c_void_p
from types import SimpleNamespace

_mpich = ctypes.CDLL(os.environ["STANDIN_MPI"], ctypes.RTLD_GLOBAL)
_MULTIPLE, _BYTE, _INT, _LAND, _INFO_NULL, _RETURN = (
    3, 0x4C00010D, 0x4C000405, 0x58000005, 0x1C000000, 0x54000001)
_memory = ctypes.pythonapi.PyMemoryView_FromMemory
_memory.argtypes, _memory.restype = (c_void_p, c_ssize_t, c_int), ctypes.py_object


class _Exception(RuntimeError):
    pass


def _call(name, *arguments):
    code = getattr(_mpich, "MPI_" + name)(*arguments)
    if code:
        text = ctypes.create_string_buffer(512)
        _mpich.MPI_Error_string(code, text, byref(c_int()))
        raise _Exception(text.value.decode())


def _int(name, *arguments):
    value = c_int()
    _call(name, *arguments, byref(value))
    return value.value


class _Handle:
    def __init__(self, handle):
        self._handle = handle

    def py2f(self):
        return self._handle


class _Comm(_Handle):
    rank = property(lambda self: _int("Comm_rank", self._handle))
    size = property(lambda self: _int("Comm_size", self._handle))

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def Barrier(self):
        _call("Barrier", self._handle)

    def allreduce(self, value, op):
        good = c_int()
        _call("Allreduce", byref(c_int(value)), byref(good), 1, _INT, op, self._handle)
        return good.value

    def bcast(self, value, root=0):
        data = pickle.dumps(value)
        n = c_int(len(data))
        _call("Bcast", byref(n), 1, _INT, root, self._handle)
        text = ctypes.create_string_buffer(data if self.rank == root else b"", n.value + 1)
        _call("Bcast", text, n, _BYTE, root, self._handle)
        return pickle.loads(text.raw[: n.value])

    def allgather(self, value):
        return [self.bcast(value, root) for root in range(self.size)]

    def Send(self, nothing, to, tag):
        _call("Send", None, 0, _BYTE, to, tag, self._handle)

    def Recv(self, nothing, source, tag):
        _call("Recv", None, 0, _BYTE, source, tag, self._handle, c_void_p(1))


class _Info(_Handle):
    @classmethod
    def Create(cls):
        return cls(_int("Info_create"))

    def Dup(self):
        return _Info(_int("Info_dup", self._handle))

    def Set(self, key, value):
        _call("Info_set", self._handle, key.encode(), value.encode())

    def Free(self):
        _call("Info_free", byref(c_int(self._handle)))


class _Win(_Handle):
    @classmethod
    def Allocate_shared(cls, size, unit, comm):
        return cls(_int("Win_allocate_shared", c_ssize_t(size), unit, _INFO_NULL, comm.py2f(),
                        byref(c_void_p())))

    def Shared_query(self, rank):
        size, unit, at = c_ssize_t(), c_int(), c_void_p()
        _call("Win_shared_query", self._handle, rank, byref(size), byref(unit), byref(at))
        return _memory(at, size.value, 0x200), unit.value

    def Free(self):
        _call("Win_free", byref(c_int(self._handle)))


def _library_version():
    text = ctypes.create_string_buffer(65536)
    _call("Get_library_version", text, byref(c_int()))
    return text.value.decode()


def _finalize():
    if not MPI.Is_finalized():
        _call("Finalize")


MPI = SimpleNamespace(
    COMM_WORLD=_Comm(0x44000000), COMM_SELF=_Comm(0x44000001), LAND=_LAND,
    Exception=_Exception, Datatype=None, BYTE=_BYTE, Info=_Info, INFO_NULL=_Info(_INFO_NULL),
    Win=_Win,
    Finalize=_finalize, Is_finalized=lambda: bool(_int("Finalized")),
    get_vendor=lambda: ("MPICH", (0, 0, 0)), Get_library_version=_library_version)

_int("Init_thread", None, None, _MULTIPLE)
for _comm in (MPI.COMM_WORLD, MPI.COMM_SELF):
    _call("Comm_set_errhandler", _comm.py2f(), _RETURN)
atexit.register(_finalize)
