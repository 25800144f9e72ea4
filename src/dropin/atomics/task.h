/* SPDX-License-Identifier: BSD-3-Clause */
/* What an accumulate is as a message, from far.c to serve.c. */
#ifndef DROPIN_ATOMICS_TASK_H
#define DROPIN_ATOMICS_TASK_H

#include "dropin/atomics/atomics.h"
#include "rma/tasks.h"

enum what { CHANGE, SWAP, POST };

/* What a message begins with; the elements follow, for SWAP those to compare with and to store. */
struct head {
	uint32_t window;   /* id in its pool */
	uint16_t n, words; /* elements; words of the result */
	uint8_t what, op;
	uint8_t class, size, second, extent; /* struct basic */
	uint8_t fetches, unused;
	MPI_Aint offset, stride;
};
enum {
	HEAD = sizeof(struct head),
	ROOM = RMA_TASK_BYTES - HEAD,
	RESULT_WORDS = RMA_RESULT_BYTES / sizeof(int64_t)
};
_Static_assert((int)ROOM >= 2 * (int)MOST_BYTES && (int)RMA_RESULT_BYTES >= (int)MOST_BYTES,
	       "an element fits");
_Static_assert(HEAD % sizeof(int64_t) == 0, "what follows is aligned");

#endif
