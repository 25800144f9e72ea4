/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpawl-shmem: Pawl's locks under shmem_set_lock, shmem_test_lock and
 * shmem_clear_lock, for an OpenSHMEM that is built on an MPI (Open MPI's),
 * whose PEs are the ranks of MPI_COMM_WORLD. It calls the runtime by the names
 * of OpenSHMEM's profiling interface.
 *
 * A lock is a long in symmetric memory, which is 0 at all PEs before its first
 * use, and belongs to the runtime from then on. It is not created by any call,
 * so it gets a Pawl lock when it is first used: the word at PE 0 then has the
 * number of the lock, and those at the other PEs are copies. With w the word at
 * PE 0:
 *
 *   w = 0       no PE has used the lock
 *   w = i + 1   it is lock i of the table
 *
 * A PE whose own word is 0 reads w. If that is 0, too, it takes a number that it
 * had before, or one from a counter at PE 0, and sets w by compare-and-swap; the
 * PE that comes second keeps its number for another lock. So w is set once, and
 * all copies agree. A PE gets its numbers back when the memory of a lock is
 * freed, and when the program sets a lock to 0 again (numbers.c).
 */
#include <pshmem.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "layers/layers.h"
#include "shmem/numbers.h"

#define PUBLIC __attribute__((visibility("default")))

/* Locks for each PE. A table reserves 16 bytes for each; memory is taken where
 * locks are used. */
enum { LOCKS_PER_PE = 65536 };

const char layer_library[] = "libpawl-shmem";

static const struct layer layer = {
    .runtime = "OpenSHMEM",
    .words =
	{
	    .locks = "OpenSHMEM locks",
	    .lease = "programs hold them for any time",
	    .max_held = "a PE may hold many; it may be raised",
	},
    /* A PE serves operations on its static variables only while it is in the runtime. */
    .direct = false,
};

static bool seen; /* the program has called a function of this layer */
static bool pawl; /* there is a table; else the runtime's locks serve */
static struct layer_locks locks;
static long *counter; /* symmetric; at PE 0, the number of locks that have numbers */

__attribute__((destructor)) static void at_exit(void)
{
#ifdef PIC
	if (!seen)
		next_say_unused("OpenSHMEM");
#endif
}

/* The runtime has started. Collective. */
static void begin(void)
{
	int mpi = 0, ranks = 0;

	seen = true;
	if (counter)
		return;
	PMPI_Initialized(&mpi);
	if (mpi)
		PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != pshmem_n_pes()) {
		if (pshmem_my_pe() == 0)
			fprintf(stderr, "pawl: OpenSHMEM locks are those of the runtime: its PEs"
					" are not the ranks of MPI_COMM_WORLD\n");
		return;
	}
	if (!layer_take(&layer, MPI_COMM_WORLD, LOCKS_PER_PE, &locks))
		return;
	counter = pshmem_calloc(1, sizeof *counter);
	pawl = counter != NULL;
	pshmem_barrier_all();
}

/* End the job. */
static _Noreturn void fail(const char *call, const char *why)
{
	fprintf(stderr, "pawl: PE %d: %s: %s\n", pshmem_my_pe(), call, why);
	pshmem_global_exit(EXIT_FAILURE);
	abort();
}

static bool is_number(long w)
{
	return w > 0 && (uint64_t)w <= (uint64_t)LOCKS_PER_PE * (uint64_t)locks.size;
}

/* The first use of a lock by this PE. */
static long number(volatile long *lock, const char *call)
{
	long w = pshmem_long_atomic_fetch((long *)lock, 0), mine;

	if (!w) {
		mine = numbers_take(lock);
		if (!mine)
			mine = pshmem_long_atomic_fetch_inc(counter, 0) + 1;
		w = is_number(mine) ? pshmem_long_atomic_compare_swap((long *)lock, 0, mine, 0)
				    : mine;
		if (w)
			numbers_give(mine);
		else
			numbers_keep(lock, w = mine);
	}
	if (!is_number(w))
		fail(call, "there are too many locks, or this one was not 0 before its first use"
			   " (PAWL_LOCK=native takes those of the runtime)");
	if (pshmem_my_pe() != 0)
		*lock = w;
	return w;
}

/* Where the lock is: index at a PE. */
struct place {
	uint64_t index;
	int pe;
};

static struct place place(long w)
{
	return (struct place){(uint64_t)(w - 1) / (uint64_t)locks.size,
			      (int)((w - 1) % locks.size)};
}

