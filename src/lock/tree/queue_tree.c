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
 *   (B) LINK of a child is null whenever the child enters a queue: it is
 *       written once per stay, by the next member, and taken (read and reset)
 *       by the client that releases for the child, before the child can come back. One that
 *       may change at the same time, (E), is taken by a fetch-and-op.
 *   (C) A client that holds for an element leaves the parent's queue before it lets
 *       the next client of the element enter there (PARENT is sent last).
 *   (D) What a holder did in node memory is visible to the next holder on the
 *       node: each grant is stored after it and awaited with acquire semantics.
 *
 *   (E) What leads to a waiter is one word, the link of its predecessor; it names the
 *       waiter's slot, and says whether the waiter has a deadline. Such a waiter
 *       withdraws by a compare-and-swap of that word, and the releaser takes it by a
 *       fetch-and-op: so either the waiter gets the grant, or nothing is ever
 *       written to it on behalf of this link.
 *   (F) A place that was withdrawn stays in its queue, and its link names the member.
 *       The place of an element may be taken up by the next client of the element, by
 *       a compare-and-swap of the same word; a slot's by itself. So it has a waiter
 *       again, or a releaser takes the link first, and passes over the place: it
 *       stands in the queue in its stead, and takes its link or empties TAIL as if it
 *       were its own. Afterwards it says so in a word of that member: LINK_DONE in the
 *       link of an element, STATUS_FREE in the STATUS of a slot. An element enters that
 *       queue again, and a slot serves again, after that only.
 *   (G) The next client of an element whose place was withdrawn learns behind which member:
 *       from the grant PARENT; or from TAIL of the element's own queue, which is then
 *       the negative number of that member instead of null.
 *
 * Deadlines. A waiter whose deadline has passed withdraws (T1), leaves the queues that it
 * is the head of with PARENT and (G), and returns. The next client of the element takes up
 * the place (T2); if it is being passed over, it waits for that, which takes a release under way no
 * longer than one for anybody else (T3), and enters at the tail. A releaser passes over what it
 * finds (T4), and lets it go (T5). A withdrawal is one compare-and-swap where the
 * predecessor's link is, and what PARENT costs; if it comes too late, the grant is on its way,
 * and the client has the lock, or the right to go on up: there it takes what is free
 * only. A place passed over costs a releaser an atomic, or two, and a put.
 *
 * Progress: starvation-free if holders release: an element keeps the lock for at
 * most T_L,i passes, and each queue is first come, first served. A release may
 * wait for a successor that has swapped TAIL and not yet linked itself. An element
 * may lose its place in the parent's queue between the withdrawal of one client
 * and the coming of the next; it does so at most once for each client before us in our
 * own queue, as it leaves that queue at most once for each of them when all hold the lock.
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
 *   - A client that got the lock from its own node, and finds nobody waiting there, looks
 *     for a moment longer before the lock leaves the node.
 *   - The counts of passes of all levels travel in the grant, so that the client that
 *     holds knows them; no element keeps any.
 *
 * Model: models/rma_mcs.pml, whose steps A1 ... R6 and T1 ... T5 are named below.
 */
#include "lock/tree/queue_tree.h"

#include <stdio.h>
#include <string.h>

enum { TAIL_OFFSET = 0, LINKS_OFFSET = 8, WORD_BYTES = 8 };
_Static_assert(LINKS_OFFSET == TAIL_OFFSET + WORD_BYTES, "links follow the tail");

/* STATUS: what kind of grant, and above it the counts. Every grant differs from
 * STATUS_WAIT in its low bits (futexes look there). */
enum { STATUS_WAIT = 0, STATUS_LOCKED = 1, STATUS_PARENT = 2, STATUS_REOPENED = 3 };
enum { STATUS_KIND_BITS = 2, STATUS_KIND_MASK = 3, STATUS_BITS = 63 };
/* Of a slot that was withdrawn at a leaf: no longer in the queue. */
#define STATUS_FREE INT64_C(-1)
/* No status: this client has withdrawn, or found the queue occupied. */
#define STATUS_NONE INT64_C(-2)

