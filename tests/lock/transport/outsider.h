/* SPDX-License-Identifier: BSD-3-Clause */
/* What ucx_outsider.c and ucx_victim.c share: the times when messages go to the job. */
#ifndef TESTS_OUTSIDER_H
#define TESTS_OUTSIDER_H

#include <stdbool.h>
#include <time.h>

/* Processes of one host share a clock. */
static inline long outsider_turn(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long)t.tv_sec * 4 + t.tv_nsec / 250000000;
}

static inline bool outsider_attacks_in(long turn)
{
	return turn % 2 == 0;
}

static inline bool outsider_is_attacking(void)
{
	return outsider_attacks_in(outsider_turn());
}

#endif
