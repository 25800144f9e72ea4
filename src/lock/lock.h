/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a lock protocol sees, and what it has to provide.
 *
 * A protocol file includes this header (and those of protocols it is built
 * from), issues the operations of rma.h, and names the words it waits for. It
 * contains no MPI call, no waiting loop and no allocation in acquire or release.
 * An operation, a flush or a wait may not return (rma/transport.h, Failures): acquire, release and
 * the others are left where they stand, and the client's slot is lost. So they keep nothing that
 * would have to be given back.
 * To the rest of the library it is one descriptor, struct lock_protocol.
 */
#ifndef LOCK_LOCK_H
#define LOCK_LOCK_H

#include <pawl.h>

#include "lock/fault.h"
#include "lock/option.h"
#include "rma/rma.h"
#include "topo/topo.h"

/* ------------------------------------------------------------- parameters */

/* Passes within an element before the lock leaves it: T_L,i by kind of level. */
enum { LOCK_LEVEL_KINDS = TOPO_GANG + 1 };

/* ------------------------------------------------------------------ space */

enum lock_home { LOCK_HOME_BLOCK, LOCK_HOME_CYCLIC, LOCK_HOME_MAP };

/* The table as its protocol sees it: the same on every rank, so that thousands
 * of virtual ranks can share one. */
struct lock_space {
	const struct lock_protocol *protocol;
	const struct topo *topo;
	/* The values of the kind's own options, laid out as the kind says. */
	_Alignas(int64_t) unsigned char options[LOCK_OPTION_BYTES];
	uint64_t n; /* locks */
	enum lock_home home;
	uint64_t block;        /* locks a rank, the most */
	const uint64_t *homes; /* LOCK_HOME_MAP: rank << 40 | index, by lock */
	int max_held;
	uint64_t clients;       /* at one lock at a time, the most */
	enum rma_domain domain; /* of words that every rank may change: NODE on one node,
				   unless by_network */
	bool posts;             /* releases do not wait: the protocol has settled, and the
				   transport of NET words rma_post() */
	uint64_t slots;         /* offset of the queue nodes in every segment */
	uint64_t bytes;         /* of a segment, so far */
	void *state;            /* the protocol's constants, from its layout(); free()d */
};

/* For a kind to read as its own structure. */
RMA_INLINE const void *lock_options(const struct lock_space *s)
{
	return s->options;
}

/* Option lease, in microseconds; 0 also if the kind has none. */
int64_t lock_lease_us(const struct lock_space *s);
void lock_set_lease_us(struct lock_space *s, int64_t us);

/* ------------------------------------------------------------------ slots */

/* A queue node: one client at one lock. Its words are in the segment of its
 * process, a cache line each. NODE words are written by node peers (and read by
 * the owner), NET words through the transport. */
enum {
	SLOT_NEXT_NODE = 0,
	SLOT_STATUS_NODE = 8,
	SLOT_NEXT_NET = 16,
	SLOT_STATUS_NET = 24,
	SLOT_BYTES = 64
};
_Static_assert(SLOT_STATUS_NODE == SLOT_NEXT_NODE + 8 && SLOT_NEXT_NET == SLOT_STATUS_NODE + 8 &&
		   SLOT_STATUS_NET == SLOT_NEXT_NET + 8 && SLOT_STATUS_NET + 8 <= SLOT_BYTES,
	       "the words of a slot do not overlap and fit into it");
_Static_assert(RMA_HEADER_BYTES % SLOT_BYTES == 0, "slots are aligned to cache lines");

/* Room for what a family of protocols keeps in a slot. */
enum { LOCK_OWN_BYTES = 128 };

/* The private half of a slot: what all protocols have. */
struct lock_slot {
	int64_t id; /* (rank << 16 | index) + 1: how other ranks name it, never 0 */
	uint64_t lock;
	int index;                          /* of this slot in its process */
	int mode;                           /* PAWL_EXCLUSIVE, PAWL_SHARED, ... */
	struct rma_word next[2], status[2]; /* its words, by enum rma_domain */
	uint64_t deadline_ns;               /* of a timed acquire; 0: none */
	int64_t first, last;                /* of a range; kinds with PAWL_CAP_RANGES */
	bool others;                        /* its client has other ranges of this space */
	/* What its protocol keeps, zero at first: lock_own(), lock_scratch(). */
	_Alignas(int64_t) unsigned char own[LOCK_OWN_BYTES];
	int64_t *scratch;
	uint64_t acquires, aborts, recoveries;
	struct rma_client client;
};

