/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a table; the same for the library and the simulator. */
#include "core/space.h"

#include <stdlib.h>

#include "core/error.h"

uint64_t lock_reserve(struct lock_space *s, uint64_t locks, uint64_t bytes)
{
	uint64_t at = s->bytes;

	s->bytes += (locks * bytes + 63) / 64 * 64;
	return at;
}

void space_begin(struct lock_space *s, const struct lock_protocol *p, const struct topo *topo,
		 const struct options *o, uint64_t n)
{
	uint64_t ranks = (uint64_t)topo->nranks;

	*s = (struct lock_space){
	    .protocol = p,
	    .topo = topo,
	    .params = o->params,
	    .n = n,
	    .home = o->home,
	    .block = (n + ranks - 1) / ranks,
	    .max_held = (int)o->max_held,
	    .domain = topo->nnodes == 1 && !p->network ? RMA_NODE : RMA_NET,
	};
}

int space_layout(struct lock_space *s)
{
	char err[ERROR_LENGTH] = "";
	int rc;

	s->bytes = RMA_HEADER_BYTES;
	s->slots = lock_reserve(s, (uint64_t)s->max_held, SLOT_BYTES);
	rc = s->protocol->layout(s, err, sizeof err);
	return rc == PAWL_SUCCESS ? rc : error_set(rc, "%s", err);
}

void space_free(struct lock_space *s)
{
	if (s->protocol && s->protocol->destroy)
		s->protocol->destroy(s);
	free(s->state);
	s->state = NULL;
}
