/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An optimistic reader on the node against an exclusive client (src/lock/declock/declock.c,
 * guarantee (H)). The lock word has WRITERS in its lowest bit and VERSION above it. What is read
 * are two relaxed atomics, which the exclusive client changes together. The atomics on the lock word
 * are weaker here than those of rma.h: a seq_cst load returns the newest value in Relacy, which
 * would hide that a processor may perform earlier loads after it.
 *
 *   BREAK_ENTER   the exclusive client has no fence behind the atomic by which it enters (A4)
 *   BREAK_LEAVE   it leaves by a relaxed atomic
 *   BREAK_BEGIN   the first look is relaxed
 *   BREAK_END     the reader has no fence before the second look (L2)
 */
#include "weak.hpp"

enum { WRITER = 1, VERSION = 2 };

struct optimistic : rl::test_suite<optimistic, 2> {
	rl::atomic<int> header, first, second;

	void before()
	{
		header.store(0, RELAXED);
		first.store(0, RELAXED);
		second.store(0, RELAXED);
	}

	void writer()
	{
		header.fetch_add(WRITER, rl::mo_acq_rel, $);
		if (!has("BREAK_ENTER"))
			rl::atomic_thread_fence(rl::mo_release, $);
		first.store(1, RELAXED);
		second.store(1, RELAXED);
		header.fetch_add(VERSION - WRITER,
				 has("BREAK_LEAVE") ? rl::mo_relaxed : rl::mo_acq_rel, $);
	}

	void reader()
	{
		int seen = header.load(PEEK_UNLESS("BREAK_BEGIN")), a, b;

		if (seen & WRITER)
			return;
		a = first.load(RELAXED);
		b = second.load(RELAXED);
		if (!has("BREAK_END"))
			rl::atomic_thread_fence(rl::mo_acquire, $);
		if (header.load(PEEK) == seen) {
			RL_ASSERT(a == b);
			RL_ASSERT(a == seen / VERSION);
		}
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
	    {"", "pass", run<optimistic>},
	    {"BREAK_ENTER", "assert", run<optimistic>},
	    {"BREAK_LEAVE", "assert", run<optimistic>},
	    {"BREAK_BEGIN", "assert", run<optimistic>},
	    {"BREAK_END", "assert", run<optimistic>},
	};

	return run_all(rows);
}
