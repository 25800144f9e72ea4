/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many operations under one flush, over UCX: more than a message, an answer, or what is kept of a
 * client's operations has room for. To be run on two nodes, by messages and, with UCX_ATOMIC_MODE
 * in the environment, by UCX's own operations.
 */
#include <stdlib.h>

#include "tap.h"
#include "words.h"

enum { MANY = 300, ADDS = 2 * MANY };

static struct rma words;
static int64_t result_of[MANY];

/* Rank 0 has 1, 2, 3, ... in the first words; the last rank reads these, and writes the next. */
static void puts_and_gets(void)
{
	struct rma_client c = words_client(&words);
	struct rma_word w;

	now_doing("%d puts and gets under one flush", MANY);
	for (int i = 0; tap_rank == 0 && i < MANY; i++)
		rma_poke(&c, words_at(&words, 0, i), i + 1);
	meet();
	if (tap_rank == tap_size - 1) {
		for (int i = 0; i < MANY; i++) {
			w = words_at(&words, 0, MANY + i);
			rma_put(&c, w, -i);
			rma_get(&c, words_at(&words, 0, i), &result_of[i]);
		}
		rma_flush(&c, w); /* orders all of them before the barrier */
		for (int i = 0; i < MANY; i++)
			expect(result_of[i] == i + 1, "get %d brought %lld", i,
			       (long long)result_of[i]);
	}
	meet();
	for (int i = 0; tap_rank == 0 && i < MANY; i++)
		expect(rma_peek(&c, words_at(&words, 0, MANY + i)) == -i, "put %d is missing", i);
	result("%d puts and gets under one flush", MANY);
}

/* Every operation has a result, on one word, and on two ranks in turn. */
static void adds(void)
{
	struct rma_client c = words_client(&words);
	int64_t got[2][ADDS / 2], sum[2] = {0, 0}, n = ADDS / 2;

	now_doing("%d fetch-and-adds under one flush", ADDS);
	if (tap_rank == tap_size - 1) {
		for (int i = 0; i < ADDS; i++)
			rma_fao(&c, words_at(&words, i % 2, 3 * MANY), RMA_SUM, 1,
				&got[i % 2][i / 2]);
		rma_flush_all(&c, true); /* completes them */
		for (int i = 0; i < ADDS; i++)
			sum[i % 2] += got[i % 2][i / 2];
		for (int k = 0; k < 2; k++)
			expect(sum[k] == n * (n - 1) / 2, "rank %d: the results sum up to %lld", k,
			       (long long)sum[k]);
	}
	meet();
	if (tap_rank < 2)
		expect(rma_peek(&c, words_at(&words, tap_rank, 3 * MANY)) == n,
		       "not every one took place once");
	result("%d fetch-and-adds on two ranks under one flush", ADDS);
}

int main(int argc, char **argv)
{
	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (words_open(&words)) {
		puts_and_gets();
		adds();
		words_close(&words);
	} else {
		result("words over UCX");
	}
	return tap_end();
}
