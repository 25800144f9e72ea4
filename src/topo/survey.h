/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of topo_discover() share: the facts that this rank knows, and its failure. The
 * first rank of each host leads: it finds out where the ranks of its host are, and with the other
 * leaders where all ranks are.
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
#include <stdbool.h>

#include "topo/discover.h"
#include "topo/groups.h"

enum { SHOWN = 120 }; /* characters of a value that a message shows */

/* The levels inside a host that hwloc may know, outermost first. */
enum { SURVEY_PACKAGE, SURVEY_NUMA, SURVEY_L3, SURVEY_L2, SURVEY_LEVELS };

enum flat { NOT_FLAT, NO_AFFINITY, NO_HWLOC, OTHER_MACHINE };

/* The facts about one host, and about one rank. Only integers: they are sent as MPI_INTs. */
struct host {
	int first;                  /* its lowest rank */
	int ranks;                  /* how many ranks it has */
	int cores;                  /* usable cores */
	int shared;                 /* bit i: level i is a cache level that divides this host */
	int flat;                   /* why it is taken as flat, an enum flat; */
	int why;                    /* errno of that */
	int group[TOPO_MAX_GROUPS]; /* numbers, outermost first; equal numbers are one group */
};
struct place {
	int rank;
	int inside[SURVEY_LEVELS]; /* index of the element of level i; -1: not within one element */
};
enum {
	HOST_INTS = sizeof(struct host) / sizeof(int),
	PLACE_INTS = sizeof(struct place) / sizeof(int),
};

/* What a leader asks of the ranks of its host. Linux has at most 8192 CPUs. */
enum { MASK_WORDS = 8192 / 8 / (int)sizeof(unsigned long) };
struct here {
	int rank, words,
	    why;            /* words: of the mask that the kernel gives; 0: none, because of why */
	uint64_t folder[2]; /* where shared memory is: shm_folder() */
	uint64_t untouched; /* shm_untouched() */
	unsigned long mask[MASK_WORDS]; /* affinity */
};

struct survey {
	const struct topo_request *req;
	MPI_Comm comm;               /* the caller's */
	MPI_Comm own, host, leaders; /* a duplicate of comm; leaders: MPI_COMM_NULL elsewhere */
	int rank, size, host_rank, host_size;
	int every; /* groups=N, else 0 */
	struct topo_groups groups;
	char err[512]; /* this rank's failure, empty if none */
	int failure;   /* of which kind it is: TOPO_NO_MEMORY, TOPO_MPI, TOPO_APART; 0: TOPO_OPTIONS
			*/
	/* Of leaders only. */
	struct here *heres; /* [host_size] */
	struct host mine;
	int hosts, *count,
	    *start;              /* [hosts] integers of their ranks in all, and where they start */
	struct host *host_of;    /* [hosts] */
	struct place *places;    /* [host_size] */
	struct place *all;       /* [size], by host */
	struct topo_host *names; /* [hosts], at rank 0, if groups are asked for */
	struct survey_answer *answers; /* the same */
	bool apart;         /* the ranks of this host do not share the folder of shared memory */
	uint64_t untouched; /* of all of them */
};

/* Rank 0 to each leader: the groups of its host. */
struct survey_answer {
	struct topo_groups groups;
	int id[TOPO_MAX_GROUPS];
};

/* survey.c: whether an option has a value; whether an MPI call succeeded; zeroed memory. A failure
 * leaves its message in s->err, unless there is one already. survey_note() sets failure after a
 * call that has left a message, by errno, which was 0 before the call. */
int survey_given(const char *option);
int survey_mpi_ok(struct survey *s, int rc, const char *what);
void *survey_memory(struct survey *s, size_t n, size_t each);
void survey_note(struct survey *s);
/* Collective. 0 if no rank has failed; else -1, and all ranks get the message of the lowest rank
 * that has failed. _and: also whether *all was true on all ranks. */
int survey_agree(struct survey *s);
int survey_agree_and(struct survey *s, bool *all);

/* survey_options.c: leave a message in s->err if this rank's options contradict each other. */
void survey_check_options(struct survey *s);

/* survey_host.c. Collective over the host: s->mine except groups, and s->places. */
void survey_look_inside(struct survey *s);
/* survey_groups.c. Whether groups are asked for; collective over the leaders: s->groups,
 * s->mine.group. */
int survey_wants_groups(const struct survey *s);
void survey_find_groups(struct survey *s);

#endif
