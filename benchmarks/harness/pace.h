/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of struct pace in real time: the client computes, and keeps its core. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include "benchmarks/cli/settings.h"
#include "benchmarks/harness/trial.h"
#include "benchmarks/measure/clock.h"
#include "benchmarks/measure/random.h"

/* From 0 to 1. */
static inline double random_share(uint64_t *random)
{
	return (double)(random_next(random) >> 40) * 0x1p-24;
}

static inline void pace_spin(double ns)
{
	uint64_t start = ticks(), wanted = (uint64_t)(ns * ticks_per_ns);

	while (ticks() - start < wanted) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
}

static inline bool pace_is_set(const struct pace *p)
{
	return p->section || p->think || p->burst;
}

static inline void pace_pass(struct trial *t, uint64_t ns)
{
	if (ns)
		pace_spin((double)ns * (0.5 + random_share(&t->random)));
}

static inline void pace_inside(struct trial *t)
{
	pace_pass(t, t->set->pace.section);
}

static inline void pace_after(struct trial *t)
{
	const struct pace *p = &t->set->pace;

	pace_pass(t, p->think);
	if (p->burst && random_next(&t->random) % p->burst == 0)
		pace_pass(t, p->rest);
}

#endif
