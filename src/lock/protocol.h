/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor of a protocol: all that the rest of the library knows of it.
 *
 * An operation, a flush or a wait may not return (rma/transport.h, Failures). Then acquire, release
 * or another call ends where it is, and the client's slot is lost. So these calls keep nothing that
 * would have to be given back.
 */
#ifndef LOCK_PROTOCOL_H
#define LOCK_PROTOCOL_H

#include <pawl.h>

#include "lock/life.h"
#include "lock/memory.h"
#include "lock/option.h"
#include "lock/slot.h"
#include "lock/setup.h"

/* Codes that no caller of the library sees. From release: the lock is released, but the slot is
 * still in use. From acquire: the deadline has passed, and the slot is still in a queue. From
 * resume: the slot has left the queue. */
enum { LOCK_LEFT = -1, LOCK_QUEUED = -2, LOCK_PASSED = -3 };
_Static_assert(LOCK_LEFT < 0 && LOCK_QUEUED < 0 && LOCK_PASSED < 0,
	       "no code of the library is negative");

/* What a kind offers besides acquire and release: a block for each, NULL if it does not. */

/* Deadlines (PAWL_CAP_TIMED). acquire returns PAWL_ERR_TIMEOUT when deadline_ns, if set, has
 * passed; or LOCK_QUEUED: the same, and the slot is still in a queue. */
struct lock_timed_calls {
	/* For a slot whose acquire returned LOCK_QUEUED, with the same lock and mode: acquire from
	 * the place that it still has in the queue. Also called without a deadline. Returns what
	 * acquire returns; or LOCK_PASSED: the slot is free. Does not wait if deadline_ns has
	 * passed. */
	int (*resume)(const struct lock_setup *s, struct lock_slot *slot);
	/* Whether a slot whose acquire returned LOCK_QUEUED may be used again: a client that
	 * released the lock has passed over it. This is so once the lock has been free, or was
	 * recovered. May look and issue operations, but not wait. */
	bool (*passed)(const struct lock_setup *s, struct lock_slot *slot);
};
/* For kinds that never return LOCK_QUEUED. */
#define LOCK_KEEPS_NO_PLACE (&(const struct lock_timed_calls){.resume = NULL})

/* Holders that die (PAWL_CAP_RECOVERS, option lease). */
struct lock_recovery_calls {
	/* The holder has forgotten this lock (pawl_lock_abandon). Whether the slot may be used
	 * again: the lock has been recovered, and no client will look at the slot's words on
	 * account of this acquire. Called when slots are short, until it returns true; lock, mode
	 * and the protocol's part of the slot are as at the end of the acquire. May look, issue
	 * operations and change the slot, but not wait. */
	bool (*abandon)(const struct lock_setup *s, struct lock_slot *slot);
	/* A client that is stopped for many leases in its release may do harm when it continues:
	 * its release changes words without a look whether they have been reused. */
	bool unchecked_release;
	/* In which life of the lock the slot holds it. acquire, try_acquire and resume then return
	 * PAWL_RECOVERED in place of PAWL_SUCCESS while life_is_told(). NULL: the kind does not
	 * tell. */
	struct lock_life (*life)(const struct lock_setup *s, struct lock_slot *slot);
};

/* Ranges of units in place of locks (PAWL_CAP_RANGES). */
struct lock_range_calls {
	/* Whether the range held in this slot excludes other clients from some of these units, as
	 * if it were longer than it is. */
	bool (*keeps_out)(const struct lock_setup *s, const struct lock_slot *slot, int64_t first,
			  int64_t last);
	/* Spaces that grow (pawl_range_grow). All three are NULL if they do not. grow: in a free
	 * slot; *units becomes the number of units that the space then has. shrink: to the smallest
	 * size that units permits; called by the home, while no client has anything of the space.
	 * forget: every slot of the table forgets what it knew of the space. */
	int (*grow)(const struct lock_setup *s, struct lock_slot *slot, int64_t *units);
	void (*shrink)(const struct lock_setup *s, struct lock_slot *slot, int64_t units);
	void (*forget)(const struct lock_setup *s, struct lock_slot *slot);
};

/* Parts of a whole (PAWL_CAP_INTENT): acquire the whole with an intent and the part exclusively or
 * shared, and release both. */
