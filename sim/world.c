/* SPDX-License-Identifier: BSD-3-Clause */
/* A world of virtual ranks: create it from a topology string and options, run it, free it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/error.h"
#include "baselines/server/server.h"
#include "table/setup.h"
#include "sim/sim.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define PAWL_SANITIZE_ADDRESS
#endif
#elif defined __SANITIZE_ADDRESS__
#define PAWL_SANITIZE_ADDRESS
#endif
#ifdef PAWL_SANITIZE_ADDRESS
#include <sanitizer/asan_interface.h>
enum { MOST_STACK = 1 << 24 };
#endif

/* splitmix64: makes the seeds of neighbouring streams independent. */
uint64_t sim_seed(uint64_t seed, uint64_t stream)
{
	uint64_t x =
	    seed * UINT64_C(0xd1342543de82ef95) + UINT64_C(0x9e3779b97f4a7c15) * (stream + 1);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return x ? x : 1;
}

void sim_fail(struct sim_world *w, enum sim_verdict v, const char *fmt, ...)
{
	va_list args;

	if (w->over)
		return;
	w->over = true;
	w->verdict = v;
	va_start(args, fmt);
	vsnprintf(w->why, sizeof w->why, fmt, args);
	va_end(args);
	sim_recorder_stop(w);
}

/* ------------------------------------------------------------------ creation */

static int slots_of(const struct sim_world *w)
{
	return w->request.slots ? w->request.slots : 1;
}

static struct sim_hold *new_holds(const struct sim_world *w)
{
	int most = slots_of(w) > SIM_HELD ? slots_of(w) : SIM_HELD;

	return calloc((size_t)most, sizeof(struct sim_hold));
}

static bool set_up_rank(struct sim_world *w, int id)
{
	struct sim_rank *r = &w->ranks[id];

	r->world = w;
	r->process = r;
	r->id = id;
	r->flushing = SIM_NO_TARGET;
	r->random = sim_seed(w->request.seed, (uint64_t)id + 1);
	r->rma = (struct rma){
	    .transport = w->setup.domain == RMA_NODE ? &sim_node_transport : &w->transport,
	    .map = w->map,
	    .node = w->topo->node,
	    .rank = id,
	    .my_node = w->topo->node[id],
	    .net = w->setup.domain == RMA_NET,
	    .outlives = (w->request.protocol->kind.capabilities & PAWL_CAP_RECOVERS) &&
			lock_lease_us(&w->setup) > 0,
	    .clock = {.error_ns = w->request.clock_error_ns},
	    .state = r,
	};
	if (w->few && w->setup.domain == RMA_NET)
		rma_few_open(&w->few[id], &r->rma);
	if (w->request.atomics == SIM_FEW_ONCE)
		w->few[id].transport.flush = w->transport.flush;
	if (w->request.clock_error_ns)
		r->skew_ns = (int64_t)sim_below(&w->random, 2 * w->request.clock_error_ns + 1) -
			     (int64_t)w->request.clock_error_ns;
	r->cut = r->apart = -1;
	r->clients.can_fail = w->request.doubt_ns > 0 || w->request.errors;
	r->held = new_holds(w);
	return r->held && client_open(&r->clients, &w->setup, &r->rma);
}

static bool allocate(struct sim_world *w)
{
	size_t ranks = (size_t)w->request.ranks;
	bool enough;

	w->bytes = ranks * w->setup.bytes + (w->request.extra + 63) / 64 * 64;
	w->ranks = calloc(ranks, sizeof *w->ranks);
	w->map = calloc(ranks, sizeof *w->map);
	w->words = sim_zeroed(w->bytes);
	w->lines = sim_zeroed(w->bytes / 64 * sizeof *w->lines);
	w->locks = sim_zeroed(w->request.locks * sizeof *w->locks);
	enough = w->ranks && w->map && w->words && w->lines && w->locks;
	if (w->request.atomics != SIM_ALL_ATOMICS) {
		w->few = calloc(ranks, sizeof *w->few);
		enough = enough && w->few;
	}
	for (int id = 0; enough && id < w->request.ranks; id++)
		enough = set_up_rank(w, id);
	if (enough && w->request.recorded)
		enough = (w->recorder = sim_recorder_create(w)) != NULL;
	if (!enough)
		error_set(PAWL_ERR_NOMEM, "out of memory for %d virtual ranks", w->request.ranks);
	return enough;
}

/* One for all ranks. */
static bool start_servers(struct sim_world *w)
{
	char err[ERROR_LENGTH] = "";
	int rc;

	server_carrier = w->request.servers;
	if (!w->protocol.mpi)
		return true;
	rc = w->protocol.mpi->open(&w->setup, w, err, sizeof err);
	if (rc != PAWL_SUCCESS)
		error_set(rc, "%s", err);
	return rc == PAWL_SUCCESS;
}

