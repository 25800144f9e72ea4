/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A word: 64 bits in the segment of a rank.
 *
 * Every rank has one segment; a word is a rank and an offset into its segment.
 * Segments have equal layouts on all ranks.
 *
 * Atomicity domains. CPU atomics and network atomics on one word are not atomic
 * with each other, so each word belongs to one domain for its life:
 *   RMA_NODE  read-modify-written by C11 atomics only, by ranks of its node only
 *   RMA_NET   read-modify-written by the transport only, also by its own node
 * Plain aligned reads and writes (get, put, peek, poke) may cross.
 */
#ifndef RMA_WORD_H
#define RMA_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rma_domain { RMA_NODE, RMA_NET };

/* The first cache line of every segment: how many clients are parked on words
 * of this segment, so that a writer knows whether to wake somebody. Words are
 * dealt out over a few counts by their offset, lest one sleeper make every
 * writer of the segment call the kernel. */
enum { RMA_PARKED_COUNTS = 8, RMA_HEADER_BYTES = 64 };
_Static_assert(RMA_PARKED_COUNTS * sizeof(int64_t) == RMA_HEADER_BYTES, "one cache line");

enum {
	RMA_CPU = 1,      /* a NODE word that is mapped: CPU atomics, complete at once */
	RMA_FAR = 2,      /* on another node */
	RMA_NODE_WORD = 4 /* a NODE word of a virtual rank: the transport does the same */
};

struct rma_word {
	_Atomic(int64_t) *map; /* where this process sees it, or NULL */
	uint64_t offset;
	int32_t rank;
	uint32_t flags; /* RMA_CPU, RMA_FAR, RMA_NODE_WORD */
};

/* Uncontended acquires take some ten nanoseconds; what is on their path must
 * not go through memory. */
#define RMA_INLINE static inline __attribute__((always_inline))
/* For functions that only contended calls need: they are not inlined into the others. */
#define RMA_SLOW_PATH __attribute__((noinline, cold))

/* Whether operations on it are CPU atomics, complete when the call returns. */
RMA_INLINE bool rma_is_cpu(struct rma_word w)
{
	return w.flags & (RMA_CPU | RMA_NODE_WORD);
}

/* Whether this process performs them itself. */
RMA_INLINE bool rma_is_mapped_cpu(struct rma_word w)
{
	return w.flags & RMA_CPU;
}

#endif
