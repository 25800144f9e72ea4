/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RANGE-GROW: a space that grows, as in the Citron paper (FAST'23), section 4.5 (Figure
 * 10). Clients lock the ranges of IO500's hard write, and write nothing. Offsets start at 0 and
 * grow all the time. Each repetition creates the table anew, for --space units: 1024, which some
 * dozens of writes exceed, or so many that the writes never exceed them. Acquires are counted in
 * TIMELINE parts of the time.
 *
 * Records of neighbours share blocks, so their ranges meet.
 *
 * Spaces that can grow may do so up to RANGE_GROW_MOST units: at once by a client that needs more,
 * or, with -o growth=call, by a call of each client once in 10 ms, as in the paper.
 */
#include <string.h>

#include "ranges.h"

enum { POLL_MS = 10 };

static bool grows_by_call(const struct trial *t)
{
	for (int i = 0; i < t->set->lock_options; i++)
		if (strcmp(t->set->lock_option[i], "growth=call") == 0)
			return t->contestant->kind &&
			       kind_takes(t->contestant->kind, "growth", strlen("growth"));
	return false;
}

/* The current part of the time; a run without an end has no parts. */
static void count_now(struct trial *t, uint64_t since)
{
	if (t->ticks != UINT64_MAX)
		t->timeline[(uint64_t)((unsigned __int128)since * TIMELINE / t->ticks)]++;
}

void range_grow_run(struct trial *t)
{
	const uint64_t start = ticks();
	const uint64_t between = (uint64_t)(POLL_MS * 1e6 * ticks_per_ns);
	const bool polls = grows_by_call(t);
	uint64_t now, done = 0, next_poll = start + between;
	pawl_range held;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		range_lock(t, 0, grow_span(done, t->client, t->active), PAWL_EXCLUSIVE, &held);
		range_unlock(t, &held);
		times_add(&t->hist, ticks() - now);
		count_now(t, now - start);
		done++;
		if (polls && now >= next_poll) {
			if (pawl_range_grow(t->table, 0, NULL) != PAWL_SUCCESS)
				trial_abort(t, "grow");
			next_poll = now + between;
		}
	}
	t->acquires = t->exclusive = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}
