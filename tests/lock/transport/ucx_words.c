/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations between nodes without locks: more under one flush than a message, an
 * answer, or a client's list of operations has room for; and fetch-or and fetch-and. To be
 * run on two nodes, by messages and, with UCX_ATOMIC_MODE in the environment, by UCX's own
 * operations; with TEST_WORDS=mpi in the environment, by the MPI; with TEST_WORDS=few, by messages
 * of which only additions and compare-and-swaps are used. Within a node words are changed by CPU,
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "rma/few.h"
#include "tests/ranks.h"
#include "words.h"

enum { MANY = 300, ADDS = 2 * MANY };

static struct rma words;
static struct rma_few few;
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

/* Every rank sets and clears its own bit, and adds 1 to a high field, all in one word: the rank
 * always finds its bit as it left it, and at the end nothing is lost. */
enum { ROUNDS = 200, ABOVE = 32, MOST_RANKS = 32 };
static void change_bits(struct rma_client *c, struct rma_word w)
{
	int64_t bit = INT64_C(1) << tap_rank, old, sum;

	for (int i = 0; i < ROUNDS; i++) {
		rma_fao(c, w, RMA_OR, bit, &old);
		rma_flush(c, w); /* completes it, before the use of its result */
		expect(!(old & bit), "round %d: the bit was set before", i);
		rma_fao(c, w, RMA_SUM, INT64_C(1) << ABOVE, &sum);
		rma_flush(c, w); /* completes it */
		expect(sum & bit, "round %d: the bit was lost", i);
		rma_fao(c, w, RMA_AND, ~bit, &old);
		rma_flush(c, w); /* completes it */
		expect(old & bit, "round %d: the bit was lost before it was cleared", i);
	}
	meet();
	rma_get(c, w, &old);
	rma_flush(c, w); /* completes it */
	sum = (int64_t)tap_size * ROUNDS << ABOVE;
	expect(old == sum, "the word is %llx, and not %llx", (unsigned long long)old,
	       (unsigned long long)sum);
	meet();
}

static void bits(void)
{
	struct rma_client c = words_client(&words);
	struct rma_word w = words_at(&words, 0, WORDS_EACH - 2);

	now_doing("bits of words of the network");
	for (int rank = 0; rank < tap_size && rank < MOST_RANKS; rank++)
		change_bits(&c, words_at(&words, rank, WORDS_EACH - 1));
	result("fetch-or and fetch-and by all ranks, on each rank");
	if (words.node[0] != words.node[tap_size - 1])
		return;
	now_doing("bits of a word of the node");
	change_bits(&c, rma_word(&words, RMA_NODE, 0, w.offset));
	result("and by CPU");
}

int main(int argc, char **argv)
{
	const char *how = getenv("TEST_WORDS");
	enum rma_network network = how && strcmp(how, "mpi") == 0 ? RMA_BY_MPI : RMA_BY_UCX;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	if (words_open(&words, network)) {
		if (how && strcmp(how, "few") == 0)
			rma_few_open(&few, &words);
		puts_and_gets();
		adds();
		bits();
		words_close(&words);
	} else {
		result("words over the network");
	}
	return tap_end();
}
