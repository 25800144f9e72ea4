/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributed tree of queues (DT of DQs). RMA-RW paper (HPDC'16), sections
 * 3.2.2, 3.2.3 and Listings 4, 5; the hierarchy is that of Chabbi's HMCS lock.
 * It is RMA-MCS, and orders the writers of RMA-RW.
 *
 * Every element of every level has a queue. A client enters the queue of its
 * innermost element (level N); the head of a queue enters the queue of the
 * parent on behalf of its element, up to level 1. A holder passes the lock to
 * its neighbour at the lowest level where one waits and fewer than T_L,i passes
 * have been made since the lock came to this element.
 *
 * Words. At level i each element keeps, per lock, TAIL (the last member of its
 * queue) and, above the leaves, a LINK per child element: the slot id of the
 * client that waits next after that child. At the leaves a member is a slot and
 * its link is the slot's NEXT. A client waits for STATUS in its own slot.
 *
 * Ordering guarantees
 *   (A) A client resets NEXT and STATUS in its own memory before it appears in
 *       any TAIL, so no reset can wipe out what others write there.
 *   (B) LINK of a child is null whenever the child stands in no queue: it is
 *       written once per stay, by the next member, and taken (read and reset)
 *       by whoever releases for the child, before the child can come back.
 *   (C) Whoever holds for an element leaves the parent's queue before it lets
 *       the next client of the element enter there (PARENT is sent last).
 *   (D) What a holder did in node memory is visible to the next holder on the
 *       node: each grant is stored after it and awaited with acquire semantics.
 *
 * Progress: starvation-free if holders release: an element keeps the lock for at
 * most T_L,i passes, and each queue is first come, first served. A release may
 * wait for a successor that has swapped TAIL and not yet linked itself.
 *
 * Operations, far ones: none while the lock stays in a node. Uncontended at a
 * NET level: 1 atomic to enter, 1 to leave. Hand-over between elements of a NET
 * level: 1 atomic and 1 put to enter, 1 or 2 atomics and 1 put to hand on.
 *
 * Different from the paper
 *   - In Listings 4 and 5 a client that got the lock by a pass later releases
 *     the parent with its own NEXT and STATUS, though another process entered
 *     there. Here what stands in a parent's queue is the element. Its link lies
 *     beside TAIL and not at a process: over MPI a remote put is delivered when
 *     the owner of the memory next enters the MPI, and the process that once
 *     entered for the element may be computing by then. A waiter's STATUS lies
 *     in its own memory; it is in the MPI since it waits.
 *   - Who got the lock from its own node, and finds nobody waiting there, looks
 *     for a moment longer before the lock leaves the node.
 *   - The counts of passes of all levels travel in the grant, so that whoever
 *     holds knows them; no element keeps any.
 *
 * Model: models/rma_mcs.pml, whose steps A1 ... R6 are named below.
 */
#include "locks/queue_tree.h"

#include <stdio.h>
#include <string.h>

enum { TAIL_OFFSET = 0, LINKS_OFFSET = 8, WORD_BYTES = 8 };
_Static_assert(LINKS_OFFSET == TAIL_OFFSET + WORD_BYTES, "links follow the tail");

/* STATUS: what kind of grant, and above it the counts. Every grant differs from
 * STATUS_WAIT in its low bits (futexes look there). */
enum { STATUS_WAIT = 0, STATUS_LOCKED = 1, STATUS_PARENT = 2, STATUS_REOPENED = 3 };
enum { STATUS_KIND_BITS = 2, STATUS_KIND_MASK = 3, STATUS_BITS = 63 };

/* ----------------------------------------------------------------- layout */

static int bits_for(int64_t value)
{
	int bits = 0;

	for (; value; value >>= 1)
		bits++;
	return bits;
}

/* Words of a level are NODE words if each of its elements lies within a node. */
static enum rma_domain level_domain(const struct lock_space *s, int i)
{
	return s->domain == RMA_NODE || s->topo->level[i - 1].kind >= TOPO_NODE ? RMA_NODE
										: RMA_NET;
}

int queue_tree_layout(struct lock_space *s, struct queue_tree *t, int64_t max_run, char *err,
		      size_t errlen)
{
	int shift = STATUS_KIND_BITS;

	memset(t, 0, sizeof *t);
	t->n = s->topo->nlevels;
	for (int i = 1; i <= t->n; i++) {
		const struct topo_level *from = &s->topo->level[i - 1];
		struct queue_level *l = &t->level[i - 1];
		uint64_t links = i < t->n ? (uint64_t)from->max_children : 0;
		uint64_t size = (uint64_t)from->min_size;

		l->domain = level_domain(s, i);
		l->stride = LINKS_OFFSET + links * WORD_BYTES;
		l->base = lock_reserve(s, i == 1 ? s->block : (s->n + size - 1) / size, l->stride);
		if (i == 1)
			continue;
		l->threshold = s->params.t_l[from->kind];
		l->shift = shift;
		l->mask = ((int64_t)1 << bits_for(l->threshold)) - 1;
		shift += bits_for(l->threshold);
	}
	if (max_run) {
		t->run_shift = shift;
		t->run_mask = ((int64_t)1 << bits_for(max_run)) - 1;
		t->run_limit = max_run;
		shift += bits_for(max_run);
	}
	if (shift > STATUS_BITS) {
		snprintf(err, errlen,
			 "options t_l and t_w: the thresholds of %d levels need %d bits together,"
			 " and %d are there; choose smaller ones",
			 t->n, shift - STATUS_KIND_BITS, STATUS_BITS - STATUS_KIND_BITS);
		return PAWL_ERR_OPTION;
	}
	return PAWL_SUCCESS;
}

void queue_tree_describe(const struct lock_space *s, const struct queue_tree *t, char *text,
			 size_t len)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 2; i <= t->n && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%st_l %s:%lld",
					 i > 2 ? ", " : "", s->topo->level[i - 1].name,
					 (long long)t->level[i - 1].threshold);
}

