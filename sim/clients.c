/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual ranks acquire and release by the functions of src/client/, as they are in the library.
 * What each client holds is recorded here, apart from the words of the lock and from the slots, so
 * two holders are noticed in any case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { RETRY_NS = 100, RETRY_MOST_NS = 100000 };
/* A deadline that does not pass in a world. */
#define NEVER_NS UINT64_C(1000000000000)

static uint64_t slot_bit(const struct lock_slot *slot)
{
	return UINT64_C(1) << (slot->index & 63);
}

static bool has_ranges(const struct sim_world *w)
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
	if (!r->mode || r->waited || (!has_ranges(r->world) && !client_find(&r->clients, r->lock)))
		return;
	r->waited = true;
	r->seen = grants_by_turn(&r->world->locks[r->lock]);
}

static const char *mode_name(int mode)
{
	if (mode & PAWL_INTENT)
		return mode & PAWL_AHEAD ? "intent exclusive, ahead" : "intent exclusive";
	if (mode & PAWL_INTENT_SHARED)
		return mode & PAWL_AHEAD ? "intent shared, ahead" : "intent shared";
	return mode == PAWL_EXCLUSIVE ? "exclusive" : "shared";
}

/* Check how many clients were granted the lock from the start of r's wait to its own grant. */
static void check_overtakes(struct sim_rank *r)
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

/* Whether the lock has holders that exclude this mode. */
static bool in_conflict(const struct sim_lock *l, int mode)
{
	bool exclusive = mode == PAWL_EXCLUSIVE;

	return l->writers || (l->readers && (exclusive || (mode & PAWL_INTENT))) ||
	       (l->intents && (exclusive || mode == PAWL_SHARED)) ||
	       (l->intents_shared && exclusive);
}

/* Whether a client has held for so long that others may take it for dead. The kind decides how long
 * a lease is in the end; it is at least a quarter of the option. In a kind without recovery only
 * readers have leases. */
static bool outstays(const struct sim_hold *h)
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
	return h->granted <= by->granted && outstays(h);
}

/* ------------------------------------------------------------- recoveries (lock/life.c) */

static struct lock_life life_of(const struct sim_hold *h)
{
	const struct sim_world *w = h->rank->world;

	return w->protocol.recover->life(&w->setup, h->slot);
}

/* Keep a note of the hold; token 0: it ends without a release. */
static void add_note(const struct sim_hold *h, int64_t token)
{
	struct sim_world *w = h->rank->world;
	bool ranges = has_ranges(w);

	if (w->setup.lives && (token || h->mode == PAWL_EXCLUSIVE))
		w->notes[w->last_note++ % SIM_NOTES] =
		    (struct sim_note){.lock = h->lock,
				      .first = ranges ? h->slot->first : 0,
				      .last = ranges ? h->slot->last : 0,
				      .granted = h->granted,
				      .term = life_of(h).term,
				      .token = token,
				      .shared = h->mode == PAWL_SHARED};
}

static bool is_about(const struct sim_note *n, const struct sim_hold *h)
{
	return n->granted && n->lock == h->lock && !(n->shared && h->mode == PAWL_SHARED) &&
	       (!has_ranges(h->rank->world) ||
		(n->first <= h->slot->last && h->slot->first <= n->last));
}

/* Whether the hold that was noted came before this one. A client that was stopped before its
 * acquire returned may have an earlier life than one whose acquire returned before. */
static bool was_before(const struct sim_note *n, const struct sim_hold *h)
{
	int64_t term = life_of(h).term;

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
	copy = life_of(h).copy;
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

static void uncount(struct sim_hold *h)
{
	if (h->counted)
		--*holders(&h->rank->world->locks[h->lock], h->mode);
	h->counted = false;
}

/* The hold ends without a release. */
static void end_hold(struct sim_hold *h)
{
	if (h->counted)
		add_note(h, 0);
	uncount(h);
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
		end_hold(other);
		sim_note(other->rank, "has lost its units to rank %d", r->id);
	}
	if (other && !outstays(h))
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
			end_hold(h);
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
	if (!outstays(h))
		sim_fail(w, SIM_VIOLATION,
			 "two holders: rank %d got lock %llu (%s) while %d writers, %d readers,"
			 " %d intents exclusive and %d intents shared have it, the last of them"
			 " rank %d",
			 h->rank->id, (unsigned long long)h->lock, mode_name(h->mode), l->writers,
			 l->readers, l->intents, l->intents_shared, l->last);
	return false;
}

