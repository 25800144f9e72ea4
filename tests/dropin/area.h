/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the drop-in tests share: windows of 64-bit words, created in each of the ways
 * that MPI has, and critical sections in them.
 *
 * These programs follow the MPI standard and use only the locks of
 * MPI_Win_lock. TEST_BREAK=1 in the environment makes every lock of
 * area_lock() and area_lock_all() one without effect (MPI_MODE_NOCHECK), which
 * shows that the test can fail. TEST_INFO=KEY=VALUE adds a pair to
 * the info of every window of area_open() and area_info().
 */
#ifndef TESTS_DROPIN_AREA_H
#define TESTS_DROPIN_AREA_H

#include "tests/ranks.h"

enum area_flavour { AREA_CREATE, AREA_ALLOCATE, AREA_SHARED, AREA_DYNAMIC, AREA_FLAVOURS };

struct area {
	enum area_flavour flavour;
	MPI_Comm comm;
	MPI_Win win;
	int rank, size;
	int words;
	volatile int64_t *mine;
	MPI_Aint *at; /* where the words of each rank start, in displacement units */
};

extern const char *const area_flavour_name[AREA_FLAVOURS];

/* Whether TEST_BREAK is set. */
bool area_broken(void);

/* Whether the MPI can create windows of that flavour over all ranks. */
bool area_possible(enum area_flavour f);

/* The size of a window of that many words. */
MPI_Aint area_bytes(int words);

/* A copy of info (or of none) with the pair of TEST_INFO, to be freed. */
MPI_Info area_info(MPI_Info info);

/* Collective over comm; at the return the words are 0 on all ranks. */
void area_open(struct area *a, enum area_flavour f, MPI_Comm comm, int words, MPI_Info info);
void area_close(struct area *a);

/* MPI_Win_lock() and MPI_Win_lock_all(). (MPICH 4.0 never releases a lock of a
 * target that has been locked with MPI_MODE_NOCHECK before, so a test with TEST_BREAK=1 must
 * not use real locks afterwards.) */
void area_lock(struct area *a, int type, int target);
void area_lock_all(struct area *a);

/* Access words of a target from index on, within an epoch; complete at the return. */
void area_get(struct area *a, int target, int index, int n, int64_t *to);
void area_put(struct area *a, int target, int index, int n, const int64_t *from);

/* Get a word, add to it, put it back: not atomic, and with time for others to come
 * between. */
void area_add_plainly(struct area *a, int target, int index, int64_t value);
/* By the owner of the word: load, add, store. */
void area_add_mine(struct area *a, int index, int64_t value);
/* MPI_Accumulate. */
void area_add_atomically(struct area *a, int target, int index, int64_t value);

/* Compute for that time without a call of the MPI. */
void area_compute(double seconds);

/* The sum over all ranks of the words with that index; and one word of one rank. Collective over
 * the window; takes a shared lock. */
int64_t area_sum(struct area *a, int index);
int64_t area_word(struct area *a, int target, int index);

/* Collective: expect() that the words show the number of changes that were made. */
void area_expect(struct area *a, int64_t done_here, int64_t found, const char *what);

/* A loop of a test: for (struct turns t = turns(5); turn(&t);), at least that often
 * and until the time of the test is over. */
struct turns {
	double end;
	int least, done;
};
struct turns turns(int least);
bool turn(struct turns *t);

#endif
