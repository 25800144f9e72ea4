/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock in which no reader releases for a writer that is absent. */
#define BREAK_SHIFTLOCK_LAST
#define BREAK_PREFIX broken_shiftlock_last_
#define SHIFTLOCK_NAME "broken-shiftlock-last"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_last
#include "broken_shiftlock.h"