static void count_in(struct sim_hold *h)
{
	struct sim_world *w = h->rank->world;
	struct sim_lock *l = &w->locks[h->lock];

	w->acquires++;
	w->accesses = 0;
	sim_note(h->rank, "HOLDS lock %llu, %s", (unsigned long long)h->lock, mode_name(h->mode));
	h->counted = has_ranges(w) ? check_ranges(h) : check_lock(h);
	if (h->counted) {
		++*holders(l, h->mode);
		l->last = h->rank->id;
		check_told(h);
	} else {
		sim_note(h->rank, "had lost it before its acquire returned");
	}
	l->exclusive += h->mode == PAWL_EXCLUSIVE;
}

/* ---------------------------------------------------------------------- acquire */

static struct sim_hold *add_hold(struct sim_rank *r, struct lock_slot *slot, uint64_t lock,
				 int mode)
{
	struct sim_hold *h = &r->held[r->nheld];

	/* The lease runs from here on, though the acquire has yet to return. */
	*h = (struct sim_hold){
	    .rank = r, .slot = slot, .lock = lock, .mode = mode, .granted = engine_now()};
	if (has_ranges(r->world))
		h->range = client_name_range(&r->clients, slot);
	return h;
}

/* The slot of an abandoned lock may be used again only after the protocol has said so. */
static void check_slot(struct sim_rank *r, const struct lock_slot *slot)
{
	if (r->kept & slot_bit(slot))
		sim_fail(r->world, SIM_MISUSE,
			 "rank %d: slot %d is used again while other clients may use its words",
			 r->id, slot->index);
}

static void granted(struct sim_rank *r, struct lock_slot *slot)
{
	struct sim_hold *h = add_hold(r, slot, r->lock, r->mode);

	sim_nap(r);
	check_overtakes(r);
	check_slot(r, slot);
	r->mode = 0;
	r->world->second += r->nheld++ > 0;
	count_in(h);
	sim_step(r);
}

/* A rank is about to ask for a lock; plain: by an acquire or a try. */
static void ask(struct sim_rank *r, uint64_t lock, bool plain)
{
	struct sim_lock *l = &r->world->locks[lock];

	if (!plain || (l->only && l->only != r->id + 1))
		l->only = -1;
	else
		l->only = r->id + 1;
}

/* Whether a client in this mode may leave its lease behind at its release, as a reader of drtm. */
static bool leaves_lease(const struct sim_rank *r, int mode)
{
	return mode == PAWL_SHARED && r->clients.setup->protocol->shares_clock;
}

/* Whether nothing is in the way of the rank's try: no other client has ever asked for the lock, and
 * this one holds none. */
static bool is_undisturbed(const struct sim_rank *r)
{
	const struct sim_lock *l = &r->world->locks[r->lock];

	return r->nheld == 0 && l->only == r->id + 1 && !r->world->deaths && !l->broken;
}

/* Whether a call may end with this code because an operation has failed or a rank has died. */
static bool may_lose(const struct sim_rank *r, int rc)
{
	const struct sim_world *w = r->world;

	if (w->request.errors == SIM_UNREACHED)
		return rc == PAWL_ERR_CONNECT && (r->apart >= 0 || r->was_apart);
	return w->request.doubt_ns && (w->deaths || w->failures) &&
	       rc == (w->request.errors == SIM_MPI_ERRORS ? PAWL_ERR_MPI : PAWL_ERR_PEER);
}

/* Whether a call has ended so. */
static bool has_lost(struct sim_rank *r, int rc)
{
	struct sim_world *w = r->world;

	if (!may_lose(r, rc))
		return false;
	w->peers += w->deaths > 0;
	w->ended[w->request.errors]++;
	return true;
}

/* Whether this code is a valid result of this call, which needs this many slots. */
static bool may_return(const struct sim_rank *r, enum sim_how how, uint64_t deadline_ns, int needs,
		       int rc)
{
	switch (rc) {
	case PAWL_ERR_BUSY:
		return how == SIM_TRY && !(needs == 1 && is_undisturbed(r));
	case PAWL_ERR_TIMEOUT:
		return how == SIM_TIMED && engine_now() >= sim_time_of(r, deadline_ns);
	case PAWL_ERR_HELD:
		return has_ranges(r->world) && r->nheld > 0;
	default:
		return rc == CLIENT_NO_SLOT &&
		       r->nheld + r->requested + r->unsettled + needs > r->world->setup.max_held;
	}
}

