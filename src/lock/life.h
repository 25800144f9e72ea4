/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lock has beside its protocol's words in a table with a lease; life.c. */
#ifndef LOCK_LIFE_H
#define LOCK_LIFE_H

#include "lock/slot.h"

/* A recovery gives a lock another copy of its words. copy: 0 is the first, no other number comes
 * twice, less than 2^25. term: grows with each recovery of the lock, less than 2^29. */
struct lock_life {
	int64_t copy, term;
};

/* Of a table that replaces another one (pawl_table_shrink()); its numbers are larger. */
enum { LIFE_MOST_ERAS = 31, LIFE_TERM_BIT = 34 };

/* Words of a lock at its home, zero at first. */
enum { LIFE_REPAIRED = 0, LIFE_TOKEN = 8, LIFE_BYTES = 16 };

/* What TOKEN holds of the earlier terms, if the lock gets new words in this one. */
static inline int64_t life_earlier_numbers(int64_t term)
{
	return term << LIFE_TERM_BIT;
}

/* Whether the holder of a lock in this copy, not the first one, has to be told of the recovery. */
bool life_is_told(const struct lock_setup *s, struct lock_slot *slot, int64_t copy);
/* The exclusive holder has repaired what the lock protects. PAWL_SUCCESS. */
int life_repair(const struct lock_setup *s, struct lock_slot *slot);
/* slot->token becomes a number for this hold. PAWL_SUCCESS. */
int life_number(const struct lock_setup *s, struct lock_slot *slot);

#endif
