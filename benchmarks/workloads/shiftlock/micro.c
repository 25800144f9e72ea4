/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MICRO: the microbenchmark of the ShiftLock paper (FAST'25), section 4.2: acquire one
 * of many locks, release it at once. Its mixtures are --fw=50 (write-intensive), 5
 * (read-intensive) and 0 (read-only), its skews --zipf=0 and 0.99.
 *
 * In the samples acquire and release are timed separately, by mode, as in Tables 3 and 4
 * (section 4.6). The statistics of the table tell whether the acquire had to wait for a word; they
 * are exact, because one thread a rank uses the table.
 *
 * With --fail=P a client forgets the lock with probability P in place of a release, as in
 * section 4.8; acquires are counted in TIMELINE parts of the time.
 */
#include "benchmarks/harness/bench.h"

static inline void acquire(struct trial *t, struct pick p)
{
	if (trial_refused(pawl_lock_acquire(t->table, p.lock, p.mode)))
		trial_abort(t, "acquire");
}

/* Release the lock, or forget it. */
static inline void leave(struct trial *t, struct pick p)
{
	if (t->failures && (uint32_t)(random_next(&t->random) >> 32) < t->failures) {
		if (pawl_lock_abandon(t->table, p.lock) != PAWL_SUCCESS)
			trial_abort(t, "abandon");
		t->abandoned++;
		return;
	}
	trial_release(t, p.lock);
}

static inline void cycle(struct trial *t)
{
	struct pick p = trial_pick(t);

	acquire(t, p);
	pace_inside(t);
	leave(t, p);
	t->exclusive += p.mode == PAWL_EXCLUSIVE;
	pace_after(t);
}

static uint64_t waits(const struct trial *t)
{
	struct pawl_stats s;

	pawl_table_get_stats(t->table, &s);
	return s.waits;
}

static uint64_t span(const struct trial *t, uint64_t from, uint64_t to)
{
	return to - from > t->clock_cost ? to - from - t->clock_cost : 0;
}

static void timed_cycle(struct trial *t)
{
	struct pick p = trial_pick(t);
	uint64_t before = waits(t), start, in, out, back, took;

	start = ticks();
	acquire(t, p);
	in = ticks();
	took = span(t, start, in);
	times_add(&t->series[p.mode == PAWL_EXCLUSIVE ? MICRO_WRITER : MICRO_READER], took);
	if (waits(t) != before)
		times_add(&t->series[MICRO_WAITED], took);
	pace_inside(t);
	out = ticks();
	leave(t, p);
	back = ticks();
	times_add(&t->series[MICRO_RELEASE], span(t, out, back));
	times_add(&t->hist, took + span(t, out, back));
	t->exclusive += p.mode == PAWL_EXCLUSIVE;
	pace_after(t);
}

/* The current part of the time; a run without an end has no parts. */
static void count_now(struct trial *t, uint64_t since, uint64_t acquires)
{
	if (t->ticks != UINT64_MAX)
		t->timeline[(uint64_t)((unsigned __int128)since * TIMELINE / t->ticks)] += acquires;
}

void micro_run(struct trial *t)
{
	const uint64_t start = ticks(), limit = t->limit;
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < limit) {
		uint64_t more = limit - done < t->stride ? limit - done : t->stride;

		timed_cycle(t);
		for (uint64_t i = 1; i < more; i++)
			cycle(t);
		done += more;
		count_now(t, now - start, more);
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}