static int refused(struct sim_rank *r, enum sim_how how, uint64_t deadline_ns, int needs, int rc)
{
	struct sim_world *w = r->world;
	bool lost = has_lost(r, rc);

	if (lost) /* which it may have polled for long to find */
		w->accesses = 0;
	sim_note(r, "%s",
		 rc == PAWL_ERR_BUSY      ? "finds the lock busy"
		 : rc == PAWL_ERR_TIMEOUT ? "runs out of time"
		 : rc == PAWL_ERR_HELD    ? "has some of the units"
		 : lost                   ? "ends by a failure"
					  : "has no slot");
	if (!lost && !may_return(r, how, deadline_ns, needs, rc))
		sim_fail(w, SIM_MISUSE, "rank %d: an acquire must not return %d now", r->id, rc);
	if (client_in_use(&r->clients) != r->nheld + r->requested + r->threads)
		sim_fail(
		    w, SIM_MISUSE,
		    "rank %d holds %d locks, requests %d, has left %d, and %d slots are claimed",
		    r->id, r->nheld, r->requested, r->threads, client_in_use(&r->clients));
	r->mode = 0;
	r->unsettled += client_has_lost(rc) || rc == PAWL_ERR_TIMEOUT || rc == PAWL_ERR_BUSY;
	/* A call that fails may leave each of its slots to settle, or lost. */
	if (rc != CLIENT_NO_SLOT)
		r->unsettled += needs - 1;
	w->shortages += rc == CLIENT_NO_SLOT;
	sim_step(r);
	return rc == CLIENT_NO_SLOT ? PAWL_ERR_TOO_MANY : rc;
}

/* Whether r already holds some of these units, so that it would wait for itself. */
static bool has_some(const struct sim_rank *r, uint64_t space, const struct client_units *units)
{
	const struct lock_protocol *p = r->world->request.protocol;

	for (int i = 0; i < r->nheld && units && p->range; i++)
		if (r->held[i].lock == space && r->held[i].slot->first <= units->last &&
		    units->first <= r->held[i].slot->last)
			return true;
	return false;
}

static uint64_t deadline(const struct sim_rank *r, enum sim_how how, uint64_t ns)
{
	return how == SIM_TIMED ? sim_now_ns(r) + ns + 1 : 0;
}

static void count_call(struct sim_rank *r, enum sim_how how)
{
	r->world->calls[how]++;
	r->world->beside[how] += r->requested > 0;
}

static int acquire(struct sim_rank *r, uint64_t lock, const struct client_units *units, int mode,
		   enum sim_how how, uint64_t ns)
{
	static const char *const names[] = {"acquires", "tries", "acquires in time"};
	uint64_t deadline_ns = deadline(r, how, ns);
	struct lock_slot *slot;
	int rc = PAWL_SUCCESS;

	r->lock = lock;
	r->mode = mode;
	r->waited = false;
	r->began = engine_now();
	ask(r, lock, how != SIM_TIMED && !leaves_lease(r, mode));
	count_call(r, how);
	sim_note(r, "%s lock %llu, %s", names[how], (unsigned long long)lock, mode_name(mode));
	slot = client_claim(&r->clients, lock, mode, units, &rc);
	if (slot) {
		sim_recorder_begin(r, slot, mode);
		rc = client_enter(&r->clients, slot, rc, mode, units, deadline_ns, how == SIM_TRY);
		sim_recorder_acquired(r, slot, rc);
	}
	if (has_some(r, lock, units) && rc != PAWL_ERR_HELD && rc != CLIENT_NO_SLOT)
		sim_fail(r->world, SIM_MISUSE,
			 "rank %d has some of the units, and its acquire returned %d", r->id, rc);
	if (!client_has_got(rc))
		return refused(r, how, deadline_ns, 1, rc);
	r->told = rc == PAWL_RECOVERED;
	granted(r, slot);
	return PAWL_SUCCESS;
}

int sim_acquire(struct sim_rank *r, uint64_t lock, int mode, enum sim_how how, uint64_t ns)
{
	return acquire(r, lock, NULL, mode, how, ns);
}

int sim_acquire_range(struct sim_rank *r, uint64_t space, int64_t first, int64_t last, int mode,
		      enum sim_how how, uint64_t ns)
{
	const struct client_units units = {first, last};

	sim_note(r, "wants units %lld to %lld", (long long)first, (long long)last);
	return acquire(r, space, &units, mode, how, ns);
}

