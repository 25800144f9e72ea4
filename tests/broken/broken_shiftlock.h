/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ShiftLock once more, all files of it, in the broken way that the includer has
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
#define pass_await_link JOIN(BREAK_PREFIX, await_link)
#define pass_take_head JOIN(BREAK_PREFIX, take_head)
#define pass_grant JOIN(BREAK_PREFIX, grant)
#define pass_be_absent JOIN(BREAK_PREFIX, be_absent)
#define pass_put_back JOIN(BREAK_PREFIX, put_back)
#define pass_leave_queue JOIN(BREAK_PREFIX, leave_queue)
#define pass_is_last JOIN(BREAK_PREFIX, is_last)
#define pass_release_absent JOIN(BREAK_PREFIX, release_absent)
#include "lock/shiftlock/shiftlock_lease.c"
#include "lock/shiftlock/shiftlock_pass.c"
/* after it, for static names are used in both */
#include "lock/shiftlock/shiftlock.c"
