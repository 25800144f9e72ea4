/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Homes by the caller's function: a map from lock to rank and index, 8 bytes a lock, which each
 * node keeps once, in shared memory.
 *
 * All ranks must see the same homes. So the nodes' maps are compared by a hash, and every rank
 * calls its own function for some of the locks.
 */
#include <stdlib.h>

#include "base/agree.h"
#include "base/error.h"
#include "base/hash.h"
#include "rma/own_windows.h"
#include "table/table.h"

enum { INDEX_BITS = 40, ASKED_AGAIN = 256 };

/* Fill the map (on one rank of each node). Returns the largest number of locks at a home; 0 if the
 * function returns an invalid rank, for lock *bad. */
static uint64_t assign(const pawl_table *t, pawl_home_fn *home, void *arg, uint64_t *map,
		       uint64_t *counts, uint64_t *bad)
{
	uint64_t most = 0;

	for (uint64_t l = 0; l < t->setup.n; l++) {
		int rank = home(l, arg);

		if (rank < 0 || rank >= t->setup.topo->nranks) {
			*bad = l;
			return 0;
		}
		map[l] = (uint64_t)rank << INDEX_BITS | counts[rank]++;
		if (counts[rank] > most)
			most = counts[rank];
	}
	return most;
}

static uint64_t hash_of(const uint64_t *map, uint64_t n)
{
	uint64_t h = HASH_BEGIN;

	for (uint64_t l = 0; l < n; l++)
		h = hash_add(h, map[l]);
	return h;
}

/* The first checked lock for which this rank's function differs from the map; n: none. */
static uint64_t disagrees(const pawl_table *t, pawl_home_fn *home, void *arg, const uint64_t *map)
{
	uint64_t n = t->setup.n, step = n > ASKED_AGAIN ? n / ASKED_AGAIN : 1;

	for (uint64_t l = 0; l < n; l += step)
		if (home(l, arg) != (int)(map[l] >> INDEX_BITS))
			return l;
	return n;
}

/* Whether all maps are equal and agree with the functions of all ranks. Collective. */
static int check_equal(pawl_table *t, pawl_home_fn *home, void *arg, const uint64_t *map, int rank)
{
	int64_t h[2], odd = (int64_t)disagrees(t, home, arg, map);

	h[0] = rank == 0 ? (int64_t)hash_of(map, t->setup.n) : INT64_MAX;
	h[1] = rank == 0 ? ~h[0] : INT64_MAX; /* the minimum of ~x gives the maximum of x */
	PMPI_Allreduce(MPI_IN_PLACE, h, 2, MPI_INT64_T, MPI_MIN, t->comm);
	PMPI_Allreduce(MPI_IN_PLACE, &odd, 1, MPI_INT64_T, MPI_MIN, t->comm);
	if ((uint64_t)odd < t->setup.n)
		return error_set(PAWL_ERR_ARG,
				 "the home function does not always give lock %llu the same rank;"
				 " it has to be a pure function, the same on all ranks",
				 (unsigned long long)odd);
	if (h[0] != ~h[1])
		return error_set(PAWL_ERR_ARG, "the home function gives locks other ranks on some"
					       " nodes than on others; it has to be a pure"
					       " function, the same on all ranks");
	return PAWL_SUCCESS;
}

int homes_create(pawl_table *t, pawl_home_fn *home, void *arg)
{
	MPI_Comm node_comm = t->job->node_comm;
	MPI_Aint bytes = 0, size;
	uint64_t *counts = NULL, *map = NULL, bad = 0;
	int64_t most = INT64_MAX; /* signed: MPICH's MPI_MIN compares unsigned values as signed */
	int rank, unit, rc;
	bool ok;

	PMPI_Comm_rank(node_comm, &rank);
	rc = table_check_memory(t, PAWL_SUCCESS, rank == 0 ? t->setup.n * sizeof *map : 0, false);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (rank == 0) {
		bytes = (MPI_Aint)(t->setup.n * sizeof *map);
		counts = calloc((size_t)t->setup.topo->nranks, sizeof *counts);
	}
	rc = own_windows.allocate_shared(bytes, 1, MPI_INFO_NULL, node_comm, &map, &t->homes_win);
	ok = own_windows_agree(node_comm, rc, &t->homes_win) && (rank > 0 || counts) &&
	     PMPI_Win_shared_query(t->homes_win, 0, &size, &unit, &map) == MPI_SUCCESS;
	if (!all_agree(t->comm, ok)) {
		free(counts);
		return error_set(PAWL_ERR_NOMEM, "no memory for the homes of %llu locks",
				 (unsigned long long)t->setup.n);
	}
	if (rank == 0)
		most = (int64_t)assign(t, home, arg, map, counts, &bad);
	free(counts);
	/* The minimum is 0 if the function failed on any node. */
	PMPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_UINT64_T, MPI_MAX, t->comm);
	PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MIN, t->comm);
	if (most == 0)
		return error_set(PAWL_ERR_ARG,
				 "the home function gave lock %llu a rank that is not in the"
				 " communicator (0 to %d)",
				 (unsigned long long)bad, t->setup.topo->nranks - 1);
	rc = check_equal(t, home, arg, map, rank);
	if (rc != PAWL_SUCCESS)
		return rc;
	t->setup.block = (uint64_t)most;
	t->setup.homes = map;
	t->setup.home = LOCK_HOME_MAP;
	return PAWL_SUCCESS;
}

void homes_free(pawl_table *t)
{
	if (t->homes_win != MPI_WIN_NULL)
		own_windows.free(&t->homes_win);
}