struct lock_part_calls {
	/* PAWL_ERR_TIMEOUT: the deadline, the same in both slots, has passed, and neither is held.
	 * Member code of each slot has what its acquire returned, or its release. */
	int (*acquire)(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part);
	/* PAWL_SUCCESS, or LOCK_LEFT for both slots. */
	int (*release)(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part);
};

/* A try and a release in two steps each, so that a client can issue those of several locks before
 * it waits for the first answer. Between the two steps of a slot the client issues no other
 * operation with it, and waits for no other client. */
struct lock_many_calls {
	/* Issue operations that take the lock if it is free, and change nothing that other clients
	 * see if it is not. PAWL_SUCCESS. */
	int (*post)(const struct lock_setup *s, struct lock_slot *slot);
	/* Complete them: as try_acquire. */
	int (*look)(const struct lock_setup *s, struct lock_slot *slot);
	/* The same for a release: PAWL_SUCCESS; then as release. */
	int (*post_release)(const struct lock_setup *s, struct lock_slot *slot);
	int (*end_release)(const struct lock_setup *s, struct lock_slot *slot);
};

/* Optimistic reads (PAWL_CAP_OPTIMISTIC): looks that change no word. */
struct lock_read_calls {
	/* The look before a read. PAWL_SUCCESS: slot->first has what validate needs.
	 * PAWL_ERR_BUSY: an exclusive client has or awaits the lock. May look again for a moment,
	 * but not wait. */
	int (*begin)(const struct lock_setup *s, struct lock_slot *slot);
	/* The look after it; the slot may be another one, with the same first. PAWL_SUCCESS: no
	 * exclusive client was in between the looks. PAWL_ERR_BUSY: one may have been. */
	int (*validate)(const struct lock_setup *s, struct lock_slot *slot);
};

/* Changes of the mode in which a slot holds its lock (PAWL_CAP_UPGRADE). */
struct lock_change_calls {
	/* From shared to exclusive. PAWL_ERR_BUSY: another holder does that already; or
	 * PAWL_ERR_TIMEOUT, as of acquire: the lock is held shared, as before. */
	int (*upgrade)(const struct lock_setup *s, struct lock_slot *slot);
	/* From exclusive to shared. No exclusive client is in meanwhile. PAWL_SUCCESS. */
	int (*downgrade)(const struct lock_setup *s, struct lock_slot *slot);
};

/* What the simulator checks. NULL: the protocol has no such check. */
struct lock_check_calls {
	/* Once a client waits for a word: the largest number of exclusive acquires by others before
	 * its acquire, which has this mode, provided that each release ends before the next one
	 * begins. */
	uint64_t (*overtakes)(const struct lock_setup *s, int mode);
	/* Whether the words are right while no client holds or awaits the lock; if not, err says
	 * which word is wrong. */
	bool (*idle)(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		     char *err, size_t errlen);
	bool idle_together; /* idle() also looks at words that the locks of a table share */
	/* How many spare copies of locks are taken at all homes: each of them has replaced another
	 * copy, unless a client died that had taken one. */
	uint64_t (*spares)(const struct lock_setup *s, const struct lock_memory *m);
	/* On words that are all zero: set the lock's counters that wrap to just before their
	 * wrap. */
	void (*age)(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);
};

/* overtakes() of a queue, or of tickets: each other client is ahead once at most. */
static inline uint64_t lock_others(const struct lock_setup *s, int mode)
{
	(void)mode;
	return lock_all_slots(s) - 1;
}

/* For contestants that call MPI (mpi_win_lock.c, server.c). */
struct lock_mpi_calls {
	/* Create objects over the MPI_Comm that mpi_comm points to. Collective. close also undoes
	 * an open that failed. */
	int (*open)(struct lock_setup *s, void *mpi_comm, char *err, size_t errlen);
	void (*close)(struct lock_setup *s);
	/* The program has called MPI_Finalize while the table exists: stop everything of this rank
	 * that calls MPI by itself. Local; close may still follow. NULL: there is nothing to
	 * stop. */
	void (*halt)(struct lock_setup *s);
	/* Clients ask servers, of whose threads the simulator knows the times (sim/servers.c). */
	bool by_server;
};

