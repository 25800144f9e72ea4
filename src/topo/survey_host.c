/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a host: its leader asks hwloc which elements the affinity masks of the host's ranks lie
 * in. That is a hint. Locks work without it, so a host that hwloc cannot read, or whose kernel does
 * not give the masks, is taken as one node without parts.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "topo/survey.h"

enum {
	WORD_BITS = (int)(sizeof(unsigned long) * CHAR_BIT),
	MAX_CPUS = 1 << 20, /* give up asking for the size of the kernel's masks */
};

static const hwloc_obj_type_t element[SURVEY_LEVELS] = {
    [SURVEY_PACKAGE] = HWLOC_OBJ_PACKAGE,
    [SURVEY_NUMA] = HWLOC_OBJ_NUMANODE,
    [SURVEY_L3] = HWLOC_OBJ_L3CACHE,
    [SURVEY_L2] = HWLOC_OBJ_L2CACHE,
};

int survey_find_hosts(struct survey *s)
{
	int leader;

	if (survey_agree_on(s,
			    PMPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, s->rank,
						 MPI_INFO_NULL, &s->host),
			    "MPI_Comm_split_type", &s->host) != 0)
		return -1;
	PMPI_Comm_rank(s->host, &s->host_rank);
	PMPI_Comm_size(s->host, &s->host_size);
	leader = s->host_rank == 0;
	if (survey_agree_on(
		s, PMPI_Comm_split(s->comm, leader ? 0 : MPI_UNDEFINED, s->rank, &s->leaders),
		"MPI_Comm_split", &s->leaders) != 0)
		return -1;
	s->mine.host = s->rank;
	survey_mpi_ok(s, PMPI_Bcast(&s->mine.host, 1, MPI_INT, 0, s->host), "MPI_Bcast");
	return survey_agree(s);
}

/* The affinity mask of this thread, with as many words as the kernel needs. NULL, and errno in
 * s->mine.why: the kernel does not give it. */
static unsigned long *affinity(struct survey *s, int *words)
{
	for (int cpus = 1024; cpus <= MAX_CPUS; cpus *= 2) {
		unsigned long *mask;

		*words = cpus / WORD_BITS;
		mask = survey_memory(s, (size_t)*words, sizeof(*mask));
		if (!mask)
			return NULL;
		if (sched_getaffinity(0, (size_t)*words * sizeof(*mask), (cpu_set_t *)mask) == 0)
			return mask;
		s->mine.why = errno;
		free(mask);
		if (s->mine.why != EINVAL)
			break;
	}
	*words = 0;
	return NULL;
}

/* Collective over the host: gather the masks of its ranks at its leader. NULL there if some rank
 * has none; then *words is 0. */
