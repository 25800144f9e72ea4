/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ShiftLock once more, both files of it, in the broken way that the includer has
 * defined, with names that start with BREAK_PREFIX.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define shiftlock_scratch_words JOIN(BREAK_PREFIX, scratch_words)
#define shiftlock_find JOIN(BREAK_PREFIX, find)
#define shiftlock_next_block JOIN(BREAK_PREFIX, next_block)
#define lease_now JOIN(BREAK_PREFIX, now)
#define lease_glance JOIN(BREAK_PREFIX, glance)
#define lease_watch_begin JOIN(BREAK_PREFIX, watch_begin)
#define lease_check JOIN(BREAK_PREFIX, check)
#define lease_look JOIN(BREAK_PREFIX, look)
#define lease_next_look JOIN(BREAK_PREFIX, next_look)
#include "locks/shiftlock_lease.c"
/* after it, for static names are used in both */
#include "locks/shiftlock.c"