/* How many others can come first. An element of level i keeps the lock for at
 * most (t + 1) holds of its children. In a queue everybody ahead holds once; and
 * the element comes back to the parent's queue at most as often as it has
 * members, where it waits for the other elements each time; and for one more
 * hold, if that begins between its leaving there and its next member's coming. */
uint64_t queue_tree_overtakes(const struct lock_space *s, const struct queue_tree *t)
{
	double hold[TOPO_MAX_LEVELS + 2], wait = 0;

	hold[t->n + 1] = 1;
	for (int i = t->n; i > 1; i--)
		hold[i] = (double)(t->level[i - 1].threshold + 1) * hold[i + 1];
	for (int i = 1; i <= t->n; i++) {
		double members = s->topo->level[i - 1].max_children;

		if (i == t->n)
			members *= s->max_held;
		wait = members * hold[i + 1] + (i > 1 ? (members + 1) * (wait + hold[i] + 1) : 0);
	}
	return wait < 1e18 ? (uint64_t)wait : UINT64_MAX;
}

/* TAIL and all LINK words are null. */
static bool element_idle(const struct queue_level *l, int64_t *words, int i, int j, char *err,
			 size_t errlen)
{
	for (uint64_t k = 0; k < l->stride / WORD_BYTES; k++) {
		if (words[k] == 0)
			continue;
		snprintf(err, errlen, "at level %d, element %d, %s %d is %lld", i, j,
			 k ? "LINK" : "TAIL", k ? (int)k - 1 : 0, (long long)words[k]);
		return false;
	}
	return true;
}

bool queue_tree_idle(const struct lock_space *s, const struct queue_tree *t, uint64_t lock,
		     const struct lock_memory *m, char *err, size_t errlen)
{
	const struct queue_level *root = &t->level[0];

	if (!element_idle(root, lock_memory_home(s, m, root->base, root->stride, lock), 1, 0, err,
			  errlen))
		return false;
	for (int i = 2; i <= t->n; i++) {
		const struct queue_level *l = &t->level[i - 1];

		for (int j = 0; j < s->topo->level[i - 1].count; j++) {
			uint64_t at = l->base + topo_tail_index(s->topo, i, j, lock) * l->stride;
			int rank = topo_tail_rank(s->topo, i, j, lock);

			if (!element_idle(l, lock_memory_word(m, rank, at), i, j, err, errlen))
				return false;
		}
	}
	return true;
}

/* ------------------------------------------------------------------ words */

/* TAIL (offset 0) or a LINK of this client's element at level i. The root's
 * words are at the lock's home, others are dealt out over their element. */
