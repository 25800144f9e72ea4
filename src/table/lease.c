/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Make leases fit the machine. A lease tells a dead client from a slow one, so it has to be long
 * compared with an operation, and with the time for which a rank may have no core if ranks
 * outnumber cores, or another program needs its core for a time slice. A lease that is too short is
 * made longer when the table is created; a line on stderr and the table's parameters say so.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "table/table.h"

enum {
	ROUND_TRIPS = 9,      /* measured, of which the median counts */
	PER_ROUND_TRIP = 100, /* round trips that fit into a lease */
	TURN_US = 10000       /* time slice of another process on the same core */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median time that a get from another node takes, in microseconds, at least 1: for the rank in
 * slot->lock, into slot->first. */
static int measure(const struct lock_setup *s, struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = rma_word(c->rma, RMA_NET, (int)slot->lock, RMA_HEADER_BYTES);
	uint64_t ns[ROUND_TRIPS];

	(void)s;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		uint64_t before = rma_now_ns();
		int64_t value;

		rma_get(c, w, &value);
		rma_flush(c, w); /* completes the get, which is measured */
		ns[i] = rma_now_ns() - before;
	}
	qsort(ns, ROUND_TRIPS, sizeof ns[0], by_value);
	memset(c->count, 0, sizeof c->count);
	slot->first = (int64_t)(ns[ROUND_TRIPS / 2] / 1000) + 1;
	return PAWL_SUCCESS;
}

/* A rank of another node to measure with, spread over the ranks; -1: there is none. */
static int partner(const pawl_table *t)
{
	const struct topo *topo = t->setup.topo;

	for (int i = 1; i < topo->nranks; i++) {
		int rank = (t->rma.rank + i) % topo->nranks;

		if (topo->node[rank] != topo->node[t->rma.rank])
			return rank;
	}
	return -1;
}

/* Once in a process that prints warnings. */
static void warn(const pawl_table *t, int64_t asked, int64_t used)
{
	static atomic_flag done = ATOMIC_FLAG_INIT;

	if (table_is_first_rank(t->comm) && !atomic_flag_test_and_set(&done))
		fprintf(stderr,
			"pawl: option lease: %lld us is too short, because a rank may be without"
			" its core, or wait for answers, for as long; %lld us is used (a number is"
			" in microseconds; 300ms and 2s are accepted, too)\n",
			(long long)asked, (long long)used);
}

bool lease_counts(const pawl_table *t)
{
	return (t->setup.protocol->kind.capabilities & PAWL_CAP_RECOVERS) &&
	       lock_lease_us(&t->setup) > 0;
}

int lease_fit(pawl_table *t)
{
	struct lock_slot *slot = &t->clients.slots[0];
	int64_t lease = lock_lease_us(&t->setup), least = 0;
	int per_core = (t->job->host_ranks + t->job->host_cores - 1) / t->job->host_cores;
	int other = partner(t), rc = PAWL_SUCCESS;

	if (other >= 0) {
		slot->lock = (uint64_t)other;
		rc = client_perform(&t->clients, slot, measure);
		least = PER_ROUND_TRIP * slot->first;
	}
	if (rc != PAWL_SUCCESS)
		error_set(rc, "a get from another node failed, by which leases are measured");
	rc = table_agree(t->comm, rc);
	if (rc != PAWL_SUCCESS)
		return rc;
	if (per_core * TURN_US > least)
		least = per_core * TURN_US;
	/* Within this call the rank drives the MPI while others measure. */
	rc = PMPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MAX, t->comm);
	if (rc != MPI_SUCCESS)
		return table_mpi_failed("MPI_Allreduce", rc);
	if (least > lease) {
		t->asked_lease_us = lease;
		warn(t, lease, least);
		lock_set_lease_us(&t->setup, least);
	}
	return PAWL_SUCCESS;
}

void lease_describe(pawl_table *t)
{
	size_t used = strlen(t->parameters);

	if (t->asked_lease_us)
		snprintf(t->parameters + used, sizeof t->parameters - used,
			 " (%lld us asked for; round trips and cores want more)",
			 (long long)t->asked_lease_us);
}
