/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of d-mcs (dmcs.c), for its descriptor and those of its variants. */
#ifndef LOCK_MCS_DMCS_H
#define LOCK_MCS_DMCS_H

#include "lock/lock.h"

void dmcs_describe(const struct lock_setup *s, char *text, size_t len);
int dmcs_acquire(const struct lock_setup *s, struct lock_slot *slot);
int dmcs_try_acquire(const struct lock_setup *s, struct lock_slot *slot);
int dmcs_release(const struct lock_setup *s, struct lock_slot *slot);
extern const struct lock_timed_calls dmcs_timed;
extern const struct lock_many_calls dmcs_many;
extern const struct lock_check_calls dmcs_check;

enum { DMCS_BYTES = 8 };
_Static_assert(DMCS_BYTES == sizeof(int64_t), "one word a lock at its home");

/* All calls, except settled(), which makes releases posted. */
#define DMCS_CALLS                                                                      \
	.home_bytes = DMCS_BYTES, .describe = dmcs_describe, .acquire = dmcs_acquire,   \
	.try_acquire = dmcs_try_acquire, .release = dmcs_release, .timed = &dmcs_timed, \
	.many = &dmcs_many, .check = &dmcs_check

#endif
