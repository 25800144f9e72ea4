/* SPDX-License-Identifier: BSD-3-Clause */
/* Near and far locks. */
#ifndef BENCH_WORKLOADS_ALOCK_LOCKTABLE_H
#define BENCH_WORKLOADS_ALOCK_LOCKTABLE_H

#include <stdbool.h>
#include <stdint.h>

/* The locks as a client sees them, near locks first. */
struct locktable {
	uint32_t *lock;
	uint64_t locks, near, far;
	uint32_t local; /* of 2^32 picks */
};
/* Ranks by their nodes; malloc()ed. */
int *locktable_order(const int *node_of, int ranks);
int locktable_home(uint64_t lock, const int *order, int ranks, uint64_t locks);
bool locktable_start(struct locktable *l, uint64_t locks, double locality);
void locktable_add(struct locktable *l, uint64_t lock, bool is_near);
uint64_t locktable_pick(const struct locktable *l, uint64_t *random);
void locktable_end(struct locktable *l);

#endif
