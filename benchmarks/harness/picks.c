/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which locks and modes a client draws: the share of writers and, if the locks follow a law, a ring
 * of locks in the order in which they are drawn. The ring is drawn beforehand, because drawing
 * takes longer than some locks do, and kept as long as the law is the same.
 */
#include <stdlib.h>

#include "bench.h"

/* Popular locks are spread over the ranks. */
static void draw_zipf(struct trial *t, uint32_t *ring, uint64_t *random)
{
	const struct settings *s = t->set;
	struct zipf z;

	zipf_start(&z, s->n, s->zipf);
	for (int i = 0; i < RING; i++)
		ring[i] = (uint32_t)zipf_spread(zipf_next(&z, random), s->n);
}

static bool draw_near(struct trial *t, uint32_t *ring, uint64_t *random)
{
	int here = trial_node_of(t, t->team->rank);
	struct locktable table;

	if (!locktable_start(&table, t->set->n, t->set->locality))
		return false;
	for (uint64_t l = 0; l < t->set->n; l++) {
		int home = 0;

		pawl_table_home(t->table, l, &home);
		locktable_add(&table, l, trial_node_of(t, home) == here);
	}
	for (int i = 0; i < RING; i++)
		ring[i] = (uint32_t)locktable_pick(&table, random);
	t->local = (double)table.near / (double)table.locks;
	locktable_end(&table);
	return true;
}

/* The law: that of the workload if it has one, else Zipf's, else none. In workloads over ranges the
 * law is for the ranges, and spaces are drawn uniformly. */
static const void *law_of(const struct trial *t)
{
	if (workload_is(t->workload, W_NEAR_AND_FAR) && t->table)
		return t->workload;
	if (workload_is(t->workload, W_BY_ITSELF) || workload_is(t->workload, W_RANGES))
		return NULL;
	return t->set->zipf > 0 && t->set->n > 1 ? t->set : NULL;
}

static bool draw_ring(struct trial *t)
{
	uint64_t random = random_seed(t->set->seed + 77, t->team->rank);
	const void *law = law_of(t);

	if (law == t->law && t->set->n == t->law_n)
		return true;
	free(t->ring);
	t->ring = law ? malloc(sizeof *t->ring * RING) : NULL;
	t->law = law;
	t->law_n = t->set->n;
	if (!t->ring)
		return !law;
	if (law != t->workload) {
		draw_zipf(t, t->ring, &random);
		return true;
	}
	return draw_near(t, t->ring, &random);
}

bool picks_choose(struct trial *t)
{
	double fw = t->set->fw / 100;

	t->locks = t->set->n;
	t->writers =
	    !contestant_shares(t->contestant) || fw >= 1 ? UINT32_MAX : (uint32_t)(fw * 0x1p32);
	t->turn = (uint32_t)random_next(&t->random);
	t->failures = (uint32_t)(t->set->fail * 0xffffffff);
	return draw_ring(t);
}

void picks_free(struct trial *t)
{
	free(t->ring);
	t->ring = NULL;
}
