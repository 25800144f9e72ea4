/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the mode in which a lock is held. To observers a change is a release and an acquire,
 * so the hold in each mode has a time of its own.
 */
#include "base/error.h"
#include "table/table.h"

/* The slot of this thread, which holds the lock in this mode; NULL: *rc is the code. */
static struct lock_slot *find(pawl_table *t, uint64_t lock, int mode, int *rc)
{
	struct lock_slot *slot = call_held_lock(t, lock, rc);

	if (*rc != PAWL_SUCCESS && *rc != PAWL_ERR_NOT_HELD)
		return NULL;
	if (!t->setup.protocol->change)
		*rc = error_set(PAWL_ERR_UNSUPPORTED,
				"%s cannot change the mode in which a lock is held: kinds with"
				" PAWL_CAP_UPGRADE can (mgl, declock)",
				t->setup.protocol->kind.name);
	else if (slot && slot->mode != mode)
		*rc = error_set(PAWL_ERR_NOT_HELD, "lock %llu%s is held by this thread, but not %s",
				(unsigned long long)lock, t->of_name,
				mode == PAWL_SHARED ? "with PAWL_SHARED" : "exclusively");
	return *rc == PAWL_SUCCESS ? slot : NULL;
}

static struct observe_record observe_change(pawl_table *t, struct lock_slot *slot, int mode,
					    const void *site)
{
	observe_release(t->observe, slot, site);
	observe_released(t->observe, slot, PAWL_SUCCESS);
	return observe_begin(t->observe, slot, mode, NULL, site);
}

/* The end of the acquire: after PAWL_ERR_BUSY and PAWL_ERR_TIMEOUT the lock is held shared. */
static void observe_changed(pawl_table *t, struct observe_record *r, struct lock_slot *slot, int rc,
			    const void *site)
{
	observe_acquired(t->observe, r, slot, rc);
	if (rc != PAWL_ERR_BUSY && rc != PAWL_ERR_TIMEOUT)
		return;
	*r = observe_begin(t->observe, slot, PAWL_SHARED, NULL, site);
	observe_acquired(t->observe, r, slot, PAWL_SUCCESS);
}

static int ended(const pawl_table *t, uint64_t lock, int rc)
{
	if (rc == PAWL_ERR_BUSY)
		return error_note(rc, "another holder that shares the lock is about to make it"
				      " exclusive, and waits for this one to release it");
	return rc == PAWL_SUCCESS ? rc : call_refused_lock(t, lock, rc);
}

static int upgrade(pawl_table *t, uint64_t lock, const double *seconds, const void *site)
{
	int rc;
	struct lock_slot *slot = find(t, lock, PAWL_SHARED, &rc);
	uint64_t deadline_ns = 0;
	struct observe_record r;

	if (slot && seconds)
		rc = call_check_time(t, *seconds, &deadline_ns);
	if (!slot || rc != PAWL_SUCCESS)
		return rc;
	if (t->observe)
		r = observe_change(t, slot, PAWL_EXCLUSIVE, site);
	rc = client_upgrade(&t->clients, slot, deadline_ns);
	if (t->observe)
		observe_changed(t, &r, slot, rc, site);
	return ended(t, lock, rc);
}

int pawl_lock_upgrade(pawl_table *t, uint64_t lock)
{
	return upgrade(t, lock, NULL, OBSERVE_SITE());
}

int pawl_lock_timed_upgrade(pawl_table *t, uint64_t lock, double seconds)
{
	return upgrade(t, lock, &seconds, OBSERVE_SITE());
}

int pawl_lock_downgrade(pawl_table *t, uint64_t lock)
{
	const void *site = OBSERVE_SITE();
	int rc;
	struct lock_slot *slot = find(t, lock, PAWL_EXCLUSIVE, &rc);
	struct observe_record r;

	if (!slot)
		return rc;
	if (t->observe)
		r = observe_change(t, slot, PAWL_SHARED, site);
	rc = client_downgrade(&t->clients, slot);
	if (t->observe)
		observe_changed(t, &r, slot, rc, site);
	return ended(t, lock, rc);
}
