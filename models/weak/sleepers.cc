/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two clients sleep on words of a segment that a service thread writes: ucx_sleep() and the
 * thread's look at the sleepers in src/rma/ucx/serve.c. One client takes a place (word, value) that
 * another has left, so the thread may find the previous client's value there, and does not wake this
 * one if the word has just become that value.
 *
 * Forbidden: a client sleeps on the old value, and the thread does not wake it.
 *
 *   BREAK_FENCE   no fence between the words and the look at the sleepers
 *   BREAK_VALUE   the value of a place is written after the kernel's look
 */
#include "weak.hpp"

enum { OLD = 1, NEW = 2 };

struct sleepers_of_words : rl::test_suite<sleepers_of_words, 2> {
	rl::atomic<int> word, sleepers, place_word, place_value;
	bool sleeps, wakes;

	void before()
	{
		word.store(OLD, RELAXED);
		sleepers.store(1, RELAXED); /* another client sleeps at another place */
		place_word.store(0, RELAXED);
		place_value.store(NEW, RELAXED);
		sleeps = wakes = false;
	}

	/* The thread: an operation of another rank has come. */
	void server()
	{
		word.store(NEW, SEQ_CST);
		if (!has("BREAK_FENCE"))
			rl::atomic_thread_fence(SEQ_CST);
		if (!sleepers.load(RELAXED) || !place_word.load(SEQ_CST))
			return;
		wakes = word.load(SEQ_CST) != place_value.load(SEQ_CST);
	}

	void kernel_looks()
	{
		rl::atomic_thread_fence(SEQ_CST);
		sleeps = word.load(RELAXED) == OLD;
	}

	void client()
	{
		int nobody = 0;

		place_word.compare_exchange_strong(nobody, 1, SEQ_CST);
		if (!has("BREAK_VALUE"))
			place_value.store(OLD, SEQ_CST);
		sleepers.fetch_add(1, SEQ_CST);
		kernel_looks();
		if (has("BREAK_VALUE"))
			place_value.store(OLD, SEQ_CST);
	}

	void thread(unsigned index)
	{
		if (index == 0)
			server();
		else
			client();
	}

	void after()
	{
		RL_ASSERT(!sleeps || wakes);
	}
};

int main()
{
	static const row rows[] = {
	    {"", "pass", run<sleepers_of_words>},
	    {"BREAK_FENCE", "assert", run<sleepers_of_words>},
	    {"BREAK_VALUE", "assert", run<sleepers_of_words>},
	};

	return run_all(rows);
}
