/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conditions, semaphores and counters: tables with option events.
 *
 * The calls pawl_private_* are for the package of Python, which looks at signals while it waits,
 * and has several conditions for a lock: each has the queue of a number of its own.
 */
#include "api/scope.h"
#include "base/error.h"
#include "client/events.h"
#include "table/table.h"

/* ---------------------------------------------------------------- checks */

static int check_events(const pawl_table *t)
{
	if (t->setup.events)
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_UNSUPPORTED,
			 "the locks%s have no conditions, semaphores and counters: create the table"
			 " with option events=yes (info key pawl_events)",
			 t->of_name);
}

static int check(const pawl_table *t, uint64_t number)
{
	int rc = call_check_lock(t, number, PAWL_EXCLUSIVE);

	return rc == PAWL_SUCCESS ? check_events(t) : rc;
}

/* The slot of the calling thread, which holds the lock exclusively; NULL: *rc is the code. */
static struct lock_slot *find(pawl_table *t, uint64_t lock, uint64_t condition, int *rc)
{
	struct lock_slot *slot;

	*rc = check(t, lock);
	if (*rc == PAWL_SUCCESS)
		*rc = call_check_name(t, condition);
	if (*rc != PAWL_SUCCESS)
		return NULL;
	slot = client_find(&t->clients, lock);
	if (slot && slot->mode == PAWL_EXCLUSIVE)
		return slot;
	*rc = slot ? error_set(PAWL_ERR_NOT_HELD,
			       "lock %llu%s is held by this thread, but not exclusively",
			       (unsigned long long)lock, t->of_name)
		   : call_not_held(t, lock);
	return NULL;
}

/* After a step that has lost the lock or its slot. */
static int lost(const pawl_table *t, uint64_t lock, int rc)
{
	return rc == PAWL_SUCCESS || rc == PAWL_ERR_TIMEOUT ? rc : call_refused_lock(t, lock, rc);
}

/* ------------------------------------------------------------- conditions */

static int begin(pawl_table *t, struct lock_slot *slot, uint64_t condition, const void *site)
{
	int rc = event_enter(&t->clients, slot, condition);

	if (rc != PAWL_SUCCESS)
		return rc;
	if (t->observe)
		observe_release(t->observe, slot, site);
	rc = event_leave(&t->clients, slot);
	if (t->observe)
		observe_released(t->observe, slot, rc);
	return rc;
}

static int end(pawl_table *t, struct lock_slot *slot, uint64_t condition, const void *site)
{
	struct observe_record r;
	int rc;

	if (t->observe)
		r = observe_begin(t->observe, slot, PAWL_EXCLUSIVE, NULL, site);
	rc = event_return(&t->clients, slot);
	if (t->observe)
		observe_acquired(t->observe, &r, slot, rc);
	return rc == PAWL_SUCCESS ? event_end(&t->clients, slot, condition) : rc;
}

static int wait_until(pawl_table *t, uint64_t lock, uint64_t deadline_ns, const void *site)
{
	int rc;
	struct lock_slot *slot = find(t, lock, lock, &rc);

	if (!slot)
		return rc;
	rc = begin(t, slot, lock, site);
	if (rc != PAWL_SUCCESS)
		return lost(t, lock, rc);
	rc = event_await(&t->clients, slot, deadline_ns);
	rc = client_has_lost(rc) ? client_end(&t->clients, slot, rc) : end(t, slot, lock, site);
	if (rc == PAWL_ERR_TIMEOUT)
		return error_note(rc, "the deadline has passed");
	return lost(t, lock, rc);
}

int pawl_lock_wait(pawl_table *t, uint64_t lock)
{
	return wait_until(t, lock, 0, OBSERVE_SITE());
}

int pawl_lock_timed_wait(pawl_table *t, uint64_t lock, double seconds)
{
	uint64_t deadline_ns = 0;
	int rc = call_deadline(seconds, &deadline_ns);

	return rc == PAWL_SUCCESS ? wait_until(t, lock, deadline_ns, OBSERVE_SITE()) : rc;
}

int pawl_private_notify(pawl_table *t, uint64_t lock, uint64_t condition, int n, int *woken)
{
	int rc;
	struct lock_slot *slot = find(t, lock, condition, &rc);
	int64_t done = 0;

	if (slot && n < 0)
		rc = error_set(PAWL_ERR_ARG, "n: %d is less than 0", n);
	else if (slot)
		rc = lost(t, lock, event_notify(&t->clients, slot, condition, n, &done));
	if (woken && rc == PAWL_SUCCESS)
		*woken = (int)done;
	return rc;
}

int pawl_lock_notify(pawl_table *t, uint64_t lock, int n, int *woken)
{
	return pawl_private_notify(t, lock, lock, n, woken);
}

int pawl_private_wait_begin(pawl_table *t, uint64_t lock, uint64_t condition)
{
	int rc;
	struct lock_slot *slot = find(t, lock, condition, &rc);

	return slot ? lost(t, lock, begin(t, slot, condition, OBSERVE_SITE())) : rc;
}

int pawl_private_wait_look(pawl_table *t, uint64_t lock, double seconds)
{
	struct lock_slot *slot = event_find(&t->clients, lock);
	int rc;

	if (!slot)
		return call_not_held(t, lock);
	rc = event_await(&t->clients, slot, rma_now_ns() + (uint64_t)(seconds * 1e9));
	return lost(t, lock, client_end_if_lost(&t->clients, slot, rc));
}

