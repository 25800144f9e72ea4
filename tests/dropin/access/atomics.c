/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accumulates of MPI against a sequential oracle, in windows of MPI_Win_create,
 * MPI_Win_allocate and MPI_Win_create_dynamic, and on one host of MPI_Win_allocate_shared.
 *
 *   random calls   each rank has bytes of its own at each target, and draws calls there: all calls,
 *                  predefined types and operations, contiguous and derived types, aligned or not,
 *                  each way to complete them. A model of these bytes says what each call finds.
 *   chains         all ranks change one word, by each call. What they found and what they left must
 *                  form one chain from the first value to the last.
 *   exposure       fences and post-start-complete-wait: no operation comes before the target's
 *                  stores.
 *   polls          of a word, by a rank to which others put.
 *   errors         what the layer refuses, and that it shows the flavour that was asked for.
 *
 * TEST_BREAK=1: chains are made by MPI_Get and MPI_Put, which is not atomic. --bench 1 only
 * measures how long it takes to make a window, and MPI_Fetch_and_op with MPI_Win_flush, alone and
 * between tasks. MPIs fail parts of this natively.
 */
#include "tests/dropin/area.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 384, CHAINS = 1024, MOST = 6, ELEMENT = 32, BATCH = 5, LINKS = 64, BURST = 2000 };
enum { TYPES = 22, REGION = 2 * TYPES * SLOT };

static MPI_Win win;
static int rank, size, unit;
static char *mine, *model; /* model: [size][REGION] of this rank's bytes at each target */
static uint64_t seed;
static enum area_flavour flavour;

static int below(int n)
{
	return (int)random_below(&seed, (uint32_t)n);
}

static MPI_Aint *start; /* of a dynamic window: the address of each target's memory */

static int unit_of(int target)
{
	return 1 << target % 4;
}

/* The displacement of a byte of a target. */
static MPI_Aint at_target(int target, MPI_Aint byte)
{
	return flavour == AREA_DYNAMIC ? start[target] + byte : byte / unit_of(target);
}

/* ------------------------------------------------------------------ the oracle */

enum kind { INTEGER, NATURAL, REAL, COMPLEX, PAIR, BYTES };

struct type {
	const char *name;
	MPI_Datatype of;
	enum kind kind;
	int size, extent;
	int second; /* of a pair: where its index is */
};

#define TYPE(name, kind, c)                                \
	{                                                  \
#name, name, kind, sizeof(c), sizeof(c), 0 \
	}
#define WIDER(c) (sizeof(c) > sizeof(int) ? sizeof(c) : sizeof(int))
#define PAIRS(name, c)                                                             \
	{                                                                          \
#name, name, PAIR, sizeof(c) + sizeof(int), 2 * WIDER(c), WIDER(c) \
	}
static const struct type *type(int i)
{
	const struct type list[TYPES] = {
	    TYPE(MPI_INT64_T, INTEGER, int64_t),
	    TYPE(MPI_UINT64_T, NATURAL, uint64_t),
	    TYPE(MPI_INT, INTEGER, int),
	    TYPE(MPI_LONG, INTEGER, long),
	    TYPE(MPI_UINT32_T, NATURAL, uint32_t),
	    TYPE(MPI_DOUBLE, REAL, double),
	    TYPE(MPI_FLOAT, REAL, float),
	    TYPE(MPI_INT8_T, INTEGER, int8_t),
	    TYPE(MPI_UINT8_T, NATURAL, uint8_t),
	    TYPE(MPI_INT16_T, INTEGER, int16_t),
	    TYPE(MPI_UINT16_T, NATURAL, uint16_t),
	    TYPE(MPI_UNSIGNED_LONG_LONG, NATURAL, unsigned long long),
	    TYPE(MPI_AINT, INTEGER, MPI_Aint),
	    TYPE(MPI_BYTE, BYTES, char),
	    TYPE(MPI_CHAR, BYTES, char),
	    TYPE(MPI_C_FLOAT_COMPLEX, COMPLEX, float complex),
	    TYPE(MPI_C_DOUBLE_COMPLEX, COMPLEX, double complex),
	    PAIRS(MPI_2INT, int),
	    PAIRS(MPI_DOUBLE_INT, double),
	    PAIRS(MPI_SHORT_INT, short),
	    PAIRS(MPI_LONG_INT, long),
	    PAIRS(MPI_FLOAT_INT, float),
	};
	static struct type copy[TYPES];

	copy[i] = list[i];
	return &copy[i];
}

/* A number in memory, as a value that is exact: all drawn values of floating point are small whole
 * numbers. */
static int64_t load(const struct type *t, const char *at)
{
	int64_t v = 0;
	float f;
	double d;

	memcpy(&v, at, t->kind == PAIR ? (size_t)t->size - sizeof(int) : (size_t)t->size);
	if (t->kind == INTEGER) /* the sign */
		return (int64_t)((uint64_t)v << (64 - 8 * t->size)) >> (64 - 8 * t->size);
	memcpy(&f, at, sizeof f);
	if ((t->kind == REAL && t->size == 4) || t->of == MPI_FLOAT_INT)
		return (int64_t)f;
	if (t->kind == REAL || t->of == MPI_DOUBLE_INT) {
		memcpy(&d, at, sizeof d);
		return (int64_t)d;
	}
	return t->of == MPI_2INT ? (int)v : t->of == MPI_SHORT_INT ? (short)v : v;
}

