/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks may die (transport ucx), an operation that fails, or a wait that will not end,
 * leaves the protocol where it stands and comes back here. Protocols keep nothing in acquire
 * and release that would have to be given back, but the slot: others may still write its words
 * when they get to know of it, so it never serves again.
 */
#include <setjmp.h>

#include "core/table.h"

int guard_run(const struct lock_space *s, struct lock_slot *slot,
	      int (*how)(const struct lock_space *, struct lock_slot *))
{
	struct rma_client *c = &slot->client;
	jmp_buf escape;
	int rc;

	c->escape = &escape;
	if (setjmp(escape) == 0)
		rc = how(s, slot);
	else
		rc = PAWL_ERR_PEER;
	c->escape = NULL;
	if (c->failed)
		rc = PAWL_ERR_PEER;
	c->failed = false;
	return rc;
}
