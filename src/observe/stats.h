/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics (PAWL_STATS): what stats.c collects and stats_print.c prints. */
#ifndef OBSERVE_STATS_H
#define OBSERVE_STATS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/histogram.h"
#include "observe/tallies.h"

struct stats {
	const struct observe *observe;
	bool json;
	int rows;
	char file[OBSERVE_SETTING]; /* "": stderr */
	_Atomic(unsigned) shown;    /* signals that this table has answered */
	pthread_mutex_t mutex;      /* for the rest */
	struct histogram waits, holds;
	struct tallies tallies;
};

/* Which locks to print. */
struct stats_part {
	uint64_t first, n, extra;
	bool everything;
	const char *title; /* of a window; NULL: the table */
};

/* At rank 0 of the table: empty the file, unless this job has written it. Local; the ranks must
 * meet before another one prints. */
void stats_begin_file(const struct stats *s);
/* Print for all ranks. Collective over comm, which has the table's ranks in their order. */
void stats_print(struct stats *s, MPI_Comm comm, const struct stats_part *part);
/* Print what this rank has so far. Local. */
void stats_print_own(struct stats *s);

#endif
