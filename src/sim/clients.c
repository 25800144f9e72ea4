/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual ranks acquire and release. Who holds what is kept here, apart from the
 * words of the lock, so that two holders are seen whenever there are two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

void sim_begin_wait(struct sim_rank *r)
{
	if (!r->mode || r->holding || r->waited)
		return;
	r->waited = true;
	r->seen = r->world->locks[r->lock].exclusive;
}

static const char *mode_name(int mode)
{
	if (mode & PAWL_INTENT)
		return mode & PAWL_AHEAD ? "intent exclusive, ahead" : "intent exclusive";
	if (mode & PAWL_INTENT_SHARED)
		return mode & PAWL_AHEAD ? "intent shared, ahead" : "intent shared";
	return mode == PAWL_EXCLUSIVE ? "exclusive" : "shared";
}

/* Between its beginning to wait and its grant, others came before. */
static void check_overtakes(struct sim_rank *r)
{
	struct sim_world *w = r->world;
	const struct lock_protocol *p = w->request.protocol;
	uint64_t passed, most;

	if (!r->waited)
		return;
	passed = w->locks[r->lock].exclusive - r->seen;
	if (passed > w->most_overtakes)
		w->most_overtakes = passed;
	if (!p->overtakes || !w->request.paced)
		return;
	most = p->overtakes(&w->space, r->mode);
	if (passed > most)
		sim_fail(w, SIM_STARVED,
			 "overtaking: rank %d waited (%s) while lock %llu was granted %llu times to"
			 " writers; at most %llu can be",
			 r->id, mode_name(r->mode), (unsigned long long)r->lock,
			 (unsigned long long)passed, (unsigned long long)most);
}

static int *holders(struct sim_lock *l, int mode)
{
	if (mode & PAWL_INTENT)
		return &l->intents;
	if (mode & PAWL_INTENT_SHARED)
		return &l->intents_shared;
	return mode == PAWL_EXCLUSIVE ? &l->writers : &l->readers;
}

/* Whether holders are in that must not be in with this mode. */
static bool in_conflict(const struct sim_lock *l, int mode)
{
	bool exclusive = mode == PAWL_EXCLUSIVE;

	return l->writers || (l->readers && (exclusive || (mode & PAWL_INTENT))) ||
	       (l->intents && (exclusive || mode == PAWL_SHARED)) ||
	       (l->intents_shared && exclusive);
}

static bool has_ranges(const struct sim_world *w)
{
	return w->request.protocol->kind.capabilities & PAWL_CAP_RANGES;
}

/* Who holds for long may be taken for dead, if the lock has leases. How long a lease
 * is in the end is the kind's; a quarter of it is sure. */
static bool outstays(const struct sim_rank *r)
{
	uint64_t lease = r->world->request.lease_ns;

	return lease && engine_now() - r->granted >= lease * SIM_NS / 4;
}

/* Of a holder and a rank that cannot hold with it, the holder has lost the lock: its acquire
 * returned first, and it outstays its lease. Nobody is given up in a quarter of a lease from the
 * return, so the rank whose acquire returned last got the lock after the other was given up, even
 * if it was stopped before it is counted here. */
static bool loses_to(const struct sim_rank *r, const struct sim_rank *by)
{
	return r->granted <= by->granted && outstays(r);
}

/* Another rank that holds some of the units, and does not share them; NULL: nobody. */
static struct sim_rank *overlapping(const struct sim_rank *r)
{
	struct sim_world *w = r->world;

	for (int id = 0; id < w->request.ranks; id++) {
		struct sim_rank *other = &w->ranks[id];

		if (other != r && other->counted && other->lock == r->lock &&
		    !(other->mode == PAWL_SHARED && r->mode == PAWL_SHARED) &&
		    other->slot.first <= r->slot.last && r->slot.first <= other->slot.last)
			return other;
	}
	return NULL;
}

/* Whether it has its units: a rank that was stopped before its acquire returned may have lost them
 * to another. */
