/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock in which a client takes a grant or a turn however late it notices. */
#define BREAK_SHIFTLOCK_LATE
#define BREAK_PREFIX broken_shiftlock_late_
#define SHIFTLOCK_NAME "broken-shiftlock-late"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_late
#include "broken_shiftlock.h"
