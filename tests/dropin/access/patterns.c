/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What benchmarks and applications do with windows, each time with a check of all data that a
 * process gets or is given:
 *
 *   transfers      who has which target and completes how, as in the one-sided part of the Intel
 *                  MPI Benchmarks (IMB-RMA), in epochs of shared locks
 *   kernels        the RMA forms of the Parallel Research Kernels: transpose, stencil, pipeline,
 *                  nstream; and random updates of a table, as HPCC's RandomAccess has them
 *   defects        what MPIs do wrong: polls of a word of the own window, which hang where the
 *                  target must call the MPI; floating point by MPI_Fetch_and_op, which is wrong in
 *                  osc/ucx of Open MPI 4.1 (the value found is that of bits added as
 *                  integers); issues 14173, 14175 and 14181 of open-mpi/ompi. Only with
 *                  --defects 1, for windows with Pawl's atomics.
 *
 * --bench 1 prints how long each one takes.
 */
#include "tests/dropin/area.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Win win;
static int rank, size;
static enum area_flavour flavour;
static bool measures, cured; /* cured: the MPI's defects do not show */

/* A window of the flavour. */
static void *open_window(MPI_Aint bytes, int unit, MPI_Info info, MPI_Win *w)
{
	MPI_Info more = area_info(info);
	void *mine;

	bytes = (bytes + 15) / 16 * 16; /* MPICH 4.0 needs multiples */
	if (flavour == AREA_CREATE) {
		MPI_Alloc_mem(bytes, MPI_INFO_NULL, &mine);
		MPI_Win_create(mine, bytes, unit, more, MPI_COMM_WORLD, w);
	} else {
		MPI_Win_allocate(bytes, unit, more, MPI_COMM_WORLD, &mine, w);
	}
	memset(mine, 0, (size_t)bytes);
	MPI_Info_free(&more);
	return mine;
}

static void close_window(MPI_Win *w, void *mine)
{
	MPI_Win_free(w);
	if (flavour == AREA_CREATE)
		MPI_Free_mem(mine);
}

/* Its result, and with --bench 1 its time. n: calls, or rounds. */
static void over(double begin, int n, const char *what)
{
	double spent = MPI_Wtime() - begin;

	MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (measures)
		note("%s, %s: %.3f us", area_flavour_name[flavour], what, spent * 1e6 / n);
	result("%s: %s", area_flavour_name[flavour], what);
}

/* ------------------------------------------------------------------ transfers */

enum call { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP };
enum pairs { ONE_TO_ONE, EACH_OTHER, ONE_TO_ALL, ALL_TO_ALL, NEIGHBOURS };
enum completion { FLUSH_EACH, FLUSH_LAST, LOCAL_EACH, LOCAL_LAST };
enum { LONGEST = 4096, ROUNDS = 12 }; /* floats */

static const struct transfer {
	const char *name;
	enum call call;
	enum pairs pairs;
} transfers[] = {
    {"put to one", PUT, ONE_TO_ONE},
    {"get from one", GET, ONE_TO_ONE},
    {"put to each other", PUT, EACH_OTHER},
    {"get from each other", GET, EACH_OTHER},
    {"one puts to all", PUT, ONE_TO_ALL},
    {"one gets from all", GET, ONE_TO_ALL},
    {"all put to all", PUT, ALL_TO_ALL},
    {"all get from all", GET, ALL_TO_ALL},
    {"put to neighbours", PUT, NEIGHBOURS},
    {"get from neighbours", GET, NEIGHBOURS},
    {"accumulate", ACCUMULATE, ONE_TO_ONE},
    {"get and accumulate", GET_ACCUMULATE, ONE_TO_ONE},
    {"fetch and op", FETCH_AND_OP, ONE_TO_ONE},
    {"compare and swap", COMPARE_AND_SWAP, ONE_TO_ONE},
    {"all accumulate to all", ACCUMULATE, ALL_TO_ALL},
    {"all get and accumulate to neighbours", GET_ACCUMULATE, NEIGHBOURS},
};

static bool is_pair(const struct transfer *t, int origin, int target)
{
	if (origin == target)
		return false;
	switch (t->pairs) {
	case ONE_TO_ONE:
		return origin == 0 && target == 1;
	case EACH_OTHER:
		return origin + target == 1;
	case ONE_TO_ALL:
		return origin == 0;
	case ALL_TO_ALL:
		return true;
	default:
		return (origin + 1) % size == target || (target + 1) % size == origin;
	}
}

