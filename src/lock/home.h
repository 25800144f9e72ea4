/* SPDX-License-Identifier: BSD-3-Clause */
/* The home of a lock: the rank in whose segment its words are, and where. */
#ifndef LOCK_HOME_H
#define LOCK_HOME_H

#include "lock/setup.h"

/* rank and index of a lock; division in 32 bits where that is enough, since
 * this is on the path of every acquire. */
RMA_INLINE void lock_home(const struct lock_setup *s, uint64_t lock, int *rank, uint64_t *index)
{
	uint64_t by = s->home == LOCK_HOME_CYCLIC ? (uint64_t)s->topo->nranks : s->block, q, r;

	if (s->n == 1 && s->home != LOCK_HOME_MAP) {
		*rank = 0;
		*index = 0;
		return;
	}
	if (s->home == LOCK_HOME_MAP) {
		*rank = (int)(s->homes[lock] >> 40);
		*index = s->homes[lock] & ((UINT64_C(1) << 40) - 1);
		return;
	}
	if ((lock | by) >> 32) {
		q = lock / by;
		r = lock % by;
	} else {
		q = (uint32_t)lock / (uint32_t)by;
		r = (uint32_t)lock % (uint32_t)by;
	}
	*rank = (int)(s->home == LOCK_HOME_CYCLIC ? r : q);
	*index = s->home == LOCK_HOME_CYCLIC ? q : r;
}

/* A word at the home: stride bytes a lock from offset base on. */
RMA_INLINE struct rma_word lock_home_word(const struct lock_setup *s, struct rma_client *c,
					  enum rma_domain d, uint64_t base, uint64_t stride,
					  uint64_t lock)
{
	uint64_t index;
	int rank;

	lock_home(s, lock, &rank, &index);
	return rma_word(c->rma, d, rank, base + index * stride);
}

#endif
