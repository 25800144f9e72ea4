/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the ranks of a communicator really are: MPI says who shares a host,
 * hwloc what is inside a host, a file or the batch system how hosts are
 * grouped. Each fact is found where it is known and no more often than needed
 * (one rank of a host asks hwloc for all ranks of it, rank 0 alone reads the
 * file), then every rank gets the same table and makes the same tree of it.
 *
 * A rank that fails does not leave at once: it keeps its message in s->err and
 * goes on to the next agree(), where all ranks learn of it and leave together
 * with that message. Between two of those, no path may skip a collective call.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "topo/discover.h"
#include "topo/groups.h"

enum {
	WORD_BITS = (int)(sizeof(unsigned long) * CHAR_BIT),
	MAX_CPUS = 1 << 20, /* where to stop asking the kernel for the size of a mask */
	SHOWN = 120,        /* characters of a value that a message repeats */
};

/* The levels inside a host that hwloc may know, outermost first. */
static const struct inner {
	hwloc_obj_type_t type;
	enum topo_kind kind;
	const char *name;
} inner[] = {
    {HWLOC_OBJ_PACKAGE, TOPO_PACKAGE, "package"},
    {HWLOC_OBJ_NUMANODE, TOPO_NUMA, "numa"},
    {HWLOC_OBJ_L3CACHE, TOPO_CACHE, "l3"},
    {HWLOC_OBJ_L2CACHE, TOPO_CACHE, "l2"},
};
enum { NINNER = 4, L3 = 2, L2 = 3 };

/* One rank's row of the table. Integers only: it travels as MPI_INT. */
struct place {
	int host;                   /* the lowest rank of its host */
	int cores;                  /* usable cores of its host */
	int shared;                 /* bit i: inner[i] is a cache worth a level on this host */
	int inside[NINNER];         /* index of the element of inner[i], -1 if in no single one */
	int group[TOPO_MAX_GROUPS]; /* numbers, outermost first; equal number, equal group */
};
enum { PLACE_INTS = sizeof(struct place) / sizeof(int) };

struct survey {
	const struct topo_request *req;
	MPI_Comm comm, host, leaders; /* leaders: the lowest rank of each host, or null */
	int rank, size, host_rank, host_size;
	int every; /* groups=N, else 0 */
	struct topo_groups groups;
	struct place mine;
	struct place *all; /* [size] */
	char err[512];     /* this rank's failure, empty if none */
};

static int given(const char *option)
{
	return option && option[0];
}

static int mpi_ok(struct survey *s, int rc, const char *what)
{
	if (rc == MPI_SUCCESS)
		return 1;
	if (!s->err[0])
		snprintf(s->err, sizeof(s->err), "topology: %s failed", what);
	return 0;
}

static void *get_memory(struct survey *s, size_t n, size_t each)
{
	void *p = calloc(n ? n : 1, each);

	if (!p && !s->err[0])
		snprintf(s->err, sizeof(s->err), "topology: no memory for %zu records", n);
	return p;
}

/* Collective. 0 if no rank has failed; else -1, and all have the message of the
 * lowest rank that did. */
static int agree(struct survey *s)
{
	int culprit = s->err[0] ? s->rank : INT_MAX, first = INT_MAX;

	if (!mpi_ok(s, PMPI_Allreduce(&culprit, &first, 1, MPI_INT, MPI_MIN, s->comm),
		    "MPI_Allreduce"))
		return -1;
	if (first == INT_MAX)
		return 0;
	mpi_ok(s, PMPI_Bcast(s->err, (int)sizeof(s->err), MPI_CHAR, first, s->comm), "MPI_Bcast");
	return -1;
}

/* --- the options ------------------------------------------------------- */

