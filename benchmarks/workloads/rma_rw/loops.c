/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The workloads of the RMA-RW paper (HPDC'16), section 5:
 *   LB    latency of acquire and release
 *   ECSB  throughput with an empty critical section
 *   SOB   one memory access in the critical section; OSOB: the same, where readers do not acquire
 *         the lock (pawl_lock_read_begin())
 *   WCSB  increment of a shared counter, then 1 to 4 us of work
 *   WARB  1 to 4 us of work after the release
 * and a workload of our own: in "turns" each holder looks which rank held the lock before, so it
 * counts how often the holder changes.
 *
 * One loop serves all of them; it is compiled once for each. Where acquires are
 * short, one in "stride" is timed, and the end of the run is checked at the same time, so
 * that reading the clock costs little. The latency is that of acquire and release, without
 * the critical section. In LB a sample is the mean of "stride" in a row, because a clock of
 * 10 ns cannot tell locks of 10 ns apart.
 */
#include <stdatomic.h>

#include "benchmarks/harness/bench.h"

enum work { NOTHING, ROW, TOUCH, TURN, COUNT_AND_SPIN, SPIN_AFTER, READ };

/* The section of a reader that looks at the lock before and after it. */
static void read_optimistically(struct trial *t, struct pick p)
{
	pawl_read read = PAWL_READ_INIT;
	int rc;

	do {
		if (pawl_lock_read_begin(t->table, p.lock, &read) != PAWL_SUCCESS)
			trial_abort(t, "begin of a read");
		cells_touch(t, p);
		rc = pawl_lock_read_validate(t->table, p.lock, &read);
	} while (rc == PAWL_ERR_BUSY);
	if (rc != PAWL_SUCCESS)
		trial_abort(t, "end of a read");
}

/* One sample: the mean of many acquires since start, without the clock's own time. */
static inline void sample(struct trial *t, uint64_t start, uint64_t many)
{
	uint64_t took = ticks() - start;

	took = took > t->clock_cost ? took - t->clock_cost : 0;
	times_add(&t->hist, many > 1 ? (took + many / 2) / many : took);
}

/* 1 to 4 us. */
static void spin_a_while(struct trial *t)
{
	pace_spin(1000 + random_share(&t->random) * 3000);
}

static inline __attribute__((always_inline)) void inside(struct trial *t, struct pick p,
							 enum work work, bool paced)
{
	if (work == TOUCH || work == READ)
		cells_touch(t, p);
	if (work == TURN)
		t->turns += cells_turn(t, p);
	if (work == COUNT_AND_SPIN) {
		cells_count(t, p);
		spin_a_while(t);
	}
	if (paced)
		pace_inside(t);
}

static inline __attribute__((always_inline)) void cycle(struct trial *t, enum work work, bool paced)
{
	struct pick p = trial_pick(t);

	if (work == READ && p.mode == PAWL_SHARED) {
		read_optimistically(t, p);
		return;
	}
	if (trial_refused(pawl_lock_acquire(t->table, p.lock, p.mode)))
		trial_abort(t, "acquire");
	inside(t, p, work, paced);
	if (__builtin_expect(has_failed(pawl_lock_release(t->table, p.lock)), 0))
		trial_abort(t, "release");
	t->exclusive += p.mode == PAWL_EXCLUSIVE;
	if (work == SPIN_AFTER)
		spin_a_while(t);
	if (paced)
		pace_after(t);
}

/* The same, with the clock read. */
static inline __attribute__((always_inline)) void timed_cycle(struct trial *t, enum work work,
							      bool paced, uint64_t start)
{
	struct pick p = trial_pick(t);
	uint64_t middle, after;

	if (work == READ && p.mode == PAWL_SHARED) {
		read_optimistically(t, p);
		sample(t, start, 1);
		return;
	}
	if (trial_refused(pawl_lock_acquire(t->table, p.lock, p.mode)))
		trial_abort(t, "acquire");
	if (work == TOUCH || work == TURN || work == READ || work == COUNT_AND_SPIN || paced) {
		middle = ticks();
		inside(t, p, work, paced);
		after = ticks();
		start += after - middle;
	}
	if (has_failed(pawl_lock_release(t->table, p.lock)))
		trial_abort(t, "release");
	sample(t, start, 1);
	t->exclusive += p.mode == PAWL_EXCLUSIVE;
	if (work == SPIN_AFTER)
		spin_a_while(t);
	if (paced)
		pace_after(t);
}

static inline __attribute__((always_inline)) void loop(struct trial *t, enum work work, bool paced)
{
	const uint64_t start = ticks(), limit = t->limit;
	uint64_t now, done = 0;

	t->turns = 0;
	while ((now = ticks()) - start < t->ticks && done < limit) {
		uint64_t more = limit - done < t->stride ? limit - done : t->stride;

		if (work != ROW)
			timed_cycle(t, work, paced, now);
		for (uint64_t i = work != ROW; i < more; i++)
			cycle(t, work, paced);
		if (work == ROW)
			sample(t, now, more);
		done += more;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* The loop without pauses has no instruction for them. */
static inline __attribute__((always_inline)) void run(struct trial *t, enum work work)
{
	if (pace_is_set(&t->set->pace))
		loop(t, work, true);
	else
		loop(t, work, false);
}

void lb_run(struct trial *t)
{
	loop(t, ROW, false);
}

void ecsb_run(struct trial *t)
{
	run(t, NOTHING);
}

void sob_run(struct trial *t)
{
	run(t, TOUCH);
}

void osob_run(struct trial *t)
{
	loop(t, READ, false);
}

void wcsb_run(struct trial *t)
{
	run(t, COUNT_AND_SPIN);
}

void warb_run(struct trial *t)
{
	run(t, SPIN_AFTER);
}

void turns_run(struct trial *t)
{
	run(t, TURN);
}

void turns_close(struct trial *t)
{
	double slowest = t->elapsed_ns * 1e-9, all = (double)team_sum(t->team, t->acquires);
	double turns = (double)team_sum(t->team, t->turns);

	MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, t->team->comm);
	t->rows = 1;
	t->row[0][0] = slowest > 0 ? turns / slowest : 0;
	t->row[0][1] = turns > 0 ? all / turns : all;
}

/* --------------------------------------------------------------- raw-pair */

/* The lower bound for any lock: an exchange and a compare-exchange on one word. */
static inline void pair(_Atomic(int64_t) *word)
{
	int64_t expected = 1;

	(void)atomic_exchange_explicit(word, 1, memory_order_acquire);
	atomic_compare_exchange_strong_explicit(word, &expected, 0, memory_order_release,
						memory_order_relaxed);
}

/* The pair, with the draw and the count that cycle() has. */
static inline void picked_pair(struct trial *t, _Atomic(int64_t) *word)
{
	struct pick p = trial_pick(t);

	pair(word);
	t->exclusive += p.mode == PAWL_EXCLUSIVE;
}

void raw_pair_run(struct trial *t)
{
	_Atomic(int64_t) *word = (_Atomic(int64_t) *)(void *)&t->cells[0].raw;
	const uint64_t start = ticks(), limit = t->limit;
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < limit) {
		uint64_t more = limit - done < t->stride ? limit - done : t->stride;

		for (uint64_t i = 0; i < more; i++)
			picked_pair(t, word);
		sample(t, now, more);
		done += more;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}
