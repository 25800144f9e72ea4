/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Static segmentation. Citron paper (FAST'23), Section 2.2 and Table 1, a baseline there ("SS"): a
 * space is divided into segments of equal size, and each segment has a DSLR lock. A range takes the
 * locks of all segments that it touches.
 *
 * A space has as many segments as option segments says, of segment_units units each; the last one
 * has no end. So segments can be exact (as large as the ranges, which start where segments do),
 * overestimated (ranges conflict that have no unit in common) or underestimated (a range takes many
 * locks). The words are those of bakery.h, at the space's home, without leases: a holder that dies
 * keeps its units.
 *
 * Fairness: first come, first served at each segment, and no client waits for a segment below one
 * that it has; so the waiter at the highest segment proceeds, and the others after it. Uncontended:
 * acquire 1 atomic and 1 round trip for each segment, one after the other; release 1 atomic for
 * each segment, and 1 round trip for all, or none if the transport posts (UCX between nodes);
 * try-acquire a get and a compare-and-swap for each. A waiter polls by get, with pauses in
 * proportion to the clients ahead (bakery.h). Shared and exclusive cost the same.
 *
 * Ordering guarantees
 *   (A) A client takes segments in ascending order, each after it has had its turn at the one
 *       before: no cycle of waits. (To draw all tickets at once would save round trips, but two
 *       clients could each be first where the other is second.)
 *   (B) A ticket and the counters with which it is compared come from one atomic operation. When it
 *       is a ticket's turn, it stays so until its owner leaves.
 *   (C) A release adds to all its words in any order: a segment that is free early does no harm.
 *   (D) No answer of a release decides anything (bakery.h), so its additions are posted. All of
 *       them are answered before the slot is used again. Those of a try that fails are not posted:
 *       the slot is free when the try returns.
 *
 * A client cannot have two ranges that touch the same segment at a time, and a client that holds
 * several ranges of a space has to acquire them in ascending order. Progress: starvation-free if
 * holders release and take their ranges in that order.
 *
 * Why this is its best form: the bakery hands over with one atomic and one look, and a range of
 * exact segments needs two atomics in all, which no other kind does. With 192 clients and ranges of
 * one unit it has 12.8 million acquires a second in simulation, 1.6 times those of citron, where
 * the Citron paper has 1.8 times. To draw all tickets at once would not be correct, see (A).
 *
 * Different from the paper: shared mode, which DSLR has; the number of segments is limited, because
 * a space here has no end.
 */
#include "lock/ss/bakery.h"

#include <stdio.h>

#define MOST_WORDS (INT64_C(1) << 40)

struct ss_options {
	struct lock_backoff backoff; /* min: for each client ahead, before a poll; max: in total */
	int64_t segments;            /* of a space */
	int64_t segment_units;
};
_Static_assert(sizeof(struct ss_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct ss_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	if (s->block > (uint64_t)(MOST_WORDS / options_of(s)->segments)) {
		snprintf(err, errlen,
			 "option segments: %lld of them for each of %llu spaces at one home are"
			 " too many; accepted here: 1 to %llu",
			 (long long)options_of(s)->segments, (unsigned long long)s->block,
			 (unsigned long long)MOST_WORDS / s->block);
		return PAWL_ERR_UNSUPPORTED;
	}
	s->words = lock_reserve(s, s->block * (uint64_t)options_of(s)->segments, BAKERY_BYTES);
	return PAWL_SUCCESS;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	snprintf(text, len,
		 "segments %lld, segment_units %lld, backoff at first %lld ns for each client"
		 " ahead, at most %lld ns",
		 (long long)options_of(s)->segments, (long long)options_of(s)->segment_units,
		 (long long)options_of(s)->backoff.min, (long long)options_of(s)->backoff.max);
}

/* --------------------------------------------------------------------- segments */

static int64_t segment_of(const struct lock_setup *s, int64_t unit)
{
	int64_t segment = unit / options_of(s)->segment_units;

	return segment < options_of(s)->segments ? segment : options_of(s)->segments - 1;
}

static int64_t last_segment(const struct lock_setup *s, const struct lock_slot *slot)
{
	int64_t last = segment_of(s, slot->last);

	if (FAULT(ss_last) && last > segment_of(s, slot->first))
		last--;
	return last;
}

static uint64_t place(const struct lock_setup *s, uint64_t index, int64_t segment)
{
	return s->words +
	       (index * (uint64_t)options_of(s)->segments + (uint64_t)segment) * BAKERY_BYTES;
}

static struct rma_word segment_word(const struct lock_setup *s, struct lock_slot *slot,
				    int64_t segment)
{
	uint64_t index;
	int home;

	lock_home(s, slot->lock, &home, &index);
	return rma_word(slot->client.rma, s->domain, home, place(s, index, segment));
}

/* ------------------------------------------------------------------ acquisition */

/* It is this client's turn at a segment, where it has found this word. */
RMA_INLINE void enter(struct lock_slot *slot, struct rma_word w, uint64_t word)
{
	if (__builtin_expect(bakery_has_carried(word, slot->mode), 0))
		bakery_clear_guard(&slot->client, w, N_X, 0);
}

/* (B) */
static void take(const struct lock_setup *s, struct lock_slot *slot, int64_t segment)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = segment_word(s, slot, segment);
	struct rma_pause p = {.rounds = 0};
	int at = bakery_max_of(slot->mode);
	uint64_t ticket = bakery_add(c, w, at), word = ticket, trip = 0, answered, moved;

	if (bakery_sets_guard(ticket, at))
		bakery_clear_guard(c, w, at, 0);
	if (bakery_is_turn(word, ticket, slot->mode)) {
		enter(slot, w, word);
		return;
	}
	answered = moved = rma_clock(c);
	do {
		uint64_t before = word, issued;

		p.min_ns = p.max_ns = bakery_pause_ns(&options_of(s)->backoff,
						      bakery_ahead_of(word, ticket, slot->mode),
						      trip, answered - moved);
		rma_pause(c, &p, "its turn at a segment");
		issued = rma_clock(c);
		word = bakery_look(c, w);
		answered = rma_clock(c);
		note_trip(&trip, answered - issued);
		if (bakery_moves(before, word))
			moved = answered;
	} while (!bakery_is_turn(word, ticket, slot->mode));
	enter(slot, w, word);
}

/* Draw a ticket only if it is this client's turn at once. */
static bool try_take(const struct lock_setup *s, struct lock_slot *slot, int64_t segment)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = segment_word(s, slot, segment);
	uint64_t word = bakery_look(c, w);

	do {
		if (!bakery_is_turn(word, word, slot->mode))
			return false;
	} while (!bakery_swap(c, w, &word, bakery_counted(word, bakery_max_of(slot->mode))));
	enter(slot, w, word);
	return true;
}