/* What target and origin exchange in the element. Small whole numbers, so that sums are exact. */
static float stamp(int origin, int target, int element, int series)
{
	return (float)((origin * 31 + target * 7 + element * 3 + series) % 1000 + 1);
}

/* The first int is what compare-and-swap finds, each time one more. */
static void call_once(const struct transfer *t, int target, int n, int round, const float *from,
		      float *to)
{
	const MPI_Aint at = (MPI_Aint)rank * LONGEST;
	int old = round, next = round + 1;

	switch (t->call) {
	case PUT:
		MPI_Put(from, n, MPI_FLOAT, target, at, n, MPI_FLOAT, win);
		break;
	case GET:
		MPI_Get(to, n, MPI_FLOAT, target, at, n, MPI_FLOAT, win);
		break;
	case ACCUMULATE:
		MPI_Accumulate(from, n, MPI_FLOAT, target, at, n, MPI_FLOAT, MPI_SUM, win);
		break;
	case GET_ACCUMULATE:
		MPI_Get_accumulate(from, n, MPI_FLOAT, to, n, MPI_FLOAT, target, at, n, MPI_FLOAT,
				   MPI_SUM, win);
		break;
	case FETCH_AND_OP:
		MPI_Fetch_and_op(from, to, MPI_FLOAT, target, at, MPI_SUM, win);
		break;
	case COMPARE_AND_SWAP:
		MPI_Compare_and_swap(&next, &old, to, MPI_INT, target, at, win);
		MPI_Win_flush_local(target, win);
	}
}

static void complete(int target, enum completion how, bool all)
{
	const bool local = how == LOCAL_EACH || how == LOCAL_LAST;

	if (all && local)
		MPI_Win_flush_local_all(win);
	else if (all)
		MPI_Win_flush_all(win);
	else if (local)
		MPI_Win_flush_local(target, win);
	else
		MPI_Win_flush(target, win);
}

/* The buffers of an origin: [size][LONGEST] to send, [size][ROUNDS][LONGEST] for results. */
static float *from, *to;

static float *result_of(int target, int round)
{
	return to + ((size_t)target * ROUNDS + (size_t)round) * LONGEST;
}

static void transfer(const struct transfer *t, int n, enum completion how)
{
	const bool all = t->pairs == ONE_TO_ALL || t->pairs == ALL_TO_ALL;

	if (all)
		MPI_Win_lock_all(0, win);
	for (int target = 0; target < size && !all; target++)
		if (is_pair(t, rank, target))
			MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < size; i++) {
			const int target = (rank + i) % size;

			if (!is_pair(t, rank, target))
				continue;
			call_once(t, target, n, round, from + (size_t)target * LONGEST,
				  result_of(target, round));
			if (how == FLUSH_EACH || how == LOCAL_EACH)
				complete(target, how, false);
		}
	for (int target = 0; target < size && !all; target++)
		if (is_pair(t, rank, target)) {
			complete(target, how, false);
			MPI_Win_unlock(target, win);
		}
	if (all) {
		complete(0, how, true);
		MPI_Win_unlock_all(win);
	}
}

/* What the pair's memory has been given, or has been read from it. */
static void check_pair(const struct transfer *t, int origin, int target, int n, int series,
		       const float *memory)
{
	for (int i = 0; i < n; i++) {
		const float given = stamp(origin, target, i, series);
		float wanted = t->call >= ACCUMULATE ? ROUNDS * given : given;

		if (rank == target && t->call != GET && t->call != COMPARE_AND_SWAP &&
		    !expect(memory[i] == wanted, "%s, %d: element %d is %g instead of %g", t->name,
			    n, i, memory[i], wanted))
			return;
		for (int round = 0; rank == origin && round < ROUNDS; round++) {
			const float got = result_of(target, round)[i];

			wanted = t->call == GET ? given : (float)round * given;
			if (t->call != PUT && t->call != ACCUMULATE &&
			    t->call != COMPARE_AND_SWAP &&
			    !expect(got == wanted, "%s, %d, round %d: got element %d %g, not %g",
				    t->name, n, round, i, got, wanted))
				return;
		}
	}
	for (int round = 0; rank == origin && t->call == COMPARE_AND_SWAP && round < ROUNDS;
	     round++) {
		int found;

		memcpy(&found, result_of(target, round), sizeof found);
		expect(found == round, "compare and swap found %d instead of %d", found, round);
	}
}

