/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Acquires whose state is in a structure of the caller (scope.h).
 *
 * A scope first tries, which costs as much as an acquire if nobody is in the way. Else it requests
 * what it wants, one lock after the other: several locks in ascending order and a part after its
 * whole, so that clients do not deadlock (client/many.c, (A)). It holds those that come first
 * while it waits for the next one.
 *
 * The wait for a range is not timed, unless the caller's is: a timed acquire of citron has no place
 * in the order of arrival. Such a request, and one of a kind without PAWL_CAP_TIMED, ends in a
 * thread of the library, where there can be one (table/left.c); else the caller waits for the lock.
 */
#include "api/scope.h"

#include "base/error.h"
#include "table/table.h"

enum { SLICE_NS = 50000000 };

static bool has_request(const struct pawl_private_scope *s)
{
	return s->request.opaque[0] != 0;
}

static int intent_of(const struct pawl_private_scope *s)
{
	return client_intent_for(s->mode);
}

/* Forget what a former use of the structure has left. */
static void reset(struct pawl_private_scope *s)
{
	s->state = SCOPE_NONE;
	s->done = s->latest = s->deadline_ns = 0;
	s->request = (pawl_request){{0}};
}

/* ------------------------------------------------------------------ the end */

static int release(const struct pawl_private_scope *s)
{
	pawl_table *t = *s->table;

	switch (s->what) {
	case SCOPE_PART:
		return pawl_lock_release_part(t, s->lock, s->part);
	case SCOPE_MANY:
		return pawl_lock_release_many(t, s->n, s->locks);
	case SCOPE_RANGE:
		return pawl_range_release(t, &s->range);
	case SCOPE_SEMAPHORE:
		return pawl_semaphore_release(t, s->lock, (int64_t)s->n, s->first);
	default:
		return pawl_lock_release(t, s->lock);
	}
}

/* Release those of several locks that it has so far. */
static void release_some(struct pawl_private_scope *s)
{
	pawl_table *t = *s->table;

	if (s->what == SCOPE_PART && s->done > 0)
		pawl_lock_release(t, s->lock);
	for (uint64_t i = 0; s->what == SCOPE_MANY && s->done > 0 && i < s->n; i++)
		if (s->locks[i] <= s->latest)
			pawl_lock_release(t, s->locks[i]);
}

/* Of a semaphore. A permit may be on its way. */
static int leave_queue(const struct pawl_private_scope *s)
{
	int rc = call_semaphore_leave(*s->table, s->lock);

	if (rc == PAWL_SUCCESS)
		return release(s);
	return rc == PAWL_ERR_TIMEOUT ? PAWL_SUCCESS : rc;
}

int pawl_private_scope_end(struct pawl_private_scope *s)
{
	int state = s->state, rc = PAWL_SUCCESS;

	if (state == SCOPE_NONE)
		return rc;
	if (!*s->table) { /* freed, after MPI_Finalize */
		reset(s);
		return rc;
	}
	if (has_request(s)) {
		rc = call_request_leave(&s->request);
		if (rc == PAWL_ERR_ARG)
			return rc;
	}
	if (state == SCOPE_PENDING && s->what == SCOPE_SEMAPHORE && s->done) {
		rc = leave_queue(s);
		if (rc == PAWL_ERR_ARG)
			return rc;
	}
	s->state = SCOPE_NONE;
	if (state == SCOPE_HELD)
		return release(s);
	if (s->what != SCOPE_SEMAPHORE)
		release_some(s);
	return rc;
}

int pawl_private_scope_exit(struct pawl_private_scope *s, void *kind, void *value, void *traceback)
{
	(void)kind, (void)value, (void)traceback;
	return pawl_private_scope_end(s);
}

int pawl_private_scope_give(struct pawl_private_scope *s, void *kind, void *value, void *traceback)
{
	(void)kind, (void)value, (void)traceback;
	if (s->state != SCOPE_HELD)
		return error_set(PAWL_ERR_NOT_HELD, "this object holds nothing, or is freed");
	if (s->what == SCOPE_SEMAPHORE)
		return release(s);
	if (s->n == 0)
		return pawl_private_scope_end(s);
	s->n--;
	return PAWL_SUCCESS;
}