static void store(const struct type *t, char *at, int64_t v)
{
	float f = (float)v;
	double d = (double)v;

	if ((t->kind == REAL && t->size == 4) || t->of == MPI_FLOAT_INT)
		memcpy(at, &f, sizeof f);
	else if (t->kind == REAL || t->of == MPI_DOUBLE_INT)
		memcpy(at, &d, sizeof d);
	else
		memcpy(at, &v, t->kind == PAIR ? (size_t)t->size - sizeof(int) : (size_t)t->size);
}

/* The parts of an element, which may be apart. */
static void move(const struct type *t, char *to, const char *from)
{
	if (t->kind != PAIR) {
		memcpy(to, from, (size_t)t->size);
		return;
	}
	memcpy(to, from, (size_t)t->size - sizeof(int));
	memcpy(to + t->second, from + t->second, sizeof(int));
}

static bool same(const struct type *t, const char *a, const char *b)
{
	const size_t first = (size_t)t->size - (t->kind == PAIR ? sizeof(int) : 0);

	return memcmp(a, b, first) == 0 &&
	       (t->kind != PAIR || memcmp(a + t->second, b + t->second, sizeof(int)) == 0);
}

#define OPS(X)  \
	X(SUM)  \
	X(PROD) \
	X(MIN)  \
	X(MAX) X(LAND) X(LOR) X(LXOR) X(BAND) X(BOR) X(BXOR) X(MINLOC) X(MAXLOC) X(REPLACE) X(NO_OP)
#define NAME(op) O_##op,
enum op { OPS(NAME) N_OPS };
#define TEXT(op) #op,
static const char *const op_name[] = {OPS(TEXT)};

static MPI_Op mpi_op(enum op op)
{
#define HANDLE(op) MPI_##op,
	const MPI_Op list[] = {OPS(HANDLE)};

	return list[op];
}

static bool allowed(const struct type *t, enum op op)
{
	const bool whole = t->kind <= NATURAL;

	if (op >= O_REPLACE)
		return true;
	if (op == O_MINLOC || op == O_MAXLOC)
		return t->kind == PAIR;
	if (op >= O_BAND)
		return whole || (t->kind == BYTES && t->of == MPI_BYTE);
	if (op >= O_LAND)
		return whole && t->of != MPI_AINT;
	if (op >= O_MIN)
		return whole || t->kind == REAL;
	/* Products grow, and not all values of floating point are exact. */
	return whole || (op == O_SUM && (t->kind == REAL || t->kind == COMPLEX));
}

static int64_t compute(const struct type *t, enum op op, int64_t x, int64_t y)
{
	const bool less = t->kind == NATURAL ? (uint64_t)x < (uint64_t)y : x < y;

	switch (op) {
	case O_SUM:
		return (int64_t)((uint64_t)x + (uint64_t)y);
	case O_PROD:
		return (int64_t)((uint64_t)x * (uint64_t)y);
	case O_MIN:
		return less ? x : y;
	case O_MAX:
		return less ? y : x;
	case O_LAND:
		return x && y;
	case O_LOR:
		return x || y;
	case O_LXOR:
		return !x != !y;
	case O_BAND:
		return x & y;
	case O_BOR:
		return x | y;
	default:
		return x ^ y;
	}
}

/* at = at op by. */
static void apply(const struct type *t, enum op op, char *at, const char *by)
{
	if (op == O_REPLACE) {
		move(t, at, by);
	} else if (op == O_MINLOC || op == O_MAXLOC) {
		int64_t x = load(t, by), y = load(t, at);
		int i, k;

		memcpy(&i, by + t->second, sizeof i);
		memcpy(&k, at + t->second, sizeof k);
		if (x == y ? i < k : op == O_MINLOC ? x < y : x > y)
			move(t, at, by);
	} else if (t->kind == COMPLEX) {
		const struct type part = {.kind = REAL, .size = t->size / 2};

		for (int i = 0; i < 2; i++)
			apply(&part, op, at + i * part.size, by + i * part.size);
	} else if (op != O_NO_OP) {
		store(t, at, compute(t, op, load(t, by), load(t, at)));
	}
}

static void draw_element(const struct type *t, char *at)
{
	const int index = below(20);

	for (int i = 0; i < t->size && t->kind <= NATURAL; i++)
		at[i] = (char)(below(3) ? below(256) : -1);
	if (t->kind <= NATURAL)
		return;
	if (t->kind == COMPLEX) {
		const struct type part = {.kind = REAL, .size = t->size / 2};

		draw_element(&part, at);
		draw_element(&part, at + part.size);
		return;
	}
	store(t, at, below(100) - 50);
	if (t->kind == PAIR)
		memcpy(at + t->second, &index, sizeof index);
}

/* ------------------------------------------------------------------ random calls */

/* n elements in memory: where element i is, and the MPI's type for count of which this is so. */
struct shape {
	MPI_Datatype type;
	int count, at[MOST], bytes;
	bool derived;
};

static struct shape draw_shape(const struct type *t, int n)
{
	struct shape s = {.type = t->of, .count = n, .bytes = n * t->extent};
	int lengths[MOST], places[MOST], gap = below(3), low = 0;

