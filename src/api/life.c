/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a holder about recoveries: what it holds is consistent again, and a number for its
 * writes to storage. */
#include "base/error.h"
#include "table/table.h"

/* What a slot held when the call began: after a failure it may belong to another thread. */
struct hold {
	uint64_t lock;
	struct client_units units;
};

static struct hold hold_of(const struct lock_slot *slot)
{
	return (struct hold){slot->lock, {slot->first, slot->last}};
}

static int ended(const pawl_table *t, const struct hold *h, int rc)
{
	if (rc == PAWL_SUCCESS)
		return rc;
	return t->ranges ? call_failed_range(t, h->lock, &h->units, rc)
			 : call_failed_lock(t, h->lock, rc);
}

/* dslr, a baseline, recovers and tells nobody. */
static int check_tells(const pawl_table *t)
{
	if (t->setup.lives || !lease_counts(t))
		return PAWL_SUCCESS;
	return error_set(PAWL_ERR_UNSUPPORTED, "%s does not tell holders of recoveries",
			 t->setup.protocol->kind.name);
}

static int repair(pawl_table *t, struct lock_slot *slot)
{
	struct hold h = hold_of(slot);
	int rc = check_tells(t);

	if (rc != PAWL_SUCCESS)
		return rc;
	return ended(t, &h, client_repair(&t->clients, slot));
}

static int is_consistent(pawl_table *t, struct lock_slot *slot, int *consistent)
{
	struct hold h = hold_of(slot);
	bool repaired;
	int rc;

	if (!consistent)
		return error_set(PAWL_ERR_ARG, "consistent is null");
	rc = check_tells(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	rc = client_is_repaired(&t->clients, slot, &repaired);
	*consistent = repaired;
	return ended(t, &h, rc);
}

static int number(pawl_table *t, struct lock_slot *slot, int64_t *token)
{
	struct hold h = hold_of(slot);
	int rc;

	if (!token)
		return error_set(PAWL_ERR_ARG, "token is null");
	rc = check_tells(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (!t->setup.lives)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "there are no tokens without option lease (kinds with"
				 " PAWL_CAP_RECOVERS): no other client gets what this one holds");
	return ended(t, &h, client_number(&t->clients, slot, token));
}

int pawl_lock_consistent(pawl_table *t, uint64_t lock)
{
	int rc;
	struct lock_slot *slot = call_held_lock(t, lock, &rc);

	if (!slot)
		return rc;
	if (slot->mode != PAWL_EXCLUSIVE)
		return error_set(PAWL_ERR_NOT_HELD,
				 "lock %llu%s is held by this thread, but not exclusively, so that"
				 " it cannot repair what the lock protects",
				 (unsigned long long)lock, t->of_name);
	return repair(t, slot);
}

int pawl_lock_is_consistent(pawl_table *t, uint64_t lock, int *consistent)
{
	int rc;
	struct lock_slot *slot = call_held_lock(t, lock, &rc);

	return slot ? is_consistent(t, slot, consistent) : rc;
}

int pawl_lock_token(pawl_table *t, uint64_t lock, int64_t *token)
{
	int rc;
	struct lock_slot *slot = call_held_lock(t, lock, &rc);

	return slot ? number(t, slot, token) : rc;
}

int pawl_range_consistent(pawl_table *t, const pawl_range *range)
{
	int rc;
	struct lock_slot *slot = call_held_range(t, range, &rc);

	if (!slot)
		return rc;
	if (slot->first != 0 || slot->last != PAWL_RANGE_END || slot->mode != PAWL_EXCLUSIVE)
		return error_set(PAWL_ERR_RANGE,
				 "units %lld to %lld of space %llu%s: only a client that has all"
				 " units (0 to PAWL_RANGE_END, exclusively) can say that all are"
				 " repaired",
				 (long long)slot->first, (long long)slot->last,
				 (unsigned long long)slot->lock, t->of_name);
	return repair(t, slot);
}

int pawl_range_is_consistent(pawl_table *t, const pawl_range *range, int *consistent)
{
	int rc;
	struct lock_slot *slot = call_held_range(t, range, &rc);

	return slot ? is_consistent(t, slot, consistent) : rc;
}

int pawl_range_token(pawl_table *t, const pawl_range *range, int64_t *token)
{
	int rc;
	struct lock_slot *slot = call_held_range(t, range, &rc);

	return slot ? number(t, slot, token) : rc;
}