static void check_options(struct survey *s)
{
	const struct topo_request *r = s->req;
	const char *groups = given(r->groups) ? r->groups : "auto";
	int automatic = strcmp(groups, "auto") == 0, none = strcmp(groups, "none") == 0;
	char *end;
	long n;

	if (!automatic && !none) {
		errno = 0;
		n = strtol(groups, &end, 10);
		if (!isdigit((unsigned char)groups[0]) || *end || errno != 0 || n < 1 ||
		    n > INT_MAX) {
			snprintf(s->err, sizeof(s->err),
				 "groups: \"%.*s\" is not accepted; give \"auto\", \"none\" or how "
				 "many nodes make a group (1 or more)",
				 SHOWN, groups);
			return;
		}
		s->every = (int)n;
	}
	if (given(r->synthetic) && given(r->file))
		snprintf(s->err, sizeof(s->err),
			 "topology_file: \"%.*s\" is given together with topology=\"%.*s\"; "
			 "accepted is one of the two",
			 SHOWN, r->file, SHOWN, r->synthetic);
	else if (given(r->synthetic) && s->every)
		snprintf(s->err, sizeof(s->err),
			 "groups: \"%.*s\" is given together with topology=\"%.*s\"; write the "
			 "groups into topology, as in \"rack:2 node:4\"",
			 SHOWN, groups, SHOWN, r->synthetic);
	else if (given(r->file) && !automatic)
		snprintf(s->err, sizeof(s->err),
			 "groups: \"%.*s\" is given together with topology_file=\"%.*s\", which "
			 "tells the groups; accepted is one of the two",
			 SHOWN, groups, SHOWN, r->file);
}

static uint64_t hash_option(const char *value)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; value && *value; value++)
		h = (h ^ (unsigned char)*value) * UINT64_C(1099511628211);
	return h;
}

/* Options come from the environment too, and that may differ between hosts:
 * then the trees would. The largest hash and the complement of the smallest
 * tell, in one reduction, whether all ranks have the same strings. */
static void compare_options(struct survey *s)
{
	static const char *const names[] = {"topology", "topology_file", "groups"};
	const char *values[] = {s->req->synthetic, s->req->file,
				given(s->req->groups) ? s->req->groups : "auto"};
	uint64_t mine[6], most[6];

	for (int i = 0; i < 3; i++) {
		mine[i] = hash_option(values[i]);
		mine[i + 3] = ~mine[i];
	}
	if (!mpi_ok(s, PMPI_Allreduce(mine, most, 6, MPI_UINT64_T, MPI_MAX, s->comm),
		    "MPI_Allreduce"))
		return;
	for (int i = 0; i < 3 && !s->err[0]; i++) {
		if (most[i] != ~most[i + 3])
			snprintf(s->err, sizeof(s->err),
				 "%s: the value (\"%.*s\" on rank %d) differs between ranks; give "
				 "the same to all",
				 names[i], SHOWN, values[i] ? values[i] : "", s->rank);
	}
}

/* --- inside a host ----------------------------------------------------- */

static int find_hosts(struct survey *s)
{
	int leader;

	if (!mpi_ok(s,
		    PMPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL,
					 &s->host),
		    "MPI_Comm_split_type"))
		return -1;
	PMPI_Comm_rank(s->host, &s->host_rank);
	PMPI_Comm_size(s->host, &s->host_size);
	leader = s->host_rank == 0;
	if (!mpi_ok(s, PMPI_Comm_split(s->comm, leader ? 0 : MPI_UNDEFINED, s->rank, &s->leaders),
		    "MPI_Comm_split"))
		return -1;
	s->mine.host = s->rank;
	if (!mpi_ok(s, PMPI_Bcast(&s->mine.host, 1, MPI_INT, 0, s->host), "MPI_Bcast"))
		return -1;
	return 0;
}

/* The affinity mask of this thread, in as many words as the kernel wants. */
static unsigned long *affinity(struct survey *s, int *words)
{
	for (int cpus = 1024; cpus <= MAX_CPUS; cpus *= 2) {
		unsigned long *mask;
		int why;

		*words = cpus / WORD_BITS;
		mask = get_memory(s, (size_t)*words, sizeof(*mask));
		if (!mask)
			return NULL;
		if (sched_getaffinity(0, (size_t)*words * sizeof(*mask), (cpu_set_t *)mask) == 0)
			return mask;
		why = errno;
		free(mask);
		errno = why;
		if (why != EINVAL)
			break;
	}
	if (!s->err[0])
		snprintf(s->err, sizeof(s->err), "topology: sched_getaffinity: %s",
			 strerror(errno));
	return NULL;
}

