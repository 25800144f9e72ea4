/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pawl-sim: Pawl's locks in virtual time, on a machine that a file describes. The protocols are
 * those of the library; each operation takes the time in the file. The same command gives the same
 * figures on every machine.
 */
#include "sim_bench.h"

#include <stdlib.h>

enum { MAX_CONTESTANTS = 80 };

static struct settings set;
static struct machine machine;
static int status = BENCH_OK, ranks;

/* ------------------------------------------------------------------------- runs */

static void run_one(struct result *r, int repetition)
{
	static struct sim_run run;
	struct settings again = settings_for(&set, r->workload);
	char why[400] = "";
	int rc;

	again.seed += (uint64_t)repetition * 1000003;
	run = (struct sim_run){.set = &again,
			       .contestant = r->contestant,
			       .workload = r->workload,
			       .machine = &machine,
			       .ranks = ranks};
	rc = sim_run(&run, r, &r->outcome[repetition], why, sizeof why);
	if (rc == BENCH_OK)
		return;
	snprintf(r->skipped, sizeof r->skipped, "%s", why);
	if (rc == BENCH_USAGE && !set.locks)
		return;
	fprintf(stderr, "pawl-sim: %s, %s: %s\n", r->contestant->name, r->workload->name, why);
	status = rc;
}

static void run_repetitions(struct result *r, struct progress *p)
{
	p->contestant = r->contestant->name;
	for (int k = 0; k < set.repetitions; k++) {
		p->ended = false;
		progress_report(&set, p);
		if (r->outcome && !r->skipped[0])
			run_one(r, k);
		p->done++;
		p->ended = k == set.repetitions - 1;
		progress_report(&set, p);
	}
}

static bool run_workload(const struct workload *w, FILE *json)
{
	static struct result results[MAX_CONTESTANTS];
	const struct settings s = settings_for(&set, w);
	struct progress p = {.program = "pawl-sim", .workload = w->name};
	const struct contestant *c;
	int count = 0;

	for (int i = 0; (c = contestant_get(i)); i++)
		p.total += contestant_plays(c, w, &s) ? set.repetitions : 0;
	for (int i = 0; (c = contestant_get(i)) && count < MAX_CONTESTANTS; i++) {
		struct result *r = &results[count];

		if (!contestant_plays(c, w, &s))
			continue;
		count++;
		*r = (struct result){
		    .contestant = c,
		    .workload = w,
		    .ranks = ranks,
		    .nodes = 1,
		    .active = ranks,
		    .repetitions = set.repetitions,
		    .fw = s.fw,
		    .n = s.n,
		    .outcome = calloc((size_t)set.repetitions, sizeof(struct outcome)),
		};
		run_repetitions(r, &p);
		if (json)
			report_json(json, &s, r);
	}
	if (count && (!set.json || set.json_file))
		report_table(&s, results, count);
	if (!count)
		fprintf(stderr, "pawl-sim: none of the locks takes part in %s\n", w->name);
	for (int i = 0; i < count; i++)
		free(results[i].outcome);
	return count > 0;
}

static void run_all(void *arg)
{
	const char *list = settings_benches(&set);
	FILE *json = arg;
	size_t len;

	for (; (len = list_word(&list)); list += len)
		if (!run_workload(workload_find(list, len), json))
			status = BENCH_USAGE;
}

/* ------------------------------------------------------------- start and end */

static int refuse(const char *what)
{
	fprintf(stderr, "pawl-sim: %s\n", what);
	return BENCH_USAGE;
}

static void print_help(void)
{
	printf(
	    "Usage: pawl-sim --machine=NAME [OPTION]...\n"
	    "Run Pawl's locks in virtual time, with any number of ranks, on a machine that a file\n"
	    "describes. The protocols are those of the library.\n");
	settings_help(stdout, FOR_SIM);
	printf(
	    "\nExit status: 0 success; 1 mutual exclusion was violated; 2 wrong options; 3 ranks\n"
	    "wait for ever.\n");
}

int main(int argc, char **argv)
{
	char error[1200] = "";
	FILE *json = NULL;

	if (!settings_parse(&set, FOR_SIM, argc, argv))
		return refuse(cli_error());
	if (set.help) {
		print_help();
		return BENCH_OK;
	}
	if (set.version) {
		printf("pawl-sim (Pawl) %s\n", pawl_version());
		return BENCH_OK;
	}
	if (set.list) {
		report_list(stdout);
		return sim_list_machines(&set, stdout)
			   ? BENCH_OK
			   : refuse("--machines: cannot read the folder");
	}
	options_warn(stderr, NULL, MPI_INFO_NULL);
	settings_notes(&set, stderr);
	if (!sim_open_machine(&set, &machine, error, sizeof error))
		return refuse(error);
	ranks = set.ranks ? set.ranks : machine.ranks;
	if (set.active > ranks)
		return refuse("--active: more than --ranks has");
	if (set.seconds > 0 && list_has(set.benches, "dht"))
		return refuse(
		    "--seconds: the hash table is sized by turns; accepted: --iterations");
	if (set.trace && !sim_recorder_begin_file(set.trace))
		return refuse("--trace: cannot write that file");
	if (set.json)
		json = set.json_file ? fopen(set.json_file, "w") : stdout;
	if (set.json && !json)
		return refuse("--json: cannot write that file");
	switch (engine_run(run_all, json)) {
	case 0:
		break;
	case 2:
		return refuse("--platform: accepted: a platform of SimGrid");
	default:
		status = BENCH_HANG;
	}
	if (json && json != stdout && fclose(json) != 0)
		return refuse("--json: cannot write that file");
	return status;
}
