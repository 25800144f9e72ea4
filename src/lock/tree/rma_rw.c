/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RMA-RW: the topology-aware reader-writer lock. RMA-RW paper (HPDC'16), Section 3.3, Listings 4 to
 * 10. Writers order themselves in the tree of queues (queue_tree.c); the one at its root settles
 * with the readers through the distributed counter (readers.c, readers_ticket.c, readers_gate.c).
 * Those files have the ordering guarantees, and what differs from the paper and why.
 *
 * Fairness: after T_W writers in a row, counted exactly over all levels, the waiting readers enter;
 * after T_R readers at a counter, a waiting writer enters; T_L,i passes within an element. No
 * client starves.
 *
 * Deadlines. A writer in the tree leaves its place there, as in rma-mcs, and may resume from it. A
 * writer at the root that waits for readers opens the counters again and leaves the tree to the
 * next writer, which comes to the counters afresh. A reader withdraws from its counter;
 * readers_ticket.c and readers_gate.c describe how, and why every reader is counted once.
 *
 * Uncontended: a reader 1 atomic to acquire and 1 to release, near if counters are not shared
 * between nodes. A writer: the operations of the tree, and for each counter 3 gets, an atomic or
 * put, a get to acquire, and a put to release; in 3 rounds and 1 round.
 *
 * Different from the paper: a client may be reader or writer at each acquire.
 */
#include "lock/tree/queue_tree.h"
#include "lock/tree/readers.h"

#include <stdio.h>

struct constants {
	struct queue_tree tree;
	struct readers readers;
	int64_t t_w;
};

enum { T_W_MAX = 1 << 20 };

/* T_W: the option, or the product of T_L,i + 1 over all levels. */
static int64_t writers_in_a_row(const struct lock_setup *s)
{
	int64_t product = 1;

	if (rma_rw_options(s)->t_w)
		return rma_rw_options(s)->t_w;
	for (int i = 2; i <= s->topo->nlevels; i++) {
		product *= queue_tree_options(s)->t_l[s->topo->level[i - 1].type] + 1;
		if (product > T_W_MAX)
			return T_W_MAX;
	}
	/* A tree of one level has no thresholds to multiply. */
	return s->topo->nlevels == 1 ? queue_tree_options(s)->t_l[TOPO_NODE] : product;
}

static int layout(struct lock_setup *s, char *err, size_t errlen)
{
	struct constants *k = s->state;
	int rc;

	k->t_w = writers_in_a_row(s);
	rc = queue_tree_layout(s, &k->tree, k->t_w, err, errlen);
	return rc ? rc : readers_layout(s, &k->readers, err, errlen);
}

static void destroy(struct lock_setup *s)
{
	struct constants *k = s->state;

	readers_free(&k->readers);
}

static void describe(const struct lock_setup *s, char *text, size_t len)
{
	const struct constants *k = s->state;
	char tree[128];

	queue_tree_describe(s, &k->tree, tree, sizeof tree);
	snprintf(text, len, "%s%st_w %lld, t_r %lld, %d %s counter%s", tree, tree[0] ? ", " : "",
		 (long long)k->t_w, (long long)k->readers.t_r, k->readers.groups,
		 k->readers.form->name, k->readers.groups > 1 ? "s" : "");
}

static uint64_t scratch_words(const struct lock_setup *s)
{
	const struct constants *k = s->state;

	return (uint64_t)k->readers.groups * k->readers.form->scratch;
}

/* ---------------------------------------------------------------- writers */

/* The writer has come through the tree. */
static int settle_with_readers(const struct lock_setup *s, struct lock_slot *slot,
			       enum queue_entry entry)
{
	const struct constants *k = s->state;

	/* If a writer has handed the lock over, the counters are closed already. */
	if (entry == QUEUE_PASSED || k->readers.form->close(s, &k->readers, slot))
		return PAWL_SUCCESS;
	/* This client has the root queue, but readers have the lock, and its deadline has
	 * passed. */
	queue_tree_abandon(s, &k->tree, slot);
	return PAWL_ERR_TIMEOUT;
}

static int acquire_as_writer(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	enum queue_entry entry = queue_tree_acquire(s, &k->tree, slot);

	if (entry > QUEUE_FRESH)
		return queue_tree_code(entry, PAWL_ERR_TIMEOUT);
	return settle_with_readers(s, slot, entry);
}

/* Keep the readers out only for a writer that can have the lock at once, and for at most T_W
 * writers in a row. */
static enum queue_leave before_root(const struct lock_setup *s, struct lock_slot *slot,
				    bool successor)
{
	const struct constants *k = s->state;

	if (successor && queue_tree_run(&k->tree, queue_slot(slot)->passed) + 1 < k->t_w)
		return QUEUE_HAND_ON;
	k->readers.form->open(s, &k->readers, slot);
	return QUEUE_REOPENED;
}

static void release_as_writer(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	queue_tree_release(s, &k->tree, slot, before_root);
}

/* ------------------------------------------------------------------- both */

static int acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	enum readers_entry entry = READERS_AS_WRITER;

	if (slot->mode != PAWL_EXCLUSIVE)
		entry = k->readers.form->enter(s, &k->readers, slot);
	rma_rw_slot(slot)->as_writer = entry == READERS_AS_WRITER;
	if (rma_rw_slot(slot)->as_writer)
		return acquire_as_writer(s, slot);
	return entry == READERS_IN ? PAWL_SUCCESS : PAWL_ERR_TIMEOUT;
}

