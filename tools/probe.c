/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses pairs of ranks, and measures the times of operations between them. The words are
 * like those of locks: NODE words within a node, NET words between nodes and, if
 * there are several nodes, also within a node.
 *
 * A time is the median of an operation and its flush. The target
 * drives its MPI meanwhile. Then the target sleeps outside the MPI, and an operation on
 * it either completes meanwhile or waits for the end of the sleep.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "info.h"

enum {
	SAMPLES = 51,
	LEAST_SAMPLES = 5,
	CPU_BATCH = 1000,       /* CPU operations are shorter than a reading of the clock */
	BUDGET_NS = 200000000,  /* an operation, for all samples */
	AHEAD_NS = 30000000,    /* so long after the target fell asleep an operation begins, */
	ASLEEP_NS = 200000000,  /* while it sleeps for so long. Half of the rest */
	ASYNC_NS = 85000000,    /* an operation that took longer waited for the target */
	WORD = RMA_HEADER_BYTES /* offset of the word that is operated on */
};

static void sleep_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

void info_meet(MPI_Comm comm, bool alert)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(comm, &request);
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
		if (alert)
			sched_yield();
		else
			sleep_ns(500000);
}

/* ------------------------------------------------------------------ operations */

/* A word of a table. */
struct target {
	struct rma_client client;
	struct rma_word word;
};

static void operate(void *arg, enum info_op op)
{
	struct target *t = arg;
	struct rma_client *c = &t->client;
	struct rma_word w = t->word;
	int64_t ignored;

	switch (op) {
	case OP_FETCH_ADD:
		rma_fao(c, w, RMA_SUM, 1, &ignored);
		break;
	case OP_SWAP:
		rma_fao(c, w, RMA_REPLACE, 1, &ignored);
		break;
	case OP_CAS:
		rma_cas(c, w, 1, 2, &ignored);
		break;
	case OP_PUT:
		rma_put(c, w, 1);
		break;
	default:
		rma_get(c, w, &ignored);
	}
	rma_flush(c, w); /* completes the operation, which is what is measured */
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double info_round_trip(void (*perform)(void *arg, enum info_op op), void *arg, enum info_op op,
		       int batch)
{
	int n = 0;
	uint64_t start = rma_now_ns();
	double ns[SAMPLES];

	perform(arg, op);
	while (n < SAMPLES && (n < LEAST_SAMPLES || rma_now_ns() - start < BUDGET_NS)) {
		uint64_t before = rma_now_ns();

		for (int i = 0; i < batch; i++)
			perform(arg, op);
		ns[n++] = (double)(rma_now_ns() - before) / batch;
	}
	qsort(ns, (size_t)n, sizeof ns[0], by_value);
	return ns[n / 2];
}

static struct target target_of(struct info *in, const struct info_path *p)
{
	return (struct target){
	    .client = {.rma = &in->rma},
	    .word = rma_word(&in->rma, p->domain, p->to, WORD),
	};
}

/* Measure the times of a path; runs at the origin. */
static void measure(struct info *in, struct info_path *p)
{
	struct target t = target_of(in, p);
	int batch = rma_is_cpu(t.word) ? CPU_BATCH : 1;

	for (int op = 0; op < OPS; op++)
		p->ns[op] = info_round_trip(operate, &t, (enum info_op)op, batch);
}

static void measure_asleep(struct info *in, struct info_path *p)
{
	struct target t = target_of(in, p);
	uint64_t before;

	sleep_ns(AHEAD_NS);
	before = rma_now_ns();
	operate(&t, OP_FETCH_ADD);
	before = rma_now_ns() - before;
	p->asleep_ms = (double)before * 1e-6;
	p->asynchronous = before < ASYNC_NS;
}

static void probe_path(struct info *in, struct info_path *p, MPI_Comm comm)
{
	double all[OPS + 2];
	int rank = in->rma.rank;

	info_meet(comm, true);
	if (rank == p->from)
		measure(in, p);
	info_meet(comm, rank == p->to || rank == p->from);
	if (rank == p->from)
		measure_asleep(in, p);
	else if (rank == p->to)
		sleep_ns(ASLEEP_NS);
	info_meet(comm, rank == p->to || rank == p->from);
	memcpy(all, p->ns, sizeof p->ns);
	all[OPS] = p->asleep_ms;
	all[OPS + 1] = p->asynchronous;
	MPI_Bcast(all, OPS + 2, MPI_DOUBLE, p->from, comm);
	memcpy(p->ns, all, sizeof p->ns);
	p->asleep_ms = all[OPS];
	p->asynchronous = all[OPS + 1] != 0;
}

/* ----------------------------------------------------------------------- pairs */

enum nearness { COMPLEX, PACKAGE, NODE, REMOTE, CLASSES };

/* The class of two ranks, by levels that divide the ranks. */
static enum nearness class_of(const struct topo *t, int a, int b)
{
	enum nearness best = NODE;

	if (t->node[a] != t->node[b])
		return REMOTE;
	for (int i = 1; i <= t->nlevels; i++) {
		enum topo_type type = t->level[i - 1].type;

		if (topo_element(t, a, i) != topo_element(t, b, i))
			continue;
		if (type == TOPO_CACHE)
			best = COMPLEX;
		else if (type == TOPO_PACKAGE || type == TOPO_NUMA)
			best = PACKAGE;
	}
	return best;
}

static void add_path(struct info *in, enum nearness near, int from, int to, enum rma_domain domain)
{
	static const char *const names[] = {"core complex", "package", "node", "remote"};
	struct info_path *p = &in->path[in->npaths++];

	p->between = names[near];
	p->from = from;
	p->to = to;
	p->domain = domain;
	p->transport = domain == RMA_NODE ? "cpu" : in->rma.transport->name;
}
_Static_assert(INFO_PATHS >= 2 * (int)CLASSES, "a path for each class and domain");

/* The first pair of each class. */
static void choose_pairs(struct info *in)
{
	const struct topo *t = in->place.topo;
	int from[CLASSES], to[CLASSES], found = 0;

	for (int i = 0; i < CLASSES; i++)
		from[i] = -1;
	for (int a = 0; a < t->nranks && found < CLASSES; a++) {
		for (int b = a + 1; b < t->nranks; b++) {
			enum nearness near = class_of(t, a, b);

			if (from[near] >= 0)
				continue;
			from[near] = a;
			to[near] = b;
			found++;
		}
	}
	for (int i = 0; i < CLASSES; i++) {
		if (from[i] < 0)
			continue;
		if (i != REMOTE)
			add_path(in, (enum nearness)i, from[i], to[i], RMA_NODE);
		if (in->networked)
			add_path(in, (enum nearness)i, from[i], to[i], RMA_NET);
	}
}

void info_probe(struct info *in, MPI_Comm comm)
{
	choose_pairs(in);
	for (int i = 0; i < in->npaths; i++) {
		probe_path(in, &in->path[i], comm);
		for (int op = OP_FETCH_ADD; op <= OP_CAS; op++)
			if (in->path[i].ns[op] > in->round_trip_ns)
				in->round_trip_ns = in->path[i].ns[op];
	}
}