/* Collective over the host: the masks of its ranks, at its leader. */
static unsigned long *gather_masks(struct survey *s, int *words)
{
	unsigned long *mask, *all = NULL;
	int leader = s->host_rank == 0;

	mask = affinity(s, words);
	if (leader && mask)
		all = get_memory(s, (size_t)*words * (size_t)s->host_size, sizeof(*all));
	/* One kernel, so one number of words for all ranks of a host. */
	if (agree(s) == 0)
		mpi_ok(s,
		       PMPI_Gather(mask, *words, MPI_UNSIGNED_LONG, all, *words, MPI_UNSIGNED_LONG,
				   0, s->host),
		       "MPI_Gather");
	free(mask);
	return all;
}

static int count_cores(hwloc_topology_t hw, hwloc_const_cpuset_t set)
{
	hwloc_obj_type_t type = HWLOC_OBJ_CORE;
	hwloc_obj_t o = NULL;
	int n = 0;

	if (hwloc_get_nbobjs_by_type(hw, type) <= 0)
		type = HWLOC_OBJ_PU;
	while ((o = hwloc_get_next_obj_by_type(hw, type, o)) != NULL)
		n += hwloc_bitmap_intersects(o->cpuset, set);
	return n;
}

/* Whether c is inside o with cores to spare, or they are apart. */
static int fits(hwloc_topology_t hw, hwloc_obj_t c, hwloc_obj_t o)
{
	if (!hwloc_bitmap_intersects(c->cpuset, o->cpuset))
		return 1;
	return hwloc_bitmap_isincluded(c->cpuset, o->cpuset) &&
	       count_cores(hw, c->cpuset) < count_cores(hw, o->cpuset);
}

/* Whether some cache of this type is shared by more than one core but by fewer
 * than the package, the NUMA node and the machine around it have. */
static int cache_is_level(hwloc_topology_t hw, hwloc_obj_type_t type)
{
	static const hwloc_obj_type_t around[] = {HWLOC_OBJ_MACHINE, HWLOC_OBJ_PACKAGE,
						  HWLOC_OBJ_NUMANODE};
	hwloc_obj_t c = NULL;

	while ((c = hwloc_get_next_obj_by_type(hw, type, c)) != NULL) {
		int useful = count_cores(hw, c->cpuset) > 1;

		for (size_t i = 0; i < sizeof(around) / sizeof(around[0]) && useful; i++) {
			hwloc_obj_t o = NULL;

			while ((o = hwloc_get_next_obj_by_type(hw, around[i], o)) != NULL)
				useful = useful && fits(hw, c, o);
		}
		if (useful)
			return 1;
	}
	return 0;
}

/* The element that the mask is in; -1 if in no single one; 0 if the host has no
 * such level, which is no fault of the rank and divides nothing. */
static int find_element(hwloc_topology_t hw, hwloc_obj_type_t type, hwloc_const_cpuset_t mask)
{
	hwloc_obj_t o = NULL;
	int elements = 0;

	while ((o = hwloc_get_next_obj_by_type(hw, type, o)) != NULL) {
		if (hwloc_bitmap_iszero(o->cpuset)) /* memory without cores */
			continue;
		if (hwloc_bitmap_isincluded(mask, o->cpuset))
			return (int)o->logical_index;
		elements++;
	}
	return elements ? -1 : 0;
}

static void set_bitmap(hwloc_bitmap_t set, const unsigned long *mask, int words)
{
	hwloc_bitmap_zero(set);
	for (int i = 0; i < words; i++)
		hwloc_bitmap_set_ith_ulong(set, (unsigned)i, mask[i]);
}

static void place_masks(const struct survey *s, hwloc_topology_t hw, hwloc_bitmap_t set,
			hwloc_bitmap_t any, const unsigned long *masks, int words,
			struct place *places)
{
	int shared = 0, cores;

	for (int i = L3; i <= L2; i++)
		shared |= cache_is_level(hw, inner[i].type) << i;
	for (int r = 0; r < s->host_size; r++) {
		set_bitmap(set, masks + (size_t)r * (size_t)words, words);
		hwloc_bitmap_and(set, set, hwloc_get_root_obj(hw)->cpuset);
		hwloc_bitmap_or(any, any, set);
		for (int i = 0; i < NINNER; i++)
			places[r].inside[i] = find_element(hw, inner[i].type, set);
	}
	cores = count_cores(hw, any);
	for (int r = 0; r < s->host_size; r++) {
		places[r].host = s->mine.host;
		places[r].shared = shared;
		places[r].cores = cores > 0 ? cores : 1;
	}
}

