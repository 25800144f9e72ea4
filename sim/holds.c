/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which virtual client holds what, and what must not be. This is recorded apart from the words of
 * the lock and from the slots, so two holders are noticed in any case.
 */
#include "sim/holds.h"

bool sim_has_ranges(const struct sim_world *w)
{
	return w->request.protocol->kind.capabilities & PAWL_CAP_RANGES;
}

/* Exclusive grants, without those of changes of mode: they overtake whoever waits. */
static uint64_t grants_by_turn(const struct sim_lock *l)
{
	return l->exclusive - l->changed;
}

/* A wait for a slot, by an acquire that has none yet, is not a wait for the lock. */
void sim_begin_wait(struct sim_rank *r)
{
	if (!r->mode || r->waited ||
	    (!sim_has_ranges(r->world) && !client_find(&r->clients, r->lock)))
		return;
	r->waited = true;
	r->seen = grants_by_turn(&r->world->locks[r->lock]);
}

const char *sim_mode_name(int mode)
{
	if (mode & PAWL_INTENT)
		return mode & PAWL_AHEAD ? "intent exclusive, ahead" : "intent exclusive";
	if (mode & PAWL_INTENT_SHARED)
		return mode & PAWL_AHEAD ? "intent shared, ahead" : "intent shared";
	return mode == PAWL_EXCLUSIVE ? "exclusive" : "shared";
}

