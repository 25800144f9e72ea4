/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots: the queue nodes of a process, claimed by a client for one lock from acquire to release.
 *
 * A slot is free, or claimed by a thread, or in one of the states below: held by no client, and
 * not free before the protocol says so.
 *
 *   free -> claimed -> free          the lock was acquired and released, or not acquired
 *   claimed -> LEFT -> free          released, when what was posted has settled
 *   claimed -> QUEUED -> free        the deadline has passed, when the place was passed over
 *              QUEUED -> claimed     the same client acquires the same lock in the same mode
 *   claimed -> ABANDONED -> free     the holder forgot the lock, when it was recovered
 *   claimed -> LOST                  a rank died; the slot never serves again
 */
#ifndef CLIENT_SLOTS_H
#define CLIENT_SLOTS_H

#include "lock/lock.h"

/* Which client has a slot: small and apart from the slots, for it is searched
 * at every acquire and release. */
struct slot_claim {
	_Atomic(uintptr_t) owner; /* 0: free */
	_Atomic(uint64_t) lock;   /* SLOTS_NO_LOCK unless claimed */
	_Atomic(uint64_t) place;  /* the lock in whose queue it is; SLOTS_QUEUED only */
	uint64_t uses;            /* claims so far: a pawl_range names one of them */
};

/* The clients of a process. threaded, by_process and can_fail are set by the owner of the set;
 * the rest by client_open(). */
struct client_set {
	const struct lock_space *space;
	struct slot_claim *claims;
	struct lock_slot *slots; /* [space->max_held] */
	_Atomic(int) top;        /* no slot from here on was ever claimed */
	bool threaded;           /* calls may come from several threads at a time */
	bool by_process;         /* a lock is not the thread's that acquired it */
	bool can_fail;           /* an operation of the transport may fail: guard.c */
	int64_t *scratch;        /* of all slots */
	struct rma *rma;
};

/* The general case of slots_find(). */
struct lock_slot *slots_find_any(struct client_set *set, uint64_t lock);

/* Whether this is the common case: threads are not told apart, and never was
 * more than one lock held at a time. Then there is nothing to search. */
static inline bool slots_one_only(const struct client_set *set)
{
	return !set->threaded && atomic_load_explicit(&set->top, memory_order_relaxed) == 1;
}

/* The owner of a claimed slot where threads are not told apart, and the states of slots that are
 * neither claimed nor free. No thread has such an address. */
enum {
	SLOTS_ONLY_OWNER = 1,
	SLOTS_ABANDONED = 2,
	SLOTS_LOST = 3,
	SLOTS_LEFT = 4,
	SLOTS_QUEUED = 5
};

/* Of a free slot, and of one whose claim is not complete; and of one that has a range,
 * of which there may be several in one space. */
#define SLOTS_NO_LOCK UINT64_MAX
#define SLOTS_RANGE (UINT64_MAX - 1)

static inline void slots_set_lock(struct slot_claim *claim, uint64_t lock)
{
	atomic_store_explicit(&claim->lock, lock, memory_order_relaxed);
}

/* Whether owner has claimed it for lock. */
static inline bool slots_is_of(const struct slot_claim *claim, uintptr_t owner, uint64_t lock)
{
	/* Where threads share an owner the claim may be another thread's, just made:
	 * orders its owner before its lock; pairs with slots_give_back(). */
	return atomic_load_explicit(&claim->owner, memory_order_acquire) == owner &&
	       atomic_load_explicit(&claim->lock, memory_order_relaxed) == lock;
}

/* Claim a slot for the calling thread and lock in the common case; NULL: not so simple. */
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

/* The general case. NULL with *code: PAWL_ERR_HELD if the thread has one for that lock,
 * CLIENT_NO_SLOT if all are taken. *code is LOCK_QUEUED if the slot is in the queue of that lock,
 * from an acquire in that mode whose deadline has passed; 0 for a mode: not such a one. */
struct lock_slot *slots_claim(struct client_set *set, uint64_t lock, int mode, int *code);
/* The same for a range, of which a thread may have several in one space. */
struct lock_slot *slots_claim_range(struct client_set *set, uint64_t space, int *code);

/* The slot with which the calling thread holds lock, or NULL. */
static inline struct lock_slot *slots_find(struct client_set *set, uint64_t lock)
{
	const struct slot_claim *first = set->claims;

	if (!slots_one_only(set))
		return slots_find_any(set, lock);
	return slots_is_of(first, SLOTS_ONLY_OWNER, lock) ? set->slots : NULL;
}

/* The slot of this index if it has a range of the calling thread since this claim; else NULL. */
struct lock_slot *slots_find_range(struct client_set *set, uint64_t index, uint64_t claim);
/* The other ranges that the calling thread has of the same space, one after the other: *i is 0 at
 * first; NULL after the last. */
const struct lock_slot *slots_next_range(const struct client_set *set, const struct lock_slot *slot,
					 int *i);

static inline void slots_give_back(struct client_set *set, struct lock_slot *slot)
{
	struct slot_claim *claim = &set->claims[slot->index];

	slots_set_lock(claim, SLOTS_NO_LOCK);
	/* Orders this client's use of the slot before the next claim of it, and the
	 * lock of this claim before the owner of that; pairs with the acquire in
	 * take() and slots_is_of(). */
	atomic_store_explicit(&claim->owner, 0, memory_order_release);
}

/* A claimed slot gets one of the states above. */
void slots_abandon(struct client_set *set, struct lock_slot *slot);
void slots_leave(struct client_set *set, struct lock_slot *slot);
void slots_queue(struct client_set *set, struct lock_slot *slot);
void slots_lose(struct client_set *set, struct lock_slot *slot);

/* Claim a slot that has been left, to wait for what it has posted; false: it is not such a one. */
bool slots_claim_left(struct client_set *set, int index);

/* Whether a slot is claimed. */
bool slots_is_claimed(const struct client_set *set, int index);

/* Slots that were ever claimed. */
static inline int slots_used(const struct client_set *set)
{
	return atomic_load_explicit(&set->top, memory_order_relaxed);
}

/* Before the first use of a slot: there may be thousands that are never used, and memory that is
 * not touched is not taken. */
void slots_prepare(struct client_set *set, int index);

#endif
