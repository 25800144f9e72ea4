/* SPDX-License-Identifier: BSD-3-Clause */
/* pawl-tune: searches, in simulation, the thresholds of a lock for a machine and a workload, and
 * says which other kind is faster. */
#include "tune.h"

#include <string.h>

static struct settings set;
static struct machine machine;
static struct tune tune;

static void print_help(void)
{
	printf("Usage: pawl-tune MACHINE WORKLOAD [OPTION]...\n"
	       "Search, in simulation, for the thresholds with which a lock performs best, and\n"
	       "print the options to set, and which other kinds perform better by more than\n"
	       "10 %%. MACHINE and WORKLOAD are those of pawl-sim --list.\n");
	settings_help(stdout, FOR_TUNE);
	printf("\nOptions given by -o are the starting point of the search.\n"
	       "Exit status: 0 success; 1 the lock failed; 2 wrong options.\n");
}

static int refuse(const char *what)
{
	fprintf(stderr, "pawl-tune: %s\n", what);
	return BENCH_USAGE;
}

static const struct contestant *find_lock(void)
{
	const char *name = set.locks ? set.locks : "adaptive";
	const struct contestant *c;

	for (int i = 0; (c = contestant_get(i)); i++)
		if (strcmp(c->name, name) == 0 && c->kind)
			return c;
	return NULL;
}

/* --------------------------------------------------------------------- results */

static void print_outcome(const char *name, const struct outcome *o)
{
	printf("%-10s %.4g acquires/s, p99 %.4g us, fairness %.3f, slowest rank %.4g/s\n", name,
	       o->throughput, o->p99 / 1000, o->fairness, o->slowest);
}

/* What is worth telling. */
enum { MUCH_PERCENT = 10 };

static void print_gains(void)
{
	double own = tune_gain(&tune, &tune.defaults, &tune.best);
	int told = 0;

	if (own > MUCH_PERCENT)
		printf("these options gain %.0f %%\n", own);
	for (int i = 0; i < tune.others; i++) {
		double gain = tune_gain(&tune, &tune.best, &tune.other[i].outcome);

		if (gain <= MUCH_PERCENT)
			continue;
		printf("another kind gains %.0f %% more: %s\n", gain, tune.other[i].name);
		told++;
	}
	if (!told)
		printf("no other kind, with its defaults, gains %d %% more\n", MUCH_PERCENT);
}

static int report(void)
{
	char text[TUNE_KNOBS][TUNE_TEXT];
	int n = tune_options(&tune, text);

	print_outcome(set.lock_options ? "given" : "defaults", &tune.defaults);
	if (!tune.found) {
		printf("after %d runs: the %s are best\n", tune.runs,
		       set.lock_options ? "options given" : "defaults");
		n = 0;
	} else {
		print_outcome("found", &tune.best);
		printf("after %d runs; to set:\n", tune.runs);
	}
	for (int i = 0; i < n; i++)
		printf("  -o %s\n", text[i]);
	if (tune_score(&tune, &tune.best) < 1e-9)
		printf("no setting has the fairness of %g\n", tune.floor);
	print_gains();
	return BENCH_OK;
}

int main(int argc, char **argv)
{
	char error[1200] = "";

	if (!settings_parse(&set, FOR_TUNE, argc, argv))
		return refuse(cli_error());
	if (set.help) {
		print_help();
		return BENCH_OK;
	}
	if (set.version) {
		printf("pawl-tune (Pawl) %s\n", pawl_version());
		return BENCH_OK;
	}
	if (!set.machine || !set.benches)
		return refuse("MACHINE and WORKLOAD are needed; see --help");
	settings_notes(&set, stderr);
	tune.goal = (enum tune_goal)set.goal;
	tune.floor = set.fairness;
	if (!sim_open_machine(&set, &machine, error, sizeof error))
		return refuse(error);
	tune.set = &set;
	tune.machine = &machine;
	tune.ranks = set.ranks ? set.ranks : machine.ranks;
	tune.contestant = find_lock();
	tune.workload = workload_find(set.benches, strlen(set.benches));
	if (!tune.contestant || !tune.workload)
		return refuse("--lock and WORKLOAD: one name each; see pawl-sim --list");
	if (workload_is(tune.workload, W_BY_ITSELF) && set.seconds > 0)
		return refuse(
		    "--seconds: the hash table is sized by turns; accepted: --iterations");
	if (!tune_begin(&tune))
		return refuse(tune.error);
	engine_run(tune_search, &tune);
	if (tune.error[0]) {
		fprintf(stderr, "pawl-tune: %s\n", tune.error);
		return BENCH_VIOLATION;
	}
	return report();
}
