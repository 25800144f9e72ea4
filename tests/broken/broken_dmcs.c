/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS that does not wait for its predecessor once in a hundred contended
 * acquires. The tests have to catch it. */
#include "lock/lock.h"

/* By client and turn, so that a schedule can be repeated. */
static bool broken_turn(const struct lock_slot *slot)
{
	return ((uint64_t)slot->id * 40503 + slot->acquires * 9973) % 100 == 0;
}

#define BREAK_DMCS_WAIT broken_turn(slot)
#define DMCS_NAME "broken-d-mcs"
#define DMCS_PROTOCOL lock_broken_dmcs
#include "lock/mcs/dmcs.c"
