/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of queues of RMA-MCS and of RMA-RW's writers; see queue_tree.c. */
#ifndef LOCK_TREE_QUEUE_TREE_H
#define LOCK_TREE_QUEUE_TREE_H

#include "lock/lock.h"

/* The options of a kind with a tree begin with these. */
struct queue_tree_options {
	int64_t t_l[LOCK_LEVEL_TYPES]; /* T_L,i by enum topo_type; [TOPO_MACHINE] is unused */
};
#define QUEUE_TREE_OPTION(structure, field)                                    \
	LOCK_LEVELS(structure, field, "t_l", 1, 1048575,                       \
		    "group:64,node:256,package:32,numa:32,cache:32,gang:1024", \
		    "hand-overs within an element of a level before the lock leaves it")

static inline const struct queue_tree_options *queue_tree_options(const struct lock_setup *s)
{
	return lock_options(s);
}

/* State of a slot from acquire to release; the slot state of a kind with a tree begins with it. */
struct queue_slot {
	struct rma_word tail; /* of the innermost queue */
	int64_t passed;       /* the counts of passes in the grant */
	int64_t left_behind;  /* the slot behind which it has left a place in that queue */
	int64_t answer;       /* result of the operation that empties a root queue that is posted */
	bool contended;       /* the last release found a successor at the root */
};
_Static_assert(sizeof(struct queue_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct queue_slot *queue_slot(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct queue_level {
	enum rma_domain domain; /* of this level's TAIL, LINK and STATUS words */
	uint64_t base;          /* level 1: offset of its words in the segments, */
	struct lock_area area;  /* and of other levels */
	uint64_t stride;        /* bytes a lock: TAIL and one LINK per child element */
	int64_t threshold;      /* T_L,i; unused at level 1 */
	int shift;              /* position of the count of passes in a grant */
	int64_t mask;           /* mask of the count, unshifted */
};

struct queue_tree {
	int n; /* levels */
	struct queue_level level[TOPO_MAX_LEVELS];
	int run_shift; /* RMA-RW: position of the count of writers in a row; 0: none */
	int64_t run_mask, run_limit;
	bool posts; /* the root queue is that of posted_root.h where the transport posts */
	struct lock_area root; /* the words for that */
};

/* For the descriptors of protocols with a tree; see lock.h. */
uint64_t queue_tree_overtakes(const struct lock_setup *s, const struct queue_tree *t);
bool queue_tree_idle(const struct lock_setup *s, const struct queue_tree *t, uint64_t lock,
		     const struct lock_memory *m, char *err, size_t errlen);

/* How a client got to the lock. */
enum queue_entry {
	QUEUE_PASSED, /* the lock was handed over to it */
	QUEUE_FRESH,  /* at the head of the root queue, without a hand-over: in RMA-MCS it has the
		       * lock; in RMA-RW it has to settle with the readers first */
	QUEUE_BUSY,   /* a try, or the deadline has passed: this client is in no queue */
	QUEUE_LEFT    /* the deadline has passed; queue_tree_passed() says when the slot may be used
		       * again */
};

/* How a releaser leaves the root. */
enum queue_leave {
	QUEUE_HAND_ON, /* hand the lock over as it is */
	QUEUE_REOPENED /* the readers have it: the successor enters QUEUE_FRESH */
};

/* The code of acquire, and of resume, for an entry other than QUEUE_PASSED and QUEUE_FRESH. After a
 * resume, a client that has no place any more, or has lost it, asks anew; none: the code for
 * that. */
static inline int queue_tree_code(enum queue_entry entry, int busy)
{
	if (entry <= QUEUE_FRESH)
		return PAWL_SUCCESS;
	return entry == QUEUE_LEFT ? LOCK_QUEUED : busy;
}

/* Choose thresholds and reserve words. max_run: the most writers in a row that a grant has to
 * count; 0: none. */
int queue_tree_layout(struct lock_setup *s, struct queue_tree *t, int64_t max_run, char *err,
		      size_t errlen);
/* After that: reserve the words for a root queue that is posted, if the transport may post. */
void queue_tree_may_post(struct lock_setup *s, struct queue_tree *t);
void queue_tree_describe(const struct lock_setup *s, const struct queue_tree *t, char *text,
			 size_t len);

/* Whether a client of the same element is in the queue; costs no far operation. */
bool queue_tree_waiters_near(const struct lock_setup *s, const struct queue_tree *t,
			     struct lock_slot *slot);

/* Respects slot->deadline_ns, if set. A client may get the lock after its deadline, if the queues
 * were empty or the grant was on its way. */
enum queue_entry queue_tree_acquire(const struct lock_setup *s, const struct queue_tree *t,
				    struct lock_slot *slot);
/* After QUEUE_LEFT: acquire the same lock from the place that the slot has left, if it still
 * exists. */
enum queue_entry queue_tree_resume(const struct lock_setup *s, const struct queue_tree *t,
				   struct lock_slot *slot);
bool queue_tree_passed(const struct queue_tree *t, struct lock_slot *slot); /* does not wait */
enum queue_entry queue_tree_try_acquire(const struct lock_setup *s, const struct queue_tree *t,
					struct lock_slot *slot);

/*
 * Release. before_root, if given, is called when the lock is about to leave the root. Its argument
 * says whether a known successor there could have the lock as it is; its result says how to leave.
 * It is not called if the lock is passed on below the root. PAWL_SUCCESS; with
 * queue_tree_may_post() also LOCK_LEFT: the slot has settled when queue_tree_settled() says so.
 */
typedef enum queue_leave queue_root_fn(const struct lock_setup *s, struct lock_slot *slot,
				       bool successor);
int queue_tree_release(const struct lock_setup *s, const struct queue_tree *t,
		       struct lock_slot *slot, queue_root_fn *before_root);
static inline bool queue_tree_settled(struct lock_slot *slot)
{
	return rma_answered(&slot->client, &queue_slot(slot)->answer);
}

/* Leave after QUEUE_FRESH without having had the lock: no successor, also below the root, may take
 * this for a grant. */
void queue_tree_abandon(const struct lock_setup *s, const struct queue_tree *t,
			struct lock_slot *slot);

/* The number of writers in a row before the current holder; 0 if not counted. */
static inline int64_t queue_tree_run(const struct queue_tree *t, int64_t passed)
{
	return t->run_shift ? (passed >> t->run_shift) & t->run_mask : 0;
}

#endif