int sim_acquire_part(struct sim_rank *r, uint64_t whole, uint64_t part, int mode, enum sim_how how,
		     uint64_t ns)
{
	uint64_t deadline_ns = deadline(r, how, ns);
	struct lock_slot *w, *p;
	uint64_t about;
	int rc = PAWL_SUCCESS;

	sim_note(r, "acquires lock %llu with an intent, and lock %llu", (unsigned long long)whole,
		 (unsigned long long)part);
	ask(r, whole, false);
	ask(r, part, false);
	if (client_claim_part(&r->clients, whole, part, &w, &p, &about, &rc)) {
		sim_recorder_begin(r, w, client_intent_for(mode));
		sim_recorder_begin(r, p, mode);
		rc = client_enter_part(&r->clients, w, p, mode, deadline_ns);
		sim_recorder_acquired(r, w, rc);
		sim_recorder_acquired(r, p, rc);
	}
	if (rc != PAWL_SUCCESS)
		return refused(r, how, deadline_ns, 2, rc);
	add_hold(r, client_find(&r->clients, whole), whole,
		 mode == PAWL_SHARED ? PAWL_INTENT_SHARED : PAWL_INTENT);
	r->nheld++;
	add_hold(r, client_find(&r->clients, part), part, mode)->part = true;
	r->nheld++;
	count_in(&r->held[0]);
	count_in(&r->held[1]);
	sim_step(r);
	return PAWL_SUCCESS;
}

int sim_acquire_many(struct sim_rank *r, int n, const uint64_t *locks, const int *modes,
		     enum sim_how how, uint64_t ns)
{
	static const char *const names[] = {"acquires", "tries", "acquires in time"};
	uint64_t deadline_ns = deadline(r, how, ns), about;
	struct client_many m[SIM_HELD] = {{.lock = 0}};
	int rc;

	for (int i = 0; i < n; i++) {
		m[i] = (struct client_many){.lock = locks[i], .mode = modes[i]};
		ask(r, locks[i], false);
		sim_note(r, "%s lock %llu, %s, of %d", names[how], (unsigned long long)locks[i],
			 mode_name(modes[i]), n);
	}
	rc = client_claim_many(&r->clients, m, (size_t)n, &about);
	if (rc == PAWL_SUCCESS) {
		for (int i = 0; i < n; i++)
			sim_recorder_begin(r, m[i].slot, modes[i]);
		rc = client_enter_many(&r->clients, m, (size_t)n, deadline_ns, how == SIM_TRY,
				       &about);
		for (int i = 0; i < n; i++)
			sim_recorder_acquired(r, m[i].slot, rc);
	}
	if (rc != PAWL_SUCCESS)
		return refused(r, how, deadline_ns, n, rc);
	for (int i = 0; i < n; i++) {
		check_slot(r, m[i].slot);
		add_hold(r, m[i].slot, m[i].lock, m[i].mode);
		r->nheld++;
	}
	for (int i = 0; i < n; i++)
		count_in(&r->held[i]);
	sim_step(r);
	return PAWL_SUCCESS;
}

/* The rank asks for other locks while it has a request. */
static void call_beside(struct sim_rank *r, void (*beside)(struct sim_rank *r, uint64_t lock))
{
	uint64_t lock = r->lock;
	sim_time began = r->began;
	int mode = r->mode;

	if (!beside)
		return;
	beside(r, lock);
	r->lock = lock;
	r->mode = mode;
	r->began = began;
}

/* The thread of a request that the rank has left (table/left.c). With a lease others may have the
 * lock since; the rank is not told. */
static void end_left(struct sim_rank *t)
{
	struct client_set *set = &t->process->clients;
	struct client_request *q = t->user;
	struct lock_slot *slot = q->slot;
	struct sim_hold h = {.rank = t, .slot = slot, .lock = slot->lock, .mode = slot->mode};
	int rc;

	slot->client.rma = &t->rma;
	rc = client_request_step(set, q, CLIENT_WAIT);
	sim_leave_if_over(t);
	if (client_has_got(rc)) {
		t->world->left++;
		h.granted = engine_now();
		if (!t->world->request.lease_ns)
			count_in(&h);
		sim_step(t);
		uncount(&h);
		rc = client_request_put_back(set, q);
	}
	sim_note(t, "has ended its request of lock %llu", (unsigned long long)h.lock);
	if (rc != PAWL_SUCCESS && !has_lost(t, rc) &&
	    !(rc == PAWL_ERR_LEASE_LOST && t->world->request.lease_ns))
		sim_fail(t->world, SIM_MISUSE, "rank %d: a request that it has left ended with %d",
			 t->id, rc);
	/* No other client has the slot yet: nothing has run since. */
	slot->client.rma = &t->process->rma;
}

static void leave_request(struct sim_rank *r, struct client_request *q)
{
	sim_note(r, "leaves its request");
	client_request_leave(&r->clients, q);
	sim_fork(r, end_left, q);
}

