/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leaders of ALock's two cohorts (src/lock/alock/alock.c, guarantees (A), (B) and (D), steps P1 to
 * P3), with the memory orders of a lock's words at their home. A thread of the MPI or of Pawl
 * performs the remote leader's operations there, one after the other, because there is a flush
 * between any two that must not be reordered. So each is a sequentially consistent atomic, like the
 * local leader's. (Exclusion does not depend on the order of the victim's put alone: the model holds
 * with a weaker one, too.)
 *
 *   BREAK_ENTER    the swap of the tail has acquire and release order
 *   BREAK_ALONE    the look at the other tail has acquire order
 *   BREAK_LOOKS    the looks at victim and tail in the wait are not ordered (no flush between
 *                    the put of the victim and them)
 */
#include "weak.hpp"

enum { TIMES = 2 };

struct cohorts : rl::test_suite<cohorts, 2> {
	rl::atomic<int> tail[2], victim;
	rl::var<int> data;

	void before()
	{
		tail[0].store(0, RELAXED);
		tail[1].store(0, RELAXED);
		victim.store(0, RELAXED);
		data($) = 0;
	}

	bool is_alone(int me)
	{
		return tail[1 - me].load(UNLESS("BREAK_ALONE", acquire)) == 0;
	}

	void await_turn(int me)
	{
		rl::linear_backoff b;

		victim.store(me + 1, SEQ_CST);
		for (;;) {
			int other = tail[1 - me].load(UNLESS("BREAK_LOOKS", acquire));

			if (other == 0 || victim.load(UNLESS("BREAK_LOOKS", acquire)) != me + 1)
				return;
			b.yield($);
		}
	}

	void thread(unsigned index)
	{
		int me = (int)index;

		for (int i = 0; i < TIMES; i++) {
			int last = 1;

			tail[me].exchange(1, UNLESS("BREAK_ENTER", acq_rel));
			if (!is_alone(me))
				await_turn(me);
			data($) = data($) + 1;
			tail[me].compare_exchange_strong(last, 0, SEQ_CST);
		}
	}

	void after()
	{
		RL_ASSERT(data($) == 2 * TIMES);
	}
};

int main()
{
	static const row rows[] = {
	    {"", "pass", run<cohorts>},
	    {"BREAK_ENTER", "race", run<cohorts>},
	    {"BREAK_ALONE", "race", run<cohorts>},
	    {"BREAK_LOOKS", "race", run<cohorts>},
	};

	return run_all(rows);
}