RMA_INLINE struct rma_word level_word(const struct lock_space *s, const struct queue_tree *t,
				      struct lock_slot *slot, int i, uint64_t offset)
{
	const struct queue_level *l = &t->level[i - 1];
	struct rma_client *c = &slot->client;
	int j;

	if (i == 1)
		return lock_home_word(s, c, l->domain, l->base + offset, l->stride, slot->lock);
	j = topo_element(s->topo, c->rma->rank, i);
	return rma_word(c->rma, l->domain, topo_tail_rank(s->topo, i, j, slot->lock),
			l->base + topo_tail_index(s->topo, i, j, slot->lock) * l->stride + offset);
}

RMA_INLINE struct rma_word tail_word(const struct lock_space *s, const struct queue_tree *t,
				     struct lock_slot *slot, int i)
{
	return level_word(s, t, slot, i, TAIL_OFFSET);
}

/* The link word of a queue member at level i. */
static struct rma_word link_word(const struct lock_space *s, const struct queue_tree *t,
				 struct lock_slot *slot, int i, int64_t member)
{
	if (i == t->n)
		return slot_next(s, &slot->client, t->level[i - 1].domain, member);
	return level_word(s, t, slot, i, LINKS_OFFSET + (uint64_t)(member - 1) * WORD_BYTES);
}

/* As whom this client stands in the queue of level i. */
RMA_INLINE int64_t member_id(const struct lock_space *s, const struct queue_tree *t,
			     struct lock_slot *slot, int i)
{
	return i == t->n ? slot->id : topo_child(s->topo, slot->client.rma->rank, i) + 1;
}

/* ---------------------------------------------------------------- acquire */

/* A1: this slot's words say "no successor, nothing granted"; (A). */
RMA_INLINE void prepare(const struct queue_tree *t, struct lock_slot *slot, int i)
{
	enum rma_domain d = t->level[i - 1].domain;

	rma_poke(&slot->client, slot->status[d], STATUS_WAIT);
	if (i == t->n)
		rma_poke(&slot->client, slot->next[d], 0);
}

/* Link to the predecessor, and wait; the grant. */
static RMA_SLOW_PATH int64_t wait_behind(const struct lock_space *s, const struct queue_tree *t,
					 struct lock_slot *slot, int i, int64_t pred)
{
	struct rma_client *c = &slot->client;
	struct rma_word link = link_word(s, t, slot, i, pred);

	if (i == 1)
		slot->contended = 1;
	/* A3: whoever releases for the predecessor will find us; (B). */
	rma_put(c, link, slot->id);
	rma_flush(c, link); /* orders the link before our wait; pairs with R2, R4 */
	/* A4: wait for a grant (R3, R6). */
	return rma_await(c, slot->status[t->level[i - 1].domain], -1, RMA_NE, STATUS_WAIT,
			 i == t->n ? RMA_SOON : RMA_LATER,
			 i == 1 ? "a grant at the root queue" : "a grant in its element");
}

/* Enter the queue of level i; the grant, or STATUS_WAIT for its head. */
RMA_INLINE int64_t enter(const struct lock_space *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = tail_word(s, t, slot, i);
	int64_t pred;

	if (i == t->n)
		slot->tail = tail;
	prepare(t, slot, i);
	/* A2: become the tail. */
	rma_fao(c, tail, RMA_REPLACE, member_id(s, t, slot, i), &pred);
	rma_flush(c, tail); /* orders the swap before the look at pred */
	return pred ? wait_behind(s, t, slot, i, pred) : STATUS_WAIT;
}

bool queue_tree_waiters_near(const struct lock_space *s, const struct queue_tree *t,
			     struct lock_slot *slot)
{
	struct rma_word tail = tail_word(s, t, slot, t->n);

	return t->level[t->n - 1].domain == RMA_NODE && rma_peek(&slot->client, tail) != 0;
}

enum queue_entry queue_tree_acquire(const struct lock_space *s, const struct queue_tree *t,
				    struct lock_slot *slot)
{
	slot->passed = 0;
	for (int i = t->n; i >= 1; i--) {
		int64_t status = enter(s, t, slot, i);

		if ((status & STATUS_KIND_MASK) == STATUS_LOCKED) {
			slot->passed = status;
			return QUEUE_PASSED;
		}
		/* Head of the queue, or its predecessor left the parent: go on up. */
	}
	return QUEUE_FRESH;
}

