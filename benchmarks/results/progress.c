/* SPDX-License-Identifier: BSD-3-Clause */
/* --progress: what is running, and how much is left. */
#include <math.h>
#include <unistd.h>

#include "benchmarks/harness/bench.h"

/* "about 40 s left", as soon as that can be estimated. */
static void tell_rest(const struct progress *p, uint64_t now)
{
	enum { FEW = 2 };
	double spent = (double)(now - p->since_ns) * 1e-9;

	if (p->done >= FEW)
		fprintf(stderr, ", about %.0f s left",
			ceil(spent / p->done * (p->total - p->done)));
}

/* On a terminal one line, which changes. */
static void draw_progress(const struct progress *p, uint64_t now)
{
	fprintf(stderr, "\r\033[K");
	if (p->done < p->total) {
		fprintf(stderr, "%s: %d of %d: %s", p->workload, p->done + !p->ended, p->total,
			p->contestant);
		tell_rest(p, now);
	}
	fflush(stderr);
}

/* Elsewhere, as under most launchers, a line when a lock has had all its repetitions, and every
 * LINE_NS; none in the first LINE_NS. */
static void print_progress(struct progress *p, uint64_t now)
{
	const uint64_t LINE_NS = 5000000000;
	bool due = now - p->said_ns >= LINE_NS;

	if (now - p->since_ns < LINE_NS || !(due || p->ended) || p->done == p->total)
		return;
	p->said_ns = now;
	fprintf(stderr, "%s: %s: %d of %d", p->program, p->workload, p->done, p->total);
	tell_rest(p, now);
	fprintf(stderr, p->ended ? "; %s has ended\n" : "; now %s\n", p->contestant);
	fflush(stderr);
}

void progress_report(const struct settings *s, struct progress *p)
{
	uint64_t now = clock_ns();

	if (s->progress == NEVER)
		return;
	if (!p->since_ns)
		p->since_ns = p->said_ns = now;
	if (s->progress == ALWAYS || isatty(STDERR_FILENO))
		draw_progress(p, now);
	else
		print_progress(p, now);
}
