/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results in TAP, for C and C++ and without an MPI: of one process, or of processes that agree on
 * each result, of which one prints. For the ranks of an MPI job: ranks.h.
 */
#ifndef TESTS_TAP_H
#define TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;
static bool tap_silent; /* another process prints */

static inline __attribute__((format(printf, 2, 3))) bool ok(bool good, const char *what, ...)
{
	va_list args;

	tap_count++;
	tap_failed += !good;
	if (tap_silent)
		return good;
	printf("%sok %d - ", good ? "" : "not ", tap_count);
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	return good;
}

/* The plan, after the last result. Returns the status for main(). */
static inline int tap_plan(void)
{
	if (!tap_silent)
		printf("1..%d\n", tap_count);
	fflush(stdout);
	return tap_failed != 0 || tap_count == 0;
}

#endif
