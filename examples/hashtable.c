/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table spread over all ranks, with a reader-writer lock for each bucket:
 * many clients may read a bucket at the same time, or one inserts. An insert looks for its key as a
 * reader, and makes the lock exclusive only if it is not there (pawl_lock_upgrade(), kind mgl).
 *
 *   mpirun -n 4 ./hashtable
 *
 * Bucket b and its lock live at the same rank, b mod ranks: the table is created
 * with distribution=cyclic, and pawl_table_home() returns that rank.
 */
#include <pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 512, SLOTS = 31, KEYS = 200 };

struct bucket {
	long used;
	struct {
		long key, value;
	} slot[SLOTS];
};
enum { WORDS = sizeof(struct bucket) / sizeof(long) };

static pawl_table *table;
static MPI_Win win;
static int rank, ranks;

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static uint64_t bucket_of(long key)
{
	return ((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % BUCKETS;
}

/* Where bucket b is in the window: its rank, and the word it starts at. */
static MPI_Aint place(uint64_t b, int *home)
{
	must(pawl_table_home(table, b, home));
	return (MPI_Aint)(b / (uint64_t)ranks) * WORDS;
}

static void read_bucket(uint64_t b, struct bucket *copy)
{
	int home;
	MPI_Aint at = place(b, &home);

	MPI_Get(copy, WORDS, MPI_LONG, home, at, WORDS, MPI_LONG, win);
	MPI_Win_flush(home, win);
}

static void write_bucket(uint64_t b, const struct bucket *copy)
{
	int home;
	MPI_Aint at = place(b, &home);

	MPI_Put(copy, WORDS, MPI_LONG, home, at, WORDS, MPI_LONG, win);
	MPI_Win_flush(home, win);
}

/* The slot of a key; SLOTS: it has none. */
static long find(const struct bucket *copy, long key)
{
	for (long i = 0; i < copy->used; i++)
		if (copy->slot[i].key == key)
			return i;
	return SLOTS;
}

/* Returns 1; or 0 if the key is there already. */
static int insert(long key, long value)
{
	uint64_t b = bucket_of(key);
	struct bucket copy;
	int code, is_new;

	must(pawl_lock_acquire(table, b, PAWL_SHARED));
	read_bucket(b, &copy);
	is_new = find(&copy, key) == SLOTS;
	code = is_new ? pawl_lock_upgrade(table, b) : PAWL_SUCCESS;
	if (code == PAWL_ERR_BUSY) {
		/* Another client inserts here, and waits for this one. */
		must(pawl_lock_release(table, b));
		must(pawl_lock_acquire(table, b, PAWL_EXCLUSIVE));
		read_bucket(b, &copy);
		is_new = find(&copy, key) == SLOTS;
	} else {
		must(code); /* and what was read is as it was */
	}
	if (is_new && copy.used == SLOTS) {
		fprintf(stderr, "bucket %d is full\n", (int)b);
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
	if (is_new) {
		copy.slot[copy.used].key = key;
		copy.slot[copy.used].value = value;
		copy.used++;
		write_bucket(b, &copy);
	}
	must(pawl_lock_release(table, b));
	return is_new;
}

/* Whether the table has the key, with this value. */
static int lookup(long key, long value)
{
	uint64_t b = bucket_of(key);
	struct bucket copy;
	long i;

	must(pawl_lock_acquire(table, b, PAWL_SHARED));
	read_bucket(b, &copy);
	must(pawl_lock_release(table, b));
	i = find(&copy, key);
	return i < SLOTS && copy.slot[i].value == value;
}

int main(int argc, char **argv)
{
	struct bucket *mine;
	MPI_Aint bytes;
	MPI_Info info;
	long other, found = 0, inserted = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);

	MPI_Info_create(&info);
	MPI_Info_set(info, "pawl_distribution", "cyclic");
	must(pawl_table_create(MPI_COMM_WORLD, "mgl", BUCKETS, info, &table));
	MPI_Info_free(&info);

	bytes = (MPI_Aint)sizeof *mine * ((BUCKETS + ranks - 1) / ranks);
	MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	memset(mine, 0, (size_t)bytes);
	MPI_Win_sync(win);
	MPI_Barrier(MPI_COMM_WORLD);

	/* Two ranks insert each key, and look it up while others still insert. */
	other = (rank + 1) % ranks;
	for (long i = 0; i < KEYS; i++) {
		inserted += insert(rank * KEYS + i, i * i);
		inserted += insert(other * KEYS + i, i * i);
		found += lookup(rank * KEYS + i / 2, (i / 2) * (i / 2));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < KEYS; i++)
		found += lookup(other * KEYS + i, i * i);

	MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(MPI_IN_PLACE, &inserted, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("hashtable: %ld keys, %ld of %ld lookups right\n", inserted, found,
		       2L * KEYS * ranks);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return found == 2L * KEYS * ranks && inserted == (long)KEYS * ranks ? EXIT_SUCCESS
									    : EXIT_FAILURE;
}
