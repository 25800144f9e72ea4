/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive on one node: the places of the words and the constants of a table, what it says of
 * its options, its bound on overtaking, and the check that its words are those of a free lock.
 *
 * Words: W and the tail of the queue, 16 bytes at the home.
 *
 * Bounds: 2^19 - 1 clients at one lock; a table with more is refused.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

/* Patience in ns if option patience leaves it to the lock, and a hand-over may take long. */
enum { LONG_PATIENCE_NS = 500000 };

int adaptive_layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct adaptive_constants *k = s->state;

	(void)err;
	(void)errlen;
	k->decides = adaptive_options_of(s)->patience < 0;
	k->patience =
	    k->decides ? LONG_PATIENCE_NS : (uint64_t)adaptive_options_of(s)->patience * 1000;
	k->keeps_order = k->patience == 0;
	k->package_level = k->keeps_order ? 0 : package_level(s);
	if (k->package_level)
		lock_reserve_at_level(s, &k->tails, k->package_level, s->n, sizeof(int64_t));
	return PAWL_SUCCESS;
}

void adaptive_describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct adaptive_constants *k = s->state;

	if (k->decides)
		snprintf(text, len, "patience 0 to %d us, by hand-overs", LONG_PATIENCE_NS / 1000);
	else
		snprintf(text, len, "patience %llu us", (unsigned long long)k->patience / 1000);
}

/* There is a bound only with patience 0; other values are times. Each other client acquires once:
 * from its place in the queue, or because it looked before there was a queue. */
uint64_t adaptive_overtakes(const struct lock_setup *s, int mode)
{
	const struct adaptive_constants *k = s->state;

	return k->keeps_order ? lock_others(s, mode) : UINT64_MAX;
}

bool adaptive_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		   char *err, size_t errlen)
{
	const int64_t *line = lock_memory_home(s, m, s->words, LINE_BYTES, lock);

	snprintf(err, errlen, "W is 0x%llx, QUEUE 0x%llx", (unsigned long long)line[0],
		 (unsigned long long)line[1]);
	return line[0] == 0 && line[1] == 0;
}
