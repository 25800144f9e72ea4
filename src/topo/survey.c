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

int survey_agree_and(struct survey *s, bool *all)
{
	int mine[2] = {s->err[0] ? s->rank : INT_MAX, *all}, least[2] = {INT_MAX, 0};

	*all = false;
	if (!survey_mpi_ok(s, PMPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, s->comm),
			   "MPI_Allreduce"))
		return -1;
	*all = least[1];
	if (least[0] == INT_MAX)
		return 0;
	survey_mpi_ok(s, PMPI_Bcast(s->err, (int)sizeof(s->err), MPI_CHAR, least[0], s->comm),
		      "MPI_Bcast");
	survey_mpi_ok(s, PMPI_Bcast(&s->failure, 1, MPI_INT, least[0], s->comm), "MPI_Bcast");
	return -1;
}

int survey_agree(struct survey *s)
{
	bool all = true;

	return survey_agree_and(s, &all);
}
