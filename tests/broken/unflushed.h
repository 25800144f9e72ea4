/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves out one flush of a protocol file that is included afterwards: that of
 * the word called BREAK_FLUSH_OF in the source, or the flush of all targets in
 * the function BREAK_FLUSH_IN. Only reordering shows what is missing then, so it
 * takes the simulator to catch it.
 */
#ifndef TESTS_BROKEN_UNFLUSHED_H
#define TESTS_BROKEN_UNFLUSHED_H

#include <string.h>

#include "lock/lock.h"

#ifdef BREAK_FLUSH_OF
static inline void unless_broken(struct rma_client *c, struct rma_word w, const char *name)
{
	if (strcmp(name, BREAK_FLUSH_OF) != 0)
		rma_flush(c, w);
}
#define rma_flush(c, w) unless_broken(c, w, #w)
#endif

#ifdef BREAK_FLUSH_IN
static inline void unless_broken_all(struct rma_client *c, bool far, const char *function)
{
	if (strcmp(function, BREAK_FLUSH_IN) != 0)
		rma_flush_all(c, far);
}
#define rma_flush_all(c, far) unless_broken_all(c, far, __func__)
#endif

#endif
