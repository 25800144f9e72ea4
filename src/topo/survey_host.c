/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a host: its leader asks hwloc which elements the affinity masks of the host's ranks lie
 * in. That is a hint. Locks work without it, so a host that hwloc cannot read, or whose kernel does
 * not give the masks, is taken as one node without parts.
 */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "rma/memory/shm.h"
#include "topo/survey.h"

static const hwloc_obj_type_t element[SURVEY_LEVELS] = {
    [SURVEY_PACKAGE] = HWLOC_OBJ_PACKAGE,
    [SURVEY_NUMA] = HWLOC_OBJ_NUMANODE,
    [SURVEY_L3] = HWLOC_OBJ_L3CACHE,
    [SURVEY_L2] = HWLOC_OBJ_L2CACHE,
};

/* The affinity mask of this thread. */
static void ask_kernel(struct here *h)
{
	const size_t bytes = sizeof h->mask;

	if (sched_getaffinity(0, bytes, (cpu_set_t *)h->mask) == 0)
		h->words = MASK_WORDS;
	else
		h->why = errno;
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

static void set_bitmap(hwloc_bitmap_t set, const struct here *h)
{
	hwloc_bitmap_zero(set);
	for (int i = 0; i < MASK_WORDS; i++)
		if (h->mask[i])
			hwloc_bitmap_set_ith_ulong(set, (unsigned)i, h->mask[i]);
}

/* False if a rank runs on no core of this topology. */
static bool place_masks(struct survey *s, hwloc_topology_t hw, hwloc_bitmap_t set,
			hwloc_bitmap_t any)
{
	int shared = 0, cores;

	for (int i = SURVEY_L3; i <= SURVEY_L2; i++)
		shared |= cache_is_level(hw, element[i]) << i;
	for (int r = 0; r < s->host_size; r++) {
		set_bitmap(set, &s->heres[r]);
		hwloc_bitmap_and(set, set, hwloc_get_root_obj(hw)->cpuset);
		if (hwloc_bitmap_iszero(set))
			return false;
		hwloc_bitmap_or(any, any, set);
		for (int i = 0; i < SURVEY_LEVELS; i++)
			s->places[r].inside[i] = find_element(hw, element[i], set);
	}
	cores = count_cores(hw, any);
	s->mine.shared = shared;
	s->mine.cores = cores > 0 ? cores : 1;
	return true;
}

/* The cores that some mask has, as the kernel counts them; all of the host without masks. */
static int count_bits(const struct survey *s)
{
	int n = 0;

	for (int i = 0; i < MASK_WORDS; i++) {
		unsigned long any = 0;

		for (int r = 0; r < s->host_size; r++)
			any |= s->heres[r].mask[i];
		n += __builtin_popcountl(any);
	}
	return n > 0 ? n : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The ranks of this host are one node without parts. */
static void make_flat(struct survey *s, enum flat flat, int why)
{
	int cores = count_bits(s);

	for (int r = 0; r < s->host_size; r++)
		memset(s->places[r].inside, 0, sizeof(s->places[r].inside));
	s->mine.cores = cores > 0 ? cores : 1;
	s->mine.flat = (int)flat;
	s->mine.why = why;
}

/* Find the elements that contain each mask. */
static void ask_hwloc(struct survey *s)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc(), any = hwloc_bitmap_alloc();
	hwloc_topology_t hw = NULL;

	if (!set || !any || hwloc_topology_init(&hw) != 0) {
		s->failure = TOPO_NO_MEMORY;
		snprintf(s->err, sizeof(s->err), "topology: hwloc has no memory");
	} else if (hwloc_topology_load(hw) != 0) {
		make_flat(s, NO_HWLOC, errno);
	} else if (!place_masks(s, hw, set, any)) {
		make_flat(s, OTHER_MACHINE, 0);
	}
	if (hw)
		hwloc_topology_destroy(hw);
	hwloc_bitmap_free(set);
	hwloc_bitmap_free(any);
}

void survey_look_inside(struct survey *s)
{
	struct here me = {.rank = s->rank};
	const struct here *without = NULL;
	const int bytes = (int)sizeof(me);

	ask_kernel(&me);
	shm_folder(me.folder);
	me.untouched = shm_untouched();
	survey_mpi_ok(s, PMPI_Gather(&me, bytes, MPI_BYTE, s->heres, bytes, MPI_BYTE, 0, s->host),
		      "MPI_Gather");
	if (s->host_rank != 0)
		return;
	for (int r = 0; r < s->host_size; r++) {
		s->places[r].rank = s->heres[r].rank;
		if (!s->heres[r].words)
			without = &s->heres[r];
		s->apart = s->apart || s->heres[r].folder[0] != me.folder[0] ||
			   s->heres[r].folder[1] != me.folder[1];
		s->untouched += s->heres[r].untouched;
	}
	s->mine.first = s->rank;
	s->mine.ranks = s->host_size;
	if (without)
		make_flat(s, NO_AFFINITY, without->why);
	else
		ask_hwloc(s);
}
