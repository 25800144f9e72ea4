/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LOCKTABLE: the lock table of the ALock paper (SPAA'24), section 6. Locks are distributed
 * equally over the nodes; with the probability --locality a client acquires a lock of its own node,
 * otherwise one of another node, drawn uniformly.
 *
 * Homes: the ranks, in the order of their nodes, share the locks in equal pieces. So nodes with
 * equally many ranks have equally many locks, give or take one, even if there are fewer locks than
 * ranks. (Cyclic homes would put 20 locks on the first 20 ranks.)
 */
#include <stdlib.h>

#include "benchmarks/harness/bench.h"

int locktable_home(uint64_t lock, const int *order, int ranks, uint64_t locks)
{
	return order[(uint64_t)((unsigned __int128)lock * (uint64_t)ranks / locks)];
}

/* node_of is small and dense, so one pass for each node will do. */
int *locktable_order(const int *node_of, int ranks)
{
	int *order = malloc(sizeof *order * (size_t)ranks), n = 0;

	for (int node = 0; order && n < ranks; node++)
		for (int r = 0; r < ranks; r++)
			if (node_of[r] == node)
				order[n++] = r;
	return order;
}

bool locktable_start(struct locktable *l, uint64_t locks, double locality)
{
	*l = (struct locktable){
	    .lock = malloc(sizeof *l->lock * locks),
	    .locks = locks,
	    .local = locality >= 100 ? UINT32_MAX : (uint32_t)(locality / 100 * 0x1p32),
	};
	return l->lock != NULL;
}

/* Near ones from the front, the others from the back. */
void locktable_add(struct locktable *l, uint64_t lock, bool is_near)
{
	l->lock[is_near ? l->near++ : l->locks - ++l->far] = (uint32_t)lock;
}

uint64_t locktable_pick(const struct locktable *l, uint64_t *random)
{
	uint64_t x = random_next(random);
	bool is_near = l->local == UINT32_MAX || (uint32_t)x < l->local;
	uint64_t first, of;

	if (!l->near || !l->far)
		is_near = l->near > 0;
	first = is_near ? 0 : l->near;
	of = is_near ? l->near : l->far;
	return l->lock[first + (uint64_t)(((unsigned __int128)random_next(random) * of) >> 64)];
}

void locktable_end(struct locktable *l)
{
	free(l->lock);
	l->lock = NULL;
}
