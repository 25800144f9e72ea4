/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock that the ranks of a table share, for locks that depend on time, and for observers.
 *
 * The ranks of one host have the same monotonic clock. Otherwise every rank asks rank 0 for the
 * time a few times. Rank 0 reads its clock between the question and the answer, so the middle of
 * the round trip is wrong by at most half of it, and the quickest round trip counts (Cristian,
 * 1989). From then on the clocks drift: two quartz clocks, even if one of them is being steered, by
 * at most 100 us a second.
 */
#include "rma/shared_clock.h"

#include <unistd.h>

#include "base/hash.h"
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

static bool is_one_host(MPI_Comm comm)
{
	char host[256] = "";
	int64_t range[2];

	gethostname(host, sizeof host - 1);
	range[0] = (int64_t)hash_text(HASH_BEGIN, host);
	range[1] = ~range[0]; /* the minimum of ~x gives the maximum of x */
	PMPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MIN, comm);
	return range[0] == ~range[1];
}

struct rma_shared_clock rma_compare_clocks(MPI_Comm comm)
{
	struct rma_shared_clock k = {.offset_ns = 0};
	int rank, ranks;

	if (is_one_host(comm))
		return k;
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &ranks);
	for (int r = 1; r < ranks; r++)
		if (rank == 0)
			answer(comm, r);
		else if (rank == r)
			ask(comm, &k);
	return k;
}