/* A client that tests, computes, tests again, and then waits, cancels or leaves. */
int sim_acquire_by_steps(struct sim_rank *r, uint64_t lock, int mode, int tests, uint64_t ns,
			 enum sim_end end, void (*beside)(struct sim_rank *r, uint64_t lock))
{
	struct client_set *set = &r->clients;
	const struct lock_protocol *p = r->world->request.protocol;
	bool timed = (p->kind.capabilities & PAWL_CAP_TIMED) && end != SIM_LEAVES;
	struct client_request *q;
	struct lock_slot *slot;
	int64_t from;
	int rc = PAWL_SUCCESS;

	r->lock = lock;
	r->mode = mode;
	r->waited = false;
	r->began = engine_now();
	ask(r, lock, false);
	count_call(r, SIM_REQUEST);
	sim_note(r, "requests lock %llu, %s", (unsigned long long)lock, mode_name(mode));
	q = client_request(set, lock, mode, NULL, timed ? sim_now_ns(r) + NEVER_NS : 0, &rc);
	sim_leave_if_over(r);
	if (!q)
		return refused(r, SIM_ACQUIRE, 0, 1, rc);
	slot = q->slot;
	from = slot->from;
	sim_recorder_begin(r, slot, mode); /* after the first step, which does not wait */
	slot->from = from;
	r->requested++;
	for (int i = 0; i < tests && rc == CLIENT_PENDING; i++) {
		sim_sleep(r, sim_below(&r->random, ns + 1) * SIM_NS);
		call_beside(r, beside);
		sim_note(r, "tests its request");
		rc = client_request_step(set, q, CLIENT_LOOK);
		sim_leave_if_over(r);
	}
	if (end == SIM_LEAVES && rc == CLIENT_PENDING) {
		leave_request(r, q);
		r->requested--;
		sim_recorder_acquired(r, slot, PAWL_ERR_TIMEOUT);
		r->mode = 0;
		r->unsettled++;
		return PAWL_ERR_BUSY;
	}
	if (end == SIM_CANCELS) {
		sim_note(r, "cancels its request");
		rc = client_request_cancel(set, q);
		r->requested--;
		sim_recorder_acquired(r, slot, PAWL_ERR_TIMEOUT);
		sim_leave_if_over(r);
		if (client_has_lost(rc))
			return refused(r, SIM_ACQUIRE, 0, 1, rc);
		if (rc != PAWL_SUCCESS &&
		    !(rc == PAWL_ERR_LEASE_LOST && r->world->request.lease_ns))
			sim_fail(r->world, SIM_MISUSE, "rank %d: a cancel returned %d", r->id, rc);
		r->mode = 0;
		r->unsettled++;
		return PAWL_ERR_BUSY;
	}
	if (rc == CLIENT_PENDING)
		rc = client_request_step(set, q, CLIENT_WAIT);
	r->requested--;
	sim_recorder_acquired(r, slot, rc);
	sim_leave_if_over(r);
	if (!client_has_got(rc))
		return refused(r, SIM_ACQUIRE, 0, 1, rc);
	r->told = rc == PAWL_RECOVERED;
	client_request_end(set, q);
	r->waited = false; /* a client that looks seldom has no bound */
	granted(r, slot);
	return PAWL_SUCCESS;
}

int sim_read(struct sim_rank *r, uint64_t lock, uint64_t ns)
{
	struct client_read read = {.seen = 0};
	struct sim_lock *l = &r->world->locks[lock];
	uint64_t before;
	bool overlap = false;
	int rc;

	do {
		sim_note(r, "reads without lock %llu", (unsigned long long)lock);
		rc = client_read_begin(&r->clients, lock, &read);
		if (rc == PAWL_ERR_BUSY)
			return sim_acquire(r, lock, PAWL_SHARED, SIM_ACQUIRE, 0);
		if (rc != PAWL_SUCCESS)
			return refused(r, SIM_ACQUIRE, 0, 1, rc);
		overlap = l->writers != 0;
		before = l->exclusive;
		sim_sleep(r, sim_below(&r->random, ns + 1) * SIM_NS);
		overlap = overlap || l->exclusive != before;
		rc = client_read_validate(&r->clients, lock, &read);
		if (rc != PAWL_SUCCESS && rc != PAWL_ERR_BUSY)
			return refused(r, SIM_ACQUIRE, 0, 1, rc);
	} while (rc == PAWL_ERR_BUSY);
	sim_note(r, "has read without lock %llu", (unsigned long long)lock);
	if (overlap)
		sim_fail(r->world, SIM_VIOLATION,
			 "rank %d: a read without lock %llu is valid, and a writer was in", r->id,
			 (unsigned long long)lock);
	sim_step(r);
	return PAWL_ERR_BUSY;
}

