/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: what the locks of a table are at first; README, F. The word VOTE, at rank 0, counts
 * acquires of clients that have not been told, and has the decision above the counts. */
#include "lock/cached/first.h"

enum { FIELD_BITS = 20, WRITES_SHIFT = 20, AWAY_SHIFT = 40, DECIDED_SHIFT = 60 };

static int64_t field(int64_t vote, int shift)
{
	return (vote >> shift) & ((INT64_C(1) << FIELD_BITS) - 1);
}

static enum first decide(const struct lock_setup *s, struct lock_slot *slot, int64_t vote)
{
	return policy_first(s, field(vote, 0), field(vote, WRITES_SHIFT), field(vote, AWAY_SHIFT),
			    rma_keeps_order(&slot->client));
}

/* Add to VOTE. Returns VOTE before. */
static int64_t add(const struct lock_setup *s, struct lock_slot *slot, int64_t more)
{
	const struct cached_constants *k = s->state;
	struct rma_word vote = rma_word(slot->client.rma, RMA_NET, 0, k->vote);
	int64_t before;

	rma_fao(&slot->client, vote, RMA_SUM, more, &before);
	/* Orders a decision before its use, and a look at VOTE before what follows it (F3). */
	rma_flush(&slot->client, vote);
	return before;
}

/* F1, F2. */
static void ask(const struct lock_setup *s, struct lock_slot *slot, int64_t more)
{
	struct cached_slot *own = lock_own(slot);
	int64_t vote = add(s, slot, more);
	enum first f = decide(s, slot, vote + more);

	if (f != FIRST_UNKNOWN && decide(s, slot, vote) == FIRST_UNKNOWN) {
		add(s, slot, (int64_t)f << DECIDED_SHIFT);
		own->first = (unsigned)f & 7;
	} else {
		/* None, if another client is about to add it. */
		own->first = (unsigned)(vote >> DECIDED_SHIFT) & 7;
	}
	if (own->first >= FIRST_OWNED)
		policy_note_owned(s, own);
}

bool first_is_news(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);

	if (own->first != FIRST_UNKNOWN ||
	    (own->home == own->me ? rma_peek_ordered(&slot->client, own->tail)
				  : cached_look(slot, LINE_MODE)) != 0)
		return false;
	ask(s, slot,
	    1 + ((int64_t)is_exclusive(slot) << WRITES_SHIFT) +
		((int64_t)(own->home != own->me) << AWAY_SHIFT));
	return own->first != FIRST_UNKNOWN;
}

int64_t first_dir_of_tail(const struct lock_setup *s, struct lock_slot *slot, int64_t tail)
{
	struct cached_slot *own = lock_own(slot);

	if (tail)
		return dir_of_tail(tail);
	if (own->first == FIRST_UNKNOWN && !FAULT(cached_first))
		ask(s, slot, 0);
	switch (own->first) {
	case FIRST_SOME:
		return policy_owned(s, own->home) | SOME;
	case FIRST_OWNED:
		return policy_owned(s, own->home);
	case FIRST_NONE:
		return dir_none(0);
	case FIRST_SHARED:
		return dir_everywhere(0);
	default:
		if (FAULT(cached_untold))
			return dir_none(0);
		return is_exclusive(slot) ? dir_everywhere(0) : dir_undecided(own->home);
	}
}

int64_t first_settle(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	const struct cached_slot *own = lock_own(slot);
	const bool recalls = excludes_sharers(slot);

	if (!dir_is_undecided(dir))
		return dir;
	if (recalls && own->first == FIRST_UNKNOWN)
		ask(s, slot, 0);
	if ((own->first != FIRST_UNKNOWN && own->first != FIRST_SHARED) || FAULT(cached_decided))
		return dir & ~UNTOLD;
	return recalls ? dir_everywhere(dir) : dir;
}
