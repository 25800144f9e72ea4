/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock whose writers do not wait for the readers before them. The tests have
 * to catch it. */
#define BREAK_SHIFTLOCK_DRAIN
#define BREAK_PREFIX broken_shiftlock_drain_
#define SHIFTLOCK_NAME "broken-shiftlock"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock
#include "broken_shiftlock.h"
