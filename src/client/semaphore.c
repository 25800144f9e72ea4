/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting semaphores, and counters.
 *
 * PERMITS at the home is the number of permits that are left; if it is negative, that of clients
 * for which a release is still to come. An acquire subtracts 1, and has a permit if one was left. A
 * release adds n. In both cases one atomic is all that it takes if no client waits.
 *
 * An acquire that found none acquires the lock of the same number, and joins a queue (events.c). A
 * release that found a negative number owes as many of these clients a permit as there were, n at
 * most: it acquires the lock and wakes them, and what it owes to clients that have not joined yet
 * it adds to GRANTS, from which they take it when they hold the lock.
 *
 *   (A) A client that has subtracted and found none waits until it is owed a permit and gets it.
 *       The number of such clients is that of permits that are owed (by a release on its way, in
 *       GRANTS, or woken and not awake yet), plus -PERMITS if that is negative. Each step keeps
 *       this sum.
 *   (B) Only clients that have joined are woken. GRANTS is not zero only while the queue is empty,
 *       because a release adds to it what is left when the queue is empty, and a client takes from
 *       it before it would join. So by (A) each client gets its permit.
 *   (C) A client whose deadline has passed acquires the lock. If it has not been woken, and PERMITS
 *       is negative, it adds 1, by a compare-and-swap, and leaves the queue: that is one client
 *       less, and one permit less to come. If PERMITS is not negative, by (A) all clients that wait
 *       are owed a permit, so it waits for its own.
 *
 * Permits go in the order of the queue; a client that comes while permits are left does not queue.
 */
#include "client/events.h"

/* --------------------------------------------------------------------- words */

static int64_t fetch_and_add(const struct lock_setup *s, struct lock_slot *slot,
			     enum event_word which, int64_t value)
{
	struct rma_word w = event_word(s, slot, which);
	int64_t old;

	rma_fao(&slot->client, w, RMA_SUM, value, &old);
	rma_flush(&slot->client, w); /* orders the sum before the look at old */
	return old;
}

static int64_t swap(const struct lock_setup *s, struct lock_slot *slot, int64_t old, int64_t value)
{
	struct rma_word w = event_word(s, slot, EVENT_PERMITS);
	int64_t seen;

	rma_cas(&slot->client, w, old, value, &seen);
	rma_flush(&slot->client, w); /* orders the swap before the look at seen */
	return seen;
}

static int64_t permits(const struct lock_setup *s, struct lock_slot *slot)
{
	return event_get(slot, event_word(s, slot, EVENT_PERMITS));
}

/* -------------------------------------------------------------- steps of the guard */

static int take(const struct lock_setup *s, struct lock_slot *slot)
{
	return fetch_and_add(s, slot, EVENT_PERMITS, -1) > 0 ? PAWL_SUCCESS : PAWL_ERR_BUSY;
}

static int try_to_take(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t old, seen = permits(s, slot);

	do {
		old = seen;
		if (old <= 0)
			return PAWL_ERR_BUSY;
		seen = swap(s, slot, old, old - 1);
	} while (seen != old);
	return PAWL_SUCCESS;
}

/* With the lock: a permit that is owed, or a place in the queue (PAWL_ERR_BUSY). */
static int take_or_join(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_word grants = event_word(s, slot, EVENT_GRANTS);
	int64_t n = FAULT(semaphore_grants) ? 0 : event_get(slot, grants);

	if (n == 0) {
		event_join(s, slot);
		return PAWL_ERR_BUSY;
	}
	event_put(slot, grants, n - 1);
	return PAWL_SUCCESS;
}

/* (C), with the lock. PAWL_ERR_BUSY: a permit is on its way. */
static int give_up(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t old, seen;

	if (event_is_woken(s, slot) && !FAULT(semaphore_woken))
		return PAWL_SUCCESS;
	seen = permits(s, slot);
	do {
		old = seen;
		if (old >= 0)
			return PAWL_ERR_BUSY;
		seen = swap(s, slot, old, old + 1);
	} while (seen != old);
	return event_quit(s, slot);
}

/* Add value permits; done: to how many clients they are owed. */
static int give(const struct lock_setup *s, struct lock_slot *slot)
{
	struct event *e = event_of(slot);
	int64_t old, seen;

	if (e->most == 0) {
		old = fetch_and_add(s, slot, EVENT_PERMITS, e->value);
	} else {
		seen = permits(s, slot);
		do {
			old = seen;
			if (old > e->most - e->value)
				return CLIENT_TOO_MANY_PERMITS;
			seen = swap(s, slot, old, old + e->value);
		} while (seen != old);
	}
	e->done = old >= 0 ? 0 : -old < e->value ? -old : e->value;
	return PAWL_SUCCESS;
}

/* With the lock: wake value clients, and leave the rest in GRANTS. */
static int grant(const struct lock_setup *s, struct lock_slot *slot)
{
	struct event *e = event_of(slot);
	struct rma_word grants = event_word(s, slot, EVENT_GRANTS);

	event_wake(s, slot);
	if (e->done < e->value)
		event_put(slot, grants, event_get(slot, grants) + e->value - e->done);
	return PAWL_SUCCESS;
}

