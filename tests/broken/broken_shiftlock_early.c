/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock that marks a place as passed over before it has looked who is behind it. */
#define BREAK_SHIFTLOCK_EARLY
#define BREAK_PREFIX broken_shiftlock_early_
#define SHIFTLOCK_NAME "broken-shiftlock-early"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_early
#include "broken_shiftlock.h"
