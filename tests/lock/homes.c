/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Home functions with ranks on several nodes, each of which keeps its map: the homes are
 * those of the function, and a function that returns different homes on different nodes is refused
 * on all ranks.
 */
#include <string.h>

#include "tables.h"

enum { LOCKS = 40 };

static int node; /* of this rank */

static int backwards(uint64_t lock, void *arg)
{
	(void)arg;
	return (int)((LOCKS - 1 - lock) % (uint64_t)tap_size);
}

/* Different on each node, the same on all its ranks. */
static int by_node(uint64_t lock, void *arg)
{
	(void)arg;
	return (int)((lock + (uint64_t)node) % (uint64_t)tap_size);
}

static void mapped(void)
{
	pawl_table *t = table_open_homed("d-mcs", LOCKS, backwards);
	int home;

	for (uint64_t l = 0; t && l < LOCKS; l++) {
		expect_code(pawl_table_home(t, l, &home), PAWL_SUCCESS, "home");
		expect(home == backwards(l, NULL), "lock %d is at rank %d", (int)l, home);
	}
	table_close(t);
	result("homes are those of the function");
}

static void different(void)
{
	pawl_table *t = NULL;

	expect_code(pawl_table_create_homed(MPI_COMM_WORLD, "d-mcs", LOCKS, by_node, NULL,
					    MPI_INFO_NULL, &t),
		    PAWL_ERR_ARG, "a function that differs between nodes");
	expect(strstr(pawl_error_message(), "pure"), "the message: %s", pawl_error_message());
	result("a function that differs between nodes is refused");
}

/* With --set "topology=node:2 core:N" and 2 N ranks. */
int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	node = tap_rank / (tap_size / 2);
	mapped();
	different();
	return tap_end();
}
