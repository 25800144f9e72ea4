/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Move the locks of a table to other homes.
 *
 * The ranks agree that no client has anything of the table. Then they make other segments, in which
 * all locks are free, for the new homes; take over what the program has put into the former words;
 * and replace the segments in place, so that the handle, its slots, counts and observers stay. An
 * acquire or a release knows nothing of this.
 *
 * Guarantees
 *   (A) All or nothing. Until all ranks have agreed that the new segments are complete, the table
 *       has the former ones; from there on no step can fail.
 *   (B) No client acts on the former words afterwards. All ranks are in this call, and each of them
 *       has completed what it has issued: an operation that is on its way belongs to a slot that is
 *       in use, or to a posted release, for which slots_settle_left() has waited. A holder that
 *       others take for dead has a slot in use, too, so the call is refused. Reads without the lock
 *       that have begun fail (api/read.c).
 *   (C) The words that are taken over, by their former home, are complete at the new one before
 *       any client uses the table: each has flushed before the agreement of (A).
 *   (D) Recoveries (table with a lease). The former home tries each lock: one that waits for its
 *       recovery, or that no holder has repaired, is refused. The others are in no need of a
 *       repair, which is what zero words say. Numbers for storage grow: the number that the lock
 *       has reached, term and all, becomes the TOKEN of its first life at the new home. Spaces with
 *       a lease are refused: after a recovery one may be kept from whole acquires for a time, which
 *       a try does not tell from one that waits for its recovery.
 *
 * Considered and not chosen: a word at the former home that sends clients on, so that a lock could
 * move by itself while others are held. Each kind would need such a value in its word and a look at
 * it wherever it reads that word, in all proofs; each node keeps a map of homes, which would have
 * to change under clients that have read it; and a word that clients may still come to is never
 * free again. A program that moves locks has a moment in which all ranks know that use has changed.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "client/events.h"
#include "rma/memory/segments.h"
#include "table/setup.h"
#include "table/table.h"

/* The other segments, and the client that writes to them. */
struct other {
	pawl_table table;
	struct rma_client client;
};

static int check(const pawl_table *t, pawl_home_fn *home)
{
	const struct lock_protocol *p = t->setup.protocol;

	if (!home)
		return error_set(PAWL_ERR_ARG, "home is a null pointer");
	if (p->mpi)
		return error_set(PAWL_ERR_UNSUPPORTED, "locks of %s keep their homes",
				 p->kind.name);
	if (t->ranges && t->setup.lives)
		return error_set(PAWL_ERR_UNSUPPORTED, "spaces of %s with a lease keep their homes",
				 p->kind.name);
	if (!client_is_whole(&t->clients))
		return error_set(
		    PAWL_ERR_PEER,
		    "the table (%s) has lost a slot: a call has ended with PAWL_ERR_PEER",
		    t->about);
	return PAWL_SUCCESS;
}

/* ----------------------------------------------------------------- what is taken over */

/* A word of this rank, of a lock that it was the home of. */
static int64_t look(const pawl_table *t, uint64_t offset)
{
	return atomic_load((_Atomic(int64_t) *)(void *)(t->rma.map[t->rma.rank] + offset));
}

/* Store a word at the new home. */
static void store(struct other *o, int rank, uint64_t offset, int64_t value)
{
	struct rma_word w = rma_word(&o->table.rma, o->table.setup.domain, rank, offset);

	if (value == 0)
		return;
	rma_put(&o->client, w, value);
	/* Orders the word before the agreement of all ranks; pairs with the first operation of any
	 * client on the new words: (C). */
	rma_flush(&o->client, w);
}

/* Words of a lock: `bytes` of them, from this rank's segment to that of the new home. */
static void copy(const pawl_table *t, struct other *o, uint64_t from, int rank, uint64_t to,
		 uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += sizeof(int64_t))
		store(o, rank, to + i, look(t, from + i));
}

/* With a slot that has the lock, the number of a hold: (D). */
static int64_t number_of(const pawl_table *t, struct lock_slot *slot, uint64_t index)
{
	int64_t term = t->setup.protocol->recover->life(&t->setup, slot).term;

	return life_earlier_numbers(term) +
	       look(t, t->setup.lives + index * LIFE_BYTES + LIFE_TOKEN);
}

/* Take a lock that nobody has, for the time of a look. */
static int try_lock(pawl_table *t, uint64_t lock, uint64_t index, int64_t *number)
{
	struct lock_slot before = {.id = 0}, *slot;
	int rc = PAWL_SUCCESS, released;

	slot = client_claim(&t->clients, lock, 0, NULL, &rc);
	if (!slot)
		return rc;
	client_copy_counts(&before, slot);
	rc = client_enter(&t->clients, slot, PAWL_SUCCESS, PAWL_EXCLUSIVE, NULL, 0, true);
	if (client_has_got(rc)) {
		*number = number_of(t, slot, index);
		released = client_release(&t->clients, slot);
		if (released != PAWL_SUCCESS)
			rc = released;
		slots_settle_left(&t->clients);
	}
	client_copy_counts(slot, &before);
	return rc;
}

