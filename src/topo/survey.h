/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of topo_discover() share: the facts that this rank has, and its failure.
 *
 *   survey.c           failures, and how all ranks learn of one
 *   survey_options.c   the options, which are the same on all ranks
 *   survey_host.c      inside a host: hwloc
 *   survey_groups.c    groups of hosts: a file, or the batch system
 *   discover.c         the tree
 */
#ifndef TOPO_SURVEY_H
#define TOPO_SURVEY_H

#include <mpi.h>

#include "topo/discover.h"
#include "topo/groups.h"

enum { SHOWN = 120 }; /* characters of a value that a message repeats */

/* The levels inside a host that hwloc may know, outermost first. */
enum { SURVEY_PACKAGE, SURVEY_NUMA, SURVEY_L3, SURVEY_L2, SURVEY_LEVELS };

/* One rank's row of the table. Integers only: it travels as MPI_INT. */
struct place {
	int host;                   /* the lowest rank of its host */
	int cores;                  /* usable cores of its host */
	int shared;                 /* bit i: level i is a cache worth a level on this host */
	int inside[SURVEY_LEVELS];  /* index of the element of level i, -1 if in no single one */
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

/* survey.c: whether an option has a value; whether a call of the MPI went well; zeroed memory.
 * What fails leaves its message in s->err, unless there is one. */
int survey_given(const char *option);
int survey_mpi_ok(struct survey *s, int rc, const char *what);
void *survey_memory(struct survey *s, size_t n, size_t each);
/* Collective. 0 if no rank has failed; else -1, and all have the message of the lowest rank
 * that did. */
int survey_agree(struct survey *s);

/* survey_options.c: a message in s->err if the options of this rank contradict each other, and
 * (compare, which is collective) if they differ between ranks. */
void survey_check_options(struct survey *s);
void survey_compare_options(struct survey *s);

/* Each is collective, and fails on all ranks or on none: 0 or -1. */
int survey_find_hosts(struct survey *s);  /* survey_host.c: s->host, s->leaders */
int survey_look_inside(struct survey *s); /* survey_host.c: s->mine, but for the groups */
int survey_find_groups(struct survey *s); /* survey_groups.c: s->groups, s->mine.group */

#endif
