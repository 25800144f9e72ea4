/* SPDX-License-Identifier: BSD-3-Clause */
/* An ALock whose leader is gone when its time is over, and leaves its queue node where it is. */
#define BREAK_ALOCK_STAY
#define ALOCK_NAME "broken-alock-stay"
#define ALOCK_PROTOCOL lock_broken_alock_stay
#include "lock/alock/alock.c"
