/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The workloads of described.h in virtual time. The protected word is at the lock's home, where
 * each access is one operation. The latency of a turn is that of acquire and release, without the
 * critical section.
 */
#include "sim_bench.h"

#include <string.h>

enum { WORK_MIN_NS = 1000, WORK_SPREAD_NS = 3000 };

const struct workload workloads[] = {
    [PLAY_LB] = {DESCRIBED_LB},
    [PLAY_ECSB] = {DESCRIBED_ECSB},
    [PLAY_SOB] = {DESCRIBED_SOB},
    [PLAY_OSOB] = {DESCRIBED_OSOB},
    [PLAY_WCSB] = {DESCRIBED_WCSB},
    [PLAY_WARB] = {DESCRIBED_WARB},
    [PLAY_DHT] = {DESCRIBED_DHT},
    [PLAY_LOCKTABLE] = {DESCRIBED_LOCKTABLE},
    [PLAY_MICRO] = {DESCRIBED_MICRO},
    [PLAY_TATP] = {DESCRIBED_TATP},
    [PLAY_TPCC] = {DESCRIBED_TPCC},
    [PLAY_BANK] = {DESCRIBED_BANK},
    [PLAY_RANGE] = {DESCRIBED_RANGE},
    [PLAY_RANGE_GROW] = {DESCRIBED_RANGE_GROW},
    [PLAY_BTIO] = {DESCRIBED_BTIO},
    [PLAY_OLTP] = {DESCRIBED_OLTP},
    {.name = NULL},
};

const char *const range_series[] = {"acquire",   "release",    "length-1",
				    "length-16", "length-256", NULL};
enum { RANGE_ACQUIRE, RANGE_RELEASE, RANGE_FIRST_SIZE };

const struct contestant pseudo_contestants[] = {
    {.name = "fompi-a",
     .summary = "no lock: the hash table with atomics in place of a lock (dht)",
     .only = "dht"},
    {.name = NULL},
};

/* ------------------------------------------------------------------- protected */

static struct rma_word cell(struct sim_rank *r, uint64_t lock)
{
	const struct lock_setup *s = &r->world->setup;
	uint64_t index;
	int home;

	lock_home(s, lock, &home, &index);
	return rma_word(&r->rma, s->domain, home, s->bytes + lock % SIM_CELLS * 64);
}

void sim_touch(struct sim_rank *r, uint64_t lock, bool exclusive)
{
	struct rma_client *c = &sim_part_of(r)->data;
	struct rma_word w = cell(r, lock);
	int64_t seen;

	if (exclusive)
		rma_put(c, w, r->id);
	else
		rma_get(c, w, &seen);
	rma_flush(c, w); /* orders the access before the release */
}

static void count(struct sim_rank *r, uint64_t lock)
{
	struct rma_client *c = &sim_part_of(r)->data;
	struct rma_word w = cell(r, lock);

	rma_acc(c, w, 1);
	rma_flush(c, w); /* orders the count before the release */
}

/* 1 to 4 us. */
static void work_a_while(struct sim_rank *r)
{
	sim_sleep(r, WORK_MIN_NS * SIM_NS + sim_below(&r->random, WORK_SPREAD_NS * SIM_NS));
}

/* A time of the pace (settings.h). */
static void pass(struct sim_rank *r, uint64_t ns)
{
	if (ns)
		sim_sleep(r, ns * SIM_NS / 2 + sim_below(&r->random, ns * SIM_NS));
}

static void pause_after(struct sim_rank *r)
{
	const struct pace *p = &sim_run_of(r)->set->pace;

	pass(r, p->think);
	if (p->burst && sim_below(&r->random, p->burst) == 0)
		pass(r, p->rest);
}

static void inside(struct sim_rank *r, uint64_t lock, bool exclusive)
{
	enum sim_workload work = sim_workload_of(sim_run_of(r));

	if (work == PLAY_SOB || work == PLAY_OSOB)
		sim_touch(r, lock, exclusive);
	if (work == PLAY_WCSB) {
		count(r, lock);
		work_a_while(r);
	}
	pass(r, sim_run_of(r)->set->pace.section);
}

/* ------------------------------------------------------------------- measuring */