static void series_of(const struct transfer *t, float *mine)
{
	const int lengths[] = {1, 3, 64, LONGEST};
	double begin, spent = 0;
	int series = 0;

	now_doing("%s: %s", area_flavour_name[flavour], t->name);
	for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
		for (int how = FLUSH_EACH; how <= LOCAL_LAST; how++, series++) {
			const int n = t->call >= FETCH_AND_OP ? 1 : lengths[k];

			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
			for (int r = 0; r < size; r++)
				for (int i = 0; i < n; i++) {
					from[r * LONGEST + i] = stamp(rank, r, i, series);
					mine[r * LONGEST + i] =
					    t->call == GET ? stamp(r, rank, i, series) : 0;
				}
			MPI_Win_unlock(rank, win);
			meet();
			begin = MPI_Wtime();
			transfer(t, n, (enum completion)how);
			spent += MPI_Wtime() - begin;
			meet();
			MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
			for (int r = 0; r < size; r++) {
				if (is_pair(t, r, rank))
					check_pair(t, r, rank, n, series,
						   mine + (size_t)r * LONGEST);
				if (is_pair(t, rank, r))
					check_pair(t, rank, r, n, series, NULL);
			}
			MPI_Win_unlock(rank, win);
			meet();
		}
	over(MPI_Wtime() - spent, series * ROUNDS, t->name);
}

/* The target computes as long as puts take to it while it waits, and longer; the origin holds its
 * lock meanwhile. */
static void passive_put(float *mine)
{
	double begin, took = 0;

	now_doing("%s: put to a target that computes", area_flavour_name[flavour]);
	from[0] = 17;
	meet();
	begin = MPI_Wtime();
	if (rank == 0)
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
	for (int way = 0; way < 2; way++)
		for (int i = 0; i < ROUNDS; i++) {
			if (rank == 0) {
				MPI_Put(from, LONGEST, MPI_FLOAT, 1, 0, LONGEST, MPI_FLOAT, win);
				MPI_Win_flush(1, win);
			} else if (rank == 1 && way) {
				area_compute(took);
			}
			meet();
			took = (MPI_Wtime() - begin) / (i + 1);
		}
	if (rank == 0)
		MPI_Win_unlock(1, win);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	expect(rank != 1 || mine[0] == 17, "put to a busy target: %g", mine[0]);
	MPI_Win_unlock(rank, win);
	over(begin, 2 * ROUNDS, "put to a target that computes");
}

static void all_transfers(void)
{
	float *mine = open_window((MPI_Aint)size * LONGEST * (MPI_Aint)sizeof *mine, sizeof *mine,
				  MPI_INFO_NULL, &win);

	from = calloc((size_t)size * LONGEST, sizeof *from);
	to = calloc((size_t)size * LONGEST * ROUNDS, sizeof *to);
	for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++)
		if (cured || transfers[i].call != FETCH_AND_OP)
			series_of(&transfers[i], mine);
	passive_put(mine);
	free(from);
	free(to);
	close_window(&win, mine);
}

/* -------------------------------------------------------------------- kernels */

enum { STEPS = 10 };

/* B += transpose of A, columns distributed; then A += 1. Blocks are put and added by their owner,
 * between fences or in one epoch with flushes, of one target or after some of all; or accumulated
 * into B with a derived type, which the target has as rows. */
enum transpose { BY_FENCE, BY_FLUSH, BY_BUNDLE, BY_ACCUMULATE };