struct sim_world *sim_world_create(const struct sim_request *q)
{
	struct sim_world *w = calloc(1, sizeof *w);
	char err[ERROR_LENGTH] = "";

	if (!w) {
		error_set(PAWL_ERR_NOMEM, "out of memory");
		return NULL;
	}
	w->request = *q;
	w->random = sim_seed(q->seed, 0);
	w->hash = HASH_BEGIN;
	if (q->protocol->mpi && !(q->protocol->mpi->by_server && q->servers)) {
		error_set(PAWL_ERR_UNSUPPORTED, "%s cannot be simulated: its locks are %s",
			  q->protocol->kind.name,
			  q->protocol->mpi->by_server ? "a server's, and the machine has no times"
							" of one"
						      : "the MPI's");
		free(w);
		return NULL;
	}
	w->topo = topo_parse(q->topology, q->ranks, err, sizeof err);
	if (!w->topo) {
		error_set(PAWL_ERR_TOPOLOGY, "%s", err);
		free(w);
		return NULL;
	}
	q = &w->request;
	w->request.protocol = setup_protocol(q->protocol, w->topo);
	w->protocol = *q->protocol;
	if (q->protocol->recover) {
		w->recover = *q->protocol->recover;
		w->recover.abandon = sim_abandon;
		w->protocol.recover = &w->recover;
	}
	setup_begin(&w->setup, &w->protocol, w->topo, q->options, q->locks);
	w->setup.max_held = slots_of(w);
	w->setup.posts = q->posts && q->protocol->settled && w->setup.domain == RMA_NET;
	if (q->homes) {
		w->setup.home = LOCK_HOME_MAP;
		w->setup.homes = q->homes;
		w->setup.block = q->block;
	}
	w->transport = sim_net_transport;
	w->transport.can.ordered = q->ordered;
	w->transport.can.by_mpi = q->errors == SIM_MPI_ERRORS;
	if (setup_layout(&w->setup) != PAWL_SUCCESS || !allocate(w) || !start_servers(w)) {
		sim_world_free(w);
		return NULL;
	}
	if (q->aged)
		sim_age(w);
	return w;
}

void sim_world_free(struct sim_world *w)
{
	for (int id = 0; w->ranks && id < w->request.ranks; id++)
		for (struct sim_op *op = w->ranks[id].ops, *next; op; op = next) {
			next = op->next;
			free(op);
		}
	for (struct sim_rank *t = w->threads, *next; t; t = next) {
		next = t->next_thread;
		free(t->held);
		free(t);
	}
	for (struct sim_op *op = w->spare, *next; op; op = next) {
		next = op->next;
		free(op);
	}
	for (int id = 0; w->ranks && id < w->request.ranks; id++) {
		client_close(&w->ranks[id].clients);
		free(w->ranks[id].held);
	}
	sim_recorder_free(w->recorder);
	if (w->protocol.mpi && w->setup.state)
		w->protocol.mpi->close(&w->setup);
	setup_free(&w->setup);
	sim_zeroed_free(w->locks, w->request.locks * sizeof *w->locks);
	sim_zeroed_free(w->lines, w->bytes / 64 * sizeof *w->lines);
	sim_zeroed_free(w->words, w->bytes);
	free(w->map);
	free(w->ranks);
	free(w->few);
	topo_free(w->topo);
	free(w);
}

/* --------------------------------------------------------------------- ranks */

struct sim_rank *sim_next(const struct sim_rank *r)
{
	const struct sim_world *w = r->world;

	if (r != r->process)
		return r->next_thread;
	return r->id + 1 < w->request.ranks ? &w->ranks[r->id + 1] : w->threads;
}

/* AddressSanitizer knows the stacks of threads, and unmarks the frames that a longjmp() leaves. On
 * SimGrid's stacks this has to be done here. */
void sim_unwind(struct sim_rank *r)
{
#ifdef PAWL_SANITIZE_ADDRESS
	char *here = __builtin_frame_address(0);
	size_t bytes = (size_t)((char *)r->bottom - here);

	/* not from the stack of a request */
	if (bytes < MOST_STACK)
		__asan_unpoison_memory_region(here, bytes);
#else
	(void)r;
#endif
}

/* End the rank's program, from any depth. From the stack of a request by way of its client, which
 * comes here, too. */
static _Noreturn void leave(struct sim_rank *r)
{
	client_request_escape(&r->process->clients, &r->rma);
	sim_unwind(r);
	longjmp(r->out, 1);
}

void sim_leave_if_over(struct sim_rank *r)
{
	if (__builtin_expect(r->world->over || r->dead, 0))
		leave(r);
}

void sim_sleep(struct sim_rank *r, sim_time span)
{
	if (span)
		engine_sleep(span);
	sim_leave_if_over(r);
}

uint64_t sim_now_ns(const struct sim_rank *r)
{
	return engine_now() / SIM_NS - r->process->stood_ns;
}