struct lock_protocol {
	/* Its capabilities agree with the blocks below (tests/unit/descriptors.c). */
	struct pawl_kind kind;
	/* Another protocol of the same kind, with the same options, for tables of several nodes;
	 * NULL: this one is for all. */
	const struct lock_protocol *nodes;
	/* The kind's options, ended by LOCK_OPTIONS_END; NULL: none. */
	const struct option_spec *options;
	/* Bytes that each lock has at its home, all zero at first, from s->words on; 0: layout()
	 * reserves what locks have. */
	uint64_t home_bytes;
	/* Bytes of s->state, all zero at first; 0: the kind has no constants. */
	size_t state_bytes;
	/* The most clients at a lock at a time, or slots of all ranks, that the words can count; 0:
	 * all. A table that may have more is refused. */
	uint64_t most_clients, most_slots;
	/* Choose the layout: lock_reserve() the other words of s->n locks, and fill in s->state. A
	 * pure function of s. PAWL_ERR_*, with a message in err, if the parameters do not fit.
	 * NULL: the fields above say all. */
	int (*layout)(struct lock_setup *s, char *err, size_t errlen);
	/* Free what s->state points to, but not s->state, also after a failed layout(); NULL:
	 * nothing. */
	void (*destroy)(struct lock_setup *s);
	/* Print the parameters in force, for people; NULL: none. */
	void (*describe)(const struct lock_setup *s, char *text, size_t len);
	/* Number of int64_t that a slot needs besides lock_own(), if they are many or depend on the
	 * table; NULL: none. */
	uint64_t (*scratch_words)(const struct lock_setup *s);
	/* lock and mode of the slot are set, and first and last for a range. PAWL_SUCCESS,
	 * PAWL_RECOVERED (struct lock_recovery_calls), PAWL_ERR_BUSY (try_acquire; PAWL_CAP_TRY),
	 * or as at struct lock_timed_calls. */
	int (*acquire)(const struct lock_setup *s, struct lock_slot *slot);
	int (*try_acquire)(const struct lock_setup *s, struct lock_slot *slot);
	/* PAWL_SUCCESS; or PAWL_ERR_LEASE_LOST (kinds with option lease) if other clients took the
	 * holder for dead. In both cases the slot is free again. LOCK_LEFT: the lock is released,
	 * and the slot is free when settled() returns true. */
	int (*release)(const struct lock_setup *s, struct lock_slot *slot);
	/* Whether a slot whose release returned LOCK_LEFT may be used again. May look, issue
	 * operations and drive the transport, but not wait. NULL: release never returns
	 * LOCK_LEFT. */
	bool (*settled)(const struct lock_setup *s, struct lock_slot *slot);
	/* The words do not tell a holder from a client whose release is posted. A try that finds
	 * the lock taken waits for the releases of its own process, and tries once more. */
	bool posts_unmarked;
	const struct lock_timed_calls *timed;
	const struct lock_recovery_calls *recover;
	const struct lock_range_calls *range;
	const struct lock_part_calls *part;
	/* NULL: several locks are acquired one after the other. */
	const struct lock_many_calls *many;
	const struct lock_read_calls *read;
	const struct lock_change_calls *change;
	const struct lock_check_calls *check;
	const struct lock_mpi_calls *mpi;
	/* Its words are NET words on one node too, so that every access goes through the network:
	 * for baselines. */
	bool by_network;
	/* All ranks have to share one rma_clock(). */
	bool shares_clock;
	/* A call that acquires begins with operations at the lock's home; before it changes any
	 * other word than those of its slot, it sets rma_client.inside. So until then it can end if
	 * that rank cannot be reached. */
	bool first_at_home;
};

/* Whether a slot may still be in a queue after its deadline. */
static inline bool lock_keeps_places(const struct lock_protocol *p)
{
	return p->timed && p->timed->passed;
}

/* settled() of a kind whose posted operations have no results: all of the slot's are answered. */
static inline bool lock_is_answered(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return rma_answered(&slot->client, lock_own(slot));
}

/* Complete the operations that a release has issued at w's rank, whose answers decide nothing, or
 * leave them on their way. PAWL_SUCCESS or LOCK_LEFT. */
RMA_INLINE int lock_end_release(const struct lock_setup *s, struct lock_slot *slot,
				struct rma_word w)
{
	if (s->posts && rma_post(&slot->client, w))
		return LOCK_LEFT;
	/* Orders the operations before the return; pairs with the looks of clients that wait. */
	rma_flush(&slot->client, w);
	return PAWL_SUCCESS;
}

#endif