/* ---------------------------------------------------------------------- release */

/* The slot, as the library's release would find it. */
static struct lock_slot *find(struct sim_hold *h)
{
	struct client_set *set = &h->rank->clients;
	struct lock_slot *slot = has_ranges(h->rank->world) ? client_find_range(set, &h->range)
							    : client_find(set, h->lock);

	if (slot != h->slot)
		sim_fail(h->rank->world, SIM_MISUSE, "rank %d: the slot of lock %llu is not found",
			 h->rank->id, (unsigned long long)h->lock);
	return h->slot;
}

static void released(struct sim_hold *h, bool lost, int rc)
{
	struct sim_rank *r = h->rank;
	struct sim_world *w = r->world;
	bool died = has_lost(r, rc) && client_has_lost(rc);

	r->unsettled += died || w->setup.posts;
	if (lost && rc != PAWL_ERR_LEASE_LOST && !died)
		sim_fail(w, SIM_MISUSE, "rank %d: others came in, and its release does not say so",
			 r->id);
	if (rc != PAWL_SUCCESS && !died && !(rc == PAWL_ERR_LEASE_LOST && outstays(h)))
		sim_fail(w, SIM_MISUSE, "rank %d: the release of a living holder returned %d",
			 r->id, rc);
	w->leases_lost += rc == PAWL_ERR_LEASE_LOST;
	r->nheld--;
	sim_recorder_released(r, h->slot);
	sim_note(r, "has released lock %llu%s", (unsigned long long)h->lock,
		 died ? ", or not" : "");
}

/* After a call of the holder. False: an operation failed, and the hold has ended. */
static bool goes_on(struct sim_hold *h, int rc)
{
	struct sim_rank *r = h->rank;

	if (rc == PAWL_SUCCESS)
		return true;
	if (!has_lost(r, rc))
		sim_fail(r->world, SIM_MISUSE, "rank %d: a call of the holder returned %d", r->id,
			 rc);
	end_hold(h);
	r->unsettled++;
	r->nheld--;
	sim_recorder_released(r, h->slot);
	return false;
}

/* The hold has another mode from here on. */
static void change(struct sim_hold *h, int mode)
{
	uncount(h);
	h->mode = mode;
	h->counted = check_lock(h);
	if (h->counted)
		++*holders(&h->rank->world->locks[h->lock], mode);
}

bool sim_upgrade(struct sim_rank *r, uint64_t ns)
{
	struct sim_hold *h = &r->held[r->nheld - 1];
	struct sim_lock *l = &r->world->locks[h->lock];
	uint64_t deadline_ns = ns ? sim_now_ns(r) + ns : 0, others = l->upgraders, begun;
	int rc;

	sim_note(r, "makes lock %llu exclusive", (unsigned long long)h->lock);
	l->upgraders++;
	begun = ++l->upgrades;
	rc = client_upgrade(&r->clients, find(h), deadline_ns);
	l->upgraders--;
	if (rc == PAWL_ERR_BUSY || rc == PAWL_ERR_TIMEOUT) {
		sim_note(r, "keeps it shared");
		r->world->refusals += rc == PAWL_ERR_BUSY;
		/* One that has died may have left its mark. */
		if (rc == PAWL_ERR_BUSY ? !others && l->upgrades == begun && !r->world->deaths &&
					      !r->world->failures
					: !ns || engine_now() < sim_time_of(r, deadline_ns))
			sim_fail(r->world, SIM_MISUSE, "rank %d: an upgrade must not return %d now",
				 r->id, rc);
		return true;
	}
	if (!goes_on(h, rc))
		return false;
	r->world->upgrades++;
	l->exclusive++;
	l->changed++;
	change(h, PAWL_EXCLUSIVE);
	return true;
}

bool sim_downgrade(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];

	sim_note(r, "goes on to share lock %llu", (unsigned long long)h->lock);
	r->world->downgrades++;
	/* Before the call, so that an exclusive client in between is noticed. */
	change(h, PAWL_SHARED);
	return goes_on(h, client_downgrade(&r->clients, find(h)));
}

