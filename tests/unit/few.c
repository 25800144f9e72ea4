/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swap, or and and by compare-and-swap (src/rma/few.c), over a transport that performs operations
 * at their flush, and between whose flushes other clients change words. Prints TAP.
 */
#include <string.h>

#include "rma/few.h"
#include "rma/rma.h"
#include "tests/tap.h"

enum { WORDS = 64, MOST = 4 * RMA_FEW_PENDING };

static int64_t memory[2][WORDS];
static int atomics, flushes, posts;
static bool fails;
static int meddles; /* so many more times another client adds 100 to word 0 of rank 1 at a flush */

static struct kept {
	int rank;
	int64_t *word, value, expected, *result;
	bool adds;
} kept[MOST];
static int n_kept;

static void keep(struct rma_word w, int64_t value, int64_t expected, int64_t *result, bool adds)
{
	atomics++;
	kept[n_kept++] = (struct kept){
	    w.rank, &memory[w.rank][w.offset / sizeof(int64_t)], value, expected, result, adds};
}

static void below_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		      int64_t *result)
{
	(void)c;
	ok(op == RMA_SUM, "only addition is asked for");
	keep(w, value, 0, result, true);
}

static void below_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		      int64_t *result)
{
	(void)c;
	keep(w, value, expected, result, false);
}

static void below_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	(void)c;
	memory[w.rank][w.offset / sizeof(int64_t)] = value;
}

static void flush(struct rma_client *c, int rank)
{
	int left = 0;

	flushes++;
	if (meddles-- > 0)
		memory[1][0] += 100;
	if (fails && c->on_loss)
		longjmp(*c->on_loss, 1);
	for (int i = n_kept - 1; i >= 0; i--) { /* not in the order of issue */
		struct kept *k = &kept[i];

		if (rank >= 0 && k->rank != rank)
			continue;
		*k->result = *k->word;
		if (k->adds)
			*k->word += k->value;
		else if (*k->word == k->expected)
			*k->word = k->value;
		k->rank = -1;
	}
	for (int i = 0; i < n_kept; i++)
		if (kept[i].rank >= 0)
			kept[left++] = kept[i];
	n_kept = left;
}

static void flush_all(struct rma_client *c)
{
	flush(c, -1);
}

static bool post(struct rma_client *c, struct rma_word w)
{
	(void)c, (void)w;
	posts++;
	return true;
}

static const struct rma_transport below = {
    .can = {.can_fail = true, .posts = true, .ordered = true},
    .put = below_put,
    .fao = below_fao,
    .cas = below_cas,
    .flush = flush,
    .flush_all = flush_all,
    .post = post,
};
static char *map[2];
static const int node[2] = {0, 1};
static struct rma rma = {.map = map, .node = node};
static struct rma_few few;

static struct rma_word at(int rank, int i)
{
	return rma_word(&rma, RMA_NET, rank, (uint64_t)i * sizeof(int64_t));
}

static void begin(void)
{
	memset(memory, 0, sizeof memory);
	memset(&few, 0, sizeof few);
	n_kept = atomics = flushes = posts = meddles = 0;
	rma.transport = &below;
	rma_few_open(&few, &rma);
}

static int64_t one(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value)
{
	int64_t old = -1;

	rma_fao(c, w, op, value, &old);
	rma_flush(c, w); /* completes it */
	return old;
}

