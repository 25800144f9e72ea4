/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two programs, an MPI job and a simulated one (SimGrid's library contains an MPI,
 * so one program cannot be both), in which one rank after the other
 * acquires and releases, and which print the operations that each rank has issued.
 * Their outputs must be equal.
 */
#ifndef TESTS_SIM_COUNT_H
#define TESTS_SIM_COUNT_H

#include <pawl.h>
#include <stdio.h>
#include <string.h>

enum { COUNT_RANKS = 4, COUNT_ROUNDS = 5, COUNT_LOCKS = 3 };
enum { COUNT_TURNS = COUNT_RANKS * COUNT_ROUNDS };

static const char *const count_topologies[] = {"core:4", "package:2 core:2", "node:2 core:2",
					       "rack:2 node:2 core:1", NULL};

static inline int count_mode(const struct pawl_kind *kind, int turn)
{
	return (kind->capabilities & PAWL_CAP_SHARED) && turn / COUNT_RANKS % 2 ? PAWL_SHARED
										: PAWL_EXCLUSIVE;
}

/* Microseconds between turns: so long that one turn does not affect the operations of the
 * next. */
#define COUNT_LEASE "400000"

/* Microseconds. A lock that measures how patient to be does not do the same operations again. */
#define COUNT_PATIENCE "500"

/* Acquires. A lock whose stay depends on how long sections take does not do the same operations
 * again. */
#define COUNT_STAY "32"

static inline int count_has(const struct pawl_kind *kind, const char *option)
{
	return strstr(kind->options, option) != NULL;
}

static inline void count_print(const char *kind, const char *topology, int rank,
			       const struct pawl_stats *s)
{
	printf("%s on \"%s\", rank %d:", kind, topology, rank);
	for (int far = 0; far < 2; far++)
		printf(" %s: atomics %llu, gets %llu, puts %llu, flushes %llu",
		       far ? "far" : "near", (unsigned long long)s->atomics[far],
		       (unsigned long long)s->gets[far], (unsigned long long)s->puts[far],
		       (unsigned long long)s->flushes[far]);
	printf("\n");
}

#endif
