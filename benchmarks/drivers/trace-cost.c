/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PAWL_TRACE costs: trace-cost [KIND]. Each rank takes locks of its own and computes for 10 us
 * in each section, in turns with a table that is traced and one that is not; then the same without
 * sections, for the time of the events alone.
 *
 *   mpirun -n 2 benchmarks/trace-cost
 */
#include <pawl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 31,
	SECTIONS = 2000,
	SECTION_NS = 10000,
	EVENTS = 4,
	LOCKS_A_RANK = 16,
	CALIBRATION = 10000,
	TRIALS = 3
};

/* Of this thread: other programs on the machine do not count. */
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int code)
{
	if (code == PAWL_SUCCESS)
		return;
	fprintf(stderr, "trace-cost: %s\n", pawl_error_message());
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x)
{
	qsort(x, ROUNDS, sizeof *x, compare);
	return x[ROUNDS / 2];
}

static void spin(uint64_t turns)
{
	for (volatile uint64_t i = 0; i < turns; i++)
		;
}

/* Nanoseconds for each section. */
static double run(pawl_table *t, int rank, uint64_t turns)
{
	double start = now_ns();

	for (int i = 0; i < SECTIONS; i++) {
		uint64_t lock = (uint64_t)rank * LOCKS_A_RANK + (uint64_t)i % LOCKS_A_RANK;

		must(pawl_lock_acquire(t, lock, PAWL_EXCLUSIVE));
		spin(turns);
		must(pawl_lock_release(t, lock));
	}
	return (now_ns() - start) / SECTIONS;
}

/* The turns that take a section's time, while all ranks compute. */
static uint64_t calibrate(pawl_table *t, int rank)
{
	uint64_t turns = CALIBRATION;
	double times[ROUNDS];

	for (int trial = 0; trial < TRIALS; trial++) {
		for (int i = 0; i < ROUNDS; i++)
			times[i] = run(t, rank, turns);
		turns = (uint64_t)((double)turns * SECTION_NS / median(times));
	}
	return turns;
}

/* The medians of both, in turns. */
static void measure(pawl_table *const table[2], int rank, uint64_t turns, double result[2])
{
	static double times[2][ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		for (int traced = 0; traced < 2; traced++)
			times[traced][i] = run(table[traced], rank, turns);
	for (int traced = 0; traced < 2; traced++)
		result[traced] = median(times[traced]);
}

int main(int argc, char **argv)
{
	char path[] = "trace-cost.json";
	pawl_table *table[2];
	double sections[2], alone[2];
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int traced = 0; traced < 2; traced++) {
		if (traced)
			setenv("PAWL_TRACE", path, 1);
		else
			unsetenv("PAWL_TRACE");
		must(pawl_table_create(MPI_COMM_WORLD, argc > 1 ? argv[1] : "rma-mcs",
				       (uint64_t)ranks * LOCKS_A_RANK, MPI_INFO_NULL,
				       &table[traced]));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	measure(table, rank, calibrate(table[0], rank), sections);
	measure(table, rank, 0, alone);
	if (rank == 0)
		printf("sections of 10 us: %.3f us, traced %.3f us, ratio %.4f\n"
		       "no sections: %.0f ns, traced %.0f ns: %.2f million events a second\n",
		       sections[0] * 1e-3, sections[1] * 1e-3, sections[1] / sections[0], alone[0],
		       alone[1], EVENTS * 1e3 / alone[1]);
	fflush(stdout);
	for (int traced = 0; traced < 2; traced++)
		must(pawl_table_free(&table[traced]));
	if (rank == 0)
		unlink(path);
	MPI_Finalize();
	return 0;
}
