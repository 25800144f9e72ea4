/* SPDX-License-Identifier: BSD-3-Clause */
/* Which locks, in which mode. */
#ifndef BENCH_PICKS_H
#define BENCH_PICKS_H

#include "benchmarks/harness/trial.h"
#include "benchmarks/measure/random.h"

/* Draw one lock and one mode. */
struct pick {
	uint64_t lock;
	int mode;
};

/* picks.c: before a trial; false: out of memory. */
bool picks_choose(struct trial *t);
void picks_free(struct trial *t);

static inline struct pick trial_pick(struct trial *t)
{
	uint64_t x = random_next(&t->random);
	struct pick p = {.mode = (uint32_t)x < t->writers ? PAWL_EXCLUSIVE : PAWL_SHARED};

	if (t->writers == UINT32_MAX)
		p.mode = PAWL_EXCLUSIVE;
	if (t->ring)
		p.lock = t->ring[t->turn++ % RING];
	else if (t->locks > 1)
		p.lock = (uint64_t)(((unsigned __int128)x * t->locks) >> 64);
	return p;
}

#endif
