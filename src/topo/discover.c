/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of a communicator run. MPI knows which ranks share a host, hwloc what is inside a
 * host, and a file or the batch system how hosts are grouped. Each fact is determined once: one
 * rank of a host asks hwloc for all ranks of the host, and rank 0 alone reads the file. Then all
 * ranks get the same table and build the same tree from it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/survey.h"

static const struct {
	enum topo_type type;
	const char *name;
} inner[SURVEY_LEVELS] = {
    [SURVEY_PACKAGE] = {TOPO_PACKAGE, "package"},
    [SURVEY_NUMA] = {TOPO_NUMA, "numa"},
    [SURVEY_L3] = {TOPO_CACHE, "l3"},
    [SURVEY_L2] = {TOPO_CACHE, "l2"},
};

static int share_places(struct survey *s)
{
	s->all = survey_memory(s, (size_t)s->size, sizeof(*s->all));
	if (survey_agree(s) != 0)
		return -1;
	survey_mpi_ok(
	    s, PMPI_Allgather(&s->mine, PLACE_INTS, MPI_INT, s->all, PLACE_INTS, MPI_INT, s->comm),
	    "MPI_Allgather");
	return survey_agree(s);
}

/* groups=N: N nodes to a group, in the order of their lowest ranks. A host's number is the lowest
 * of its ranks, so the group of a host is known before its other ranks come. */
static void group_every(struct survey *s)
{
	int nodes = 0;

	if (!s->every)
		return;
	for (int p = 0; p < s->size; p++) {
		if (s->all[p].host == p)
			s->all[p].group[0] = nodes++ / s->every;
		else
			s->all[p].group[0] = s->all[s->all[p].host].group[0];
	}
	s->groups.n = 1;
	snprintf(s->groups.name[0], sizeof(s->groups.name[0]), "group");
}

/* The inner levels of this job; of the cache levels, the outermost that divides some host. */
static int choose_inner(const struct survey *s, int *chosen)
{
	int shared = 0, n = 0;

	for (int p = 0; p < s->size; p++)
		shared |= s->all[p].shared;
	for (int i = 0; i < SURVEY_L3; i++)
		chosen[n++] = i;
	for (int i = SURVEY_L3; i <= SURVEY_L2 && n == SURVEY_L3; i++) {
		if (shared & 1 << i)
			chosen[n++] = i;
	}
	return n;
}

static struct topo *build_real(struct survey *s)
{
	struct topo_path *paths = survey_memory(s, (size_t)s->size, sizeof(*paths));
	enum topo_type types[TOPO_MAX_LEVELS];
	const char *names[TOPO_MAX_LEVELS];
	int chosen[SURVEY_LEVELS], ninner = choose_inner(s, chosen), n = 0;
	struct topo *t = NULL;

	if (!paths)
		return NULL;
	for (int g = 0; g < s->groups.n; g++, n++) {
		types[n] = TOPO_GROUP;
		names[n] = s->groups.name[g];
		for (int p = 0; p < s->size; p++)
			paths[p].id[n] = s->all[p].group[g];
	}
	types[n] = TOPO_NODE;
	names[n] = "node";
	for (int p = 0; p < s->size; p++)
		paths[p].id[n] = s->all[p].host;
	n++;
	for (int i = 0; i < ninner; i++, n++) {
		types[n] = inner[chosen[i]].type;
		names[n] = inner[chosen[i]].name;
		for (int p = 0; p < s->size; p++)
			paths[p].id[n] = s->all[p].inside[chosen[i]];
	}
	t = topo_build(s->size, n, types, names, paths, s->err, sizeof(s->err));
	free(paths);
	return t;
}

/* Add gangs to t if a host has fewer cores than ranks; frees t. */
static struct topo *with_gangs(struct survey *s, struct topo *t)
{
	int *cores = t ? survey_memory(s, (size_t)t->nnodes, sizeof(*cores)) : NULL;
	struct topo *gangs = NULL;

	if (cores) {
		for (int p = 0; p < s->size; p++)
			cores[t->node[p]] = s->all[p].cores;
		gangs = topo_add_gangs(t, cores, s->err, sizeof(s->err));
	}
	free(cores);
	topo_free(t);
	return gangs;
}

