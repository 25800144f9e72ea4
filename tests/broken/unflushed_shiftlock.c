/* SPDX-License-Identifier: BSD-3-Clause */
/* A ShiftLock that waits without having flushed its link to the predecessor. */
#define BREAK_FLUSH_OF "link"
#include "unflushed.h"

#define BREAK_PREFIX unflushed_shiftlock_
#define SHIFTLOCK_NAME "broken-shiftlock-link"
#define SHIFTLOCK_PROTOCOL lock_broken_shiftlock_link
#include "broken_shiftlock.h"
