/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind adaptive: the places of the words and the constants of a table, what it says of its options,
 * its bound on overtaking, and the check that its words are those of a free lock.
 *
 * Words. W and the tail of the queue: 16 bytes at the home on a table of one node; on several
 * nodes, a cache line for each lock and node, at a fixed place of the node, and 16 bytes at the
 * home; and a few words for each 640 locks of a home (first.c).
 *
 * Not supported: lines only where a lock is used.
 *
 * Bounds: 2^19 - 1 clients at one lock; a table with more is refused.
 */
#include "lock/adaptive/adaptive.h"

#include <stdio.h>

/* Patience in ns if option patience leaves it to the lock, and a hand-over may take long. */
enum { LONG_PATIENCE_NS = 500000 };

int adaptive_layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct adaptive_constants *k;

	if (!lock_counts_clients(s, MOST_CLIENTS, err, errlen))
		return PAWL_ERR_OPTION;
	k = lock_constants(s, sizeof *k, err, errlen);
	if (!k)
		return PAWL_ERR_NOMEM;
	k->several = s->domain == RMA_NET;
	k->node_level = lock_node_level(s);
	k->nodes = k->node_level ? s->topo->level[k->node_level - 1].count : s->topo->nranks;
	k->decides = adaptive_options_of(s)->patience < 0;
	k->patience =
	    k->decides ? LONG_PATIENCE_NS : (uint64_t)adaptive_options_of(s)->patience * 1000;
	k->keeps_order = k->patience == 0;
	k->package_level = k->keeps_order ? 0 : package_level(s);
	if (k->several) {
		k->free = W_IDLE;
		k->free_mask = W_FREE_MASK;
		k->lines = k->node_level ? lock_reserve_at_level(s, k->node_level, LINE_BYTES)
					 : lock_reserve(s, s->n, LINE_BYTES);
		k->homes = lock_reserve(s, s->block, HOME_BYTES);
		first_layout(s, k);
	} else {
		k->free = W_NEW;
		k->lines = lock_reserve(s, s->block, NEAR_BYTES);
	}
	if (k->package_level)
		k->tails = lock_reserve_at_level(s, k->package_level, sizeof(int64_t));
	return PAWL_SUCCESS;
}

void adaptive_describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct adaptive_constants *k = s->state;
	const struct adaptive_options *o = adaptive_options_of(s);
	int used =
	    k->decides && !k->several
		? snprintf(text, len, "patience 0 to %d us, by hand-overs", LONG_PATIENCE_NS / 1000)
		: snprintf(text, len, "patience %llu us", (unsigned long long)k->patience / 1000);

	if (!k->several || used <= 0 || (size_t)used >= len)
		return;
	if (k->decides)
		used += snprintf(text + used, len - (size_t)used,
				 " at most, %d to %d round trips for another mode", SHARED_TRIPS,
				 2 * SHARED_TRIPS);
	if ((size_t)used < len && phase_longest_wait(s) > k->patience)
		used += snprintf(text + used, len - (size_t)used, ", %llu us of sharers",
				 (unsigned long long)phase_longest_wait(s) / 1000);
	if ((size_t)used >= len)
		return;
	if (o->stay < 0)
		snprintf(text + used, len - (size_t)used, ", stay %d to %d round trips", STAY_TRIPS,
			 2 * STAY_TRIPS);
	else
		snprintf(text + used, len - (size_t)used, ", stay %lld", (long long)o->stay);
}

/* There is a bound only with patience 0 and, on several nodes, a stay of so many acquires; other
 * values are times. On one node each other client acquires once: from its place in the queue, or
 * because it looked before there was a queue. On several nodes, each of those acquires may be in a
 * separate turn of the root at this node, each other node has a turn between two of these, and one
 * more turn has begun before. */
uint64_t adaptive_overtakes(const struct lock_setup *s, int mode)
{
	const struct adaptive_constants *k = s->state;
	const struct topo *t = s->topo;
	double clients, turn, most = 0;

	if (!k->keeps_order || (k->several && (mode & PAWL_AHEAD)))
		return UINT64_MAX;
	if (!k->several)
		return (uint64_t)t->nranks * (uint64_t)s->max_held - 1;
	if (adaptive_options_of(s)->stay < 0)
		return UINT64_MAX;
	for (int j = 0; j < k->nodes; j++) {
		clients = k->node_level ? topo_size(t, k->node_level, j) : 1;
		most = clients > most ? clients : most;
	}
	most *= s->max_held;
	turn = ((double)adaptive_options_of(s)->stay + 2) * k->nodes;
	most += (most + 1) * 2 * turn;
	return most < 1e18 ? (uint64_t)most : UINT64_MAX;
}

bool adaptive_idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		   char *err, size_t errlen)
{
	const struct adaptive_constants *k = s->state;
	const int64_t *line;

	if (k->several)
		return kept_root_idle(s, lock, m, err, errlen) &&
		       sharing_idle(s, lock, m, err, errlen) &&
		       share_idle(s, lock, m, err, errlen) && guest_idle(s, lock, m, err, errlen);
	line = lock_memory_home(s, m, k->lines, NEAR_BYTES, lock);
	snprintf(err, errlen, "W is 0x%llx, QUEUE 0x%llx", (unsigned long long)line[0],
		 (unsigned long long)line[1]);
	return line[0] == W_NEW && line[1] == 0;
}

void adaptive_age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct adaptive_constants *k = s->state;

	if (!k->several)
		return;
	kept_root_age(s, lock, m);
	share_age(s, lock, m);
	guest_age(s, lock, m);
}
