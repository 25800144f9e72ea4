/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of prices at rank 0 that all ranks read all the time, and that ranks change now and then.
 *
 *   mpirun -n 4 ./prices
 *
 * Readers do not acquire the lock: they look at it, copy the prices, and look again whether an
 * exclusive client was in meanwhile. In that case they copy again. The prices of one list belong
 * together (here each is a multiple of the first), so a copy that mixes two lists would show.
 */
#include <pawl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRICES = 16, READS = 200, EVERY = 50 };

static pawl_table *table;
static uint64_t lock; /* of the list */
static MPI_Win win;

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static void get(int64_t *prices)
{
	MPI_Get(prices, PRICES, MPI_INT64_T, 0, 0, PRICES, MPI_INT64_T, win);
	MPI_Win_flush(0, win); /* the copy is complete before the lock is looked at again */
}

static void change(void)
{
	int64_t prices[PRICES];

	must(pawl_lock_acquire(table, lock, PAWL_EXCLUSIVE));
	get(prices);
	prices[0]++;
	for (int i = 1; i < PRICES; i++)
		prices[i] = prices[0] * (i + 1);
	MPI_Put(prices, PRICES, MPI_INT64_T, 0, 0, PRICES, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
	must(pawl_lock_release(table, lock));
}

/* Returns how often it had to copy again. */
static long look(int64_t *prices)
{
	pawl_read read = PAWL_READ_INIT;
	long again = 0;
	int code;

	for (;; again++) {
		must(pawl_lock_read_begin(table, lock, &read));
		get(prices);
		code = pawl_lock_read_validate(table, lock, &read);
		if (code != PAWL_ERR_BUSY)
			break;
	}
	must(code);
	return again;
}

int main(int argc, char **argv)
{
	int64_t prices[PRICES], *base;
	long again = 0, mixed = 0, mine[2], all[2];
	int rank, ranks;
	MPI_Info info;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Win_allocate(rank == 0 ? sizeof prices : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
			 &win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	for (int i = 0; rank == 0 && i < PRICES; i++)
		base[i] = 0;
	MPI_Win_sync(win);
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_names", "yes");
	must(pawl_table_create(MPI_COMM_WORLD, "declock", 100, info, &table));
	MPI_Info_free(&info);
	must(pawl_lock_named(table, "prices", &lock)); /* the same lock on all ranks */
	MPI_Barrier(MPI_COMM_WORLD);

	for (int n = 0; n < READS; n++) {
		if (n % EVERY == 0)
			change();
		again += look(prices);
		for (int i = 1; i < PRICES; i++)
			mixed += prices[i] != prices[0] * (i + 1);
	}

	mine[0] = again;
	mine[1] = mixed;
	MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	look(prices);
	if (rank == 0)
		printf("%d reads, %ld repeated, %ld prices of another list; %lld lists\n",
		       READS * ranks, all[0], all[1], (long long)prices[0]);
	if (rank == 0 && (all[1] > 0 || prices[0] != (int64_t)ranks * (READS / EVERY)))
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	must(pawl_table_free(&table));
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
