/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a table; the same for the library and the simulator. */
#include "table/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/events.h"

const struct lock_protocol *setup_protocol(const struct lock_protocol *p, const struct topo *topo)
{
	return p->nodes && topo->nnodes > 1 ? p->nodes : p;
}

void setup_begin(struct lock_setup *s, const struct lock_protocol *p, const struct topo *topo,
		 const struct options *o, uint64_t n)
{
	uint64_t ranks = (uint64_t)topo->nranks;

	*s = (struct lock_setup){
	    .protocol = p,
	    .topo = topo,
	    .n = n,
	    .home = o->home,
	    .block = (n + ranks - 1) / ranks,
	    .max_held = (int)o->max_held,
	    .held_may_fall = !o->held_given,
	    .clients = ranks * (o->threads == THREADS_MULTIPLE ? (uint64_t)o->max_held : 1),
	    .events = o->events == EVENTS_YES,
	    .names = o->names == NAMES_YES,
	    .domain = topo->nnodes == 1 && !p->by_network ? RMA_NODE : RMA_NET,
	};
	memcpy(s->options, o->own, sizeof s->options);
}

/* Slots, what any kind may have, and the words of the protocol. */
static int lay_out(struct lock_setup *s, char *err, size_t errlen)
{
	const struct lock_protocol *p = s->protocol;

	s->bytes = RMA_HEADER_BYTES;
	s->areas = 0;
	s->uneven = false;
	s->slots = lock_reserve(s, (uint64_t)s->max_held, SLOT_BYTES);
	if (s->events) {
		s->events = lock_reserve(s, s->block, EVENT_BYTES);
		s->event_nodes = lock_reserve(s, (uint64_t)s->max_held, EVENT_BYTES);
	}
	if (s->names)
		s->names = lock_reserve(s, s->block, CLIENT_NAME_BYTES);
	if (p->recover && p->recover->life && lock_lease_us(s) > 0)
		s->lives = lock_reserve(s, s->block, LIFE_BYTES);
	if (s->board_bytes)
		s->board = lock_reserve(s, 1, s->board_bytes);
	if (p->home_bytes)
		s->words = lock_reserve(s, s->block, p->home_bytes);
	if (p->most_clients && !lock_counts_clients(s, p->most_clients, err, errlen))
		return PAWL_ERR_OPTION;
	if (p->most_slots && !lock_counts_slots(s, p->most_slots, err, errlen))
		return PAWL_ERR_UNSUPPORTED;
	s->state = p->state_bytes ? calloc(1, p->state_bytes) : NULL;
	if (p->state_bytes && !s->state) {
		snprintf(err, errlen, "out of memory");
		return PAWL_ERR_NOMEM;
	}
	return p->layout ? p->layout(s, err, errlen) : PAWL_SUCCESS;
}

static void halve_held(struct lock_setup *s)
{
	uint64_t ranks = (uint64_t)s->topo->nranks;

	setup_free(s);
	s->max_held /= 2;
	if (s->clients > ranks)
		s->clients = ranks * (uint64_t)s->max_held;
}

int setup_layout(struct lock_setup *s)
{
	char err[ERROR_LENGTH] = "";
	int rc = lay_out(s, err, sizeof err);

	while ((rc == PAWL_ERR_OPTION || rc == PAWL_ERR_UNSUPPORTED) && s->held_may_fall &&
	       s->max_held > 1) {
		halve_held(s);
		rc = lay_out(s, err, sizeof err);
	}
	if (rc != PAWL_SUCCESS)
		return error_set(rc, "%s", err);
	if (s->bytes > LOCK_MOST_BYTES)
		return error_set(PAWL_ERR_NOMEM,
				 "%llu %s of %s with these options need more memory on each rank"
				 " than can be addressed (2^48 bytes)",
				 (unsigned long long)s->n,
				 s->protocol->kind.capabilities & PAWL_CAP_RANGES ? "spaces"
										  : "locks",
				 s->protocol->kind.name);
	return PAWL_SUCCESS;
}

void setup_free(struct lock_setup *s)
{
	if (s->state && s->protocol->destroy)
		s->protocol->destroy(s);
	free(s->state);
	s->state = NULL;
}
