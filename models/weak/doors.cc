/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two clients sleep on words of a segment that a service thread writes: ucx_sleep() and the
 * thread's look at the doors in src/rma/ucx/serve.c. One of them takes a door (word, value)
 * that another left, so the thread may find a value in it that belongs to the one before, and
 * wakes nobody if the word has just become that value.
 *
 * What must not be: a client sleeps on the old value, and the thread does not wake it.
 *
 *   BREAK_FENCE   no fence between the words and the look at the doors
 *   BREAK_VALUE   the value of a door is put after the kernel's look
 */
#include "weak.hpp"

enum { OLD = 1, NEW = 2 };

struct doors : rl::test_suite<doors, 2> {
	rl::atomic<int> word, sleepers, door_word, door_value;
	bool sleeps, wakes;

	void before()
	{
		word.store(OLD, RELAXED);
		sleepers.store(1, RELAXED); /* another client is asleep at another door */
		door_word.store(0, RELAXED);
		door_value.store(NEW, RELAXED);
		sleeps = wakes = false;
	}

	/* The thread: an operation of another rank's has come. */
	void server()
	{
		word.store(NEW, SEQ_CST);
		if (!has("BREAK_FENCE"))
			rl::atomic_thread_fence(SEQ_CST);
		if (!sleepers.load(RELAXED) || !door_word.load(SEQ_CST))
			return;
		wakes = word.load(SEQ_CST) != door_value.load(SEQ_CST);
	}

	void kernel_looks()
	{
		rl::atomic_thread_fence(SEQ_CST);
		sleeps = word.load(RELAXED) == OLD;
	}

	void client()
	{
		int nobody = 0;

		door_word.compare_exchange_strong(nobody, 1, SEQ_CST);
		if (!has("BREAK_VALUE"))
			door_value.store(OLD, SEQ_CST);
		sleepers.fetch_add(1, SEQ_CST);
		kernel_looks();
		if (has("BREAK_VALUE"))
			door_value.store(OLD, SEQ_CST);
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
	    {"", "pass", run<doors>},
	    {"BREAK_FENCE", "assert", run<doors>},
	    {"BREAK_VALUE", "assert", run<doors>},
	};

	return run_all(rows);
}