	for (int i = 0; i < n; i++)
		s.at[i] = i * t->extent;
	if (below(2))
		return s;
	s.derived = true;
	s.count = 1;
	switch (below(4)) {
	case 0:
		MPI_Type_contiguous(n, t->of, &s.type);
		break;
	case 1:
		MPI_Type_vector(n, 1, 1 + gap, t->of, &s.type);
		for (int i = 0; i < n; i++)
			s.at[i] = i * (1 + gap) * t->extent;
		break;
	case 2: /* the last one first */
		for (int i = 0; i < n; i++) {
			lengths[i] = 1;
			places[i] = n - 1 - i;
			s.at[i] = places[i] * t->extent;
		}
		MPI_Type_indexed(n, lengths, places, t->of, &s.type);
		break;
	default: { /* n of a type of one element, in a structure that is longer */
		MPI_Aint at = 0;
		MPI_Datatype one, inner = t->of;

		low = 1;
		MPI_Type_create_struct(1, &low, &at, &inner, &one);
		MPI_Type_create_resized(one, 0, (1 + gap) * t->extent, &s.type);
		MPI_Type_free(&one);
		s.count = n;
		for (int i = 0; i < n; i++)
			s.at[i] = i * (1 + gap) * t->extent;
	}
	}
	s.bytes = (1 + n * (1 + gap)) * t->extent;
	MPI_Type_commit(&s.type);
	return s;
}

struct call {
	const struct type *t;
	struct shape to;
	char result[8 * MOST * ELEMENT], found[MOST][ELEMENT]; /* found: by the model */
	int n;
	bool fetches;
	const char *name;
	enum op op;
};

/* Draw a call, and play it in the model. Returns whether it has a request. */
static bool draw_call(struct call *c, int target, MPI_Request *request)
{
	char origin[8 * MOST * ELEMENT], swap[ELEMENT], *base = model + target * REGION;
	struct shape from, at;
	int place, odd, index = below(TYPES), how = below(6);
	MPI_Aint disp;

	memset(c, 0, sizeof *c);
	memset(origin, 0, sizeof origin);
	c->t = type(index);
	if (how == 5 && c->t->kind > NATURAL)
		how = 4;
	do
		c->op = (enum op)below(N_OPS);
	while (!allowed(c->t, c->op) || (c->op == O_NO_OP && (how == 0 || how == 1)));
	c->n = how >= 4 ? 1 : 1 + below(MOST);
	from = draw_shape(c->t, how >= 4 ? 1 : c->n);
	at = draw_shape(c->t, c->n);
	c->to = draw_shape(c->t, c->n);
	if (how >= 4) {
		const struct shape plain = {.type = c->t->of, .count = 1, .bytes = c->t->extent};

		for (struct shape *s = &from; s; s = s == &from ? &at : s == &at ? &c->to : NULL) {
			if (s->derived)
				MPI_Type_free(&s->type);
			*s = plain;
		}
	}
	for (int i = 0; i < c->n; i++)
		draw_element(c->t, origin + from.at[i]);
	/* Each type has bytes of its own, and others for elements that are not aligned, so that
	 * values of floating point stay exact. */
	odd = below(4) == 0;
	place = below(SLOT - unit_of(target) - at.bytes);
	place -= place % (c->t->extent > unit_of(target) ? c->t->extent : unit_of(target));
	place += (2 * index + odd) * SLOT + odd * unit_of(target);
	for (int i = 0; i < c->n; i++)
		move(c->t, c->found[i], base + place + at.at[i]);
	disp = at_target(target, rank * REGION + place);
	c->fetches = how >= 2;
	switch (how) {
	case 0:
		c->name = "MPI_Accumulate";
		MPI_Accumulate(origin, from.count, from.type, target, disp, at.count, at.type,
			       mpi_op(c->op), win);
		break;
	case 1:
		c->name = "MPI_Raccumulate";
		MPI_Raccumulate(origin, from.count, from.type, target, disp, at.count, at.type,
				mpi_op(c->op), win, request);
		break;
	case 2:
		c->name = "MPI_Get_accumulate";
		MPI_Get_accumulate(origin, from.count, from.type, c->result, c->to.count,
				   c->to.type, target, disp, at.count, at.type, mpi_op(c->op), win);
		break;
	case 3:
		c->name = "MPI_Rget_accumulate";
		MPI_Rget_accumulate(origin, from.count, from.type, c->result, c->to.count,
				    c->to.type, target, disp, at.count, at.type, mpi_op(c->op), win,
				    request);
		break;
	case 4:
		c->name = "MPI_Fetch_and_op";
		MPI_Fetch_and_op(origin, c->result, c->t->of, target, disp, mpi_op(c->op), win);
		break;
	default:
		c->name = "MPI_Compare_and_swap";
		c->op = O_REPLACE;
		if (below(2))
			draw_element(c->t, swap);
		else
			move(c->t, swap, base + place);
		MPI_Compare_and_swap(origin, swap, c->result, c->t->of, target, disp, win);
		if (!same(c->t, swap, base + place))
			c->op = O_NO_OP;
	}
	for (int i = 0; i < c->n; i++)
		apply(c->t, c->op, base + place + at.at[i], origin + from.at[i]);
	/* origin is gone when the call returns: it is complete locally before. */
	MPI_Win_flush_local(target, win);
	if (from.derived)
		MPI_Type_free(&from.type);
	if (at.derived)
		MPI_Type_free(&at.type);
	return how == 1 || how == 3;
}

