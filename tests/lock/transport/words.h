/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of every rank, over a network, without locks, for tests of the transport. */
#ifndef TESTS_WORDS_H
#define TESTS_WORDS_H

#include <stdbool.h>

#include "rma/memory/segments.h"

enum { WORDS_FIRST = RMA_HEADER_BYTES, WORDS_EACH = 2048 };

/* Create WORDS_EACH words for each rank, zeroed. Collective; false, with a recorded failure, if
 * that fails. */
bool words_open(struct rma *r, enum rma_network network);
void words_close(struct rma *r);

struct rma_word words_at(const struct rma *r, int rank, int i);
struct rma_client words_client(struct rma *r);

#endif
