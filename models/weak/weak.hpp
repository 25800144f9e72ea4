/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the models of this directory share: operations in the memory orders of src/rma/rma.h, and
 * the loop over all instances. Relacy (Debian: relacy-dev) runs the threads of a model under every
 * schedule with at most CONTEXTS preemptions, and lets each load return every value that C11
 * allows, so a result also holds for processors with weaker orders than x86. Relacy reports a plain
 * variable (var) that the atomics do not order as a data race.
 */
#ifndef MODELS_WEAK_HPP
#define MODELS_WEAK_HPP

#include <relacy/relacy.hpp>

#include <stdio.h>
#include <string.h>

enum { CONTEXTS = 4 };

/* rma_put(), rma_get(), rma_fao(), rma_cas() on a mapped word; rma_poke() and rma_peek(). A macro,
 * because Relacy records the line. */
#define SEQ_CST rl::memory_order_seq_cst
#define POKE rl::memory_order_release
#define PEEK rl::memory_order_acquire
#define RELAXED rl::memory_order_relaxed

/* The same, but with this order if the instance has this word. */
#define UNLESS(word, order) (has(word) ? rl::mo_##order : rl::mo_seq_cst), $
#define POKE_UNLESS(word) (has(word) ? rl::mo_relaxed : rl::mo_release), $
#define PEEK_UNLESS(word) (has(word) ? rl::mo_relaxed : rl::mo_acquire), $

/* The instance that runs, as a list of words. */
static const char *instance;

static bool has(const char *word)
{
	return strstr(instance, word) != NULL;
}

/* Run an instance. Returns how it ends, and the number of schedules. */
template <typename model> static const char *run(unsigned *schedules)
{
	rl::test_params p;
	bool passed;

	p.search_type = rl::sched_bound;
	p.context_bound = CONTEXTS;
	p.execution_depth_limit = 2000;
	passed = rl::simulate<model>(p);
	*schedules = (unsigned)p.stop_iteration;
	if (passed)
		return "pass";
	switch (p.test_result) {
	case rl::test_result_data_race:
		return "race";
	case rl::test_result_deadlock:
	case rl::test_result_livelock:
		return "deadlock";
	case rl::test_result_user_assert_failed:
	case rl::test_result_user_invariant_failed:
		return "assert";
	default:
		return rl::test_result_str(p.test_result);
	}
}

struct row {
	const char *words, *expected;
	const char *(*run)(unsigned *schedules);
};

template <size_t n> static int run_all(const row (&rows)[n])
{
	unsigned long all = 0;
	int failed = 0;

	for (const row &r : rows) {
		unsigned schedules;
		const char *end;

		instance = r.words;
		end = r.run(&schedules);
		all += schedules;
		failed += strcmp(end, r.expected) != 0;
		printf("%s%s: %s, expected %s, %u schedules\n", *r.words ? "" : "as it is", r.words,
		       end, r.expected, schedules);
	}
	printf("%lu states, stored\nerrors: %d\n", all, failed);
	return failed != 0;
}

#endif
