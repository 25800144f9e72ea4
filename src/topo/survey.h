/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of topo_discover() share: the facts that this rank knows, and its failure.
 *
 *   survey.c           failures, and how all ranks learn of one
 *   survey_options.c   the options, which must be the same on all ranks
 *   survey_host.c      inside a host: hwloc
 *   survey_groups.c    groups of hosts: a file, or the batch system
 *   discover.c         the tree
 */
#ifndef TOPO_SURVEY_H
#define TOPO_SURVEY_H

#include <mpi.h>

#include "topo/discover.h"
#include "topo/groups.h"

enum { SHOWN = 120 }; /* characters of a value that a message shows */

/* The levels inside a host that hwloc may know, outermost first. */
enum { SURVEY_PACKAGE, SURVEY_NUMA, SURVEY_L3, SURVEY_L2, SURVEY_LEVELS };

enum flat { NOT_FLAT, NO_AFFINITY, NO_HWLOC, OTHER_MACHINE };

/* The facts about one rank. Only integers: it is sent as MPI_INTs. */
struct place {
	int host;                  /* the lowest rank of its host */
	int cores;                 /* usable cores of its host */
	int shared;                /* bit i: level i is a cache level that divides this host */
	int flat;                  /* why its host is taken as flat, an enum flat; */
	int why;                   /* errno of that */
	int inside[SURVEY_LEVELS]; /* index of the element of level i; -1: not within one element */
	int group[TOPO_MAX_GROUPS]; /* numbers, outermost first; equal numbers are one group */
};
enum { PLACE_INTS = sizeof(struct place) / sizeof(int) };

struct survey {
	const struct topo_request *req;
	MPI_Comm comm, host,
	    leaders; /* leaders: the lowest rank of each host; else MPI_COMM_NULL */
	int rank, size, host_rank, host_size;
	int every; /* groups=N, else 0 */
	struct topo_groups groups;
	struct place mine;
	struct place *all; /* [size] */
	char err[512];     /* this rank's failure, empty if none */
	int failure;       /* of which kind it is: TOPO_NO_MEMORY, TOPO_MPI; 0: TOPO_OPTIONS */
};

/* survey.c: whether an option has a value; whether an MPI call succeeded; zeroed memory. A failure
 * leaves its message in s->err, unless there is one already. survey_note() sets failure after a
 * call that has left a message, by errno, which was 0 before the call. */
int survey_given(const char *option);
int survey_mpi_ok(struct survey *s, int rc, const char *what);
/* Collective: 0 if all ranks have the new communicator that rc is about; else -1, and no rank has
 * it: one that other ranks lack is left to the MPI. */
int survey_agree_on(struct survey *s, int rc, const char *what, MPI_Comm *new_comm);
void *survey_memory(struct survey *s, size_t n, size_t each);
void survey_note(struct survey *s);
/* Collective. 0 if no rank has failed; else -1, and all ranks get the message of the lowest rank
 * that has failed. */
int survey_agree(struct survey *s);

/* survey_options.c: leave a message in s->err if this rank's options contradict each other (check),
 * or if options differ between ranks (compare; collective). */
void survey_check_options(struct survey *s);
void survey_compare_options(struct survey *s);

/* Collective. Return 0 on all ranks, or -1 on all ranks. */
int survey_find_hosts(struct survey *s);  /* survey_host.c: s->host, s->leaders */
int survey_look_inside(struct survey *s); /* survey_host.c: s->mine, except groups */
int survey_find_groups(struct survey *s); /* survey_groups.c: s->groups, s->mine.group */

#endif
