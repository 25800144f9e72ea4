/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tables of a communicator share: how many collectives the first and the second table
 * take, with trees that ranks copy and trees that they share; tables that outlive the program's
 * communicator, that are freed in another order, and with other options for the topology.
 *
 * Linked with --wrap, so that the library's collectives are counted.
 */
#include <pawl.h>
#include <stdlib.h>

#include "tests/lock/tables.h"
#include "tests/wrap.h"
#include "topo/discover.h"

enum { LOCKS = 64, TABLES = 3 };

static int collectives;

#define COLLECTIVE(name, parameters, arguments) \
	WRAP(int, name, parameters)             \
	{                                       \
		collectives++;                  \
		return __real_##name arguments; \
	}

COLLECTIVE(PMPI_Allreduce,
	   (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
	   (from, to, n, type, op, comm))
COLLECTIVE(PMPI_Iallreduce,
	   (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
	    MPI_Request *request),
	   (from, to, n, type, op, comm, request))
COLLECTIVE(PMPI_Reduce,
	   (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root,
	    MPI_Comm comm),
	   (from, to, n, type, op, root, comm))
COLLECTIVE(PMPI_Bcast, (void *at, int n, MPI_Datatype type, int root, MPI_Comm comm),
	   (at, n, type, root, comm))
COLLECTIVE(PMPI_Barrier, (MPI_Comm comm), (comm))
COLLECTIVE(PMPI_Gather,
	   (const void *from, int n, MPI_Datatype type, void *to, int each, MPI_Datatype as,
	    int root, MPI_Comm comm),
	   (from, n, type, to, each, as, root, comm))
COLLECTIVE(PMPI_Scatter,
	   (const void *from, int n, MPI_Datatype type, void *to, int each, MPI_Datatype as,
	    int root, MPI_Comm comm),
	   (from, n, type, to, each, as, root, comm))
COLLECTIVE(PMPI_Allgather,
	   (const void *from, int n, MPI_Datatype type, void *to, int each, MPI_Datatype as,
	    MPI_Comm comm),
	   (from, n, type, to, each, as, comm))
COLLECTIVE(PMPI_Allgatherv,
	   (const void *from, int n, MPI_Datatype type, void *to, const int *each, const int *at,
	    MPI_Datatype as, MPI_Comm comm),
	   (from, n, type, to, each, at, as, comm))
COLLECTIVE(PMPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
COLLECTIVE(PMPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
	   (comm, color, key, made))
COLLECTIVE(PMPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
	   (comm, type, key, info, made))
COLLECTIVE(PMPI_Win_create,
	   (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
	   (base, size, unit, info, comm, win))
COLLECTIVE(PMPI_Win_allocate_shared,
	   (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
	   (size, unit, info, comm, base, win))

/* The last rank counts for all: it leads no host. */
static int create(MPI_Comm comm, const char *topology, const char *transport, pawl_table **t)
{
	MPI_Info info;

	MPI_Info_create(&info);
	if (topology)
		MPI_Info_set(info, "pawl_topology", topology);
	if (topology || !tap_one_host)
		MPI_Info_set(info, "pawl_transport", transport);
	collectives = 0;
	expect_code(pawl_table_create(comm, "adaptive", LOCKS, info, t), PAWL_SUCCESS,
		    "pawl_table_create");
	MPI_Info_free(&info);
	return collectives;
}

static void count(pawl_table *t, int64_t *sum)
{
	for (uint64_t i = 0; t && i < LOCKS; i++) {
		expect_code(pawl_lock_acquire(t, 3, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		*(volatile int64_t *)sum += 1;
		expect_code(pawl_lock_release(t, 3), PAWL_SUCCESS, "release");
	}
}

/* The ranks of a host count together under a lock of the table. */
static void use(MPI_Comm world, pawl_table *t)
{
	int64_t *sums;
	MPI_Comm comm;
	MPI_Win win;
	int rank, size;

	MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof *sums : 0, 1, MPI_INFO_NULL, comm,
				&sums, &win);
	MPI_Win_shared_query(win, 0, &(MPI_Aint){0}, &(int){0}, &sums);
	if (rank == 0)
		*sums = 0;
	MPI_Barrier(comm);
	count(t, sums);
	MPI_Barrier(comm);
	expect(*sums == (int64_t)LOCKS * size, "%lld of %d", (long long)*sums, LOCKS * size);
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
}

static void free_table(pawl_table **t)
{
	expect_code(pawl_table_free(t), PAWL_SUCCESS, "pawl_table_free");
}

/* At most so many collectives for the first table and for each further one. */
static void counts(const char *topology, const char *transport, int few, int first, int further)
{
	pawl_table *t[TABLES] = {NULL};
	MPI_Comm comm;
	int n[TABLES];

	now_doing("%s, %s, trees are %s", topology ? topology : "as it is", transport,
		  few ? "copied" : "shared");
	topo_few_ranks = few;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (int i = 0; i < TABLES; i++) {
		n[i] = create(comm, topology, transport, &t[i]);
		use(comm, t[i]);
	}
	if (tap_rank == tap_size - 1) {
		expect(n[0] <= first, "%d collectives for the first table, bar %d", n[0], first);
		for (int i = 1; i < TABLES; i++)
			expect(n[i] <= further, "%d for a further one, bar %d", n[i], further);
	}
	/* The tables outlive the communicator, and the first of them the others. */
	MPI_Comm_free(&comm);
	free_table(&t[1]);
	use(MPI_COMM_WORLD, t[0]);
	free_table(&t[2]);
	use(MPI_COMM_WORLD, t[0]);
	free_table(&t[0]);
	MPI_Bcast(n, TABLES, MPI_INT, tap_size - 1, MPI_COMM_WORLD);
	result("%s, %s, trees are %s: %d collectives for the first table, %d for a further one",
	       topology ? topology : "as it is", transport, few ? "copied" : "shared", n[0], n[1]);
}

/* Tables of one communicator with different topologies, freed first to last and last to first. */
static void others(bool backwards)
{
	static const char *const topology[TABLES] = {NULL, "node:2", "node:1 package:2"};
	pawl_table *t[TABLES], *again;
	int taken;

	now_doing("other options for the topology");
	for (int i = 0; i < TABLES; i++)
		create(MPI_COMM_WORLD, topology[i], "mpi", &t[i]);
	for (int i = 0; i < TABLES; i++) {
		int at = backwards ? TABLES - 1 - i : i;

		taken = create(MPI_COMM_WORLD, topology[at], "mpi", &again);
		expect(taken <= 8, "%d collectives for a table like table %d", taken, at);
		use(MPI_COMM_WORLD, again);
		free_table(&again);
		use(MPI_COMM_WORLD, t[at]);
		free_table(&t[at]);
	}
	taken = create(MPI_COMM_WORLD, NULL, "mpi", &again);
	expect(taken > 8, "a communicator without tables has kept something");
	free_table(&again);
	result("tables with other topologies, freed %s", backwards ? "last to first" : "in order");
}

/* Option transport accepts ucx if the build has it. */
static bool has_ucx(void)
{
	pawl_table *t;
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_transport", "ucx");
	rc = pawl_table_create(MPI_COMM_SELF, "d-mcs", 1, info, &t);
	MPI_Info_free(&info);
	if (rc == PAWL_SUCCESS)
		pawl_table_free(&t);
	return rc == PAWL_SUCCESS;
}

int main(int argc, char **argv)
{
	/* Two more for the first window over nodes of Open MPI 4, which takes memory by itself. */
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION <= 4
	const int several = 15 + 2;
#else
	const int several = 15;
#endif

	setenv("PAWL_WATCHDOG", "0", 1); /* its board takes collectives of its own */
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int few = 256; few >= 0; few -= 256) {
		counts(NULL, "mpi", few, tap_one_host ? 13 : several, tap_one_host ? 6 : 8);
		if (!tap_one_host && has_ucx())
			counts(NULL, "ucx", few, 16, 7);
		/* The nodes of a synthetic topology take three, and over UCX a barrier. */
		if (tap_one_host)
			counts("node:2", "mpi", few, several + 3, 8);
		if (tap_one_host && has_ucx())
			counts("node:2", "ucx", few, 16 + 4, 7);
	}
	if (tap_one_host) {
		others(false);
		others(true);
	}
	return tap_end();
}
