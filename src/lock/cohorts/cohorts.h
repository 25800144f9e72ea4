/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two cohorts of an asymmetric lock (alock.c, and the baseline farlock.c): the ranks of the
 * home's node, which use CPU atomics, and all others, which use the transport. ALock paper
 * (SPAA'24), section 5.
 *
 * The words of a lock begin with TAIL of both cohorts, by enum rma_domain, and VICTIM.
 */
#ifndef LOCK_COHORTS_COHORTS_H
#define LOCK_COHORTS_COHORTS_H

#include "lock/lock.h"

enum { COHORTS_TAIL = 0, COHORTS_VICTIM = 16, COHORTS_BYTES = 24, COHORTS_WORD_BYTES = 8 };
_Static_assert(COHORTS_TAIL + 2 * COHORTS_WORD_BYTES == COHORTS_VICTIM &&
		   COHORTS_VICTIM + COHORTS_WORD_BYTES == COHORTS_BYTES,
	       "the words of the cohorts do not overlap");

struct cohorts_options {
	int64_t budget[2]; /* acquires in a row, by cohort */
};
_Static_assert(sizeof(struct cohorts_options) <= LOCK_OPTION_BYTES, "the options fit");

struct cohorts {
	uint64_t clients[2]; /* of each cohort, at most */
};

/* Parts of a struct lock_protocol, with state_bytes of a struct cohorts. */
int cohorts_layout(struct lock_setup *s, char *err, size_t errlen);
void cohorts_describe(const struct lock_setup *s, char *text, size_t len);
/* How many clients a client waits for at most: everybody ahead in the own queue once. And the other
 * cohort's budget before the first of these or it, after each one of them (its own budget may be
 * over, or its time as a leader), and, if the leader of its queue has not written VICTIM yet, once
 * more. */
uint64_t cohorts_most_ahead(const struct lock_setup *s);

RMA_INLINE const struct cohorts_options *cohorts_options(const struct lock_setup *s)
{
	return lock_options(s);
}

/* A word of the lock, which has so many bytes, always as a NODE word: local clients load and store
 * it, and for remote ones it is far. */
RMA_INLINE struct rma_word cohorts_word(const struct lock_setup *s, struct lock_slot *slot,
					uint64_t bytes, uint64_t offset)
{
	return lock_home_word(s, &slot->client, RMA_NODE, s->words + offset, bytes, slot->lock);
}

RMA_INLINE struct rma_word cohorts_tail(const struct lock_setup *s, struct lock_slot *slot,
					uint64_t bytes, enum rma_domain cohort)
{
	return cohorts_word(s, slot, bytes, COHORTS_TAIL + (uint64_t)cohort * COHORTS_WORD_BYTES);
}

/* The cohort of a client, from any word of the lock. */
RMA_INLINE enum rma_domain cohort_of(struct rma_word w)
{
	return w.flags & RMA_FAR ? RMA_NET : RMA_NODE;
}

RMA_INLINE enum rma_domain cohort_other_than(enum rma_domain cohort)
{
	return cohort == RMA_NODE ? RMA_NET : RMA_NODE;
}

#endif
