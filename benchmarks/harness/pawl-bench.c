/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pawl-bench: Pawl's locks compared with each other and with the MPI's own.
 *
 * Contestants take turns within one run: each repetition measures all of them, so that a
 * disturbance of the machine affects all alike. Only the public API is used.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "benchmarks/cli/cli.h"
#include "benchmarks/workloads/citron/ranges.h"

enum { MAX_CONTESTANTS = 80, MANY_LOCKS = 100000 };

static struct settings set;
static struct team team;
static struct trial trial;
static uint64_t violations;

/* ------------------------------------------------------------------- one turn */

static void note_table(struct result *r)
{
	struct pawl_table_info info;

	r->active = trial.active;
	if (!trial.table) {
		snprintf(r->transport, sizeof r->transport, "%s",
			 workload_is(r->workload, W_BY_ITSELF)      ? "mpi"
			 : workload_is(r->workload, W_TRANSACTIONS) ? "redis"
								    : "node");
		return;
	}
	pawl_table_get_info(trial.table, &info);
	snprintf(r->transport, sizeof r->transport, "%s", info.transport);
	snprintf(r->topology, sizeof r->topology, "%s", info.topology);
	snprintf(r->parameters, sizeof r->parameters, "%s", info.parameters);
	if (team.nodes == 1 && info.nodes > 1)
		r->nodes = info.nodes;
}

/* False: the command line is at fault. */
static bool take_turn(struct result *r, int repetition)
{
	char why[512] = "";
	bool fatal;
	int rc;

	trial.contestant = r->contestant;
	trial.workload = r->workload;
	trial.table = r->table;
	trial.random = random_seed(set.seed + (uint64_t)repetition * 1000003, team.rank);
	rc = trial_run(&trial, &r->outcome[repetition], why, sizeof why, &fatal);
	if (rc == BENCH_OK)
		note_table(r);
	if (trial.set->n > MANY_LOCKS || workload_is(r->workload, W_FRESH))
		trial_free(&trial);
	r->table = trial.table;
	if (rc == BENCH_OK) {
		violations += r->outcome[repetition].violations;
		return true;
	}
	snprintf(r->skipped, sizeof r->skipped, "%s", why);
	if (fatal && team.rank == 0)
		fprintf(stderr, "pawl-bench: %s: %s\n", r->contestant->name, why);
	return !fatal;
}

static void tell_progress(struct progress *p)
{
	if (team.rank == 0)
		progress_report(&set, p);
}

/* One turn, with its progress. */
static bool play(struct result *r, int repetition, struct progress *p)
{
	bool ok = true;

	if (!r->skipped[0]) {
		p->contestant = r->contestant->name;
		p->ended = false;
		tell_progress(p);
		ok = take_turn(r, repetition);
	}
	p->done++;
	p->ended = repetition == set.repetitions - 1;
	tell_progress(p);
	return ok;
}

/* -------------------------------------------------------------- one workload */

static FILE *json_out;

static void report(const struct settings *s, const struct result *results, int count)
{
	if (team.rank != 0)
		return;
	if (!set.json || set.json_file)
		report_table(s, results, count);
	for (int i = 0; json_out && i < count; i++)
		report_json(json_out, s, &results[i]);
}

static bool run_workload(const struct workload *w)
{
	static struct result results[MAX_CONTESTANTS];
	const struct settings s = settings_for(&set, w);
	const struct contestant *c;
	struct progress p = {.program = "pawl-bench", .workload = w->name};
	int count = 0;
	bool ok = true;

	trial.set = &s;

	for (int i = 0; (c = contestant_get(i)) && count < MAX_CONTESTANTS; i++) {
		if (!contestant_plays(c, w, &s))
			continue;
		results[count++] = (struct result){
		    .contestant = c,
		    .workload = w,
		    .ranks = team.ranks,
		    .nodes = team.nodes,
		    .active = team.ranks,
		    .repetitions = set.repetitions,
		    .fw = s.fw,
		    .n = s.n,
		    .outcome = calloc((size_t)set.repetitions, sizeof(struct outcome)),
		};
	}
	p.total = set.repetitions * count;
	for (int rep = 0; rep < set.repetitions && ok; rep++)
		for (int i = 0; i < count && ok; i++)
			ok = play(&results[i], rep, &p);
	if (ok && count)
		report(&s, results, count);
	if (!count && team.rank == 0)
		fprintf(stderr, "pawl-bench: none of the locks takes part in %s\n", w->name);
	ok = ok && count;
	for (int i = 0; i < count; i++) {
		trial.table = results[i].table;
		trial.contestant = results[i].contestant;
		trial_free(&trial);
		free(results[i].outcome);
	}
	return ok;
}

static bool run_all(void)
{
	const char *list = settings_benches(&set);
	bool ok = true;
	size_t len;

	for (; ok && (len = list_word(&list)); list += len)
		ok = run_workload(workload_find(list, len));
	return ok;
}

