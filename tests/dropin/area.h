/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the drop-in tests share: windows of 64-bit words made in each of the ways
 * that MPI has, and critical sections in them.
 *
 * These programs are written to the MPI standard and know of no lock but
 * MPI_Win_lock's. TEST_BREAK=1 in the environment makes every lock of
 * area_lock() and area_lock_all() one without effect (MPI_MODE_NOCHECK), so
 * that the same test shows that it can fail. TEST_INFO=KEY=VALUE adds a pair to
 * the info of every window of area_open().
 */
#ifndef TESTS_DROPIN_AREA_H
#define TESTS_DROPIN_AREA_H

#include "../lock/tap.h"

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

/* Whether windows of that flavour can be had over all ranks. */
bool area_possible(enum area_flavour f);

/* The size of a window of so many words. */
MPI_Aint area_bytes(int words);

/* Collective over comm; the words are 0, and all ranks have come this far. */
void area_open(struct area *a, enum area_flavour f, MPI_Comm comm, int words, MPI_Info info);
void area_close(struct area *a);

/* MPI_Win_lock() and MPI_Win_lock_all(). (MPICH 4.0 never gives back a lock of a
 * target that has been locked with MPI_MODE_NOCHECK before: a broken test must
 * not lock in earnest afterwards.) */
void area_lock(struct area *a, int type, int target);
void area_lock_all(struct area *a);

/* Words of a target from index on, complete at the return; within an epoch. */
void area_get(struct area *a, int target, int index, int n, int64_t *to);
void area_put(struct area *a, int target, int index, int n, const int64_t *from);

/* Get a word, add to it, put it back: not atomic, and so that others get a
 * chance to come between. */
void area_add_plainly(struct area *a, int target, int index, int64_t value);
/* By the owner of the word: load, add, store. */
void area_add_mine(struct area *a, int index, int64_t value);
/* MPI_Accumulate. */
void area_add_atomically(struct area *a, int target, int index, int64_t value);

/* The words of that index, added up over all ranks; and one word of one rank. Collective over
 * the window; takes a shared lock. */
int64_t area_sum(struct area *a, int index);
int64_t area_word(struct area *a, int target, int index);

/* Collective: expect() that a count of what was done is what is found. */
void area_expect(struct area *a, int64_t done_here, int64_t found, const char *what);

/* A loop of a test: for (struct turns t = turns(5); turn(&t);), at least so often
 * and until the time of a test is over. */
struct turns {
	double end;
	int least, done;
};
struct turns turns(int least);
bool turn(struct turns *t);

#endif
