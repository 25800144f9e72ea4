/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual ranks acquire and release by the functions of src/client/, as they are in the library. */
#include <string.h>

#include "sim/holds.h"

/* A deadline that does not pass in a world. */
#define NEVER_NS UINT64_C(1000000000000)

static uint64_t slot_bit(const struct lock_slot *slot)
{
	return UINT64_C(1) << (slot->index & 63);
}

/* ---------------------------------------------------------------------- acquire */

static struct sim_hold *add_hold(struct sim_rank *r, struct lock_slot *slot, uint64_t lock,
				 int mode)
{
	struct sim_hold *h = &r->held[r->nheld];

	/* The lease runs from here on, though the acquire has yet to return. */
	*h = (struct sim_hold){
	    .rank = r, .slot = slot, .lock = lock, .mode = mode, .granted = engine_now()};
	if (sim_has_ranges(r->world))
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
	sim_check_overtakes(r);
	check_slot(r, slot);
	r->mode = 0;
	r->world->second += r->nheld++ > 0;
	sim_count_in(h);
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
		return sim_has_ranges(r->world) && r->nheld > 0;
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
	sim_note(r, "%s lock %llu, %s", names[how], (unsigned long long)lock, sim_mode_name(mode));
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
	sim_count_in(&r->held[0]);
	sim_count_in(&r->held[1]);
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
			 sim_mode_name(modes[i]), n);
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
		sim_count_in(&r->held[i]);
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
			sim_count_in(&h);
		sim_step(t);
		sim_uncount(&h);
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
	sim_note(r, "requests lock %llu, %s", (unsigned long long)lock, sim_mode_name(mode));
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
	struct lock_slot *slot = sim_has_ranges(h->rank->world) ? client_find_range(set, &h->range)
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
	if (rc != PAWL_SUCCESS && !died && !(rc == PAWL_ERR_LEASE_LOST && sim_outstays(h)))
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
	sim_end_hold(h);
	r->unsettled++;
	r->nheld--;
	sim_recorder_released(r, h->slot);
	return false;
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
	sim_change_mode(h, PAWL_EXCLUSIVE);
	return true;
}

bool sim_downgrade(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];

	sim_note(r, "goes on to share lock %llu", (unsigned long long)h->lock);
	r->world->downgrades++;
	/* Before the call, so that an exclusive client in between is noticed. */
	sim_change_mode(h, PAWL_SHARED);
	return goes_on(h, client_downgrade(&r->clients, find(h)));
}

bool sim_repair(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];
	const struct lock_life life = sim_life_of(h);
	bool repaired = false;

	sim_note(r, "has repaired what lock %llu protects", (unsigned long long)h->lock);
	if (!goes_on(h, client_repair(&r->clients, find(h))))
		return false;
	if (!goes_on(h, client_is_repaired(&r->clients, find(h), &repaired)))
		return false;
	if (!repaired && !sim_outstays(h))
		sim_fail(r->world, SIM_MISUSE, "rank %d: what it has repaired is not", r->id);
	if (!h->counted || !repaired) /* given up meanwhile */
		return true;
	sim_note_repair(h, life);
	return true;
}

bool sim_number(struct sim_rank *r)
{
	struct sim_hold *h = &r->held[r->nheld - 1];
	int64_t token = 0;

	if (!goes_on(h, client_number(&r->clients, find(h), &token)))
		return false;
	sim_note(r, "has number %lld", (long long)token);
	sim_note_number(h, token);
	return true;
}

/* Release both locks of sim_acquire_part(). */
static void release_part(struct sim_rank *r)
{
	int rc;

	for (int i = 0; i < 2; i++) {
		sim_recorder_release(r, r->held[i].slot);
		sim_uncount(&r->held[i]);
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
	sim_uncount(h);
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
		sim_uncount(&r->held[i]);
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

	sim_end_hold(h);
	r->kept |= slot_bit(find(h));
	sim_note(r, "forgets lock %llu", (unsigned long long)h->lock);
	sim_recorder_release(r, h->slot);
	client_abandon(&r->clients, find(h));
	sim_recorder_released(r, h->slot);
	r->unsettled++;
	r->nheld--;
	r->world->deaths++;
}