static unsigned long *gather_masks(struct survey *s, int *words)
{
	unsigned long *mask, *all = NULL;
	int leader = s->host_rank == 0;

	mask = affinity(s, words);
	/* The ranks of a host share a kernel, so they have the same number of words, or none. */
	survey_mpi_ok(s, PMPI_Allreduce(MPI_IN_PLACE, words, 1, MPI_INT, MPI_MIN, s->host),
		      "MPI_Allreduce");
	survey_mpi_ok(s, PMPI_Allreduce(MPI_IN_PLACE, &s->mine.why, 1, MPI_INT, MPI_MAX, s->host),
		      "MPI_Allreduce");
	if (leader && *words)
		all = survey_memory(s, (size_t)*words * (size_t)s->host_size, sizeof(*all));
	if (survey_agree(s) == 0 && *words)
		survey_mpi_ok(s,
			      PMPI_Gather(mask, *words, MPI_UNSIGNED_LONG, all, *words,
					  MPI_UNSIGNED_LONG, 0, s->host),
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

/* Whether c and o are disjoint, or o contains c and more cores. */
static int fits(hwloc_topology_t hw, hwloc_obj_t c, hwloc_obj_t o)
{
	if (!hwloc_bitmap_intersects(c->cpuset, o->cpuset))
		return 1;
	return hwloc_bitmap_isincluded(c->cpuset, o->cpuset) &&
	       count_cores(hw, c->cpuset) < count_cores(hw, o->cpuset);
}

/* Whether a cache of this type divides the host: several cores share it, but fewer than the
 * package, the NUMA node and the machine around it have. */
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

/* The index of the element that contains the mask; -1: no single element does; 0: the host has no
 * such level. */
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

/* False if a rank runs on no core of this topology. */
static bool place_masks(const struct survey *s, hwloc_topology_t hw, hwloc_bitmap_t set,
			hwloc_bitmap_t any, const unsigned long *masks, int words,
			struct place *places)
{
	int shared = 0, cores;

	for (int i = SURVEY_L3; i <= SURVEY_L2; i++)
		shared |= cache_is_level(hw, element[i]) << i;
	for (int r = 0; r < s->host_size; r++) {
		set_bitmap(set, masks + (size_t)r * (size_t)words, words);
		hwloc_bitmap_and(set, set, hwloc_get_root_obj(hw)->cpuset);
		if (hwloc_bitmap_iszero(set))
			return false;
		hwloc_bitmap_or(any, any, set);
		for (int i = 0; i < SURVEY_LEVELS; i++)
			places[r].inside[i] = find_element(hw, element[i], set);
	}
	cores = count_cores(hw, any);
	for (int r = 0; r < s->host_size; r++) {
		places[r].shared = shared;
		places[r].cores = cores > 0 ? cores : 1;
	}
	return true;
}

/* The cores that some mask has, as the kernel counts them; all of the host without masks. */
static int count_bits(const unsigned long *masks, int words, int ranks)
{
	int n = 0;

	for (int i = 0; i < words; i++) {
		unsigned long any = 0;

		for (int r = 0; r < ranks; r++)
			any |= masks[(size_t)r * (size_t)words + (size_t)i];
		n += __builtin_popcountl(any);
	}
	return n > 0 ? n : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* At a host's leader: its ranks are one node without parts. */
static void make_flat(const struct survey *s, const unsigned long *masks, int words, enum flat flat,
		      int why, struct place *places)
{
	int cores = count_bits(masks, words, s->host_size);

	for (int r = 0; r < s->host_size; r++)
		places[r] =
		    (struct place){.cores = cores > 0 ? cores : 1, .flat = (int)flat, .why = why};
}

/* At a host's leader: find the elements that contain each mask. */
static void ask_hwloc(struct survey *s, const unsigned long *masks, int words, struct place *places)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc(), any = hwloc_bitmap_alloc();
	hwloc_topology_t hw = NULL;

	if (!set || !any || hwloc_topology_init(&hw) != 0) {
		s->failure = TOPO_NO_MEMORY;
		snprintf(s->err, sizeof(s->err), "topology: hwloc has no memory");
	} else if (hwloc_topology_load(hw) != 0) {
		make_flat(s, masks, words, NO_HWLOC, errno, places);
	} else if (!place_masks(s, hw, set, any, masks, words, places)) {
		make_flat(s, masks, words, OTHER_MACHINE, 0, places);
	}
	if (hw)
		hwloc_topology_destroy(hw);
	hwloc_bitmap_free(set);
	hwloc_bitmap_free(any);
}

int survey_look_inside(struct survey *s)
{
	int words = 0, leader = s->host_rank == 0;
	unsigned long *masks = gather_masks(s, &words);
	struct place *places = NULL;

	if (leader && !s->err[0]) {
		places = survey_memory(s, (size_t)s->host_size, sizeof(*places));
		if (places && words)
			ask_hwloc(s, masks, words, places);
		else if (places)
			make_flat(s, NULL, 0, NO_AFFINITY, s->mine.why, places);
		for (int r = 0; places && r < s->host_size; r++)
			places[r].host = s->mine.host;
	}
	free(masks);
	if (survey_agree(s) != 0) {
		free(places);
		return -1;
	}
	survey_mpi_ok(
	    s, PMPI_Scatter(places, PLACE_INTS, MPI_INT, &s->mine, PLACE_INTS, MPI_INT, 0, s->host),
	    "MPI_Scatter");
	free(places);
	return survey_agree(s);
}