/* At a host's leader: where each mask is among the host's elements. */
static void ask_hwloc(struct survey *s, const unsigned long *masks, int words, struct place *places)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc(), any = hwloc_bitmap_alloc();
	hwloc_topology_t hw = NULL;

	if (!set || !any || hwloc_topology_init(&hw) != 0)
		snprintf(s->err, sizeof(s->err), "topology: hwloc has no memory");
	else if (hwloc_topology_load(hw) != 0)
		snprintf(s->err, sizeof(s->err), "topology: hwloc cannot read this host: %s",
			 strerror(errno));
	else
		place_masks(s, hw, set, any, masks, words, places);
	if (hw)
		hwloc_topology_destroy(hw);
	hwloc_bitmap_free(set);
	hwloc_bitmap_free(any);
}

static int look_inside(struct survey *s)
{
	int words = 0, leader = s->host_rank == 0;
	unsigned long *masks = gather_masks(s, &words);
	struct place *places = NULL;

	if (leader && !s->err[0]) {
		places = get_memory(s, (size_t)s->host_size, sizeof(*places));
		if (places)
			ask_hwloc(s, masks, words, places);
	}
	free(masks);
	if (agree(s) != 0) {
		free(places);
		return -1;
	}
	mpi_ok(s,
	       PMPI_Scatter(places, PLACE_INTS, MPI_INT, &s->mine, PLACE_INTS, MPI_INT, 0, s->host),
	       "MPI_Scatter");
	free(places);
	return agree(s);
}

/* --- groups of hosts, at rank 0 ---------------------------------------- */

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

/* Collective over comm: rank 0 hears of all hosts and answers each with its
 * labels. Rank 0 of leaders is rank 0 of comm. */
static int find_groups(struct survey *s)
{
	int leader = s->host_rank == 0, nhosts = 0;
	struct topo_host me, *hosts = NULL;
	int(*ids)[TOPO_MAX_GROUPS] = NULL;

	describe_host(&me);
	if (leader)
		PMPI_Comm_size(s->leaders, &nhosts);
	if (s->rank == 0) {
		hosts = get_memory(s, (size_t)nhosts, sizeof(*hosts));
		ids = get_memory(s, (size_t)nhosts, sizeof(*ids));
	}
	if (agree(s) != 0)
		goto out;
	if (leader)
		mpi_ok(s,
		       PMPI_Gather(&me, (int)sizeof(me), MPI_CHAR, hosts, (int)sizeof(me), MPI_CHAR,
				   0, s->leaders),
		       "MPI_Gather");
	if (s->rank == 0 && !s->err[0]) {
		if (given(s->req->file))
			groups_from_file(s, hosts, nhosts, ids);
		else
			topo_groups_slurm(&s->groups, hosts, nhosts, ids, s->err, sizeof(s->err));
	}
	if (agree(s) != 0)
		goto out;
	mpi_ok(s, PMPI_Bcast(&s->groups, (int)sizeof(s->groups), MPI_BYTE, 0, s->comm),
	       "MPI_Bcast");
	if (leader)
		mpi_ok(s,
		       PMPI_Scatter(ids, TOPO_MAX_GROUPS, MPI_INT, s->mine.group, TOPO_MAX_GROUPS,
				    MPI_INT, 0, s->leaders),
		       "MPI_Scatter");
	mpi_ok(s, PMPI_Bcast(s->mine.group, TOPO_MAX_GROUPS, MPI_INT, 0, s->host), "MPI_Bcast");
	agree(s);
out:
	free(hosts);
	free(ids);
	return s->err[0] ? -1 : 0;
}

/* --- the tree ---------------------------------------------------------- */

static int share_places(struct survey *s)
{
	s->all = get_memory(s, (size_t)s->size, sizeof(*s->all));
	if (agree(s) != 0)
		return -1;
	mpi_ok(s,
	       PMPI_Allgather(&s->mine, PLACE_INTS, MPI_INT, s->all, PLACE_INTS, MPI_INT, s->comm),
	       "MPI_Allgather");
	return agree(s);
}

/* groups=N: the nodes in the order of their lowest ranks, N at a time. The
 * group of a host is found at its lowest rank, which comes first. */
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

/* The inner levels of this job: of the caches, the outermost that is worth a
 * level on some host. */
