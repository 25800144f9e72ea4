/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock that the ranks of a table share, for locks that depend on time.
 *
 * The ranks of one host have the same monotonic clock. Otherwise every rank asks rank 0 for the
 * time a few times. Rank 0 reads its clock between the question and the answer, so the middle of
 * the round trip is wrong by at most half of it, and the quickest round trip counts (Cristian,
 * 1989). From then on the clocks drift: two quartz clocks, even if one of them is being steered, by
 * at most 100 us a second.
 */
#include "table/table.h"

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

void clock_share(pawl_table *t)
{
	struct rma_shared_clock *k = &t->rma.clock;
	int ranks = t->setup.topo->nranks;

	if (t->job.one_host)
		return;
	for (int r = 1; r < ranks; r++)
		if (t->rma.rank == 0)
			answer(t->comm, r);
		else if (t->rma.rank == r)
			ask(t->comm, k);
}
