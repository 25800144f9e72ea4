/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader that counts itself in and looks at the gate, against a writer that closes the gate and
 * looks at the counter (src/lock/tree/readers_gate.c, guarantee (A)). The same pattern as in
 * citron's tree, where a client announces itself and then looks at the nodes above, and as in
 * shiftlock's and rma-rw's tickets.
 *
 *   BREAK_COUNT   the reader counts itself in with acquire and release order
 *   BREAK_GATE    its look at the gate has acquire order
 *   BREAK_CLOSE   the writer closes the gate with release order
 *   BREAK_DRAIN   its look at the counter has acquire order
 *   BREAK_LEAVE   the reader subtracts itself with a relaxed atomic
 */
#include "weak.hpp"

struct gate : rl::test_suite<gate, 2> {
	rl::atomic<int> closed, readers;
	rl::var<int> data;

	void before()
	{
		closed.store(0, RELAXED);
		readers.store(0, RELAXED);
		data($) = 0;
	}

	void reader()
	{
		int seen;

		readers.fetch_add(1, UNLESS("BREAK_COUNT", acq_rel));
		if (!closed.load(UNLESS("BREAK_GATE", acquire))) {
			seen = data($);
			RL_ASSERT(seen == 0 || seen == 1);
		}
		readers.fetch_sub(1, UNLESS("BREAK_LEAVE", relaxed));
	}

	void writer()
	{
		rl::linear_backoff b;

		closed.store(1, UNLESS("BREAK_CLOSE", release));
		while (readers.load(UNLESS("BREAK_DRAIN", acquire)))
			b.yield($);
		data($) = 1;
		closed.store(0, SEQ_CST);
	}

	void thread(unsigned index)
	{
		if (index == 0)
			reader();
		else
			writer();
	}
};

int main()
{
	static const row rows[] = {
	    {"", "pass", run<gate>},
	    {"BREAK_COUNT", "race", run<gate>},
	    {"BREAK_GATE", "race", run<gate>},
	    {"BREAK_CLOSE", "race", run<gate>},
	    {"BREAK_DRAIN", "race", run<gate>},
	    {"BREAK_LEAVE", "race", run<gate>},
	};

	return run_all(rows);
}