int pawl_private_scope_put(struct pawl_private_scope *s)
{
	return pawl_private_scope_give(s, NULL, NULL, NULL);
}

int pawl_private_scope_drop(struct pawl_private_scope *s)
{
	return s->state == SCOPE_PENDING ? pawl_private_scope_end(s) : PAWL_SUCCESS;
}

int pawl_private_scope_release(const struct pawl_private_scope *what)
{
	return release(what);
}

int pawl_private_scope_leave(const struct pawl_private_scope *what, void *kind, void *value,
			     void *traceback)
{
	(void)kind, (void)value, (void)traceback;
	return release(what);
}

/* ---------------------------------------------------------------- the begin */

static int try_part(const struct pawl_private_scope *s, pawl_table *t)
{
	const uint64_t locks[] = {s->lock, s->part};
	const int modes[] = {intent_of(s), s->mode};

	return pawl_lock_try_acquire_many(t, 2, locks, modes);
}

static int try_it(struct pawl_private_scope *s, pawl_table *t)
{
	switch (s->what) {
	case SCOPE_PART:
		return try_part(s, t);
	case SCOPE_MANY:
		return pawl_lock_try_acquire_many(t, s->n, s->locks, s->modes);
	case SCOPE_RANGE:
		return pawl_range_try_acquire(t, s->lock, s->first, s->last, s->mode, &s->range);
	case SCOPE_SEMAPHORE:
		return pawl_semaphore_try_acquire(t, s->lock);
	default:
		return pawl_lock_try_acquire(t, s->lock, s->mode);
	}
}

/* What the try would say of the arguments. */
static int check(const struct pawl_private_scope *s, const pawl_table *t)
{
	if (s->what == SCOPE_RANGE)
		return call_check_range(t, s->lock, s->first, s->last, s->mode, &s->range);
	return call_check_lock(t, s->lock, s->mode);
}

/* Whether a scope that waits is not to try first: observers would count the try. */
static bool is_untried(const struct pawl_private_scope *s, const pawl_table *t)
{
	return t && t->observe && (s->what == SCOPE_LOCK || s->what == SCOPE_RANGE) &&
	       s->wait != SCOPE_TRIES;
}

static int deadline(const struct pawl_private_scope *s, uint64_t *deadline_ns)
{
	return s->what == SCOPE_SEMAPHORE ? call_deadline(s->seconds, deadline_ns)
					  : call_check_time(*s->table, s->seconds, deadline_ns);
}

/* Languages with scopes ask for pawl_lock_is_consistent(). */
static int untold(int rc)
{
	return rc == PAWL_RECOVERED ? PAWL_SUCCESS : rc;
}

static int begin(struct pawl_private_scope *s)
{
	pawl_table *t = *s->table;
	int rc;

	if (is_untried(s, t)) {
		rc = check(s, t);
	} else {
		rc = untold(try_it(s, t));
		s->state = rc == PAWL_SUCCESS ? SCOPE_HELD : SCOPE_NONE;
		if (rc != PAWL_ERR_BUSY || s->wait == SCOPE_TRIES)
			return rc;
		rc = PAWL_SUCCESS;
	}
	if (rc == PAWL_SUCCESS && s->wait == SCOPE_TIMED)
		rc = deadline(s, &s->deadline_ns);
	if (rc != PAWL_SUCCESS)
		return rc;
	s->state = SCOPE_PENDING;
	return SCOPE_GO_ON;
}

/* The deadline of a timed acquire is checked also if nobody is in the way. */
static int check_time(const struct pawl_private_scope *s)
{
	uint64_t deadline_ns;

	return *s->table && s->wait == SCOPE_TIMED ? deadline(s, &deadline_ns) : PAWL_SUCCESS;
}

int pawl_private_scope_begin(struct pawl_private_scope *s)
{
	int rc;

	if (s->state != SCOPE_NONE)
		return error_set(PAWL_ERR_HELD, "this object holds or awaits what it names");
	reset(s);
	rc = check_time(s);
	return rc == PAWL_SUCCESS ? begin(s) : rc;
}

int pawl_private_scope_enter(const struct pawl_private_scope *what, struct pawl_private_scope *s)
{
	*s = *what;
	return pawl_private_scope_begin(s);
}

/* ----------------------------------------------------------------- the wait */

