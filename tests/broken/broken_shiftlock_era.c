/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock that resets the words of a lock in place after a failure, so that what
 * a client of the time before does late hits the new time. */
#define BREAK_SHIFTLOCK_ERA
#define BREAK_PREFIX broken_shiftlock_era_
#define SHIFTLOCK_NAME "broken-shiftlock-era"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_era
#include "broken_shiftlock.h"
