/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NGA_Read_inc() of Global Arrays, which hands out the tasks of NWChem and its like, and
 * ARMCI_Rmw() beneath it. All processes draw numbers of a counter for some time: each number comes
 * once, in ascending order for each process, and none is missing. Prints TAP, and the time of a
 * call.
 *
 *     ga_read_inc SECONDS
 */
#include <armci.h>
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { MOST = 4000000 };

static unsigned char drawn[MOST];
static long most, calls;
static int rank, size, array;
static void **at;

static long by_read_inc(void)
{
	int element[1] = {1};

	return NGA_Read_inc(array, element, 1);
}

static long by_rmw_long(void)
{
	long before;

	ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, at[0], 1, 0);
	return before;
}

static long by_rmw_int(void)
{
	int before;

	ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, (char *)at[0] + sizeof(long), 1, 0);
	return before;
}

/* Numbers are handed on: each process swaps in a number of its own, and what it finds is another's
 * last one. Adds up to the same. */
static long by_swap(void)
{
	long value = 1 + rank + size * calls, given = value;

	ARMCI_Rmw(ARMCI_SWAP_LONG, &value, (char *)at[0] + 2 * sizeof(long), 0, 0);
	return value - given;
}

static void report(int good, const char *name)
{
	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	ok(good, "%s", name);
}

static long total(long n)
{
	MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	return n;
}

/* Draw for so long. Returns whether the numbers ascend; *sum is their sum. */
static int draw(long (*next)(void), double seconds, int ascends, const char *name, long *sum)
{
	double begin, spent;
	long last = -1, n, others;
	int good = 1;

	memset(drawn, 0, sizeof drawn);
	calls = *sum = 0;
	ARMCI_Barrier();
	begin = MPI_Wtime();
	do {
		n = next();
		*sum += n;
		good = good && (!ascends || (n > last && n < MOST));
		if (ascends && n >= 0 && n < MOST)
			drawn[n]++;
		last = n;
		calls++;
	} while (MPI_Wtime() - begin < seconds && calls < MOST / size && good);
	spent = MPI_Wtime() - begin;
	most = total(calls);
	others = total(rank == 0 ? 0 : calls);
	ARMCI_Barrier();
	MPI_Allreduce(MPI_IN_PLACE, &spent, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0)
		printf(
		    "# %s: %.2f us a call of each of %d processes without the counter, %ld calls\n",
		    name, spent * (size - 1) / (double)others * 1e6, size - 1, others);
	return good;
}

static void counter(long (*next)(void), double seconds, const char *name)
{
	long sum;
	int good = draw(next, seconds, 1, name, &sum);

	/* A number of most or above would leave a lower one out. */
	MPI_Allreduce(MPI_IN_PLACE, drawn, (int)most, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
	for (long i = 0; i < most; i++)
		good = good && drawn[i] == 1;
	report(good, name);
}

static void swaps(double seconds)
{
	long sum, all, last = 0;
	int good = draw(by_swap, seconds, 0, "ARMCI_Rmw, swap", &sum);

	MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	ARMCI_Get((char *)at[0] + 2 * sizeof(long), &last, sizeof last, 0);
	/* All that was given, except what is there now, has been found once. */
	report(good && all == -last, "ARMCI_Rmw, swap");
}

int main(int argc, char **argv)
{
	int dims[1] = {8}, status;
	long zeros[3] = {0};
	char name[] = "counter";
	double seconds = argc > 1 ? atof(argv[1]) : 0.1;

	MPI_Init(&argc, &argv);
	GA_Initialize();
	MA_init(C_DBL, 1000, 1000);
	rank = GA_Nodeid();
	size = GA_Nnodes();
	tap_silent = rank != 0;
	array = NGA_Create(C_LONG, 1, dims, name, NULL);
	GA_Zero(array);
	at = calloc((size_t)size, sizeof *at);
	ARMCI_Malloc(at, sizeof zeros);
	ARMCI_Put(zeros, at[rank], sizeof zeros, rank);
	ARMCI_Barrier();
	counter(by_read_inc, seconds, "NGA_Read_inc");
	counter(by_rmw_long, seconds, "ARMCI_Rmw, fetch-and-add of long");
	counter(by_rmw_int, seconds, "ARMCI_Rmw, fetch-and-add of int");
	swaps(seconds);
	status = tap_plan();
	ARMCI_Free(at[rank]);
	GA_Destroy(array);
	GA_Terminate();
	MPI_Finalize();
	return status;
}
