/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RANGE-GROW: a space that grows, as in the Citron paper (FAST'23), section 4.5 (Figure
 * 10): the offsets of IO500's hard write, of which the locks are taken and nothing is
 * written. Offsets start at 0 and grow all the time; the table is made anew for each
 * repetition, for --space units: 1024, which the writes have left after some dozens, or
 * so many that they never do. What was done when is counted in TIMELINE parts of the time.
 *
 * Records of neighbours share blocks, so they meet.
 */
#include "ranges.h"

/* Which part of the time it is; times without an end have none. */
static void count_now(struct trial *t, uint64_t since)
{
	if (t->ticks != UINT64_MAX)
		t->timeline[(uint64_t)((unsigned __int128)since * TIMELINE / t->ticks)]++;
}

void range_grow_run(struct trial *t)
{
	const uint64_t start = ticks();
	uint64_t now, done = 0;
	pawl_range held;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		range_lock(t, 0, grow_span(done, t->client, t->active), PAWL_EXCLUSIVE, &held);
		range_unlock(t, &held);
		histogram_add(&t->hist, ticks() - now);
		count_now(t, now - start);
		done++;
	}
	t->acquires = t->exclusive = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}
