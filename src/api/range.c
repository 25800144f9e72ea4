/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on ranges. */
#include "base/error.h"
#include "table/table.h"

int call_check_range(const pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
		     const pawl_range *range)
{
	const struct pawl_kind *kind;

	if (!t || !range)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "range" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	kind = &t->setup.protocol->kind;
	if (!(kind->capabilities & PAWL_CAP_RANGES))
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s has locks, and no ranges: pawl_lock_acquire() takes them",
				 kind->name);
	if (mode != PAWL_EXCLUSIVE && mode != PAWL_SHARED)
		return error_set(PAWL_ERR_ARG,
				 "mode: %d is none of PAWL_EXCLUSIVE (%d) and PAWL_SHARED (%d)",
				 mode, PAWL_EXCLUSIVE, PAWL_SHARED);
	if (mode == PAWL_SHARED && !(kind->capabilities & PAWL_CAP_SHARED))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no mode PAWL_SHARED", kind->name);
	if (call_check_name(t, id) != PAWL_SUCCESS)
		return PAWL_ERR_RANGE;
	if (first < 0 || last < first)
		return error_set(PAWL_ERR_RANGE,
				 "units %lld to %lld: they begin at 0 or later and end where they"
				 " begin or later",
				 (long long)first, (long long)last);
	return PAWL_SUCCESS;
}

static int lost(const pawl_table *t, uint64_t id, const struct client_units *units, int rc)
{
	char why[CALL_LOSS_LENGTH];

	return error_set(
	    rc, "units %lld to %lld of space %llu%s: %s", (long long)units->first,
	    (long long)units->last, (unsigned long long)id, t->of_name,
	    call_loss(t, rc, "their home has died, or a rank that holds or awaits some of them",
		      why));
}

static int meets_own(const pawl_table *t, uint64_t id, const struct client_units *units)
{
	struct client_units own;

	if (!client_find_own_range(&t->clients, id, units, &own))
		own = *units; /* threads share their ranges, and another one has released it */
	return error_set(PAWL_ERR_HELD,
			 "units %lld to %lld of space %llu%s meet units %lld to %lld, which this"
			 " thread has (ranges may be rounded up; options k of citron, 0: they are"
			 " not, and segment_units of ss, 1)",
			 (long long)units->first, (long long)units->last, (unsigned long long)id,
			 t->of_name, (long long)own.first, (long long)own.last);
}

int call_refused_range(const pawl_table *t, uint64_t id, const struct client_units *units, int rc)
{
	if (client_has_lost(rc))
		return lost(t, id, units, rc);
	if (rc == PAWL_ERR_HELD)
		return meets_own(t, id, units);
	if (rc == PAWL_ERR_BUSY)
		return error_note(rc, "another client has some of the units");
	return call_refused(t, id, rc);
}

static int acquire(pawl_table *t, uint64_t id, const struct client_units *units, int mode,
		   uint64_t deadline_ns, bool tries, pawl_range *range, const void *site)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = client_claim(&t->clients, id, mode, units, &rc);
	struct observe_record r;

	if (!slot)
		return call_refused_range(t, id, units, rc);
	if (t->observe)
		r = observe_begin(t->observe, slot, mode, units, site);
	rc = client_enter(&t->clients, slot, rc, mode, units, deadline_ns, tries);
	if (t->observe)
		observe_acquired(t->observe, &r, slot, rc);
	if (client_has_got(rc))
		*range = client_name_range(&t->clients, slot);
	return rc == PAWL_SUCCESS ? rc : call_refused_range(t, id, units, rc);
}

int pawl_range_acquire(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
		       pawl_range *range)
{
	const struct client_units units = {first, last};
	int rc = call_check_range(t, id, first, last, mode, range);

	return rc == PAWL_SUCCESS ? acquire(t, id, &units, mode, 0, false, range, OBSERVE_SITE())
				  : rc;
}

int pawl_range_try_acquire(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
			   pawl_range *range)
{
	const struct client_units units = {first, last};
	int rc = call_check_range(t, id, first, last, mode, range);

	if (rc == PAWL_SUCCESS)
		rc = call_check_try(t);
	return rc == PAWL_SUCCESS ? acquire(t, id, &units, mode, 0, true, range, OBSERVE_SITE())
				  : rc;
}

int pawl_range_timed_acquire(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
			     double seconds, pawl_range *range)
{
	const struct client_units units = {first, last};
	int rc = call_check_range(t, id, first, last, mode, range);
	uint64_t deadline_ns = 0;

	if (rc == PAWL_SUCCESS)
		rc = call_check_time(t, seconds, &deadline_ns);
	return rc == PAWL_SUCCESS
		   ? acquire(t, id, &units, mode, deadline_ns, false, range, OBSERVE_SITE())
		   : rc;
}

struct lock_slot *call_held_range(pawl_table *t, const pawl_range *range, int *code)
{
	struct lock_slot *slot;

	if (!t || !range) {
		*code = error_set(PAWL_ERR_ARG, "%s is null", t ? "range" : "table");
		return NULL;
	}
	*code = life_check(t);
	if (*code != PAWL_SUCCESS)
		return NULL;
	slot = client_find_range(&t->clients, range);
	if (!slot)
		*code =
		    error_set(PAWL_ERR_NOT_HELD,
			      "the range is not held by this thread: never acquired, or released"
			      " already");
	return slot;
}

int call_failed_range(const pawl_table *t, uint64_t id, const struct client_units *units, int rc)
{
	if (client_has_lost(rc))
		return lost(t, id, units, rc);
	if (rc == PAWL_ERR_LEASE_LOST)
		return error_set(rc,
				 "units %lld to %lld of space %llu%s were held longer than their"
				 " lease, and others may have had them since",
				 (long long)units->first, (long long)units->last,
				 (unsigned long long)id, t->of_name);
	return rc;
}

int pawl_range_release(pawl_table *t, const pawl_range *range)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = call_held_range(t, range, &rc);
	struct client_units units;
	uint64_t id;

	if (!slot)
		return rc;
	/* After the release the slot may belong to another thread. */
	units = (struct client_units){slot->first, slot->last};
	id = slot->lock;
	if (t->observe)
		observe_release(t->observe, slot, OBSERVE_SITE());
	rc = client_leave(&t->clients, slot);
	if (t->observe)
		observe_released(t->observe, slot, rc);
	rc = client_give_back(&t->clients, slot, rc);
	return rc == PAWL_SUCCESS ? rc : call_failed_range(t, id, &units, rc);
}

int pawl_range_abandon(pawl_table *t, const pawl_range *range)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = call_held_range(t, range, &rc);

	if (!slot)
		return rc;
	rc = call_check_abandon(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (t->observe)
		observe_abandon(t->observe, slot, OBSERVE_SITE());
	client_abandon(&t->clients, slot);
	return PAWL_SUCCESS;
}