/* A link to a waiter that may withdraw; of a place that was withdrawn, with the member in place
 * of the slot; and of an element whose place was passed over. */
#define LINK_TIMED (INT64_C(1) << 62)
#define LINK_AWAY (INT64_C(1) << 61)
#define LINK_FLAGS (LINK_TIMED | LINK_AWAY)
#define LINK_DONE INT64_C(-1)

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
		l->threshold = queue_tree_options(s)->t_l[from->kind];
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

/* TAIL and all LINK words are null; but for elements whose place in the parent's queue was passed
 * over and that nobody has come to since: *over is the number of their links less that of their
 * tails. */
static bool element_idle(const struct queue_level *l, int64_t *words, int i, int j, int64_t *over,
			 char *err, size_t errlen)
{
	for (uint64_t k = 0; k < l->stride / WORD_BYTES; k++) {
		bool mark = k ? words[k] == LINK_DONE : i > 1 && words[k] < 0;

		if (mark)
			*over += k ? 1 : -1;
		if (mark || words[k] == 0)
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
	int64_t over = 0;

	if (!element_idle(root, lock_memory_home(s, m, root->base, root->stride, lock), 1, 0, &over,
			  err, errlen))
		return false;
	for (int i = 2; i <= t->n; i++) {
		const struct queue_level *l = &t->level[i - 1];

		for (int j = 0; j < s->topo->level[i - 1].count; j++) {
			uint64_t at = l->base + topo_tail_index(s->topo, i, j, lock) * l->stride;
			int rank = topo_tail_rank(s->topo, i, j, lock);

			if (!element_idle(l, lock_memory_word(m, rank, at), i, j, &over, err,
					  errlen))
				return false;
		}
	}
	snprintf(err, errlen, "links of places passed over, less the tails that tell of them: %lld",
		 (long long)over);
	return over == 0;
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

/* What a grant says that takes its receiver up to the parent: its element has a place there, which
 * was withdrawn behind this member; 0: it has none. */
static int64_t parent_with(int64_t place)
{
	return STATUS_PARENT | place << STATUS_KIND_BITS;
}

static const char *what_for(int i)
{
	return i == 1 ? "a grant at the root queue" : "a grant in its element";
}

static void link_to(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		    int i, int64_t pred, int64_t flag)
{
	struct rma_word link = link_word(s, t, slot, i, pred);

	if (i == 1)
		queue_slot(slot)->contended = true;
	/* A3: the client that releases for the predecessor will find us; (B). */
	rma_put(&slot->client, link, slot->id | flag);
	rma_flush(&slot->client, link); /* orders the link before our wait; pairs with R2, R4 */
}

/* A4: a grant (R3, R6). */
static int64_t await_grant(const struct queue_tree *t, struct lock_slot *slot, int i)
{
	return rma_await(&slot->client, slot->status[t->level[i - 1].domain], -1, RMA_NE,
			 STATUS_WAIT, i == t->n ? RMA_SOON : RMA_LATER, what_for(i));
}

/* Link to the predecessor, and wait; the grant. */
static RMA_SLOW_PATH int64_t wait_behind(const struct lock_space *s, const struct queue_tree *t,
					 struct lock_slot *slot, int i, int64_t pred)
{
	if (pred < 0) /* nobody but a place above */
		return parent_with(-pred);
	link_to(s, t, slot, i, pred, 0);
	return await_grant(t, slot, i);
}

/* Enter the queue of level i; the grant, or STATUS_WAIT for its head. */
RMA_INLINE int64_t enter(const struct lock_space *s, const struct queue_tree *t,
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

bool queue_tree_waiters_near(const struct lock_space *s, const struct queue_tree *t,
			     struct lock_slot *slot)
{
	struct rma_word tail = tail_word(s, t, slot, t->n);

	return t->level[t->n - 1].domain == RMA_NODE && rma_peek(&slot->client, tail) > 0;
}

/* A client on its way up that may have to turn back, or whose element has a place above. */
struct ascent {
	uint64_t deadline_ns; /* 0: none */
	bool over;            /* it has passed: enter empty queues only */
	int64_t place;        /* at the next level, as in parent_with(); at the leaf its own */
};

/* T1: take our slot out of the link that leads to us, and leave the member there. False: it has
 * been taken, and a grant is on its way. */
static bool withdraw(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		     int i, int64_t pred)
{
	struct rma_word link = link_word(s, t, slot, i, pred);
	int64_t mine = slot->id | LINK_TIMED, was;

	rma_cas(&slot->client, link, mine, member_id(s, t, slot, i) | LINK_AWAY, &was);
	rma_flush(&slot->client, link); /* orders the swap before the look at was */
	return was == mine;
}

/* A4 with a deadline: the grant, or STATUS_NONE. */
static int64_t await_grant_until(const struct lock_space *s, const struct queue_tree *t,
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

/* T3: the client that passes over our place is through with its words. */
static bool await_done(const struct lock_space *s, const struct queue_tree *t,
		       struct lock_slot *slot, int i, struct ascent *a)
{
	struct rma_client *c = &slot->client;
	struct rma_word w = i == t->n ? slot->status[t->level[i - 1].domain]
				      : link_word(s, t, slot, i, member_id(s, t, slot, i));
	int64_t done = i == t->n ? STATUS_FREE : LINK_DONE, seen;

	if (a->over) {
		rma_get(c, w, &seen);
		rma_flush(c, w); /* orders the get before the look at it */
	} else {
		a->over = !rma_await_until(c, w, -1, RMA_EQ, done, RMA_SOON, a->deadline_ns,
					   "its old place to be passed over", &seen);
	}
	if (seen != done)
		return false;
	a->place = 0;
	if (i == t->n) {
		prepare(t, slot, i);
		return true;
	}
	rma_put(c, w, 0);
	rma_flush(c, w); /* orders the reset before our element enters again; (B) */
	return true;
}

/* We, or our element, have a place at level i, or had it: the grant; STATUS_WAIT: enter. */
static int64_t return_to_place(const struct lock_space *s, const struct queue_tree *t,
			       struct lock_slot *slot, int i, struct ascent *a)
{
	struct rma_word link = link_word(s, t, slot, i, a->place);
	int64_t away = member_id(s, t, slot, i) | LINK_AWAY, pred = a->place, was;

	if (!a->over) {
		/* T2: the place is ours, unless it is being passed over. */
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

/* A2: become the tail, if the queue is empty; or else the slot that is. */
static int64_t swap_empty(const struct lock_space *s, const struct queue_tree *t,
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

/* As enter(), or STATUS_NONE. */
static int64_t enter_until(const struct lock_space *s, const struct queue_tree *t,
			   struct lock_slot *slot, int i, struct ascent *a)
{
	struct rma_word tail = tail_word(s, t, slot, i);
	int64_t pred;

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

static void turn_back(const struct lock_space *s, const struct queue_tree *t,
		      struct lock_slot *slot, int i, int64_t place);

/* Acquire, from level i on. */
static RMA_SLOW_PATH enum queue_entry acquire_from(const struct lock_space *s,
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
		if ((status & STATUS_KIND_MASK) == STATUS_LOCKED) {
			queue_slot(slot)->passed = status;
			return QUEUE_PASSED;
		}
		a.place = status >> STATUS_KIND_BITS;
	}
	return QUEUE_FRESH;
}

enum queue_entry queue_tree_acquire(const struct lock_space *s, const struct queue_tree *t,
				    struct lock_slot *slot)
{
	struct ascent a = {.deadline_ns = slot->deadline_ns};

	queue_slot(slot)->passed = 0;
	if (slot->deadline_ns)
		return acquire_from(s, t, slot, t->n, a);
	for (int i = t->n; i >= 1; i--) {
		int64_t status = enter(s, t, slot, i);

		if ((status & STATUS_KIND_MASK) == STATUS_LOCKED) {
			queue_slot(slot)->passed = status;
			return QUEUE_PASSED;
		}
		a.place = status >> STATUS_KIND_BITS;
		if (a.place)
			return acquire_from(s, t, slot, i - 1, a);
		/* Head of the queue, or its predecessor left the parent: go on up. */
	}
	return QUEUE_FRESH;
}

enum queue_entry queue_tree_resume(const struct lock_space *s, const struct queue_tree *t,
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
	int64_t taken[TOPO_MAX_LEVELS]; /* the successor, if it is known */
	int64_t as[TOPO_MAX_LEVELS];    /* the member that it stands in the queue as; 0: its own */
};

static inline int64_t standing_as(const struct lock_space *s, const struct queue_tree *t,
				  struct lock_slot *slot, int i, const struct descent *d)
{
	return d->as[i - 1] ? d->as[i - 1] : member_id(s, t, slot, i);
}

/* The link of any member, taken, also if its waiter may withdraw, or somebody take a place that was
 * withdrawn, at the same time. */
static int64_t take_from(const struct lock_space *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i, int64_t member)
{
	struct rma_word link = link_word(s, t, slot, i, member);
	int64_t succ;

	rma_fao(&slot->client, link, RMA_REPLACE, 0, &succ);
	rma_flush(&slot->client, link); /* orders the reset before we grant anything to anyone */
	return succ;
}

/* T5: through with the words of the withdrawn member in whose place we stood: its slot may serve
 * again, its element enter again. */
static void let_go(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		   int i, struct descent *d)
{
	enum rma_domain domain = t->level[i - 1].domain;
	struct rma_word w;

	if (!d->as[i - 1])
		return;
	w = i == t->n ? slot_status(s, &slot->client, domain, d->as[i - 1])
		      : link_word(s, t, slot, i, d->as[i - 1]);
	rma_put(&slot->client, w, i == t->n ? STATUS_FREE : LINK_DONE);
	rma_flush(&slot->client, w); /* orders it before our return; pairs with T3 */
	d->as[i - 1] = 0;
}

/* T4: pass over members that were withdrawn: stand in the place of each in turn. The first
 * successor that waits, or 0: none is linked to the last of them. */
static RMA_SLOW_PATH int64_t pass_over(const struct lock_space *s, const struct queue_tree *t,
				       struct lock_slot *slot, int i, struct descent *d,
				       int64_t succ)
{
	while (succ & LINK_AWAY) {
		let_go(s, t, slot, i, d);
		d->as[i - 1] = succ & ~LINK_FLAGS;
		succ = take_from(s, t, slot, i, d->as[i - 1]);
	}
	return succ & ~LINK_FLAGS;
}

/* The successor at level i if one is linked to us, taken; or 0. R1 at the
 * leaves, R2 above: there the link is reset for the element's next stay; (B). */
static inline int64_t take_link(const struct lock_space *s, const struct queue_tree *t,
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
			/* Once it is set nobody but us writes it before we come back, or its
			 * waiter may withdraw. */
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

/* R4: a successor has swapped TAIL: wait until it is linked, and take it. 0: it was withdrawn, and
 * we stand in its place. */
static int64_t await_link(const struct lock_space *s, const struct queue_tree *t,
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

static void grant(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		  int i, int64_t succ, int64_t status)
{
	struct rma_word w = slot_status(s, &slot->client, t->level[i - 1].domain, succ);

	rma_put(&slot->client, w, status);
	rma_flush(&slot->client, w); /* orders the grant before our return; pairs with A4 */
}

/* R5: leave the queue of level i: true if nobody is behind us. place: what TAIL then says of our
 * element's place at the parent. */
static inline bool leave_empty(const struct lock_space *s, const struct queue_tree *t,
			       struct lock_slot *slot, int i, const struct descent *d,
			       int64_t place)
{
	struct rma_word tail = i == t->n ? queue_slot(slot)->tail : tail_word(s, t, slot, i);
	int64_t me = standing_as(s, t, slot, i, d), last;

	rma_cas(&slot->client, tail, me, -place, &last);
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

/* There is a successor at level i: find it if it is not yet known, and grant; or it was withdrawn,
 * and nobody is behind it. */
static RMA_SLOW_PATH void leave_to(const struct lock_space *s, const struct queue_tree *t,
				   struct lock_slot *slot, int i, struct descent *d, int64_t kind)
{
	int64_t succ = d->taken[i - 1];

	while (!succ) {
		succ = await_link(s, t, slot, i, d);
		if (!succ && leave_empty(s, t, slot, i, d, kind >> STATUS_KIND_BITS)) {
			let_go(s, t, slot, i, d);
			return;
		}
	}
	let_go(s, t, slot, i, d);
	if (i == 1)
		queue_slot(slot)->contended = true;
	grant(s, t, slot, i, succ,
	      kind == STATUS_LOCKED ? status_for(t, queue_slot(slot)->passed, i) : kind);
}

/* Leave level i for good. The successor, if any, gets the kind of grant: the
 * lock, or the right to go to the parent (with the place of its element there) or settle with the
 * readers itself. */
static inline void leave(const struct lock_space *s, const struct queue_tree *t,
			 struct lock_slot *slot, int i, struct descent *d, int64_t kind)
{
	if (!d->taken[i - 1] && !d->as[i - 1] && i == t->n)
		d->taken[i - 1] = take_link(s, t, slot, i, d);
	if (d->taken[i - 1] || !leave_empty(s, t, slot, i, d, kind >> STATUS_KIND_BITS)) {
		leave_to(s, t, slot, i, d, kind);
		return;
	}
	let_go(s, t, slot, i, d);
	if (i == 1)
		queue_slot(slot)->contended = false;
}

static bool may_pass(const struct queue_tree *t, int64_t passed, int i)
{
	const struct queue_level *l = &t->level[i - 1];

	return ((passed >> l->shift) & l->mask) < l->threshold;
}

static inline void release_root(const struct lock_space *s, const struct queue_tree *t,
				struct lock_slot *slot, queue_root_fn *before_root,
				struct descent *d)
{
	int64_t kind = STATUS_LOCKED;

	d->taken[0] = d->as[0] = 0;
	/* Is somebody waiting? Looking costs a round trip at a NET root, so an
	 * RMA-MCS release that found nobody last time first tries to leave. */
	if (before_root || queue_slot(slot)->contended)
		d->taken[0] = take_link(s, t, slot, 1, d);
	if (before_root && before_root(s, slot, d->taken[0] != 0) == QUEUE_REOPENED)
		kind = STATUS_REOPENED;
	leave(s, t, slot, 1, d, kind);
}

/* A client that passed the lock to us within our element is likely to come back for it in less time
 * than it takes to hand it to another node, and the lock to come back from there. So look for a
 * moment longer whether somebody links himself to us. */
static inline bool is_worth_a_glance(const struct queue_tree *t, struct lock_slot *slot)
{
	const struct queue_level *leaf = &t->level[t->n - 1];

	return t->level[0].domain == RMA_NET && leaf->domain == RMA_NODE &&
	       (queue_slot(slot)->passed >> leaf->shift & leaf->mask) != 0;
}

/* R6: from the level below the one where the lock went, leave every queue this
 * client stands in; successors have to go to the parent themselves; (C). */
static void unwind(const struct lock_space *s, const struct queue_tree *t, struct lock_slot *slot,
		   int from, struct descent *d)
{
	for (int k = from; k <= t->n; k++)
		leave(s, t, slot, k, d, STATUS_PARENT);
}

static RMA_SLOW_PATH void leave_only_level(const struct lock_space *s, const struct queue_tree *t,
					   struct lock_slot *slot, int64_t succ, int64_t kind)
{
	struct descent d = {.taken = {succ}};

	if (succ & LINK_FLAGS) {
		d.taken[0] = 0;
		leave(s, t, slot, 1, &d, kind);
	} else {
		leave_to(s, t, slot, 1, &d, kind);
	}
}

/* No client is linked behind us, or there is nothing to decide at the root. */
RMA_INLINE void release_only_level(const struct lock_space *s, const struct queue_tree *t,
				   struct lock_slot *slot, int64_t succ, int64_t kind)
{
	int64_t last;

	if (!succ) {
		struct rma_word tail = queue_slot(slot)->tail;

		rma_cas(&slot->client, tail, slot->id, 0, &last);
		rma_flush(&slot->client, tail); /* orders the swap before the look at last */
		if (last == slot->id)
			return;
	}
	leave_only_level(s, t, slot, succ, kind);
}

/* The machine is one queue, as in D-MCS. False: a successor is known, and before_root is to say
 * what to do with it. */
RMA_INLINE bool release_one_queue(const struct lock_space *s, const struct queue_tree *t,
				  struct lock_slot *slot, queue_root_fn *before_root)
{
	int64_t succ = rma_peek(&slot->client, slot->next[s->domain]), kind = STATUS_LOCKED;

	if (before_root && succ)
		return false;
	if (before_root && before_root(s, slot, false) == QUEUE_REOPENED)
		kind = STATUS_REOPENED;
	release_only_level(s, t, slot, succ, kind);
	return true;
}

void queue_tree_release(const struct lock_space *s, const struct queue_tree *t,
			struct lock_slot *slot, queue_root_fn *before_root)
{
	struct descent d;
	bool turn_over;

	if (t->n == 1 && release_one_queue(s, t, slot, before_root))
		return;
	turn_over = t->run_shift && queue_tree_run(t, queue_slot(slot)->passed) + 1 >= t->run_limit;
	if (!turn_over && may_pass(t, queue_slot(slot)->passed, t->n) && is_worth_a_glance(t, slot))
		rma_glance(slot->next[RMA_NODE], -1, RMA_NE, 0);
	for (int i = t->n; i > 1; i--) {
		d.taken[i - 1] = d.as[i - 1] = 0;
		if (turn_over || !may_pass(t, queue_slot(slot)->passed, i))
			continue;
		d.taken[i - 1] = take_link(s, t, slot, i, &d);
		if (d.taken[i - 1]) {
			/* R3: pass it on within this element. */
			leave_to(s, t, slot, i, &d, STATUS_LOCKED);
			unwind(s, t, slot, i + 1, &d);
			return;
		}
	}
	release_root(s, t, slot, before_root, &d);
	unwind(s, t, slot, 2, &d);
}

/* --------------------------------------------------------------- turning back */

/* From level i down: our element's place at the level above was withdrawn behind this member, or
 * it has none. */
static void turn_back(const struct lock_space *s, const struct queue_tree *t,
		      struct lock_slot *slot, int i, int64_t place)
{
	struct descent d = {.taken = {0}};

	if (i > t->n)
		return;
	leave(s, t, slot, i, &d, parent_with(place));
	unwind(s, t, slot, i + 1, &d);
}

void queue_tree_abandon(const struct lock_space *s, const struct queue_tree *t,
			struct lock_slot *slot)
{
	struct descent d = {.taken = {0}};

	leave(s, t, slot, 1, &d, STATUS_REOPENED);
	unwind(s, t, slot, 2, &d);
}

enum queue_entry queue_tree_try_acquire(const struct lock_space *s, const struct queue_tree *t,
					struct lock_slot *slot)
{
	struct rma_client *c = &slot->client;

	queue_slot(slot)->passed = 0;
	for (int i = t->n; i >= 1; i--) {
		struct rma_word tail = tail_word(s, t, slot, i);
		int64_t pred;

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
