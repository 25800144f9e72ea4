/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before every source by make coverage, so that a process that ends by _exit(), as in
 * tests of deaths, writes its counts, too.
 */
#ifndef COVERAGE_H
#define COVERAGE_H

#include <unistd.h>

void __gcov_dump(void);

static inline _Noreturn void coverage_exit(int status)
{
	__gcov_dump();
	_exit(status);
}

#define _exit coverage_exit

#endif