/* For a family of protocols to read as its own structure; an assertion says that it fits. */
RMA_INLINE void *lock_own(struct lock_slot *slot)
{
	return slot->own;
}

/* The words that scratch_words() asked for, also as a structure of its own. */
RMA_INLINE void *lock_scratch(const struct lock_slot *slot)
{
	return slot->scratch;
}

/* Slot ids show in the low 32 bits when they differ from null, for futexes. */
static inline int64_t slot_make_id(int rank, int index)
{
	return (((int64_t)rank << 16) | index) + 1;
}

static inline int slot_rank(int64_t id)
{
	return (int)((id - 1) >> 16);
}

static inline uint64_t slot_offset(const struct lock_space *s, int64_t id)
{
	return s->slots + (uint64_t)((id - 1) & 0xffff) * SLOT_BYTES;
}

/* The NEXT or STATUS word of any slot in the given domain. */
RMA_INLINE struct rma_word slot_next(const struct lock_space *s, struct rma_client *c,
				     enum rma_domain d, int64_t id)
{
	return rma_word(c->rma, d, slot_rank(id),
			slot_offset(s, id) + (d == RMA_NODE ? SLOT_NEXT_NODE : SLOT_NEXT_NET));
}

RMA_INLINE struct rma_word slot_status(const struct lock_space *s, struct rma_client *c,
				       enum rma_domain d, int64_t id)
{
	return rma_word(c->rma, d, slot_rank(id),
			slot_offset(s, id) + (d == RMA_NODE ? SLOT_STATUS_NODE : SLOT_STATUS_NET));
}

/* A slot of the process that r belongs to, zeroed before. */
static inline void lock_slot_init(const struct lock_space *s, struct lock_slot *slot, struct rma *r,
				  int index, int64_t *scratch)
{
	slot->id = slot_make_id(r->rank, index);
	slot->client.rma = r;
	slot->client.target = RMA_NO_TARGET;
	slot->index = index;
	slot->scratch = scratch;
	for (int d = RMA_NODE; d <= RMA_NET; d++) {
		slot->next[d] = slot_next(s, &slot->client, (enum rma_domain)d, slot->id);
		slot->status[d] = slot_status(s, &slot->client, (enum rma_domain)d, slot->id);
	}
}

/* Of a kind that locks just the units asked for: keeps_out. */
static inline bool lock_keeps_units(const struct lock_space *s, const struct lock_slot *slot,
				    int64_t first, int64_t last)
{
	(void)s;
	return slot->first <= last && first <= slot->last;
}

/* ------------------------------------------------------------------ homes */

/* rank and index of a lock; division in 32 bits where that is enough, since
 * this is on the path of every acquire. */
RMA_INLINE void lock_home(const struct lock_space *s, uint64_t lock, int *rank, uint64_t *index)
{
	uint64_t by = s->home == LOCK_HOME_CYCLIC ? (uint64_t)s->topo->nranks : s->block, q, r;

	if (s->n == 1 && s->home != LOCK_HOME_MAP) {
		*rank = 0;
		*index = 0;
		return;
	}
	if (s->home == LOCK_HOME_MAP) {
		*rank = (int)(s->homes[lock] >> 40);
		*index = s->homes[lock] & ((UINT64_C(1) << 40) - 1);
		return;
	}
	if ((lock | by) >> 32) {
		q = lock / by;
		r = lock % by;
	} else {
		q = (uint32_t)lock / (uint32_t)by;
		r = (uint32_t)lock % (uint32_t)by;
	}
	*rank = (int)(s->home == LOCK_HOME_CYCLIC ? r : q);
	*index = s->home == LOCK_HOME_CYCLIC ? q : r;
}

/* A word at the home: stride bytes a lock from offset base on. */
RMA_INLINE struct rma_word lock_home_word(const struct lock_space *s, struct rma_client *c,
					  enum rma_domain d, uint64_t base, uint64_t stride,
					  uint64_t lock)
{
	uint64_t index;
	int rank;

	lock_home(s, lock, &rank, &index);
	return rma_word(c->rma, d, rank, base + index * stride);
}