static bool check_ranges(struct sim_rank *r)
{
	struct sim_rank *other;

	sim_note(r, "has units %lld to %lld", (long long)r->slot.first, (long long)r->slot.last);
	/* Who outstayed its lease has lost its units; its release has to tell it so. */
	while ((other = overlapping(r)) && loses_to(other, r)) {
		--*holders(&r->world->locks[r->lock], other->mode);
		other->counted = false;
		sim_note(other, "has lost its units to rank %d", r->id);
	}
	if (other && !outstays(r))
		sim_fail(
		    r->world, SIM_VIOLATION,
		    "an overlap: rank %d got units %lld to %lld of space %llu while rank %d has"
		    " %lld to %lld",
		    r->id, (long long)r->slot.first, (long long)r->slot.last,
		    (unsigned long long)r->lock, other->id, (long long)other->slot.first,
		    (long long)other->slot.last);
	return !other;
}

/* Whoever is in the way of this grant and has outstayed its lease has lost the lock; its
 * release has to tell it so. */
static void take_from(struct sim_rank *by)
{
	struct sim_world *w = by->world;

	for (int id = 0; id < w->request.ranks; id++) {
		struct sim_rank *r = &w->ranks[id];

		if (!r->counted || r->lock != by->lock || !loses_to(r, by))
			continue;
		--*holders(&w->locks[r->lock], r->mode);
		r->counted = false;
		sim_note(r, "has lost lock %llu to rank %d", (unsigned long long)r->lock, by->id);
	}
}

/* The same of a lock. */
static bool check_lock(struct sim_rank *r)
{
	struct sim_world *w = r->world;
	struct sim_lock *l = &w->locks[r->lock];

	if (in_conflict(l, r->mode))
		take_from(r);
	if (!in_conflict(l, r->mode))
		return true;
	if (!outstays(r))
		sim_fail(w, SIM_VIOLATION,
			 "two holders: rank %d got lock %llu (%s) while %d writers, %d readers,"
			 " %d intents exclusive and %d intents shared have it, the last of them"
			 " rank %d",
			 r->id, (unsigned long long)r->lock, mode_name(r->mode), l->writers,
			 l->readers, l->intents, l->intents_shared, l->last);
	return false;
}

static void granted(struct sim_rank *r)
{
	struct sim_world *w = r->world;
	struct sim_lock *l = &w->locks[r->lock];

	check_overtakes(r);
	r->holding = true;
	r->slot.acquires++;
	w->acquires++;
	sim_note(r, "HOLDS lock %llu, %s", (unsigned long long)r->lock, mode_name(r->mode));
	r->counted = has_ranges(w) ? check_ranges(r) : check_lock(r);
	if (r->counted) {
		++*holders(l, r->mode);
		l->last = r->id;
	} else {
		sim_note(r, "had lost it before its acquire returned");
	}
	l->exclusive += r->mode == PAWL_EXCLUSIVE;
	sim_step(r);
}

/* ------------------------------------------------------------------ other slots */

enum { RETRY_FORGOTTEN_NS = 100000, RETRY_LEFT_NS = 100 };

/* Until the slots are asked again: the longer, the more often they were. */
static void retry_later(struct sim_rank *r, uint64_t *ns)
{
	sim_sleep(r, *ns * SIM_NS);
	if (*ns < RETRY_FORGOTTEN_NS)
		*ns *= 2;
}

/* Whether a slot can be had: it is free, or has settled, or was passed over, or its forgotten
 * lock has been recovered. */
static bool is_usable(struct sim_rank *r, int index)
{
	const struct lock_space *s = &r->world->space;
	const struct lock_protocol *p = s->protocol;
	struct lock_slot *slot = &r->parked[index];

	if (r->parking[index] == SIM_LEFT)
		return p->settled(s, slot);
	if (r->parking[index] == SIM_QUEUED)
		return p->passed(s, slot);
	return r->parking[index] == SIM_FREE || (p->abandon && p->abandon(s, slot));
}

static void make_room(struct sim_rank *r)
{
	size_t slots = (size_t)r->world->space.max_held;

	if (r->parked)
		return;
	r->parked = calloc(slots, sizeof *r->parked);
	r->parking = calloc(slots, sizeof *r->parking);
	if (!r->parked || !r->parking)
		abort();
}