bool sim_repair(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];
	struct sim_world *w = r->world;
	const struct lock_life life = life_of(h);
	bool repaired = false;

	sim_note(r, "has repaired what lock %llu protects", (unsigned long long)h->lock);
	if (!goes_on(h, client_repair(&r->clients, find(h))))
		return false;
	if (!goes_on(h, client_is_repaired(&r->clients, find(h), &repaired)))
		return false;
	if (!repaired && !outstays(h))
		sim_fail(w, SIM_MISUSE, "rank %d: what it has repaired is not", r->id);
	if (!h->counted || !repaired) /* given up meanwhile */
		return true;
	w->repairs++;
	w->locks[h->lock].repaired = life;
	for (int i = 0; i < SIM_NOTES; i++)
		if (!w->notes[i].token && w->notes[i].lock == h->lock)
			w->notes[i].granted = 0;
	return true;
}

bool sim_number(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];
	struct sim_world *w = r->world;
	int64_t token = 0;

	if (!goes_on(h, client_number(&r->clients, find(h), &token)))
		return false;
	sim_note(r, "has number %lld", (long long)token);
	w->tokens++;
	for (int i = 0; i < SIM_NOTES; i++) {
		const struct sim_note *n = &w->notes[i];

		if (n->token && is_about(n, h) && n->granted != h->granted &&
		    was_before(n, h) != (n->token < token))
			sim_fail(w, SIM_MISUSE,
				 "rank %d has number %lld, and %s holder of lock %llu has %lld",
				 r->id, (long long)token,
				 was_before(n, h) ? "an earlier" : "a later",
				 (unsigned long long)h->lock, (long long)n->token);
	}
	add_note(h, token);
	return true;
}

/* Release both locks of sim_acquire_part(). */
static void release_part(struct sim_rank *r)
{
	int rc;

	for (int i = 0; i < 2; i++) {
		sim_recorder_release(r, r->held[i].slot);
		uncount(&r->held[i]);
	}
	rc = client_release_part(&r->clients, find(&r->held[0]), find(&r->held[1]));
	released(&r->held[1], false, rc);
	released(&r->held[0], false, rc);
}

void sim_release(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];
	bool lost = !h->counted;

	sim_note(r, "releases lock %llu", (unsigned long long)h->lock);
	if (h->part) {
		release_part(r);
		return;
	}
	sim_recorder_release(r, h->slot);
	uncount(h);
	released(h, lost, client_release(&r->clients, find(h)));
}

void sim_release_first(struct sim_rank *r)
{
	struct sim_hold first = r->held[0];

	memmove(r->held, r->held + 1, (size_t)(r->nheld - 1) * sizeof *r->held);
	r->held[r->nheld - 1] = first;
	sim_release(r);
}

void sim_release_many(struct sim_rank *r)
{
	struct client_many m[SIM_HELD];
	int n = r->nheld, rc;
	uint64_t about;

	for (int i = 0; i < n; i++) {
		m[i] = (struct client_many){.lock = r->held[i].lock, .slot = find(&r->held[i])};
		sim_note(r, "releases lock %llu, of %d", (unsigned long long)m[i].lock, n);
		sim_recorder_release(r, m[i].slot);
		uncount(&r->held[i]);
	}
	client_leave_many(&r->clients, m, (size_t)n);
	rc = client_give_back_many(&r->clients, m, (size_t)n, &about);
	while (n-- > 0)
		released(&r->held[n], false, rc);
}

bool sim_abandon(const struct lock_setup *s, struct lock_slot *slot)
{
	struct sim_rank *r = slot->client.rma->state;
	bool may_serve = r->world->request.protocol->recover->abandon(s, slot);

	if (may_serve)
		r->kept &= ~slot_bit(slot);
	return may_serve;
}

void sim_forget(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];

	end_hold(h);
	r->kept |= slot_bit(find(h));
	sim_note(r, "forgets lock %llu", (unsigned long long)h->lock);
	sim_recorder_release(r, h->slot);
	client_abandon(&r->clients, find(h));
	sim_recorder_released(r, h->slot);
	r->unsettled++;
	r->nheld--;
	r->world->deaths++;
}

/* --------------------------------------------------------- the end of a rank */

/* The slots that are lost; and, at a lock where an operation failed, those that wait for others. */
static int count_lost(const struct sim_rank *r)
{
	const struct client_set *set = &r->clients;
	int lost = 0, waiting = 0;

	for (int i = 0; i < slots_used(set); i++) {
		lost += set->claims[i].owner == SLOTS_LOST;
		waiting +=
		    (set->claims[i].owner == SLOTS_LEFT || set->claims[i].owner == SLOTS_QUEUED ||
		     set->claims[i].owner == SLOTS_ABANDONED) &&
		    r->world->locks[set->slots[i].lock].broken;
	}
	if (lost > r->losses)
		sim_fail(r->world, SIM_MISUSE, "rank %d has lost %d slots by %d failures", r->id,
			 lost, r->losses);
	return lost + waiting;
}

