/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: a sharer that waits in the queue of nodes takes that over from sharers of another
 * node, which keep it, and lets their node share; README, T. */
#include "lock/cached/take.h"

/* What is known of a node. Not to be read before the flush. */
struct seen {
	int64_t w, status;
};
_Static_assert(sizeof(struct seen) == 8 * (size_t)SCRATCH_EACH, "the scratch has room");

static void get(const struct lock_setup *s, struct lock_slot *slot, int node, struct seen *seen)
{
	rma_get(&slot->client, cached_word_at(s, slot, node, LINE_W), &seen->w);
	rma_get(&slot->client, cached_word_at(s, slot, node, LINE_STATUS), &seen->status);
}

/* Orders the gets before the look at their results; pairs with the swap of W by the last sharer. */
static void flush(const struct lock_setup *s, struct lock_slot *slot, int node)
{
	rma_flush(&slot->client, cached_word_at(s, slot, node, LINE_STATUS));
}

/* Whether sharers keep the queue, and nobody has taken it over from them. */
static bool is_kept(const struct seen *seen)
{
	return (seen->w & KEEPS) && (seen->w & SHARERS) && !(seen->w & EXCLUSIVE) &&
	       (seen->status & GRANT);
}

bool take_is_kept(const struct lock_setup *s, struct lock_slot *slot, int node)
{
	struct seen *seen = lock_scratch(slot);

	if (node < 0 || node == cached_me(slot))
		return false;
	get(s, slot, node, &seen[node]);
	flush(s, slot, node);
	return is_kept(&seen[node]);
}

/* T1: the node where sharers keep the queue; -1: none. If that is not the one before, there are
 * abandoned places between, or the client has the place from another one (D1); or that one waits,
 * too, and looks itself. */
static int find(const struct lock_setup *s, struct lock_slot *slot, bool everywhere)
{
	const struct cached_constants *k = s->state;
	const struct cached_slot *own = lock_own(slot);
	struct seen *seen = lock_scratch(slot);

	if (take_is_kept(s, slot, (int)own->seen))
		return (int)own->seen;
	if (!everywhere)
		return -1;
	for (int j = 0; j < k->nodes; j++)
		if (j != cached_me(slot))
			get(s, slot, j, &seen[j]);
	for (int j = 0; j < k->nodes; j++)
		if (j != cached_me(slot))
			flush(s, slot, j);
	for (int j = 0; j < k->nodes; j++)
		if (j != cached_me(slot) && is_kept(&seen[j]))
			return j;
	return -1;
}

/* T5: the node shares, with those that have been promised the lock. Returns the directory. */
static int64_t share(const struct lock_setup *s, struct lock_slot *slot, int node, int64_t dir)
{
	modes_number(slot);
	if (!dir_is_empty(dir)) {
		dir = policy_next_round(dir);
		modes_write(s, slot, dir, modes_shared(dir, MODE_S));
	}
	modes_write_at(s, slot, node, modes_shared(dir, MODE_S));
	return FAULT(cached_taken) ? dir : dir_joined(dir, MODE_S, node);
}

void take_over(const struct lock_setup *s, struct lock_slot *slot, uint64_t look_ns)
{
	struct seen *seen = lock_scratch(slot);
	const int node = find(s, slot, look_ns >= TAKE_ALL_NS);
	int64_t next, kept, old;
	struct rma_word status;

	if (node < 0 || !nodes_seek(s, slot, node, &next))
		return;
	if (!FAULT(cached_glance) && !take_is_kept(s, slot, node)) /* T3 */
		return;
	kept = seen[node].status;
	status = cached_word_at(s, slot, node, LINE_STATUS);
	rma_cas(&slot->client, status, kept, TAKEN, &old); /* T4 */
	rma_flush(&slot->client, status); /* orders the swap before the look at old */
	if (old == kept)
		nodes_grant(s, slot, next, share(s, slot, node, kept & ~(GRANT | SOME)),
			    false); /* T6 */
}