/* Put the slot away, and take another. What was counted goes on to be. */
static void change_slot(struct sim_rank *r, enum sim_parking why)
{
	struct sim_world *w = r->world;
	int slots = w->space.max_held, i = 0;
	struct rma_client *was = &r->slot.client;
	struct lock_slot next;
	uint64_t retry_ns = why == SIM_FORGOTTEN ? RETRY_FORGOTTEN_NS : RETRY_LEFT_NS;

	make_room(r);
	r->parked[r->slot.index] = r->slot;
	r->parking[r->slot.index] = why;
	while (!is_usable(r, i))
		if (++i == slots) {
			i = 0;
			retry_later(r, &retry_ns);
		}
	next = r->parked[i];
	if (r->parking[i] == SIM_FREE) {
		memset(&next, 0, sizeof next);
		lock_slot_init(&w->space, &next, &r->rma, i, sim_scratch(r, i));
	}
	memcpy(next.client.count, was->count, sizeof was->count);
	next.client.waits = was->waits;
	next.acquires = r->slot.acquires;
	next.aborts = r->slot.aborts;
	next.recoveries = r->slot.recoveries;
	r->parking[i] = SIM_FREE;
	r->left = r->queued = false;
	r->slot = next;
}

static void put_away(struct sim_rank *r)
{
	if (r->left || r->queued)
		change_slot(r, r->left ? SIM_LEFT : SIM_QUEUED);
}

void sim_forget(struct sim_rank *r)
{
	struct sim_world *w = r->world;

	if (r->counted)
		--*holders(&w->locks[r->lock], r->mode);
	r->counted = r->holding = false;
	r->mode = 0;
	w->deaths++;
	sim_note(r, "forgets lock %llu", (unsigned long long)r->lock);
	change_slot(r, SIM_FORGOTTEN);
}

void sim_settle(struct sim_rank *r)
{
	uint64_t retry_ns = RETRY_LEFT_NS;

	put_away(r);
	for (int i = 0; r->parked && i < r->world->space.max_held; i++)
		while (r->parking[i] != SIM_FREE && r->parking[i] != SIM_FORGOTTEN &&
		       !is_usable(r, i))
			retry_later(r, &retry_ns);
}

/* -------------------------------------------------------------- acquire, release */

/* Whether the rank goes on from the place that its slot has; else it takes another slot. */
static bool resumes(struct sim_rank *r, uint64_t lock, int mode)
{
	if (r->queued && r->world->request.protocol->resume && r->slot.lock == lock &&
	    r->slot.mode == mode && sim_below(&r->random, 2))
		return true;
	put_away(r);
	return false;
}

static int perform(struct sim_rank *r, enum sim_how how, bool from_place)
{
	const struct lock_protocol *p = r->world->request.protocol;
	const struct lock_space *s = &r->world->space;
	struct lock_slot *slot = &r->slot;
	uint64_t deadline = slot->deadline_ns;
	int rc = LOCK_PASSED;

	if (from_place) {
		slot->deadline_ns = how == SIM_TRY ? 1 : deadline;
		rc = p->resume(s, slot);
		slot->deadline_ns = deadline;
	}
	if (rc == LOCK_PASSED)
		rc = (how == SIM_TRY ? p->try_acquire : p->acquire)(s, slot);
	r->queued = rc == LOCK_QUEUED;
	if (r->queued || (from_place && rc == PAWL_ERR_TIMEOUT))
		rc = how == SIM_TRY ? PAWL_ERR_BUSY : PAWL_ERR_TIMEOUT;
	if (rc == PAWL_ERR_TIMEOUT && engine_now() < deadline * SIM_NS)
		sim_fail(r->world, SIM_MISUSE, "rank %d: its time is not over yet", r->id);
	return rc;
}

