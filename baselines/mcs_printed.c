/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: the MCS locks of two papers, as their authors print or publish them, beside our better
 * forms of the same lock.
 *
 * "mcs-printed": the ALock paper (SPAA'24), Algorithm 3 and Section 6; better: rdma-mcs. A client
 * that arrives swaps the tail by compare-and-swap, and tries again with the value that it has
 * found. A client that leaves first compares and swaps the tail, also if a successor has linked
 * itself long since, and only then looks for the successor. All words are NET words, on one node
 * too.
 *
 * "mcs-counted": the MCS lock with which the ShiftLock paper (FAST'25, Section 4.1) compares;
 * better: d-mcs. The lock's entry at the home has a second word, and each release adds 1 to it, so
 * that a waiter could tell a holder that works from one that has died. Nobody looks at it in the
 * paper's measurements, and nobody does here.
 *
 * Fairness: first come, first served; in mcs-printed by the order of the swaps that succeed, so a
 * client that arrives may fail any number of times.
 *
 * Uncontended: mcs-printed 1 atomic to acquire, 1 to release, 1 round trip each; with k clients
 * arriving at a time up to k atomics to acquire, and each hand-over takes 1 atomic and 1 put.
 * mcs-counted 1 atomic to acquire, 2 to release, 1 round trip each; a hand-over 1 atomic and 1 put.
 *
 * Ordering guarantees: (A) to (C) of mcs.h. (D) A swap that succeeds has found the client that it
 * names still at the tail, since a client names its slot only while it is in the queue. If that
 * client has left and come again in between, it is the tail again, and the link is meant for it.
 *
 * Progress: mcs-counted starvation-free if holders release; mcs-printed deadlock-free. A release
 * may wait for a successor that has swapped the tail and has not linked itself yet.
 *
 * Different from the papers: grants and links are puts, where the ShiftLock paper sends messages;
 * the release returns when the count has been made. Try-acquire is a compare-and-swap for an empty
 * tail.
 *
 * Models: models/dmcs.pml, with -DPRINTED that of mcs-printed. For mcs-counted it is as it stands:
 * no step looks at the count.
 */
#include "lock/mcs/mcs.h"

#include <stdio.h>

enum { ENTRY_TAIL = 0, ENTRY_RELEASES = 8, ENTRY_BYTES = 16 };
_Static_assert(ENTRY_RELEASES == ENTRY_TAIL + sizeof(int64_t) &&
		   ENTRY_BYTES == ENTRY_RELEASES + sizeof(int64_t),
	       "two words a lock at its home");

enum { GO = 1 };

static struct rma_word entry_word(const struct lock_setup *s, struct lock_slot *slot, int offset)
{
	return lock_home_word(s, &slot->client, s->domain, s->words + (uint64_t)offset, ENTRY_BYTES,
			      slot->lock);
}

/* ------------------------------------------------------------------- acquire */

static int wait_behind(const struct lock_setup *s, struct lock_slot *slot, int64_t pred)
{
	int64_t status;

	mcs_link(s, slot, s->domain, pred);
	mcs_await_grant(slot, s->domain, &status); /* without a deadline */
	return PAWL_SUCCESS;
}

/* A1 and A2 of mcs.h by compare-and-swap; (D). Returns the predecessor, or 0. */
static int64_t enter_by_attempts(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = entry_word(s, slot, ENTRY_TAIL);
	int64_t expected, found = 0;

	rma_poke(c, slot->next[s->domain], 0);
	rma_poke(c, slot->status[s->domain], MCS_WAIT);
	do {
		expected = found;
		rma_cas(c, tail, expected, slot->id, &found);
		rma_flush(c, tail); /* orders the swap before the look at found */
	} while (found != expected && !FAULT(mcs_printed_swap));
	return found;
}

static int acquire_printed(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t pred = enter_by_attempts(s, slot);

	return pred ? wait_behind(s, slot, pred) : PAWL_SUCCESS;
}

static int acquire_counted(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t pred = mcs_enter(slot, s->domain, entry_word(s, slot, ENTRY_TAIL));

	return pred ? wait_behind(s, slot, pred) : PAWL_SUCCESS;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	rma_poke(&slot->client, slot->status[s->domain], MCS_WAIT);
	return mcs_try_enter(slot, s->domain, entry_word(s, slot, ENTRY_TAIL)) ? PAWL_ERR_BUSY
									       : PAWL_SUCCESS;
}

/* ------------------------------------------------------------------- release */

static int release_printed(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = entry_word(s, slot, ENTRY_TAIL);
	int64_t last;

	rma_cas(c, tail, slot->id, 0, &last);
	rma_flush(c, tail); /* orders the swap before the look at last */
	if (last != slot->id)
		mcs_hand_over(s, slot, s->domain, tail, rma_peek(c, slot->next[s->domain]), GO);
	return PAWL_SUCCESS;
}

static int release_counted(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = entry_word(s, slot, ENTRY_TAIL);
	struct rma_word releases = entry_word(s, slot, ENTRY_RELEASES);
	int64_t succ;

	rma_acc(c, releases, 1);
	if (mcs_leave(slot, s->domain, tail, &succ))
		return PAWL_SUCCESS; /* its flush has also completed the count, at the same rank */
	mcs_hand_over(s, slot, s->domain, tail, succ, GO);
	rma_flush(c, releases); /* orders the count before the return */
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------- the simulator */

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	int64_t tail = *lock_memory_home(s, m, s->words + ENTRY_TAIL, ENTRY_BYTES, lock);

	snprintf(err, errlen, "TAIL is 0x%llx", (unsigned long long)tail);
	return tail == 0;
}

const struct lock_protocol lock_mcs_printed = {
    .kind =
	{
	    .name = "mcs-printed",
	    .summary = "baseline: rdma-mcs as its paper has it, with more compare-and-swaps",
	    .reference = "ALock's baseline as printed (SPAA'24, algorithm 3)",
	    .capabilities = PAWL_CAP_TRY,
	},
    .by_network = true,
    .home_bytes = ENTRY_BYTES,
    .acquire = acquire_printed,
    .try_acquire = try_acquire,
    .release = release_printed,
    .check = &(const struct lock_check_calls){.idle = idle},
};

const struct lock_protocol lock_mcs_counted = {
    .kind =
	{
	    .name = "mcs-counted",
	    .summary = "baseline: d-mcs as ShiftLock's artefact has it, which counts releases",
	    .reference = "ShiftLock's baseline as published (FAST'25, section 4)",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_FAIR,
	},
    .home_bytes = ENTRY_BYTES,
    .acquire = acquire_counted,
    .try_acquire = try_acquire,
    .release = release_counted,
    .check = &(const struct lock_check_calls){.overtakes = lock_others, .idle = idle},
};
