/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of a communicator run. MPI knows which ranks share a host, hwloc what is inside a
 * host, and a file or the batch system how hosts are grouped. Each fact is determined once: the
 * leader of a host asks hwloc for all ranks of the host, and rank 0 alone reads the file. The
 * leaders tell each other, and each builds the same tree, for its host.
 *
 * Collectives: over comm five (three communicators, two agreements; one more agreement for many
 * ranks), over a host two, and over the leaders, if there are several, four. A synthetic topology
 * takes one more communicator and agreement.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/memory/shm.h"
#include "rma/own_windows.h"
#include "topo/survey.h"

int topo_few_ranks = 256;

static const struct {
	enum topo_type type;
	const char *name;
} inner[SURVEY_LEVELS] = {
    [SURVEY_PACKAGE] = {TOPO_PACKAGE, "package"},
    [SURVEY_NUMA] = {TOPO_NUMA, "numa"},
    [SURVEY_L3] = {TOPO_CACHE, "l3"},
    [SURVEY_L2] = {TOPO_CACHE, "l2"},
};

/* ---------------------------------------------------------------- communicators */

/* What the duplicate is for, if the MPI has no more. */
static const char too_many[] =
    "a table needs communicators of its own, and %s failed (MPIs have a limited number of"
    " communicators, MPICH 2048 for each process: free tables and communicators that are not used"
    " any more)";

static void made(struct survey *s, int rc, const char *call, MPI_Comm *comm)
{
	if (rc == MPI_SUCCESS)
		return;
	*comm = MPI_COMM_NULL;
	if (s->err[0])
		return;
	snprintf(s->err, sizeof(s->err), too_many, call);
	s->failure = TOPO_MPI;
}

/* Memory that leaders need, so that no later step can lack it. */
static void prepare_leader(struct survey *s)
{
	int names = s->rank == 0 && survey_wants_groups(s);

	PMPI_Comm_size(s->leaders, &s->hosts);
	s->heres = survey_memory(s, (size_t)s->host_size, sizeof(*s->heres));
	s->places = survey_memory(s, (size_t)s->host_size, sizeof(*s->places));
	s->all = survey_memory(s, (size_t)s->size, sizeof(*s->all));
	s->host_of = survey_memory(s, (size_t)s->hosts, sizeof(*s->host_of));
	s->count = survey_memory(s, (size_t)s->hosts, sizeof(*s->count));
	s->start = survey_memory(s, (size_t)s->hosts, sizeof(*s->start));
	if (names) {
		s->names = survey_memory(s, (size_t)s->hosts, sizeof(*s->names));
		s->answers = survey_memory(s, (size_t)s->hosts, sizeof(*s->answers));
	}
}

/* If some rank may lack one of them, they are left to the MPI, because MPI_Comm_free() would wait
 * for that rank. */
static int make_comms(struct survey *s)
{
	int leads = 0, rc;
	bool all;

	made(s, PMPI_Comm_dup(s->comm, &s->own), "MPI_Comm_dup", &s->own);
	made(s,
	     PMPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &s->host),
	     "MPI_Comm_split_type", &s->host);
	if (s->host != MPI_COMM_NULL) {
		PMPI_Comm_rank(s->host, &s->host_rank);
		PMPI_Comm_size(s->host, &s->host_size);
		leads = s->host_rank == 0;
	}
	made(s, PMPI_Comm_split(s->comm, leads ? 0 : MPI_UNDEFINED, s->rank, &s->leaders),
	     "MPI_Comm_split", &s->leaders);
	if (leads && s->leaders != MPI_COMM_NULL)
		prepare_leader(s);
	all = s->own != MPI_COMM_NULL && s->host != MPI_COMM_NULL &&
	      (s->leaders != MPI_COMM_NULL || !leads);
	rc = survey_agree_and(s, &all);
	if (!all) {
		s->own = s->host = s->leaders = MPI_COMM_NULL;
		return -1;
	}
	PMPI_Comm_set_errhandler(s->own, MPI_ERRORS_RETURN);
	PMPI_Comm_set_errhandler(s->host, MPI_ERRORS_RETURN);
	if (leads)
		PMPI_Comm_set_errhandler(s->leaders, MPI_ERRORS_RETURN);
	s->comm = s->own;
	return rc;
}

/* --------------------------------------------------------------------- the leaders */

