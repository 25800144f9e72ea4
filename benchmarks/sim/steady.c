/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a run of the simulator is steady. */
#include "benchmarks/sim/steady.h"

#include <math.h>
#include <stdio.h>

static const double within = 0.05, standard_errors = 3;

void steady_count(struct steady *s, sim_time now)
{
	if (++s->count & s->mask)
		return;
	if (s->marks == STEADY_MARKS) { /* keep every second one */
		for (int i = 0; i < STEADY_MARKS / 2; i++)
			s->mark[i] = s->mark[2 * i + 1];
		s->marks = STEADY_MARKS / 2;
		s->mask = 2 * s->mask + 1;
		if (s->count & s->mask)
			return;
	}
	s->mark[s->marks++] = now;
}

double steady_halves(const struct steady *s, sim_time start, sim_time end)
{
	int first = 0;

	while (first < s->marks && s->mark[first] - start <= (end - start) / 2)
		first++;
	return first ? (double)(s->marks - first) / first : 0;
}

static bool is_near(double value, double wanted, double error)
{
	return fabs(value - wanted) <= fmax(within * wanted, standard_errors * error);
}

bool steady_is(double halves, uint64_t acquires, uint64_t exclusive, double wanted, char *why,
	       size_t whylen)
{
	double n = acquires ? (double)acquires : 1, share = (double)exclusive / n;

	why[0] = '\0';
	if (!is_near(halves, 1, 2 / sqrt(n)))
		snprintf(why, whylen, "second half %.3g of the first", halves);
	else if (wanted > 0 && wanted < 1 &&
		 !is_near(share, wanted, sqrt(wanted * (1 - wanted) / n)))
		snprintf(why, whylen, "%.3g %% exclusive, not %.3g %%", 100 * share, 100 * wanted);
	return !why[0];
}
