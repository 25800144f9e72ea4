/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of pawl-sim: a world of the machine in which one contestant runs one workload, and its
 * results. */
#include "sim_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lock/kinds.h"

/* Enough turns for a steady state: 20 of each rank, and a minimum for all together. */
enum { TURNS_EACH = 20, SLOTS = 16, TURNS_LEAST = 20000, HOME_INDEX_BITS = 40 };

/* ------------------------------------------------------------------------ set-up */

/* For space_options(). */
struct setting {
	struct options *options;
	const struct lock_protocol *protocol;
};

static int set_for_space(void *arg, const char *name, uint64_t value)
{
	const struct setting *to = arg;
	char number[24];

	snprintf(number, sizeof number, "%llu", (unsigned long long)value);
	return options_set(to->options, to->protocol, name, number, "--space");
}

int sim_read_options(const struct sim_run *run, const struct lock_protocol *p, struct options *o)
{
	const struct settings *s = run->set;
	int rc = PAWL_SUCCESS;

	options_default(o, p);
	if (run->workload->held > 1)
		o->threads = THREADS_SINGLE; /* a rank has one slot of each lock at most */
	if (workload_is(run->workload, W_RANGES))
		rc = space_options(s, run->workload, kinds_public(p), set_for_space,
				   &(struct setting){o, p});
	for (int i = 0; i < s->lock_options && rc == PAWL_SUCCESS; i++) {
		const char *option = s->lock_option[i], *equals = strchr(option, '=');
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)(equals - option), option);
		if (kind_takes(kinds_public(p), name, strlen(name)))
			rc = options_set(o, p, name, equals + 1, "-o");
	}
	if (rc == PAWL_SUCCESS)
		rc = options_environment(o, p);
	return rc == PAWL_SUCCESS ? options_check(o) : rc;
}

static void choose_length(struct sim_run *run)
{
	const struct settings *s = run->set;

	run->active = s->active ? s->active : run->ranks;
	run->most = s->iterations ? s->iterations * (uint64_t)run->active
				  : TURNS_EACH * (uint64_t)run->active;
	if (!s->iterations && run->most < TURNS_LEAST)
		run->most = TURNS_LEAST;
	run->warm = workload_is(run->workload, W_FRESH) ? 1 : run->most / 10 + 1;
	run->limit = (sim_time)(s->seconds * (double)SIM_S);
	if (run->limit && !s->iterations)
		run->most = 0;
}

/* The active ranks, in order, and the law of each one's ranges. */
static void number_clients(struct sim_run *run)
{
	const struct settings *s = run->set;
	int client = 0;

	for (int id = 0; id < run->ranks; id++) {
		struct sim_part *part = &run->part[id];

		if (!part->is_active)
			continue;
		part->client = client++;
		if (workload_is(run->workload, W_LENGTHS))
			spans_start(&part->spans, (int64_t)s->space, (int64_t)s->length, s->zipf,
				    part->client, run->active);
	}
}

/* In the hash table all ranks but its owner are active. Otherwise --active and --active-on choose
 * them, beginning with the home of lock 0. */
static void choose_active(struct sim_run *run)
{
	const struct topo *t = run->world->topo;
	uint64_t index;
	int home = 0, place = 0;

	lock_home(&run->world->setup, 0, &home, &index);
	run->owner = home;
	if (workload_is(run->workload, W_BY_ITSELF) && run->ranks > 1)
		run->active = run->ranks - 1;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < run->ranks; i++) {
			int id = (home + i) % run->ranks;
			bool near = t->node[id] == t->node[home];

			if (workload_is(run->workload, W_BY_ITSELF) && id == home && run->ranks > 1)
				continue;
			if ((near == (run->set->active_on == ON_HOME)) == (pass == 0) &&
			    place++ < run->active)
				run->part[id].is_active = true;
		}
	}
	number_clients(run);
}

static void choose_writers(struct sim_run *run)
{
	double fw = run->set->fw / 100;
	bool shares =
	    run->contestant->kind && (run->contestant->kind->capabilities & PAWL_CAP_SHARED);

	run->writers = !shares || fw >= 1 ? UINT32_MAX : (uint32_t)(fw * 0x1p32);
	run->failures = (uint32_t)(run->set->fail * 0x1p32);
}

