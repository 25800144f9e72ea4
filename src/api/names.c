/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of locks. */
#include "base/error.h"
#include "table/table.h"

static int check(const pawl_table *t, const char *name, const uint64_t *lock)
{
	int rc;

	if (!t || !name || !lock)
		return error_set(PAWL_ERR_ARG, "%s is null",
				 !t      ? "table"
				 : !name ? "name"
					 : "lock");
	rc = life_check(t);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (!t->setup.names)
		return error_set(PAWL_ERR_UNSUPPORTED,
				 "the %s%s have no names: create the table with option names=yes"
				 " (info key pawl_names)",
				 t->ranges ? "spaces" : "locks", t->of_name);
	if (!*name)
		return error_set(PAWL_ERR_ARG, "name: is empty");
	return table_check_name(name);
}

int pawl_lock_named(pawl_table *t, const char *name, uint64_t *lock)
{
	char why[CALL_LOSS_LENGTH];
	uint64_t found;
	int rc = check(t, name, lock);

	if (rc != PAWL_SUCCESS)
		return rc;
	rc = client_named(&t->clients, name, &found);
	if (rc == PAWL_SUCCESS)
		*lock = found;
	else if (rc == PAWL_ERR_BUSY)
		rc = error_set(PAWL_ERR_TOO_MANY, "\"%s\": all %llu %s%s have other names", name,
			       (unsigned long long)t->setup.n, t->ranges ? "spaces" : "locks",
			       t->of_name);
	else if (client_has_lost(rc))
		error_set(
		    rc, "\"%s\": %s", name,
		    call_loss(t, rc, "the home of a lock that may have this name has died", why));
	else
		rc = call_refused(t, found, rc);
	return rc;
}
