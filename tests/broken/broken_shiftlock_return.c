/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock in which an acquire that met nobody, or a confirmation, returns without a look at the
 * clock: the client may have been stopped, and given up, after the operation. */
#define BREAK_SHIFTLOCK_RETURN
#define BREAK_PREFIX broken_shiftlock_return_
#define SHIFTLOCK_NAME "broken-shiftlock-return"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_return
#include "broken_shiftlock.h"
