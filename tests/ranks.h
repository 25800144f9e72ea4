/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the test programs with an MPI share: results in TAP, printed by rank 0, where a
 * result is ok only if it is on all ranks; a watchdog that says what hung.
 * It uses MPI only; tables.h is for Pawl's locks.
 *
 * A test checks conditions with expect(), on any rank and in any thread, and
 * ends with result(), which is collective. Nothing aborts: a program in which a check
 * fails goes on, and exits with 1.
 */
#ifndef TESTS_RANKS_H
#define TESTS_RANKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define PRINTF(a, b) __attribute__((format(printf, a, b)))

extern int tap_rank, tap_size;
extern bool tap_one_host;    /* all ranks share memory */
extern bool tap_shared_host; /* some ranks do */
extern int tap_thread_level;
extern double tap_budget;                 /* seconds that a loop of a test runs */
extern int tap_rounds;                    /* rounds of tests that count and do not time */
extern bool tap_long;                     /* TEST_LONG asks for full length */
extern bool tap_verbose;                  /* --verbose 1: print how much was done */
extern const char *tap_only, *tap_except; /* --only and --except */

/* ---------------------------------------------------------------- program */

/* Initialise MPI and read the options of all programs:
 *   --budget S         seconds a loop (default 0.1; at full length TEST_BUDGET, or 0.25)
 *   --rounds N         rounds of tests that count (default 1000)
 *   --limit S          seconds until a test counts as hung (default 60)
 *   --set NAME=VALUE   a Pawl option of all locks (PAWL_NAME in the environment)
 *   --only KIND,...    no other kind of lock
 *   --except KIND,...  all kinds but these; "baselines" stands for each of those
 *   --threads 1        MPI_THREAD_MULTIPLE, whatever the program needs
 *   --verbose 1        print how much a test did
 *   --one-failure 1    end after the first result that is not ok */
void tap_start(int *argc, char ***argv, int thread_level);
/* Set the variables in TEST_VARIABLES, a list of NAME=VALUE, for what follows; the MPI has begun
 * without them. tap_start() does so. */
void set_variables(void);

/* Print the plan and finalize MPI; returns the status for main(). */
int tap_end(void);

/* ---------------------------------------------------------------- results */

/* Record a failure of the running test; the first one of a rank is printed. */
void fail(const char *format, ...) PRINTF(1, 2);

/* fail() if a condition does not hold; says whether it does. */
#define expect(condition, ...) ((condition) ? true : (fail(__VA_ARGS__), false))

/* The same of a time, which other work on the machine may make longer: a result that fails in no
 * other way ends with "# timed" (see tests/tap.sh). */
void fail_time(const char *format, ...) PRINTF(1, 2);
#define expect_time(condition, ...) ((condition) ? true : (fail_time(__VA_ARGS__), false))

/* End a test with one line of TAP. Collective; returns whether it passed on all ranks. */
bool result(const char *format, ...) PRINTF(1, 2);
void skip(const char *reason, const char *format, ...) PRINTF(2, 3);
/* Rank 0 prints a comment. */
void note(const char *format, ...) PRINTF(1, 2);

/* Tell the watchdog what the program does, and restart its time. */
void now_doing(const char *format, ...) PRINTF(1, 2);

/* ---------------------------------------------------------------- helpers */

/* A barrier that leaves the core to others while it waits. */
void meet(void);
double seconds_now(void);
void sleep_for(double seconds);
/* CPU time of this process, in seconds. */
double cpu_seconds(void);
/* How many entries a folder has, "." and ".." among them; 0: it cannot be read. */
int tap_entries(const char *folder);
/* Wait for that time, yielding the core but driving the MPI: a rank that
 * sleeps would delay operations on its memory, and so might hide errors. */
void linger(double seconds);
/* In ascending order. */
void sort_values(double *values, int n);
/* A small random number generator, one for each client. */
uint32_t random_below(uint64_t *state, uint32_t n);

#endif