/* ------------------------------------------------------------- start and end */

static const char *check_team(void)
{
	static char text[256];
	bool bad = false;

	if (set.active > team.ranks) {
		snprintf(text, sizeof text, "--active: %d is more than the %d ranks of this run",
			 set.active, team.ranks);
		bad = true;
	} else if (set.active && set.active_on == ON_REMOTE && team.nodes == 1) {
		for (int i = 0; i < set.lock_options; i++)
			bad = bad || strncmp(set.lock_option[i], "topology", 8) == 0;
		bad = !bad;
		snprintf(text, sizeof text,
			 "--active-on=remote: all ranks are on one node; accepted here: home");
	}
	if (!bad && set.json_file && team.rank == 0) {
		json_out = fopen(set.json_file, "w");
		if (!json_out)
			snprintf(text, sizeof text, "--json: cannot write %s", set.json_file);
		bad = !json_out;
	} else if (!bad && set.json) {
		json_out = stdout;
	}
	return team_sum(&team, bad) ? text : NULL;
}

/* All workloads of --bench. */
static uint64_t most_locks(void)
{
	const char *list = settings_benches(&set);
	uint64_t most = 1;
	size_t len;

	for (; (len = list_word(&list)); list += len) {
		const struct workload *w = workload_find(list, len);
		struct settings s = settings_for(&set, w);

		most = s.n > most && !workload_is(w, W_RANGES) ? s.n : most;
	}
	return most;
}

static int run(void)
{
	const char *error = check_team();
	bool ok;

	if (error) {
		if (team.rank == 0)
			fprintf(stderr, "pawl-bench: %s\n", error);
		return BENCH_USAGE;
	}
	if (native_note() && team.rank == 0)
		fprintf(stderr, "note: %s\n", native_note());
	if (team.rank == 0)
		settings_notes(&set, stderr);
	clock_calibrate();
	watchdog_start(&team, set.timeout, 2 * set.seconds + set.verify + fmax(set.warmup, 0));
	trial.set = &set;
	trial.team = &team;
	cells_create(&trial, most_locks());
	ok = run_all();
	bank_end();
	range_verify_end();
	cells_free(&trial);
	picks_free(&trial);
	if (!ok)
		return BENCH_USAGE;
	if (violations && team.rank == 0)
		fprintf(stderr, "pawl-bench: mutual exclusion was VIOLATED %llu times\n",
			(unsigned long long)violations);
	return violations ? BENCH_VIOLATION : BENCH_OK;
}

/* Over several hosts MPICH 4.0 often hangs in MPI_Finalize (pmodels/mpich pull
 * request 6596), so all ranks exit without it after the last output. */
static void finish(int status)
{
	bool several = team.nodes > 1;

	if (json_out && json_out != stdout)
		fclose(json_out);
	fflush(NULL);
	MPI_Barrier(team.comm);
	if (several) {
		usleep(100000);
		_exit(status);
	}
	team_free(&team);
	MPI_Finalize();
}

static bool is_first_rank(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
	const char *value;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((value = getenv(names[i])) && strcmp(value, "0") != 0)
			return false;
	return true;
}

static void print_help(void)
{
	printf(
	    "Usage: mpirun -n RANKS pawl-bench [OPTION]...\n"
	    "Compare Pawl's locks with each other and with the MPI's own. In each repetition they\n"
	    "take turns; medians are printed.\n");
	settings_help(stdout, FOR_BENCH);
	printf("\nExit status: 0 success; 1 mutual exclusion was violated, or a call failed;\n"
	       "2 wrong options; 3 a lock hung.\n");
}

/* --help, --version and --list need no MPI. */
static bool answer(void)
{
	if (!set.help && !set.version && !set.list)
		return false;
	if (!is_first_rank())
		return true;
	if (set.help)
		print_help();
	else if (set.version)
		printf("pawl-bench (Pawl) %s\n", pawl_version());
	else
		report_list(stdout);
	return true;
}

/* Whether a named lock, or an option, needs MPI_THREAD_MULTIPLE. */
static bool wants_threads(void)
{
	const struct contestant *c;

	for (int i = 0; i < set.lock_options; i++)
		if (strcmp(set.lock_option[i], "progress=thread") == 0 ||
		    strcmp(set.lock_option[i], "threads=multiple") == 0)
			return true;

	for (int i = 0; set.locks && (c = contestant_get(i)); i++)
		if (contestant_needs_threads(c) && list_has(set.locks, c->name))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	bool good = settings_parse(&set, FOR_BENCH, argc, argv);
	int status = BENCH_USAGE, level;

	if (good && answer())
		return BENCH_OK;
	native_prepare();
	MPI_Init_thread(&argc, &argv, wants_threads() ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
			&level);
	team_create(&team);
	if (good)
		status = run();
	else if (team.rank == 0)
		fprintf(stderr, "pawl-bench: %s\n", cli_error());
	finish(status);
	return status;
}