/* The next of several locks, and its mode. False: there is none. */
static bool next(const struct pawl_private_scope *s, uint64_t *lock, int *mode)
{
	bool found = false;

	if (s->what != SCOPE_MANY) {
		*lock = s->done > 0 ? s->part : s->lock;
		*mode = s->what == SCOPE_PART && s->done == 0 ? intent_of(s) : s->mode;
		return s->done < (s->what == SCOPE_PART ? 2 : 1);
	}
	for (uint64_t i = 0; i < s->n; i++) {
		if ((s->done > 0 && s->locks[i] <= s->latest) || (found && s->locks[i] >= *lock))
			continue;
		*lock = s->locks[i];
		*mode = s->modes ? s->modes[i] : PAWL_EXCLUSIVE;
		found = true;
	}
	return found;
}

static int request(struct pawl_private_scope *s, uint64_t lock, int mode, const void *site)
{
	const struct client_units units = {s->first, s->last};
	pawl_table *t = *s->table;
	bool is_range = s->what == SCOPE_RANGE, timed;
	int rc;

	timed = t->setup.protocol->kind.capabilities & PAWL_CAP_TIMED &&
		(!is_range || s->wait == SCOPE_TIMED);
	rc = call_request(t, lock, mode, is_range ? &units : NULL, timed, &s->request, site);
	if (rc == PAWL_SUCCESS && is_range) /* as client_name_range() */
		s->range = (pawl_range){{s->request.opaque[1], s->request.opaque[2]}};
	return rc;
}

static int fail(struct pawl_private_scope *s, int rc)
{
	release_some(s);
	s->state = SCOPE_NONE;
	return rc;
}

static int await_permit(struct pawl_private_scope *s, uint64_t until_ns)
{
	int rc = call_semaphore_wait(*s->table, s->lock, s->done, until_ns);

	s->done = rc == PAWL_ERR_TIMEOUT;
	if (s->done)
		return SCOPE_GO_ON;
	s->state = rc == PAWL_SUCCESS ? SCOPE_HELD : SCOPE_NONE;
	return rc;
}

/* until_ns 1: look once. */
static int go_on(struct pawl_private_scope *s, uint64_t until_ns, const void *site)
{
	uint64_t lock = 0;
	int mode = 0, done = 0, rc = PAWL_SUCCESS;

	while (next(s, &lock, &mode)) {
		if (!has_request(s))
			rc = request(s, lock, mode, site);
		if (rc == PAWL_SUCCESS)
			rc =
			    untold(until_ns == 1 ? pawl_request_test(&s->request, &done)
						 : call_request_wait(&s->request, until_ns, &done));
		if (rc != PAWL_SUCCESS)
			return has_request(s) ? rc : fail(s, rc);
		if (!done)
			return SCOPE_GO_ON;
		s->done++;
		s->latest = lock;
	}
	s->state = SCOPE_HELD;
	return PAWL_SUCCESS;
}

int pawl_private_scope_request(struct pawl_private_scope *s)
{
	int rc;

	reset(s);
	rc = check(s, *s->table);
	if (rc == PAWL_SUCCESS)
		rc = request(s, s->lock, s->mode, OBSERVE_SITE());
	if (rc != PAWL_SUCCESS)
		return rc;
	s->state = SCOPE_PENDING;
	return SCOPE_GO_ON;
}

int pawl_private_scope_look(struct pawl_private_scope *s)
{
	return s->state == SCOPE_PENDING ? go_on(s, 1, OBSERVE_SITE()) : PAWL_SUCCESS;
}

int pawl_private_scope_wait(struct pawl_private_scope *s)
{
	uint64_t until_ns = rma_now_ns() + SLICE_NS;
	bool last = s->deadline_ns && s->deadline_ns <= until_ns;
	int rc;

	if (s->state != SCOPE_PENDING)
		return PAWL_SUCCESS;
	until_ns = last ? s->deadline_ns : until_ns;
	rc = s->what == SCOPE_SEMAPHORE ? await_permit(s, until_ns)
					: go_on(s, until_ns, OBSERVE_SITE());
	if (rc != SCOPE_GO_ON || !last)
		return rc;
	rc = pawl_private_scope_end(s);
	return rc == PAWL_SUCCESS ? error_note(PAWL_ERR_TIMEOUT, "the deadline has passed") : rc;
}