static struct pawl_stats all_stats(const struct sim_run *run)
{
	struct pawl_stats all = {0}, one;

	for (int id = 0; id < run->ranks; id++) {
		sim_count(&run->world->ranks[id], &one);
		all.waits += one.waits;
		all.aborts += one.aborts;
		for (int far = 0; far < 2; far++) {
			all.atomics[far] += one.atomics[far];
			all.gets[far] += one.gets[far];
			all.puts[far] += one.puts[far];
			all.flushes[far] += one.flushes[far];
		}
	}
	return all;
}

static struct pawl_stats snapshot(struct sim_run *run, uint64_t counts[RMA_NCALLS][2])
{
	struct pawl_stats all = all_stats(run);

	for (int far = 0; far < 2; far++) {
		counts[RMA_ATOMIC][far] = all.atomics[far];
		counts[RMA_GET][far] = all.gets[far];
		counts[RMA_PUT][far] = all.puts[far];
		counts[RMA_FLUSH][far] = all.flushes[far];
	}
	return all;
}

/* The current part of the time; a run without --seconds has no parts. */
static void count_now(struct sim_run *run)
{
	sim_time since = engine_now() - run->start;

	if (run->limit && since < run->limit)
		run->timeline[(uint64_t)((unsigned __int128)since * TIMELINE / run->limit)]++;
}

static void begin_measuring(struct sim_run *run)
{
	struct pawl_stats all = snapshot(run, run->before);

	run->measuring = true;
	run->start = engine_now();
	run->waits = all.waits;
	run->aborts = all.aborts;
	run->leases_lost = run->world->leases_lost;
}

/* A table that fills and a space that grows are never steady. */
static bool can_be_steady(const struct sim_run *run)
{
	return !workload_is(run->workload, W_BY_ITSELF) && !workload_is(run->workload, W_GROWS);
}

static bool is_steady(struct sim_run *run)
{
	double wanted = run->writers == UINT32_MAX ? 1 : run->writers * 0x1p-32;
	uint64_t acquires = 0, exclusive = 0;

	for (int id = 0; id < run->ranks; id++) {
		acquires += run->part[id].acquires;
		exclusive += run->part[id].exclusive;
	}
	/* Their operations say who writes. */
	if (workload_is(run->workload, W_TRANSACTIONS) || workload_is(run->workload, W_FILES))
		wanted = acquires ? (double)exclusive / (double)acquires : 0;
	return steady_is(steady_halves(&run->steady, run->start, engine_now()), acquires, exclusive,
			 wanted, run->unsteady, sizeof run->unsteady);
}

static bool has_to_go_on(struct sim_run *run)
{
	const int times = run->steady.lengthened;

	if (!can_be_steady(run))
		return false;
	return (!is_steady(run) && run->set->steady && times < STEADY_LENGTHENINGS) ||
	       times < run->set->lengthen;
}

/* Measure anew from here on, for longer. */
static void lengthen(struct sim_run *run)
{
	run->steady = (struct steady){.lengthened = run->steady.lengthened + 1};
	run->warm = run->done;
	run->most *= 2;
	run->limit *= 2;
	memset(&run->hist, 0, sizeof run->hist);
	memset(run->series, 0, sizeof run->series);
	memset(run->timeline, 0, sizeof run->timeline);
	for (int id = 0; id < run->ranks; id++)
		run->part[id].acquires = run->part[id].exclusive = 0;
	begin_measuring(run);
}

void sim_note_turn(struct sim_rank *r, sim_time took, bool exclusive)
{
	struct sim_run *run = sim_run_of(r);
	struct sim_part *part = sim_part_of(r);
	struct pawl_stats all;

	run->done++;
	if (run->over)
		return;
	if (!run->measuring) {
		if (run->done >= run->warm)
			begin_measuring(run);
		return;
	}
	count_now(run);
	steady_count(&run->steady, engine_now());
	part->acquires++;
	part->exclusive += exclusive;
	times_add(&run->hist, took);
	if (run->done < run->warm + run->most || engine_now() < run->start + run->limit)
		return;
	if (has_to_go_on(run)) {
		lengthen(run);
		return;
	}
	run->over = true;
	run->end = engine_now();
	all = snapshot(run, run->after);
	run->waits = all.waits - run->waits;
	run->aborts = all.aborts - run->aborts;
	run->leases_lost = run->world->leases_lost - run->leases_lost;
}

