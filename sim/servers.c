/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers of it, llc and mt (baselines/server/range_server.c) in virtual time. The code of the
 * kinds is that which runs over an MPI; this file carries its messages and has the servers'
 * threads.
 *
 * The lowest rank of each node with locks has "server threads" threads, each with a core of its
 * own. A client is served by one of them, always the same one, as with eRPC. For each request a
 * thread needs the time "server request" for the messages, and then that of a call of the
 * structure, by the number of held ranges, plus that of the list of awaited ranges, for each one
 * compared. Threads use the structures of it and mt one after the other, because these are changed
 * under one lock, in the order in which they are ready. The list of llc is changed without a lock,
 * so threads do not wait for each other there. That is the most that such a list can do: threads
 * that change the same link at the same time begin again, which is not simulated.
 */
#include "baselines/server/server.h"
#include "sim/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_RANK = -1, MOST_THREADS = 256 };

/* A client's request, from its departure to the arrival of the answer. */
struct request {
	struct machine_message message; /* first to the server, then back */
	struct server_request what;
	struct servers *servers;
	struct thread *thread;
	int next;     /* the rank whose request the thread serves next, or NO_RANK */
	int answered; /* the rank that the thread answers next */
	bool yes, done;
	bool replied, waited; /* answered; and not in the call that served the request */
};

struct thread {
	struct servers *servers;
	int host, first, last; /* ranks whose requests wait here */
	bool is_busy;
	int answers, last_answer; /* ranks to answer at the end of the call */
};

struct servers {
	struct server *server;
	struct sim_world *world;
	struct request *request; /* [ranks] */
	struct thread **of_host; /* [ranks] the threads of the hosts, else NULL */
	sim_time *structure;     /* [ranks] of the hosts: when the lock is free */
	struct thread *serving;  /* the thread whose call runs now */
};

static const struct machine_server *times_of(const struct servers *s)
{
	return &machine_of(s->world)->server;
}

/* The thread of a client. */
static struct thread *thread_of(const struct servers *s, int host, int rank)
{
	int threads = times_of(s)->threads;

	return &s->of_host[host][rank % (threads < MOST_THREADS ? threads : MOST_THREADS)];
}

/* ------------------------------------------------------------------------ threads */

static bool changed_under_lock(const char *kind)
{
	return strcmp(kind, "it") == 0 || strcmp(kind, "mt") == 0;
}

/* The time of the call that has just ended, with what it has found in the structure. */
static sim_time call_time(const struct servers *s)
{
	const struct server *v = s->server;
	const struct machine_server *m = times_of(s);
	const char *kind = s->world->protocol.kind.name;
	sim_time waiting = v->compared * m->llc[1];
	double doublings = log2((double)v->holders + 1);

	if (strcmp(kind, "llc") == 0)
		return m->llc[0] + m->llc[1] * v->holders + waiting;
	if (strcmp(kind, "it") == 0)
		return m->it[0] + (sim_time)((double)m->it[1] * doublings) + waiting;
	return m->mt[0] + (sim_time)((double)m->mt[1] * doublings) + waiting;
}

static void begin(struct thread *t);

/* The answer has come back. */
static void answer_arrives(void *arg)
{
	struct request *q = arg;
	struct sim_rank *r = &q->servers->world->ranks[q->message.to];

	q->done = true;
	engine_wake(r->actor);
}

static void next_request(void *arg)
{
	struct thread *t = arg;

	t->is_busy = false;
	if (t->first != NO_RANK)
		begin(t);
}

/* The call has ended: send the answers, each but the first for half of the time of a request. */
static void finish(void *arg)
{
	struct thread *t = arg;
	struct servers *s = t->servers;
	sim_time more = 0;

	for (int rank = t->answers; rank != NO_RANK; rank = s->request[rank].answered) {
		struct request *q = &s->request[rank];

		q->message = (struct machine_message){s->world, t->host, rank, answer_arrives, q};
		machine_send(&q->message);
		if (rank != t->answers)
			more += times_of(s)->request / 2;
	}
	engine_at(engine_now() + more, next_request, t);
}

/* The thread has received its first request. */
static void call(void *arg)
{
	struct thread *t = arg;
	struct servers *s = t->servers;
	sim_time *free = &s->structure[t->host], start = engine_now(), took;
	int rank = t->first;

	/* Taken out now: another thread may answer this client, which then asks again, before this
	 * call ends. */
	t->first = s->request[rank].next;
	t->answers = NO_RANK;
	s->serving = t;
	s->server->calls->serve(s->server, &s->request[rank].what, rank);
	s->request[rank].waited = !s->request[rank].replied;
	took = call_time(s);
	if (changed_under_lock(s->world->protocol.kind.name)) {
		if (start < *free)
			start = *free;
		*free = start + took;
	}
	engine_at(start + took, finish, t);
}

