/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A waiter parks on a word, and the writer of the word wakes it: rma_park() and rma_wake() in
 * src/rma. The waiter counts itself in before the kernel looks at the word; the writer looks at
 * the count after it has written the word. The kernel's look is a load after a full fence (here a
 * sequentially consistent load, because Relacy orders fences with fences only), under the lock of
 * the futex's queue, which the waker takes, too.
 *
 * Forbidden: the waiter sleeps on the old value, and the writer does not wake it.
 *
 *   BREAK_COUNT   the waiter counts itself in with a relaxed atomic, and the kernel has no fence
 *   BREAK_WRITE   the word is written with release order
 *   BREAK_LOOK    the writer looks at the count with a relaxed load
 *   BREAK_ORDER   the waiter counts itself in after the look
 */
#include "weak.hpp"

struct parking : rl::test_suite<parking, 2> {
	rl::atomic<int> word, parked;
	rl::var<int> payload;
	bool sleeps, wakes;

	void before()
	{
		word.store(0, RELAXED);
		parked.store(0, RELAXED);
		payload($) = 0;
		sleeps = wakes = false;
	}

	void writer()
	{
		payload($) = 1;
		word.store(1, UNLESS("BREAK_WRITE", release));
		wakes = parked.load(UNLESS("BREAK_LOOK", relaxed)) != 0;
	}

	bool kernel_finds_old()
	{
		return word.load(UNLESS("BREAK_COUNT", acquire)) == 0;
	}

	void waiter()
	{
		if (has("BREAK_ORDER"))
			sleeps = kernel_finds_old();
		parked.fetch_add(1, UNLESS("BREAK_COUNT", relaxed));
		if (!has("BREAK_ORDER"))
			sleeps = kernel_finds_old();
		if (!sleeps && word.load(SEQ_CST) == 1)
			RL_ASSERT(payload($) == 1);
	}

	void thread(unsigned index)
	{
		if (index == 0)
			writer();
		else
			waiter();
	}

	void after()
	{
		RL_ASSERT(!sleeps || wakes);
	}
};

int main()
{
	static const row rows[] = {
	    {"", "pass", run<parking>},
	    {"BREAK_COUNT", "assert", run<parking>},
	    {"BREAK_WRITE", "assert", run<parking>},
	    {"BREAK_LOOK", "assert", run<parking>},
	    {"BREAK_ORDER", "assert", run<parking>},
	};

	return run_all(rows);
}
