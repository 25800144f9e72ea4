/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributed counter (DC) of RMA-RW: Section 3.2.1 of the paper. Readers are spread over
 * physical counters; a writer that has the root queue settles with all of them. Two forms:
 * readers_ticket.c and readers_gate.c.
 */
#ifndef LOCK_TREE_READERS_H
#define LOCK_TREE_READERS_H

#include "lock/tree/queue_tree.h"

/* The options of the kind with these readers. */
struct rma_rw_options {
	struct queue_tree_options tree;
	int64_t t_dc; /* ranks that share a counter; 0: those of a node */
	int64_t t_r;  /* readers that a counter admits before a waiting writer closes it */
	int64_t t_w;  /* writers in a row; 0: the product of t_l + 1 */
};
_Static_assert(sizeof(struct rma_rw_options) <= LOCK_OPTION_BYTES, "the options fit");

static inline const struct rma_rw_options *rma_rw_options(const struct lock_setup *s)
{
	return lock_options(s);
}

struct rma_rw_slot {
	struct queue_slot queue;
	bool as_writer; /* it came through the tree */
	uint8_t phase;  /* of a reader at a gate counter */
};
_Static_assert(sizeof(struct rma_rw_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct rma_rw_slot *rma_rw_slot(struct lock_slot *slot)
{
	return lock_own(slot);
}

/* The ranks that share a counter: T_DC consecutive ranks in topology order (the last group may be
 * smaller), or the ranks of a node. */
struct readers {
	const struct readers_form *form;
	int groups;
	bool by_node; /* groups are the nodes */
	int t_dc;
	bool own;              /* groups and where they start are not those of the topology */
	int min_size;          /* ranks in the smallest group */
	struct lock_area area; /* of the counters; its elements are the groups, c(p) */
	enum rma_domain domain;
	int64_t t_r;
};

/* How long a writer waits between two looks whether the readers' turn is over. It does not park on
 * a count: each reader that leaves would have to wake it, and a system call costs more than ten
 * read locks. */
enum { READERS_LOOK_MIN_NS = 5000, READERS_LOOK_MAX_NS = 500000 };

/* The result for a reader: it is in; it is not, because writers kept changing the gate between its
 * steps, and it should enter as a writer; its deadline has passed, and it is not counted any
 * more. */
enum readers_entry { READERS_IN, READERS_AS_WRITER, READERS_TIMEOUT };

struct readers_form {
	const char *name;
	uint64_t bytes;   /* of a counter */
	uint64_t scratch; /* int64_t for each counter that a writer's slot needs */
	enum readers_entry (*enter)(const struct lock_setup *s, const struct readers *r,
				    struct lock_slot *slot);
	/* The same without waiting. False: a writer is there. */
	bool (*try_enter)(const struct lock_setup *s, const struct readers *r,
			  struct lock_slot *slot);
	void (*leave)(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot);
	/* For the writer at the head of the root queue: close all counters, and wait until the
	 * readers inside have left. False: its deadline has passed, and the counters are open. */
	bool (*close)(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot);
	/* The same without waiting. False: readers are inside, and nothing has changed. */
	bool (*try_close)(const struct lock_setup *s, const struct readers *r,
			  struct lock_slot *slot);
	/* Give the lock to the readers. Complete at all counters on return. */
	void (*open)(const struct lock_setup *s, const struct readers *r, struct lock_slot *slot);
	/* For the words of one counter; see struct lock_protocol. */
	bool (*idle)(const int64_t *counter, char *err, size_t errlen);
	void (*age)(int64_t *counter);
};

extern const struct readers_form readers_ticket, readers_gate;
/* Both forms count the present readers in 32 bits. */
#define READERS_MOST UINT64_C(0xffffffff)

int readers_layout(struct lock_setup *s, struct readers *r, char *err, size_t errlen);
void readers_free(struct readers *r);

static inline struct rma_word readers_word(const struct lock_setup *s, const struct readers *r,
					   struct rma_client *c, uint64_t lock, int g,
					   uint64_t offset)
{
	int rank;
	uint64_t place = lock_area_place(s, &r->area, g, lock, &rank);

	return rma_word(c->rma, r->domain, rank, place + offset);
}

/* Another word of the counter that w is the first word of. */
RMA_INLINE struct rma_word readers_beside(struct rma_word w, int offset)
{
	w.offset += (uint64_t)offset;
	if (w.map)
		w.map += offset / (int)sizeof(int64_t);
	return w;
}

static inline int64_t *readers_memory(const struct lock_setup *s, const struct readers *r,
				      const struct lock_memory *m, uint64_t lock, int g)
{
	int rank;
	uint64_t place = lock_area_place(s, &r->area, g, lock, &rank);

	return lock_memory_word(m, rank, place);
}

static inline int readers_own_group(const struct readers *r, const struct rma_client *c)
{
	return r->area.element[c->rma->rank];
}

/* Whether any counter is on another node. */
static inline bool readers_far(const struct lock_setup *s)
{
	return s->topo->nnodes > 1;
}

#endif