/* Only a client that entered as a writer has a place. */
static int resume(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;
	enum queue_entry entry = queue_tree_resume(s, &k->tree, slot);

	if (entry > QUEUE_FRESH)
		return queue_tree_code(entry, LOCK_PASSED);
	return settle_with_readers(s, slot, entry);
}

static bool passed(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	return queue_tree_passed(&k->tree, slot);
}

static int try_acquire(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	rma_rw_slot(slot)->as_writer = slot->mode == PAWL_EXCLUSIVE;
	if (!rma_rw_slot(slot)->as_writer)
		return k->readers.form->try_enter(s, &k->readers, slot) ? PAWL_SUCCESS
									: PAWL_ERR_BUSY;
	if (queue_tree_try_acquire(s, &k->tree, slot) == QUEUE_BUSY)
		return PAWL_ERR_BUSY;
	if (k->readers.form->try_close(s, &k->readers, slot))
		return PAWL_SUCCESS;
	/* This client has the root queue, but readers have the lock: leave the lock to them. */
	queue_tree_abandon(s, &k->tree, slot);
	return PAWL_ERR_BUSY;
}

static int release(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct constants *k = s->state;

	if (rma_rw_slot(slot)->as_writer)
		release_as_writer(s, slot);
	else
		k->readers.form->leave(s, &k->readers, slot);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------- the simulator */

/* At most T_W writers come before a reader; if it may have to enter as a writer, it waits as a
 * writer does. */
static uint64_t overtakes(const struct lock_setup *s, int mode)
{
	const struct constants *k = s->state;

	if (mode == PAWL_SHARED && k->readers.form == &readers_ticket)
		return (uint64_t)k->t_w;
	return queue_tree_overtakes(s, &k->tree) + (uint64_t)k->t_w;
}

static bool idle(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m, char *err,
		 size_t errlen)
{
	const struct constants *k = s->state;

	if (!queue_tree_idle(s, &k->tree, lock, m, err, errlen))
		return false;
	for (int g = 0; g < k->readers.groups; g++)
		if (!k->readers.form->idle(readers_memory(s, &k->readers, m, lock, g), err, errlen))
			return false;
	return true;
}

static void age(const struct lock_setup *s, uint64_t lock, const struct lock_memory *m)
{
	const struct constants *k = s->state;

	for (int g = 0; g < k->readers.groups; g++)
		k->readers.form->age(readers_memory(s, &k->readers, m, lock, g));
}

static const struct option_spec options[] = {
    QUEUE_TREE_OPTION(struct rma_rw_options, tree.t_l),
    LOCK_NUMBER(struct rma_rw_options, t_dc, "t_dc", 0, 1048576, "0 (those of a node)",
		"ranks that share a counter of readers"),
    LOCK_READERS_TURN(struct rma_rw_options, t_r),
    LOCK_TURN(struct rma_rw_options, t_w, "0 (product of t_l + 1)"),
    LOCK_OPTIONS_END,
};

const struct lock_protocol lock_rma_rw = {
    .kind =
	{
	    .name = "rma-rw",
	    .summary = "readers are counted on their own node; writers queue as in rma-mcs",
	    .reference = "HPDC'16 (RMA-RW), section 3",
	    .capabilities = PAWL_CAP_SHARED | PAWL_CAP_TRY | PAWL_CAP_TIMED | PAWL_CAP_FAIR,
	},
    .options = options,
    .state_bytes = sizeof(struct constants),
    .most_clients = READERS_MOST,
    .layout = layout,
    .destroy = destroy,
    .describe = describe,
    .scratch_words = scratch_words,
    .acquire = acquire,
    .try_acquire = try_acquire,
    .release = release,
    .timed = &(const struct lock_timed_calls){.resume = resume, .passed = passed},
    .check = &(const struct lock_check_calls){.overtakes = overtakes, .idle = idle, .age = age},
};