/* The leaders' hosts and all places, in the order of hosts. */
static void share_places(struct survey *s)
{
	int at = 0;

	if (s->hosts == 1) {
		s->host_of[0] = s->mine;
		memcpy(s->all, s->places, (size_t)s->host_size * sizeof(*s->all));
		return;
	}
	if (!survey_mpi_ok(s,
			   PMPI_Allgather(&s->mine, HOST_INTS, MPI_INT, s->host_of, HOST_INTS,
					  MPI_INT, s->leaders),
			   "MPI_Allgather"))
		return;
	for (int h = 0; h < s->hosts; h++) {
		s->count[h] = s->host_of[h].ranks * PLACE_INTS;
		s->start[h] = at;
		at += s->count[h];
	}
	survey_mpi_ok(s,
		      PMPI_Allgatherv(s->places, s->host_size * PLACE_INTS, MPI_INT, s->all,
				      s->count, s->start, MPI_INT, s->leaders),
		      "MPI_Allgatherv");
}

/* groups=N: N nodes to a group, in the order of their lowest ranks, which is that of hosts. */
static void group_every(struct survey *s)
{
	if (!s->every)
		return;
	for (int h = 0; h < s->hosts; h++)
		s->host_of[h].group[0] = h / s->every;
	s->groups.n = 1;
	snprintf(s->groups.name[0], sizeof(s->groups.name[0]), "group");
}

/* The inner levels of this job; of the cache levels, the outermost that divides some host. */
static int choose_inner(const struct survey *s, int *chosen)
{
	int shared = 0, n = 0;

	for (int h = 0; h < s->hosts; h++)
		shared |= s->host_of[h].shared;
	for (int i = 0; i < SURVEY_L3; i++)
		chosen[n++] = i;
	for (int i = SURVEY_L3; i <= SURVEY_L2 && n == SURVEY_L3; i++) {
		if (shared & 1 << i)
			chosen[n++] = i;
	}
	return n;
}

static void fill_path(struct topo_path *to, const struct survey *s, int host,
		      const struct place *at, const int *chosen, int ninner)
{
	int n = 0;

	for (int g = 0; g < s->groups.n; g++)
		to->id[n++] = s->host_of[host].group[g];
	to->id[n++] = host;
	for (int i = 0; i < ninner; i++)
		to->id[n++] = at->inside[chosen[i]];
}

static struct topo *build_real(struct survey *s)
{
	struct topo_path *paths = survey_memory(s, (size_t)s->size, sizeof(*paths));
	enum topo_type types[TOPO_MAX_LEVELS];
	const char *names[TOPO_MAX_LEVELS];
	int chosen[SURVEY_LEVELS], ninner = choose_inner(s, chosen), n = 0;
	const struct place *at = s->all;
	struct topo *t = NULL;

	if (!paths)
		return NULL;
	for (int g = 0; g < s->groups.n; g++, n++) {
		types[n] = TOPO_GROUP;
		names[n] = s->groups.name[g];
	}
	types[n] = TOPO_NODE;
	names[n++] = "node";
	for (int i = 0; i < ninner; i++, n++) {
		types[n] = inner[chosen[i]].type;
		names[n] = inner[chosen[i]].name;
	}
	for (int h = 0; h < s->hosts; h++)
		for (int k = 0; k < s->host_of[h].ranks; k++, at++)
			fill_path(&paths[at->rank], s, h, at, chosen, ninner);
	t = topo_build(s->size, n, types, names, paths, s->err, sizeof(s->err));
	free(paths);
	return t;
}

/* Add gangs to t if a host has fewer cores than ranks; frees t then. */
static struct topo *with_gangs(struct survey *s, struct topo *t)
{
	int *cores = t ? survey_memory(s, (size_t)t->nnodes, sizeof(*cores)) : NULL;
	struct topo *gangs = NULL;

	for (int h = 0; cores && h < s->hosts; h++)
		cores[t->node[s->host_of[h].first]] = s->host_of[h].cores;
	if (cores && !topo_wants_gangs(t, cores)) {
		free(cores);
		return t;
	}
	if (cores)
		gangs = topo_add_gangs(t, cores, s->err, sizeof(s->err));
	free(cores);
	topo_free(t);
	return gangs;
}

/* A node of the string must lie within a host. Places come by host, so the ranks of a node are not
 * seen once more after those of another host. */
static void check_synthetic(struct survey *s, const struct topo *t)
{
	struct seen {
		int host, rank;
	} *seen = survey_memory(s, (size_t)t->nnodes, sizeof(*seen));
	const struct place *at = s->all;
	int low = s->size, p = 0;

	for (int h = 0; seen && h < s->hosts; h++)
		for (int k = 0; k < s->host_of[h].ranks; k++, at++) {
			struct seen *n = &seen[t->node[at->rank]];

			if (!n->host)
				*n = (struct seen){h + 1, at->rank};
			else if (n->host != h + 1 && at->rank < low)
				low = at->rank;
		}
	if (seen && low < s->size) {
		p = seen[t->node[low]].rank;
		snprintf(s->err, sizeof(s->err),
			 "topology: ranks %d and %d are in one node of \"%.*s\" but run on "
			 "different hosts; accepted are nodes within a host",
			 p, low, SHOWN, s->req->synthetic);
	}
	free(seen);
}