/* Layout: take room for locks times bytes in every segment, 64-byte aligned. Where that is more
 * than any address space has, s->bytes stays above LOCK_MOST_BYTES, and no table comes of it. */
#define LOCK_MOST_BYTES (UINT64_C(1) << 48)
uint64_t lock_reserve(struct lock_space *s, uint64_t locks, uint64_t bytes);
/* Layout: whether a word that counts so many clients at a lock will do; if not, err says so. */
bool lock_has_room(const struct lock_space *s, uint64_t most, char *err, size_t errlen);
/* The same, of all slots of all ranks: kinds in which each may be at one word. */
bool lock_has_room_for_slots(const struct lock_space *s, uint64_t most, char *err, size_t errlen);

/* ------------------------------------------------------------- the simulator */

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
static inline int64_t *lock_memory_home(const struct lock_space *s, const struct lock_memory *m,
					uint64_t base, uint64_t stride, uint64_t lock)
{
	uint64_t index;
	int rank;

	lock_home(s, lock, &rank, &index);
	return lock_memory_word(m, rank, base + index * stride);
}

/* ------------------------------------------------------------- descriptor */

/* Codes that no caller of the library sees. Of release: done, but for the slot. Of acquire: the
 * deadline has passed, and the slot is still in a queue. Of resume: it is in none any more. */
enum { LOCK_LEFT = -1, LOCK_QUEUED = -2, LOCK_PASSED = -3 };
_Static_assert(LOCK_LEFT < 0 && LOCK_QUEUED < 0 && LOCK_PASSED < 0,
	       "no code of the library is negative");

/* What a kind can do beside acquire and release: a block each, NULL where it cannot. */

/* Deadlines (PAWL_CAP_TIMED): acquire returns PAWL_ERR_TIMEOUT when deadline_ns, if that is set, is
 * over; or LOCK_QUEUED: the same, and the slot is still in a queue. */
struct lock_timed_calls {
	/* A slot whose acquire returned LOCK_QUEUED, for the same lock and mode: acquire from the
	 * place that it still has in the queue. As acquire, also with no deadline; or
	 * LOCK_PASSED: the slot is free. Waits for nobody if deadline_ns is over. */
	int (*resume)(const struct lock_space *s, struct lock_slot *slot);
	/* Whether a slot whose acquire returned LOCK_QUEUED may serve again, for the client that
	 * released the lock has passed over it. It has when the lock was free once, or was
	 * recovered. May look, and issue operations, but not wait. */
	bool (*passed)(const struct lock_space *s, struct lock_slot *slot);
};
/* Of kinds that never return LOCK_QUEUED. */
#define LOCK_KEEPS_NO_PLACE (&(const struct lock_timed_calls){.resume = NULL})

/* Holders that die (PAWL_CAP_RECOVERS, option lease). */
struct lock_recovery_calls {
	/* The holder forgot this lock (pawl_lock_abandon): whether the slot may serve
	 * again, for the lock has been recovered and nobody will look at the slot's
	 * words on behalf of the past. Asked when slots are short, again and again until
	 * the answer is yes; lock, mode and the protocol's own part of the slot are as at
	 * the end of the acquire. May look, issue operations and change the slot, but
	 * not wait. */
	bool (*abandon)(const struct lock_space *s, struct lock_slot *slot);
	/* A client that is stopped for many leases in its release may do harm when it goes on, for
	 * what it sends changes words whatever has become of them. */
	bool blind_release;
};

/* Ranges of units in place of locks (PAWL_CAP_RANGES). */
struct lock_range_calls {
	/* Whether the range held in this slot keeps others out of some of these units, as if it
	 * were longer than it is. */
	bool (*keeps_out)(const struct lock_space *s, const struct lock_slot *slot, int64_t first,
			  int64_t last);
	/* Spaces that grow (pawl_range_grow), in a free slot; *units: how far the space reaches
	 * then. By any rank of the home while nobody has anything of it: be as small as
	 * units permits; every slot of the table forgets what it knew then. All NULL: they
	 * do not. */
	int (*grow)(const struct lock_space *s, struct lock_slot *slot, int64_t *units);
	void (*shrink)(const struct lock_space *s, struct lock_slot *slot, int64_t units);
	void (*forget)(const struct lock_space *s, struct lock_slot *slot);
};

