/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the workloads over ranges share: those of the Citron paper (FAST'23), section 4.
 *
 *   spans.c         which ranges clients ask for (pure; pawl-sim has it, too)
 *   space_options.c what the locks have to know of a space
 *   range.c         range
 *   range_grow.c    range-grow
 *   abort.c         abort
 *   falseconflict.c falseconflict; falsepairs.c what it computes (pure)
 *   range_verify.c  the check of mutual exclusion
 *   stripes.c       a file in the memory of all ranks
 *   grid.c          which client has which part of BT-IO's grid (pure)
 *   btio.c, oltp.c  applications on that file
 */
#ifndef PAWL_BENCH_RANGES_H
#define PAWL_BENCH_RANGES_H

#include "benchmarks/harness/bench.h"

/* Units first to last, both included. */
struct span {
	int64_t first, last;
};

/* ------------------------------------------------------------------- spans */

enum { SPAN_SIZES = 3 };
extern const int64_t span_sizes[SPAN_SIZES]; /* of mixed lengths */

/* Left borders by Zipf's law on 0 .. units - length, the lowest the likeliest. */
struct spans {
	struct zipf border[SPAN_SIZES];
	int64_t length[SPAN_SIZES];
	int sizes; /* that are drawn by chance */
};
/* length 0: mixed. Each client has one of the sizes, as many clients each; where there are
 * fewer clients than sizes, it is drawn by chance each time. */
void spans_start(struct spans *s, int64_t units, int64_t length, double skew, int client,
		 int clients);
struct span spans_next(const struct spans *s, uint64_t *random);
/* Its place among span_sizes, or -1. */
int span_size(struct span s);

/* IO500's ior-hard-write: clients write records of 47008 bytes side by side, turn by
 * turn; here the blocks of 4096 bytes that record turn of a client touches. */
enum { GROW_RECORD = 47008, BLOCK_BYTES = 4096, RANGE_GROW_MOST = 1 << 28 };
struct span span_of_bytes(uint64_t offset, uint64_t bytes);
struct span grow_span(uint64_t turn, int client, int clients);

/* Call set with each option for the size of a space that the kind takes, until it does not
 * return 0; what it returned last. */
int space_options(const struct settings *s, const struct workload *w, const struct pawl_kind *kind,
		  int (*set)(void *arg, const char *name, uint64_t value), void *arg);

/* -------------------------------------------------------------------- grid */

/* So many points in a row along x, from one on; points are numbered x first. */
struct grid_run {
	uint64_t point;
	uint32_t points;
};
/* Of a grid of side^3 points, the runs of one client; malloc()ed. */
struct grid_run *grid_runs(uint64_t side, int client, int clients, uint64_t *count);

/* ----------------------------------------------------------------- stripes */

/* Blocks in the memory of all ranks: block b at rank b mod ranks. A client that gets or puts
 * holds locks that keep others from putting at the same time. */
struct stripes {
	const struct team *team;
	MPI_Win win;
	char *mine, **map; /* map: by rank, where all share memory; else NULL */
	uint64_t blocks;
};
bool stripes_open(struct stripes *f, const struct team *team, uint64_t blocks);
void stripes_close(struct stripes *f);
void stripes_get(const struct stripes *f, struct span of, void *to);
void stripes_put(const struct stripes *f, struct span of, const void *from);

/* ------------------------------------------------------------------- locks */

/* TEST_BREAK=1: no locks, so that the tests see that the checks notice it. */
bool ranges_are_broken(void);
/* False, with a sentence in why, if --locks is not as many as the workload has. */
bool range_spaces_fit(const struct trial *t, char *why, size_t whylen);

static inline void range_lock(const struct trial *t, uint64_t space, struct span s, int mode,
			      pawl_range *range)
{
	if (ranges_are_broken())
		return;
	if (pawl_range_acquire(t->table, space, s.first, s.last, mode, range) != PAWL_SUCCESS)
		trial_abort(t, "acquire");
}

/* What the call returned. */
static inline int range_unlock(struct trial *t, const pawl_range *range)
{
	int rc;

	if (ranges_are_broken())
		return PAWL_SUCCESS;
	rc = pawl_range_release(t->table, range);
	if (__builtin_expect(rc != PAWL_SUCCESS, 0))
		trial_release_failed(t, rc);
	return rc;
}

/* range_verify.c: acquire and check for a while, all ranks; its memory goes at the end. */
void range_verify_run(struct trial *t);
void range_verify_end(void);

/* ---------------------------------------------------------------- workloads */

extern const char *const range_series[], *const file_series[], *const oltp_series[];
int range_open(struct trial *t, char *why, size_t whylen);
void range_close(struct trial *t);
void range_run(struct trial *t);
void range_cycle(struct trial *t); /* one acquire and release */
void range_grow_run(struct trial *t);
int abort_open(struct trial *t, char *why, size_t whylen);
void abort_close(struct trial *t);
void abort_run(struct trial *t);
int falseconflict_open(struct trial *t, char *why, size_t whylen);
void falseconflict_close(struct trial *t);
void falseconflict_run(struct trial *t);
uint64_t btio_units(const struct settings *s);
int btio_open(struct trial *t, char *why, size_t whylen);
void btio_close(struct trial *t);
void btio_run(struct trial *t);
enum { OLTP_DATA_FILES = 10, OLTP_FILES };
enum { OLTP_FILE_BYTES = 10 << 20, OLTP_LOG_BYTES = 256 << 10 };
uint64_t oltp_units(const struct settings *s);
int oltp_open(struct trial *t, char *why, size_t whylen);
void oltp_close(struct trial *t);
void oltp_run(struct trial *t);

#endif