/* The tree of all ranks; NULL after a failure. */
static struct topo *make_tree(struct survey *s)
{
	struct topo *t;

	errno = 0;
	if (survey_given(s->req->synthetic)) {
		t = topo_parse(s->req->synthetic, s->size, s->err, sizeof(s->err));
		if (t)
			check_synthetic(s, t);
	} else {
		group_every(s);
		t = with_gangs(s, build_real(s));
	}
	survey_note(s);
	return t;
}

static void describe_flat(const struct survey *s, char *text, size_t len)
{
	static const char *const reasons[] = {
	    [NO_AFFINITY] = "the kernel does not tell the cores of a rank",
	    [NO_HWLOC] = "hwloc cannot read the host (are HWLOC_* variables set?)",
	    [OTHER_MACHINE] = "hwloc describes another machine (are HWLOC_* variables set?)",
	};

	for (int h = 0; h < s->hosts; h++) {
		const struct host *at = &s->host_of[h];

		if (at->flat == NOT_FLAT)
			continue;
		snprintf(text, len,
			 "topology: the host of rank %d is taken as one node without parts, for %s"
			 "%s%s",
			 at->first, reasons[at->flat], at->why ? ": " : "",
			 at->why ? strerror(at->why) : "");
		return;
	}
}

/* -------------------------------------------------------------------- one copy a host */

/* What a leader tells the ranks of its host: this, and the packed tree behind it. */
struct told {
	int cores;
	char warning[256];
	int64_t tree[];
};

/* A leader's tree may fail; the ranks of its host learn of it by the next agreement. */
static struct told *tell(struct survey *s, void *room, const struct topo *t)
{
	struct told *to = room;

	if (!to || !t)
		return to;
	to->cores = s->mine.cores;
	if (!survey_given(s->req->synthetic))
		describe_flat(s, to->warning, sizeof(to->warning));
	topo_pack(t, to->tree);
	return to;
}

/* Bytes for a tree of few ranks, whatever its levels are. */
static size_t most_bytes(const struct survey *s)
{
	size_t ints = (4 * TOPO_MAX_LEVELS + 3) * (size_t)s->size + TOPO_MAX_LEVELS;

	return sizeof(struct told) + 2 * sizeof(struct topo) + ints * sizeof(int) +
	       (size_t)TOPO_MAX_LEVELS * (sizeof(((struct topo_level *)0)->name) + 16);
}

static const struct told *copy_to_host(struct survey *s, const struct topo *t, struct topo_job *job)
{
	size_t bytes = most_bytes(s);

	/* Its memory is that of this rank, and all have a place to receive into. */
	tell(s, job->memory, s->err[0] ? NULL : t);
	survey_mpi_ok(s, PMPI_Bcast(job->memory, (int)bytes, MPI_BYTE, 0, s->host), "MPI_Bcast");
	return survey_agree(s) == 0 ? job->memory : NULL;
}

/* Whether the host has room for the copy, as far as its leader knows. */
static void check_room(struct survey *s, uint64_t bytes)
{
	struct shm_shortage shortage;

	if (s->err[0] || shm_has_room(bytes, 1, s->untouched, s->apart, &shortage))
		return;
	shm_tell(&shortage, "the topology of all ranks", s->err, sizeof(s->err));
	s->failure = shortage.apart ? TOPO_APART : TOPO_NO_MEMORY;
}

static const struct told *share_with_host(struct survey *s, const struct topo *t,
					  struct topo_job *job)
{
	size_t bytes = t ? sizeof(struct told) + t->bytes : 0;
	void *base = NULL;
	MPI_Aint size;
	int unit, rc;

	if (t)
		check_room(s, bytes);
	if (survey_agree(s) != 0)
		return NULL;
	rc = own_windows.allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, s->host, &base,
					 &job->win);
	if (survey_mpi_ok(s, rc, "MPI_Win_allocate_shared")) {
		PMPI_Win_set_errhandler(job->win, MPI_ERRORS_RETURN);
		survey_mpi_ok(s, PMPI_Win_shared_query(job->win, 0, &size, &unit, &base),
			      "MPI_Win_shared_query");
	}
	if (t && !s->err[0]) {
		if (shm_zero(base, bytes)) {
			tell(s, base, t);
		} else {
			snprintf(s->err, sizeof(s->err),
				 "topology: no memory for %zu bytes that the ranks of a host share",
				 bytes);
			s->failure = TOPO_NO_MEMORY;
		}
	}
	/* Orders the copy before the other ranks read it. */
	if (survey_agree(s) == 0)
		return base;
	job->win = MPI_WIN_NULL; /* other ranks may lack it */
	return NULL;
}

