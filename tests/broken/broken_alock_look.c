/* SPDX-License-Identifier: BSD-3-Clause */
/* An ALock that looks for the other cohort before it has announced itself. */
#define BREAK_ALOCK_LOOK

#define ALOCK_NAME "broken-alock-look"
#define ALOCK_PROTOCOL lock_broken_alock_look
#include "lock/alock/alock.c"
