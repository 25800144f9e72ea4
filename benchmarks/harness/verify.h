/* SPDX-License-Identifier: BSD-3-Clause */
/* The data that locks protect, and the check of mutual exclusion. */
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "benchmarks/harness/picks.h"

/* Words protected by one lock; none of them is atomic, on purpose. */
struct cell {
	volatile int64_t word[4]; /* equal while no client writes */
	volatile int64_t counter, touched;
	volatile int64_t raw; /* of raw-pair */
	int64_t unused;
};

void cells_create(struct trial *t, uint64_t locks);
void cells_free(struct trial *t);
void cells_clear(struct trial *t);
/* The work of SOB and WCSB in the critical section of p. */
void cells_touch(struct trial *t, struct pick p);
void cells_count(struct trial *t, struct pick p);
/* Of "turns": whether the last exclusive holder was another rank. */
bool cells_turn(struct trial *t, struct pick p);
/* All ranks acquire and check for a while. */
void verify_run(struct trial *t);
/* Now and then prolong a critical section. */
void verify_linger(struct trial *t);
/* The sums of the words and of the counters in this rank's cells. */
void cells_sum(struct trial *t, uint64_t *sums);

#endif