static void transpose(enum transpose by)
{
	enum { BLOCK = 12, BUNDLE = 2 };
	static const char *const name[] = {"transpose, fences", "transpose, flushes",
					   "transpose, bundles", "transpose, accumulates"};
	const int order = BLOCK * size, first = BLOCK * rank;
	const size_t elements = (size_t)order * BLOCK;
	const MPI_Aint bytes = (MPI_Aint)(elements * sizeof(double));
	double *in = open_window(bytes, sizeof *in, MPI_INFO_NULL, &win), begin;
	double *a = malloc((size_t)bytes), *out = malloc((size_t)bytes);
	double *b = by == BY_ACCUMULATE ? in : calloc(elements, sizeof *b);
	MPI_Datatype rows;

	now_doing("%s: %s", area_flavour_name[flavour], name[by]);
	MPI_Type_vector(BLOCK, BLOCK, order, MPI_DOUBLE, &rows);
	MPI_Type_commit(&rows);
	for (int j = 0; j < BLOCK; j++)
		for (int i = 0; i < order; i++)
			a[j * order + i] = (double)(order * (j + first) + i);
	meet();
	begin = MPI_Wtime();
	if (by != BY_FENCE)
		MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	for (int step = 0; step < STEPS; step++) {
		if (by == BY_FENCE)
			MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPRECEDE, win);
		for (int phase = 0; phase < size; phase++) {
			const int t = (rank + size - phase) % size;
			double *block = out + (size_t)t * BLOCK * BLOCK;

			for (int j = 0; j < BLOCK; j++)
				for (int i = 0; i < BLOCK; i++)
					block[i * BLOCK + j] = a[j * order + t * BLOCK + i];
			if (by == BY_ACCUMULATE)
				MPI_Accumulate(block, BLOCK * BLOCK, MPI_DOUBLE, t, first, 1, rows,
					       MPI_SUM, win);
			else
				MPI_Put(block, BLOCK * BLOCK, MPI_DOUBLE, t, first * BLOCK,
					BLOCK * BLOCK, MPI_DOUBLE, win);
			if (by == BY_BUNDLE && phase % BUNDLE == 0)
				MPI_Win_flush_local_all(win);
			else if (by == BY_FLUSH || by == BY_ACCUMULATE)
				MPI_Win_flush_local(t, win);
		}
		if (by == BY_FENCE) {
			MPI_Win_fence(MPI_MODE_NOSTORE, win);
		} else {
			MPI_Win_flush_all(win);
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Win_sync(win);
		}
		for (int s = 0; s < size && by != BY_ACCUMULATE; s++)
			for (int j = 0; j < BLOCK; j++)
				for (int i = 0; i < BLOCK; i++)
					b[j * order + s * BLOCK + i] +=
					    in[(s * BLOCK + j) * BLOCK + i];
		for (size_t i = 0; i < elements; i++)
			a[i] += 1;
		if (by != BY_FENCE)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	if (by != BY_FENCE)
		MPI_Win_unlock_all(win);
	for (int j = 0; j < BLOCK; j++)
		for (int i = 0; i < order; i++) {
			const double wanted =
			    STEPS * (double)(order * i + j + first) + STEPS * (STEPS - 1) / 2.0;

			if (!expect(b[j * order + i] == wanted, "B(%d, %d) is %g instead of %g", i,
				    j + first, b[j * order + i], wanted))
				j = i = order;
		}
	over(begin, STEPS, name[by]);
	MPI_Type_free(&rows);
	if (b != in)
		free(b);
	free(out);
	free(a);
	close_window(&win, in);
}

/* Halos of one direction: a window of what goes up, comes from there, goes down, and comes from
 * there, in this order. */
enum { RADIUS = 2, SIDE = 8, HALO = RADIUS * SIDE, UP = 0, DOWN = 2 * HALO };
struct halos {
	MPI_Win win;
	float *memory;
	int down, up; /* neighbours, or -1 */
};

/* Cell i of the halo that begins at row `first`, of rows or columns. */
static float *cell(float (*grid)[SIDE + 2 * RADIUS], bool columns, int first, int i)
{
	const int row = first + i / SIDE, at = RADIUS + i % SIDE;

	return columns ? &grid[at][row] : &grid[row][at];
}

static void exchange(struct halos *h, float (*grid)[SIDE + 2 * RADIUS], bool columns)
{
	for (int i = 0; i < HALO; i++) {
		h->memory[UP + i] = *cell(grid, columns, SIDE, i);
		h->memory[DOWN + i] = *cell(grid, columns, RADIUS, i);
	}
	MPI_Win_fence(0, h->win);
	if (h->up >= 0)
		MPI_Put(h->memory + UP, HALO, MPI_FLOAT, h->up, DOWN + HALO, HALO, MPI_FLOAT,
			h->win);
	if (h->down >= 0)
		MPI_Put(h->memory + DOWN, HALO, MPI_FLOAT, h->down, UP + HALO, HALO, MPI_FLOAT,
			h->win);
	MPI_Win_fence(0, h->win);
	for (int i = 0; i < HALO; i++) {
		*cell(grid, columns, RADIUS + SIDE, i) = h->memory[UP + HALO + i];
		*cell(grid, columns, 0, i) = h->memory[DOWN + HALO + i];
	}
}

/* A star over tiles; halos come by puts between fences, in a window for each direction, without
 * locks. Each step adds a constant to the grid, of which the star takes the slope. */