void sim_check_overtakes(struct sim_rank *r)
{
	struct sim_world *w = r->world;
	const struct lock_protocol *p = w->request.protocol;
	uint64_t passed, most;

	if (!r->waited)
		return;
	passed = grants_by_turn(&w->locks[r->lock]) - r->seen;
	if (passed > w->most_overtakes)
		w->most_overtakes = passed;
	if (!p->check || !p->check->overtakes || !w->request.paced)
		return;
	most = p->check->overtakes(&w->setup, r->mode);
	if (passed > most)
		sim_fail(w, SIM_STARVED,
			 "overtaking: rank %d waited (%s) while lock %llu was granted %llu times to"
			 " writers; at most %llu can be",
			 r->id, sim_mode_name(r->mode), (unsigned long long)r->lock,
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

/* Whether the lock has holders that exclude this mode. */
static bool in_conflict(const struct sim_lock *l, int mode)
{
	bool exclusive = mode == PAWL_EXCLUSIVE;

	return l->writers || (l->readers && (exclusive || (mode & PAWL_INTENT))) ||
	       (l->intents && (exclusive || mode == PAWL_SHARED)) ||
	       (l->intents_shared && exclusive);
}

bool sim_outstays(const struct sim_hold *h)
{
	const struct sim_request *q = &h->rank->world->request;
	bool leased =
	    (q->protocol->kind.capabilities & PAWL_CAP_RECOVERS) || h->mode == PAWL_SHARED;
	uint64_t lease = q->lease_ns;

	return leased && lease && engine_now() - h->granted >= lease * SIM_NS / 4;
}

/* Of two holders that exclude each other, whether h has lost the lock to by: its acquire returned
 * first, and it outstays its lease. A client is not given up within a quarter of a lease from the
 * return of its acquire. So the rank whose acquire returned last got the lock after the other was
 * given up, even if it was stopped before it is counted here. */
static bool loses_to(const struct sim_hold *h, const struct sim_hold *by)
{
	return h->granted <= by->granted && sim_outstays(h);
}

/* ------------------------------------------------------------- recoveries (lock/life.c) */

struct lock_life sim_life_of(const struct sim_hold *h)
{
	const struct sim_world *w = h->rank->world;

	return w->protocol.recover->life(&w->setup, h->slot);
}

/* Keep a note of the hold; token 0: it ends without a release. */
static void add_note(const struct sim_hold *h, int64_t token)
{
	struct sim_world *w = h->rank->world;
	bool ranges = sim_has_ranges(w);

	if (w->setup.lives && (token || h->mode == PAWL_EXCLUSIVE))
		w->notes[w->last_note++ % SIM_NOTES] =
		    (struct sim_note){.lock = h->lock,
				      .first = ranges ? h->slot->first : 0,
				      .last = ranges ? h->slot->last : 0,
				      .granted = h->granted,
				      .term = sim_life_of(h).term,
				      .token = token,
				      .shared = h->mode == PAWL_SHARED};
}

static bool is_about(const struct sim_note *n, const struct sim_hold *h)
{
	return n->granted && n->lock == h->lock && !(n->shared && h->mode == PAWL_SHARED) &&
	       (!sim_has_ranges(h->rank->world) ||
		(n->first <= h->slot->last && h->slot->first <= n->last));
}

/* Whether the hold that was noted came before this one. A client that was stopped before its
 * acquire returned may have an earlier life than one whose acquire returned before. */
static bool was_before(const struct sim_note *n, const struct sim_hold *h)
{
	int64_t term = sim_life_of(h).term;

	return n->term != term ? n->term < term : n->granted < h->granted;
}

/* Whether a holder of a later life has repaired what this hold may have left. The hold may end
 * after that, if its client was stopped in its acquire: no lock can then tell anybody, and storage
 * refuses the client by its number. */
static bool was_repaired(const struct sim_note *n, const struct sim_lock *l)
{
	return n->term < l->repaired.term;
}

/* The holder is told of a recovery if and only if an earlier one has not released, or might have
 * died, and nobody has repaired since. */
static void check_told(const struct sim_hold *h)
{
	struct sim_world *w = h->rank->world;
	int64_t copy;

	if (!w->setup.lives)
		return;
	copy = sim_life_of(h).copy;
	w->told += h->rank->told;
	if (h->rank->told && (!copy || copy == w->locks[h->lock].repaired.copy))
		sim_fail(w, SIM_MISUSE, "rank %d is told that lock %llu was recovered, %s",
			 h->rank->id, (unsigned long long)h->lock,
			 copy ? "which was repaired since" : "which never was");
	for (int i = 0; i < SIM_NOTES && !h->rank->told; i++) {
		const struct sim_note *n = &w->notes[i];

		if (!n->token && is_about(n, h) && was_before(n, h) &&
		    !was_repaired(n, &w->locks[h->lock]))
			sim_fail(w, SIM_MISUSE,
				 "rank %d is not told that an earlier holder of lock %llu has not"
				 " released it",
				 h->rank->id, (unsigned long long)h->lock);
	}
}

void sim_note_repair(const struct sim_hold *h, struct lock_life life)
{
	struct sim_world *w = h->rank->world;

	w->repairs++;
	w->locks[h->lock].repaired = life;
	for (int i = 0; i < SIM_NOTES; i++)
		if (!w->notes[i].token && w->notes[i].lock == h->lock)
			w->notes[i].granted = 0;
}

void sim_note_number(const struct sim_hold *h, int64_t token)
{
	struct sim_world *w = h->rank->world;

	w->tokens++;
	for (int i = 0; i < SIM_NOTES; i++) {
		const struct sim_note *n = &w->notes[i];

		if (n->token && is_about(n, h) && n->granted != h->granted &&
		    was_before(n, h) != (n->token < token))
			sim_fail(w, SIM_MISUSE,
				 "rank %d has number %lld, and %s holder of lock %llu has %lld",
				 h->rank->id, (long long)token,
				 was_before(n, h) ? "an earlier" : "a later",
				 (unsigned long long)h->lock, (long long)n->token);
	}
	add_note(h, token);
}

void sim_uncount(struct sim_hold *h)
{
	if (h->counted)
		--*holders(&h->rank->world->locks[h->lock], h->mode);
	h->counted = false;
}

void sim_end_hold(struct sim_hold *h)
{
	if (h->counted)
		add_note(h, 0);
	sim_uncount(h);
}

/* Another hold of some of these units that excludes h; NULL: there is none. */
static struct sim_hold *overlapping(const struct sim_hold *h)
{
	struct sim_world *w = h->rank->world;

	for (int id = 0; id < w->request.ranks; id++)
		for (int i = 0; i < w->ranks[id].nheld; i++) {
			struct sim_hold *other = &w->ranks[id].held[i];

			if (other != h && other->counted && other->lock == h->lock &&
			    !(other->mode == PAWL_SHARED && h->mode == PAWL_SHARED) &&
			    other->slot->first <= h->slot->last &&
			    h->slot->first <= other->slot->last)
				return other;
		}
	return NULL;
}

/* Whether the client has its units: a rank that was stopped before its acquire returned may have
 * lost them. */
static bool check_ranges(struct sim_hold *h)
{
	struct sim_rank *r = h->rank;
	struct sim_hold *other;

	sim_note(r, "has units %lld to %lld", (long long)h->slot->first, (long long)h->slot->last);
	/* A client that outstayed its lease has lost its units; its release has to say so. */
	while ((other = overlapping(h)) && loses_to(other, h)) {
		sim_end_hold(other);
		sim_note(other->rank, "has lost its units to rank %d", r->id);
	}
	if (other && !sim_outstays(h))
		sim_fail(
		    r->world, SIM_VIOLATION,
		    "an overlap: rank %d got units %lld to %lld of space %llu while rank %d has"
		    " %lld to %lld",
		    r->id, (long long)h->slot->first, (long long)h->slot->last,
		    (unsigned long long)h->lock, other->rank->id, (long long)other->slot->first,
		    (long long)other->slot->last);
	return !other;
}

/* A client that excludes this grant and has outstayed its lease has lost the lock; its release has
 * to say so. */
static void take_from(const struct sim_hold *by)
{
	struct sim_world *w = by->rank->world;

	for (int id = 0; id < w->request.ranks; id++)
		for (int i = 0; i < w->ranks[id].nheld; i++) {
			struct sim_hold *h = &w->ranks[id].held[i];

			if (!h->counted || h->lock != by->lock || !loses_to(h, by))
				continue;
			sim_end_hold(h);
			sim_note(h->rank, "has lost lock %llu to rank %d",
				 (unsigned long long)h->lock, by->rank->id);
		}
}

/* As check_ranges(), for a lock. */
static bool check_lock(struct sim_hold *h)
{
	struct sim_world *w = h->rank->world;
	struct sim_lock *l = &w->locks[h->lock];

	if (in_conflict(l, h->mode))
		take_from(h);
	if (!in_conflict(l, h->mode))
		return true;
	if (!sim_outstays(h))
		sim_fail(w, SIM_VIOLATION,
			 "two holders: rank %d got lock %llu (%s) while %d writers, %d readers,"
			 " %d intents exclusive and %d intents shared have it, the last of them"
			 " rank %d",
			 h->rank->id, (unsigned long long)h->lock, sim_mode_name(h->mode),
			 l->writers, l->readers, l->intents, l->intents_shared, l->last);
	return false;
}

void sim_count_in(struct sim_hold *h)
{
	struct sim_world *w = h->rank->world;
	struct sim_lock *l = &w->locks[h->lock];

	w->acquires++;
	w->accesses = 0;
	sim_note(h->rank, "HOLDS lock %llu, %s", (unsigned long long)h->lock,
		 sim_mode_name(h->mode));
	h->counted = sim_has_ranges(w) ? check_ranges(h) : check_lock(h);
	if (h->counted) {
		++*holders(l, h->mode);
		l->last = h->rank->id;
		check_told(h);
	} else {
		sim_note(h->rank, "had lost it before its acquire returned");
	}
	l->exclusive += h->mode == PAWL_EXCLUSIVE;
}

void sim_change_mode(struct sim_hold *h, int mode)
{
	sim_uncount(h);
	h->mode = mode;
	h->counted = check_lock(h);
	if (h->counted)
		++*holders(&h->rank->world->locks[h->lock], mode);
}