int pawl_private_wait_end(pawl_table *t, uint64_t lock, uint64_t condition)
{
	struct lock_slot *slot = event_find(&t->clients, lock);

	return slot ? lost(t, lock, end(t, slot, condition, OBSERVE_SITE()))
		    : call_not_held(t, lock);
}

/* ------------------------------------------------- semaphores and counters */

int pawl_semaphore_init(pawl_table *t, uint64_t semaphore, int64_t value)
{
	int rc = check(t, semaphore);

	if (rc == PAWL_SUCCESS && value < 0)
		rc = error_set(PAWL_ERR_ARG, "value: %lld is less than 0", (long long)value);
	if (rc != PAWL_SUCCESS)
		return rc;
	return lost(t, semaphore, semaphore_init(&t->clients, semaphore, value));
}

int pawl_semaphore_get_value(pawl_table *t, uint64_t semaphore, int64_t *value)
{
	int rc = check(t, semaphore);

	if (rc == PAWL_SUCCESS && !value)
		rc = error_set(PAWL_ERR_ARG, "value is null");
	return rc == PAWL_SUCCESS
		   ? lost(t, semaphore, semaphore_value(&t->clients, semaphore, value))
		   : rc;
}

static int result(const pawl_table *t, uint64_t semaphore, int rc)
{
	if (rc == PAWL_ERR_BUSY)
		return error_note(rc, "the semaphore has no permit");
	if (rc == PAWL_ERR_TIMEOUT)
		return error_note(rc, "the deadline has passed");
	return lost(t, semaphore, rc);
}

static int acquire(pawl_table *t, uint64_t semaphore, uint64_t deadline_ns, bool tries)
{
	int rc = check(t, semaphore);

	if (rc != PAWL_SUCCESS)
		return rc;
	return result(t, semaphore, semaphore_acquire(&t->clients, semaphore, deadline_ns, tries));
}

int pawl_semaphore_acquire(pawl_table *t, uint64_t semaphore)
{
	return acquire(t, semaphore, 0, false);
}

int pawl_semaphore_try_acquire(pawl_table *t, uint64_t semaphore)
{
	return acquire(t, semaphore, 0, true);
}

int pawl_semaphore_timed_acquire(pawl_table *t, uint64_t semaphore, double seconds)
{
	uint64_t deadline_ns = 0;
	int rc = call_deadline(seconds, &deadline_ns);

	return rc == PAWL_SUCCESS ? acquire(t, semaphore, deadline_ns, false) : rc;
}

/* The slot of this thread, which is in the queue; NULL: *rc is the code. */
static struct lock_slot *find_queued(pawl_table *t, uint64_t semaphore, int *rc)
{
	struct lock_slot *slot = event_find(&t->clients, semaphore);

	*rc = slot ? PAWL_SUCCESS
		   : error_set(PAWL_ERR_ARG,
			       "this thread does not wait for semaphore %llu%s; only the one that"
			       " has begun to wait can go on or leave",
			       (unsigned long long)semaphore, t->of_name);
	return slot;
}

int call_semaphore_wait(pawl_table *t, uint64_t semaphore, bool queued, uint64_t until_ns)
{
	int rc = queued ? SEMAPHORE_QUEUED : check(t, semaphore);
	struct lock_slot *slot;

	if (rc == PAWL_SUCCESS)
		rc = semaphore_begin(&t->clients, semaphore, false);
	if (rc != SEMAPHORE_QUEUED)
		return result(t, semaphore, rc);
	slot = find_queued(t, semaphore, &rc);
	return slot ? result(t, semaphore, semaphore_await(&t->clients, slot, until_ns)) : rc;
}

int call_semaphore_leave(pawl_table *t, uint64_t semaphore)
{
	int rc;
	struct lock_slot *slot = find_queued(t, semaphore, &rc);

	return slot ? result(t, semaphore, semaphore_give_up(&t->clients, slot)) : rc;
}

int pawl_semaphore_release(pawl_table *t, uint64_t semaphore, int64_t n, int64_t most)
{
	int rc = check(t, semaphore);

	if (rc == PAWL_SUCCESS && (n < 1 || most < 0))
		rc = error_set(PAWL_ERR_ARG, "%s: %lld is less than %d", n < 1 ? "n" : "most",
			       (long long)(n < 1 ? n : most), n < 1);
	if (rc != PAWL_SUCCESS)
		return rc;
	rc = semaphore_release(&t->clients, semaphore, n, most);
	if (rc == CLIENT_TOO_MANY_PERMITS)
		return error_set(PAWL_ERR_RANGE,
				 "semaphore %llu%s would have more than %lld permits",
				 (unsigned long long)semaphore, t->of_name, (long long)most);
	return lost(t, semaphore, rc);
}

int pawl_counter_add(pawl_table *t, uint64_t counter, int64_t value, int64_t *before)
{
	int64_t was;
	int rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is a null handle");
	rc = call_check_name(t, counter);
	if (rc == PAWL_SUCCESS)
		rc = check_events(t);
	if (rc == PAWL_SUCCESS)
		rc = lost(t, counter, counter_add(&t->clients, counter, value, &was));
	if (rc == PAWL_SUCCESS && before)
		*before = was;
	return rc;
}
