/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of queues of RMA-MCS and of RMA-RW's writers; see queue_tree.c. */
#ifndef LOCK_TREE_QUEUE_TREE_H
#define LOCK_TREE_QUEUE_TREE_H

#include "lock/lock.h"

/* The options of a kind with a tree begin with these. */
struct queue_tree_options {
	int64_t t_l[LOCK_LEVEL_KINDS]; /* T_L,i by enum topo_kind; [TOPO_MACHINE] is unused */
};
#define QUEUE_TREE_OPTION(structure, field)                                    \
	LOCK_LEVELS(structure, field, "t_l", 1, 1048575,                       \
		    "group:64,node:256,package:32,numa:32,cache:32,gang:1024", \
		    "hand-overs within an element of a level before the lock leaves it")

static inline const struct queue_tree_options *queue_tree_options(const struct lock_space *s)
{
	return lock_options(s);
}

/* What a slot keeps from acquire to release; what a kind with a tree keeps begins with it. */
struct queue_slot {
	struct rma_word tail; /* of the innermost queue */
	int64_t passed;       /* the counts of passes that came with the hand-over */
	int64_t left_behind;  /* in a place of that queue that it has left: behind which slot */
	bool contended;       /* the last release found a successor at the root */
};
_Static_assert(sizeof(struct queue_slot) <= LOCK_OWN_BYTES, "it fits into a slot");

RMA_INLINE struct queue_slot *queue_slot(struct lock_slot *slot)
{
	return lock_own(slot);
}

struct queue_level {
	enum rma_domain domain; /* of this level's TAIL and LINK words, and of waiting here */
	uint64_t base;          /* offset of its words in the segments */
	uint64_t stride;        /* bytes a lock: TAIL and one LINK per child element */
	int64_t threshold;      /* T_L,i; unused at level 1 */
	int shift;              /* where the count of passes sits in a hand-over word */
	int64_t mask;           /* its width, unshifted */
};

struct queue_tree {
	int n; /* levels */
	struct queue_level level[TOPO_MAX_LEVELS];
	int run_shift; /* RMA-RW: the field that counts writers in a row; 0: none */
	int64_t run_mask, run_limit;
};

/* For the descriptors of protocols with a tree; see lock.h. */
uint64_t queue_tree_overtakes(const struct lock_space *s, const struct queue_tree *t);
bool queue_tree_idle(const struct lock_space *s, const struct queue_tree *t, uint64_t lock,
		     const struct lock_memory *m, char *err, size_t errlen);

/* How a client came to the lock. */
enum queue_entry {
	QUEUE_PASSED, /* handed over: the lock is held by this client */
	QUEUE_FRESH,  /* at the head of the root queue, and nobody handed anything over:
		       * held in RMA-MCS; RMA-RW has to settle with the readers first */
	QUEUE_BUSY,   /* a try, or the deadline has passed: this client is in no queue */
	QUEUE_LEFT    /* the deadline has passed; queue_tree_passed() says when the slot may serve
			 again */
};

/* What a releaser does with the root. */
enum queue_leave {
	QUEUE_HAND_ON, /* hand the lock on as it is */
	QUEUE_REOPENED /* the readers have it: the successor enters QUEUE_FRESH */
};

/* What acquire returns that came so, and resume: there a client that has no place any more, or lost
 * it, asks anew, if only to be told how that is called. */
static inline int queue_tree_code(enum queue_entry entry, int busy)
{
	if (entry <= QUEUE_FRESH)
		return PAWL_SUCCESS;
	return entry == QUEUE_LEFT ? LOCK_QUEUED : busy;
}

/* Choose thresholds and reserve words. max_run: writers in a row that a
 * hand-over word has to count (0: none). */
int queue_tree_layout(struct lock_space *s, struct queue_tree *t, int64_t max_run, char *err,
		      size_t errlen);
void queue_tree_describe(const struct lock_space *s, const struct queue_tree *t, char *text,
			 size_t len);

/* Whether somebody near is in the queue already; costs no far operation. */
bool queue_tree_waiters_near(const struct lock_space *s, const struct queue_tree *t,
			     struct lock_slot *slot);

/* By slot->deadline_ns, if that is set. A client that has it then may still have come late: there
 * was nobody before it, or the grant was on its way. */
enum queue_entry queue_tree_acquire(const struct lock_space *s, const struct queue_tree *t,
				    struct lock_slot *slot);
/* After QUEUE_LEFT: acquire the same lock from the place that the slot still has, if it has it. */
enum queue_entry queue_tree_resume(const struct lock_space *s, const struct queue_tree *t,
				   struct lock_slot *slot);
bool queue_tree_passed(const struct queue_tree *t, struct lock_slot *slot); /* does not wait */
enum queue_entry queue_tree_try_acquire(const struct lock_space *s, const struct queue_tree *t,
					struct lock_slot *slot);

/*
 * Release. before_root, if given, is called when the lock is about to leave the
 * root, with whether a successor is known there that could have it as it is; it
 * says how to leave. Not called if the lock is passed on below the root.
 */
typedef enum queue_leave queue_root_fn(const struct lock_space *s, struct lock_slot *slot,
				       bool successor);
void queue_tree_release(const struct lock_space *s, const struct queue_tree *t,
			struct lock_slot *slot, queue_root_fn *before_root);

/* Give back what came QUEUE_FRESH, without having had the lock: no
 * successor, also none below the root, may take it for granted. */
void queue_tree_abandon(const struct lock_space *s, const struct queue_tree *t,
			struct lock_slot *slot);

/* Writers in a row before the current holder; 0 if not counted. */
static inline int64_t queue_tree_run(const struct queue_tree *t, int64_t passed)
{
	return t->run_shift ? (passed >> t->run_shift) & t->run_mask : 0;
}

#endif