static void check_call(struct call *c)
{
	for (int i = 0; i < c->n && c->fetches; i++)
		expect(same(c->t, c->result + c->to.at[i], c->found[i]),
		       "%s of %s, %s, element %d of %d: %lld (%#llx) instead of %lld", c->name,
		       c->t->name, op_name[c->op], i, c->n,
		       (long long)load(c->t, c->result + c->to.at[i]),
		       (unsigned long long)load(c->t, c->result + c->to.at[i]),
		       (long long)load(c->t, c->found[i]));
	if (c->to.derived)
		MPI_Type_free(&c->to.type);
}

/* One target, some calls, one way to complete them. */
static void draw_batch(bool all)
{
	struct call calls[BATCH];
	int n = 1 + below(BATCH), target = below(size), way = below(4);
	MPI_Request requests[BATCH];

	if (!all)
		MPI_Win_lock(below(4) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
	for (int i = 0; i < n; i++) {
		requests[i] = MPI_REQUEST_NULL;
		draw_call(&calls[i], target, &requests[i]);
	}
	for (int i = 0; i < n; i++)
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	if (!all)
		MPI_Win_unlock(target, win);
	else if (way == 0)
		MPI_Win_flush(target, win);
	else if (way == 1)
		MPI_Win_flush_local(target, win);
	else if (way == 2)
		MPI_Win_flush_all(win);
	else
		MPI_Win_flush_local_all(win);
	for (int i = 0; i < n; i++)
		check_call(&calls[i]);
}

/* Whether MPI_Get and MPI_Put are to be avoided: in a dynamic window those of Open MPI 4.1's
 * osc/ucx may fail between ranks of a host ("shmat failed"). */
static bool may_fail(void)
{
#ifdef OPEN_MPI
	return flavour == AREA_DYNAMIC && tap_shared_host;
#else
	return false;
#endif
}

static void get(void *to, int n, MPI_Datatype type, int target, MPI_Aint at)
{
	if (may_fail())
		MPI_Get_accumulate(NULL, 0, type, to, n, type, target, at, n, type, MPI_NO_OP, win);
	else
		MPI_Get(to, n, type, target, at, n, type, win);
}

static void put(const int64_t *value, MPI_Aint at)
{
	if (may_fail())
		MPI_Accumulate(value, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_REPLACE, win);
	else
		MPI_Put(value, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, win);
}

static void random_calls(void)
{
	struct turns t;

	for (int all = 0; all < 2; all++) {
		now_doing("random calls, seed %llu", (unsigned long long)seed);
		if (all)
			MPI_Win_lock_all(0, win);
		for (t = turns(100); turn(&t);)
			draw_batch(all);
		if (all)
			MPI_Win_unlock_all(win);
	}
	MPI_Win_lock_all(0, win);
	for (int target = 0; target < size; target++) {
		char there[REGION];

		get(there, REGION, MPI_BYTE, target, at_target(target, rank * REGION));
		MPI_Win_flush(target, win);
		for (int i = 0; i < REGION; i++)
			if (!expect(there[i] == model[target * REGION + i],
				    "byte %d at target %d is %d instead of %d", i, target, there[i],
				    model[target * REGION + i]))
				break;
	}
	MPI_Win_unlock_all(win);
	result("%s: random calls", area_flavour_name[flavour]);
}

/* ---------------------------------------------------------------------- chains */

/* Where word i is, at rank 0, which has units of a byte. The last one is not aligned. */
enum { WORD_SUM, WORD_DOUBLE, WORD_SWAP, WORD_PAIR, WORD_TOTAL, WORD_ODD, WORDS };
static MPI_Aint word(int i)
{
	return at_target(0, size * REGION + 64 * i + (i == WORD_ODD ? 3 : 0));
}

struct link {
	int64_t found, left;
};

static int by_found(const void *a, const void *b)
{
	const int64_t x = ((const struct link *)a)->found, y = ((const struct link *)b)->found;

	return x < y ? -1 : x > y;
}

static int by_left(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Links of all ranks, at rank 0. Ascending: each begins where another ends; else in any order: what
 * is found is what was left, once, or 0. */
static void check_chain(const struct link *made, bool ascending, int64_t last, const char *what)
{
	const int n = size * LINKS;
	struct link *all = rank == 0 ? malloc((size_t)n * sizeof *all) : NULL;
	int64_t *left = rank == 0 ? malloc(((size_t)n + 1) * sizeof *left) : NULL;

	MPI_Gather(made, 2 * LINKS, MPI_INT64_T, all, 2 * LINKS, MPI_INT64_T, 0, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	qsort(all, (size_t)n, sizeof *all, by_found);
	left[0] = 0;
	for (int i = 0; i < n; i++)
		left[i + 1] = all[i].left;
	if (!ascending)
		qsort(left, (size_t)n + 1, sizeof *left, by_left);
	for (int i = 0, k = 0; i < n; i++, k++) {
		if (!ascending && left[k] == last)
			k++;
		if (!expect(all[i].found == left[k], "%s: a call found %lld, and %lld was left",
			    what, (long long)all[i].found, (long long)left[k]))
			break;
	}
	expect(!ascending || left[n] == last, "%s: the last value is %lld instead of %lld", what,
	       (long long)last, (long long)left[n]);
	free(all);
	free(left);
}

static int64_t plainly(int64_t by, MPI_Aint at)
{
	int64_t found, next;

	MPI_Get(&found, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
	linger(1e-5);
	next = found + by;
	MPI_Put(&next, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
	return found;
}

/* Add to a word by a call that is drawn. */
static int64_t add(int64_t by, MPI_Aint at)
{
	int64_t found = 0, next, seen;
	MPI_Request r;

	switch (area_broken() ? 4 : below(4)) {
	case 0:
		MPI_Fetch_and_op(&by, &found, MPI_INT64_T, 0, at, MPI_SUM, win);
		break;
	case 1:
		MPI_Get_accumulate(&by, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, 0, at, 1,
				   MPI_INT64_T, MPI_SUM, win);
		break;
	case 2:
		MPI_Rget_accumulate(&by, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, 0, at, 1,
				    MPI_INT64_T, MPI_SUM, win, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		break;
	case 3:
		MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, 0, at, MPI_NO_OP, win);
		do {
			MPI_Win_flush(0, win);
			found = seen;
			next = found + by;
			MPI_Compare_and_swap(&next, &found, &seen, MPI_INT64_T, 0, at, win);
			MPI_Win_flush(0, win);
		} while (seen != found);
		break;
	default:
		return plainly(by, at);
	}
	MPI_Win_flush(0, win);
	return found;
}

static void chains(void)
{
	struct link sum[LINKS], odd[LINKS], swap[LINKS], real[LINKS];
	struct {
		double a;
		int b;
	} pair, was;
	const int64_t one = 1, many[3] = {1, 10, 100};
	int64_t last[5], total[5], value;
	double step, found, end, real_one = 1, reals;
	int64_t odds;
	MPI_Datatype apart;

	now_doing("chains");
	MPI_Type_vector(3, 1, 2, MPI_INT64_T, &apart);
	MPI_Type_commit(&apart);
	MPI_Win_lock_all(0, win);
	meet();
	for (int i = 0; i < LINKS; i++) {
		value = 1 + below(9);
		sum[i].found = add(value, word(WORD_SUM));
		sum[i].left = sum[i].found + value;
		odd[i].found = add(value, word(WORD_ODD));
		odd[i].left = odd[i].found + value;
		value = 1 + rank + size * i;
		swap[i].left = value;
		MPI_Fetch_and_op(&value, &swap[i].found, MPI_INT64_T, 0, word(WORD_SWAP),
				 MPI_REPLACE, win);
		step = 1 + below(9);
		MPI_Fetch_and_op(&step, &found, MPI_DOUBLE, 0, word(WORD_DOUBLE), MPI_SUM, win);
		pair.a = pair.b = rank * LINKS + i;
		MPI_Get_accumulate(&pair, 1, MPI_DOUBLE_INT, &was, 1, MPI_DOUBLE_INT, 0,
				   word(WORD_PAIR), 1, MPI_DOUBLE_INT, MPI_REPLACE, win);
		MPI_Accumulate(many, 3, MPI_INT64_T, 0, word(WORD_TOTAL), 1, apart, MPI_SUM, win);
		MPI_Accumulate(&one, 1, MPI_INT64_T, 0, word(WORD_TOTAL), 1, MPI_INT64_T, MPI_SUM,
			       win);
		MPI_Win_flush(0, win);
		real[i].found = (int64_t)found;
		real[i].left = (int64_t)(found + step);
		expect(was.a == was.b, "a pair is torn: %g, %d", was.a, was.b);
	}
	/* Without a flush in between, so that ranks meet often. */
	meet();
	for (int i = 0; i < BURST; i++) {
		MPI_Accumulate(&real_one, 1, MPI_DOUBLE, 0, word(WORD_DOUBLE) + 8, 1, MPI_DOUBLE,
			       MPI_SUM, win);
		MPI_Accumulate(&one, 1, MPI_INT64_T, 0, word(WORD_ODD) + 16, 1, MPI_INT64_T,
			       MPI_SUM, win);
	}
	MPI_Win_flush(0, win);
	meet();
	for (int i = 0; i < 4; i++)
		MPI_Fetch_and_op(
		    NULL, &last[i], MPI_INT64_T, 0,
		    word(i < 3 ? (int[]){WORD_SUM, WORD_ODD, WORD_SWAP}[i] : WORD_TOTAL), MPI_NO_OP,
		    win);
	MPI_Fetch_and_op(NULL, &end, MPI_DOUBLE, 0, word(WORD_DOUBLE), MPI_NO_OP, win);
	MPI_Fetch_and_op(NULL, &reals, MPI_DOUBLE, 0, word(WORD_DOUBLE) + 8, MPI_NO_OP, win);
	MPI_Fetch_and_op(NULL, &odds, MPI_INT64_T, 0, word(WORD_ODD) + 16, MPI_NO_OP, win);
	get(total, 1, apart, 0, word(WORD_TOTAL));
	MPI_Win_flush(0, win);
	MPI_Win_unlock_all(win);
	check_chain(sum, true, last[0], "sums");
	check_chain(odd, true, last[1], "sums of an unaligned word");
	check_chain(real, true, (int64_t)end, "sums of floating point");
	check_chain(swap, false, last[2], "swaps");
	expect(reals == (double)size * BURST && odds == (int64_t)size * BURST,
	       "bursts of %d add up to %.0f and %lld", size * BURST, reals, (long long)odds);
	expect(last[3] == 2 * (int64_t)size * LINKS, "a total is %lld instead of %d",
	       (long long)last[3], 2 * size * LINKS);
	MPI_Type_free(&apart);
	result("%s: chains", area_flavour_name[flavour]);
}

/* -------------------------------------------------------------------- exposure */

static void exposure(void)
{
	int64_t *own = (int64_t *)(void *)(mine + size * REGION), one = 1;
	const int right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Group all, to, from;

	now_doing("exposure");
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &right, &to);
	MPI_Group_incl(all, 1, &left, &from);
	for (int i = 1; i <= 20; i++) {
		if (below(3) == 0)
			sleep_for(0.001);
		*own = 1000 * i;
		MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
		for (int t = 0; t < size; t++)
			MPI_Accumulate(&one, 1, MPI_INT64_T, t, at_target(t, size * REGION), 1,
				       MPI_INT64_T, MPI_SUM, win);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
		expect(*own == 1000 * i + size, "fence: %lld instead of %d", (long long)*own,
		       1000 * i + size);
		meet();
		if (below(3) == 0)
			sleep_for(0.001);
		*own = 1000 * i;
		MPI_Win_post(from, 0, win);
		MPI_Win_start(to, 0, win);
		MPI_Accumulate(&one, 1, MPI_INT64_T, right, at_target(right, size * REGION), 1,
			       MPI_INT64_T, MPI_SUM, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
		expect(*own == 1000 * i + 1, "post and start: %lld instead of %d", (long long)*own,
		       1000 * i + 1);
		meet();
	}
	MPI_Group_free(&from);
	MPI_Group_free(&to);
	MPI_Group_free(&all);
	result("%s: exposure", area_flavour_name[flavour]);
}

/* ------------------------------------------------------------------------ polls */

static void polls(void)
{
	const MPI_Aint place = word(WORD_SUM);
	int64_t value = -1, seen, one = -2;
	MPI_Request r;

	now_doing("polls");
	for (int way = 0; way < 2 && size > 1; way++) {
		MPI_Win_lock_all(0, win);
		value = -3 - way;
		for (int i = 0; rank == 1 && i < 2; i++) {
			put(&one, word(WORD_SWAP) + 8 * i);
			MPI_Win_flush(0, win);
		}
		if (rank == 1) {
			MPI_Accumulate(&value, 1, MPI_INT64_T, 0, place, 1, MPI_INT64_T,
				       MPI_REPLACE, win);
			MPI_Win_flush(0, win);
		}
		do {
			if (rank != 0)
				break;
			if (way == 0) {
				MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, 0, place, MPI_NO_OP,
						 win);
				MPI_Win_flush(0, win);
			} else {
				MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, 0,
						    place, 1, MPI_INT64_T, MPI_NO_OP, win, &r);
				MPI_Wait(&r, MPI_STATUS_IGNORE);
			}
		} while (seen != value);
		MPI_Win_unlock_all(win);
		meet();
	}
	result("%s: polls", area_flavour_name[flavour]);
}

/* ----------------------------------------------------------------------- errors */

static int class_of(int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	return class;
}

static void errors(void)
{
	const MPI_Aint beyond = size * REGION + CHAINS;
	int64_t one = 1, got = 7;
	int *asked, flag, rc;
	MPI_Request r;

	now_doing("errors");
	MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &asked, &flag);
	expect(flag && *asked == (flavour == AREA_ALLOCATE ? MPI_WIN_FLAVOR_ALLOCATE
				  : flavour == AREA_CREATE ? MPI_WIN_FLAVOR_CREATE
							   : MPI_WIN_FLAVOR_SHARED),
	       "the flavour is %d", *asked);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#ifdef MPICH_VERSION /* Open MPI does not look */
	rc = MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, win);
	expect(class_of(rc) == MPI_ERR_RMA_SYNC, "without an epoch: class %d", class_of(rc));
#endif
	MPI_Win_lock_all(0, win);
	rc = MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, beyond - 7, MPI_SUM, win);
	expect(class_of(rc) == MPI_ERR_RMA_RANGE, "beyond the window: class %d", class_of(rc));
	rc = MPI_Accumulate(&one, 1, MPI_INT64_T, 0, -8, 1, MPI_INT64_T, MPI_SUM, win);
	expect(class_of(rc) == MPI_ERR_RMA_RANGE, "before the window: class %d", class_of(rc));
	rc = MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 2, MPI_INT32_T, MPI_SUM, win);
	expect(class_of(rc) == MPI_ERR_COUNT, "two elements from one: class %d", class_of(rc));
	rc = MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_OP_NULL, win);
	expect(class_of(rc) == MPI_ERR_OP, "no operation: class %d", class_of(rc));
	rc = MPI_Accumulate(&one, 1, MPI_INT64_T, size, 0, 1, MPI_INT64_T, MPI_SUM, win);
	expect(class_of(rc) == MPI_ERR_RANK, "no rank: class %d", class_of(rc));
	rc = MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1,
				 MPI_INT64_T, MPI_SUM, win, &r);
	expect(rc == MPI_SUCCESS && MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS && got == 7,
	       "MPI_PROC_NULL");
	MPI_Win_unlock_all(win);
	result("%s: errors", area_flavour_name[flavour]);
}

