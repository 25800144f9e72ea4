/* SPDX-License-Identifier: BSD-3-Clause */
/* An ALock whose leaders do not look for the other cohort. The tests have to catch it. */
#define BREAK_ALOCK_ALONE

#define ALOCK_NAME "broken-alock"
#define ALOCK_PROTOCOL lock_broken_alock
#include "lock/alock/alock.c"
