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

int pawl_range_grow(pawl_table *t, uint64_t id, int64_t *units)
{
	int rc = check(t, id);
	struct lock_slot *slot;
	pawl_range claimed;
	int64_t reach;

	if (rc != PAWL_SUCCESS)
		return rc;
	slot = slots_claim_range(t, id, &claimed, &rc);
	if (!slot)
		return rc;
	rc = t->space.protocol->grow(&t->space, slot, &reach);
	slots_give_back(t, slot);
	if (rc != PAWL_SUCCESS)
		return error_note(rc, pawl_strerror(rc));
	if (units)
		*units = reach;
	return PAWL_SUCCESS;
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
	if (slot && t->rma.rank == home)
		p->shrink(&t->space, slot, units);
	if (slot)
		slots_give_back(t, slot);
	for (int i = 0; i < atomic_load(&t->top); i++)
		p->forget(&t->space, &t->slots[i]);
	return table_agree(t->comm, slot ? PAWL_SUCCESS : rc);
}
