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

/* Groups of T_DC ranks, or of one if each node has one: arrays of this table, 12 bytes a rank. */
static bool number_groups(const struct lock_setup *s, struct readers *r, int size)
{
	const struct topo *t = s->topo;
	size_t n = (size_t)t->nranks;
	int *group = malloc(n * sizeof *group), *first = malloc((n + 1) * sizeof *first);

	r->area.element = group;
	r->area.first = first;
	r->own = true;
	if (!group || !first)
		return false;
	r->area.members = t->order;
	r->groups = 0;
	for (int k = 0; k < t->nranks; k++) {
		if (k % size == 0)
			first[r->groups++] = k;
		group[t->order[k]] = r->groups - 1;
	}
	first[r->groups] = t->nranks;
	r->min_size = t->nranks - first[r->groups - 1];
	if (size < r->min_size)
		r->min_size = size;
	return true;
}

/* The elements of the topology that are nodes; NULL: each node has one rank. */
static const struct topo_level *nodes_of(const struct topo *t)
{
	for (int i = 0; i < t->nlevels; i++)
		if (t->nnodes == 1 || t->level[i].type == TOPO_NODE)
			return &t->level[i];
	return NULL;
}

static bool find_groups(const struct lock_setup *s, struct readers *r)
{
	const struct topo_level *l = nodes_of(s->topo);

	if (!r->by_node || !l)
		return number_groups(s, r, r->by_node ? 1 : r->t_dc);
	r->groups = l->count;
	r->area.element = l->element;
	r->area.first = l->first;
	r->area.members = l->members;
	r->min_size = l->min_size;
	return true;
}

static bool within_nodes(const struct lock_setup *s, const struct readers *r)
{
	for (int g = 0; g < r->groups; g++)
		for (int k = r->area.first[g] + 1; k < r->area.first[g + 1]; k++)
			if (s->topo->node[r->area.members[k]] !=
			    s->topo->node[r->area.members[k - 1]])
				return false;
	return true;
}

void readers_free(struct readers *r)
{
	if (r->own) {
		free((int *)(uintptr_t)r->area.element);
		free((int *)(uintptr_t)r->area.first);
	}
}

int readers_layout(struct lock_setup *s, struct readers *r, char *err, size_t errlen)
{
	r->t_dc = (int)rma_rw_options(s)->t_dc;
	r->by_node = r->t_dc == 0;
	r->t_r = rma_rw_options(s)->t_r;
	if (!find_groups(s, r)) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
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
	r->area.n = s->n;
	r->area.bytes = r->form->bytes;
	lock_reserve_area(s, &r->area, r->min_size, r->groups);
	return PAWL_SUCCESS;
}
