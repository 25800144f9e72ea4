/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations that each rank issues in an MPI job; see count.h. */
#include "count.h"

#include <stdbool.h>

static int rank;

static void report(const char *kind, const char *topology, const struct pawl_stats *mine)
{
	struct pawl_stats all[COUNT_RANKS];

	MPI_Gather(mine, sizeof *mine, MPI_BYTE, all, sizeof *mine, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int r = 0; rank == 0 && r < COUNT_RANKS; r++)
		count_print(kind, topology, r, &all[r]);
}

static int play(const struct pawl_kind *kind, const char *topology)
{
	struct pawl_stats s;
	pawl_table *t;
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_topology", topology);
	if (count_has(kind, "lease"))
		MPI_Info_set(info, "pawl_lease", COUNT_LEASE);
	if (count_has(kind, "patience"))
		MPI_Info_set(info, "pawl_patience", COUNT_PATIENCE);
	if (count_has(kind, "stay"))
		MPI_Info_set(info, "pawl_stay", COUNT_STAY);
	rc = pawl_table_create(MPI_COMM_WORLD, kind->name, COUNT_LOCKS, info, &t);
	MPI_Info_free(&info);
	if (rc == PAWL_ERR_THREAD)
		return PAWL_SUCCESS; /* cannot be simulated */
	for (int turn = 0; turn < COUNT_TURNS && rc == PAWL_SUCCESS; turn++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (turn % COUNT_RANKS != rank)
			continue;
		rc = pawl_lock_acquire(t, (uint64_t)turn % COUNT_LOCKS, count_mode(kind, turn));
		if (rc == PAWL_SUCCESS)
			rc = pawl_lock_release(t, (uint64_t)turn % COUNT_LOCKS);
	}
	if (rc != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", kind->name, pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	pawl_table_get_stats(t, &s);
	report(kind->name, topology, &s);
	return pawl_table_free(&t);
}

static bool plays(const struct pawl_kind *kind)
{
	return strcmp(kind->name, "mpi-win-lock") != 0 && !(kind->capabilities & PAWL_CAP_RANGES);
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;
	int ranks, rc = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != COUNT_RANKS) {
		fprintf(stderr, "%d ranks are needed\n", COUNT_RANKS);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		for (int k = 0; count_topologies[k] && plays(kind); k++)
			rc |= play(kind, count_topologies[k]);
	MPI_Finalize();
	return rc != 0;
}
