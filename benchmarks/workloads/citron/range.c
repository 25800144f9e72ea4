/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RANGE: the microbenchmark of the Citron paper (FAST'23), section 4.2 (Figures 6, 7 and
 * 9): acquire a range, release it at once. Lengths are --length, or mixed; left borders
 * follow Zipf's law (--zipf, default 0.9) on the units (--space).
 *
 * Every acquire and release is timed, separately and, by length, together: a range takes
 * longer than reading the clock. Ranges are drawn beforehand.
 */
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

enum { DRAWN = 1 << 16 };
enum { ACQUIRE, RELEASE, FIRST_SIZE };

const char *const range_series[] = {"acquire",   "release",    "length-1",
				    "length-16", "length-256", NULL};

static struct {
	struct span *drawn;
	uint32_t turn;
} range;

/* ------------------------------------------------------------------ of all of them */

bool ranges_are_broken(void)
{
	static int broken = -1;

	if (broken < 0)
		broken = getenv("TEST_BREAK") != NULL;
	return broken;
}

bool range_spaces_fit(const struct trial *t, char *why, size_t whylen)
{
	if (t->set->n == t->workload->n)
		return true;
	snprintf(why, whylen, "--locks: %s has a space for each of its files; accepted: %llu",
		 t->workload->name, (unsigned long long)t->workload->n);
	return false;
}

/* ------------------------------------------------------------------------ the loop */

void range_cycle(struct trial *t)
{
	const struct span s = range.drawn[range.turn++ % DRAWN];
	const struct pick p = trial_pick(t);
	const int size = span_size(s);
	uint64_t start = ticks(), in, out;
	pawl_range held;

	range_lock(t, p.lock, s, p.mode, &held);
	in = ticks();
	range_unlock(t, &held);
	out = ticks();
	times_add(&t->series[ACQUIRE], in - start);
	times_add(&t->series[RELEASE], out - in);
	if (size >= 0)
		times_add(&t->series[FIRST_SIZE + size], out - start);
	times_add(&t->hist, out - start);
	t->exclusive += p.mode == PAWL_EXCLUSIVE;
}

void range_run(struct trial *t)
{
	const uint64_t start = ticks();
	uint64_t now, done = 0;

	while ((now = ticks()) - start < t->ticks && done < t->limit) {
		range_cycle(t);
		done++;
	}
	t->acquires = done;
	t->elapsed_ns = (double)(now - start) / ticks_per_ns;
}

/* --------------------------------------------------------------------- set-up, end */

int range_open(struct trial *t, char *why, size_t whylen)
{
	const struct settings *s = t->set;
	uint64_t random = random_seed(s->seed + 78, t->team->rank);
	struct spans law;

	if (s->length > s->space ||
	    (s->length == 0 && span_sizes[SPAN_SIZES - 1] > (int64_t)s->space)) {
		snprintf(why, whylen,
			 "--space: %llu units are fewer than the --length; accepted: from %llu on",
			 (unsigned long long)s->space,
			 (unsigned long long)(s->length ? s->length
							: (uint64_t)span_sizes[SPAN_SIZES - 1]));
		return BENCH_USAGE;
	}
	range.drawn = malloc(sizeof *range.drawn * DRAWN);
	if (team_sum(t->team, !range.drawn)) {
		snprintf(why, whylen, "out of memory");
		range_close(t);
		return BENCH_USAGE;
	}
	spans_start(&law, (int64_t)s->space, (int64_t)s->length, s->zipf, t->client, t->active);
	for (int i = 0; i < DRAWN; i++)
		range.drawn[i] = spans_next(&law, &random);
	return BENCH_OK;
}

void range_close(struct trial *t)
{
	(void)t;
	free(range.drawn);
	memset(&range, 0, sizeof range);
}