/* Distribute the locks over the ranks of all nodes: homes for the layout. */
static bool deal_locks(struct sim_run *run, const struct topo *t)
{
	uint64_t n = run->set->n, *count = calloc((size_t)run->ranks, sizeof *count);
	int *order = locktable_order(t->node, run->ranks);

	run->homes = malloc(sizeof *run->homes * n);
	for (uint64_t l = 0; count && order && run->homes && l < n; l++) {
		int rank = locktable_home(l, order, run->ranks, n);

		run->homes[l] = (uint64_t)rank << HOME_INDEX_BITS | count[rank]++;
		run->block = count[rank] > run->block ? count[rank] : run->block;
	}
	free(count);
	free(order);
	return run->block > 0;
}

/* The near and far locks of each node. */
static bool sort_locks(struct sim_run *run, const struct topo *t)
{
	uint64_t n = run->set->n;

	run->node_locks = calloc((size_t)t->nnodes, sizeof *run->node_locks);
	for (int node = 0; run->node_locks && node < t->nnodes; node++) {
		struct locktable *l = &run->node_locks[node];

		if (!locktable_start(l, n, run->set->locality))
			return false;
		for (uint64_t i = 0; i < n; i++)
			locktable_add(l, i, t->node[run->homes[i] >> HOME_INDEX_BITS] == node);
	}
	return run->node_locks != NULL;
}

/* A lock server: the ranks of the first node have the locks, in turn. */
static bool deal_to_first_node(struct sim_run *run, const struct topo *t)
{
	uint64_t n = run->set->n, servers = 0;
	int *server = malloc(sizeof *server * (size_t)run->ranks);

	run->homes = malloc(sizeof *run->homes * n);
	for (int id = 0; server && id < run->ranks; id++)
		if (t->node[id] == t->node[0])
			server[servers++] = id;
	for (uint64_t l = 0; server && run->homes && l < n; l++)
		run->homes[l] = (uint64_t)server[l % servers] << HOME_INDEX_BITS | l / servers;
	run->block = server && run->homes ? (n + servers - 1) / servers : 0;
	free(server);
	return run->block > 0;
}

/* The homes of locks, if the options do not determine them. */
static int choose_homes(struct sim_run *run, const char *topology)
{
	char err[200] = "";
	struct topo *t;
	bool ok, near_and_far = workload_is(run->workload, W_NEAR_AND_FAR);
	bool dealt =
	    run->set->homes == HOMES_ALL && (near_and_far || workload_is(run->workload, W_DEALT));

	if (run->set->homes == HOMES_ALL && !dealt)
		return PAWL_SUCCESS;
	t = topo_parse(topology, run->ranks, err, sizeof err);
	if (!t)
		return error_set(PAWL_ERR_TOPOLOGY, "%s", err);
	ok = dealt ? deal_locks(run, t) : deal_to_first_node(run, t);
	if (near_and_far)
		ok = ok && sort_locks(run, t);
	topo_free(t);
	return ok ? PAWL_SUCCESS : error_set(PAWL_ERR_NOMEM, "out of memory");
}

static void free_locks(struct sim_run *run)
{
	for (int node = 0; run->node_locks && node < run->world->topo->nnodes; node++)
		locktable_end(&run->node_locks[node]);
	free(run->node_locks);
	free(run->homes);
}

/* Whether a holder may lose the lock: clients forget locks, or readers have it by a lease only. */
static bool may_lose(const struct sim_run *run, const struct lock_protocol *p)
{
	return run->set->fail > 0 || !(p->kind.capabilities & PAWL_CAP_RECOVERS);
}

