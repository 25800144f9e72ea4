/* SPDX-License-Identifier: BSD-3-Clause */
/* A table as the core sees it. */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include <mpi.h>
#include <pawl.h>

#include "locks/lock.h"
#include "rma/progress.h"
#include "rma/rma.h"
#include "topo/discover.h"

/* Which client has a slot: small and apart from the slots, for it is searched
 * at every acquire and release. */
struct slot_claim {
	_Atomic(uintptr_t) owner; /* 0: free */
	_Atomic(uint64_t) lock;   /* SLOTS_NO_LOCK unless claimed */
	_Atomic(uint64_t) place;  /* the lock in whose queue it is; SLOTS_QUEUED only */
	uint64_t uses;            /* claims so far: a pawl_range names one of them */
};

struct pawl_table {
	struct lock_space space;
	struct rma rma;
	uint64_t usable;  /* space.n; 0 if a call has to look closer: life.c */
	bool threaded;    /* calls may come from several threads at a time */
	bool ranges;      /* its kind has ranges, and no locks */
	bool by_process;  /* a lock is not the thread's that acquired it */
	_Atomic(int) top; /* no slot from here on was ever claimed */
	struct slot_claim *claims;
	struct lock_slot *slots; /* [space.max_held] */
	int64_t *scratch;        /* of all slots */
	MPI_Comm comm;
	struct topo_job job;
	struct rma_progress *progress; /* option progress=thread, over several nodes */
	MPI_Win homes_win;             /* LOCK_HOME_MAP: the map, in node memory */
	int64_t asked_lease_us;        /* if another one is in force; else 0 */
	char parameters[256];
	char self[128];   /* this rank, and */
	char name[96];    /* kind and number of locks, for messages */
	pawl_table *next; /* life.c: of the list of live tables; */
	bool in_session;  /* made without MPI_Init */
};

/* table.c ----------------------------------------------------------------- */

/* The worst code of all ranks. A rank that did well where another failed has
 * nothing to tell but that. Collective. */
int table_agree(MPI_Comm comm, int code);

/* PAWL_ERR_NOMEM on all ranks if a host has no room for a shared window of so many bytes of each of
 * its ranks; those may differ. Collective. */
int table_check_room(pawl_table *t, uint64_t bytes);

/* life.c ------------------------------------------------------------------ */

/* From here on calls may come; and from here on no more. */
void life_begin(pawl_table *t);
void life_end(pawl_table *t);

/* PAWL_ERR_MPI and the sentence in a forked child. */
int life_check_process(void);
/* The same, and after MPI_Finalize, of a table with usable = 0. */
int life_look(const pawl_table *t);
/* Whether a call may go on. */
static inline int life_check(const pawl_table *t)
{
	return __builtin_expect(t->usable != 0, 1) ? PAWL_SUCCESS : life_look(t);
}

/* Whether the MPI has ended before the table, and saying so on stderr. */
bool life_is_over(const pawl_table *t);
void life_name_late(const pawl_table *t);
/* agree.c ----------------------------------------------------------------- */

struct options;
/* Whether all ranks ask for the same table. Collective, and the same code on all. */
int table_agree_on(MPI_Comm comm, const struct options *o, const char *kind, uint64_t n,
		   bool homed);

/* range.c ----------------------------------------------------------------- */

/* Whether there is such a space. */
int range_check_space(const pawl_table *t, uint64_t id);
/* Whether the code says that a space cannot be recovered once more; then the sentence is set. */
bool range_no_room(uint64_t id, int code);

/* slots.c ----------------------------------------------------------------- */

/* The general case of slots_claim() and slots_find(). */
struct lock_slot *slots_claim_any(pawl_table *t, uint64_t lock, int mode, int *code);
struct lock_slot *slots_find_any(pawl_table *t, uint64_t lock);

/* Whether this is the common case: threads are not told apart, and never was
 * more than one lock held at a time. Then there is nothing to search. */
static inline bool slots_one_only(const pawl_table *t)
{
	return !t->threaded && atomic_load_explicit(&t->top, memory_order_relaxed) == 1;
}

/* Who holds a slot of a table whose threads are not told apart; and of a slot whose
 * holder forgot its lock, or lost it when a rank died, or has released it and not settled, or
 * whose deadline has passed and whose place in the queue has not. No thread has such an address. */
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