static void stencil(void)
{
	float grid[SIDE + 2 * RADIUS][SIDE + 2 * RADIUS], out[SIDE][SIDE] = {{0}};
	struct halos side[2]; /* of rows, of columns */
	int wide = 1, x, y;
	MPI_Info info;
	double begin;

	now_doing("%s: stencil", area_flavour_name[flavour]);
	for (int i = 1; i * i <= size; i++)
		wide = size % i ? wide : i;
	x = rank % wide;
	y = rank / wide;
	side[0] = (struct halos){.down = y ? rank - wide : -1,
				 .up = y + 1 < size / wide ? rank + wide : -1};
	side[1] = (struct halos){.down = x ? rank - 1 : -1, .up = x + 1 < wide ? rank + 1 : -1};
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	for (int i = 0; i < 2; i++)
		side[i].memory =
		    open_window(4 * HALO * sizeof(float), sizeof(float), info, &side[i].win);
	MPI_Info_free(&info);
	for (int j = 0; j < SIDE + 2 * RADIUS; j++)
		for (int i = 0; i < SIDE + 2 * RADIUS; i++)
			grid[j][i] =
			    j < RADIUS || j >= SIDE + RADIUS || i < RADIUS || i >= SIDE + RADIUS
				? -1000
				: (float)(SIDE * (x + y) + i + j);
	meet();
	begin = MPI_Wtime();
	for (int step = 0; step < STEPS; step++) {
		exchange(&side[0], grid, false);
		exchange(&side[1], grid, true);
		for (int j = 0; j < SIDE; j++)
			for (int i = 0; i < SIDE; i++)
				for (int k = 1; k <= RADIUS; k++)
					out[j][i] += (grid[j + RADIUS + k][i + RADIUS] -
						      grid[j + RADIUS - k][i + RADIUS] +
						      grid[j + RADIUS][i + RADIUS + k] -
						      grid[j + RADIUS][i + RADIUS - k]) /
						     (float)(2 * k * RADIUS);
		for (int j = RADIUS; j < SIDE + RADIUS; j++)
			for (int i = RADIUS; i < SIDE + RADIUS; i++)
				grid[j][i] += 1;
	}
	for (int j = 0; j < SIDE; j++)
		for (int i = 0; i < SIDE; i++)
			if ((side[0].down >= 0 || j >= RADIUS) &&
			    (side[0].up >= 0 || j < SIDE - RADIUS) &&
			    (side[1].down >= 0 || i >= RADIUS) &&
			    (side[1].up >= 0 || i < SIDE - RADIUS))
				expect(fabsf(out[j][i] - 2 * STEPS) < 1e-3f,
				       "the slope at %d, %d is %g instead of %d", j, i, out[j][i],
				       2 * STEPS);
	over(begin, STEPS, "stencil");
	for (int i = 0; i < 2; i++)
		close_window(&side[i].win, side[i].memory);
}

/* Values to the right neighbour, one after the other: by an epoch of post and wait, into its grid;
 * or through two words of it, by accumulates that both poll. Word 1 has the number of a value that
 * is there, or the negative number of the last one that has been taken. */
struct channel {
	bool polls;
	int left, right;
	MPI_Group sources, targets;
	int64_t sent, taken;
};

static int64_t fetch(int target, MPI_Aint word, MPI_Datatype type)
{
	int64_t value;

	MPI_Fetch_and_op(NULL, &value, type, target, word, MPI_NO_OP, win);
	MPI_Win_flush(target, win);
	return value;
}

static void replace(int target, MPI_Aint word, const void *value, MPI_Datatype type)
{
	MPI_Accumulate(value, 1, type, target, word, 1, type, MPI_REPLACE, win);
	MPI_Win_flush(target, win);
}

/* word: of its grid. */
static void send(struct channel *c, double value, MPI_Aint word)
{
	if (!c->polls) {
		MPI_Win_start(c->targets, 0, win);
		MPI_Put(&value, 1, MPI_DOUBLE, c->right, word, 1, MPI_DOUBLE, win);
		MPI_Win_complete(win);
		return;
	}
	while (fetch(c->right, 1, MPI_INT64_T) != -c->sent)
		;
	c->sent++;
	replace(c->right, 0, &value, MPI_DOUBLE);
	replace(c->right, 1, &c->sent, MPI_INT64_T);
}

static void take(struct channel *c, double *value)
{
	int64_t bits, done;

	if (!c->polls) {
		MPI_Win_post(c->sources, MPI_MODE_NOSTORE, win);
		MPI_Win_wait(win);
		return;
	}
	c->taken++;
	while (fetch(rank, 1, MPI_INT64_T) != c->taken)
		;
	bits = fetch(rank, 0, MPI_DOUBLE);
	memcpy(value, &bits, sizeof *value);
	done = -c->taken;
	replace(rank, 1, &done, MPI_INT64_T);
}

/* A point needs those left of it and below; columns are distributed, so lines are a pipeline. The
 * last corner goes back to the first one. */