/* --------------------------------------------------------------- release */

/* The successor at level i if one is linked to us, taken; or 0. R1 at the
 * leaves, R2 above: there the link is reset for the element's next stay; (B). */
static inline int64_t take_link(const struct lock_space *s, const struct queue_tree *t,
				struct lock_slot *slot, int i)
{
	struct rma_client *c = &slot->client;
	struct rma_word link;
	int64_t succ;

	if (i == t->n)
		return rma_peek(c, slot->next[t->level[i - 1].domain]);
	link = link_word(s, t, slot, i, member_id(s, t, slot, i));
	if (rma_is_cpu(link)) {
		/* Once it is set nobody but us writes it before we come back. */
		rma_get(c, link, &succ);
		if (succ)
			rma_put(c, link, 0);
		return succ;
	}
	rma_fao(c, link, RMA_REPLACE, 0, &succ);
	rma_flush(c, link); /* orders the reset before we grant anything to anyone */
	return succ;
}

/* R4: a successor has swapped TAIL: wait until it is linked, and take it. */
static int64_t await_link(const struct lock_space *s, const struct queue_tree *t,
			  struct lock_slot *slot, int i)
{
	struct rma_word link = link_word(s, t, slot, i, member_id(s, t, slot, i));
	int64_t succ = take_link(s, t, slot, i);

	if (succ)
		return succ;
	rma_await(&slot->client, link, -1, RMA_NE, 0, RMA_SOON, "its successor to link itself");
	return take_link(s, t, slot, i);
}

static void grant(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		  int i, int64_t succ, int64_t status)
{
	struct rma_word w = slot_status(s, &slot->client, t->level[i - 1].domain, succ);

	rma_put(&slot->client, w, status);
	rma_flush(&slot->client, w); /* orders the grant before our return; pairs with A4 */
}

/* R5: leave the queue of level i: true if it is empty now. */
static inline bool leave_empty(const struct lock_space *s, const struct queue_tree *t,
			       struct lock_slot *slot, int i)
{
	struct rma_word tail = i == t->n ? slot->tail : tail_word(s, t, slot, i);
	int64_t me = member_id(s, t, slot, i), last;

	rma_cas(&slot->client, tail, me, 0, &last);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	return last == me;
}

/* What goes with the lock when it is passed at level i: one more pass here, the
 * parents' counts as they are, and a fresh start for the levels below. */
static int64_t status_for(const struct queue_tree *t, int64_t passed, int i)
{
	int64_t status = STATUS_LOCKED;

	for (int k = 2; k < i; k++)
		status |= passed & (t->level[k - 1].mask << t->level[k - 1].shift);
	if (i > 1) {
		const struct queue_level *l = &t->level[i - 1];
		int64_t count = (passed >> l->shift) & l->mask;

		status |= (count + 1) << l->shift;
	}
	if (t->run_shift)
		status |= (queue_tree_run(t, passed) + 1) << t->run_shift;
	return status;
}

/* There is a successor at level i: find it if it is not yet known, and grant. */
static RMA_SLOW_PATH void leave_to(const struct lock_space *s, const struct queue_tree *t,
				   struct lock_slot *slot, int i, int64_t succ, int64_t kind)
{
	if (!succ)
		succ = await_link(s, t, slot, i);
	if (i == 1)
		slot->contended = 1;
	grant(s, t, slot, i, succ, kind == STATUS_LOCKED ? status_for(t, slot->passed, i) : kind);
}

/* Leave level i for good. The successor, if any, gets the kind of grant: the
 * lock, or the right to go to the parent or settle with the readers itself.
 * succ: already taken, or 0. */
static inline void leave(const struct lock_space *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i, int64_t succ, int64_t kind)
{
	if (!succ && i == t->n)
		succ = take_link(s, t, slot, i);
	if (succ || !leave_empty(s, t, slot, i))
		leave_to(s, t, slot, i, succ, kind);
	else if (i == 1)
		slot->contended = 0;
}

static bool may_pass(const struct queue_tree *t, int64_t passed, int i)
{
	const struct queue_level *l = &t->level[i - 1];

	return ((passed >> l->shift) & l->mask) < l->threshold;
}