static struct place place_of(volatile long *lock, const char *call)
{
	long w = *lock;

	return place(w > 0 ? w : number(lock, call));
}

/* ------------------------------------------------------------ the interface */

PUBLIC void shmem_init(void)
{
	pshmem_init();
	begin();
}

PUBLIC int shmem_init_thread(int requested, int *provided)
{
	int rc = pshmem_init_thread(requested, provided);

	if (rc == 0)
		begin();
	return rc;
}

PUBLIC void start_pes(int npes)
{
	(void)npes;
	shmem_init();
}

PUBLIC void shmem_set_lock(volatile long *lock)
{
	struct place at;
	int rc;

	if (!pawl) {
		pshmem_set_lock(lock);
		return;
	}
	at = place_of(lock, "shmem_set_lock");
	LAYER_FROM_HERE(&locks, rc = layer_acquire(&locks, at.index, at.pe));
	if (rc == PAWL_ERR_HELD)
		fail("shmem_set_lock", "this PE has set the lock already");
	if (rc != PAWL_SUCCESS)
		fail("shmem_set_lock", pawl_error_message());
}

PUBLIC int shmem_test_lock(volatile long *lock)
{
	struct place at;
	int rc;

	if (!pawl)
		return pshmem_test_lock(lock);
	at = place_of(lock, "shmem_test_lock");
	LAYER_FROM_HERE(&locks, rc = layer_try_acquire(&locks, at.index, at.pe));
	if (rc != PAWL_SUCCESS && rc != PAWL_ERR_BUSY && rc != PAWL_ERR_HELD)
		fail("shmem_test_lock", pawl_error_message());
	return rc != PAWL_SUCCESS;
}

PUBLIC void shmem_clear_lock(volatile long *lock)
{
	struct place at;
	int rc;

	if (!pawl) {
		pshmem_clear_lock(lock);
		return;
	}
	at = place_of(lock, "shmem_clear_lock");
	/* Completes this PE's operations before the release; pairs with the acquire
	 * of the next. */
	pshmem_quiet();
	LAYER_FROM_HERE(&locks, rc = layer_release(&locks, at.index, at.pe));
	if (rc == PAWL_ERR_NOT_HELD)
		fail("shmem_clear_lock", "this PE has not set the lock");
	if (rc != PAWL_SUCCESS)
		fail("shmem_clear_lock", pawl_error_message());
}

/* ------------------------------------------------------------------- memory */

/* The program may free memory with a lock that is set. */
static bool is_free(long w)
{
	const struct place at = place(w);

	return layer_try_acquire(&locks, at.index, at.pe) == PAWL_SUCCESS &&
	       layer_release(&locks, at.index, at.pe) == PAWL_SUCCESS;
}

static void *made(void *block, size_t bytes)
{
	numbers_block(block, bytes);
	return block;
}

static void freed(void *block)
{
	pshmem_free(block);
	if (pawl && block)
		numbers_block_gone(block, NULL, 0, is_free);
}

static void *changed(void *block, size_t bytes)
{
	void *to = pshmem_realloc(block, bytes);

	if (!block)
		return made(to, bytes);
	if (pawl && (to || !bytes))
		numbers_block_gone(block, to, bytes, is_free);
	return to;
}

PUBLIC void *shmem_malloc(size_t size)
{
	return made(pshmem_malloc(size), size);
}

PUBLIC void *shmem_calloc(size_t count, size_t size)
{
	return made(pshmem_calloc(count, size), count * size);
}

PUBLIC void *shmem_align(size_t align, size_t size)
{
	return made(pshmem_align(align, size), size);
}

PUBLIC void *shmem_realloc(void *block, size_t size)
{
	void *to;

	LAYER_FROM_HERE(&locks, to = changed(block, size));
	return to;
}

PUBLIC void shmem_free(void *block)
{
	LAYER_FROM_HERE(&locks, freed(block));
}

/* Their older names. */

PUBLIC void *shmalloc(size_t size)
{
	return made(pshmem_malloc(size), size);
}

PUBLIC void *shmemalign(size_t align, size_t size)
{
	return made(pshmem_align(align, size), size);
}

PUBLIC void *shrealloc(void *block, size_t size)
{
	void *to;

	LAYER_FROM_HERE(&locks, to = changed(block, size));
	return to;
}

PUBLIC void shfree(void *block)
{
	LAYER_FROM_HERE(&locks, freed(block));
}
