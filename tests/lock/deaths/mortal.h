/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests in which ranks die share. Dead ranks take part in no collective call, so after the
 * start the ranks of a host communicate through shared memory, and end without
 * MPI_Finalize. The verdict, in TAP, goes into a file, because launchers may lose output.
 */
#ifndef TESTS_MORTAL_H
#define TESTS_MORTAL_H

#include <stdio.h>

#include "tests/ranks.h"

/* Allocate zeroed memory that the ranks of comm share, all of one host. Called once in a
 * program, before the other functions. Collective. */
void *mortal_share(MPI_Comm comm, size_t bytes);

/* Record a failure; the first one of this host is printed. */
void wrong(const char *format, ...) PRINTF(1, 2);
bool is_wrong(void);

/* Write the result under this name: "not ok", with the reason, if this host recorded a failure. */
void verdict(FILE *out, const char *name, ...) PRINTF(2, 3);

#endif