static inline void release_root(const struct lock_space *s, const struct queue_tree *t,
				struct lock_slot *slot, queue_root_fn *before_root)
{
	int64_t succ = 0, kind = STATUS_LOCKED;

	/* Is somebody waiting? Looking costs a round trip at a NET root, so an
	 * RMA-MCS release that found nobody last time first tries to leave. */
	if (before_root || slot->contended)
		succ = take_link(s, t, slot, 1);
	if (before_root && before_root(s, slot, succ != 0) == QUEUE_REOPENED)
		kind = STATUS_REOPENED;
	leave(s, t, slot, 1, succ, kind);
}

/* Who passed the lock to us within our element is likely to come back for it in less time than
 * it takes to hand it to another node, and the lock to come back from there. So look for a
 * moment longer whether somebody links himself to us. */
static inline bool is_worth_a_glance(const struct queue_tree *t, const struct lock_slot *slot)
{
	const struct queue_level *leaf = &t->level[t->n - 1];

	return t->level[0].domain == RMA_NET && leaf->domain == RMA_NODE &&
	       (slot->passed >> leaf->shift & leaf->mask) != 0;
}

/* R6: from the level below the one where the lock went, leave every queue this
 * client stands in; successors have to go to the parent themselves; (C). */
static void unwind(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		   int from, const int64_t *taken)
{
	for (int k = from; k <= t->n; k++)
		leave(s, t, slot, k, taken[k - 1], STATUS_PARENT);
}

RMA_INLINE void release_only_level(const struct lock_space *s, const struct queue_tree *t,
				   struct lock_slot *slot)
{
	int64_t succ = rma_peek(&slot->client, slot->next[s->domain]), last;

	if (!succ) {
		rma_cas(&slot->client, slot->tail, slot->id, 0, &last);
		rma_flush(&slot->client, slot->tail); /* orders the swap before the look at last */
		if (last == slot->id)
			return;
	}
	leave_to(s, t, slot, 1, succ, STATUS_LOCKED);
}

void queue_tree_release(const struct lock_space *s, const struct queue_tree *t,
			struct lock_slot *slot, queue_root_fn *before_root)
{
	int64_t taken[TOPO_MAX_LEVELS];
	bool turn_over;

	if (t->n == 1 && !before_root) {
		/* The machine is one queue, as in D-MCS. */
		release_only_level(s, t, slot);
		return;
	}
	turn_over = t->run_shift && queue_tree_run(t, slot->passed) + 1 >= t->run_limit;
	if (!turn_over && may_pass(t, slot->passed, t->n) && is_worth_a_glance(t, slot))
		rma_glance(slot->next[RMA_NODE], -1, RMA_NE, 0);
	for (int i = t->n; i > 1; i--) {
		taken[i - 1] = 0;
		if (turn_over || !may_pass(t, slot->passed, i))
			continue;
		taken[i - 1] = take_link(s, t, slot, i);
		if (taken[i - 1]) {
			/* R3: pass it on within this element. */
			grant(s, t, slot, i, taken[i - 1], status_for(t, slot->passed, i));
			unwind(s, t, slot, i + 1, taken);
			return;
		}
	}
	release_root(s, t, slot, before_root);
	unwind(s, t, slot, 2, taken);
}

/* -------------------------------------------------------------------- try */

static const int64_t none[TOPO_MAX_LEVELS]; /* no successor taken */

void queue_tree_abandon(const struct lock_space *s, const struct queue_tree *t,
			struct lock_slot *slot)
{
	leave(s, t, slot, 1, 0, STATUS_REOPENED);
	unwind(s, t, slot, 2, none);
}

enum queue_entry queue_tree_try_acquire(const struct lock_space *s, const struct queue_tree *t,
					struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;

	slot->passed = 0;
	for (int i = t->n; i >= 1; i--) {
		struct rma_word tail = tail_word(s, t, slot, i);
		int64_t pred;

		/* A1 and A2, only if the queue is empty. */
		if (i == t->n)
			slot->tail = tail;
		prepare(t, slot, i);
		rma_cas(c, tail, 0, member_id(s, t, slot, i), &pred);
		rma_flush(c, tail); /* orders the swap before the look at pred */
		if (pred) {
			unwind(s, t, slot, i + 1, none);
			return QUEUE_BUSY;
		}
	}
	return QUEUE_FRESH;
}
