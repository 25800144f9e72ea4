/* SPDX-License-Identifier: BSD-3-Clause */
/* An ALock whose cohorts do not give way when their budget is over. */
#define BREAK_ALOCK_BUDGET

#define ALOCK_NAME "broken-alock-budget"
#define ALOCK_PROTOCOL lock_broken_alock_budget
#include "lock/alock/alock.c"
