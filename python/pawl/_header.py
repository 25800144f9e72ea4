# SPDX-License-Identifier: BSD-3-Clause
"""Made from pawl.h by make python-module: constants, structures and functions."""

from __future__ import annotations

import ctypes
import enum
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint
from ctypes import c_uint64, c_void_p
from typing import Any, Dict, List

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


class Mode(enum.IntFlag):
    """The modes of pawl.h; AHEAD goes with an intent."""

    EXCLUSIVE = 1
    SHARED = 2
    INTENT = 4
    INTENT_EXCLUSIVE = 4
    AHEAD = 8
    INTENT_SHARED = 16


class ReadData(ctypes.Structure):
    """struct pawl_read."""

    _fields_ = [
        ("opaque", c_uint64 * 4),
    ]


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

#: The arguments of the functions that return an int.
SIGNATURES: Dict[str, List[Any]] = {
    "pawl_table_rehome": [c_void_p, HOME_FUNCTION, c_void_p],
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
    "pawl_table_set_name": [c_void_p, c_char_p],
    "pawl_lock_named": [c_void_p, c_char_p, POINTER(c_uint64)],
    "pawl_table_home": [c_void_p, c_uint64, POINTER(c_int)],
    "pawl_lock_acquire": [c_void_p, c_uint64, c_int],
    "pawl_lock_try_acquire": [c_void_p, c_uint64, c_int],
    "pawl_lock_timed_acquire": [c_void_p, c_uint64, c_int, c_double],
    "pawl_lock_release": [c_void_p, c_uint64],
    "pawl_lock_upgrade": [c_void_p, c_uint64],
    "pawl_lock_timed_upgrade": [c_void_p, c_uint64, c_double],
    "pawl_lock_downgrade": [c_void_p, c_uint64],
    "pawl_lock_acquire_many": [c_void_p, c_size_t, c_void_p, c_void_p],
    "pawl_lock_try_acquire_many": [c_void_p, c_size_t, c_void_p, c_void_p],
    "pawl_lock_timed_acquire_many": [c_void_p, c_size_t, c_void_p, c_void_p, c_double],
    "pawl_lock_release_many": [c_void_p, c_size_t, c_void_p],
    "pawl_lock_abandon": [c_void_p, c_uint64],
    "pawl_lock_consistent": [c_void_p, c_uint64],
    "pawl_lock_is_consistent": [c_void_p, c_uint64, POINTER(c_int)],
    "pawl_lock_token": [c_void_p, c_uint64, POINTER(c_int64)],
    "pawl_lock_iacquire": [c_void_p, c_uint64, c_int, c_void_p],
    "pawl_request_test": [c_void_p, POINTER(c_int)],
    "pawl_request_wait": [c_void_p],
    "pawl_request_cancel": [c_void_p],
    "pawl_request_fd": [c_void_p, POINTER(c_int)],
    "pawl_request_mpi_f": [c_void_p, POINTER(c_int)],
    "pawl_lock_read_begin": [c_void_p, c_uint64, POINTER(ReadData)],
    "pawl_lock_read_validate": [c_void_p, c_uint64, POINTER(ReadData)],
    "pawl_lock_acquire_part": [c_void_p, c_uint64, c_uint64, c_int],
    "pawl_lock_release_part": [c_void_p, c_uint64, c_uint64],
    "pawl_lock_wait": [c_void_p, c_uint64],
    "pawl_lock_timed_wait": [c_void_p, c_uint64, c_double],
    "pawl_lock_notify": [c_void_p, c_uint64, c_int, POINTER(c_int)],
    "pawl_semaphore_init": [c_void_p, c_uint64, c_int64],
    "pawl_semaphore_get_value": [c_void_p, c_uint64, POINTER(c_int64)],
    "pawl_semaphore_acquire": [c_void_p, c_uint64],
    "pawl_semaphore_try_acquire": [c_void_p, c_uint64],
    "pawl_semaphore_timed_acquire": [c_void_p, c_uint64, c_double],
    "pawl_semaphore_release": [c_void_p, c_uint64, c_int64, c_int64],
    "pawl_counter_add": [c_void_p, c_uint64, c_int64, POINTER(c_int64)],
    "pawl_range_acquire": [c_void_p, c_uint64, c_int64, c_int64, c_int, c_void_p],
    "pawl_range_try_acquire": [c_void_p, c_uint64, c_int64, c_int64, c_int, c_void_p],
    "pawl_range_timed_acquire": [c_void_p, c_uint64, c_int64, c_int64, c_int, c_double, c_void_p],
    "pawl_range_release": [c_void_p, c_void_p],
    "pawl_range_grow": [c_void_p, c_uint64, POINTER(c_int64)],
    "pawl_range_shrink": [c_void_p, c_uint64, c_int64],
    "pawl_range_abandon": [c_void_p, c_void_p],
    "pawl_range_consistent": [c_void_p, c_void_p],
    "pawl_range_is_consistent": [c_void_p, c_void_p, POINTER(c_int)],
    "pawl_range_token": [c_void_p, c_void_p, POINTER(c_int64)],
    "pawl_table_get_stats_sized": [c_void_p, POINTER(Stats), c_size_t],
    "pawl_table_get_percentile": [c_void_p, c_int, c_double, POINTER(c_double)],
    "pawl_table_reset_stats": [c_void_p],
}