static int take_number(pawl_table *t, uint64_t lock, uint64_t index, int64_t *number)
{
	int rc = try_lock(t, lock, index, number);

	if (rc == PAWL_SUCCESS)
		return rc;
	if (rc == PAWL_RECOVERED)
		return error_set(PAWL_ERR_BUSY,
				 "lock %llu%s was recovered, and what it protects is not repaired"
				 " yet (pawl_lock_consistent()): it keeps its home until then",
				 (unsigned long long)lock, t->of_name);
	if (rc == PAWL_ERR_BUSY)
		return error_set(
		    rc,
		    "lock %llu%s has not been recovered yet from a client that gave it up"
		    " or died: acquire it before its home changes",
		    (unsigned long long)lock, t->of_name);
	return call_refused(t, lock, rc);
}

static int take_over(pawl_table *t, struct other *o, uint64_t lock, uint64_t index)
{
	const struct lock_setup *from = &t->setup, *to = &o->table.setup;
	uint64_t there;
	int rank, rc = PAWL_SUCCESS;
	int64_t number = 0;

	lock_home(to, lock, &rank, &there);
	if (from->events)
		copy(t, o, from->events + index * EVENT_BYTES, rank,
		     to->events + there * EVENT_BYTES, EVENT_BYTES);
	if (from->names)
		copy(t, o, from->names + index * CLIENT_NAME_BYTES, rank,
		     to->names + there * CLIENT_NAME_BYTES, CLIENT_NAME_BYTES);
	if (from->lives)
		rc = take_number(t, lock, index, &number);
	if (rc == PAWL_SUCCESS && from->lives)
		store(o, rank, to->lives + there * LIFE_BYTES + LIFE_TOKEN, number);
	return rc;
}

/* All locks of which this rank was the home. */
static int take_over_all(pawl_table *t, struct other *o)
{
	const struct lock_setup *s = &t->setup;
	int rc = PAWL_SUCCESS, rank;
	uint64_t index;

	if (!s->events && !s->names && !s->lives)
		return PAWL_SUCCESS;
	for (uint64_t lock = 0; rc == PAWL_SUCCESS && lock < s->n; lock++) {
		lock_home(s, lock, &rank, &index);
		if (rank == t->rma.rank)
			rc = take_over(t, o, lock, index);
	}
	if (rc == PAWL_SUCCESS && o->client.failed)
		rc = error_set(PAWL_ERR_PEER, "an operation at a new home failed");
	return rc;
}

/* ---------------------------------------------------------------------- the segments */

static int make(const pawl_table *t, pawl_home_fn *home, void *arg, struct other *o)
{
	struct options options = t->options;
	pawl_table *f = &o->table;
	int rc;

	/* What the kind has accepted: the slots stay. */
	options.max_held = t->setup.max_held;
	options.held_given = true;
	memcpy(f->about, t->about, sizeof f->about);
	f->comm = t->comm;
	f->kept = t->kept;
	f->job = t->job;
	f->era = t->era;
	f->homes_win = MPI_WIN_NULL;
	f->clients.threaded = t->clients.threaded;
	f->clients.by_process = t->clients.by_process;
	rc = table_make_segments(f, t->setup.protocol, &options, t->setup.n, home, arg);
	if (rc != PAWL_SUCCESS)
		return rc;
	/* A lease may have been made longer. */
	memcpy(f->setup.options, t->setup.options, sizeof f->setup.options);
	o->client.rma = &f->rma;
	return PAWL_SUCCESS;
}

/* Collective. */
static void drop(struct other *o)
{
	rma_segments_free(&o->table.rma);
	setup_free(&o->table.setup);
	homes_free(&o->table);
}

/* From here on the table has the other segments, and o has those that it had. */
static void exchange(pawl_table *t, struct other *o)
{
	pawl_table *f = &o->table;
	const struct lock_setup setup = t->setup;
	const MPI_Win homes_win = t->homes_win;
	struct rma former;

	observe_before_move(t->observe);
	rma_progress_pause(t->progress);
	f->rma.waiting = t->rma.waiting;
	f->rma.first_rank = t->rma.first_rank;
	f->rma.clock = t->rma.clock;
	f->rma.outlives = t->rma.outlives;
	memcpy(&former, &t->rma, sizeof former);
	memcpy(&t->rma, &f->rma, sizeof former);
	memcpy(&f->rma, &former, sizeof former);
	t->setup = f->setup;
	f->setup = setup;
	t->homes_win = f->homes_win;
	f->homes_win = homes_win;
	t->moves++;
	client_begin_anew(&t->clients);
	t->bytes = f->bytes;
	rma_progress_go_on(t->progress, t->bytes);
	observe_after_move(t->observe, t->setup.board);
}

int pawl_table_rehome(pawl_table *t, pawl_home_fn *home, void *arg)
{
	struct other o = {.table = {.usable = false}};
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is null");
	rc = life_check(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	left_await(t, false);
	slots_settle_left(&t->clients);
	rc = table_check_idle(t, check(t, home), "pawl_table_rehome()");
	if (rc != PAWL_SUCCESS)
		return rc;
	/* Pairs with the first operation of another rank: a process performs none for segments that
	 * it has not got yet. */
	rc = table_agree(t->comm, make(t, home, arg, &o));
	if (rc == PAWL_SUCCESS)
		rc = table_agree(t->comm, take_over_all(t, &o));
	if (rc == PAWL_SUCCESS)
		exchange(t, &o);
	drop(&o);
	return rc;
}
