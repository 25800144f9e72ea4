/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of the scenarios in which ranks die (deaths.c), and these. Dead ranks take part in no
 * collective call, so after the start the ranks of a host communicate through shared memory, and
 * end without MPI_Finalize.
 */
#ifndef TESTS_DEATHS_H
#define TESTS_DEATHS_H

#include <mpi.h>
#include <pawl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lock/tables.h"

struct scenario {
	const char *name;
	int ranks;   /* of the job; 0: any number */
	int deaths;  /* ranks that do not get to the end */
	int limit_s; /* a rank that has not ended by then hangs */
	/* Share memory with others. Collective, before there is a table. */
	void (*start)(void);
	void (*options)(MPI_Info info);
	uint64_t (*locks)(void);
	void (*play)(void);
	void (*check)(void); /* by all ranks that live, after play(); or NULL */
	/* What rank 0 checks at the end, and writes; NULL: nothing, and KIND and SCENARIO. */
	void (*judge)(void);
	void (*report)(FILE *out);
};

/* Of each file of scenarios; the last one has no name. */
extern const struct scenario deaths_of_holders[], deaths_of_peers[], deaths_of_hosts[];

/* The arguments, the kind's capabilities, and what a scenario sets at its start. */
struct frame {
	const char *kind, *path;
	const struct scenario *scenario;
	uint64_t seed;
	int rank, ranks;
	bool ranges, shares;
	bool recovers, tells; /* the next holder is told of the recovery */
	pawl_table *table;
	MPI_Comm near; /* the ranks that share memory; MPI_COMM_WORLD, unless start() changes it */
	int ends;      /* how many of these get to the end */
	bool far;      /* this rank is on another host than rank 0 */
};
extern struct frame frame;

/* What a rank acquires or holds: a lock, or units of a space of the kinds with ranges. */
struct section {
	int lock, mode;
	int64_t first, last;
	int64_t name; /* for the scenario */
	pawl_range range;
};
int enter_section(struct section *s); /* the code */
int leave_section(const struct section *s);

/* Zeroed memory that the ranks of frame.near share. Collective; once, before the other functions.
 */
void *share_memory(size_t bytes);

/* Record a failure; the first one of this host is printed. */
void wrong(const char *format, ...) PRINTF(1, 2);
bool is_wrong(void);

/* Write the result under this name: "not ok", with the reason, if this host recorded a failure. */
void verdict(FILE *out, const char *name, ...) PRINTF(2, 3);

unsigned below(unsigned n); /* a random number, by frame.seed */

#endif
