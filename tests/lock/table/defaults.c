/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables under an MPI whose one-sided communication does not work (Open
 * MPI 4's osc/rdma):  defaults KIND one-node | by-network | nodes-by-string | two-hosts
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

static void works(const char *kind)
{
	pawl_table *table = table_open(kind, 10, NULL, NULL);

	for (uint64_t l = 0; table && l < 10; l++) {
		expect_code(pawl_lock_acquire(table, l, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(table, l), PAWL_SUCCESS, "release");
	}
	table_close(table);
	result("%s works on one node", kind);
}

static void fails_with_the_cure(const char *kind)
{
	pawl_table *table = NULL;

	expect_code(pawl_table_create(MPI_COMM_WORLD, kind, 10, MPI_INFO_NULL, &table),
		    PAWL_ERR_WINDOW, "create");
	expect(!table, "a table came of it");
	expect(strstr(pawl_error_message(), "OMPI_MCA_osc=^rdma"), "no cure in: %s",
	       pawl_error_message());
	note("%s", pawl_error_message());
	result("%s: creation fails on every rank, and says what to do", kind);
}

int main(int argc, char **argv)
{
	int none = 1;
	const char *kind = argc > 2 ? argv[1] : "", *what = argc > 2 ? argv[2] : "";

	if (strcmp(what, "nodes-by-string") == 0)
		setenv("PAWL_TOPOLOGY", "node:2 core:1", 1);
	tap_start(&none, &argv, MPI_THREAD_SINGLE);
	if (strcmp(what, "one-node") == 0)
		works(kind);
	else
		fails_with_the_cure(kind);
	return tap_end();
}