int sim_acquire(struct sim_rank *r, uint64_t lock, int mode, enum sim_how how, uint64_t ns)
{
	static const char *const names[] = {"acquires", "tries", "acquires in time"};
	struct sim_world *w = r->world;
	bool from_place = resumes(r, lock, mode);
	struct lock_slot *slot = &r->slot;
	int rc;

	slot->lock = slot->client.lock = r->lock = lock;
	slot->mode = r->mode = mode;
	slot->deadline_ns = how == SIM_TIMED ? engine_now() / SIM_NS + ns + 1 : 0;
	r->waited = r->holding = false;
	r->began = engine_now();
	sim_note(r, "%s lock %llu, %s%s", names[how], (unsigned long long)lock, mode_name(mode),
		 from_place ? ", in the place that it has" : "");
	rc = perform(r, how, from_place);
	if (rc == PAWL_SUCCESS) {
		/* From here on its lease runs, though the acquire has yet to return. */
		r->granted = engine_now();
		sim_nap(r);
		granted(r);
		return rc;
	}
	r->mode = 0;
	sim_note(r, "%s%s", rc == PAWL_ERR_BUSY ? "is told that it is busy" : "runs out of time",
		 r->queued ? ", and stays in the queue" : "");
	if ((rc == PAWL_ERR_BUSY && how != SIM_TRY) ||
	    (rc == PAWL_ERR_TIMEOUT && how != SIM_TIMED) ||
	    (rc != PAWL_ERR_BUSY && rc != PAWL_ERR_TIMEOUT))
		sim_fail(w, SIM_MISUSE, "rank %d: an acquire must not return %d", r->id, rc);
	sim_step(r);
	return rc;
}

int sim_acquire_range(struct sim_rank *r, uint64_t space, int64_t first, int64_t last, int mode,
		      enum sim_how how, uint64_t ns)
{
	r->slot.first = first;
	r->slot.last = last;
	sim_note(r, "wants units %lld to %lld", (long long)first, (long long)last);
	return sim_acquire(r, space, mode, how, ns);
}

void sim_release(struct sim_rank *r)
{
	struct sim_lock *l = &r->world->locks[r->lock];
	bool lost = !r->counted;
	int rc;

	if (r->counted)
		--*holders(l, r->mode);
	r->counted = false;
	sim_note(r, "releases lock %llu", (unsigned long long)r->lock);
	rc = r->world->request.protocol->release(&r->world->space, &r->slot);
	if (lost && rc != PAWL_ERR_LEASE_LOST)
		sim_fail(r->world, SIM_MISUSE,
			 "rank %d: others came in, and its release says nothing of it", r->id);
	r->left = rc == LOCK_LEFT;
	if (rc != PAWL_SUCCESS && rc != LOCK_LEFT && !outstays(r))
		sim_fail(r->world, SIM_MISUSE, "rank %d: the release of a living holder failed",
			 r->id);
	r->holding = false;
	r->mode = 0;
	sim_note(r, "has released it");
}

void sim_die(struct sim_rank *r)
{
	if (r->counted)
		--*holders(&r->world->locks[r->lock], r->mode);
	r->counted = false;
	r->dead = true;
	r->world->deaths++;
	sim_note(r, "dies");
}

/* ------------------------------------------------------------------ at the end */

static int64_t *word_of(void *arg, int rank, uint64_t offset)
{
	return sim_word(arg, rank, offset);
}

void sim_check_idle(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};
	char err[200] = "";

	for (uint64_t l = 0; p->idle && l < w->request.locks; l++)
		if (!p->idle(&w->space, l, &memory, err, sizeof err))
			sim_fail(w, SIM_NOT_IDLE, "nobody holds or awaits lock %llu, but %s",
				 (unsigned long long)l, err);
}

void sim_check_recoveries(struct sim_world *w)
{
	for (int id = 0; w->request.prompt && id < w->request.ranks; id++)
		if (w->ranks[id].slot.recoveries)
			sim_fail(w, SIM_MISUSE,
				 "a recovery by rank %d, and nobody has died or was late", id);
}

void sim_age(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};

	for (uint64_t l = 0; p->age && l < w->request.locks; l++)
		p->age(&w->space, l, &memory);
}