static void pipeline(bool polls)
{
	enum { COLUMNS = 6, LINES = 16 };
	struct channel c = {
	    .polls = polls, .left = (rank + size - 1) % size, .right = (rank + 1) % size};
	const char *name = polls ? "pipeline, polls" : "pipeline, post and wait";
	double own[LINES][COLUMNS + 1] = {{0}}, (*grid)[COLUMNS + 1] = own; /* column 0: the
									       neighbour's */
	double *in, begin, wanted;
	const double *corner;
	MPI_Group all;
	MPI_Info info;

	now_doing("%s: %s", area_flavour_name[flavour], name);
	MPI_Info_create(&info);
	if (!polls)
		MPI_Info_set(info, "no_locks", "true");
	in = open_window(polls ? 2 * sizeof *in : sizeof own, sizeof *in, info, &win);
	if (!polls)
		grid = (double(*)[COLUMNS + 1])(void *)in;
	corner = &grid[LINES - 1][COLUMNS];
	MPI_Info_free(&info);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &c.left, &c.sources);
	MPI_Group_incl(all, 1, &c.right, &c.targets);
	for (int i = 0; i <= COLUMNS; i++)
		grid[0][i] = rank * COLUMNS + i - 1;
	for (int j = 0; rank == 0 && j < LINES; j++)
		grid[j][1] = j;
	meet();
	begin = MPI_Wtime();
	if (polls)
		MPI_Win_lock_all(0, win);
	for (int step = 0; step < STEPS; step++) {
		for (int j = 1; j < LINES; j++) {
			if (rank > 0)
				take(&c, &grid[j][0]);
			for (int i = rank == 0 ? 1 : 0; i < COLUMNS; i++)
				grid[j][i + 1] = grid[j][i] + grid[j - 1][i + 1] - grid[j - 1][i];
			if (rank < size - 1)
				send(&c, grid[j][COLUMNS], j * (COLUMNS + 1));
		}
		if (rank == size - 1)
			send(&c, -*corner, 1);
		if (rank == 0)
			take(&c, &grid[0][1]);
	}
	if (polls)
		MPI_Win_unlock_all(win);
	wanted = STEPS * (double)(COLUMNS * size + LINES - 2);
	expect(rank < size - 1 || fabs(*corner - wanted) < 1e-6, "the corner is %g instead of %g",
	       *corner, wanted);
	over(begin, STEPS * LINES, name);
	MPI_Group_free(&c.targets);
	MPI_Group_free(&c.sources);
	MPI_Group_free(&all);
	close_window(&win, in);
}

/* A vector in parts, in one epoch as long as it lives. With MPI_Win_create the window is one of
 * memory that has been allocated as a shared window of each node. */
enum { PART = 16 };
struct vector {
	MPI_Win all, node;
	double *part; /* of this rank */
};

static void vector_open(struct vector *v, MPI_Comm comm, MPI_Comm node, double value)
{
	const MPI_Aint bytes = PART * sizeof *v->part;
	MPI_Info info = area_info(MPI_INFO_NULL);

	v->node = MPI_WIN_NULL;
	if (flavour == AREA_CREATE) {
		MPI_Win_allocate_shared(bytes, 1, info, node, &v->part, &v->node);
		MPI_Win_create(v->part, bytes, 1, info, comm, &v->all);
	} else {
		MPI_Win_allocate(bytes, 1, info, comm, &v->part, &v->all);
	}
	MPI_Info_free(&info);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, v->all);
	for (int i = 0; i < PART; i++)
		v->part[i] = value;
}

static void vector_close(struct vector *v)
{
	MPI_Win_unlock_all(v->all);
	MPI_Win_free(&v->all);
	if (v->node != MPI_WIN_NULL)
		MPI_Win_free(&v->node);
}

/* Orders stores and RMA before the meeting before loads and RMA after it. */
static void vector_meet(const struct vector *v)
{
	MPI_Win_sync(v->all);
	meet();
	MPI_Win_sync(v->all);
}

