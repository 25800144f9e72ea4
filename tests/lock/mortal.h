/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests share in which ranks die. The dead take part in no collective call, so after the
 * start everything is told through memory that the ranks of a host share, and ranks end without
 * MPI_Finalize. The verdict, in TAP, goes into a file, for launchers may lose what is printed.
 */
#ifndef TESTS_MORTAL_H
#define TESTS_MORTAL_H

#include <stdio.h>

#include "tap.h"

/* So many bytes that the ranks of comm, all of one host, have together; zero at first. Once a
 * program, and before anything else here. Collective. */
void *mortal_share(MPI_Comm comm, size_t bytes);

/* Something is wrong. What was found first on this host is told. */
void wrong(const char *format, ...) PRINTF(1, 2);
bool is_wrong(void);

/* The one result, under this name, and why it is "not ok" if anything was wrong on this host. */
void verdict(FILE *out, const char *name, ...) PRINTF(2, 3);

#endif
