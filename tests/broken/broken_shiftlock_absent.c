/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock in which a writer that leaves before readers that are in have left lets those in
 * that are blocked, though some may not have seen yet that they were let in. */
#define BREAK_SHIFTLOCK_ABSENT
#define BREAK_PREFIX broken_shiftlock_absent_
#define SHIFTLOCK_NAME "broken-shiftlock-absent"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_absent
#include "broken_shiftlock.h"
