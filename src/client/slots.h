/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots: the queue nodes of a process. A client claims one for a lock, from acquire to release.
 *
 * A slot is free, claimed by a thread, or in one of the states below. In these no client holds it,
 * and the protocol decides when it may be used again.
 *
 *   free -> claimed -> free          the lock was acquired and released, or not acquired
 *   claimed -> LEFT -> free          released; free when all posted operations are answered
 *   claimed -> QUEUED -> free        the deadline has passed; free when the hand-over passes it
 *              QUEUED -> claimed     the same client acquires the same lock in the same mode again
 *   claimed -> ABANDONED -> free     the holder gave up the lock; free when the lock is recovered
 *   claimed -> LOST                  a rank died; the slot is never used again
 *   claimed -> ENDING -> ENDED       the thread has left its request; free when another thread has
 *                                    ended it
 */
#ifndef CLIENT_SLOTS_H
#define CLIENT_SLOTS_H

#include "lock/lock.h"

/* The client that has a slot. Claims are small and apart from the slots, because each acquire and
 * release searches them. */
struct slot_claim {
	_Atomic(uintptr_t) owner; /* 0: free; else a thread or a state, see below */
	_Atomic(uint64_t) lock;   /* SLOTS_NO_LOCK unless claimed */
	_Atomic(uint64_t) place;  /* the lock in whose queue it is; SLOTS_QUEUED only */
	_Atomic(uint64_t) uses;   /* number of claims so far; a pawl_range names one of them */
};

/* The clients of a process. The creator of the set sets threaded, by_process and can_fail; the rest
 * is set by client_open(). */
struct client_set {
	const struct lock_setup *setup;
	struct slot_claim *claims;
	struct lock_slot *slots; /* [setup->max_held] */
	_Atomic(int) top;        /* slots from this index on were never claimed */
	bool threaded;           /* calls may come from several threads at a time */
	bool by_process;  /* locks belong to the process, not to the thread that acquired them */
	bool can_fail;    /* an operation of the transport may fail: guard.c */
	int64_t *scratch; /* for all slots, a sparse_array() */
	uint64_t scratch_words;
	struct client_request **requests; /* [setup->max_held] by slot; NULL: it had none yet */
	struct rma *rma;
};

/* slots_find() in the general case. */
struct lock_slot *slots_find_any(struct client_set *set, uint64_t lock);

/* Whether the common case holds: threads are not told apart, and no more than one lock was ever
 * held at a time. Then no search is needed. */
static inline bool slots_one_only(const struct client_set *set)
{
	return !set->threaded && atomic_load_explicit(&set->top, memory_order_relaxed) == 1;
}

/* Values of owner: all threads together, and the states of slots that are neither claimed nor free.
 * No thread has such an address. */
enum {
	SLOTS_ONLY_OWNER = 1,
	SLOTS_ABANDONED = 2,
	SLOTS_LOST = 3,
	SLOTS_LEFT = 4,
	SLOTS_QUEUED = 5,
	SLOTS_ENDING = 6,
	SLOTS_ENDED = 7
};

/* Values of lock: the slot is free or its claim is not complete; the slot has a range. (A thread
 * may have several ranges in a space.) */
#define SLOTS_NO_LOCK UINT64_MAX
#define SLOTS_RANGE (UINT64_MAX - 1)
/* The thread has requested a range and does not hold it. */
#define SLOTS_RANGE_REQUESTED (UINT64_MAX - 2)
/* Added to lock: the same for a lock. No lock has such a number. */
#define SLOTS_REQUESTED (UINT64_C(1) << 62)

static inline void slots_set_lock(struct slot_claim *claim, uint64_t lock)
{
	/* Orders the count of this use before the end of the claim; pairs with count_claims(). */
	atomic_store_explicit(&claim->lock, lock, memory_order_release);
}

/* Only the client that has the slot counts. (slots_claim_only() does not: no other thread asks.) */
static inline void slots_count_use(struct slot_claim *claim)
{
	uint64_t n = atomic_load_explicit(&claim->uses, memory_order_relaxed);

	atomic_store_explicit(&claim->uses, n + 1, memory_order_relaxed);
}

static inline uint64_t slots_uses(const struct slot_claim *claim)
{
	return atomic_load_explicit(&claim->uses, memory_order_relaxed);
}

/* Whether owner has claimed the slot for lock. */
static inline bool slots_is_of(const struct slot_claim *claim, uintptr_t owner, uint64_t lock)
{
	/* Threads may share an owner, so the claim may be another thread's, just made: orders the
	 * load of its owner before that of its lock; pairs with slots_give_back(). */
	return atomic_load_explicit(&claim->owner, memory_order_acquire) == owner &&
	       atomic_load_explicit(&claim->lock, memory_order_relaxed) == lock;
}

