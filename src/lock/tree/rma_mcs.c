/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RMA-MCS: the topology-aware MCS lock. RMA-RW paper (HPDC'16), Section 3.5: the tree of queues
 * without readers. queue_tree.c has the protocol, its ordering guarantees, and what differs from
 * the paper.
 *
 * Fairness: first come, first served among the elements of a level and among the clients of an
 * innermost element; an element keeps the lock for at most T_L,i passes. T_L,1 does not exist.
 *
 * Uncontended, per level: acquire 1 atomic, release 1 atomic, 1 round trip each at levels above the
 * node, none below. If the transport posts (UCX between nodes) and the only level above the node is
 * the machine, the release takes no round trip (posted_root.h); with one rank a node there is one
 * queue of slots, whose releases wait. A hand-over within a node: no far operation. Progress:
 * starvation-free if holders release. A timed acquire waits in the queues like any other, and
 * withdraws at any level.
 */
#include "lock/tree/queue_tree.h"

#include <stdio.h>
#include <string.h>

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct queue_tree *t = s->state;
	int rc = queue_tree_layout(s, t, 0, err, errlen);

	if (rc == PAWL_SUCCESS)
		queue_tree_may_post(s, t);
	return rc;
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct queue_tree *t = s->state;
	size_t used;

	queue_tree_describe(s, t, text, len);
	used = strlen(text);
	if (s->posts && t->posts)
		snprintf(text + used, len - used, "%sreleases at the root do not wait",
			 used ? ", " : "");
}

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return queue_tree_code(queue_tree_acquire(s, s->state, slot), PAWL_ERR_TIMEOUT);
}

static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	return queue_tree_code(queue_tree_resume(s, s->state, slot), LOCK_PASSED);
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	return queue_tree_passed(s->state, slot);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	return queue_tree_try_acquire(s, s->state, slot) == QUEUE_BUSY ? PAWL_ERR_BUSY
								       : PAWL_SUCCESS;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	return queue_tree_release(s, s->state, slot, NULL);
}

static bool settled(const struct lock_setup *s, struct lock_slot *slot)
{
	(void)s;
	return queue_tree_settled(slot);
}

static uint64_t overtakes(const struct lock_setup *s, int mode)
{
	(void)mode;
	return queue_tree_overtakes(s, s->state);
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	return queue_tree_idle(s, s->state, lock, m, err, errlen);
}

static const struct option_spec options[] = {
    QUEUE_TREE_OPTION(struct queue_tree_options, t_l),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_rma_mcs = {
    .kind =
	{
	    .name = "rma-mcs",
	    .summary = "a tree of queues: the lock stays near for a while before it travels",
	    .reference = "HPDC'16 (RMA-RW), section 3.5",
	    .capabilities = PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .options = options,
    .state_bytes = sizeof(struct queue_tree),
    .layout = layout,
    .describe = describe,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .settled = settled,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .check = &(const struct lock_check_calls){.overtakes = overtakes, .idle = idle},
};