static bool make_world(struct sim_run *run, const struct lock_protocol *p, const struct options *o)
{
	bool few = run->set->n < SIM_CELLS && !workload_is(run->workload, W_FILES);
	uint64_t cells = few ? run->set->n : SIM_CELLS;
	struct sim_request q = {
	    .protocol = p,
	    .options = o,
	    .topology = o->topology ? o->topology : run->machine->topology,
	    .ranks = run->ranks,
	    .locks = run->set->n,
	    .slots = run->set->fail > 0    ? SLOTS
		     : run->workload->held ? run->workload->held
					   : 1,
	    .lease_ns = may_lose(run, p) ? (uint64_t)options_number(o, "lease", 0) * 1000 : 0,
	    .seed = run->set->seed,
	    .ordered = run->machine->ordered,
	    .timing = &machine_timing,
	    .servers = run->machine->server.threads ? &machine_servers : NULL,
	    .extra = workload_is(run->workload, W_BY_ITSELF) ? sim_table_bytes(run) : cells * 64,
	    .recorded = run->set->trace != NULL,
	    .play = sim_play,
	    .user = run,
	};

	if (choose_homes(run, q.topology) != PAWL_SUCCESS)
		return false;
	q.homes = run->homes;
	q.block = run->block;
	run->world = sim_world_create(&q);
	run->part = calloc((size_t)run->ranks, sizeof *run->part);
	if (!run->world || !run->part)
		return false;
	if (network_nodes() && run->world->topo->nnodes > network_nodes()) {
		error_set(PAWL_ERR_TOPOLOGY, "the network has %d nodes, and the topology %d",
			  network_nodes(), run->world->topo->nnodes);
		return false;
	}
	run->world->request.timing_state = machine_start(run->machine, run->world->topo->nnodes);
	for (int id = 0; id < run->ranks; id++)
		run->part[id].data.rma = &run->world->ranks[id].rma;
	return run->world->request.timing_state != NULL;
}

/* ------------------------------------------------------------------- what came out */

static double per_acquire(const struct sim_run *run, enum rma_call k, int far, double acquires)
{
	return (double)(run->after[k][far] - run->before[k][far]) / acquires;
}

static void count_operations(const struct sim_run *run, struct outcome *out)
{
	double n = out->acquires ? (double)out->acquires : 1;

	out->counted = run->contestant->kind != NULL;
	out->far_atomic = per_acquire(run, RMA_ATOMIC, 1, n);
	out->far_get = per_acquire(run, RMA_GET, 1, n);
	out->far_put = per_acquire(run, RMA_PUT, 1, n);
	out->far = out->far_atomic + out->far_get + out->far_put;
	out->atomic = out->far_atomic + per_acquire(run, RMA_ATOMIC, 0, n);
	out->get = out->far_get + per_acquire(run, RMA_GET, 0, n);
	out->put = out->far_put + per_acquire(run, RMA_PUT, 0, n);
	out->flush = per_acquire(run, RMA_FLUSH, 0, n) + per_acquire(run, RMA_FLUSH, 1, n);
	out->waits = (double)run->waits / n;
	out->aborts = (double)run->aborts / n;
	out->abandoned = run->forgotten;
	out->leases_lost = run->leases_lost;
}

static void add_up(const struct sim_run *run, struct outcome *out)
{
	double *acquires = malloc(sizeof *acquires * (size_t)run->ranks), least = HUGE_VAL;
	int active = 0;

	memset(out, 0, sizeof *out);
	for (int id = 0; acquires && id < run->ranks; id++) {
		const struct sim_part *part = &run->part[id];

		out->acquires += part->acquires;
		out->exclusive += part->exclusive;
		if (!part->is_active)
			continue;
		acquires[active++] = (double)part->acquires;
		least = fmin(least, (double)part->acquires);
	}
	out->seconds = (double)(run->end - run->start) / (double)SIM_S;
	out->throughput = out->seconds > 0 ? (double)out->acquires / out->seconds : 0;
	out->halves = steady_halves(&run->steady, run->start, run->end);
	snprintf(out->unsteady, sizeof out->unsteady, "%s", run->unsteady);
	out->lengthened = run->steady.lengthened;
	out->slowest = out->seconds > 0 ? least / out->seconds : 0;
	out->fairness = acquires ? jain(acquires, active) : 0;
	free(acquires);
	spread_of(&out->all, &run->hist, (double)SIM_NS);
	for (int i = 0; run->workload->series && run->workload->series[i]; i++)
		spread_of(&out->series[i], &run->series[i], (double)SIM_NS);
	for (int i = 0; i < TIMELINE && run->limit; i++)
		out->timeline[i] =
		    (double)run->timeline[i] * TIMELINE * (double)SIM_S / (double)run->limit;
	out->p50 = out->all.p50;
	out->p99 = out->all.p99;
	out->max = out->all.max;
	count_operations(run, out);
}