/* Element i of all others' parts: it is read, or added to, by a call with a request. */
static void vector_access(const struct vector *v, int i, bool adds, double wanted)
{
	const MPI_Aint at = i * (MPI_Aint)sizeof *v->part;
	const double one = 1;

	for (int k = 1; k < size; k++) {
		const int target = (rank + k) % size;
		double got = -1;
		MPI_Request r;

		if (adds)
			MPI_Raccumulate(&one, 1, MPI_DOUBLE, target, at, 1, MPI_DOUBLE, MPI_SUM,
					v->all, &r);
		else
			MPI_Rget(&got, 1, MPI_DOUBLE, target, at, 1, MPI_DOUBLE, v->all, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		expect(adds || got == wanted, "element %d of rank %d is %g instead of %g", i,
		       target, got, wanted);
	}
}

/* A += B + 3 C: each process in its part, by loads and stores; then single elements of others. */
static void nstream(void)
{
	const double wanted = STEPS * (2 + 3 * 2.0);
	struct vector a, b, c;
	MPI_Comm comm, node;
	double begin;

	now_doing("%s: nstream", area_flavour_name[flavour]);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	vector_open(&a, comm, node, 0);
	vector_open(&b, comm, node, 2);
	vector_open(&c, comm, node, 2);
	meet();
	begin = MPI_Wtime();
	for (int step = 0; step < STEPS; step++)
		for (int i = 0; i < PART; i++)
			a.part[i] += b.part[i] + 3 * c.part[i];
	vector_meet(&a);
	for (int i = 0; i < PART; i++)
		vector_access(&a, i, false, wanted);
	meet();
	for (int i = 0; i < PART; i++)
		vector_access(&a, i, true, 0);
	MPI_Win_flush_all(a.all);
	vector_meet(&a);
	for (int i = 0; i < PART; i++)
		expect(a.part[i] == wanted + size - 1, "element %d is %g instead of %g", i,
		       a.part[i], wanted + size - 1);
	over(begin, 2 * PART, "nstream, elements of others");
	vector_close(&c);
	vector_close(&b);
	vector_close(&a);
	MPI_Comm_free(&node);
	MPI_Comm_free(&comm);
}

/* Exclusive or with random numbers at random places, twice: the second time undoes the first. */
static void random_updates(void)
{
	enum { WORDS = 64, UPDATES = 400, FLUSH = 32 };
	uint64_t *table = open_window(WORDS * sizeof *table, sizeof *table, MPI_INFO_NULL, &win),
		 given[FLUSH];
	double begin;

	now_doing("%s: random updates", area_flavour_name[flavour]);
	for (int i = 0; i < WORDS; i++)
		table[i] = (uint64_t)(rank * WORDS + i);
	meet();
	begin = MPI_Wtime();
	MPI_Win_lock_all(0, win);
	for (int time = 0; time < 2; time++) {
		uint64_t state = (uint64_t)rank + 1;

		for (int i = 0; i < UPDATES; i++) {
			const int target = (int)random_below(&state, (uint32_t)size);
			const MPI_Aint word = random_below(&state, WORDS);

			given[i % FLUSH] = (uint64_t)random_below(&state, UINT32_MAX) << 31 ^
					   random_below(&state, UINT32_MAX);
			MPI_Accumulate(&given[i % FLUSH], 1, MPI_UINT64_T, target, word, 1,
				       MPI_UINT64_T, MPI_BXOR, win);
			if ((i + 1) % FLUSH == 0)
				MPI_Win_flush_local_all(win);
		}
		MPI_Win_flush_all(win);
	}
	MPI_Win_unlock_all(win);
	meet();
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	for (int i = 0; i < WORDS; i++)
		if (!expect(table[i] == (uint64_t)(rank * WORDS + i), "word %d is %#llx", i,
			    (unsigned long long)table[i]))
			break;
	MPI_Win_unlock(rank, win);
	over(begin, 2 * UPDATES, "random updates");
	close_window(&win, table);
}

/* -------------------------------------------------------------------- defects */

/* A lock by an atomic swap of one word, by each call that swaps, around a counter that is got and
 * put. */
static void test_and_set(int way)
{
	static const char *const name[] = {"MPI_Fetch_and_op", "MPI_Get_accumulate",
					   "MPI_Rget_accumulate"};
	enum { SECTIONS = 10 };
	int *words = open_window(2 * sizeof *words, sizeof *words, MPI_INFO_NULL, &win);
	int one = 1, zero = 0, was, count;
	char what[64];
	double begin;
	MPI_Request r;

	snprintf(what, sizeof what, "test-and-set by %s", name[way]);
	now_doing("%s: %s", area_flavour_name[flavour], what);
	meet();
	begin = MPI_Wtime();
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < SECTIONS; i++) {
		do {
			if (way == 0)
				MPI_Fetch_and_op(&one, &was, MPI_INT, 0, 0, MPI_REPLACE, win);
			else if (way == 1)
				MPI_Get_accumulate(&one, 1, MPI_INT, &was, 1, MPI_INT, 0, 0, 1,
						   MPI_INT, MPI_REPLACE, win);
			else
				MPI_Rget_accumulate(&one, 1, MPI_INT, &was, 1, MPI_INT, 0, 0, 1,
						    MPI_INT, MPI_REPLACE, win, &r);
			if (way == 2)
				MPI_Wait(&r, MPI_STATUS_IGNORE);
			MPI_Win_flush(0, win);
		} while (was);
		MPI_Get(&count, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		count++;
		MPI_Put(&count, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
		MPI_Win_flush(0, win);
	}
	MPI_Win_unlock_all(win);
	meet();
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	expect(rank != 0 || words[1] == SECTIONS * size, "a counter is %d instead of %d", words[1],
	       SECTIONS * size);
	MPI_Win_unlock(rank, win);
	over(begin, SECTIONS, what);
	close_window(&win, words);
}

/* An origin at MPI_BOTTOM, whose type has absolute addresses, and a target of blocks; then indexed
 * types of one element. */
static void indexed_accumulates(void)
{
	enum { ELEMENTS = 6 };
	double *mine = open_window(3 * ELEMENTS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, &win);
	double data[2 * ELEMENTS], begin;
	int places[ELEMENTS], lengths[ELEMENTS], at = 3 * ELEMENTS - 1;
	const int target = (rank + 1) % size;
	MPI_Aint addresses[ELEMENTS];
	MPI_Datatype absolute, blocks, one, other;

	now_doing("%s: indexed accumulates", area_flavour_name[flavour]);
	for (int i = 0; i < ELEMENTS; i++) {
		data[2 * i] = i + 1;
		data[2 * i + 1] = -100;
		MPI_Get_address(&data[2 * i], &addresses[i]);
		lengths[i] = 1;
		places[i] = 2 * i + 1;
	}
	MPI_Type_create_hindexed(ELEMENTS, lengths, addresses, MPI_DOUBLE, &absolute);
	MPI_Type_create_indexed_block(ELEMENTS, 1, places, MPI_DOUBLE, &blocks);
	MPI_Type_create_indexed_block(1, 1, places, MPI_DOUBLE, &one);
	MPI_Type_create_indexed_block(1, 1, &at, MPI_DOUBLE, &other);
	MPI_Type_commit(&absolute);
	MPI_Type_commit(&blocks);
	MPI_Type_commit(&one);
	MPI_Type_commit(&other);
	data[1] = 8;
	meet();
	begin = MPI_Wtime();
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < STEPS; i++) {
		MPI_Accumulate(MPI_BOTTOM, 1, absolute, target, 0, 1, blocks, MPI_SUM, win);
		MPI_Accumulate(data, 1, one, 0, 0, 1, other, MPI_SUM, win);
	}
	MPI_Win_unlock_all(win);
	meet();
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	for (int i = 0; i < 3 * ELEMENTS; i++) {
		const double wanted = i == at && rank == 0             ? STEPS * 8.0 * size
				      : i % 2 == 1 && i < 2 * ELEMENTS ? STEPS * (i / 2 + 1.0)
								       : 0;

		expect(mine[i] == wanted, "element %d is %g instead of %g", i, mine[i], wanted);
	}
	MPI_Win_unlock(rank, win);
	over(begin, STEPS, "indexed accumulates");
	MPI_Type_free(&other);
	MPI_Type_free(&one);
	MPI_Type_free(&blocks);
	MPI_Type_free(&absolute);
	close_window(&win, mine);
}

/* The option NAME N, taken out of the arguments; else n. */
static int option(int *argc, char **argv, const char *name, int n)
{
	for (int i = 1; i + 1 < *argc; i++)
		if (strcmp(argv[i], name) == 0) {
			n = atoi(argv[i + 1]);
			memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof argv[0]);
			*argc -= 2;
			break;
		}
	return n;
}

int main(int argc, char **argv)
{
	const bool defects = option(&argc, argv, "--defects", 0);

	measures = option(&argc, argv, "--bench", 0);
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	rank = tap_rank;
	size = tap_size;
	if (size < 2) {
		skip("one rank", "patterns");
		return tap_end();
	}
	for (flavour = AREA_CREATE; flavour <= AREA_ALLOCATE; flavour++) {
		cured = defects;
		all_transfers();
		for (int by = BY_FENCE; by <= BY_ACCUMULATE; by++)
			transpose((enum transpose)by);
		stencil();
		pipeline(false);
		nstream();
		random_updates();
		if (!cured)
			continue;
		pipeline(true);
		for (int way = 0; way < 3; way++)
			test_and_set(way);
		indexed_accumulates();
	}
	return tap_end();
}