/* Claim a slot in the common case. NULL: it is not the common case, or the slot is in use. */
static inline struct lock_slot *slots_claim_only(struct client_set *set, uint64_t lock)
{
	struct slot_claim *first = set->claims;
	struct lock_slot *slot = set->slots;

	if (!slots_one_only(set) || atomic_load_explicit(&first->owner, memory_order_relaxed))
		return NULL;
	atomic_store_explicit(&first->owner, SLOTS_ONLY_OWNER, memory_order_relaxed);
	slots_set_lock(first, lock);
	slot->lock = slot->client.lock = lock;
	return slot;
}

/* The general case. NULL: *code is PAWL_ERR_HELD if the thread has a slot for the lock, or
 * CLIENT_NO_SLOT if all slots are in use. Otherwise *code is LOCK_QUEUED if the slot is still in
 * the queue of the lock, after an acquire in the same mode whose deadline has passed. mode 0: never
 * resume. */
struct lock_slot *slots_claim(struct client_set *set, uint64_t lock, int mode, int *code);
/* The same for a range. A thread may have several ranges in a space. */
struct lock_slot *slots_claim_range(struct client_set *set, uint64_t space, int *code);

/* The slot with which the calling thread holds lock, in the common case, or NULL. */
static inline struct lock_slot *slots_find_only(struct client_set *set, uint64_t lock)
{
	return slots_one_only(set) && slots_is_of(set->claims, SLOTS_ONLY_OWNER, lock) ? set->slots
										       : NULL;
}

/* The slot with which the calling thread holds lock, or NULL. */
static inline struct lock_slot *slots_find(struct client_set *set, uint64_t lock)
{
	return slots_one_only(set) ? slots_find_only(set, lock) : slots_find_any(set, lock);
}

/* The slot at this index, if the calling thread has a range in it since this claim; else NULL. */
struct lock_slot *slots_find_range(struct client_set *set, uint64_t index, uint64_t claim);
/* Iterate over the other ranges that the calling thread has in the same space: *i starts at 0; NULL
 * after the last. */
const struct lock_slot *slots_next_range(const struct client_set *set, const struct lock_slot *slot,
					 int *i);

/* Whether another thread of the process has a slot for the lock; for messages. */
bool slots_has_other(const struct client_set *set, uint64_t lock);

static inline void slots_end_claim(struct slot_claim *claim)
{
	slots_set_lock(claim, SLOTS_NO_LOCK);
	/* Orders this client's use of the slot before the next claim of it, and the reset of lock
	 * before the reset of owner; pairs with the acquire in take() and slots_is_of(). */
	atomic_store_explicit(&claim->owner, 0, memory_order_release);
}

static inline void slots_give_back(struct client_set *set, struct lock_slot *slot)
{
	slots_end_claim(&set->claims[slot->index]);
}

/* The slot that slots_find_only() has found. */
static inline void slots_give_back_only(struct client_set *set)
{
	slots_end_claim(set->claims);
}

/* The slot at this index, if it is the calling thread's, for a request that it made in this claim;
 * else NULL. */
struct lock_slot *slots_find_request(struct client_set *set, uint64_t index, uint64_t claim);

/* Put a claimed slot into one of the states above. */
void slots_abandon(struct client_set *set, struct lock_slot *slot);
void slots_leave(struct client_set *set, struct lock_slot *slot);
void slots_queue(struct client_set *set, struct lock_slot *slot);
void slots_lose(struct client_set *set, struct lock_slot *slot);

/* Free a slot, or put it into state ENDED if it is ENDING. */
void slots_end(struct client_set *set, struct lock_slot *slot);

/* Put the calling thread's slot into state ENDING; and take it back. */
void slots_end_request(struct client_set *set, struct lock_slot *slot);
void slots_return_request(struct client_set *set, struct lock_slot *slot);

/* Wait until a claimed slot whose release returned LOCK_LEFT may be used again. PAWL_SUCCESS, or
 * that of a failed operation. */
int slots_settle(struct client_set *set, struct lock_slot *slot);

/* Wait until all slots in state LEFT may be used again; those of dead ranks are lost. */
void slots_settle_left(struct client_set *set);

/* Claim a slot in state LEFT, to wait for its posted operations. False: it is not in that state. */
bool slots_claim_left(struct client_set *set, int index);

bool slots_is_claimed(const struct client_set *set, int index);

/* The number of slots that were ever claimed. */
static inline int slots_used(const struct client_set *set)
{
	return atomic_load_explicit(&set->top, memory_order_relaxed);
}

/* Initialise a slot before its first use. There may be thousands that are never used; their memory
 * is never touched, so the system does not allocate it. */
void slots_prepare(struct client_set *set, int index);

#endif
