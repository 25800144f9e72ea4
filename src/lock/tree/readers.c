/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assignment of readers to counters: c(p) and T_DC of the RMA-RW paper (HPDC'16), Section
 * 3.2.1.
 *
 * The paper puts a counter at every T_DC-th process. Here T_DC consecutive ranks in topology order
 * share one; by default the ranks of a node do, as the paper advises (Section 6). The form of the
 * counters follows:
 *   one node                  ticket, NODE words
 *   groups within nodes       gate, NODE words: readers stay on their node
 *   groups across nodes       ticket, NET words
 */
#include "lock/tree/readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both forms count the present readers in 32 bits. */
#define MOST_CLIENTS UINT64_C(0xffffffff)

/* The group number of every rank, ascending in topology order. */
static void number_groups(const struct lock_setup *s, struct readers *r)
{
	const struct topo *t = s->topo;

	r->groups = 0;
	for (int k = 0; k < t->nranks; k++) {
		int p = t->order[k];
		bool first = k == 0;

		if (r->by_node)
			first = first || t->node[p] != t->node[t->order[k - 1]];
		else
			first = first || k % r->t_dc == 0;
		r->groups += first;
		r->group[p] = r->groups - 1;
	}
}

static void list_members(const struct lock_setup *s, struct readers *r)
{
	const struct topo *t = s->topo;

	r->min_size = t->nranks;
	memcpy(r->members, t->order, (size_t)t->nranks * sizeof *r->members);
	for (int k = 0; k < t->nranks; k++) {
		int g = r->group[t->order[k]];

		if (k == 0 || g != r->group[t->order[k - 1]])
			r->first[g] = k;
	}
	r->first[r->groups] = t->nranks;
	for (int g = 0; g < r->groups; g++) {
		int size = r->first[g + 1] - r->first[g];

		if (size < r->min_size)
			r->min_size = size;
	}
}

static bool within_nodes(const struct lock_setup *s, const struct readers *r)
{
	for (int g = 0; g < r->groups; g++)
		for (int k = r->first[g] + 1; k < r->first[g + 1]; k++)
			if (s->topo->node[r->members[k]] != s->topo->node[r->members[k - 1]])
				return false;
	return true;
}

int readers_layout(struct lock_setup *s, struct readers *r, char *err, size_t errlen)
{
	size_t n = (size_t)s->topo->nranks;
	uint64_t size;

	if (!lock_counts_clients(s, MOST_CLIENTS, err, errlen))
		return PAWL_ERR_OPTION;

	/* Three arrays, because for one block the caller would have to know its size. They live as
	 * long as the space. */
	r->group = malloc(n * sizeof *r->group);
	r->first = malloc((n + 1) * sizeof *r->first);
	r->members = malloc(n * sizeof *r->members);
	if (!r->group || !r->first || !r->members) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	r->t_dc = (int)rma_rw_options(s)->t_dc;
	r->by_node = r->t_dc == 0;
	r->t_r = rma_rw_options(s)->t_r;
	number_groups(s, r);
	list_members(s, r);
	if (s->domain == RMA_NODE) {
		r->form = &readers_ticket;
		r->domain = RMA_NODE;
	} else if (within_nodes(s, r)) {
		r->form = &readers_gate;
		r->domain = RMA_NODE;
	} else {
		r->form = &readers_ticket;
		r->domain = RMA_NET;
	}
	size = (uint64_t)r->min_size;
	r->base = lock_reserve(s, (s->n + size - 1) / size, r->form->bytes);
	return PAWL_SUCCESS;
}
