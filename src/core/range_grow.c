/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls by which spaces grow and shrink. */
#include "core/error.h"
#include "core/table.h"

static int check(const pawl_table *t, uint64_t id)
{
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is null");
	if (!t->space.protocol->grow)
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no spaces that grow",
				 t->space.protocol->kind.name);
	return range_check_space(t, id);
}

/* The protocol's calls in the form that the guard runs: grow tells in slot->last how far the space
 * reaches then, and shrink finds in slot->first how many units are asked for. */
static int grow(const struct lock_space *s, struct lock_slot *slot)
{
	return s->protocol->grow(s, slot, &slot->last);
}

static int shrink(const struct lock_space *s, struct lock_slot *slot)
{
	s->protocol->shrink(s, slot, slot->first);
	return PAWL_SUCCESS;
}

static int home_died(uint64_t id)
{
	return error_set(PAWL_ERR_PEER,
			 "space %llu: a rank died that is its home, or has its turn to grow it",
			 (unsigned long long)id);
}

int pawl_range_grow(pawl_table *t, uint64_t id, int64_t *units)
{
	int rc = check(t, id);
	struct lock_slot *slot;
	pawl_range claimed;

	if (rc != PAWL_SUCCESS)
		return rc;
	slot = slots_claim_range(t, id, &claimed, &rc);
	if (!slot)
		return rc;
	rc = guard_perform(t, slot, grow);
	if (rc == PAWL_ERR_PEER) {
		slots_lose(t, slot);
		return home_died(id);
	}
	if (rc == PAWL_SUCCESS && units)
		*units = slot->last;
	slots_give_back(t, slot);
	if (rc == PAWL_SUCCESS || range_no_room(id, rc))
		return rc;
	return error_note(rc, pawl_strerror(rc));
}

static int check_shrink(const pawl_table *t, uint64_t id, int64_t units)
{
	int rc = check(t, id);

	if (rc != PAWL_SUCCESS)
		return rc;
	if (units < 1)
		return error_set(PAWL_ERR_ARG, "units: %lld is less than 1", (long long)units);
	if (slots_in_use(t))
		return error_set(PAWL_ERR_BUSY, "this rank holds or awaits a range of the table");
	return PAWL_SUCCESS;
}

int pawl_range_shrink(pawl_table *t, uint64_t id, int64_t units)
{
	const struct lock_protocol *p;
	struct lock_slot *slot;
	pawl_range claimed;
	uint64_t index;
	int home, rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is null");
	rc = life_check(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	/* After this nobody has anything of the table. */
	rc = table_agree(t->comm, check_shrink(t, id, units));
	if (rc != PAWL_SUCCESS)
		return rc;
	p = t->space.protocol;
	lock_home(&t->space, id, &home, &index);
	slot = slots_claim_range(t, id, &claimed, &rc);
	if (slot) {
		slot->first = units;
		if (t->rma.rank == home)
			rc = guard_perform(t, slot, shrink);
		if (rc == PAWL_ERR_PEER) {
			slots_lose(t, slot);
			home_died(id);
		} else {
			slots_give_back(t, slot);
		}
	}
	for (int i = 0; i < atomic_load(&t->top); i++)
		p->forget(&t->space, &t->slots[i]);
	return table_agree(t->comm, rc);
}
