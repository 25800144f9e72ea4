/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baseline "rma-rw-entry": RMA-RW in one entry at the lock's home, as the ShiftLock paper (FAST'25,
 * Section 4.1) compares with it and its artefact has it; from the RMA-RW paper (HPDC'16), Listings
 * 6 to 10, with one counter and one level. Better: rma-rw, whose counters and queues lie with the
 * clients.
 *
 * Words at the home: TAIL, of one queue of writers (mcs.h), and COUNTS: ARRIVE and the writers'
 * mark WRITE in its low half, DEPART in its high half. A reader adds 1 to ARRIVE, and is in if what
 * it finds is below T_R and unmarked; else it takes the 1 back and looks until ARRIVE is T_R or
 * less and unmarked. A writer that comes to an empty queue waits until nobody is in, adds the mark,
 * and waits for those that came in between. It hands the lock to the next writer T_W times, and
 * then, or if it knows of no next one, takes the mark away and DEPART from both counts (the reset);
 * the next writer then begins as the first one.
 *
 * Fairness: none. A writer waits until it finds no reader, before it marks; only T_R keeps new
 * readers out.
 *
 * Uncontended: a reader 1 atomic to acquire and 1 to release, 1 round trip each. A writer 2 atomics
 * and 2 gets to acquire, in 4 round trips; 2 atomics and 1 get to release, in 3.
 *
 * Ordering guarantees, besides those of mcs.h
 *   (A) A reader's arrival and its look at the mark are one atomic operation. ARRIVE minus DEPART,
 *       in one look, counts all readers that are in, and those about to take their arrival back. So
 *       a writer that has set the mark and then finds 0 is alone: later readers see the mark.
 *   (B) The reset of a writer takes the DEPART that it has read. DEPART does not change while the
 *       mark is set and nobody is in, because a reader resets only a word without the mark, (C). So
 *       both halves stay 0 or more, and no borrow crosses them.
 *   (C) A reader that finds exactly T_R and no writer in the queue resets by a compare-and-swap of
 *       the whole word without the mark, so it takes away exactly what it has read.
 *
 * Progress: deadlock-free. Once readers have taken their arrivals back, ARRIVE is T_R again, and
 * the next one to try resets, or the writer in the queue does.
 *
 * Different from the artefact, and from Listing 9: there a reader's reset adds the negative of what
 * it read before, mark included. Two such resets can subtract the same departures twice; and where
 * a writer marks before it looks for readers, as in Listing 7, a reset erases its mark. Grants and
 * links are puts here, not messages. Waits pause (options backoff_min, backoff_max). Try-acquire is
 * Pawl's.
 *
 * Model: models/rma_rw_entry.pml; models/rma_rw_printed.pml has the reset as printed, which
 * deadlocks.
 */
#include "lock/mcs/mcs.h"
#include "lock/pauses.h"

#include <stdio.h>

enum { ENTRY_TAIL = 0, ENTRY_COUNTS = 8, ENTRY_BYTES = 16 };
_Static_assert(ENTRY_COUNTS == ENTRY_TAIL + sizeof(int64_t) &&
		   ENTRY_BYTES == ENTRY_COUNTS + sizeof(int64_t),
	       "two words a lock at its home");

enum { HALF = 32, WRITERS_IN_A_ROW = 16, T_R_MOST = 1 << 30 };
#define WRITE (INT64_C(1) << 31)
#define ARRIVAL INT64_C(1)
#define DEPARTURE (INT64_C(1) << HALF)
#define LOW_HALF (DEPARTURE - 1)

/* The grant: READERS_FIRST, or 1 + the writers in a row so far. */
enum { READERS_FIRST = 1 << 24 };

struct rma_rw_entry_options {
	struct lock_backoff backoff;
	int64_t t_r, t_w;
};
_Static_assert(sizeof(struct rma_rw_entry_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct rma_rw_entry_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

struct entry_slot {
	int64_t row; /* writers in a row, this one included */
};
_Static_assert(sizeof(struct entry_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct entry_slot *own_of(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct constants {
	int64_t t_r, t_w;
};

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct constants *k = s->state;

	(void)err;
	(void)errlen;
	k->t_r = options_of(s)->t_r < T_R_MOST ? options_of(s)->t_r : T_R_MOST;
	k->t_w = options_of(s)->t_w ? options_of(s)->t_w : WRITERS_IN_A_ROW;
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct constants *k = s->state;

	snprintf(text, len, "t_w %lld, t_r %lld, backoff %lld to %lld ns", (long long)k->t_w,
		 (long long)k->t_r, (long long)options_of(s)->backoff.min,
		 (long long)options_of(s)->backoff.max);
}

static struct rma_word entry_word(const struct lock_setup *s, struct lock_slot *slot, int offset)
{
	return lock_home_word(s, &slot->client, s->domain, s->words + (uint64_t)offset, ENTRY_BYTES,
			      slot->lock);
}

/* -------------------------------------------------------------------- counts */

static int64_t arrived(int64_t counts)
{
	return counts & (WRITE - 1);
}

static int64_t departed(int64_t counts)
{
	return (int64_t)((uint64_t)counts >> HALF);
}

static bool is_drained(int64_t counts)
{
	return arrived(counts) == departed(counts);
}

static int64_t look(const struct lock_setup *s, struct lock_slot *slot, int offset)
{
	struct rma_word w = entry_word(s, slot, offset);
	int64_t value;

	rma_get(&slot->client, w, &value);
	rma_flush(&slot->client, w); /* orders the get before the use of its result */
	return value;
}

/* Returns the counts before. */
static int64_t add(const struct lock_setup *s, struct lock_slot *slot, int64_t value)
{
	struct rma_word counts = entry_word(s, slot, ENTRY_COUNTS);
	int64_t old;

	rma_fao(&slot->client, counts, RMA_SUM, value, &old);
	rma_flush(&slot->client, counts); /* orders the sum before the look at old */
	return old;
}

/* ------------------------------------------------------------------- readers */

/* (C) */
static void reset_as_reader(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word w = entry_word(s, slot, ENTRY_COUNTS);
	int64_t seen = look(s, slot, ENTRY_COUNTS), found;

	if (FAULT(rma_rw_entry_reset)) { /* as printed */
		add(s, slot, -(seen & WRITE) - departed(seen) * (ARRIVAL + DEPARTURE));
		return;
	}
	while (!(seen & WRITE) && departed(seen)) {
		int64_t reset = seen - departed(seen) * (ARRIVAL + DEPARTURE);

		rma_cas(&slot->client, w, seen, reset, &found);
		rma_flush(&slot->client, w); /* orders the swap before the look at found */
		if (found == seen)
			return;
		seen = found;
	}
}

static bool enter(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	int64_t old = add(s, slot, ARRIVAL) & LOW_HALF; /* (A) */

	if (old < k->t_r)
		return true;
	if (old == k->t_r && !look(s, slot, ENTRY_TAIL))
		reset_as_reader(s, slot);
	add(s, slot, -ARRIVAL);
	return false;
}

static void acquire_shared(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, 0);

	while (!enter(s, slot))
		do
			rma_pause(&slot->client, &p, "the writers, or the counts to be reset");
		while ((look(s, slot, ENTRY_COUNTS) & LOW_HALF) > k->t_r);
}

/* ------------------------------------------------------------------- writers */

static void await_drained(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_pause p = backoff_pause(&options_of(s)->backoff, 0);

	while (!is_drained(look(s, slot, ENTRY_COUNTS)))
		rma_pause(&slot->client, &p, "the readers to leave");
}

/* This client has the queue, and readers may be in. */
static void settle_with_readers(const struct lock_setup *s, struct lock_slot *slot)
{
	own_of(slot)->row = 1;
	await_drained(s, slot);
	add(s, slot, WRITE);
	if (!FAULT(rma_rw_entry_drain))
		await_drained(s, slot); /* (A) */
}

static void acquire_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t pred = mcs_enter(slot, s->domain, entry_word(s, slot, ENTRY_TAIL));
	int64_t status = READERS_FIRST;

	if (pred) {
		mcs_link(s, slot, s->domain, pred);
		mcs_await_grant(slot, s->domain, &status); /* without a deadline */
	}
	if (status == READERS_FIRST)
		settle_with_readers(s, slot);
	else
		own_of(slot)->row = status;
}

/* (B) */
static void reset_as_writer(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t seen = look(s, slot, ENTRY_COUNTS);

	add(s, slot, -WRITE - departed(seen) * (ARRIVAL + DEPARTURE));
}

/* Leave the queue, of which the readers have the lock. */
static void leave_to_readers(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word tail = entry_word(s, slot, ENTRY_TAIL);
	int64_t succ;

	if (!mcs_leave(slot, s->domain, tail, &succ))
		mcs_hand_over(s, slot, s->domain, tail, succ, READERS_FIRST);
}

static void release_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	int64_t succ = rma_peek(&slot->client, slot->next[s->domain]);

	if (succ && own_of(slot)->row < k->t_w) {
		mcs_hand_over(s, slot, s->domain, entry_word(s, slot, ENTRY_TAIL), succ,
			      own_of(slot)->row + 1);
		return;
	}
	reset_as_writer(s, slot);
	leave_to_readers(s, slot);
}

/* ---------------------------------------------------------------------- both */

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	if (slot->mode == PAWL_SHARED)
		acquire_shared(s, slot);
	else
		acquire_exclusive(s, slot);
	return PAWL_SUCCESS;
}

/* A writer that finds readers takes its mark back, without a reset. */
static bool try_exclusive(const struct lock_setup *s, struct lock_slot *slot)
{
	rma_poke(&slot->client, slot->status[s->domain], MCS_WAIT);
	if (mcs_try_enter(slot, s->domain, entry_word(s, slot, ENTRY_TAIL)))
		return false;
	own_of(slot)->row = 1;
	if (is_drained(add(s, slot, WRITE)))
		return true;
	add(s, slot, -WRITE);
	leave_to_readers(s, slot);
	return false;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	bool taken =
	    slot->mode == PAWL_SHARED ? enter(s, slot) || enter(s, slot) : try_exclusive(s, slot);

	return taken ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	if (slot->mode == PAWL_SHARED)
		add(s, slot, DEPARTURE);
	else
		release_exclusive(s, slot);
	return PAWL_SUCCESS;
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	int64_t tail = *lock_memory_home(s, m, s->words + ENTRY_TAIL, ENTRY_BYTES, lock);
	int64_t counts = *lock_memory_home(s, m, s->words + ENTRY_COUNTS, ENTRY_BYTES, lock);

	snprintf(err, errlen, "TAIL is 0x%llx and COUNTS 0x%llx", (unsigned long long)tail,
		 (unsigned long long)counts);
	return tail == 0 && !(counts & WRITE) && is_drained(counts);
}

static const struct option_spec options[] = {
    LOCK_BACKOFF(struct rma_rw_entry_options, backoff),
    LOCK_READERS_TURN(struct rma_rw_entry_options, t_r),
    LOCK_TURN(struct rma_rw_entry_options, t_w, "0 (16)"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_rma_rw_entry = {
    .kind =
	{
	    .name = "rma-rw-entry",
	    .summary = "baseline: rma-rw with one queue and one counter, both at the home",
	    .reference = "ShiftLock's baseline as published (FAST'25, section 4)",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY,
	},
    .options = options,
    .home_bytes = ENTRY_BYTES,
    .state_bytes = sizeof(struct constants),
    .most_clients = T_R_MOST,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .check = &(const struct lock_check_calls){.idle = idle},
};