void sim_note_part(struct sim_run *run, int part, sim_time took)
{
	if (run->workload->series && run->measuring && !run->over)
		times_add(&run->series[part], took);
}

/* The parts of a turn of micro. */
static void note_parts(struct sim_run *run, sim_time acquire, sim_time release, bool exclusive,
		       bool waited)
{
	sim_note_part(run, exclusive ? MICRO_WRITER : MICRO_READER, acquire);
	sim_note_part(run, MICRO_RELEASE, release);
	if (waited)
		sim_note_part(run, MICRO_WAITED, acquire);
}

/* What the acquire and the release of a turn of micro spent their time on: the rank's times before
 * it, between the two and now. */
static void note_times(struct sim_rank *r, const sim_time *before, const sim_time *in,
		       bool exclusive)
{
	struct sim_run *run = sim_run_of(r);
	sim_time of[2][SIM_KINDS_OF_TIME];

	for (int i = 0; i < SIM_KINDS_OF_TIME; i++) {
		of[0][i] = in[i] - before[i];
		of[1][i] = r->spent[i] - in[i];
	}
	if (exclusive) {
		sim_note_part(run, MICRO_WRITER_ATOMICS, of[0][SIM_ON_ATOMICS]);
		sim_note_part(run, MICRO_WRITER_PUTS, of[0][SIM_ON_PUTS]);
		sim_note_part(run, MICRO_WRITER_WAITS, of[0][SIM_ON_WAITS]);
		sim_note_part(run, MICRO_WRITER_LOOKS, of[0][SIM_ON_LOOKS]);
	} else {
		sim_note_part(run, MICRO_READER_ATOMICS, of[0][SIM_ON_ATOMICS]);
		sim_note_part(run, MICRO_READER_LOOKS, of[0][SIM_ON_LOOKS]);
	}
	sim_note_part(run, MICRO_RELEASE_ATOMICS, of[1][SIM_ON_ATOMICS]);
	sim_note_part(run, MICRO_RELEASE_OTHERS,
		      of[1][SIM_ON_PUTS] + of[1][SIM_ON_WAITS] + of[1][SIM_ON_LOOKS]);
}

/* ------------------------------------------------------------------------ turns */

/* A rank whose slots all have forgotten locks waits for others to recover one. */
#define RETRY (100 * SIM_US)

void sim_enter(struct sim_rank *r, uint64_t lock, int mode)
{
	if (!sim_run_of(r)->contestant->kind)
		return;
	while (sim_acquire(r, lock, mode, SIM_ACQUIRE, 0) == PAWL_ERR_TOO_MANY)
		sim_sleep(r, RETRY);
}

void sim_leave(struct sim_rank *r)
{
	if (sim_run_of(r)->contestant->kind)
		sim_release(r);
}

/* Release, or forget the lock: others recover it, and the rank goes on as another client. */
static void leave_or_forget(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);

	if (!run->failures || (uint32_t)(sim_random(&r->random) >> 32) >= run->failures) {
		sim_leave(r);
		return;
	}
	run->forgotten++;
	sim_forget(r);
}

uint64_t sim_pick(struct sim_rank *r)
{
	const struct settings *s = sim_run_of(r)->set;

	if (s->n == 1)
		return 0;
	if (workload_is(sim_run_of(r)->workload, W_NEAR_AND_FAR))
		return locktable_pick(&sim_run_of(r)->node_locks[r->world->topo->node[r->id]],
				      &r->random);
	if (s->zipf > 0)
		return zipf_spread(zipf_next(&sim_run_of(r)->zipf, &r->random), s->n);
	return sim_below(&r->random, s->n);
}

/* A reader that looks at the lock before and after it reads. */
static void read_turn(struct sim_rank *r, uint64_t lock)
{
	struct client_read read = {.seen = 0};
	int rc;

	do {
		if (client_read_begin(&r->clients, lock, &read) == PAWL_ERR_BUSY) {
			sim_enter(r, lock, PAWL_SHARED);
			sim_touch(r, lock, false);
			sim_leave(r);
			return;
		}
		sim_touch(r, lock, false);
		rc = client_read_validate(&r->clients, lock, &read);
	} while (rc == PAWL_ERR_BUSY);
}

