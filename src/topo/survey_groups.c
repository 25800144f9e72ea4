/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of hosts: rank 0 reads the file, or what the batch system has given to each host. */
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

/* Collective over comm: rank 0 gathers the hosts and sends to each its group numbers. Rank 0 of
 * leaders is rank 0 of comm. */
int survey_find_groups(struct survey *s)
{
	int leader = s->host_rank == 0, nhosts = 0;
	struct topo_host me, *hosts = NULL;
	int(*ids)[TOPO_MAX_GROUPS] = NULL;

	describe_host(&me);
	if (leader)
		PMPI_Comm_size(s->leaders, &nhosts);
	if (s->rank == 0) {
		hosts = survey_memory(s, (size_t)nhosts, sizeof(*hosts));
		ids = survey_memory(s, (size_t)nhosts, sizeof(*ids));
	}
	if (survey_agree(s) != 0)
		goto out;
	if (leader)
		survey_mpi_ok(s,
			      PMPI_Gather(&me, (int)sizeof(me), MPI_CHAR, hosts, (int)sizeof(me),
					  MPI_CHAR, 0, s->leaders),
			      "MPI_Gather");
	if (s->rank == 0 && !s->err[0]) {
		errno = 0;
		if (survey_given(s->req->file))
			groups_from_file(s, hosts, nhosts, ids);
		else
			topo_groups_slurm(&s->groups, hosts, nhosts, ids, s->err, sizeof(s->err));
		survey_note(s);
	}
	if (survey_agree(s) != 0)
		goto out;
	survey_mpi_ok(s, PMPI_Bcast(&s->groups, (int)sizeof(s->groups), MPI_BYTE, 0, s->comm),
		      "MPI_Bcast");
	if (leader)
		survey_mpi_ok(s,
			      PMPI_Scatter(ids, TOPO_MAX_GROUPS, MPI_INT, s->mine.group,
					   TOPO_MAX_GROUPS, MPI_INT, 0, s->leaders),
			      "MPI_Scatter");
	survey_mpi_ok(s, PMPI_Bcast(s->mine.group, TOPO_MAX_GROUPS, MPI_INT, 0, s->host),
		      "MPI_Bcast");
	survey_agree(s);
out:
	free(hosts);
	free(ids);
	return s->err[0] ? -1 : 0;
}
