/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a run of the simulator is steady. */
#include "benchmarks/sim/steady.h"

#include <string.h>

#include "tests/tap.h"

static char why[STEADY_TEXT];

static bool steady(double halves, uint64_t acquires, uint64_t exclusive, double wanted)
{
	return steady_is(halves, acquires, exclusive, wanted, why, sizeof why);
}

/* The halves of a run of that many acquires, 1 us apart, which is later so many times as quick. */
static double halves_of(int acquires, int quicker)
{
	struct steady s = {.count = 0};
	sim_time now = 0;

	for (int i = 0; i < acquires; i++) {
		now += SIM_US / (i < acquires / (1 + quicker) ? 1 : (sim_time)quicker);
		steady_count(&s, now);
	}
	return steady_halves(&s, 0, now);
}

int main(void)
{
	for (int n = 100; n <= 1000000; n *= 10) {
		double same = halves_of(n, 1), double_rate = halves_of(n, 2);

		ok(same > 0.97 && same < 1.03, "%d acquires at one rate: halves %.3f", n, same);
		ok(double_rate > 1.9 && double_rate < 2.1, "%d, then twice as quick: %.3f", n,
		   double_rate);
	}
	ok(steady(1.04, 100000, 5000, 0.05) && !why[0], "steady");
	ok(!steady(0.8, 100000, 5000, 0.05) && strstr(why, "second half 0.8"), "halves: %s", why);
	ok(!steady(1, 100000, 4000, 0.05) && strstr(why, "4 % exclusive"), "writers: %s", why);
	ok(steady(1, 100000, 100000, 1) && steady(1, 100000, 0, 0), "one mode only");
	ok(steady(0.9, 1000, 60, 0.05), "chance");
	return tap_plan();
}
