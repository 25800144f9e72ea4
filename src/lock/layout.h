/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for a protocol's layout() (struct lock_protocol). */
#ifndef LOCK_LAYOUT_H
#define LOCK_LAYOUT_H

#include "lock/setup.h"

/* Reserve locks x bytes in every segment, 64-byte aligned. If that is more than an address space
 * has, s->bytes stays above LOCK_MOST_BYTES, and the table is refused. */
#define LOCK_MOST_BYTES (UINT64_C(1) << 48)
uint64_t lock_reserve(struct lock_setup *s, uint64_t locks, uint64_t bytes);
/* The level of the topology whose elements are nodes, on a table of several nodes. 0: the table has
 * one node, or each node has one rank. */
int lock_node_level(const struct lock_setup *s);
/* lock_reserve() for every lock at each element of a level, at topo_tail_rank(). */
uint64_t lock_reserve_at_level(struct lock_setup *s, int level, uint64_t bytes);
/* Whether a word that can count `most` clients at a lock is enough; if not, err has the message. */
bool lock_counts_clients(const struct lock_setup *s, uint64_t most, char *err, size_t errlen);
/* The same for kinds in which all slots of all ranks may be at one word. */
bool lock_counts_slots(const struct lock_setup *s, uint64_t most, char *err, size_t errlen);
/* Set s->state to this many bytes, all zero. NULL if there is no memory; err has the message. */
void *lock_constants(struct lock_setup *s, size_t bytes, char *err, size_t errlen);

#endif
