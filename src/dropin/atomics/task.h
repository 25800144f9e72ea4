/* SPDX-License-Identifier: BSD-3-Clause */
/* What accumulates are as a message, from far.c to serve.c. */
#ifndef DROPIN_ATOMICS_TASK_H
#define DROPIN_ATOMICS_TASK_H

#include "dropin/atomics/atomics.h"
#include "rma/tasks.h"

/* What a message begins with; its parts follow. */
struct head {
	uint64_t number; /* of the origin's messages for this target and window, from 0 on */
	uint32_t window; /* id in its pool */
	uint32_t words;  /* of the result; the first one is enum outcome */
};

/* LATER: the message has overtaken another one. WRONG: its memory is not that of the window, or it
 * is none of far.c. Neither has changed anything. */
enum outcome { WRONG, DONE, LATER };

/* FETCH: a change whose elements are in the result, as they were. SWAP: the same. */
enum what { CHANGE, FETCH, SWAP, POST };

/* n elements of one predefined type at equal distances. Their operands follow, for SWAP the element
 * to compare with and that to store. */
struct part {
	MPI_Aint offset, stride;
	uint16_t n;
	uint8_t what, op;
	uint8_t class, size, second, extent; /* struct basic */
};
enum { HEAD = sizeof(struct head), PART = sizeof(struct part) };
_Static_assert(HEAD % sizeof(int64_t) == 0 && PART % sizeof(int64_t) == 0, "all is aligned");
_Static_assert((int)RMA_TASK_BYTES >= (int)HEAD + (int)PART + 2 * (int)MOST_BYTES &&
		   (int)RMA_RESULT_BYTES >= (int)sizeof(int64_t) + (int)MOST_BYTES,
	       "an element fits");
_Static_assert(RMA_TASK_BYTES <= UINT16_MAX, "struct part can tell so many elements");

/* The operands of a part, and what it has in the result. Both take whole words. */
static inline size_t part_operands(const struct part *q)
{
	return q->what == SWAP ? 2 : q->op == NO_OP ? 0 : q->n;
}

static inline size_t part_results(const struct part *q)
{
	return q->what == FETCH || q->what == SWAP ? q->n : 0;
}

static inline size_t part_words(size_t elements, const struct part *q)
{
	return (elements * q->extent + sizeof(int64_t) - 1) / sizeof(int64_t);
}

#endif
