/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The distributed tree of queues (DT of DQs). RMA-RW paper (HPDC'16), Sections 3.2.2, 3.2.3 and
 * Listings 4, 5; the hierarchy is that of Chabbi's HMCS lock. The tree is RMA-MCS, and orders the
 * writers of RMA-RW.
 *
 * Every element of every level has a queue. A client enters the queue of its innermost element
 * (level N). The head of a queue enters the queue of the parent for its element, and so on up to
 * level 1. A holder hands the lock over at the innermost level that has a waiter and at which fewer
 * than T_L,i passes were made since the lock came to this element.
 *
 * Words. For each lock, an element of level i has TAIL (the last member of its queue) and, above
 * the leaves, a LINK for each child element: the slot id of the client that waits behind that
 * child. At the leaves a member is a slot, and its link is the slot's NEXT. A client waits for
 * STATUS in its own slot.
 *
 * Ordering guarantees
 *   (A) A client resets NEXT and STATUS in its own memory before it appears in any TAIL, so a reset
 *       never overwrites what others write there.
 *   (B) LINK of a child is null whenever the child enters a queue. It is written once in each stay,
 *       by the next member, and taken (read and reset) by the client that releases for the child,
 *       before the child can return. If it may change at the same time, (E), it is taken by a
 *       fetch-and-op.
 *   (C) A client that holds for an element leaves the parent's queue before it lets the next client
 *       of the element enter there (PARENT is sent last).
 *   (D) What a holder did in node memory is visible to the next holder on the node: each grant is
 *       stored after it and awaited with acquire semantics.
 *   (E) One word leads to a waiter, the link of its predecessor. It has the waiter's slot, and
 *       whether the waiter has a deadline. A waiter with a deadline withdraws by a compare-and-swap
 *       of that word, and the releaser takes it by a fetch-and-op. So either the waiter gets the
 *       grant, or no client ever writes to it because of this link.
 *   (F) A withdrawn place stays in its queue, and its link names the member. The next client of an
 *       element may resume the element's place by a compare-and-swap of the same word; a slot's
 *       place is resumed by its own client. So either the place has a waiter again, or a releaser
 *       takes the link first and passes over the place. Then the releaser stands in the queue in
 *       its stead, and takes its link or empties TAIL as if the place were its own. Afterwards it
 *       marks that in a word of the member: LINK_DONE in the link of an element, STATUS_FREE in the
 *       STATUS of a slot. Only after that may the element enter that queue again, or the slot be
 *       used again.
 *   (G) The next client of an element whose place was withdrawn learns the predecessor of the
 *       place: from the grant PARENT, or from TAIL of the element's own queue, which is then the
 *       negative number of that predecessor instead of null.
 *
 * Deadlines: at T1.
 *
 * Progress: starvation-free if holders release: an element keeps the lock for at most T_L,i passes,
 * and each queue is first come, first served. A release may wait for a successor that has swapped
 * TAIL and has not linked itself yet. An element loses its place in the parent's queue, by
 * withdrawals, at most once for each client of its own queue, as often as it leaves anyway.
 *
 * Far operations: none while the lock stays in a node. Uncontended at a NET level: 1 atomic to
 * enter, 1 to leave. Hand-over between elements of a NET level: 1 atomic and 1 put to enter, 1 or 2
 * atomics and 1 put to hand over.
 *
 * Where the transport posts, a root queue over nodes is that of posted_root.h if the kind asks for
 * it (queue_tree_may_post()): a release at the root does not wait for its answer.
 *
 * Different from the paper
 *   - In Listings 4 and 5, a client that got the lock by a pass later releases the parent with its
 *     own NEXT and STATUS, although another process has entered there. Here the element stands in
 *     the parent's queue. Its link is beside TAIL, not at a process, which may be computing: over
 *     MPI a put may arrive only when the owner of the memory next calls MPI. A waiter does.
 *   - A client that got the lock from its own node, and finds no waiter there, looks for a moment
 *     longer before the lock leaves the node.
 *   - The counts of passes of all levels travel in the grant, so the holder knows them; elements
 *     keep no counts.
 *
 * Model: models/rma_mcs.pml, with and without -DPOSTED, whose steps A1 ... R6 and T1 ... T5 are
 * named below.
 */
#include "lock/tree/queue_tree.h"

#include "lock/tree/posted_root.h"
#include "lock/tree/queue_tree_words.h"

/* ------------------------------------------------------------------ words */

/* TAIL (offset 0) or a LINK of this client's element at level i. The root's words are at the lock's
 * home; others are spread over the ranks of their element. */
RMA_INLINE struct rma_word level_word(const struct lock_setup *s, const struct queue_tree *t,
				      struct lock_slot *slot, int i, uint64_t offset)
{
	const struct queue_level *l = &t->level[i - 1];
	struct rma_client *c = &slot->client;
	uint64_t at;
	int rank;

	if (i == 1)
		return lock_home_word(s, c, l->domain, l->base + offset, l->stride, slot->lock);
	at = lock_area_place(s, &l->area, l->area.element[c->rma->rank], slot->lock, &rank);
	return rma_word(c->rma, l->domain, rank, at + offset);
}

RMA_INLINE struct rma_word tail_word(const struct lock_setup *s, const struct queue_tree *t,
				     struct lock_slot *slot, int i)
{
	return level_word(s, t, slot, i, TAIL_OFFSET);
}

/* The link word of a queue member at level i. */
static struct rma_word link_word(const struct lock_setup *s, const struct queue_tree *t,
				 struct lock_slot *slot, int i, int64_t member)
{
	if (i == t->n)
		return slot_next(s, &slot->client, t->level[i - 1].domain, member);
	if (is_posted(s, t, i))
		return root_next(s, t, slot, member);
	return level_word(s, t, slot, i, LINKS_OFFSET + (uint64_t)(member - 1) * WORD_BYTES);
}

/* The member as which this client stands in the queue of level i. */
RMA_INLINE int64_t member_id(const struct lock_setup *s, const struct queue_tree *t,
			     struct lock_slot *slot, int i)
{
	return i == t->n ? slot->id : topo_child(s->topo, slot->client.rma->rank, i) + 1;
}

/* The same in a root queue that is posted, too. */
static int64_t own_member(const struct lock_setup *s, const struct queue_tree *t,
			  struct lock_slot *slot, int i)
{
	return is_posted(s, t, i) ? root_own(s, t, slot, 0) : member_id(s, t, slot, i);
}

/* ---------------------------------------------------------------- acquire */

/* A1: no successor, no grant; (A). */
RMA_INLINE void prepare(const struct queue_tree *t, struct lock_slot *slot, int i)
{
	enum rma_domain d = t->level[i - 1].domain;

	rma_poke(&slot->client, slot->status[d], STATUS_WAIT);
	if (i == t->n)
		rma_poke(&slot->client, slot->next[d], 0);
}

/* The grant that sends its receiver to the parent. The element has a withdrawn place there, behind
 * member place; 0: it has none. */
static int64_t parent_with(int64_t place)
{
	return STATUS_PARENT | place << STATUS_GRANT_BITS;
}

static const char *what_for(int i)
{
	return i == 1 ? "a grant at the root queue" : "a grant in its element";
}

static void link_to(const struct lock_setup *s, const struct queue_tree *t, struct lock_slot *slot,
		    int i, int64_t pred, int64_t flag)
{
	struct rma_word link = link_word(s, t, slot, i, pred);

	if (i == 1)
		queue_slot(slot)->contended = true;
	slot->from = i == t->n ? pred : -i;
	/* A3: the client that releases for the predecessor will find the link; (B). */
	rma_put(&slot->client, link, slot->id | flag);
	rma_flush(&slot->client, link); /* orders the link before the wait; pairs with R2, R4 */
}

/* A4: wait for a grant (R3, R6). */
static int64_t await_grant(const struct queue_tree *t, struct lock_slot *slot, int i)
{
	return rma_await(&slot->client, slot->status[t->level[i - 1].domain], -1, RMA_NE,
			 STATUS_WAIT, i == t->n ? RMA_SOON : RMA_LATER, what_for(i));
}

/* Link to the predecessor and wait. Returns the grant. */
static RMA_SLOW_PATH int64_t wait_behind(const struct lock_setup *s, const struct queue_tree *t,
					 struct lock_slot *slot, int i, int64_t pred)
{
	if (pred < 0) /* the queue is empty, but the element has a place above */
		return parent_with(-pred);
	link_to(s, t, slot, i, pred, 0);
	return await_grant(t, slot, i);
}

/* Enter the queue of level i. Returns the grant; STATUS_WAIT: this client is the head. */
RMA_INLINE int64_t enter(const struct lock_setup *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i)
{
	struct rma_client *c = &slot->client;
	struct rma_word tail = tail_word(s, t, slot, i);
	int64_t pred;

	if (i == t->n)
		queue_slot(slot)->tail = tail;
	prepare(t, slot, i);
	/* A2: become the tail. */
	rma_fao(c, tail, RMA_REPLACE, member_id(s, t, slot, i), &pred);
	rma_flush(c, tail); /* orders the swap before the look at pred */
	return pred ? wait_behind(s, t, slot, i, pred) : STATUS_WAIT;
}

bool queue_tree_waiters_near(const struct lock_setup *s, const struct queue_tree *t,
			     struct lock_slot *slot)
{
	struct rma_word tail = tail_word(s, t, slot, t->n);

	return t->level[t->n - 1].domain == RMA_NODE && rma_peek(&slot->client, tail) > 0;
}

/* The state of a client on its way up that may have to turn back, or whose element has a place
 * above. */
struct ascent {
	uint64_t deadline_ns; /* 0: none */
	bool over;            /* the deadline has passed: enter empty queues only */
	int64_t place;        /* at the next level, as in parent_with(); at the leaf, its own */
};

/*
 * Deadlines. A waiter whose deadline has passed withdraws (T1), leaves the queues of which it is
 * the head with PARENT and (G), and returns. The next client of the element resumes the place (T2).
 * If the place is being passed over, that client waits until this is done, which takes a running
 * release no longer than a release for any other client (T3), and enters at the tail. A releaser
 * passes over the withdrawn places that it finds (T4), and marks each as done (T5). A withdrawal
 * costs one compare-and-swap at the predecessor's link, and what PARENT costs. If it comes too
 * late, the grant is on its way, and the client has the lock or the right to go up; on its way up
 * it enters empty queues only. A place that is passed over costs the releaser one or two atomics,
 * and a put.
 */
/* T1: replace this slot by its member in the link that leads to it. False: the link has been taken,
 * and a grant is on its way. */
static bool withdraw(const struct lock_setup *s, const struct queue_tree *t, struct lock_slot *slot,
		     int i, int64_t pred)
{
	struct rma_word link = link_word(s, t, slot, i, pred);
	int64_t mine = slot->id | LINK_TIMED, was;

	rma_cas(&slot->client, link, mine, own_member(s, t, slot, i) | LINK_AWAY, &was);
	rma_flush(&slot->client, link); /* orders the swap before the look at was */
	return was == mine;
}

/* A4 with a deadline. Returns the grant, or STATUS_NONE. */
static int64_t await_grant_until(const struct lock_setup *s, const struct queue_tree *t,
				 struct lock_slot *slot, int i, int64_t pred, struct ascent *a)
{
	int64_t status;

	if (rma_await_until(&slot->client, slot->status[t->level[i - 1].domain], -1, RMA_NE,
			    STATUS_WAIT, i == t->n ? RMA_SOON : RMA_LATER, a->deadline_ns,
			    what_for(i), &status))
		return status;
	a->over = true;
	if (!withdraw(s, t, slot, i, pred))
		return await_grant(t, slot, i);
	a->place = pred;
	return STATUS_NONE;
}

/* T3: wait until the client that passes over the place has finished with its words. */
static bool await_done(const struct lock_setup *s, const struct queue_tree *t,
		       struct lock_slot *slot, int i, struct ascent *a)
{
	struct rma_client *c = &slot->client;
	int64_t me = own_member(s, t, slot, i), seen;
	struct rma_word w =
	    i == t->n ? slot->status[t->level[i - 1].domain] : link_word(s, t, slot, i, me);
	int64_t done = i == t->n ? STATUS_FREE : is_posted(s, t, i) ? root_left(me) : LINK_DONE;

	if (a->over) {
		rma_get(c, w, &seen);
		rma_flush(c, w); /* orders the get before the look at its result */
	} else {
		a->over = !rma_await_until(c, w, -1, RMA_EQ, done, RMA_SOON, a->deadline_ns,
					   "its old place to be passed over", &seen);
	}
	if (seen != done && !FAULT(rma_mcs_done))
		return false;
	a->place = 0;
	if (i == t->n) {
		prepare(t, slot, i);
		return true;
	}
	if (is_posted(s, t, i))
		return true;
	rma_put(c, w, 0);
	rma_flush(c, w); /* orders the reset before the element enters again; (B) */
	return true;
}

/* This client or its element has a place at level i, or had one. Returns the grant; STATUS_WAIT: it
 * has to enter. */
static int64_t return_to_place(const struct lock_setup *s, const struct queue_tree *t,
			       struct lock_slot *slot, int i, struct ascent *a)
{
	struct rma_word link = link_word(s, t, slot, i, a->place);
	int64_t away = own_member(s, t, slot, i) | LINK_AWAY, pred = a->place, was;

	if (!a->over) {
		/* T2: resume the place, unless it is being passed over. */
		rma_cas(&slot->client, link, away, slot->id | (a->deadline_ns ? LINK_TIMED : 0),
			&was);
		rma_flush(&slot->client, link); /* orders the swap before the look at was */
		if (was == away) {
			a->place = 0;
			return await_grant_until(s, t, slot, i, pred, a);
		}
	}
	return await_done(s, t, slot, i, a) ? STATUS_WAIT : STATUS_NONE;
}

/* A2: become the tail if the queue is empty. Returns the slot that is the tail otherwise. */
static int64_t swap_empty(const struct lock_setup *s, const struct queue_tree *t,
			  struct lock_slot *slot, int i, struct rma_word tail)
{
	int64_t expected = 0, seen;

	for (;;) {
		rma_cas(&slot->client, tail, expected, member_id(s, t, slot, i), &seen);
		rma_flush(&slot->client, tail); /* orders the swap before the look at seen */
		if (seen == expected || seen > 0)
			return seen;
		expected = seen;
	}
}

/* As enter_until(), in a root queue that is posted. */
static int64_t enter_posted(const struct lock_setup *s, const struct queue_tree *t,
			    struct lock_slot *slot, struct ascent *a)
{
	int64_t pred;

	if (a->over)
		return root_try_enter(s, t, slot) ? STATUS_WAIT : STATUS_NONE;
	pred = root_enter(s, t, slot);
	if (!pred || !root_link(s, t, slot, pred, a->deadline_ns ? LINK_TIMED : 0))
		return STATUS_WAIT;
	slot->from = -1;
	return await_grant_until(s, t, slot, 1, pred, a);
}

/* As enter(); or STATUS_NONE. */
static int64_t enter_until(const struct lock_setup *s, const struct queue_tree *t,
			   struct lock_slot *slot, int i, struct ascent *a)
{
	struct rma_word tail = tail_word(s, t, slot, i);
	int64_t pred;

	if (is_posted(s, t, i))
		return enter_posted(s, t, slot, a);
	if (i == t->n)
		queue_slot(slot)->tail = tail;
	if (a->over) {
		pred = swap_empty(s, t, slot, i, tail);
	} else {
		rma_fao(&slot->client, tail, RMA_REPLACE, member_id(s, t, slot, i), &pred);
		rma_flush(&slot->client, tail); /* orders the swap before the look at pred */
	}
	if (pred <= 0)
		return pred ? parent_with(-pred) : STATUS_WAIT;
	if (a->over)
		return STATUS_NONE;
	link_to(s, t, slot, i, pred, a->deadline_ns ? LINK_TIMED : 0);
	return await_grant_until(s, t, slot, i, pred, a);
}

static void turn_back(const struct lock_setup *s, const struct queue_tree *t,
		      struct lock_slot *slot, int i, int64_t place);

/* Acquire from level i upwards. */
static RMA_SLOW_PATH enum queue_entry acquire_from(const struct lock_setup *s,
						   const struct queue_tree *t,
						   struct lock_slot *slot, int i, struct ascent a)
{
	for (; i >= 1; i--) {
		int64_t status = STATUS_WAIT;

		a.over = a.over || (a.deadline_ns && rma_clock(&slot->client) >= a.deadline_ns);
		if (i < t->n || !a.place)
			prepare(t, slot, i);
		if (a.place)
			status = return_to_place(s, t, slot, i, &a);
		if (status == STATUS_WAIT)
			status = enter_until(s, t, slot, i, &a);
		if (status == STATUS_NONE) {
			turn_back(s, t, slot, i + 1, a.place);
			queue_slot(slot)->left_behind = i == t->n ? a.place : 0;
			return queue_slot(slot)->left_behind ? QUEUE_LEFT : QUEUE_BUSY;
		}
		if ((status & STATUS_GRANT_MASK) == STATUS_LOCKED) {
			queue_slot(slot)->passed = status;
			return QUEUE_PASSED;
		}
		a.place = status >> STATUS_GRANT_BITS;
	}
	return QUEUE_FRESH;
}

enum queue_entry queue_tree_acquire(const struct lock_setup *s, const struct queue_tree *t,
				    struct lock_slot *slot)
{
	queue_slot(slot)->passed = 0;
	if (slot->deadline_ns || is_posted(s, t, 1))
		return acquire_from(s, t, slot, t->n,
				    (struct ascent){.deadline_ns = slot->deadline_ns});
	for (int i = t->n; i >= 1; i--) {
		int64_t status = enter(s, t, slot, i), place;

		if ((status & STATUS_GRANT_MASK) == STATUS_LOCKED) {
			queue_slot(slot)->passed = status;
			return QUEUE_PASSED;
		}
		place = status >> STATUS_GRANT_BITS;
		if (place)
			return acquire_from(s, t, slot, i - 1, (struct ascent){.place = place});
		/* This client is the head of the queue, or its predecessor has left the parent: go
		 * up. */
	}
	return QUEUE_FRESH;
}

enum queue_entry queue_tree_resume(const struct lock_setup *s, const struct queue_tree *t,
				   struct lock_slot *slot)
{
	queue_slot(slot)->passed = 0;
	return acquire_from(
	    s, t, slot, t->n,
	    (struct ascent){slot->deadline_ns, false, queue_slot(slot)->left_behind});
}

bool queue_tree_passed(const struct queue_tree *t, struct lock_slot *slot)
{
	struct rma_word status = slot->status[t->level[t->n - 1].domain];

	return rma_peek(&slot->client, status) == STATUS_FREE;
}

/* --------------------------------------------------------------- release */

/* What a releaser has found so far, by level. */
struct descent {
	int64_t taken[TOPO_MAX_LEVELS]; /* the successor, if known */
	int64_t as[TOPO_MAX_LEVELS];    /* the member as which it stands in the queue; 0: its own */
};

static inline int64_t standing_as(const struct lock_setup *s, const struct queue_tree *t,
				  struct lock_slot *slot, int i, const struct descent *d)
{
	return d->as[i - 1] ? d->as[i - 1] : member_id(s, t, slot, i);
}

/* Take the link of a member, even if at the same time its waiter withdraws or another client
 * resumes a withdrawn place. */
static int64_t take_from(const struct lock_setup *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i, int64_t member)
{
	struct rma_word link = link_word(s, t, slot, i, member);
	int64_t succ;

	rma_fao(&slot->client, link, RMA_REPLACE, 0, &succ);
	rma_flush(&slot->client, link); /* orders the reset before any grant */
	return succ;
}

/* T5: mark the withdrawn member in whose place this client stood as done: its slot may be used
 * again, or its element enter again. */
static void free_member(const struct lock_setup *s, const struct queue_tree *t,
			struct lock_slot *slot, int i, struct descent *d)
{
	enum rma_domain domain = t->level[i - 1].domain;
	struct rma_word w;

	if (!d->as[i - 1])
		return;
	w = i == t->n ? slot_status(s, &slot->client, domain, d->as[i - 1])
		      : link_word(s, t, slot, i, d->as[i - 1]);
	rma_put(&slot->client, w, i == t->n ? STATUS_FREE : LINK_DONE);
	rma_flush(&slot->client, w); /* orders it before the return; pairs with T3 */
	d->as[i - 1] = 0;
}

/* T4: pass over withdrawn members: stand in the place of each in turn. Returns the first successor
 * that waits; 0: none is linked to the last of them. */
static RMA_SLOW_PATH int64_t pass_over(const struct lock_setup *s, const struct queue_tree *t,
				       struct lock_slot *slot, int i, struct descent *d,
				       int64_t succ)
{
	while (succ & LINK_AWAY) {
		free_member(s, t, slot, i, d);
		d->as[i - 1] = succ & ~LINK_FLAGS;
		succ = take_from(s, t, slot, i, d->as[i - 1]);
	}
	return succ & ~LINK_FLAGS;
}

/* Take the successor at level i if one is linked; else 0. R1 at the leaves, R2 above, where the
 * link is reset for the element's next stay; (B). */
static inline int64_t take_link(const struct lock_setup *s, const struct queue_tree *t,
				struct lock_slot *slot, int i, struct descent *d)
{
	struct rma_client *c = &slot->client;
	int64_t me = member_id(s, t, slot, i), succ;
	struct rma_word link;

	if (i == t->n) {
		succ = rma_peek(c, slot->next[t->level[i - 1].domain]);
		if (succ & LINK_FLAGS)
			succ = take_from(s, t, slot, i, me);
	} else {
		link = link_word(s, t, slot, i, me);
		if (rma_is_cpu(link)) {
			/* Once the link is set, no other client writes it before this element
			 * returns, unless its waiter withdraws. */
			rma_get(c, link, &succ);
			if (succ & LINK_FLAGS)
				succ = take_from(s, t, slot, i, me);
			else if (succ)
				rma_put(c, link, 0);
		} else {
			succ = take_from(s, t, slot, i, me);
		}
	}
	return succ & LINK_FLAGS ? pass_over(s, t, slot, i, d, succ) : succ;
}

/* R4: a successor has swapped TAIL: wait until it is linked, and take the link. 0: it has
 * withdrawn, and this client stands in its place. */
static int64_t await_link(const struct lock_setup *s, const struct queue_tree *t,
			  struct lock_slot *slot, int i, struct descent *d)
{
	struct rma_word link = link_word(s, t, slot, i, standing_as(s, t, slot, i, d));
	static const char what[] = "its successor to link itself";
	int64_t succ;

	if (d->as[i - 1]) {
		rma_await(&slot->client, link, -1, RMA_NE, 0, RMA_SOON, what);
		return pass_over(s, t, slot, i, d, take_from(s, t, slot, i, d->as[i - 1]));
	}
	succ = take_link(s, t, slot, i, d);
	if (succ || d->as[i - 1])
		return succ;
	rma_await(&slot->client, link, -1, RMA_NE, 0, RMA_SOON, what);
	return take_link(s, t, slot, i, d);
}

static void grant(const struct lock_setup *s, const struct queue_tree *t, struct lock_slot *slot,
		  int i, int64_t succ, int64_t status)
{
	struct rma_word w = slot_status(s, &slot->client, t->level[i - 1].domain, succ);

	rma_put(&slot->client, w, status);
	rma_flush(&slot->client, w); /* orders the grant before the return; pairs with A4 */
}

/* R5: leave the queue of level i if there is no successor. place: the element's withdrawn place at
 * the parent, for TAIL. */
static inline bool leave_empty(const struct lock_setup *s, const struct queue_tree *t,
			       struct lock_slot *slot, int i, const struct descent *d,
			       int64_t place)
{
	struct rma_word tail = i == t->n ? queue_slot(slot)->tail : tail_word(s, t, slot, i);
	int64_t me = standing_as(s, t, slot, i, d), last;

	rma_cas(&slot->client, tail, me, -place, &last);
	rma_flush(&slot->client, tail); /* orders the swap before the look at last */
	return last == me;
}

/* The grant for a pass at level i: one more pass here, the parents' counts as they are, and zero
 * for the levels below. */
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

/* There is a successor at level i: find it if it is not known yet, and grant. If it has withdrawn
 * and has no successor, leave the queue empty. */
static RMA_SLOW_PATH void leave_to(const struct lock_setup *s, const struct queue_tree *t,
				   struct lock_slot *slot, int i, struct descent *d, int64_t status)
{
	int64_t succ = d->taken[i - 1];

	while (!succ) {
		succ = await_link(s, t, slot, i, d);
		if (!succ && leave_empty(s, t, slot, i, d, status >> STATUS_GRANT_BITS)) {
			free_member(s, t, slot, i, d);
			return;
		}
	}
	free_member(s, t, slot, i, d);
	if (i == 1)
		queue_slot(slot)->contended = true;
	grant(s, t, slot, i, succ,
	      status == STATUS_LOCKED ? status_for(t, queue_slot(slot)->passed, i) : status);
}

/* Leave level i for good. The successor, if any, gets this grant: the lock, or the right to
 * go to the parent (with the element's place there), or to settle with the readers itself. */
static inline void leave(const struct lock_setup *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i, struct descent *d, int64_t status)
{
	if (!d->taken[i - 1] && !d->as[i - 1] && i == t->n)
		d->taken[i - 1] = take_link(s, t, slot, i, d);
	if (d->taken[i - 1] || !leave_empty(s, t, slot, i, d, status >> STATUS_GRANT_BITS)) {
		leave_to(s, t, slot, i, d, status);
		return;
	}
	free_member(s, t, slot, i, d);
	if (i == 1)
		queue_slot(slot)->contended = false;
}

static bool may_pass(const struct queue_tree *t, int64_t passed, int i)
{
	const struct queue_level *l = &t->level[i - 1];

	return ((passed >> l->shift) & l->mask) < l->threshold;
}

static inline void release_root(const struct lock_setup *s, const struct queue_tree *t,
				struct lock_slot *slot, queue_root_fn *before_root,
				struct descent *d)
{
	int64_t status = STATUS_LOCKED;

	d->taken[0] = d->as[0] = 0;
	/* Look for a waiter? That costs a round trip at a NET root, so a release of RMA-MCS that
	 * found none last time first tries to leave. */
	if (before_root || queue_slot(slot)->contended)
		d->taken[0] = take_link(s, t, slot, 1, d);
	if (before_root && before_root(s, slot, d->taken[0] != 0) == QUEUE_REOPENED)
		status = STATUS_REOPENED;
	leave(s, t, slot, 1, d, status);
}

/* A client that handed the lock to this one within the element is likely to return sooner than the
 * lock could go to another node and come back. So look for a moment longer whether a client links
 * itself. */
static inline bool is_worth_a_look(const struct queue_tree *t, struct lock_slot *slot)
{
	const struct queue_level *leaf = &t->level[t->n - 1];

	return t->level[0].domain == RMA_NET && leaf->domain == RMA_NODE &&
	       (queue_slot(slot)->passed >> leaf->shift & leaf->mask) != 0;
}

/* R6: from the level below the one where the lock went, leave every queue in which this client
 * stands. Successors have to go to the parent themselves; (C). */
static void unwind(const struct lock_setup *s, const struct queue_tree *t, struct lock_slot *slot,
		   int from, struct descent *d)
{
	for (int k = from; k <= t->n; k++)
		leave(s, t, slot, k, d, STATUS_PARENT);
}

static RMA_SLOW_PATH void leave_only_level(const struct lock_setup *s, const struct queue_tree *t,
					   struct lock_slot *slot, int64_t succ, int64_t status)
{
	struct descent d = {.taken = {succ}};

	if (succ & LINK_FLAGS) {
		d.taken[0] = 0;
		leave(s, t, slot, 1, &d, status);
	} else {
		leave_to(s, t, slot, 1, &d, status);
	}
}

/* No client is linked behind us, or there is nothing to decide at the root. */
RMA_INLINE void release_only_level(const struct lock_setup *s, const struct queue_tree *t,
				   struct lock_slot *slot, int64_t succ, int64_t status)
{
	int64_t last;

	if (!succ) {
		struct rma_word tail = queue_slot(slot)->tail;

		rma_cas(&slot->client, tail, slot->id, 0, &last);
		rma_flush(&slot->client, tail); /* orders the swap before the look at last */
		if (last == slot->id)
			return;
	}
	leave_only_level(s, t, slot, succ, status);
}

/* The machine is one queue, as in D-MCS. False: a successor is known, and before_root is to say
 * what to do with it. */
RMA_INLINE bool release_one_queue(const struct lock_setup *s, const struct queue_tree *t,
				  struct lock_slot *slot, queue_root_fn *before_root)
{
	int64_t succ = rma_peek(&slot->client, slot->next[s->domain]), status = STATUS_LOCKED;

	if (before_root) {
		if (succ)
			return false;
		if (before_root(s, slot, false) == QUEUE_REOPENED)
			status = STATUS_REOPENED;
	}
	release_only_level(s, t, slot, succ, status);
	return true;
}

int queue_tree_release(const struct lock_setup *s, const struct queue_tree *t,
		       struct lock_slot *slot, queue_root_fn *before_root)
{
	int rc = PAWL_SUCCESS;
	struct descent d;
	bool turn_over;

	if (t->n == 1 && release_one_queue(s, t, slot, before_root))
		return PAWL_SUCCESS;
	turn_over = t->run_shift && queue_tree_run(t, queue_slot(slot)->passed) + 1 >= t->run_limit;
	if (!turn_over && may_pass(t, queue_slot(slot)->passed, t->n) && is_worth_a_look(t, slot))
		rma_spin_briefly(&slot->client, slot->next[RMA_NODE], -1, RMA_NE, 0);
	for (int i = t->n; i > 1; i--) {
		d.taken[i - 1] = d.as[i - 1] = 0;
		if (turn_over || !may_pass(t, queue_slot(slot)->passed, i))
			continue;
		d.taken[i - 1] = take_link(s, t, slot, i, &d);
		if (d.taken[i - 1]) {
			/* R3: pass the lock on within this element. */
			leave_to(s, t, slot, i, &d, STATUS_LOCKED);
			unwind(s, t, slot, i + 1, &d);
			return PAWL_SUCCESS;
		}
	}
	if (is_posted(s, t, 1))
		rc = root_leave(s, t, slot, status_for(t, queue_slot(slot)->passed, 1));
	else
		release_root(s, t, slot, before_root, &d);
	unwind(s, t, slot, 2, &d);
	return rc;
}

/* --------------------------------------------------------------- turning back */

/* From level i down. The element has a withdrawn place at the level above, behind member place; 0:
 * it has none. */
static void turn_back(const struct lock_setup *s, const struct queue_tree *t,
		      struct lock_slot *slot, int i, int64_t place)
{
	struct descent d = {.taken = {0}};

	if (i > t->n)
		return;
	leave(s, t, slot, i, &d, parent_with(place));
	unwind(s, t, slot, i + 1, &d);
}

void queue_tree_abandon(const struct lock_setup *s, const struct queue_tree *t,
			struct lock_slot *slot)
{
	struct descent d = {.taken = {0}};

	leave(s, t, slot, 1, &d, STATUS_REOPENED);
	unwind(s, t, slot, 2, &d);
}

enum queue_entry queue_tree_try_acquire(const struct lock_setup *s, const struct queue_tree *t,
					struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;

	queue_slot(slot)->passed = 0;
	for (int i = t->n; i >= 1; i--) {
		struct rma_word tail = tail_word(s, t, slot, i);
		int64_t pred;

		if (is_posted(s, t, i)) {
			if (root_try_enter(s, t, slot))
				break;
			turn_back(s, t, slot, i + 1, 0);
			return QUEUE_BUSY;
		}
		/* A1 and A2, only if the queue is empty. */
		if (i == t->n)
			queue_slot(slot)->tail = tail;
		prepare(t, slot, i);
		rma_cas(c, tail, 0, member_id(s, t, slot, i), &pred);
		rma_flush(c, tail); /* orders the swap before the look at pred */
		if (pred < 0)
			return acquire_from(s, t, slot, i, (struct ascent){.over = true});
		if (pred) {
			turn_back(s, t, slot, i + 1, 0);
			return QUEUE_BUSY;
		}
	}
	return QUEUE_FRESH;
}
