/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial: one contestant runs one workload once. Its table is kept for the next repetition,
 * because creating one takes long where ranks outnumber cores; big tables are freed at once.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "benchmarks/workloads/citron/ranges.h"

/* The hash table runs a number of iterations, but no longer than this many times the seconds. */
enum { STRIDE = 16, SHORT_NS = 1000, MOST_SECONDS = 2, HELD_FAILING = 256 };

_Noreturn void trial_abort(const struct trial *t, const char *doing)
{
	fprintf(stderr, "pawl-bench: rank %d, %s, %s: %s failed: %s\n", t->team->rank,
		t->contestant->name, t->workload->name, doing, pawl_error_message());
	fflush(NULL);
	MPI_Abort(MPI_COMM_WORLD, BENCH_VIOLATION);
	_exit(BENCH_VIOLATION);
}

void trial_release_failed(struct trial *t, int code)
{
	if (code != PAWL_ERR_LEASE_LOST)
		trial_abort(t, "release");
	t->leases_lost++;
}

/* ------------------------------------------------------------------- set-up */

/* The locks that a rank holds at a time; abandoned locks count for a while. */
static int held(const struct trial *t)
{
	return t->set->fail > 0 ? HELD_FAILING : t->workload->held;
}

static void set_number(MPI_Info info, const char *key, uint64_t value)
{
	char number[24];

	snprintf(number, sizeof number, "%llu", (unsigned long long)value);
	MPI_Info_set(info, key, number);
}

static int set_for_space(void *info, const char *name, uint64_t value)
{
	char key[64];

	snprintf(key, sizeof key, "pawl_%s", name);
	set_number(*(MPI_Info *)info, key, value);
	return 0;
}

static void set_for_ranges(const struct trial *t, MPI_Info info)
{
	space_options(t->set, t->workload, t->contestant->kind, set_for_space, &info);
	/* The holder of a range operates on blocks at all ranks. */
	if (workload_is(t->workload, W_FILES) && t->team->nodes > 1)
		MPI_Info_set(info, "pawl_progress", "eager");
}

/* The options of -o that this kind takes. */
static MPI_Info make_info(const struct trial *t)
{
	MPI_Info info;

	MPI_Info_create(&info);
	/* Each rank acquires in one thread, whatever level the MPI grants. */
	MPI_Info_set(info, "pawl_threads", "single");
	if (held(t))
		set_number(info, "pawl_max_held", (uint64_t)held(t));
	if (workload_is(t->workload, W_RANGES))
		set_for_ranges(t, info);
	for (int i = 0; i < t->set->lock_options; i++) {
		const char *option = t->set->lock_option[i], *equals = strchr(option, '=');
		char key[64];

		if (!kind_takes(t->contestant->kind, option, (size_t)(equals - option)))
			continue;
		snprintf(key, sizeof key, "pawl_%.*s", (int)(equals - option), option);
		MPI_Info_set(info, key, equals + 1);
	}
	return info;
}

struct deal {
	int *order, ranks;
	uint64_t locks;
};

static int home_of(uint64_t lock, void *arg)
{
	const struct deal *d = arg;

	return locktable_home(lock, d->order, d->ranks, d->locks);
}

static int create_table(struct trial *t, MPI_Info info)
{
	const struct team *team = t->team;
	struct deal deal = {NULL, team->ranks, t->set->n};
	int rc;

	if (!workload_is(t->workload, W_NEAR_AND_FAR) && !workload_is(t->workload, W_DEALT))
		return pawl_table_create(team->comm, t->contestant->name, t->set->n, info,
					 &t->table);
	deal.order = locktable_order(team->node_of, team->ranks);
	rc = pawl_table_create_homed(team->comm, t->contestant->name, t->set->n, home_of, &deal,
				     info, &t->table);
	free(deal.order);
	return rc;
}

static int open_table(struct trial *t, char *why, size_t whylen, bool *fatal)
{
	MPI_Info info = make_info(t);
	int rc = create_table(t, info);

	MPI_Info_free(&info);
	if (rc != PAWL_SUCCESS) {
		snprintf(why, whylen, "%s", pawl_error_message());
		*fatal = rc != PAWL_ERR_UNSUPPORTED && rc != PAWL_ERR_WINDOW;
		return BENCH_USAGE;
	}
	return BENCH_OK;
}

/* Nodes as the table sees them: option topology may divide a node into several. */
int trial_node_of(const struct trial *t, int rank)
{
	struct pawl_table_info info = {.nodes = 1};

	if (t->table)
		pawl_table_get_info(t->table, &info);
	if (t->team->nodes > 1 || info.nodes < 2)
		return t->team->node_of[rank];
	return (int)((int64_t)rank * info.nodes / t->team->ranks);
}

/* The k-th rank, counted from the home of lock 0: first the ranks that --active-on chooses, then
 * the others. */
static void choose_active(struct trial *t)
{
	const int ranks = t->team->ranks;
	int home = 0, place = 0;

	t->active = t->set->active ? t->set->active : ranks;
	t->is_active = t->active >= ranks;
	if (t->table)
		pawl_table_home(t->table, 0, &home);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < ranks; i++) {
			int r = (home + i) % ranks;
			bool near = trial_node_of(t, r) == trial_node_of(t, home);
			bool wanted = near == (t->set->active_on == ON_HOME);

			if (wanted != (pass == 0))
				continue;
			if (place < t->active && r == t->team->rank) {
				t->is_active = true;
				t->client = place;
			}
			place++;
		}
	}
}