/* Parts of a whole (PAWL_CAP_INTENT): whole with an intent and part exclusively or shared, and both
 * back. */
struct lock_part_calls {
	int (*acquire)(const struct lock_space *s, struct lock_slot *whole, struct lock_slot *part);
	void (*release)(const struct lock_space *s, struct lock_slot *whole,
			struct lock_slot *part);
};

/* What the simulator checks; a call that is NULL: nothing. */
struct lock_check_calls {
	/* Once a client waits for a word, the most exclusive acquires of others before its own, by
	 * the mode of that, as long as a release is over before the next one begins. */
	uint64_t (*overtakes)(const struct lock_space *s, int mode);
	/* Whether the words are as they should be while nobody holds or awaits the lock; if not,
	 * err says which. */
	bool (*idle)(const struct lock_space *s, uint64_t lock, const struct lock_memory *m,
		     char *err, size_t errlen);
	/* On words that are all zero, put counters of the lock that wrap next to their wrap. */
	void (*age)(const struct lock_space *s, uint64_t lock, const struct lock_memory *m);
};

/* Only of contestants that call MPI (mpi_win_lock.c, server.c). */
struct lock_mpi_calls {
	/* Objects of their own over the MPI_Comm that mpi_comm points to. Collective. close also
	 * undoes an open that failed. */
	int (*open)(struct lock_space *s, void *mpi_comm, char *err, size_t errlen);
	void (*close)(struct lock_space *s);
	/* MPI_Finalize has been called while the table lives: end what this rank has begun and
	 * that calls MPI by itself. Local; close may still follow. NULL: there is nothing. */
	void (*halt)(struct lock_space *s);
};

struct lock_protocol {
	/* Its capabilities agree with the blocks below: tests/unit/descriptors.c. */
	struct pawl_kind kind;
	/* Its own options, and LOCK_OPTIONS_END; NULL: none. */
	const struct option_spec *options;
	/* Choose the layout: lock_reserve() the words (all zero at first) of s->n locks, and put
	 * constants into s->state. A pure function of space; PAWL_ERR_*, with the
	 * sentence in err, if the parameters do not fit. */
	int (*layout)(struct lock_space *s, char *err, size_t errlen);
	/* Free what s->state points to, not s->state itself; NULL: nothing. */
	void (*destroy)(struct lock_space *s);
	/* The parameters in force, for people; NULL: none. */
	void (*describe)(const struct lock_space *s, char *text, size_t len);
	/* int64_t that a slot needs besides lock_own(), where there are many or the table says how
	 * many; NULL: none. */
	uint64_t (*scratch_words)(const struct lock_space *s);
	/* slot has lock and mode set, and of a range first and last. PAWL_SUCCESS, PAWL_ERR_BUSY
	 * (try_acquire; PAWL_CAP_TRY), or as struct lock_timed_calls says. */
	int (*acquire)(const struct lock_space *s, struct lock_slot *slot);
	int (*try_acquire)(const struct lock_space *s, struct lock_slot *slot);
	/* PAWL_SUCCESS; PAWL_ERR_LEASE_LOST (kinds with option lease) if others took
	 * the holder for dead. Either way the slot is free again; with LOCK_LEFT it is not before
	 * settled() says so. */
	int (*release)(const struct lock_space *s, struct lock_slot *slot);
	/* Whether a slot whose release returned LOCK_LEFT may serve again. May look, issue
	 * operations and drive the transport, but not wait. NULL: release does not return that. */
	bool (*settled)(const struct lock_space *s, struct lock_slot *slot);
	const struct lock_timed_calls *timed;
	const struct lock_recovery_calls *recover;
	const struct lock_range_calls *range;
	const struct lock_part_calls *part;
	const struct lock_check_calls *check;
	const struct lock_mpi_calls *mpi;
	/* Its words are NET words on one node too, and every access takes the way
	 * through the network: for baselines that do so. */
	bool by_network;
	/* rma_clock() has to be one clock for all ranks. */
	bool shares_clock;
};

/* Whether a slot may stay in a queue when its deadline is over. */
static inline bool lock_keeps_places(const struct lock_protocol *p)
{
	return p->timed && p->timed->passed;
}

#endif
