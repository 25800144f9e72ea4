/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for a protocol's layout() (struct lock_protocol). */
#ifndef LOCK_LAYOUT_H
#define LOCK_LAYOUT_H

#include "lock/setup.h"

/* Reserve locks x bytes in every segment, 64-byte aligned. If that is more than an address space
 * has, or comes after an area, s->bytes stays above LOCK_MOST_BYTES, and the table is refused. */
#define LOCK_MOST_BYTES (UINT64_C(1) << 48)
uint64_t lock_reserve(struct lock_setup *s, uint64_t locks, uint64_t bytes);
/* The level of the topology whose elements are nodes, on a table of several nodes. 0: the table has
 * one node, or each node has one rank. */
int lock_node_level(const struct lock_setup *s);
/* Reserve an area: element, first, members, n and bytes say what for; its elements have min_size
 * ranks at least, and all of them as many if count x min_size is the number of ranks. */
void lock_reserve_area(struct lock_setup *s, struct lock_area *a, int min_size, int count);
/* The same for n items at each element of a level. */
void lock_reserve_at_level(struct lock_setup *s, struct lock_area *a, int level, uint64_t n,
			   uint64_t bytes);
/* Bytes of the segments of this rank's node. */
uint64_t lock_segment_bytes(const struct lock_setup *s, int rank);

/* For lock_area_base(). */
RMA_SLOW_PATH uint64_t lock_area_moved(const struct lock_setup *s, const struct lock_area *a,
				       int rank);

/* Where the area is in the segment of a rank. */
RMA_INLINE uint64_t lock_area_base(const struct lock_setup *s, const struct lock_area *a, int rank)
{
	return __builtin_expect(a->moves, 0) ? lock_area_moved(s, a, rank) : a->base;
}

/* The rank that keeps item i of element j, and the offset of the item there. Elements of one rank
 * are common, and do without a division. */
RMA_INLINE uint64_t lock_area_place(const struct lock_setup *s, const struct lock_area *a, int j,
				    uint64_t i, int *rank)
{
	int from = a->first[j];
	uint64_t size = (uint64_t)(a->first[j + 1] - from);

	*rank = a->members[from + (size == 1 ? 0 : (int)(i % size))];
	return lock_area_base(s, a, *rank) + (size == 1 ? i : i / size) * a->bytes;
}
/* Whether a word that can count `most` clients at a lock is enough; if not, err has the message. */
bool lock_counts_clients(const struct lock_setup *s, uint64_t most, char *err, size_t errlen);
/* The same for kinds in which all slots of all ranks may be at one word. */
bool lock_counts_slots(const struct lock_setup *s, uint64_t most, char *err, size_t errlen);

#endif
