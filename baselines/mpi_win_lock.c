/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock to compare with: MPI_Win_lock and MPI_Win_unlock of the MPI in use, in the form of a
 * lock table. This file calls MPI, because it shows the MPI's own lock.
 *
 * MPI locks a pair of window and rank, so the k-th lock of each home needs its own window: a table
 * has at most MAX_WINDOWS locks at a home. Option native_window says how windows are made; Open MPI
 * chooses its one-sided component by it (allocate: shared memory if possible; create: the network
 * component).
 *
 * MPI_Win_lock may return before it has the lock (the standard lets an MPI defer it until the first
 * operation). A get of one word and a flush ensure that it has.
 *
 * Such a lock belongs to the process: two threads of a rank must not request it at the same time.
 * Fairness, operations and progress are the MPI's. Operations are not counted.
 */
#include "lock/lock.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_WINDOWS = 64, WORD_BYTES = 64 };

struct mpi_win_lock_options {
	int native_create; /* windows by MPI_Win_create */
};
_Static_assert(sizeof(struct mpi_win_lock_options) <= LOCK_OPTION_BYTES, "the options fit");

RMA_INLINE const struct mpi_win_lock_options *options_of(const struct lock_setup *s)
{
	return lock_options(s);
}

struct constants {
	int count;
	MPI_Win win[MAX_WINDOWS];
	void *memory[MAX_WINDOWS]; /* for windows by MPI_Win_create */
};

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	if (s->block <= MAX_WINDOWS)
		return PAWL_SUCCESS;
	snprintf(err, errlen,
		 "mpi-win-lock needs a window for each lock of a home: at most %d locks a home, and"
		 " %llu were asked for",
		 MAX_WINDOWS, (unsigned long long)s->block);
	return PAWL_ERR_UNSUPPORTED;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	snprintf(text, len, "windows by MPI_Win_%s",
		 options_of(s)->native_create ? "create" : "allocate");
}

static int open_windows(struct lock_setup *s, void *mpi_comm, char *err, size_t errlen)
{
	MPI_Comm comm = *(MPI_Comm *)mpi_comm;
	struct constants *k = s->state;

	for (; k->count < (int)s->block; k->count++) {
		void *base = NULL;
		int rc, ok;

		if (options_of(s)->native_create) {
			base = k->memory[k->count] = calloc(1, WORD_BYTES);
			rc = MPI_Win_create(base, WORD_BYTES, 1, MPI_INFO_NULL, comm,
					    &k->win[k->count]);
		} else {
			rc = MPI_Win_allocate(WORD_BYTES, 1, MPI_INFO_NULL, comm, &base,
					      &k->win[k->count]);
		}
		ok = rc == MPI_SUCCESS && base;
		MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm);
		if (!ok) {
			snprintf(err, errlen, "the MPI could not make a window for mpi-win-lock%s",
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION <= 4
				 ": run with OMPI_MCA_osc=^rdma in the environment"
#else
				 ""
#endif
			);
			return PAWL_ERR_WINDOW;
		}
	}
	return PAWL_SUCCESS;
}

static void close_windows(struct lock_setup *s)
{
	struct constants *k = s->state;

	while (k->count > 0) {
		k->count--;
		MPI_Win_free(&k->win[k->count]);
		free(k->memory[k->count]);
	}
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	uint64_t index;
	int64_t ignored;
	int rank;

	lock_home(s, slot->lock, &rank, &index);
	MPI_Win_lock(slot->mode == PAWL_SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, rank, 0,
		     k->win[index]);
	MPI_Get(&ignored, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, k->win[index]);
	MPI_Win_flush(rank, k->win[index]); /* orders the grant before the return */
	return PAWL_SUCCESS;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	uint64_t index;
	int rank;

	lock_home(s, slot->lock, &rank, &index);
	MPI_Win_unlock(rank, k->win[index]);
	return PAWL_SUCCESS;
}

static const struct option_spec options[] = {
    LOCK_CHOICE(struct mpi_win_lock_options, native_create, "native_window", "allocate | create",
		"allocate", "how mpi-win-lock creates its windows"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_mpi_win_lock = {
    .kind =
	{
	    .name = "mpi-win-lock",
	    .summary = "the MPI's own MPI_Win_lock, for comparison",
	    .reference = "MPI 3.1, section 11.5.3",
	    .capabilities = PAWL_CAP_SHARED,
	},
    .options = options,
    .state_bytes = sizeof(struct constants),
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .release = release,
    .mpi = &(const struct lock_mpi_calls){.open = open_windows, .close = close_windows},
};