/* Whether the next turn is exclusive, by the share of writers. */
static bool is_exclusive(struct sim_rank *r)
{
	const uint32_t writers = sim_run_of(r)->writers;

	return writers == UINT32_MAX || (uint32_t)(sim_random(&r->random) >> 32) < writers;
}

static void turn(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	bool exclusive = is_exclusive(r);
	uint64_t lock = sim_pick(r), waits = sim_waits(r);
	sim_time start = engine_now(), in, out, spent[2][SIM_KINDS_OF_TIME];

	if (sim_workload_of(run) == PLAY_OSOB && !exclusive) {
		read_turn(r, lock);
		sim_note_turn(r, engine_now() - start, false);
		return;
	}
	memcpy(spent[0], r->spent, sizeof spent[0]);
	sim_enter(r, lock, exclusive ? PAWL_EXCLUSIVE : PAWL_SHARED);
	in = engine_now();
	inside(r, lock, exclusive);
	memcpy(spent[1], r->spent, sizeof spent[1]);
	out = engine_now();
	waits = sim_waits(r) - waits;
	leave_or_forget(r);
	note_parts(run, in - start, engine_now() - out, exclusive, waits > 0);
	if (sim_workload_of(run) == PLAY_MICRO)
		note_times(r, spent[0], spent[1], exclusive);
	sim_note_turn(r, in - start + engine_now() - out, exclusive);
	if (sim_workload_of(run) == PLAY_WARB)
		work_a_while(r);
	pause_after(r);
}

static struct span next_range(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	struct sim_part *part = sim_part_of(r);

	return workload_is(run->workload, W_LENGTHS)
		   ? spans_next(&part->spans, &r->random)
		   : grow_span(part->turn++, part->client, run->active);
}

#define GROW_POLL (10 * SIM_MS) /* as in range_grow.c */

static void poll_growth(struct sim_rank *r)
{
	const struct options *o = r->world->request.options;
	struct sim_part *part = sim_part_of(r);
	int64_t units;

	if (engine_now() < part->next_poll || !options_number(o, "growth", 0))
		return;
	part->next_poll = engine_now() + GROW_POLL;
	client_grow(&r->clients, 0, &units);
}

static void range_turn(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);
	struct span s = next_range(r);
	bool exclusive = is_exclusive(r);
	int size = span_size(s);
	sim_time start = engine_now(), in;

	sim_acquire_range(r, sim_below(&r->random, run->set->n), s.first, s.last,
			  exclusive ? PAWL_EXCLUSIVE : PAWL_SHARED, SIM_ACQUIRE, 0);
	in = engine_now();
	sim_leave(r);
	sim_note_part(run, RANGE_ACQUIRE, in - start);
	sim_note_part(run, RANGE_RELEASE, engine_now() - in);
	if (size >= 0)
		sim_note_part(run, RANGE_FIRST_SIZE + size, engine_now() - start);
	sim_note_turn(r, engine_now() - start, exclusive);
	if (workload_is(run->workload, W_GROWS))
		poll_growth(r);
}

static void table_turn(struct sim_rank *r)
{
	sim_time start = engine_now();

	sim_table_turn(r);
	sim_note_turn(r, engine_now() - start, false);
}

void sim_play(struct sim_rank *r)
{
	struct sim_run *run = sim_run_of(r);

	if (!sim_part_of(r)->is_active)
		return;
	/* No two ranks start at the same time. */
	sim_sleep(r, sim_below(&r->random, SIM_US));
	if (!sim_apps_start(r))
		sim_fail(run->world, SIM_MISUSE, "out of memory");
	while (!run->over)
		(workload_is(run->workload, W_BY_ITSELF)      ? table_turn
		 : workload_is(run->workload, W_TRANSACTIONS) ? sim_transaction_turn
		 : workload_is(run->workload, W_FILES)        ? sim_file_turn
		 : workload_is(run->workload, W_RANGES)       ? range_turn
							      : turn)(r);
}
