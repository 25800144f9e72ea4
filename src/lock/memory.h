/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a table as the simulator sees them, which looks from outside of any rank. */
#ifndef LOCK_MEMORY_H
#define LOCK_MEMORY_H

#include "lock/home.h"

/* All segments as they are, for the client that looks from outside of any rank. */
struct lock_memory {
	int64_t *(*word)(void *arg, int rank, uint64_t offset);
	void *arg;
};

static inline int64_t *lock_memory_word(const struct lock_memory *m, int rank, uint64_t offset)
{
	return m->word(m->arg, rank, offset);
}

/* Of the word of lock_home_word(). */
static inline int64_t *lock_memory_home(const struct lock_setup *s, const struct lock_memory *m,
					uint64_t base, uint64_t stride, uint64_t lock)
{
	uint64_t index;
	int rank;

	lock_home(s, lock, &rank, &index);
	return lock_memory_word(m, rank, base + index * stride);
}

#endif
