/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of hosts: rank 0 reads the file, or what the batch system has given to each host, and
 * tells the leaders. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo/survey.h"

static void groups_from_file(struct survey *s, const struct topo_host *hosts, int n,
			     int (*ids)[TOPO_MAX_GROUPS])
{
	FILE *f = fopen(s->req->file, "r");

	if (!f) {
		snprintf(
		    s->err, sizeof(s->err),
		    "topology_file: \"%.*s\" cannot be read by rank 0 (%s); accepted is the path "
		    "of a text file",
		    SHOWN, s->req->file, strerror(errno));
		return;
	}
	topo_groups_file(&s->groups, f, s->req->file, hosts, n, ids, s->err, sizeof(s->err));
	fclose(f);
}

static void copy_env(char *to, size_t size, const char *name)
{
	const char *value = getenv(name);

	if (value && strlen(value) < size)
		strcpy(to, value);
}

static void describe_host(struct topo_host *h)
{
	memset(h, 0, sizeof(*h));
	if (gethostname(h->name, sizeof(h->name) - 1) != 0)
		strcpy(h->name, "unknown");
	copy_env(h->addr, sizeof(h->addr), "SLURM_TOPOLOGY_ADDR");
	copy_env(h->pattern, sizeof(h->pattern), "SLURM_TOPOLOGY_ADDR_PATTERN");
}

int survey_wants_groups(const struct survey *s)
{
	const struct topo_request *r = s->req;

	return !survey_given(r->synthetic) && (survey_given(r->file) || !survey_given(r->groups) ||
					       strcmp(r->groups, "auto") == 0);
}

/* At rank 0, which leads its host: the answers to all leaders. */
static void make_answers(struct survey *s)
{
	int(*ids)[TOPO_MAX_GROUPS] = survey_memory(s, (size_t)s->hosts, sizeof(*ids));

	errno = 0;
	if (ids && survey_given(s->req->file))
		groups_from_file(s, s->names, s->hosts, ids);
	else if (ids)
		topo_groups_slurm(&s->groups, s->names, s->hosts, ids, s->err, sizeof(s->err));
	if (ids)
		survey_note(s);
	for (int h = 0; h < s->hosts; h++) {
		struct survey_answer *a = &s->answers[h];

		a->groups = s->groups;
		if (ids)
			memcpy(a->id, ids[h], sizeof(a->id));
	}
	free(ids);
}

void survey_find_groups(struct survey *s)
{
	struct survey_answer mine;
	struct topo_host me;

	describe_host(&me);
	memset(&mine, 0, sizeof(mine));
	survey_mpi_ok(s,
		      PMPI_Gather(&me, (int)sizeof(me), MPI_BYTE, s->names, (int)sizeof(me),
				  MPI_BYTE, 0, s->leaders),
		      "MPI_Gather");
	if (s->rank == 0)
		make_answers(s);
	if (!survey_mpi_ok(s,
			   PMPI_Scatter(s->answers, (int)sizeof(mine), MPI_BYTE, &mine,
					(int)sizeof(mine), MPI_BYTE, 0, s->leaders),
			   "MPI_Scatter"))
		return;
	s->groups = mine.groups;
	memcpy(s->mine.group, mine.id, sizeof(mine.id));
}
