/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Home functions with ranks on several nodes, each of which keeps its map: the homes are
 * those of the function, and a function that returns different homes on different nodes is refused
 * on all ranks. Names of locks, whose words are at the homes.
 */
#include <stdio.h>

#include "tests/lock/tables.h"

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
	expect_message("pure");
	result("a function that differs between nodes is refused");
}

/* Names with common beginnings, of up to 62 bytes. */
static const char *name_of(int i)
{
	static char text[64];
	const char *const first = "the first sixteen, and from here on what is different, and more";

	snprintf(text, sizeof text, "%.*s%d", 1 + i * 8 % 60, first, i);
	return text;
}

/* All names at the same time on all ranks, each in an order of its own; twice. */
static void named(void)
{
	enum { TWICE = 2 * LOCKS };
	pawl_table *t = table_open("d-mcs", LOCKS, "names", "yes");
	uint64_t found[LOCKS] = {0}, lock, least[LOCKS], of[LOCKS] = {0};

	for (int i = 0; t && i < TWICE; i++) {
		int which = (i * 7 + tap_rank * 13) % LOCKS;

		expect_code(pawl_lock_named(t, name_of(which), &lock), PAWL_SUCCESS, "named");
		expect(lock < LOCKS && (i < LOCKS || lock == found[which]), "%s: lock %d, was %d",
		       name_of(which), (int)lock, (int)found[which]);
		found[which] = lock;
	}
	MPI_Allreduce(found, least, LOCKS, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
	for (int i = 0; i < LOCKS; i++) {
		expect(found[i] == least[i], "%s: lock %d, and lock %d on another rank", name_of(i),
		       (int)found[i], (int)least[i]);
		expect(found[i] < LOCKS && of[found[i]]++ == 0, "%s has a lock of another name",
		       name_of(i));
	}
	lock = 77;
	expect_code(pawl_lock_named(t, "one more", &lock), PAWL_ERR_TOO_MANY, "one more");
	expect(lock == 77, "*lock has changed");
	expect_code(pawl_lock_named(t, "", &lock), PAWL_ERR_ARG, "no name");
	expect_code(pawl_lock_named(t, "a\tb", &lock), PAWL_ERR_ARG, "a name with a tab");
	table_close(t);
	result("as many names as locks, and one lock for each name");
}

/* With --set "topology=node:2 core:N" and 2 N ranks. */
int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	node = tap_rank / (tap_size / 2);
	mapped();
	different();
	named();
	return tap_end();
}
