/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout, options and fairness of the two cohorts: see cohorts.h. */
#include "lock/cohorts/cohorts.h"

#include <stdio.h>
#include <stdlib.h>

/* The ranks of the largest node, and all ranks except those of the smallest. */
static bool count_clients(const struct lock_setup *s, struct cohorts *k)
{
	const struct topo *t = s->topo;
	int *size = calloc((size_t)t->nnodes, sizeof *size), most = 0, least = t->nranks;

	if (!size)
		return false;
	for (int p = 0; p < t->nranks; p++)
		size[t->node[p]]++;
	for (int n = 0; n < t->nnodes; n++) {
		most = size[n] > most ? size[n] : most;
		least = size[n] < least ? size[n] : least;
	}
	free(size);
	k->clients[RMA_NODE] = (uint64_t)most * (uint64_t)s->max_held;
	k->clients[RMA_NET] = (uint64_t)(t->nranks - least) * (uint64_t)s->max_held;
	return true;
}

int cohorts_layout(struct lock_setup *s, char *err, size_t errlen)
{
	if (count_clients(s, s->state))
		return PAWL_SUCCESS;
	snprintf(err, errlen, "out of memory");
	return PAWL_ERR_NOMEM;
}

void cohorts_describe(const struct lock_setup *s, char *text, size_t len)
{
	snprintf(text, len, "budgets: local %lld, remote %lld",
		 (long long)cohorts_options(s)->budget[RMA_NODE],
		 (long long)cohorts_options(s)->budget[RMA_NET]);
}

static uint64_t ahead_of(const struct lock_setup *s, enum rma_domain cohort)
{
	const struct cohorts *k = s->state;
	uint64_t ahead = k->clients[cohort] - 1;
	uint64_t other = (uint64_t)cohorts_options(s)->budget[cohort_other_than(cohort)];

	return ahead + other * (ahead + 1 + (ahead > 0));
}

uint64_t cohorts_most_ahead(const struct lock_setup *s)
{
	const struct cohorts *k = s->state;
	uint64_t local, remote;

	if (s->domain == RMA_NODE)
		return k->clients[RMA_NODE] - 1;
	local = ahead_of(s, RMA_NODE);
	remote = ahead_of(s, RMA_NET);
	return local > remote ? local : remote;
}