/* What is not attached. */
static void detached(void)
{
	char memory[16] = {0};
	int64_t one = 1;
	MPI_Aint where;
	int rc;

	now_doing("memory that is not attached");
	MPI_Get_address(memory, &where);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Bcast(&where, 1, MPI_AINT, 0, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	rc = MPI_Accumulate(&one, 1, MPI_INT64_T, 0, where, 1, MPI_INT64_T, MPI_SUM, win);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_flush(0, win);
	expect(class_of(rc) == MPI_ERR_RMA_RANGE, "an accumulate there: class %d", class_of(rc));
	rc = MPI_Accumulate(&one, 1, MPI_INT64_T, 0, word(WORD_SUM), 1, MPI_INT64_T, MPI_SUM, win);
	if (rc == MPI_SUCCESS)
		rc = MPI_Win_flush(0, win);
	expect(rc == MPI_SUCCESS, "the next one: class %d", class_of(rc));
	MPI_Win_unlock_all(win);
	expect(memory[0] == 0, "it has been changed");
	result("%s: memory that is not attached", area_flavour_name[flavour]);
}

/* ------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Each rank but the target in turn, while the others, with the target, wait in MPI_Barrier: as many
 * calls of each, so that a rank whose calls take long, because it shares the target's core, counts
 * as much as others. */
static void in_turn(void)
{
	enum { CALLS = 20 };
	double *took = calloc((size_t)size * CALLS, sizeof *took), sum = 0, begin;
	const int n = (size - 1) * CALLS;
	int64_t one = 1, got;

	for (int r = 1; r < size; r++) {
		meet();
		for (int i = 0; i < CALLS && r == rank; i++) {
			begin = MPI_Wtime();
			MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, win);
			MPI_Win_flush(0, win);
			took[(r - 1) * CALLS + i] = MPI_Wtime() - begin;
		}
	}
	meet();
	MPI_Allreduce(MPI_IN_PLACE, took, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	qsort(took, (size_t)n, sizeof *took, by_time);
	for (int i = 0; i < n; i++)
		sum += took[i];
	if (n > 0)
		note("%s: fetch-and-op with flush, each of %d ranks in turn: %.3f us in the"
		     " median, %.3f us in the mean, %.0f us at most",
		     area_flavour_name[flavour], size - 1, took[n / 2] * 1e6, sum / n * 1e6,
		     took[n - 1] * 1e6);
	free(took);
}

/* The last rank, with the others in MPI_Allreduce, and while rank 0 computes; then all ranks but
 * the target, which does the same on its own memory. The least and the median are of series. */
static void bench(void)
{
	enum { CALLS = 20, SERIES = 200000, ONE = 0, COMPUTES, EVERY, WAYS };
	double begin, at, spent, mean[WAYS], least, median, longest = 0;
	double *series = calloc(SERIES, sizeof *series);
	int64_t one = 1, got, n, all;
	int k = 0;

	MPI_Win_lock_all(0, win);
	for (int way = ONE; way < WAYS; way++) {
		const bool takes_part = way == EVERY || rank == size - 1;

		n = 0;
		spent = 0;
		meet();
		begin = MPI_Wtime();
		if (way == COMPUTES && rank == 0)
			area_compute(tap_budget);
		while (takes_part && spent < tap_budget) {
			at = MPI_Wtime();
			for (int i = 0; i < CALLS; i++, n++) {
				MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, win);
				MPI_Win_flush(0, win);
			}
			spent = MPI_Wtime() - at;
			if (way == ONE && k < SERIES)
				series[k++] = spent;
			longest = way == EVERY && spent > longest ? spent : longest;
			spent = MPI_Wtime() - begin;
		}
		n = rank == 0 ? 0 : n;
		MPI_Allreduce(&n, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		mean[way] = spent * (way == EVERY ? size - 1 : 1) / (double)all;
	}
	qsort(series, (size_t)k, sizeof *series, by_time);
	least = series[0];
	median = series[k / 2];
	free(series);
	MPI_Bcast(&least, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
	MPI_Bcast(&median, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	in_turn();
	MPI_Win_unlock_all(win);
	note("%s: fetch-and-op with flush: one of %d ranks %.0f ns at least, %.0f ns in the median,"
	     " %.0f ns in the mean, %.0f ns while its target computes; all of them %.3f us each in"
	     " the mean, %.0f us for %d at most",
	     area_flavour_name[flavour], size, least * 1e9 / CALLS, median * 1e9 / CALLS,
	     mean[ONE] * 1e9, mean[COMPUTES] * 1e9, mean[EVERY] * 1e6, longest * 1e6, CALLS);
}

/* ------------------------------------------------------------- tasks of a counter */

static volatile double task_sink = 1;

static void work(long steps)
{
	for (long i = 0; i < steps; i++)
		task_sink = task_sink * 1.000001 + 1e-9;
}

/* Steps of work() in a second of a core. */
static double steps_a_second(void)
{
	enum { STEPS = 1000000 };
	double begin = cpu_seconds();

	work(STEPS);
	return STEPS / (cpu_seconds() - begin);
}

/* Draw numbers of tasks from a counter of rank 0 and compute for so long after each, as programs
 * with NGA_Read_inc() do. All ranks take part; each computes for the CPU time of a task, whatever
 * the others do. */
static void tasks(double task)
{
	const long steps = (long)(task * steps_a_second());
	double begin, at, waits = 0, longest = 0;
	int64_t one = 1, got, n = 0;

	MPI_Win_lock_all(0, win);
	meet();
	begin = MPI_Wtime();
	do {
		at = MPI_Wtime();
		MPI_Fetch_and_op(&one, &got, MPI_INT64_T, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		at = MPI_Wtime() - at;
		if (rank != 0) {
			waits += at;
			longest = at > longest ? at : longest;
			n++;
		}
		work(steps);
	} while (MPI_Wtime() - begin < tap_budget);
	MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &waits, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);
	note("%s: tasks of %.0f us: a draw takes %.2f us in the mean, %.0f us at most, of %d ranks"
	     " other than the counter's, which do %.0f tasks a second",
	     area_flavour_name[flavour], task * 1e6, waits / (double)n * 1e6, longest * 1e6,
	     size - 1, (double)n / tap_budget);
}

/* A window of the flavour with mine; returns what is to be freed after it. */
static void *make_window(MPI_Info info, MPI_Aint bytes, MPI_Win *w)
{
	const MPI_Aint split = size / 2 * REGION;
	void *own = NULL;

	if (flavour == AREA_CREATE) {
		own = mine = malloc((size_t)bytes);
		MPI_Win_create(mine, bytes, unit, info, MPI_COMM_WORLD, w);
	} else if (flavour == AREA_ALLOCATE) {
		MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, &mine, w);
	} else if (flavour == AREA_SHARED) {
		MPI_Win_allocate_shared(bytes, unit, info, MPI_COMM_WORLD, &mine, w);
	} else {
		own = mine = malloc((size_t)bytes);
		MPI_Win_create_dynamic(info, MPI_COMM_WORLD, w);
		MPI_Win_attach(*w, mine, split);
		MPI_Win_attach(*w, mine + split, bytes - split);
	}
	return own;
}

/* How long it takes, when others have been made. */
static void making(MPI_Info info, MPI_Aint bytes)
{
	enum { WINDOWS = 9 };
	double ms[WINDOWS];

	for (int i = 0; i < WINDOWS; i++) {
		MPI_Win w;
		void *own;

		MPI_Barrier(MPI_COMM_WORLD);
		ms[i] = MPI_Wtime();
		own = make_window(info, bytes, &w);
		ms[i] = (MPI_Wtime() - ms[i]) * 1e3;
		MPI_Win_free(&w);
		free(own);
	}
	qsort(ms, WINDOWS, sizeof ms[0], by_time);
	note("%s: a window is made in %.2f ms (median)", area_flavour_name[flavour],
	     ms[WINDOWS / 2]);
}

int main(int argc, char **argv)
{
	const char *text = getenv("TEST_SEED");
	MPI_Info info;
	bool measures = argc > 2 && strcmp(argv[1], "--bench") == 0;

	if (measures) {
		measures = atoi(argv[2]);
		memmove(&argv[1], &argv[3], (size_t)(argc - 2) * sizeof argv[0]);
		argc -= 2;
	}
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	info = area_info(MPI_INFO_NULL);
	rank = tap_rank;
	size = tap_size;
	unit = unit_of(rank);
	seed = (text ? strtoull(text, NULL, 10) : 1) * 1000 + (uint64_t)rank;
	model = calloc((size_t)size, REGION);
	start = calloc((size_t)size, sizeof *start);
	for (flavour = AREA_CREATE; flavour <= AREA_DYNAMIC; flavour++) {
		MPI_Aint bytes = size * REGION + CHAINS, address;
		void *own;

		/* What is measured is at displacement 0, which no dynamic window has. */
		if (!area_possible(flavour) || (flavour == AREA_DYNAMIC && measures))
			continue;
		memset(model, 0, (size_t)size * REGION);
		if (measures)
			making(info, bytes);
		own = make_window(info, bytes, &win);
		if (flavour == AREA_DYNAMIC) {
			MPI_Get_address(mine, &address);
			MPI_Allgather(&address, 1, MPI_AINT, start, 1, MPI_AINT, MPI_COMM_WORLD);
		}
		memset(mine, 0, (size_t)bytes);
		meet();
		if (measures) {
			bench();
			for (double task = 1e-6; size > 1 && task < 2e-4; task *= 10)
				tasks(task);
		} else {
			random_calls();
			chains();
			exposure();
			polls();
			if (flavour == AREA_DYNAMIC)
				detached();
			else
				errors();
		}
		if (flavour == AREA_DYNAMIC) {
			MPI_Win_detach(win, mine);
			MPI_Win_detach(win, mine + size / 2 * REGION);
		}
		MPI_Win_free(&win);
		free(own);
	}
	free(start);
	free(model);
	MPI_Info_free(&info);
	return tap_end();
}
