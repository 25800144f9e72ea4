/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures of a survey. A rank that fails keeps its message in s->err and proceeds to the next
 * survey_agree(). There all ranks learn of the failure and leave together with its message. Between
 * two such calls, no path may skip a collective call.
 */
#include "topo/survey.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int survey_given(const char *option)
{
	return option && option[0];
}

int survey_mpi_ok(struct survey *s, int rc, const char *what)
{
	if (rc == MPI_SUCCESS)
		return 1;
	if (!s->err[0]) {
		snprintf(s->err, sizeof(s->err),
			 "%s failed while the ranks told each other where"
			 " they run",
			 what);
		s->failure = TOPO_MPI;
	}
	return 0;
}

int survey_agree_on(struct survey *s, int rc, const char *what, MPI_Comm *new_comm)
{
	survey_mpi_ok(s, rc, what);
	if (survey_agree(s) == 0)
		return 0;
	*new_comm = MPI_COMM_NULL;
	return -1;
}

void *survey_memory(struct survey *s, size_t n, size_t each)
{
	void *p = calloc(n ? n : 1, each);

	if (!p && !s->err[0]) {
		snprintf(s->err, sizeof(s->err), "topology: no memory for %zu records", n);
		s->failure = TOPO_NO_MEMORY;
	}
	return p;
}

void survey_note(struct survey *s)
{
	if (s->err[0] && errno == ENOMEM)
		s->failure = TOPO_NO_MEMORY;
}

int survey_agree(struct survey *s)
{
	int culprit = s->err[0] ? s->rank : INT_MAX, first = INT_MAX;

	if (!survey_mpi_ok(s, PMPI_Allreduce(&culprit, &first, 1, MPI_INT, MPI_MIN, s->comm),
			   "MPI_Allreduce"))
		return -1;
	if (first == INT_MAX)
		return 0;
	survey_mpi_ok(s, PMPI_Bcast(s->err, (int)sizeof(s->err), MPI_CHAR, first, s->comm),
		      "MPI_Bcast");
	survey_mpi_ok(s, PMPI_Bcast(&s->failure, 1, MPI_INT, first, s->comm), "MPI_Bcast");
	return -1;
}