/* Leave these segments; the caller completes the additions, or posts them; (C). */
static void leave(const struct lock_setup *s, struct lock_slot *slot, int64_t first, int64_t last)
{
	for (; first <= last; first++)
		bakery_leave(&slot->client, segment_word(s, slot, first), slot->mode);
}

/* (A) */
static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t last = last_segment(s, slot);

	for (int64_t i = segment_of(s, slot->first); i <= last; i++)
		take(s, slot, i);
	return PAWL_SUCCESS;
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t first = segment_of(s, slot->first), last = last_segment(s, slot);

	for (int64_t i = first; i <= last; i++) {
		if (try_take(s, slot, i))
			continue;
		leave(s, slot, first, i - 1);
		/* Orders the additions before the return; pairs with others' looks; (D). */
		if (i > first)
			rma_flush(&slot->client, segment_word(s, slot, first));
		return PAWL_ERR_BUSY;
	}
	return PAWL_SUCCESS;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t first = segment_of(s, slot->first);

	leave(s, slot, first, last_segment(s, slot));
	return lock_end_release(s, slot, segment_word(s, slot, first));
}

static bool keeps_out(const struct lock_setup *s, const struct lock_slot *slot, int64_t first,
		      int64_t last)
{
	return segment_of(s, slot->first) <= segment_of(s, last) &&
	       segment_of(s, first) <= segment_of(s, slot->last);
}

/* --------------------------------------------------------------- the simulator */

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	uint64_t index;
	int home;

	lock_home(s, lock, &home, &index);
	for (int64_t i = 0; i < options_of(s)->segments; i++) {
		uint64_t word = (uint64_t)*lock_memory_word(m, home, place(s, index, i));

		if (bakery_is_idle(word))
			continue;
		snprintf(err, errlen, "the word of segment %lld is 0x%llx", (long long)i,
			 (unsigned long long)word);
		return false;
	}
	return true;
}

static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	uint64_t index;
	int home;

	lock_home(s, lock, &home, &index);
	for (int64_t i = 0; i < options_of(s)->segments; i++)
		*lock_memory_word(m, home, place(s, index, i)) = (int64_t)bakery_aged();
}

static const struct option_spec options[] = {
    LOCK_BACKOFF(struct ss_options, backoff),
    LOCK_NUMBER(struct ss_options, segments, "segments", 1, 16777216, "64", "segments of a space"),
    LOCK_NUMBER(struct ss_options, segment_units, "segment_units", 1, 4611686018427387904, "16384",
		"units of a segment"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_ss = {
    .kind =
	{
	    .name = "ss",
	    .summary = "ranges: equal segments, each with a reader-writer bakery",
	    .reference = "FAST'23 (Citron), section 4; SIGMOD'18 (DSLR)",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_FAIR | PAWL_CAP_RANGES,
	},
    .options = options,
    .most_slots = BAKERY_COUNT,
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = lock_is_answered,
    .posts_unmarked = true,
    .range = &(const struct lock_range_calls){.keeps_out = keeps_out},
    .check = &(const struct lock_check_calls){.idle = idle, .age = age},
};
