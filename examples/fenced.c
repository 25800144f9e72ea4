/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A holder that was taken for dead goes on to write, and the storage refuses it. Rank 0 writes for
 * longer than its lease, and the others get the lock. A writer shows the number of its hold
 * (pawl_lock_token()), and the storage, which here is memory of rank 0, keeps the largest one and
 * refuses writes with smaller ones. So rank 0 can write until the next holder has written, and its
 * release says that it has lost the lease.
 *
 *   mpirun -n 4 ./fenced
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKEN, DATA, WORDS };

static pawl_table *table;
static MPI_Win win;
static int rank, ranks;

/* PAWL_RECOVERED is no failure: the lock is held. */
static int must(int code)
{
	if (code != PAWL_SUCCESS && code != PAWL_RECOVERED && code != PAWL_ERR_LEASE_LOST) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
	return code;
}

/* As a service would do it. *largest: the largest number so far. Whether the value was stored. */
static int store(int64_t token, int64_t value, int64_t *largest)
{
	int stored;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Get(largest, 1, MPI_INT64_T, 0, TOKEN, 1, MPI_INT64_T, win);
	MPI_Win_flush(0, win);
	stored = token >= *largest;
	if (stored) {
		MPI_Put(&token, 1, MPI_INT64_T, 0, TOKEN, 1, MPI_INT64_T, win);
		MPI_Put(&value, 1, MPI_INT64_T, 0, DATA, 1, MPI_INT64_T, win);
	}
	MPI_Win_unlock(0, win);
	return stored;
}

int main(int argc, char **argv)
{
	int64_t *mine, token, largest;
	int late, stored, code, told, good;
	MPI_Info info;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	late = rank == 0 && ranks > 1;
	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_lease", "100ms");
	must(pawl_table_create(MPI_COMM_WORLD, "shiftlock", 1, info, &table));
	MPI_Info_free(&info);
	MPI_Win_allocate(rank == 0 ? WORDS * sizeof *mine : 0, sizeof *mine, MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mine, &win);
	for (int i = 0; rank == 0 && i < WORDS; i++)
		mine[i] = 0;
	MPI_Barrier(MPI_COMM_WORLD);

	if (late) {
		must(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE));
		must(pawl_lock_token(table, 0, &token));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	told = !late && must(pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE)) == PAWL_RECOVERED;
	if (!late)
		must(pawl_lock_token(table, 0, &token));
	do /* rank 0 goes on when another holder has written */
		stored = store(token, rank, &largest);
	while (late && stored);
	code = must(pawl_lock_release(table, 0));
	printf("rank %d, number %lld: %s%s%s\n", rank, (long long)token,
	       told ? "told of a recovery, " : "", stored ? "stored" : "refused",
	       code == PAWL_ERR_LEASE_LOST ? ", lease lost" : "");
	good = late ? !stored && code == PAWL_ERR_LEASE_LOST : ranks == 1 || told;
	MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Win_free(&win);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
