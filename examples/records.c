/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of records that all ranks append to and update through MPI-IO, under locks on ranges of
 * its bytes.
 *
 *   mpirun -n 4 ./records [FILE]
 *
 * The file begins with the number of records. To append, a client locks these bytes, writes the
 * next record, which no other client uses yet, and increments the number. To update a record, it
 * locks the bytes of that record only.
 *
 * Each rank opens the file for itself (MPI_COMM_SELF), so that MPI_File_sync is not collective over
 * all ranks. An MPI_File_sync before the release writes the data, and one after the acquire makes
 * it visible; the lock orders the two, as MPI requires.
 */
#include <pawl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { APPENDS = 10, UPDATES = 30 };

struct record {
	int64_t author,
	    number; /* the rank that appended it, and the number among that rank's records */
	int64_t updates,
	    sum; /* the number of its updates, and the sum of the ranks that made them */
};

static pawl_table *table;
static MPI_File file;
static int rank, ranks;

static void must(int code)
{
	if (code != PAWL_SUCCESS) {
		fprintf(stderr, "%s: %s\n", pawl_strerror(code), pawl_error_message());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static void must_io(int code, const char *doing)
{
	if (code != MPI_SUCCESS) {
		fprintf(stderr, "rank %d cannot %s\n", rank, doing);
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
}

static int64_t place(int64_t record)
{
	return (int64_t)sizeof(int64_t) + record * (int64_t)sizeof(struct record);
}

/* ------------------------------------------------------------------ locked bytes */

static pawl_range lock(int64_t at, int64_t bytes)
{
	pawl_range held;

	must(pawl_range_acquire(table, 0, at, at + bytes - 1, PAWL_EXCLUSIVE, &held));
	must_io(MPI_File_sync(file), "sync"); /* makes visible what others wrote */
	return held;
}

static void unlock(const pawl_range *held)
{
	must_io(MPI_File_sync(file), "sync"); /* so that the next holder sees what was written */
	must(pawl_range_release(table, held));
}

static void read_at(int64_t at, void *to, int bytes)
{
	must_io(MPI_File_read_at(file, at, to, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read");
}

static void write_at(int64_t at, const void *from, int bytes)
{
	must_io(MPI_File_write_at(file, at, from, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "write");
}

/* ---------------------------------------------------------------------- records */

/* The number of records. */
static int64_t append(int64_t number)
{
	const struct record r = {.author = rank, .number = number};
	pawl_range header = lock(0, sizeof(int64_t));
	int64_t count;

	read_at(0, &count, sizeof count);
	write_at(place(count), &r, sizeof r);
	count++;
	write_at(0, &count, sizeof count);
	unlock(&header);
	return count;
}

static void update(int64_t which)
{
	pawl_range held = lock(place(which), sizeof(struct record));
	struct record r;

	read_at(place(which), &r, sizeof r);
	r.updates++;
	r.sum += rank;
	write_at(place(which), &r, sizeof r);
	unlock(&held);
}

static void work(void)
{
	uint64_t random = (uint64_t)rank + 1;
	int64_t known = 0;

	for (int i = 0; i < APPENDS; i++) {
		known = append(i);
		for (int k = 0; k < UPDATES / APPENDS; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			update((int64_t)(random >> 33) % known);
		}
	}
}

/* Check that each record of each rank exists once, and that no update is lost. */
static int check(void)
{
	char *seen = calloc((size_t)ranks * APPENDS, 1);
	int64_t count, updates = 0, sum = 0, wrong = 0;

	read_at(0, &count, sizeof count);
	for (int64_t i = 0; i < count && seen; i++) {
		struct record r;

		read_at(place(i), &r, sizeof r);
		if (r.author < 0 || r.author >= ranks || r.number < 0 || r.number >= APPENDS ||
		    seen[r.author * APPENDS + r.number]++)
			wrong++;
		updates += r.updates;
		sum += r.sum;
	}
	free(seen);
	printf("records: %d, expected %d; updates: %d, expected %d; %d wrong\n", (int)count,
	       ranks * APPENDS, (int)updates, ranks * UPDATES, (int)wrong);
	return seen && count == ranks * APPENDS && updates == ranks * UPDATES && wrong == 0 &&
	       sum == (int64_t)UPDATES * ranks * (ranks - 1) / 2;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "records.tmp";
	const int64_t none = 0;
	int right = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	must(pawl_table_create(MPI_COMM_WORLD, "citron", 1, MPI_INFO_NULL, &table));
	if (rank == 0)
		MPI_File_delete(name, MPI_INFO_NULL); /* of a former run, if there is one */
	MPI_Barrier(MPI_COMM_WORLD);
	must_io(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
			      &file),
		"open the file");
	if (rank == 0) {
		write_at(0, &none, sizeof none);
		must_io(MPI_File_sync(file), "sync");
	}
	MPI_Barrier(MPI_COMM_WORLD);

	work();

	MPI_Barrier(MPI_COMM_WORLD);
	must_io(MPI_File_sync(file), "sync");
	if (rank == 0)
		right = check();
	MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_close(&file);
	if (rank == 0)
		MPI_File_delete(name, MPI_INFO_NULL);
	must(pawl_table_free(&table));
	MPI_Finalize();
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
