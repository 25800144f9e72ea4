/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the workloads over ranges share: those of the Citron paper (FAST'23), section 4.
 *
 *   spans.c         the ranges that clients ask for (no MPI; pawl-sim uses it, too)
 *   space_options.c options that state the size of a space
 *   range.c         range
 *   range_grow.c    range-grow
 *   abort.c         abort
 *   falseconflict.c falseconflict; falsepairs.c its computation (no MPI)
 *   range_verify.c  the check of mutual exclusion
 *   stripes.c       a file in the memory of all ranks
 *   grid.c          the part of each client in BT-IO's grid (no MPI)
 *   oltp_draw.c     the accesses of OLTP (no MPI)
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

/* Left borders by Zipf's law on 0 .. units - length; 0 is the most likely one. */
struct spans {
	struct zipf border[SPAN_SIZES];
	int64_t length[SPAN_SIZES];
	int sizes; /* drawn at random */
};
/* length 0: mixed. Each client uses one of the sizes, and each size has equally many clients; if
 * there are fewer clients than sizes, a client draws the size each time. */
void spans_start(struct spans *s, int64_t units, int64_t length, double skew, int client,
		 int clients);
struct span spans_next(const struct spans *s, uint64_t *random);
/* The index of a length in span_sizes, or -1. */
int span_size(struct span s);

/* IO500's ior-hard-write: in each turn the clients write adjacent records of 47008 bytes. Returns
 * the blocks of 4096 bytes of a client's record in that turn. */
enum { GROW_RECORD = 47008, BLOCK_BYTES = 4096, RANGE_GROW_MOST = 1 << 28 };
struct span span_of_bytes(uint64_t offset, uint64_t bytes);
struct span grow_span(uint64_t turn, int client, int clients);

/* Call set for each option of the kind that states the size of a space, until it does not
 * return 0; returns its last result. */
int space_options(const struct settings *s, const struct workload *w, const struct pawl_kind *kind,
		  int (*set)(void *arg, const char *name, uint64_t value), void *arg);

/* ------------------------------------------------------------------- BT-IO */

/* Consecutive points along x; points are numbered x first. */
struct grid_run {
	uint64_t point;
	uint32_t points;
};
/* The runs of one client in a grid of side^3 points; malloc()ed. */
struct grid_run *grid_runs(uint64_t side, int client, int clients, uint64_t *count);
/* The blocks of a run in the file, which has five numbers for each point. */
enum { BTIO_WRITE, BTIO_READ };
enum { BTIO_NUMBERS = 5, BTIO_POINT_BYTES = BTIO_NUMBERS * sizeof(uint64_t) };
struct span grid_span(const struct grid_run *r);
uint64_t btio_units(const struct settings *s);

/* ------------------------------------------------------------------------ OLTP */

enum { OLTP_READ, OLTP_WRITE, OLTP_LOG };
enum { OLTP_DATA_FILES = 10, OLTP_FILES };
enum { OLTP_FILE_BYTES = 10 << 20, OLTP_LOG_BYTES = 256 << 10 };
/* An operation: its kind, its file, and blocks of that. */
struct oltp_access {
	int kind, file;
	struct span blocks;
};
/* The next operation on files of so many blocks each. */
struct oltp_access oltp_draw(uint64_t blocks, uint64_t *random);
/* Its blocks, if the files are adjacent. */
struct span oltp_place(const struct oltp_access *a, uint64_t blocks);
uint64_t oltp_units(const struct settings *s);

/* ----------------------------------------------------------------- stripes */

/* Blocks in the memory of all ranks: block b at rank b mod ranks. The caller holds locks that keep
 * others from putting the same blocks. */
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

/* TEST_BREAK=1: no locks, so that a test sees whether the checks notice. */
bool ranges_are_broken(void);
/* False, with a message in why, if --locks differs from the workload's number of spaces. */
bool range_spaces_fit(const struct trial *t, char *why, size_t whylen);

static inline void range_lock(const struct trial *t, uint64_t space, struct span s, int mode,
			      pawl_range *range)
{
	if (ranges_are_broken())
		return;
	if (trial_refused(pawl_range_acquire(t->table, space, s.first, s.last, mode, range)))
		trial_abort(t, "acquire");
}

/* Return the code of the call. */
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

/* range_verify.c: all ranks acquire and check for a while; frees its memory at the end. */
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
int btio_open(struct trial *t, char *why, size_t whylen);
void btio_close(struct trial *t);
void btio_run(struct trial *t);
int oltp_open(struct trial *t, char *why, size_t whylen);
void oltp_close(struct trial *t);
void oltp_run(struct trial *t);

#endif