/* Claim a slot for the calling thread and lock; NULL with *code and the
 * thread's error set. *code is LOCK_QUEUED if it is one that is in the queue of that lock, from
 * an acquire in that mode whose deadline has passed; 0 for a mode: not such a one. */
static inline struct lock_slot *slots_claim(pawl_table *t, uint64_t lock, int mode, int *code)
{
	struct slot_claim *first = t->claims;
	struct lock_slot *slot = t->slots;

	if (!slots_one_only(t) || atomic_load_explicit(&first->owner, memory_order_relaxed))
		return slots_claim_any(t, lock, mode, code);
	atomic_store_explicit(&first->owner, SLOTS_ONLY_OWNER, memory_order_relaxed);
	slots_set_lock(first, lock);
	slot->lock = slot->client.lock = lock;
	return slot;
}

/* The slot with which the calling thread holds lock, or NULL. */
static inline struct lock_slot *slots_find(pawl_table *t, uint64_t lock)
{
	const struct slot_claim *first = t->claims;

	if (!slots_one_only(t))
		return slots_find_any(t, lock);
	return slots_is_of(first, SLOTS_ONLY_OWNER, lock) ? t->slots : NULL;
}

static inline void slots_give_back(pawl_table *t, struct lock_slot *slot)
{
	struct slot_claim *claim = &t->claims[slot->index];

	slots_set_lock(claim, SLOTS_NO_LOCK);
	/* Orders this client's use of the slot before the next claim of it, and the
	 * lock of this claim before the owner of that; pairs with the acquire in
	 * take() and slots_is_of(). */
	atomic_store_explicit(&claim->owner, 0, memory_order_release);
}

/* The same for ranges: named by range instead of a lock. */
struct lock_slot *slots_claim_range(pawl_table *t, uint64_t id, pawl_range *range, int *code);
struct lock_slot *slots_find_range(pawl_table *t, const pawl_range *range);
/* The other ranges that the calling thread has of the same space, one after the other: *i is 0 at
 * first; NULL after the last. */
const struct lock_slot *slots_next_range(const pawl_table *t, const struct lock_slot *slot, int *i);

/* Its lock is forgotten; the slot is not free before the protocol says so. */
void slots_abandon(pawl_table *t, struct lock_slot *slot);

/* Its lock is released; the slot is free when the protocol says that it has settled. */
void slots_leave(pawl_table *t, struct lock_slot *slot);
/* Until all that slots have issued was answered. */
void slots_settle(pawl_table *t);

/* Its deadline has passed; the slot is free when the protocol says that it was passed over. */
void slots_queue(pawl_table *t, struct lock_slot *slot);

/* Its acquire or release was given up, for a rank died; the slot is never free again. */
void slots_lose(pawl_table *t, struct lock_slot *slot);

/* Locks held or awaited by this process. */
int slots_in_use(const pawl_table *t);
/* Which: the first few, for people. */
void slots_tell(const pawl_table *t, char *text, size_t len);
/* Allocate them; false: out of memory. */
bool slots_create(pawl_table *t);
void slots_free(pawl_table *t);

/* guard.c ----------------------------------------------------------------- */

/* how(), or PAWL_ERR_PEER if a rank died that it needs. */
int guard_run(const struct lock_space *s, struct lock_slot *slot,
	      int (*how)(const struct lock_space *, struct lock_slot *));

static inline int guard_perform(pawl_table *t, struct lock_slot *slot,
				int (*how)(const struct lock_space *, struct lock_slot *))
{
	if (__builtin_expect(t->rma.ucx != NULL, 0))
		return guard_run(&t->space, slot, how);
	return how(&t->space, slot);
}

/* lease.c ----------------------------------------------------------------- */

/* Make the lease longer if it does not fit the machine. Collective. */
void lease_fit(pawl_table *t);
/* Say so in t->parameters. */
void lease_describe(pawl_table *t);

/* clock.c ----------------------------------------------------------------- */

/* Collective over t->comm: what rma_clock() needs to be that of all ranks. */
void clock_share(pawl_table *t);

/* homes.c ----------------------------------------------------------------- */

/* Collective over t->comm: build the map of a home function, and set
 * space.block. The same code on all ranks. */
int homes_create(pawl_table *t, pawl_home_fn *home, void *arg);
void homes_free(pawl_table *t);

#endif