static void results(void)
{
	struct rma_client c = {.rma = &rma};
	struct rma_word w = at(1, 0);
	int64_t old;

	begin();
	ok(one(&c, w, RMA_REPLACE, 5) == 0 && memory[1][0] == 5 && atomics == 1 && flushes == 1,
	   "a swap with a right guess: one atomic and one flush");
	ok(one(&c, w, RMA_OR, 2) == 5 && one(&c, w, RMA_AND, ~4) == 7 && memory[1][0] == 3 &&
	       atomics == 3,
	   "so do or and and, as this client left the word");
	rma_cas(&c, w, 3, 0, &old);
	rma_flush(&c, w); /* completes it */
	rma_put(&c, w, 9);
	ok(one(&c, w, RMA_REPLACE, 1) == 9 && atomics == 5, "what it stores is the next guess");
	memory[1][0] = 40;
	ok(one(&c, w, RMA_OR, 1) == 40 && memory[1][0] == 41 && atomics == 7 && flushes == 7,
	   "a wrong guess costs an atomic and a flush more");
	ok(c.count[RMA_ATOMIC][1] == 7 && c.count[RMA_FLUSH][1] == 7, "which are counted");
	meddles = 3;
	ok(one(&c, w, RMA_AND, ~1) == 341 && memory[1][0] == 340 && atomics == 11,
	   "a word that changes between the attempts: until one succeeds");
	ok(one(&c, w, RMA_OR, 0) == 340 && one(&c, w, RMA_AND, -1) == 340 && atomics == 13,
	   "an operation that changes nothing is a fetch");
	ok(!rma_keeps_order(&c), "the transport is not ordered, whatever is below");
}

/* More than the list has room for, on two ranks, in one flush. */
static void many(void)
{
	enum { ONES = RMA_FEW_PENDING + RMA_FEW_PENDING / 2 };
	struct rma_client c = {.rma = &rma};
	int64_t old[ONES];
	int right = 0;

	begin();
	for (int i = 0; i < ONES; i++)
		memory[i % 2][i / 2] = 1000 + i;
	for (int i = 0; i < ONES; i++)
		rma_fao(&c, at(i % 2, i / 2), RMA_REPLACE, i, &old[i]);
	rma_flush(&c, at(0, 0)); /* completes those of rank 0 */
	for (int i = 0; i < ONES; i += 2)
		right += old[i] == 1000 + i && memory[0][i / 2] == i;
	ok(right == ONES / 2, "%d swaps, a flush of one rank: all of its are done", (int)ONES);
	rma_flush_all(&c, true); /* completes the rest */
	for (int i = 1; i < ONES; i += 2)
		right += old[i] == 1000 + i && memory[1][i / 2] == i;
	ok(right == ONES && n_kept == 0, "and with a flush of all ranks, all are");
}

static void posting(void)
{
	struct rma_client c = {.rma = &rma};
	int64_t old;

	begin();
	rma_fao(&c, at(1, 0), RMA_SUM, 1, &old);
	ok(rma_post(&c, at(1, 0)) && posts == 1, "an addition can be posted");
	rma_fao(&c, at(1, 0), RMA_REPLACE, 7, &old);
	ok(!rma_post(&c, at(1, 0)) && posts == 1, "a swap, which may have to be repeated, cannot");
	rma_flush(&c, at(1, 0)); /* completes it */
	rma_fao(&c, at(1, 0), RMA_SUM, 1, &old);
	ok(rma_post(&c, at(1, 0)) && memory[1][0] == 7, "once it is done, the next addition can");
}

static bool leaves(struct rma_client *c)
{
	static jmp_buf on_loss;
	int64_t old;

	c->on_loss = &on_loss;
	if (setjmp(on_loss) == 0) {
		rma_fao(c, at(1, 0), RMA_REPLACE, 7, &old);
		rma_flush(c, at(1, 0)); /* fails */
		return false;
	}
	c->on_loss = NULL;
	return true;
}

static void failures_below(void)
{
	struct rma_client c = {.rma = &rma};

	begin();
	fails = true;
	ok(leaves(&c), "a flush that fails leaves the protocol");
	one(&c, at(1, 0), RMA_REPLACE, 8);
	ok(!c.on_loss, "without a place to leave to, it returns");
	fails = false;
	n_kept = 0;
	ok(one(&c, at(1, 1), RMA_REPLACE, 6) == 0 && memory[1][1] == 6 && memory[1][0] == 0,
	   "nothing of it is repeated later");
}

int main(void)
{
	results();
	many();
	posting();
	failures_below();
	return tap_plan();
}
