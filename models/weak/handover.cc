/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hand-over of an MCS queue on one node (src/lock/mcs/mcs.h, guarantees (A) to (E)), each client
 * a thread that acquires the lock, once or twice, and adds to a plain variable.
 *
 *   TIMED          a waiter may abandon its place; its node is used again when it was passed over
 *   BREAK_GRANT    the grant is a relaxed store
 *   BREAK_WAIT     the waiter looks for its grant with relaxed loads
 *   BREAK_EMPTY    the swap that leaves the queue empty is relaxed
 *   BREAK_PASSED   the mark is written before the look for the node's successor
 */
#include "weak.hpp"

enum { WAIT = 0, GO = 1, ABANDONED = -1, PASSED = -2 };

template <int CLIENTS> struct handover : rl::test_suite<handover<CLIENTS>, CLIENTS> {
	rl::atomic<int> tail, next[CLIENTS + 1], status[CLIENTS + 1];
	rl::var<int> data;
	int entered; /* ghost: how often the lock was acquired */

	void before()
	{
		tail.store(0, RELAXED);
		for (int i = 1; i <= CLIENTS; i++) {
			next[i].store(0, RELAXED);
			status[i].store(GO, RELAXED);
		}
		data($) = 0;
		entered = 0;
	}

	/* R3 */
	int await_link(int of)
	{
		rl::linear_backoff b;
		int succ;

		while (!(succ = next[of].load(SEQ_CST)))
			b.yield($);
		return succ;
	}

	/* A1 to A5; false: the place is abandoned. */
	bool acquire(int me)
	{
		rl::linear_backoff b;
		int pred, got;

		next[me].store(0, POKE);
		status[me].store(WAIT, POKE);
		pred = tail.exchange(me, SEQ_CST);
		if (!pred)
			return true;
		next[pred].store(me, SEQ_CST);
		while ((got = status[me].load(UNLESS("BREAK_WAIT", relaxed))) == WAIT) {
			if (has("TIMED") && rl::rand(2)) {
				got = WAIT;
				return !status[me].compare_exchange_strong(got, ABANDONED, SEQ_CST);
			}
			b.yield($);
		}
		return true;
	}

	/* S1 and S2 */
	int behind(int id)
	{
		int succ = next[id].load(SEQ_CST), last = id;

		if (succ || tail.compare_exchange_strong(last, 0, SEQ_CST))
			return succ;
		return await_link(id);
	}

	/* R4 */
	void hand_over(int succ)
	{
		if (!has("TIMED")) {
			status[succ].store(GO, UNLESS("BREAK_GRANT", relaxed));
			return;
		}
		while (succ && status[succ].exchange(GO, SEQ_CST) != WAIT) {
			int id = succ;

			if (has("BREAK_PASSED"))
				status[id].store(PASSED, SEQ_CST);
			succ = behind(id);
			status[id].store(PASSED, SEQ_CST);
		}
	}

	/* R1 to R4 */
	void release(int me)
	{
		int succ = next[me].load(PEEK), last = me;

		if (!succ) {
			if (tail.compare_exchange_strong(last, 0, UNLESS("BREAK_EMPTY", relaxed)))
				return;
			succ = await_link(me);
		}
		hand_over(succ);
	}

	void thread(unsigned index)
	{
		int me = (int)index + 1;

		for (int i = 0; i < (has("TWICE") ? 2 : 1); i++) {
			rl::linear_backoff b;

			if (acquire(me)) {
				data($) = data($) + 1;
				entered++;
				release(me);
				continue;
			}
			while (status[me].load(PEEK) != PASSED)
				b.yield($);
		}
	}

	void after()
	{
		RL_ASSERT(data($) == entered);
		RL_ASSERT(tail.load(RELAXED) == 0);
	}
};

int main()
{
	static const row rows[] = {
	    {"", "pass", run<handover<2>>},
	    {"TWICE", "pass", run<handover<2>>},
	    {"", "pass", run<handover<3>>},
	    {"TIMED TWICE", "pass", run<handover<2>>},
	    {"BREAK_GRANT", "race", run<handover<2>>},
	    {"BREAK_WAIT", "race", run<handover<2>>},
	    {"BREAK_EMPTY", "race", run<handover<2>>},
	    {"TIMED TWICE BREAK_PASSED", "deadlock", run<handover<2>>},
	};

	return run_all(rows);
}
