/* SPDX-License-Identifier: BSD-3-Clause */
/* One contestant, one workload, once. */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include <mpi.h>
#include <pawl.h>

#include "benchmarks/harness/contestants.h"
#include "benchmarks/results/outcome.h"
#include "benchmarks/harness/team.h"

struct workload;

struct cell;

/* Everything that a loop needs. */
struct trial {
	const struct settings *set;
	const struct team *team;
	const struct contestant *contestant;
	const struct workload *workload;
	pawl_table *table; /* NULL for pseudo locks, and before the table is created */
	bool is_active;
	int active, client; /* how many, and which of them */

	/* Which locks and modes to draw. */
	uint64_t random;
	uint64_t locks;
	uint32_t writers; /* of 2^32 picks */
	uint32_t *ring;
	uint32_t turn;
	const void *law; /* of the ring, for this number of locks */
	uint64_t law_n;
	double local; /* of the ring: the share of near locks */

	uint32_t failures;  /* of 2^32 releases */
	uint32_t transfers; /* of 2^32 transactions of the bank */

	/* When to stop, and how often to check the time. */
	uint64_t ticks, limit, clock_cost;
	uint32_t stride;

	/* The protected data of the first locks. */
	struct cell *cells; /* all of them if one node, else this rank's */
	MPI_Win win;
	uint64_t n_cells;

	/* The results of this rank. */
	uint64_t acquires, exclusive, verified, counted, violations;
	uint64_t abandoned, leases_lost;
	uint64_t requests, reader_requests; /* of locks, by transactions */
	uint64_t bytes;                     /* read and written */
	uint64_t turns;                     /* how often another rank was the last holder */
	double elapsed_ns;
	struct times hist, series[MAX_SERIES];
	uint64_t timeline[TIMELINE + 1];

	/* The workload's own table, filled in by close, the same on all ranks. */
	int rows;
	double row[MAX_ROWS][MAX_COLUMNS];
};

enum { RING = 1 << 18, MAX_CELLS = 1 << 16 };

/* BENCH_OK and *out; or BENCH_USAGE if the contestant cannot take part:
 * why has a message and *fatal says whether the command line is at fault. */
int trial_run(struct trial *t, struct outcome *out, char *why, size_t whylen, bool *fatal);
void trial_free(struct trial *t); /* the table, if there is one */
/* Collective. */
void outcome_gather(struct trial *t, struct outcome *out);
/* An acquire or a release failed: end the run. */
_Noreturn void trial_abort(const struct trial *t, const char *doing);
/* Whether an acquire has failed: with recovery, it may be told of one. */
static inline bool trial_refused(int rc)
{
	return __builtin_expect(rc != PAWL_SUCCESS, 0) && rc != PAWL_RECOVERED;
}

void trial_release_failed(struct trial *t, int code);
/* Release, and count a lost lease. */
static inline void trial_release(struct trial *t, uint64_t lock)
{
	int rc = pawl_lock_release(t->table, lock);

	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		trial_release_failed(t, rc);
}
/* The node of a rank, as the table sees nodes. */
int trial_node_of(const struct trial *t, int rank);

/* Whether a release failed. A lost lease is not a failure. */
static inline bool has_failed(int rc)
{
	return __builtin_expect(rc != PAWL_SUCCESS, 0) && rc != PAWL_ERR_LEASE_LOST;
}

#endif
