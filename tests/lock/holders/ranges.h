/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of kinds with ranges share: ranges that a rank holds, and the arrays that show
 * when two holders overlap.
 *
 * Each space has an array at rank 0 with a word for each of its first units: the rank that
 * made the last change, and the number of changes. Holders change the words of their
 * range by plain loads and stores (or puts and gets between hosts), so a second holder
 * shows: a holder that looks again finds another rank's word, or a change is lost.
 */
#ifndef TESTS_RANGES_H
#define TESTS_RANGES_H

#include "tests/lock/tables.h"

enum { UNITS = 8192 }; /* units with a word */

enum how { BLOCKING, TRY, TIMED };

struct held {
	uint64_t space;
	int64_t first, last;
	int mode;
	enum how how; /* an acquire that is refused is no failure */
	pawl_range range;
};

extern pawl_table *table;     /* of the running test */
extern uint64_t spaces, seed; /* all with an array; of the random numbers of this rank */

/* Collective. */
void area_start(void);
void area_end(void);

/* Acquire the range that h describes; false: refused. */
bool acquire(struct held *h);
void release(const struct held *h);
/* The work of a holder; returns the number of words that it changed. */
int64_t inside(const struct held *h);
/* Acquire, inside() and release; the number of words. */
int64_t visit(struct held *h);

/* Visit the ranges that draw() chooses, by the number of the round, for some seconds, and for the
 * least rounds, however slow the machine; the number of words. */
int64_t visits(int least, double seconds, void (*draw)(struct held *h, int round));
/* Check that no change is lost, and begin with none; written: those by this rank. Collective. */
void expect_total(int64_t written);
/* visits() for the budget, and their total. */
void contend(void (*draw)(struct held *h, int round));

/* ranges_citron.c */
void citron_cases(void);
void citron_operations(bool ordered);

#endif