static int set_permits(const struct lock_setup *s, struct lock_slot *slot)
{
	event_put(slot, event_word(s, slot, EVENT_PERMITS), event_of(slot)->value);
	return PAWL_SUCCESS;
}

static int look(const struct lock_setup *s, struct lock_slot *slot)
{
	event_of(slot)->done = permits(s, slot);
	return PAWL_SUCCESS;
}

static int add(const struct lock_setup *s, struct lock_slot *slot)
{
	struct event *e = event_of(slot);

	e->done = fetch_and_add(s, slot, EVENT_COUNTER, e->value);
	return PAWL_SUCCESS;
}

/* ---------------------------------------------------------------- the calls */

/* A step with the lock; its code, or that of the lock. */
static int with_lock(struct client_set *set, struct lock_slot *slot, struct event *e,
		     int (*how)(const struct lock_setup *, struct lock_slot *))
{
	int rc = event_lock(set, slot), left;

	if (rc != PAWL_SUCCESS)
		return rc;
	rc = event_perform(set, slot, e, how);
	if (client_has_lost(rc))
		return rc;
	left = event_unlock(set, slot);
	return left == PAWL_SUCCESS ? rc : left;
}

/* *queued: the slot of the client, which is in the queue after SEMAPHORE_QUEUED. */
static int begin(struct client_set *set, uint64_t number, bool tries, struct lock_slot **queued)
{
	struct event e = {.number = number, .queue = EVENT_PERMIT_QUEUE};
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = *queued = slots_claim(set, number, 0, &rc);

	if (!slot)
		return rc;
	rc = event_perform(set, slot, &e, tries ? try_to_take : take);
	if (rc != PAWL_ERR_BUSY || tries)
		return client_end(set, slot, rc);
	rc = with_lock(set, slot, &e, take_or_join);
	if (rc != PAWL_ERR_BUSY)
		return client_end(set, slot, rc);
	slots_set_lock(&set->claims[slot->index], number | SLOTS_REQUESTED);
	return SEMAPHORE_QUEUED;
}

int semaphore_begin(struct client_set *set, uint64_t number, bool tries)
{
	struct lock_slot *slot;

	return begin(set, number, tries, &slot);
}

/* The client does not wait any more. */
static int end(struct client_set *set, struct lock_slot *slot, int rc)
{
	slots_set_lock(&set->claims[slot->index], slot->lock);
	return client_end(set, slot, rc);
}

int semaphore_await(struct client_set *set, struct lock_slot *slot, uint64_t deadline_ns)
{
	int rc = event_await(set, slot, deadline_ns);

	return rc == PAWL_ERR_TIMEOUT ? rc : end(set, slot, rc);
}

int semaphore_give_up(struct client_set *set, struct lock_slot *slot)
{
	struct event e = {.number = slot->lock, .queue = EVENT_PERMIT_QUEUE};
	int rc = with_lock(set, slot, &e, give_up);

	return end(set, slot, rc == PAWL_ERR_BUSY ? event_await(set, slot, 0) : rc);
}

int semaphore_acquire(struct client_set *set, uint64_t number, uint64_t deadline_ns, bool tries)
{
	struct lock_slot *slot;
	int rc = begin(set, number, tries, &slot);

	if (rc != SEMAPHORE_QUEUED)
		return rc;
	rc = semaphore_await(set, slot, deadline_ns);
	return rc == PAWL_ERR_TIMEOUT ? semaphore_give_up(set, slot) : rc;
}

int semaphore_release(struct client_set *set, uint64_t number, int64_t n, int64_t most)
{
	struct event e = {.number = number, .queue = EVENT_PERMIT_QUEUE, .value = n, .most = most};
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = slots_claim(set, number, 0, &rc);

	if (!slot)
		return rc;
	rc = event_perform(set, slot, &e, give);
	if (rc == PAWL_SUCCESS && e.done > 0) {
		e.value = e.done;
		rc = with_lock(set, slot, &e, grant);
	}
	return client_end(set, slot, rc);
}

/* With a slot that holds nothing: the client may hold the lock of this number. */
static int with_any_slot(struct client_set *set, struct event *e,
			 int (*how)(const struct lock_setup *, struct lock_slot *))
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = slots_claim_range(set, e->number, &rc);

	return slot ? client_end(set, slot, event_perform(set, slot, e, how)) : rc;
}

int semaphore_init(struct client_set *set, uint64_t number, int64_t value)
{
	struct event e = {.number = number, .value = value};

	return with_any_slot(set, &e, set_permits);
}

int semaphore_value(struct client_set *set, uint64_t number, int64_t *value)
{
	struct event e = {.number = number};
	int rc = with_any_slot(set, &e, look);

	*value = e.done;
	return rc;
}

int counter_add(struct client_set *set, uint64_t number, int64_t value, int64_t *before)
{
	struct event e = {.number = number, .value = value};
	int rc = with_any_slot(set, &e, add);

	*before = e.done;
	return rc;
}
