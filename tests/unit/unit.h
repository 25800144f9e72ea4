/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a program of one process, in TAP. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tests, failures;

static inline __attribute__((format(printf, 2, 3))) bool ok(bool good, const char *what, ...)
{
	va_list args;

	tests++;
	failures += !good;
	printf("%sok %d - ", good ? "" : "not ", tests);
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf("\n");
	return good;
}

/* At the end of main(): its result. */
static inline int unit_end(void)
{
	printf("1..%d\n", tests);
	return failures != 0 || tests == 0;
}

#endif
