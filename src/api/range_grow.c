/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that grow and shrink spaces. */
#include "base/error.h"
#include "table/table.h"

static int check(const pawl_table *t, uint64_t id)
{
	if (!t)
		return error_set(PAWL_ERR_ARG, "table is null");
	if (life_check(t) != PAWL_SUCCESS)
		return life_check(t);
	if (!t->setup.protocol->range || !t->setup.protocol->range->grow)
		return error_set(PAWL_ERR_UNSUPPORTED, "%s has no spaces that grow",
				 t->setup.protocol->kind.name);
	return call_check_name(t, id);
}

static int refused(const pawl_table *t, uint64_t id, int rc)
{
	char why[CALL_LOSS_LENGTH];

	if (client_has_lost(rc))
		return error_set(
		    rc, "space %llu: %s", (unsigned long long)id,
		    call_loss(t, rc, "its home has died, or the rank whose turn it is to grow it",
			      why));
	return call_refused(t, id, rc);
}

int pawl_range_grow(pawl_table *t, uint64_t id, int64_t *units)
{
	int rc = check(t, id);
	int64_t reached;

	if (rc != PAWL_SUCCESS)
		return rc;
	rc = client_grow(&t->clients, id, &reached);
	if (rc != PAWL_SUCCESS)
		return refused(t, id, rc);
	if (units)
		*units = reached;
	return PAWL_SUCCESS;
}

static int check_shrink(const pawl_table *t, uint64_t id, int64_t units)
{
	int rc = check(t, id);

	if (rc != PAWL_SUCCESS)
		return rc;
	if (units < 1)
		return error_set(PAWL_ERR_ARG, "units: %lld is less than 1", (long long)units);
	if (client_in_use(&t->clients))
		return error_set(PAWL_ERR_BUSY, "this rank holds or awaits a range of the table");
	return PAWL_SUCCESS;
}

int pawl_range_shrink(pawl_table *t, uint64_t id, int64_t units)
{
	uint64_t index;
	int home, rc;

	if (!t)
		return error_set(PAWL_ERR_ARG, "table is null");
	rc = life_check(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (t->setup.posts)
		slots_settle_left(&t->clients);
	/* All ranks call this, so no client holds or awaits a range of the table from here on. */
	rc = table_agree(t->comm, check_shrink(t, id, units));
	if (rc != PAWL_SUCCESS)
		return rc;
	lock_home(&t->setup, id, &home, &index);
	if (t->rma.rank == home)
		rc = client_shrink(&t->clients, id, units);
	if (rc != PAWL_SUCCESS)
		rc = refused(t, id, rc);
	client_forget(&t->clients);
	return table_agree(t->comm, rc);
}
