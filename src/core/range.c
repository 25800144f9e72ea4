/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on ranges. */
#include "core/error.h"
#include "core/table.h"

int range_check_space(const pawl_table *t, uint64_t id)
{
	if (life_check(t) != PAWL_SUCCESS)
		return PAWL_ERR_MPI;
	if (id < t->space.n)
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_RANGE, "space %llu is not in 0 to %llu", (unsigned long long)id,
			 (unsigned long long)t->space.n - 1);
}

static int check(const pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
		 const pawl_range *range)
{
	const struct pawl_kind *kind;

	if (!t || !range)
		return error_set(PAWL_ERR_ARG, "%s is null", t ? "range" : "table");
	if (life_check(t) != PAWL_SUCCESS)
		return PAWL_ERR_MPI;
	kind = &t->space.protocol->kind;
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
	if (range_check_space(t, id) != PAWL_SUCCESS)
		return PAWL_ERR_RANGE;
	if (first < 0 || last < first)
		return error_set(PAWL_ERR_RANGE,
				 "units %lld to %lld: they begin at 0 or later and end where they"
				 " begin or later",
				 (long long)first, (long long)last);
	return PAWL_SUCCESS;
}

/* Whether the calling thread would wait for itself; and note if it has other ranges of the space.
 * Where threads share their ranges, others may come and go meanwhile: nothing is said then. */
static bool meets_itself(const pawl_table *t, struct lock_slot *slot)
{
	const struct lock_protocol *p = t->space.protocol;
	const struct lock_slot *other;
	int i = 0;

	slot->others = false;
	while ((other = slots_next_range(t, slot, &i))) {
		slot->others = true;
		if (!(t->threaded && t->by_process) && p->keeps_out &&
		    p->keeps_out(&t->space, other, slot->first, slot->last))
			return true;
	}
	return false;
}

bool range_no_room(uint64_t id, int code)
{
	if (code != PAWL_ERR_TOO_MANY)
		return false;
	error_set(code,
		  "space %llu: its home has no room for another recovery from a failure (option"
		  " recoveries)",
		  (unsigned long long)id);
	return true;
}

static int peer_died(pawl_table *t, struct lock_slot *slot)
{
	slots_lose(t, slot);
	return error_set(PAWL_ERR_PEER,
			 "units %lld to %lld of space %llu: a rank died that is their home, or"
			 " holds or awaits some of them",
			 (long long)slot->first, (long long)slot->last,
			 (unsigned long long)slot->lock);
}

static int acquire_by(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
		      uint64_t deadline_ns, pawl_range *range,
		      int (*how)(const struct lock_space *, struct lock_slot *))
{
	int rc = PAWL_SUCCESS;
	pawl_range claimed;
	struct lock_slot *slot = slots_claim_range(t, id, &claimed, &rc);

	if (!slot)
		return rc;
	slot->mode = mode;
	slot->first = first;
	slot->last = last;
	slot->deadline_ns = deadline_ns;
	if (meets_itself(t, slot)) {
		slots_give_back(t, slot);
		return error_set(
		    PAWL_ERR_HELD,
		    "units %lld to %lld: another range of this thread keeps some of them"
		    " (ranges may be rounded up; options k of citron, 0: they are not, and"
		    " segment_units of ss, 1)",
		    (long long)first, (long long)last);
	}
	rc = guard_perform(t, slot, how);
	if (rc == PAWL_ERR_PEER)
		return peer_died(t, slot);
	if (rc != PAWL_SUCCESS) {
		slots_give_back(t, slot);
		if (range_no_room(id, rc))
			return rc;
		return error_note(rc, rc == PAWL_ERR_BUSY ? "somebody else has some of the units"
				      : rc == PAWL_ERR_TIMEOUT ? "the time is over"
							       : pawl_strerror(rc));
	}
	slot->acquires++;
	*range = claimed;
	return PAWL_SUCCESS;
}

int pawl_range_acquire(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
		       pawl_range *range)
{
	int rc = check(t, id, first, last, mode, range);

	if (rc != PAWL_SUCCESS)
		return rc;
	return acquire_by(t, id, first, last, mode, 0, range, t->space.protocol->acquire);
}

int pawl_range_try_acquire(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
			   pawl_range *range)
{
	int rc = check(t, id, first, last, mode, range);

	if (rc != PAWL_SUCCESS)
		return rc;
	if (!(t->space.protocol->kind.capabilities & PAWL_CAP_TRY))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no try-acquire",
				 t->space.protocol->kind.name);
	return acquire_by(t, id, first, last, mode, 0, range, t->space.protocol->try_acquire);
}

int pawl_range_timed_acquire(pawl_table *t, uint64_t id, int64_t first, int64_t last, int mode,
			     double seconds, pawl_range *range)
{
	int rc = check(t, id, first, last, mode, range);
	double ns = seconds * 1e9;

	if (rc != PAWL_SUCCESS)
		return rc;
	if (!(seconds >= 0))
		return error_set(PAWL_ERR_ARG, "seconds: %g is negative or not a number", seconds);
	if (!(t->space.protocol->kind.capabilities & PAWL_CAP_TIMED))
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no timed acquire",
				 t->space.protocol->kind.name);
	/* More than a century is for ever. */
	return acquire_by(t, id, first, last, mode, ns < 4e18 ? rma_now_ns() + (uint64_t)ns : 0,
			  range, t->space.protocol->acquire);
}

static struct lock_slot *held(pawl_table *t, const pawl_range *range, int *code)
{
	struct lock_slot *slot;

	if (!t || !range) {
		*code = error_set(PAWL_ERR_ARG, "%s is null", t ? "range" : "table");
		return NULL;
	}
	*code = life_check(t);
	if (*code != PAWL_SUCCESS)
		return NULL;
	slot = slots_find_range(t, range);
	if (!slot)
		*code =
		    error_set(PAWL_ERR_NOT_HELD,
			      "the range is not held by this thread: never acquired, or released"
			      " already");
	return slot;
}

int pawl_range_release(pawl_table *t, const pawl_range *range)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = held(t, range, &rc);

	if (!slot)
		return rc;
	rc = guard_perform(t, slot, t->space.protocol->release);
	if (rc == PAWL_ERR_PEER)
		return peer_died(t, slot);
	if (rc == LOCK_LEFT) {
		slots_leave(t, slot);
		return PAWL_SUCCESS;
	}
	if (rc == PAWL_ERR_LEASE_LOST)
		error_set(rc,
			  "units %lld to %lld of space %llu were held longer than their lease, and"
			  " others may have had them since",
			  (long long)slot->first, (long long)slot->last,
			  (unsigned long long)slot->lock);
	slots_give_back(t, slot);
	return rc;
}

int pawl_range_abandon(pawl_table *t, const pawl_range *range)
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = held(t, range, &rc);

	if (!slot)
		return rc;
	if (!(t->space.protocol->kind.capabilities & PAWL_CAP_RECOVERS))
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "%s has no way to recover a range that its holder abandoned",
				 t->space.protocol->kind.name);
	if (!t->space.params.lease_us)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "option lease is 0, so nobody would recover an abandoned range");
	slots_abandon(t, slot);
	return PAWL_SUCCESS;
}
