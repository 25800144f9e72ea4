/* SPDX-License-Identifier: BSD-3-Clause */
/* Swap, or and and where a transport has only addition and compare-and-swap; see few.c. */
#ifndef RMA_FEW_H
#define RMA_FEW_H

#include "rma/client.h"

enum { RMA_FEW_GUESSES = 256, RMA_FEW_PENDING = 32 };

/* What a word may hold. */
struct rma_few_guess {
	_Atomic(uint64_t) word; /* which one; 0: none */
	_Atomic(int64_t) value;
};

/* Of a process and a table. Zero it before rma_few_open(); it must outlive the last operation. */
struct rma_few {
	const struct rma_transport *below;
	struct rma_transport transport; /* that of below, with all operations */
	struct rma_few_guess guess[RMA_FEW_GUESSES];
};

/* An operation that a compare-and-swap performs, which is on its way. */
struct rma_few_op {
	struct rma_word word;
	enum rma_op op;
	int64_t value, expected, *result;
};

/* What a client has of them, at the end of rma_own(). */
struct rma_few_client {
	unsigned n;
	struct rma_few_op op[RMA_FEW_PENDING];
};

/* How much of rma_own() is left to the transport below. */
enum { RMA_FEW_BELOW = RMA_OWN_BYTES - sizeof(struct rma_few_client) };

/* From now on r's clients have all operations, over its transport until now, whose fao() need only
 * know RMA_SUM. */
void rma_few_open(struct rma_few *f, struct rma *r);

#endif
