/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The claim of a slot by threads of one process: a thread takes the owner word of a claim by a
 * compare-and-swap with acquire order, and gives it back by a store with release order; in between
 * it writes the lock for which it has claimed the slot. Each thread claims the slot when it can,
 * writes a plain field of it, and gives it back. A search for the locks that a thread holds finds
 * the slot only in between.
 *
 *   BREAK_TAKE   the claim is taken with a relaxed swap
 *   BREAK_GIVE   it is given back with a relaxed store
 */
#include "weak.hpp"

enum { NO_LOCK = 0 };

struct slots : rl::test_suite<slots, 2> {
	rl::atomic<int> owner, lock;
	rl::var<int> field;

	void before()
	{
		owner.store(0, RELAXED);
		lock.store(NO_LOCK, RELAXED);
		field($) = 0;
	}

	/* Whether this thread has the slot for this lock: never, if it has not claimed it. */
	bool is_of(int me, int which)
	{
		return owner.load(PEEK) == me && lock.load(RELAXED) == which;
	}

	void thread(unsigned index)
	{
		int me = (int)index + 1, nobody = 0;

		RL_ASSERT(!is_of(me, me));
		if (!owner.compare_exchange_strong(nobody, me, PEEK_UNLESS("BREAK_TAKE")))
			return;
		lock.store(me, RELAXED);
		field($) = field($) + 1;
		RL_ASSERT(is_of(me, me));
		lock.store(NO_LOCK, RELAXED);
		owner.store(0, POKE_UNLESS("BREAK_GIVE"));
	}
};

int main()
{
	static const row rows[] = {
	    {"", "pass", run<slots>},
	    {"BREAK_TAKE", "race", run<slots>},
	    {"BREAK_GIVE", "race", run<slots>},
	};

	return run_all(rows);
}
