/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table as its protocol sees it. It is the same on every rank, so thousands of virtual ranks
 * can share one.
 */
#ifndef LOCK_SETUP_H
#define LOCK_SETUP_H

#include "lock/option.h"
#include "rma/rma.h"
#include "topo/topo.h"

/* T_L,i, by type of level: passes within an element before the lock leaves it. */
enum { LOCK_LEVEL_TYPES = TOPO_GANG + 1 };

struct lock_protocol;

/*
 * Words that each element of a level of the topology has, or each group of ranks: n items of so
 * many bytes, spread over the ranks of the element. So the share of a rank depends on the size of
 * its element. Areas are at the end of the segments, behind what all ranks have alike.
 */
struct lock_area {
	const int *element;         /* [ranks] the element of each rank */
	const int *first, *members; /* the ranks of each element, as in struct topo_level */
	uint64_t n, bytes;
	uint64_t base; /* offset in the segments, unless it moves */
	int before;    /* how many areas are ahead of it */
	bool moves;    /* their elements differ in size, so the offset depends on the rank */
};
enum { LOCK_MOST_AREAS = TOPO_MAX_LEVELS + 2 };

enum lock_home { LOCK_HOME_BLOCK, LOCK_HOME_CYCLIC, LOCK_HOME_MAP };

struct lock_setup {
	const struct lock_protocol *protocol;
	const struct topo *topo;
	/* The values of the kind's options, in the structure of the kind. */
	_Alignas(int64_t) unsigned char options[LOCK_OPTION_BYTES];
	uint64_t n; /* locks */
	enum lock_home home;
	uint64_t block;        /* the largest number of locks at a rank */
	const uint64_t *homes; /* LOCK_HOME_MAP: rank << 40 | index, by lock */
	int max_held;
	bool held_may_fall; /* a layout that is refused is tried with fewer */
	uint64_t clients;   /* the largest number of clients at one lock at a time */
	/* Of words that every rank may change: NODE on one node, unless by_network. */
	enum rma_domain domain;
	/* Releases do not wait: the protocol has settled(), and the transport of NET words has
	 * rma_post(). While the layout is chosen: it may have. */
	bool posts;
	uint64_t slots;               /* offset of the queue nodes in every segment */
	uint64_t words;               /* of what locks have at their homes, mostly home_bytes */
	uint64_t events, event_nodes; /* offsets of words for events (client/events.h); 0: none */
	uint64_t names; /* offset of the names of the locks at their homes; 0: they have none */
	uint64_t lives; /* the same of the words of life.h */
	int era;        /* how many tables this one has replaced, at most LIFE_MOST_ERAS */
	uint64_t board_bytes, board; /* for option watchdog: 0 or how much; and the offset */
	uint64_t bytes;              /* of the largest segment at most, as reserved until now */
	struct lock_area area[LOCK_MOST_AREAS];
	int areas;
	bool uneven; /* elements of an area differ in size, and so do segments */
	/* The protocol's constants (state_bytes). */
	void *state;
};

/* The slots of all ranks: as many clients can be at one word. */
RMA_INLINE uint64_t lock_all_slots(const struct lock_setup *s)
{
	return (uint64_t)s->topo->nranks * (uint64_t)s->max_held;
}

/* A kind reads this as its structure of options. */
RMA_INLINE const void *lock_options(const struct lock_setup *s)
{
	return s->options;
}

/* Option lease in microseconds; 0 if it is 0 or the kind does not have it. */
int64_t lock_lease_us(const struct lock_setup *s);
void lock_set_lease_us(struct lock_setup *s, int64_t us);

#endif
