/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table as its protocol sees it: the same on every rank, so that thousands of virtual ranks can
 * share one.
 */
#ifndef LOCK_SETUP_H
#define LOCK_SETUP_H

#include "lock/option.h"
#include "rma/rma.h"
#include "topo/topo.h"

/* Passes within an element before the lock leaves it: T_L,i by kind of level. */
enum { LOCK_LEVEL_KINDS = TOPO_GANG + 1 };

struct lock_protocol;

enum lock_home { LOCK_HOME_BLOCK, LOCK_HOME_CYCLIC, LOCK_HOME_MAP };

struct lock_setup {
	const struct lock_protocol *protocol;
	const struct topo *topo;
	/* The values of the kind's own options, laid out as the kind says. */
	_Alignas(int64_t) unsigned char options[LOCK_OPTION_BYTES];
	uint64_t n; /* locks */
	enum lock_home home;
	uint64_t block;        /* locks a rank, the most */
	const uint64_t *homes; /* LOCK_HOME_MAP: rank << 40 | index, by lock */
	int max_held;
	uint64_t clients;       /* at one lock at a time, the most */
	enum rma_domain domain; /* of words that every rank may change: NODE on one node,
				   unless by_network */
	bool posts;             /* releases do not wait: the protocol has settled, and the
				   transport of NET words rma_post() */
	uint64_t slots;         /* offset of the queue nodes in every segment */
	uint64_t bytes;         /* of a segment, so far */
	void *state;            /* the protocol's constants, from its layout(); free()d */
};

/* For a kind to read as its own structure. */
RMA_INLINE const void *lock_options(const struct lock_setup *s)
{
	return s->options;
}

/* Option lease, in microseconds; 0 also if the kind has none. */
int64_t lock_lease_us(const struct lock_setup *s);
void lock_set_lease_us(struct lock_setup *s, int64_t us);

#endif