/* The nodes of a synthetic string are parts of hosts. */
static int make_node_comm(struct survey *s, struct topo_job *job)
{
	int node = job->topo->node[s->rank], rc;
	bool all;

	if (!survey_given(s->req->synthetic)) {
		job->node_comm = s->host;
		s->host = MPI_COMM_NULL;
		return 0;
	}
	job->host_comm = s->host;
	s->host = MPI_COMM_NULL;
	made(s, PMPI_Comm_split(s->comm, node, s->rank, &job->node_comm), "MPI_Comm_split",
	     &job->node_comm);
	all = job->node_comm != MPI_COMM_NULL;
	rc = survey_agree_and(s, &all);
	if (!all)
		job->node_comm = MPI_COMM_NULL;
	return rc;
}

/* ------------------------------------------------------------------------- all steps */

/* Those of the leader of a host. What fails here is told with the copy. */
static struct topo *lead(struct survey *s)
{
	if (survey_wants_groups(s))
		survey_find_groups(s);
	share_places(s);
	return s->err[0] ? NULL : make_tree(s);
}

static int survey_job(struct survey *s, struct topo_job *job)
{
	bool few = s->size <= topo_few_ranks;
	const struct told *told;
	struct topo *t = NULL;
	int rc;

	job->topo = survey_memory(s, 1, sizeof(*job->topo));
	if (few)
		job->memory = survey_memory(s, 1, most_bytes(s));
	rc = make_comms(s);
	job->comm = s->own;
	if (rc != 0)
		return rc;
	survey_look_inside(s);
	if (s->host_rank == 0)
		t = lead(s);
	told = few ? copy_to_host(s, t, job) : share_with_host(s, t, job);
	topo_free(t);
	if (!told)
		return -1;
	topo_view(job->topo, told->tree);
	memcpy(job->warning, told->warning, sizeof(job->warning));
	job->host_ranks = s->host_size;
	job->host_cores = told->cores;
	job->one_host = s->host_size == s->size;
	job->is_new = true;
	job->untouched = s->untouched;
	job->apart = s->apart;
	job->leaders = s->leaders;
	s->leaders = MPI_COMM_NULL;
	return make_node_comm(s, job);
}

static void free_comm(MPI_Comm *comm)
{
	if (*comm != MPI_COMM_NULL)
		PMPI_Comm_free(comm);
}

static void forget_survey(struct survey *s)
{
	free(s->heres);
	free(s->places);
	free(s->all);
	free(s->host_of);
	free(s->count);
	free(s->start);
	free(s->names);
	free(s->answers);
	free_comm(&s->host);
	free_comm(&s->leaders);
}

/* Everything of the job that exists; collective. */
void topo_job_free(struct topo_job *job)
{
	free_comm(&job->node_comm);
	free_comm(&job->host_comm);
	free_comm(&job->leaders);
	if (job->win != MPI_WIN_NULL)
		own_windows.free(&job->win);
	free_comm(&job->comm);
	topo_job_forget(job);
}

void topo_job_forget(struct topo_job *job)
{
	free(job->topo);
	free(job->memory);
	job->topo = NULL;
	job->memory = NULL;
}

int topo_discover(MPI_Comm comm, const struct topo_request *req, struct topo_job *job, char *err,
		  size_t errlen)
{
	struct survey s = {.req = req,
			   .comm = comm,
			   .own = MPI_COMM_NULL,
			   .host = MPI_COMM_NULL,
			   .leaders = MPI_COMM_NULL};
	int rc = 0;

	*job = (struct topo_job){.win = MPI_WIN_NULL,
				 .comm = MPI_COMM_NULL,
				 .node_comm = MPI_COMM_NULL,
				 .host_comm = MPI_COMM_NULL,
				 .leaders = MPI_COMM_NULL};
	PMPI_Comm_rank(comm, &s.rank);
	PMPI_Comm_size(comm, &s.size);
	/* The same on all ranks. */
	survey_check_options(&s);
	if (s.err[0])
		rc = -1;
	if (rc == 0 && survey_given(req->trouble)) {
		snprintf(s.err, sizeof(s.err), "%s", req->trouble);
		s.failure = req->failure;
	}
	if (rc == 0)
		rc = survey_job(&s, job);
	if (rc != 0) {
		snprintf(err, errlen, "%s", s.err);
		topo_job_free(job);
	}
	forget_survey(&s);
	return rc != 0 && s.failure ? s.failure : rc;
}