/* Check that all slots can be used again, unless a rank that is needed has died. */
static void reclaim(struct sim_rank *r)
{
	struct client_set *set = &r->clients;
	uint64_t retry_ns = RETRY_NS;
	int most = r->world->setup.max_held, rc = PAWL_SUCCESS;

	while (client_in_use(set) + count_lost(r) < most && !r->world->deaths) {
		while (slots_claim_range(set, 0, &rc))
			;
		if (client_in_use(set) + count_lost(r) < most)
			sim_sleep(r, retry_ns * SIM_NS);
		/* A place in a queue may wait for a recovery, which takes several leases. */
		if (retry_ns < RETRY_MOST_NS)
			retry_ns *= 2;
	}
	for (int i = 0; i < slots_used(set); i++)
		if (slots_is_claimed(set, i))
			slots_give_back(set, &set->slots[i]);
}

void sim_settle(struct sim_rank *r)
{
	sim_join(r);
	/* With a lease, a place in a queue may stay until its client checks whether to recover it,
	 * if no other client comes. */
	if (r->world->request.lease_ns || sim_below(&r->random, 2))
		reclaim(r);
	client_settle(&r->clients);
	for (const struct sim_op *op = r->ops; op; op = op->next)
		if (!op->effective && !r->world->deaths && !r->world->failures)
			sim_fail(r->world, SIM_MISUSE,
				 "rank %d: operations are on their way after its end", r->id);
}

void sim_doubt(struct sim_world *w)
{
	for (struct sim_rank *r = w->ranks; r && w->request.doubt_ns; r = sim_next(r)) {
		if (r->line && (!r->alarm || r->alarm > engine_now() + 1)) {
			r->alarm = engine_now() + 1;
			engine_at(r->alarm, sim_alarm, r);
		}
	}
}

void sim_die(struct sim_rank *r)
{
	for (int i = 0; i < r->nheld; i++)
		end_hold(&r->held[i]);
	r->dead = true;
	r->world->deaths++;
	sim_note(r, "dies");
	sim_recorder_end(r);
	sim_doubt(r->world);
}

void sim_count(const struct sim_rank *r, struct pawl_stats *stats)
{
	client_count(&r->clients, stats);
}

uint64_t sim_waits(const struct sim_rank *r)
{
	uint64_t waits = 0;

	for (int i = 0; i < slots_used(&r->clients); i++)
		waits += r->clients.slots[i].client.waits;
	return waits;
}

/* ------------------------------------------------------------- the end of a world */

static int64_t *word_of(void *arg, int rank, uint64_t offset)
{
	return sim_word(arg, rank, offset);
}

void sim_check_idle(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};
	char err[200] = "";

	if (w->failures && p->check && p->check->idle_together)
		return;

	for (uint64_t l = 0; p->check && p->check->idle && l < w->request.locks; l++)
		if (!w->locks[l].broken && !p->check->idle(&w->setup, l, &memory, err, sizeof err))
			sim_fail(w, SIM_NOT_IDLE, "no client holds or awaits lock %llu, but %s",
				 (unsigned long long)l, err);
}

static uint64_t recoveries_of(const struct sim_rank *r)
{
	struct pawl_stats stats;

	sim_count(r, &stats);
	return stats.recoveries;
}

void sim_check_spares(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};
	uint64_t recoveries = 0, taken;

	if (!p->check || !p->check->spares)
		return;
	for (int id = 0; id < w->request.ranks; id++)
		recoveries += recoveries_of(&w->ranks[id]);
	taken = p->check->spares(&w->setup, &memory);
	if (taken != recoveries)
		sim_fail(w, SIM_NOT_IDLE, "%llu spare copies are taken, for %llu recoveries",
			 (unsigned long long)taken, (unsigned long long)recoveries);
}

void sim_check_recoveries(struct sim_world *w)
{
	for (int id = 0; w->request.prompt && id < w->request.ranks; id++)
		if (recoveries_of(&w->ranks[id]))
			sim_fail(w, SIM_MISUSE,
				 "a recovery by rank %d, though no rank has died or was late", id);
}

void sim_age(struct sim_world *w)
{
	const struct lock_protocol *p = w->request.protocol;
	struct lock_memory memory = {word_of, w};

	for (uint64_t l = 0; p->check && p->check->age && l < w->request.locks; l++)
		p->check->age(&w->setup, l, &memory);
}
