/* SPDX-License-Identifier: BSD-3-Clause */
/* pawl-tune: the thresholds of a lock for a machine and a workload, found in
 * simulation. */
#include "tune.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 64 };

static struct settings set;
static struct machine machine;
static struct tune tune;

void settings_help(FILE *out)
{
	fputs("Usage: pawl-tune MACHINE WORKLOAD [OPTION]...\n"
	      "Search, in simulation, the thresholds with which a lock does best, and print\n"
	      "the options to set. MACHINE and WORKLOAD are those of pawl-sim --list.\n"
	      "\n"
	      "  --lock=NAME            the lock (default: rma-rw)\n"
	      "  --goal=throughput|p99|slowest\n"
	      "                         most acquires a second (default), the shortest 99th\n"
	      "                         percentile of latency, or the best slowest rank\n"
	      "  --fairness=F           Jain's index has to be at least this, 0 to 1 (default: 0)\n"
	      "  --machines, --ranks, --fw, --locks, --zipf, --active, --active-on, -o, --option,\n"
	      "  --iterations, --seconds, --seed\n"
	      "                         as for pawl-sim; options given by -o are tried as well\n"
	      "  -h, --help             this text\n"
	      "  --version              the version\n"
	      "\n"
	      "Exit status: 0 all well; 1 the lock failed; 2 wrong options.\n",
	      out);
}

static int refuse(const char *what)
{
	fprintf(stderr, "pawl-tune: %s\n", what);
	return BENCH_USAGE;
}

/* ---------------------------------------------------------------- command line */

static const char *value_of(const char *argument, const char *option)
{
	size_t len = strlen(option);

	return strncmp(argument, option, len) == 0 && argument[len] == '=' ? argument + len + 1
									   : NULL;
}

static bool set_goal(const char *text, char *err, size_t errlen)
{
	static const char *const names[] = {"throughput", "p99", "slowest"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		tune.goal = (enum tune_goal)i;
		return true;
	}
	snprintf(err, errlen, "--goal: \"%s\" is not one of: throughput, p99, slowest", text);
	return false;
}

static bool set_floor(const char *text, char *err, size_t errlen)
{
	char *end;

	tune.floor = strtod(text, &end);
	if (end != text && !*end && tune.floor >= 0 && tune.floor <= 1)
		return true;
	snprintf(err, errlen, "--fairness: \"%s\" is not a number from 0 to 1", text);
	return false;
}

/* Our own options, and the rest for settings_parse(). */
static bool parse(int argc, char **argv, char *err, size_t errlen)
{
	static char machine_option[512], bench_option[128];
	char *rest[MAX_ARGUMENTS];
	int n = 0, places = 0;

	rest[n++] = argv[0];
	for (int i = 1; i < argc && n < MAX_ARGUMENTS - 1; i++) {
		const char *goal = value_of(argv[i], "--goal");
		const char *floor = value_of(argv[i], "--fairness");

		if (goal && !set_goal(goal, err, errlen))
			return false;
		if (floor && !set_floor(floor, err, errlen))
			return false;
		if (goal || floor)
			continue;
		if (argv[i][0] != '-' && places == 0) {
			places++;
			snprintf(machine_option, sizeof machine_option, "--machine=%s", argv[i]);
			rest[n++] = machine_option;
		} else if (argv[i][0] != '-' && places == 1 && strcmp(argv[i - 1], "-o") != 0) {
			places++;
			snprintf(bench_option, sizeof bench_option, "--bench=%s", argv[i]);
			rest[n++] = bench_option;
		} else {
			rest[n++] = argv[i];
		}
	}
	rest[n] = NULL;
	if (!settings_parse(&set, n, rest, true, err, errlen))
		return false;
	if (set.help || set.version || places == 2)
		return true;
	snprintf(err, errlen, "MACHINE and WORKLOAD are needed; see --help");
	return false;
}

static const struct contestant *find_lock(void)
{
	const char *name = set.locks ? set.locks : "rma-rw";
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

static int report(void)
{
	char text[TUNE_KNOBS][TUNE_TEXT];
	int n = tune_options(&tune, text);

	print_outcome("defaults", &tune.defaults);
	print_outcome("found", &tune.best);
	printf("after %d runs; to set:\n", tune.runs);
	for (int i = 0; i < n; i++)
		printf("  -o %s\n", text[i]);
	if (tune_score(&tune, &tune.best) < 1e-9)
		printf("no setting has the fairness of %g that was asked for\n", tune.floor);
	return BENCH_OK;
}

int main(int argc, char **argv)
{
	char error[1200] = "";

	if (!parse(argc, argv, error, sizeof error))
		return refuse(error);
	if (set.help) {
		settings_help(stdout);
		return BENCH_OK;
	}
	if (set.version) {
		printf("pawl-tune (Pawl) %s\n", pawl_version());
		return BENCH_OK;
	}
	if (!sim_open_machine(&set, &machine, error, sizeof error))
		return refuse(error);
	tune.set = &set;
	tune.machine = &machine;
	tune.ranks = set.ranks ? set.ranks : machine.ranks;
	tune.who = find_lock();
	tune.what = workload_find(set.benches, strlen(set.benches));
	if (!tune.who || !tune.what)
		return refuse("--lock and WORKLOAD: one name each; see pawl-sim --list");
	if (tune.what->by_itself && set.seconds > 0)
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
