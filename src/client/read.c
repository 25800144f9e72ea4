/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optimistic reads: a client looks at the lock, reads, and looks again whether an exclusive client
 * was in meanwhile. It changes no word that others see. A slot is claimed for each look only, for
 * its counts and the state of its operations.
 *
 * After READ_TRIES failures in a row the client acquires the lock in shared mode, so a read ends
 * however often others change what is read, if the kind is fair.
 */
#include "client/client.h"

#define READ_TRIES ATTEMPTS_OR(4, 2)

static int look(struct client_set *set, uint64_t lock, struct client_read *r,
		int (*how)(const struct lock_setup *, struct lock_slot *))
{
	int rc = PAWL_SUCCESS;
	struct lock_slot *slot = client_claim(set, lock, 0, NULL, &rc);

	if (!slot)
		return rc;
	slot->first = r->seen;
	rc = client_perform(set, slot, how);
	r->seen = slot->first;
	r->failures += rc == PAWL_ERR_BUSY;
	return client_give_back(set, slot, rc);
}

int client_read_begin(struct client_set *set, uint64_t lock, struct client_read *r)
{
	while (r->failures < READ_TRIES) {
		int rc = look(set, lock, r, set->setup->protocol->read->begin);

		if (rc != PAWL_ERR_BUSY)
			return rc;
	}
	return PAWL_ERR_BUSY;
}

int client_read_validate(struct client_set *set, uint64_t lock, struct client_read *r)
{
	int rc = look(set, lock, r, set->setup->protocol->read->validate);

	if (rc == PAWL_SUCCESS)
		r->failures = 0;
	return rc;
}
