/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One atomicity domain for each word: rank 1 adds to a word of rank 0 through the network, and
 * rank 0 adds to the same word, first through the network, too, as every kind of lock does, and
 * then by CPU, which breaks the rule. A device does not exclude the CPU between its load and its
 * store, so updates are lost, if both run at the same time: a busy machine may need several turns.
 * To be run on two ranks that are two nodes, over a device that performs atomics, with a processor
 * for each.
 */
#include <sched.h>
#include <stdatomic.h>

#include "tests/ranks.h"
#include "words.h"

/* So many additions, AT_ONCE under a flush; those by CPU are as many for each look. */
enum { ADDS = 20000, AT_ONCE = 20, BY_CPU = 100, TURNS = 6 };
/* Turn i has WORD_BROKEN + 2 i and WORD_END + 2 i. */
enum { WORD_KEPT = 0, WORD_BROKEN = 1, WORD_END = 2 };

static struct rma words;

static void add_all(struct rma_client *c, struct rma_word w)
{
	int64_t old[AT_ONCE];

	for (int i = 0; i < ADDS; i++) {
		rma_fao(c, w, RMA_SUM, 1, &old[i % AT_ONCE]);
		if (i % AT_ONCE == AT_ONCE - 1)
			rma_flush(c, w); /* completes them, before their results are overwritten */
	}
}

/* Each rank has a processor of its own: on one, an addition is never between the device's load and
 * store, which the kernel performs. */
static void pin(void)
{
	int n = 0;
	cpu_set_t all, own;

	CPU_ZERO(&own);
	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n++ == tap_rank)
			CPU_SET(cpu, &own);
	expect(n > tap_rank && sched_setaffinity(0, sizeof own, &own) == 0, "no processor");
}

/* Both through the network. Returns how many additions are missing. */
static int64_t by_the_rule(struct rma_client *c)
{
	struct rma_word w = words_at(&words, 0, WORD_KEPT);

	add_all(c, w);
	meet();
	return tap_rank == 0 ? (int64_t)tap_size * ADDS - rma_peek(c, w) : 0;
}

/* Rank 0 adds by CPU until rank 1 has done. Returns on both how many additions are missing. */
static int64_t against_it(struct rma_client *c, int turn, int64_t *own)
{
	struct rma_word w = words_at(&words, 0, WORD_BROKEN + 2 * turn);
	struct rma_word end = words_at(&words, 0, WORD_END + 2 * turn);
	int64_t lost;

	*own = 0;
	meet();
	if (tap_rank == 0) {
		while (!rma_peek(c, end)) {
			for (int i = 0; i < BY_CPU; i++)
				atomic_fetch_add_explicit(w.map, 1, memory_order_seq_cst);
			*own += BY_CPU;
		}
	} else {
		add_all(c, w);
		rma_put(c, end, 1);
		rma_flush(c, end); /* orders it before the barrier */
	}
	meet();
	lost = tap_rank == 0 ? ADDS + *own - rma_peek(c, w) : 0;
	MPI_Bcast(&lost, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	return lost;
}

int main(int argc, char **argv)
{
	struct rma_client c;
	int64_t lost, own = 0;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	expect(tap_size == 2, "runs on 2 ranks");
	if (tap_size != 2 || !words_open(&words, RMA_BY_UCX)) {
		result("words over the network");
		return tap_end();
	}
	c = words_client(&words);
	pin();
	now_doing("additions through the network");
	lost = by_the_rule(&c);
	expect(lost == 0, "%lld lost", (long long)lost);
	result("%d additions by each rank through the network: none is lost", ADDS);
	now_doing("additions by CPU as well");
	lost = 0;
	for (int turn = 0; turn < TURNS && !lost; turn++) {
		lost = against_it(&c, turn, &own);
		expect(tap_rank != 0 || own > 0, "rank 0 came too late");
	}
	expect_time(lost > 0, "none is lost");
	result("%d through the network and %lld by CPU: %lld lost", ADDS, (long long)own,
	       (long long)lost);
	words_close(&words);
	return tap_end();
}
