/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots: the queue nodes of clients. */
#ifndef LOCK_SLOT_H
#define LOCK_SLOT_H

#include "lock/setup.h"

/* A queue node: one client at one lock. Its words are in the segment of its process, one cache line
 * for each node. Peers on the node write the NODE words, and the owner reads them; NET words are
 * accessed through the transport. */
enum {
	SLOT_NEXT_NODE = 0,
	SLOT_STATUS_NODE = 8,
	SLOT_NEXT_NET = 16,
	SLOT_STATUS_NET = 24,
	SLOT_NEXT_INNER = 32,
	SLOT_STATUS_INNER = 40,
	SLOT_BYTES = 64
};
/* A third pair, of NODE words, for a queue inside a node: beside RMA_NODE and RMA_NET. */
enum { SLOT_INNER = 2, SLOT_PAIRS = 3 };
_Static_assert(SLOT_STATUS_NODE == SLOT_NEXT_NODE + 8 && SLOT_NEXT_NET == SLOT_STATUS_NODE + 8 &&
		   SLOT_STATUS_NET == SLOT_NEXT_NET + 8 && SLOT_NEXT_INNER == SLOT_STATUS_NET + 8 &&
		   SLOT_STATUS_INNER == SLOT_NEXT_INNER + 8 && SLOT_STATUS_INNER + 8 <= SLOT_BYTES,
	       "the words of a slot do not overlap and fit into it");
_Static_assert(RMA_HEADER_BYTES % SLOT_BYTES == 0, "slots are aligned to cache lines");

/* Room for a protocol family's part of a slot. */
enum { LOCK_OWN_BYTES = 144 };

/* The private half of a slot. */
struct lock_slot {
	int64_t id; /* (rank << 16 | index) + 1: how other ranks refer to it; never 0 */
	uint64_t lock;
	int index; /* of this slot in its process */
	int mode;  /* PAWL_EXCLUSIVE, PAWL_SHARED, ... */
	struct rma_word next[SLOT_PAIRS],
	    status[SLOT_PAIRS]; /* by enum rma_domain, or SLOT_INNER */
	uint64_t deadline_ns;   /* of a timed acquire; 0: none */
	int code;               /* of struct lock_part_calls */
	int64_t first, last;    /* of a range; kinds with PAWL_CAP_RANGES */
	bool others;            /* the client has other ranges of this space */
	/* Where the lock was when this client last waited for it, for observers: the slot id of the
	 * predecessor; or, negative, the level of the tree at which it waited; 0: not known. */
	int64_t from;
	/* The last lock that this client has found repaired, + 1, and in which copy (life.c). */
	uint64_t repaired_lock;
	int64_t repaired_copy;
	int64_t token; /* of life_number() */
	/* The protocol's part, zero at first: lock_own(), lock_scratch(). */
	_Alignas(int64_t) unsigned char own[LOCK_OWN_BYTES];
	int64_t *scratch;
	uint64_t acquires, aborts, recoveries;
	struct rma_client client;
};

/* A protocol family reads this as its structure, and asserts that it fits. */
RMA_INLINE void *lock_own(struct lock_slot *slot)
{
	return slot->own;
}

/* The words that scratch_words() asked for. */
RMA_INLINE void *lock_scratch(const struct lock_slot *slot)
{
	return slot->scratch;
}

/* Whether the deadline of a timed acquire has passed. */
static inline bool slot_is_late(const struct lock_slot *slot)
{
	return slot->deadline_ns && rma_clock(&slot->client) >= slot->deadline_ns;
}

/* The earlier of a time (0: none) and the deadline of the acquire. */
static inline uint64_t slot_at_latest(const struct lock_slot *slot, uint64_t ns)
{
	return slot->deadline_ns && (!ns || slot->deadline_ns < ns) ? slot->deadline_ns : ns;
}

/* A slot id has 48 bits, above which a link has flags, and differs from 0 in its low 32 bits, which
 * is what a futex compares. */
static inline int64_t slot_make_id(int rank, int index)
{
	return (((int64_t)rank << 16) | index) + 1;
}

static inline int slot_rank(int64_t id)
{
	return (int)(((id - 1) >> 16) & UINT32_MAX);
}

static inline uint64_t slot_offset(const struct lock_setup *s, int64_t id)
{
	return s->slots + (uint64_t)((id - 1) & 0xffff) * SLOT_BYTES;
}

/* The NEXT or STATUS word of any slot, of a pair. */
RMA_INLINE struct rma_word slot_next(const struct lock_setup *s, struct rma_client *c, int pair,
				     int64_t id)
{
	return rma_word(c->rma, pair == RMA_NET ? RMA_NET : RMA_NODE, slot_rank(id),
			slot_offset(s, id) + (uint64_t)pair * (SLOT_NEXT_NET - SLOT_NEXT_NODE));
}

RMA_INLINE struct rma_word slot_status(const struct lock_setup *s, struct rma_client *c, int pair,
				       int64_t id)
{
	return rma_word(c->rma, pair == RMA_NET ? RMA_NET : RMA_NODE, slot_rank(id),
			slot_offset(s, id) + (uint64_t)pair * (SLOT_NEXT_NET - SLOT_NEXT_NODE) +
			    SLOT_STATUS_NODE);
}

/* Set up a slot of r's process; all bytes are zero before. */
static inline void lock_slot_init(const struct lock_setup *s, struct lock_slot *slot, struct rma *r,
				  int index, int64_t *scratch)
{
	slot->id = slot_make_id(r->rank, index);
	slot->client.rma = r;
	slot->index = index;
	slot->scratch = scratch;
	for (int pair = 0; pair < SLOT_PAIRS; pair++) {
		slot->next[pair] = slot_next(s, &slot->client, pair, slot->id);
		slot->status[pair] = slot_status(s, &slot->client, pair, slot->id);
	}
}

/* keeps_out() of kinds that lock exactly the requested units. */
static inline bool lock_keeps_units(const struct lock_setup *s, const struct lock_slot *slot,
				    int64_t first, int64_t last)
{
	(void)s;
	return slot->first <= last && first <= slot->last;
}

#endif
