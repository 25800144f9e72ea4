/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_AGREE_H
#define BASE_AGREE_H

#include <limits.h>
#include <pawl.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether mine is true on every rank of comm; false if the MPI fails. Collective. */
static inline bool all_agree(MPI_Comm comm, bool mine)
{
	int ok = mine;

	return PMPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && ok;
}

/* All ranks get the text of the first one on which mine is true, as it is on some; returns that
 * rank. Collective. */
static inline int share_text(MPI_Comm comm, bool mine, char *text, size_t len)
{
	int rank, first;

	PMPI_Comm_rank(comm, &rank);
	first = mine ? rank : INT_MAX;
	PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
	PMPI_Bcast(text, (int)len, MPI_CHAR, first, comm);
	return first;
}

#endif
