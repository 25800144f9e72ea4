/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock in which a reader takes its count back though it was let in. */
#define BREAK_SHIFTLOCK_WITHDRAW
#define BREAK_PREFIX broken_shiftlock_withdraw_
#define SHIFTLOCK_NAME "broken-shiftlock-withdraw"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_withdraw
#include "broken_shiftlock.h"
