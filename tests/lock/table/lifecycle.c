/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables are created and freed many times without a leak, several at the same time, over parts of
 * the job, and with a million locks.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

enum {
	WARM_UP = 100,
	PARTS = 5,        /* of the rounds after the warm-up */
	LEAK_BYTES = 256, /* a table; the MPI may keep less than this for a communicator */
	FEW = 10
};

static size_t heap_in_use(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void use(pawl_table *table)
{
	expect_code(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
	expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
}

/* TEST_BREAK=leak: each table leaves a block; TEST_BREAK=pool: one table leaves a large one, as an
 * MPI does whose pool of buffers has become too small. */
static void leave_something(int round)
{
	static void *volatile left;
	const char *how = getenv("TEST_BREAK");

	if (how && strcmp(how, "leak") == 0)
		left = calloc(1, 2L * LEAK_BYTES);
	else if (how && strcmp(how, "pool") == 0 && round == WARM_UP + 1)
		left = calloc(1, 1 << 20);
	(void)left;
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* A leak shows in every part of the rounds, the growth of a pool in some: UCX, for one, allocates
 * 147,544 bytes when the first message comes before its receive. A part in which a pool shrinks
 * would hide a leak. So the smallest growth but one counts. */
static void expect_no_growth(const size_t in_use[PARTS + 1], int tables)
{
	size_t growth[PARTS];

	for (int i = 0; i < PARTS; i++)
		growth[i] = in_use[i + 1] > in_use[i] ? in_use[i + 1] - in_use[i] : 0;
	qsort(growth, PARTS, sizeof growth[0], by_size);
	expect(growth[1] < (size_t)tables * LEAK_BYTES,
	       "%zu bytes more in use after each %d tables (%zu to %zu)", growth[1], tables,
	       growth[0], growth[PARTS - 1]);
}

static void many_times(const struct pawl_kind *kind, int rounds)
{
	int part = rounds > WARM_UP ? (rounds - WARM_UP) / PARTS : 0;
	size_t in_use[PARTS + 1] = {0};

	for (int i = 0; i < rounds; i++) {
		pawl_table *table;
		int counted = i + 1 - WARM_UP;

		/* --limit is for each table: on a busy machine one takes seconds. */
		now_doing("%s, table %d of %d", kind->name, i, rounds);
		table = table_open(kind->name, 10, NULL, NULL);
		if (table)
			use(table);
		table_close(table);
		leave_something(i);
		if (part > 0 && counted >= 0 && counted % part == 0 && counted / part <= PARTS)
			in_use[counted / part] = heap_in_use();
	}
	if (part > 0)
		expect_no_growth(in_use, part);
	result("%s: %d tables made and freed", kind->name, rounds);
}

static void together(void)
{
	enum { MANY = 20 };
	pawl_table *tables[MANY];
	const struct pawl_kind *kind;
	int n = 0;

	now_doing("tables at one time");
	for (int round = 0; n < MANY && round < MANY; round++)
		for (int i = 0; n < MANY && (kind = tap_kind(&i));)
			tables[n++] = table_open(kind->name, 5, NULL, NULL);
	for (int i = 0; i < n; i++)
		use(tables[i]);
	for (int i = 0; i < n; i += 2)
		table_close(tables[i]);
	for (int i = 1; i < n; i += 2)
		table_close(tables[i]);
	result("%d tables at one time", n);
}

static void parts_of_the_job(void)
{
	pawl_table *table = NULL;
	MPI_Comm part;

	MPI_Comm_split(MPI_COMM_WORLD, tap_rank % 2, -tap_rank, &part);
	expect_code(pawl_table_create(part, "d-mcs", 3, MPI_INFO_NULL, &table), PAWL_SUCCESS,
		    "create over a part");
	/* The communicator may be freed before the table. */
	MPI_Comm_free(&part);
	if (table)
		use(table);
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "free");
	result("tables over parts of the job, in reverse order of ranks");
}

static int last_rank(uint64_t lock, void *ranks)
{
	(void)lock;
	return *(int *)ranks - 1;
}

static void by_handles(void)
{
	MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD), handle;
	struct pawl_table_info described = {.n = 0};
	pawl_table *table = NULL;
	MPI_Info info;

	now_doing("handles of Fortran");
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_max_held", "3");
	handle = MPI_Info_c2f(info);
	expect_code(pawl_table_create_f(world, "d-mcs", 5, &handle, &table), PAWL_SUCCESS,
		    "create with an info");
	MPI_Info_free(&info);
	if (table) {
		use(table);
		pawl_table_get_info(table, &described);
	}
	expect(described.max_held == 3, "option max_held is %d, not 3", described.max_held);
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "free");

	expect_code(
	    pawl_table_create_homed_f(world, "d-mcs", 5, last_rank, &tap_size, NULL, &table),
	    PAWL_SUCCESS, "create with homes");
	if (table)
		use(table);
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "free");
	result("tables by handles of Fortran");
}

/* The slowest rank's time to create a table, in seconds. */
static double time_to_open(pawl_table **table, uint64_t n)
{
	double start, took;

	meet();
	start = seconds_now();
	*table = table_open("d-mcs", n, NULL, NULL);
	took = seconds_now() - start;
	MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return took;
}

static void a_million(void)
{
	enum { ATTEMPTS = 3 }; /* other users of the machine can spoil one */
	const uint64_t n = 1000000;
	struct pawl_table_info info = {.bytes = 0};
	uint64_t bytes;
	double took;
	pawl_table *table;

	now_doing("a million locks");
	took = time_to_open(&table, n);
	for (int i = 1; i < ATTEMPTS && took >= 2; i++) {
		table_close(table);
		took = time_to_open(&table, n);
	}
	if (table)
		pawl_table_get_info(table, &info);
	MPI_Allreduce(&info.bytes, &bytes, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	expect((double)bytes / (double)n <= 16, "%.2f bytes a lock", (double)bytes / (double)n);
	expect_time(took < 2, "creation took %.2f s", took);
	for (uint64_t l = (uint64_t)tap_rank; table && l < n; l += 997) {
		expect_code(pawl_lock_acquire(table, l, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(table, l), PAWL_SUCCESS, "release");
	}
	note("%.2f bytes a lock, created in %.3f s", (double)bytes / (double)n, took);
	table_close(table);
	result("a million d-mcs locks: at most 16 bytes each, made in less than 2 s");
}

int main(int argc, char **argv)
{
	const struct pawl_kind *kind;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int i = 0; (kind = tap_kind(&i));)
		/* All kinds share most of the code, so only one gets the full number. */
		many_times(kind, tap_long || strcmp(kind->name, "rma-rw") == 0 ? tap_rounds
				 : tap_rounds < FEW * FEW                      ? tap_rounds / FEW
									       : FEW);
	together();
	parts_of_the_job();
	by_handles();
	a_million();
	return tap_end();
}