static void note_world(const struct sim_run *run, struct result *r)
{
	const struct sim_world *w = run->world;
	const struct lock_protocol *p = w->request.protocol;

	r->active = run->active;
	r->nodes = w->topo->nnodes;
	snprintf(r->transport, sizeof r->transport, "simulated");
	snprintf(r->topology, sizeof r->topology, "%s", w->topo->text);
	if (p->describe && run->contestant->kind)
		p->describe(&w->setup, r->parameters, sizeof r->parameters);
}

static int check_verdict(struct sim_run *run, enum sim_verdict v, struct outcome *out, char *why,
			 size_t whylen)
{
	if (v == SIM_FINE && workload_is(run->workload, W_BY_ITSELF))
		out->violations = sim_table_wrong(run);
	if (v == SIM_FINE && !out->violations)
		return BENCH_OK;
	if (v == SIM_FINE)
		snprintf(why, whylen, "the hash table has lost or won %llu elements",
			 (unsigned long long)out->violations);
	else
		snprintf(why, whylen, "%s", run->world->why);
	return v == SIM_STUCK || v == SIM_STARVED ? BENCH_HANG : BENCH_VIOLATION;
}

/* Each run is a table of the file. */
static bool write_trace(const struct sim_run *run)
{
	static unsigned number;
	char about[160];

	snprintf(about, sizeof about, "%s, %s", run->contestant->name, run->workload->name);
	return sim_recorder_write(run->world, run->set->trace, ++number, about);
}

/* Check options against the workload; false: why has a message. */
static bool fits(const struct sim_run *run, char *why, size_t whylen)
{
	const struct settings *s = run->set;
	uint64_t longest = s->length ? s->length : (uint64_t)span_sizes[SPAN_SIZES - 1];

	if (workload_is(run->workload, W_NEAR_AND_FAR) && s->homes != HOMES_ALL) {
		snprintf(why, whylen, "--homes: %s deals its locks to all nodes; accepted: all",
			 run->workload->name);
		return false;
	}
	if (workload_is(run->workload, W_LENGTHS) && longest > s->space) {
		snprintf(why, whylen,
			 "--space: %llu units are fewer than the --length; accepted: from %llu on",
			 (unsigned long long)s->space, (unsigned long long)longest);
		return false;
	}
	return true;
}

int sim_run(struct sim_run *run, struct result *r, struct outcome *out, char *why, size_t whylen)
{
	/* A contestant without a lock needs a layout, too; that of any kind will do. */
	const struct lock_protocol *p =
	    run->contestant->kind ? kinds_find(run->contestant->name) : kinds_get(0);
	struct options o;
	int rc = BENCH_USAGE;

	if (!fits(run, why, whylen))
		return BENCH_USAGE;
	choose_length(run);
	choose_writers(run);
	zipf_start(&run->zipf, run->set->n, run->set->zipf);
	if (sim_read_options(run, p, &o) != PAWL_SUCCESS || !make_world(run, p, &o)) {
		snprintf(why, whylen, "%s", pawl_error_message());
	} else if (!sim_apps_fit(run, run->world->topo->nnodes, why, whylen)) {
		rc = BENCH_USAGE;
	} else {
		enum sim_verdict v;

		choose_active(run);
		v = sim_world_run(run->world);
		add_up(run, out);
		note_world(run, r);
		rc = check_verdict(run, v, out, why, whylen);
		if (run->set->trace && !write_trace(run)) {
			snprintf(why, whylen, "--trace: cannot write that file");
			rc = BENCH_USAGE;
		}
	}
	options_free(&o);
	if (run->world) {
		free_locks(run);
		for (int id = 0; run->part && id < run->ranks; id++)
			sim_apps_end(&run->part[id]);
		machine_end(run->world->request.timing_state);
		sim_world_free(run->world);
	}
	free(run->part);
	return rc;
}
