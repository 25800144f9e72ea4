/* SPDX-License-Identifier: BSD-3-Clause */
/* See tables.h. */
#include "tables.h"

#include <stdio.h>
#include <string.h>

#define REFUSED_S 5. /* a loop about a try ends */

bool expect_code(int got, int wanted, const char *what)
{
	return expect(got == wanted, "%s: %s instead of %s: %s", what, pawl_strerror(got),
		      pawl_strerror(wanted), got ? pawl_error_message() : "");
}

bool expect_message(const char *words)
{
	return expect(strstr(pawl_error_message(), words), "the message lacks \"%s\": %s", words,
		      pawl_error_message());
}

int table_home(const pawl_table *table, uint64_t lock)
{
	int rank = 0;

	expect_code(pawl_table_home(table, lock, &rank), PAWL_SUCCESS, "home");
	return rank;
}

bool has_got(int rc)
{
	return rc == PAWL_SUCCESS || rc == PAWL_RECOVERED;
}

bool expect_held(int got, const char *what)
{
	return expect_code(has_got(got) ? PAWL_SUCCESS : got, PAWL_SUCCESS, what);
}

bool readers_expire(const struct pawl_kind *kind)
{
	return strstr(kind->options, "lease") && !(kind->capabilities & PAWL_CAP_RECOVERS);
}

/* On a busy machine a holder may stop for longer than any lease that a test has time for, so
 * recovery is off here. Kinds whose readers depend on leases have short ones, because writers wait
 * for them. */
static void choose_lease(const char *name, MPI_Info info)
{
	const struct pawl_kind *kind = pawl_kind_find(name);

	if (kind && (kind->capabilities & PAWL_CAP_RECOVERS))
		MPI_Info_set(info, "pawl_lease", "0");
	else if (kind && readers_expire(kind))
		MPI_Info_set(info, "pawl_lease", "2000");
}

pawl_table *table_open(const char *kind, uint64_t n, const char *name, const char *value)
{
	pawl_table *table = NULL;
	MPI_Info info;
	char key[64];

	MPI_Info_create(&info);
	choose_lease(kind, info);
	if (name) {
		snprintf(key, sizeof key, "pawl_%s", name);
		MPI_Info_set(info, key, value);
	}
	expect_code(pawl_table_create(MPI_COMM_WORLD, kind, n, info, &table), PAWL_SUCCESS,
		    "pawl_table_create");
	MPI_Info_free(&info);
	return table;
}

bool tries_again(int rc, double began)
{
	if (rc != PAWL_ERR_BUSY || seconds_now() - began > REFUSED_S)
		return false;
	linger(100e-6);
	return true;
}

pawl_table *table_open_homed(const char *kind, uint64_t n, pawl_home_fn *home)
{
	pawl_table *table = NULL;
	MPI_Info info;

	MPI_Info_create(&info);
	choose_lease(kind, info);
	expect_code(pawl_table_create_homed(MPI_COMM_WORLD, kind, n, home, NULL, info, &table),
		    PAWL_SUCCESS, "pawl_table_create_homed");
	MPI_Info_free(&info);
	return table;
}

void table_close(pawl_table *table)
{
	if (!table)
		return;
	meet();
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "pawl_table_free");
	expect(!table, "pawl_table_free left the handle");
}