static void begin(struct thread *t)
{
	t->is_busy = true;
	engine_at(engine_now() + times_of(t->servers)->request, call, t);
}

static void request_arrives(void *arg)
{
	struct request *q = arg;
	struct thread *t = q->thread;
	int rank = q->message.from;

	q->next = NO_RANK;
	if (t->first == NO_RANK)
		t->first = rank;
	else
		t->servers->request[t->last].next = rank;
	t->last = rank;
	if (!t->is_busy)
		begin(t);
}

/* ------------------------------------------------------------------------ carrier */

static void answer(const struct server *v, int rank, bool yes)
{
	struct servers *s = v->carried;
	struct thread *t = s->serving;
	struct request *q = &s->request[rank];

	q->yes = yes;
	q->replied = true;
	q->answered = NO_RANK;
	if (t->answers == NO_RANK)
		t->answers = rank;
	else
		s->request[t->last_answer].answered = rank;
	t->last_answer = rank;
}

static bool ask(const struct server *v, struct lock_slot *slot, int host,
		const struct server_request *r)
{
	struct servers *s = v->carried;
	struct sim_rank *rank = slot->client.rma->state;
	struct request *q = &s->request[rank->id];
	const char *before = rank->what;

	sim_step(rank);
	*q = (struct request){
	    .message = {s->world, rank->id, host, request_arrives, q},
	    .what = *r,
	    .servers = s,
	    .thread = thread_of(s, host, rank->id),
	};
	rank->what = "the server's answer";
	sim_sleep(rank, machine_of(s->world)->send);
	machine_send(&q->message);
	slot->client.waits++;
	while (!q->done)
		sim_block(rank);
	/* A request that met others, as an attempt of a client that begins again. */
	slot->aborts += q->waited;
	rank->what = before;
	return q->yes;
}

static void close_servers(struct server *v)
{
	struct servers *s = v->carried;

	if (!s)
		return;
	for (int r = 0; s->of_host && r < s->world->request.ranks; r++)
		free(s->of_host[r]);
	free(s->of_host);
	free(s->structure);
	free(s->request);
	free(s);
	v->carried = NULL;
}

static struct thread *make_threads(struct servers *s, int host)
{
	struct thread *t = calloc(MOST_THREADS, sizeof *t);

	for (int i = 0; t && i < MOST_THREADS; i++)
		t[i] = (struct thread){.servers = s, .host = host, .first = NO_RANK};
	return t;
}

/* Number the locks of all homes that have some, from 0 on. */
static bool number_locks(struct server *v, const struct lock_setup *s, struct servers *of)
{
	const int *node = s->topo->node;
	uint64_t index;
	int home;

	for (int r = 0; r < s->topo->nranks; r++)
		v->first[r] = UINT64_MAX;
	for (uint64_t l = 0; l < s->n; l++) {
		lock_home(s, l, &home, &index);
		if (v->first[home] != UINT64_MAX)
			continue;
		v->first[home] = v->mine;
		v->mine += s->block;
		while (v->host[home] < home && node[v->host[home]] != node[home])
			v->host[home]++;
		if (!of->of_host[v->host[home]])
			of->of_host[v->host[home]] = make_threads(of, v->host[home]);
		if (!of->of_host[v->host[home]])
			return false;
	}
	return true;
}

static int prepare(struct server *v, const struct lock_setup *s, void *world, char *err,
		   size_t errlen)
{
	struct servers *of = calloc(1, sizeof *of);
	size_t ranks = (size_t)s->topo->nranks;
	bool ok = of != NULL;

	v->carried = of;
	v->host = calloc(ranks, sizeof *v->host);
	v->first = calloc(ranks, sizeof *v->first);
	if (ok) {
		of->server = v;
		of->world = world;
		of->request = calloc(ranks, sizeof *of->request);
		of->of_host = calloc(ranks, sizeof(struct thread *));
		of->structure = calloc(ranks, sizeof *of->structure);
		ok = v->host && v->first && of->request && of->of_host && of->structure &&
		     number_locks(v, s, of);
	}
	if (ok)
		return PAWL_SUCCESS;
	snprintf(err, errlen, "out of memory");
	return PAWL_ERR_NOMEM;
}

const struct server_carrier machine_servers = {
    .prepare = prepare,
    .close = close_servers,
    .answer = answer,
    .ask = ask,
};
