/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A word: 64 bits in the segment of a rank.
 *
 * Every rank has one segment. A word is a rank and an offset into its segment.
 *
 * Atomicity domains. CPU atomics and network atomics on the same word are not atomic with each
 * other, so each word belongs to one domain for its life:
 *   RMA_NODE  read-modify-written by C11 atomics only, and only by ranks of its node
 *   RMA_NET   read-modify-written by the transport only, also by ranks of its node
 * Plain aligned reads and writes (get, put, peek, poke) may cross.
 */
#ifndef RMA_WORD_H
#define RMA_WORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum rma_domain { RMA_NODE, RMA_NET };

/* The first cache line of every segment: counts of the clients that are parked on words of this
 * segment, so that a writer knows whether to wake any. Words share a few counts, chosen by offset;
 * with a single count one sleeper would make every writer of the segment call the kernel. Behind
 * them is what the transport keeps in each segment. */
enum {
	RMA_PARKED_COUNTS = 8,
	RMA_TRANSPORT_AT = 64,
	RMA_TRANSPORT_BYTES = 512,
	RMA_HEADER_BYTES = RMA_TRANSPORT_AT + RMA_TRANSPORT_BYTES
};
_Static_assert(RMA_PARKED_COUNTS * sizeof(int64_t) == RMA_TRANSPORT_AT, "one cache line");

enum {
	RMA_CPU = 1,      /* mapped NODE word: CPU atomics, complete at once */
	RMA_FAR = 2,      /* on another node */
	RMA_NODE_WORD = 4 /* NODE word of a virtual rank: the transport does the same */
};

struct rma_word {
	_Atomic(int64_t) *map; /* its address in this process; NULL: not mapped */
	uint64_t offset;
	int32_t rank;
	uint32_t flags; /* RMA_CPU, RMA_FAR, RMA_NODE_WORD */
};

/* An uncontended acquire takes some ten nanoseconds, so a struct rma_word on its path must stay in
 * registers. */
#define RMA_INLINE static inline __attribute__((always_inline))
/* For functions that only contended calls need: keeps them out of the fast path. */
#define RMA_SLOW_PATH __attribute__((noinline, cold))

/* Whether operations on it are complete when the call returns. */
RMA_INLINE bool rma_is_cpu(struct rma_word w)
{
	return w.flags & (RMA_CPU | RMA_NODE_WORD);
}

/* Whether this process performs them by CPU. */
RMA_INLINE bool rma_is_mapped_cpu(struct rma_word w)
{
	return w.flags & RMA_CPU;
}

#endif