sim_time sim_time_of(const struct sim_rank *r, uint64_t ns)
{
	return (ns + r->process->stood_ns) * SIM_NS;
}

void sim_block(struct sim_rank *r)
{
	engine_block();
	sim_leave_if_over(r);
}

void sim_step(struct sim_rank *r)
{
	struct sim_world *w = r->world;

	if (++w->accesses == w->request.most_accesses)
		sim_fail(w, SIM_STARVED,
			 "no acquire in %llu accesses of memory, after %llu that were granted;"
			 " rank %d goes on with %s",
			 (unsigned long long)w->accesses, (unsigned long long)w->acquires, r->id,
			 r->what ? r->what : "its work");
	if (__builtin_expect(r->lives != 0, 0) && --r->lives == 0) {
		sim_die(r);
		leave(r);
	}
	sim_leave_if_over(r);
}

static void live(void *arg)
{
	struct sim_rank *r = arg;

	r->bottom = __builtin_frame_address(0);
	if (!setjmp(r->out)) {
		r->world->request.play(r);
		sim_settle(r);
	}
	r->done = true;
	r->world->unfinished--;
	r->world->end = engine_now();
}

static void live_thread(void *arg)
{
	struct sim_rank *t = arg, *r = t->process;

	t->bottom = __builtin_frame_address(0);
	if (!setjmp(t->out))
		t->body(t);
	t->done = true;
	t->world->unfinished--;
	r->threads--;
	/* At the end of a world the rank may have left sim_join() already. */
	if (r->joins && !r->done)
		engine_wake(r->actor);
}

void sim_fork(struct sim_rank *r, void (*body)(struct sim_rank *), void *user)
{
	struct sim_world *w = r->world;
	struct sim_rank *t = calloc(1, sizeof *t);

	if (!t)
		abort();
	*t = (struct sim_rank){
	    .world = w,
	    .id = r->id,
	    .process = r,
	    .next_thread = w->threads,
	    .flushing = SIM_NO_TARGET,
	    .cut = -1,
	    .apart = -1,
	    .random = sim_random(&r->random) | 1,
	    .rma = r->rma,
	    .held = new_holds(w),
	    .body = body,
	    .user = user,
	};
	if (!t->held)
		abort();
	t->rma.state = t;
	w->threads = t;
	w->unfinished++;
	r->threads++;
	t->actor = engine_spawn(live_thread, t);
}

void sim_join(struct sim_rank *r)
{
	while (r->threads) {
		r->joins = true;
		r->what = "the end of a request that it has left";
		sim_block(r);
		r->what = NULL;
		r->joins = false;
	}
}

/* ----------------------------------------------------------------------- run */

/* Describe what a rank waits for. */
static void describe_wait(struct sim_rank *r, char *text, size_t len)
{
	struct sim_world *w = r->world;
	char name[80];

	if (r->has_word)
		snprintf(text, len, "%s (%s is 0x%llx)", r->what,
			 sim_name(w, r->word, name, sizeof name),
			 (unsigned long long)*sim_word(w, r->word.rank, r->word.offset));
	else
		snprintf(text, len, "%s", r->what ? r->what : "nothing known");
}

/* Report the first of the ranks that wait for ever; the time line has all. */
static void report_stuck(struct sim_world *w)
{
	char first[160] = "", text[160];
	int waiting = 0, stuck = 0;

	for (struct sim_rank *r = w->ranks; r; r = sim_next(r)) {
		if (r->done)
			continue;
		describe_wait(r, text, sizeof text);
		sim_note(r, "waits for ever for %s", text);
		if (!waiting++) {
			stuck = r->id;
			memcpy(first, text, sizeof first);
		}
	}
	sim_fail(w, SIM_STUCK, "deadlock: %d ranks wait for ever; rank %d for %s", waiting, stuck,
		 first);
}

/* Wake the ranks that are still blocked, so that they see that the world is over, and end. */
static void end_all(struct sim_world *w)
{
	engine_restart();
	for (struct sim_rank *r = w->ranks; r; r = sim_next(r))
		if (!r->done)
			engine_wake(r->actor);
	engine_await_silence();
}

enum sim_verdict sim_world_run(struct sim_world *w)
{
	engine_restart();
	w->unfinished = w->request.ranks;
	for (int id = 0; id < w->request.ranks; id++)
		w->ranks[id].actor = engine_spawn(live, &w->ranks[id]);
	engine_await_silence();
	if (w->unfinished && !w->over)
		report_stuck(w);
	sim_recorder_stop(w);
	if (w->unfinished)
		end_all(w);
	/* The words of a lock may still name a dead rank. */
	if (w->verdict == SIM_FINE && !w->deaths)
		sim_check_idle(w);
	if (w->verdict == SIM_FINE && !w->deaths && !w->failures)
		sim_check_spares(w);
	sim_check_recoveries(w);
	return w->verdict;
}
