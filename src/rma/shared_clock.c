/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock that the ranks of a table share, for locks that depend on time, and for observers.
 *
 * The ranks of one host have the same monotonic clock. The first rank of each other host asks rank
 * 0 for the time a few times, for all ranks of its host. Rank 0 reads its clock between the
 * question and the answer, so the middle of the round trip is wrong by at most half of it, and the
 * quickest round trip counts (Cristian, 1989). From then on the clocks drift: two quartz clocks,
 * even if one of them is being steered, by at most 100 us a second.
 */
#include "rma/shared_clock.h"

#include <stddef.h>

#include "base/agree.h"
#include "rma/clock.h"

enum { QUESTIONS = 16, DRIFT_PPM = 100, TAG = 1 };

static void answer(MPI_Comm comm, int rank)
{
	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t now;

		PMPI_Recv(NULL, 0, MPI_BYTE, rank, TAG, comm, MPI_STATUS_IGNORE);
		now = rma_now_ns();
		PMPI_Send(&now, 1, MPI_UINT64_T, rank, TAG, comm);
	}
}

static void ask(MPI_Comm comm, struct rma_shared_clock *k)
{
	k->error_ns = UINT64_MAX;
	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t before = rma_now_ns(), after, there;

		PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG, comm);
		PMPI_Recv(&there, 1, MPI_UINT64_T, 0, TAG, comm, MPI_STATUS_IGNORE);
		after = rma_now_ns();
		if ((after - before + 1) / 2 >= k->error_ns)
			continue;
		k->error_ns = (after - before + 1) / 2;
		k->offset_ns = (int64_t)(there - (before + (after - before) / 2));
		k->since_ns = there;
	}
	k->drift_ppm = DRIFT_PPM;
}

/* Rank 0 answers the others, one after the other. */
static void compare(MPI_Comm comm, struct rma_shared_clock *k)
{
	int rank, ranks;

	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &ranks);
	for (int r = 1; r < ranks; r++)
		if (rank == 0)
			answer(comm, r);
		else if (rank == r)
			ask(comm, k);
}

bool rma_compare_clocks(MPI_Comm comm, struct rma_shared_clock *k)
{
	MPI_Comm host = MPI_COMM_NULL, firsts = MPI_COMM_NULL;
	int rank, rank_in_host = 0;
	bool ok;

	*k = (struct rma_shared_clock){.offset_ns = 0};
	PMPI_Comm_rank(comm, &rank);
	ok = all_agree(comm, PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
						  &host) == MPI_SUCCESS);
	if (ok) {
		PMPI_Comm_rank(host, &rank_in_host);
		ok = all_agree(comm, PMPI_Comm_split(comm, rank_in_host == 0 ? 0 : MPI_UNDEFINED,
						     rank, &firsts) == MPI_SUCCESS);
	}
	if (ok && rank_in_host == 0) {
		compare(firsts, k);
		PMPI_Comm_free(&firsts);
	}
	ok = ok && PMPI_Bcast(k, sizeof *k, MPI_BYTE, 0, host) == MPI_SUCCESS;
	if (ok)
		PMPI_Comm_free(&host);
	return all_agree(comm, ok);
}