/* A node of the string must lie within a host. */
static void check_synthetic(struct survey *s, const struct topo *t)
{
	int *lowest = survey_memory(s, (size_t)t->nnodes, sizeof(*lowest));

	if (!lowest)
		return;
	for (int n = 0; n < t->nnodes; n++)
		lowest[n] = -1;
	for (int p = 0; p < s->size && !s->err[0]; p++) {
		int *low = &lowest[t->node[p]];

		if (*low < 0)
			*low = p;
		if (s->all[*low].host != s->all[p].host)
			snprintf(s->err, sizeof(s->err),
				 "topology: ranks %d and %d are in one node of \"%.*s\" but run on "
				 "different hosts; accepted are nodes within a host",
				 *low, p, SHOWN, s->req->synthetic);
	}
	free(lowest);
}

static void make_tree(struct survey *s, struct topo_job *job)
{
	errno = 0;
	if (survey_given(s->req->synthetic)) {
		job->topo = topo_parse(s->req->synthetic, s->size, s->err, sizeof(s->err));
		if (job->topo)
			check_synthetic(s, job->topo);
	} else {
		group_every(s);
		job->topo = with_gangs(s, build_real(s));
	}
	survey_note(s);
}

static void make_node_comm(struct survey *s, struct topo_job *job)
{
	if (!survey_given(s->req->synthetic)) {
		job->node_comm = s->host;
		s->host = MPI_COMM_NULL;
		return;
	}
	job->host_comm = s->host;
	s->host = MPI_COMM_NULL;
	survey_agree_on(
	    s, PMPI_Comm_split(s->comm, job->topo->node[s->rank], s->rank, &job->node_comm),
	    "MPI_Comm_split", &job->node_comm);
}

/* All ranks make the same text, for all of them know all places. */
static void describe_flat(const struct survey *s, char *text, size_t len)
{
	static const char *const reasons[] = {
	    [NO_AFFINITY] = "the kernel does not tell the cores of a rank",
	    [NO_HWLOC] = "hwloc cannot read the host (are HWLOC_* variables set?)",
	    [OTHER_MACHINE] = "hwloc describes another machine (are HWLOC_* variables set?)",
	};

	for (int p = 0; p < s->size; p++) {
		const struct place *at = &s->all[p];

		if (at->flat == NOT_FLAT)
			continue;
		snprintf(text, len,
			 "topology: the host of rank %d is taken as one node without parts, for %s"
			 "%s%s",
			 p, reasons[at->flat], at->why ? ": " : "",
			 at->why ? strerror(at->why) : "");
		return;
	}
}

/* All steps of the survey, up to the first failure. */
static int survey_job(struct survey *s, struct topo_job *job)
{
	int ask = !survey_given(s->req->synthetic) &&
		  (survey_given(s->req->file) || !survey_given(s->req->groups) ||
		   strcmp(s->req->groups, "auto") == 0);

	if (survey_find_hosts(s) != 0 || survey_look_inside(s) != 0)
		return -1;
	if (ask && survey_find_groups(s) != 0)
		return -1;
	if (share_places(s) != 0)
		return -1;
	make_tree(s, job);
	if (survey_agree(s) != 0)
		return -1;
	if (!survey_given(s->req->synthetic))
		describe_flat(s, job->warning, sizeof(job->warning));
	make_node_comm(s, job);
	job->host_ranks = s->host_size;
	job->host_cores = s->mine.cores;
	job->one_host = s->host_size == s->size;
	return survey_agree(s);
}

static void free_comm(MPI_Comm *comm)
{
	if (*comm != MPI_COMM_NULL)
		PMPI_Comm_free(comm);
}

int topo_discover(MPI_Comm comm, const struct topo_request *req, struct topo_job *job, char *err,
		  size_t errlen)
{
	struct survey s = {
	    .req = req, .comm = comm, .host = MPI_COMM_NULL, .leaders = MPI_COMM_NULL};
	int rc;

	*job = (struct topo_job){.node_comm = MPI_COMM_NULL, .host_comm = MPI_COMM_NULL};
	PMPI_Comm_rank(comm, &s.rank);
	PMPI_Comm_size(comm, &s.size);
	survey_compare_options(&s);
	if (!s.err[0])
		survey_check_options(&s);
	rc = survey_agree(&s);
	if (rc == 0)
		rc = survey_job(&s, job);
	if (rc != 0) {
		snprintf(err, errlen, "%s", s.err);
		topo_job_free(job);
	}
	free(s.all);
	free_comm(&s.host);
	free_comm(&s.leaders);
	return rc != 0 && s.failure ? s.failure : rc;
}

void topo_job_free(struct topo_job *job)
{
	free_comm(&job->node_comm);
	free_comm(&job->host_comm);
	topo_free(job->topo);
	job->topo = NULL;
}
