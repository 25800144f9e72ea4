/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptor of a protocol: all that the rest of the library knows of it.
 *
 * An operation, a flush or a wait may not return (rma/transport.h, Failures): acquire, release and
 * the others are left where they stand, and the client's slot is lost. So they keep nothing that
 * would have to be given back.
 */
#ifndef LOCK_PROTOCOL_H
#define LOCK_PROTOCOL_H

#include <pawl.h>

#include "lock/memory.h"
#include "lock/option.h"
#include "lock/slot.h"
#include "lock/setup.h"

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
	int (*resume)(const struct lock_setup *s, struct lock_slot *slot);
	/* Whether a slot whose acquire returned LOCK_QUEUED may serve again, for the client that
	 * released the lock has passed over it. It has when the lock was free once, or was
	 * recovered. May look, and issue operations, but not wait. */
	bool (*passed)(const struct lock_setup *s, struct lock_slot *slot);
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
	bool (*abandon)(const struct lock_setup *s, struct lock_slot *slot);
	/* A client that is stopped for many leases in its release may do harm when it goes on, for
	 * what it sends changes words whatever has become of them. */
	bool blind_release;
};

/* Ranges of units in place of locks (PAWL_CAP_RANGES). */
struct lock_range_calls {
	/* Whether the range held in this slot keeps others out of some of these units, as if it
	 * were longer than it is. */
	bool (*keeps_out)(const struct lock_setup *s, const struct lock_slot *slot, int64_t first,
			  int64_t last);
	/* Spaces that grow (pawl_range_grow), in a free slot; *units: how far the space reaches
	 * then. By any rank of the home while nobody has anything of it: be as small as
	 * units permits; every slot of the table forgets what it knew then. All NULL: they
	 * do not. */
	int (*grow)(const struct lock_setup *s, struct lock_slot *slot, int64_t *units);
	void (*shrink)(const struct lock_setup *s, struct lock_slot *slot, int64_t units);
	void (*forget)(const struct lock_setup *s, struct lock_slot *slot);
};

/* Parts of a whole (PAWL_CAP_INTENT): whole with an intent and part exclusively or shared, and both
 * back. */
struct lock_part_calls {
	int (*acquire)(const struct lock_setup *s, struct lock_slot *whole, struct lock_slot *part);
	void (*release)(const struct lock_setup *s, struct lock_slot *whole,
			struct lock_slot *part);
};

/* What the simulator checks; a call that is NULL: nothing. */
struct lock_check_calls {
	/* Once a client waits for a word, the most exclusive acquires of others before its own, by
	 * the mode of that, as long as a release is over before the next one begins. */
	uint64_t (*overtakes)(const struct lock_setup *s, int mode);
	/* Whether the words are as they should be while nobody holds or awaits the lock; if not,
	 * err says which. */
	bool (*idle)(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m,
		     char *err, size_t errlen);
	/* On words that are all zero, put counters of the lock that wrap next to their wrap. */
	void (*age)(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m);
};

/* Only of contestants that call MPI (mpi_win_lock.c, server.c). */
struct lock_mpi_calls {
	/* Objects of their own over the MPI_Comm that mpi_comm points to. Collective. close also
	 * undoes an open that failed. */
	int (*open)(struct lock_setup *s, void *mpi_comm, char *err, size_t errlen);
	void (*close)(struct lock_setup *s);
	/* MPI_Finalize has been called while the table lives: end what this rank has begun and
	 * that calls MPI by itself. Local; close may still follow. NULL: there is nothing. */
	void (*halt)(struct lock_setup *s);
};

struct lock_protocol {
	/* Its capabilities agree with the blocks below: tests/unit/descriptors.c. */
	struct pawl_kind kind;
	/* Its own options, and LOCK_OPTIONS_END; NULL: none. */
	const struct option_spec *options;
	/* Choose the layout: lock_reserve() the words (all zero at first) of s->n locks, and put
	 * constants into s->state. A pure function of s; PAWL_ERR_*, with the
	 * sentence in err, if the parameters do not fit. */
	int (*layout)(struct lock_setup *s, char *err, size_t errlen);
	/* Free what s->state points to, not s->state itself; NULL: nothing. */
	void (*destroy)(struct lock_setup *s);
	/* The parameters in force, for people; NULL: none. */
	void (*describe)(const struct lock_setup *s, char *text, size_t len);
	/* int64_t that a slot needs besides lock_own(), where there are many or the table says how
	 * many; NULL: none. */
	uint64_t (*scratch_words)(const struct lock_setup *s);
	/* slot has lock and mode set, and of a range first and last. PAWL_SUCCESS, PAWL_ERR_BUSY
	 * (try_acquire; PAWL_CAP_TRY), or as struct lock_timed_calls says. */
	int (*acquire)(const struct lock_setup *s, struct lock_slot *slot);
	int (*try_acquire)(const struct lock_setup *s, struct lock_slot *slot);
	/* PAWL_SUCCESS; PAWL_ERR_LEASE_LOST (kinds with option lease) if others took
	 * the holder for dead. Either way the slot is free again; with LOCK_LEFT it is not before
	 * settled() says so. */
	int (*release)(const struct lock_setup *s, struct lock_slot *slot);
	/* Whether a slot whose release returned LOCK_LEFT may serve again. May look, issue
	 * operations and drive the transport, but not wait. NULL: release does not return that. */
	bool (*settled)(const struct lock_setup *s, struct lock_slot *slot);
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