static void clear_counts(struct trial *t)
{
	t->acquires = t->exclusive = 0;
	t->abandoned = t->leases_lost = t->requests = t->reader_requests = t->bytes = 0;
	t->elapsed_ns = 0;
	memset(&t->hist, 0, sizeof t->hist);
	memset(t->series, 0, sizeof t->series);
	memset(t->timeline, 0, sizeof t->timeline);
}

/* ---------------------------------------------------------------- measuring */

/* Between two barriers, active ranks run the loop and the others wait. */
static void play(struct trial *t, double seconds, uint64_t iterations)
{
	int home = 0;
	bool eager;

	if (t->table)
		pawl_table_home(t->table, 0, &home);
	clear_counts(t);
	t->ticks = seconds > 0 ? (uint64_t)(seconds * 1e9 * ticks_per_ns) : UINT64_MAX;
	t->limit = iterations ? iterations : UINT64_MAX;
	if (t->is_active)
		(t->contestant->run ? t->contestant->run : t->workload->run)(t);
	/* A home stays awake if other ranks need its progress. */
	eager = t->is_active || home == t->team->rank ||
		(t->team->nodes > 1 && (t->locks > 1 || workload_is(t->workload, W_FILES)));
	watchdog_at("waiting for the other ranks");
	team_wait(t->team, eager);
}

/* The time that reading the clock adds to a sample. */
static uint64_t clock_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t a = ticks(), b = ticks();

		if (b - a < least)
			least = b - a;
	}
	return least;
}

static void warm_up(struct trial *t)
{
	const struct settings *s = t->set;
	double seconds = s->warmup >= 0 ? s->warmup : s->iterations ? 0 : s->seconds / 10;
	uint64_t iterations = s->iterations && s->warmup < 0 ? (s->iterations + 9) / 10 : 0;
	double ns = 0;

	t->clock_cost = clock_cost();
	t->stride = 1;
	if (workload_is(t->workload, W_FRESH))
		return;
	if (seconds > 0 || iterations)
		play(t, seconds, iterations);
	if (t->acquires)
		ns = t->elapsed_ns / (double)t->acquires;
	t->stride = t->acquires && ns < SHORT_NS ? STRIDE : 1;
}

static void measure(struct trial *t)
{
	const struct settings *s = t->set;

	if (t->table)
		pawl_table_reset_stats(t->table);
	if (workload_is(t->workload, W_BY_ITSELF))
		play(t, s->seconds * MOST_SECONDS, dht_iterations(t));
	else
		play(t, s->iterations ? 0 : s->seconds, s->iterations);
}

static void perform(struct trial *t, struct outcome *out)
{
	const char *contestant = t->contestant->name, *workload = t->workload->name;

	watchdog_step(contestant, workload,
		      workload_is(t->workload, W_BY_ITSELF) ? "hash table" : "verification");
	if (!workload_is(t->workload, W_BY_ITSELF))
		cells_clear(t);
	team_wait(t->team, true);
	if (workload_is(t->workload, W_BY_ITSELF)) {
		t->stride = 1;
	} else {
		if (t->table && t->set->verify > 0)
			(workload_is(t->workload, W_RANGES) ? range_verify_run : verify_run)(t);
		watchdog_step(contestant, workload, "warm-up");
		warm_up(t);
		watchdog_step(contestant, workload, "timed part");
	}
	measure(t);
	if (t->workload->close)
		t->workload->close(t);
	outcome_gather(t, out);
}

/* Open what the workload needs besides the table. */
static int prepare(struct trial *t, char *why, size_t whylen, bool *fatal)
{
	int rc = workload_is(t->workload, W_BY_ITSELF) ? dht_open(t) : BENCH_OK;

	if (rc != BENCH_OK) {
		snprintf(why, whylen, "out of memory");
		return rc;
	}
	if (!workload_is(t->workload, W_BY_ITSELF))
		choose_active(t);
	if (team_sum(t->team, !picks_choose(t))) {
		snprintf(why, whylen, "out of memory");
		return BENCH_USAGE;
	}
	rc = t->workload->open ? t->workload->open(t, why, whylen) : BENCH_OK;
	*fatal = rc != BENCH_OK;
	return rc;
}

int trial_run(struct trial *t, struct outcome *out, char *why, size_t whylen, bool *fatal)
{
	int rc = BENCH_OK;

	*fatal = false;
	t->violations = t->counted = t->verified = 0;
	t->rows = 0;
	watchdog_step(t->contestant->name, t->workload->name, "creation of the table");
	if (t->contestant->kind && !t->table)
		rc = open_table(t, why, whylen, fatal);
	if (rc == BENCH_OK && !t->contestant->kind && !workload_is(t->workload, W_BY_ITSELF) &&
	    !workload_is(t->workload, W_COMPUTED) && !workload_is(t->workload, W_FREE_ANYWHERE) &&
	    t->team->nodes > 1) {
		snprintf(why, whylen, "one node only");
		rc = BENCH_USAGE;
	}
	if (rc == BENCH_OK)
		rc = prepare(t, why, whylen, fatal);
	if (rc == BENCH_OK)
		perform(t, out);
	watchdog_rest();
	return rc;
}

void trial_free(struct trial *t)
{
	if (!t->table)
		return;
	watchdog_step(t->contestant->name, t->workload->name, "freeing of the table");
	if (pawl_table_free(&t->table) != PAWL_SUCCESS)
		trial_abort(t, "freeing");
	watchdog_rest();
}