static int choose_inner(const struct survey *s, int *chosen)
{
	int shared = 0, n = 0;

	for (int p = 0; p < s->size; p++)
		shared |= s->all[p].shared;
	for (int i = 0; i < L3; i++)
		chosen[n++] = i;
	for (int i = L3; i <= L2 && n == L3; i++) {
		if (shared & 1 << i)
			chosen[n++] = i;
	}
	return n;
}

static struct topo *build_real(struct survey *s)
{
	struct topo_path *paths = get_memory(s, (size_t)s->size, sizeof(*paths));
	enum topo_kind kinds[TOPO_MAX_LEVELS];
	const char *names[TOPO_MAX_LEVELS];
	int chosen[NINNER], ninner = choose_inner(s, chosen), n = 0;
	struct topo *t = NULL;

	if (!paths)
		return NULL;
	for (int g = 0; g < s->groups.n; g++, n++) {
		kinds[n] = TOPO_GROUP;
		names[n] = s->groups.name[g];
		for (int p = 0; p < s->size; p++)
			paths[p].id[n] = s->all[p].group[g];
	}
	kinds[n] = TOPO_NODE;
	names[n] = "node";
	for (int p = 0; p < s->size; p++)
		paths[p].id[n] = s->all[p].host;
	n++;
	for (int i = 0; i < ninner; i++, n++) {
		kinds[n] = inner[chosen[i]].kind;
		names[n] = inner[chosen[i]].name;
		for (int p = 0; p < s->size; p++)
			paths[p].id[n] = s->all[p].inside[chosen[i]];
	}
	t = topo_build(s->size, n, kinds, names, paths, s->err, sizeof(s->err));
	free(paths);
	return t;
}

/* t with gangs where a host has fewer cores than ranks; t is used up. */
static struct topo *with_gangs(struct survey *s, struct topo *t)
{
	int *cores = t ? get_memory(s, (size_t)t->nnodes, sizeof(*cores)) : NULL;
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

/* A node of the string may be part of a host, but not have ranks of two. */
static void check_synthetic(struct survey *s, const struct topo *t)
{
	int *lowest = get_memory(s, (size_t)t->nnodes, sizeof(*lowest));

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
	if (given(s->req->synthetic)) {
		job->topo = topo_parse(s->req->synthetic, s->size, s->err, sizeof(s->err));
		if (job->topo)
			check_synthetic(s, job->topo);
	} else {
		group_every(s);
		job->topo = with_gangs(s, build_real(s));
	}
}

static void make_node_comm(struct survey *s, struct topo_job *job)
{
	if (!given(s->req->synthetic)) {
		job->node_comm = s->host;
		s->host = MPI_COMM_NULL;
		return;
	}
	job->host_comm = s->host;
	s->host = MPI_COMM_NULL;
	mpi_ok(s, PMPI_Comm_split(s->comm, job->topo->node[s->rank], s->rank, &job->node_comm),
	       "MPI_Comm_split");
}

/* The whole survey, up to the first failure. */
static int survey_job(struct survey *s, struct topo_job *job)
{
	int ask = !given(s->req->synthetic) && (given(s->req->file) || !given(s->req->groups) ||
						strcmp(s->req->groups, "auto") == 0);

	if (find_hosts(s) != 0 || look_inside(s) != 0)
		return -1;
	if (ask && find_groups(s) != 0)
		return -1;
	if (share_places(s) != 0)
		return -1;
	make_tree(s, job);
	if (agree(s) != 0)
		return -1;
	make_node_comm(s, job);
	job->host_ranks = s->host_size;
	job->host_cores = s->mine.cores;
	job->one_host = s->host_size == s->size;
	return agree(s);
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
	compare_options(&s);
	if (!s.err[0])
		check_options(&s);
	rc = agree(&s);
	if (rc == 0)
		rc = survey_job(&s, job);
	if (rc != 0) {
		snprintf(err, errlen, "%s", s.err);
		topo_job_free(job);
	}
	free(s.all);
	free_comm(&s.host);
	free_comm(&s.leaders);
	return rc;
}

void topo_job_free(struct topo_job *job)
{
	free_comm(&job->node_comm);
	free_comm(&job->host_comm);
	topo_free(job->topo);
	job->topo = NULL;
}
