/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a unit test, in TAP. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <stdbool.h>
#include <stdio.h>

static int tests, failures;

static inline bool ok(bool good, const char *what)
{
	tests++;
	failures += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", tests, what);
	return good;
}

/* At the end of main(): its result. */
static inline int unit_end(void)
{
	printf("1..%d\n", tests);
	return failures != 0;
}

#endif
