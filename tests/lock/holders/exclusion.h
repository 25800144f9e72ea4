/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the exclusion test share: the table under test, and critical sections. */
#ifndef TESTS_EXCLUSION_H
#define TESTS_EXCLUSION_H

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

extern const struct pawl_kind *kind;
extern pawl_table *table;
extern uint64_t locks; /* of the table */
extern uint64_t seed;

bool can(unsigned capability);
/* Acquire and release, which must succeed. */
void acquire(uint64_t lock, int mode);
void release(uint64_t lock);
/* The work in a critical section; and with the release. */
void inside(uint64_t lock, int mode);
void inside_and_release(uint64_t lock, int mode);
/* Whether a loop of this rank goes on; all ranks began it at about the same time. */
bool more(int round, double began);
/* Check that no change is lost; written: those by this rank. */
void expect_total(int64_t written);

/* exclusion_try.c. Whether this reader is in, beside readers. */
bool come_in_by_try(void);
bool come_in_by_time(void);
void try_alone(void);
void try_contended(void);
void timed_out(void);
void timed_contended(void);

/* exclusion_many.c */
void many_contended(void);
void many_refused(void);
void many_misused(void);

/* exclusion_request.c: by this function, which takes a name and a case */
void run_requests(void (*run)(const char *what, void (*test)(void)));

/* exclusion_change.c */
void change_contended(void);
void change_refused(void);

/* exclusion_intent.c */
void intents_and_others(void);
void intents_meet(void);
void intents_try(void);
void intents_misused(void);

#endif
