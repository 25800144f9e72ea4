/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock caching: holders leave W, and the last one of a node that keeps the queue leaves that;
 * README, R and L. */
#include "lock/cached/leave.h"

/* Releases for each call that lets the MPI progress. */
enum { RELEASES_PER_CALL = 256 };

/* L1: hand W over to the clients of the node, if one of them is in its queue, unless clients ahead
 * are counted, which come first. The client has WRITER. */
static bool hand_over(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t w, use;

	if (!cached_look(slot, LINE_QUEUE))
		return false;
	use = policy_counts(s, lock_own(slot)) ? USE : 0;
	do {
		w = near_get(slot);
		/* The head may have gone to wait for other nodes, unless this one keeps the queue.
		 */
		if ((w & (INTENTS | SHARED_INTENTS)) ||
		    (!(w & (KEEPS | AWAITED)) && !FAULT(cached_awaited)))
			return false;
	} while (!near_swap(slot, w,
			    w - WRITER + HANDED + (policy_stays(s, lock_own(slot), w) ? use : 0)));
	/* Pairs with leave_what_was_handed(). */
	return cached_look(slot, LINE_QUEUE) || FAULT(cached_nobody) ||
	       !near_take_handed(s, slot, true);
}

/* L2 to L4: what becomes of the lock. *dir: the directory. */
static void settle(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir)
{
	bool has_next = nodes_have_next(slot);
	int me = cached_me(slot);

	if (has_next && policy_passes_on(lock_own(slot), dir)) /* L2 */
		return;
	if (!dir_is_empty(*dir) && policy_gives_back(s, lock_own(slot), *dir)) { /* L3 */
		enum mode mode = dir_mode(*dir);

		*dir = policy_note_end(*dir);
		if (mode != MODE_X)
			*dir = dir_joined(*dir, mode, me);
		*dir = modes_give_back(s, slot, *dir);
		return;
	}
	/* L4 */
	modes_number(slot);
	if (!dir_is_empty(*dir) && !FAULT(cached_promise))
		modes_write(s, slot, *dir, (struct modes){.mode = MODE_N});
	*dir = policy_note_end(*dir);
	if (has_next) {
		*dir = dir_none(*dir);
		return;
	}
	if (!policy_keeps(*dir) && me != cached_home(slot)) {
		*dir = rma_keeps_order(&slot->client) ? dir_owned(*dir, cached_home(slot))
						      : dir_visited(dir_none(*dir), me);
		return;
	}
	*dir = dir_owned(*dir, me);
	if (me != cached_home(slot))
		modes_write_own(slot, (struct modes){.mode = MODE_X});
}

/* U5: the directory with SOME or without it, for a TAIL that says that the queue is empty. The
 * client has found that no uncached sharer is in, and nobody else at the home's node. */
static int64_t with_some(const struct lock_setup *s, struct lock_slot *slot, int64_t dir)
{
	const bool ordered = rma_keeps_order(&slot->client);

	if ((!dir_may_have_some(dir, cached_home(slot)) && !FAULT(cached_opens)) ||
	    !policy_allows_uncached(dir, ordered))
		return dir & ~SOME;
	return policy_leaves_some(s, lock_own(slot), ordered) ? dir | SOME : dir;
}

/* W becomes free, and the node does not keep the queue any more. */
static void free_w(struct lock_slot *slot)
{
	int64_t w;

	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_AND, ~(WRITER | KEEPS | USES), &w);
	near_wake(slot, w);
}

/* Whether nobody waits for the turn of a node that keeps the queue to end. */
static bool is_alone(struct lock_slot *slot)
{
	return dir_is_empty(nodes_directory(slot)) && !nodes_have_next(slot);
}

/* G: look at W, and note the acquires since the last look in the node's turn, if others wait for
 * the lock. Whether the next client of the node may have it. */
static bool may_grant(const struct lock_setup *s, struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	const int64_t w = near_get(slot);
	const bool keeps = (w & KEEPS) != 0, counts = keeps || !cached_admits(slot);
	const int uses = counts ? own->uses + (1 + (int)own->unseen) * policy_counts(s, own) : 0;

	own->unseen = 0;
	own->uses = (int16_t)(uses < ADAPTIVE_MOST_STAY ? uses : ADAPTIVE_MOST_STAY);
	return (uses <= policy_stay(s, own) || (keeps && is_alone(slot))) &&
	       !(w & (INTENTS | SHARED_INTENTS));
}

/* G: grant W and QUEUE together to the next client of the node. False: the client has W still, and
 * has left QUEUE. *stays: the node's turn is not over. */
static bool grant_as_head(const struct lock_setup *s, struct lock_slot *slot, bool *stays)
{
	struct cached_slot *own = lock_own(slot);
	const struct rma_word queue = cached_queue(slot);
	const int64_t behind = own->behind ? own->behind - 1 : 0; /* of the next client (E) */
	int64_t succ, w;

	own->is_head = false;
	if (policy_grants_unseen(s, own))
		own->unseen = (own->unseen + 1) & UNSEEN_MASK;
	else
		*stays = may_grant(s, slot);
	if (mcs_leave(slot, RMA_NODE, queue, &succ))
		return false;
	if (!*stays) {
		mcs_hand_over(s, slot, RMA_NODE, queue, succ, HEAD_NOW);
		return false;
	}
	if (FAULT(cached_granted)) {
		w = near_get(slot);
		near_swap(slot, w, w & ~(WRITER | KEEPS));
	}
	return mcs_hand_over(s, slot, RMA_NODE, queue, succ,
			     HEAD_HAS_W | (int64_t)own->unseen << UNSEEN_SHIFT |
				 behind << BEHIND_SHIFT | (int64_t)own->uses << TURN_USES_SHIFT);
}

/* The client has W alone, with KEEPS, after sharers or not. stays: the node's turn is not over. */
static int leave_queue(const struct lock_setup *s, struct lock_slot *slot, bool shared, bool stays,
		       bool posts)
{
	int64_t dir, next, left;

	if (!nodes_claim(slot, shared, &dir, &stays)) { /* T4 */
		free_w(slot);
		return near_acknowledge(s, slot, WRITER, posts);
	}
	if (stays && (policy_stays(s, lock_own(slot), near_get(slot)) || is_alone(slot)) &&
	    hand_over(s, slot))
		return PAWL_SUCCESS;
	settle(s, slot, &dir);
	dir = with_some(s, slot, dir);
	if (FAULT(cached_early))
		free_w(slot);
	nodes_forget(slot);
	next = nodes_leave(s, slot, &dir, &left);
	if (!FAULT(cached_early))
		free_w(slot);
	/* A node that is granted the lock recalls it only after that, and finds W free. */
	if (next)
		return nodes_grant(s, slot, next, dir & ~SOME, posts);
	if (!FAULT(cached_late))
		near_acknowledge(s, slot, WRITER, false);
	return nodes_end(s, slot, left, dir, posts);
}

/* S3: the last sharer of a node that keeps the queue leaves as an exclusive holder does. */
static RMA_SLOW_PATH int finish(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	int64_t w;

	do {
		w = near_get(slot);
		if (!(w & KEEPS) || (w & HOLDERS))
			return PAWL_SUCCESS;
	} while (!near_swap(slot, w, w + WRITER));
	return leave_queue(s, slot, true, true, posts);
}

/* R1 to R4, of this holder, which was no hit if hit is HIT. */
static int leave_count(const struct lock_setup *s, struct lock_slot *slot, int64_t one, int64_t hit,
		       bool posts)
{
	const int64_t counted = w_plus(one, hit);
	struct cached_slot *own = lock_own(slot);
	int64_t w, left;

	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_SUM, w_minus(0, counted), &w);
	left = w_minus(w, counted);
	if (!(left & (HOLDERS | AWAITED | STRICT | KEEPS)))
		own->guess = left;
	if (__builtin_expect((w & (WAKES | KEEPS)) != 0, 0)) {
		near_wake(slot, w);
		if ((w & KEEPS) && !(left & HOLDERS) && !FAULT(cached_finish))
			return finish(s, slot, posts);
	}
	return near_acknowledge(s, slot, one, posts);
}

/* S6: whether a sharer joins those of its node although the node's stay is over: no exclusive
 * client is next, or one that may give up, and the sharer has waited for a while. */
static bool joins_late(struct lock_slot *slot, bool waited)
{
	return waited ? !nodes_next_writes(slot) : !nodes_next_excludes(slot);
}

bool leave_join(const struct lock_setup *s, struct lock_slot *slot, bool is_head, bool waited)
{
	if (!near_join(s, slot, is_head, false) &&
	    !(near_keeps(slot) && joins_late(slot, waited) && near_join(s, slot, is_head, true)))
		return false;
	if (!nodes_are_taken(slot) || cached_admits(slot))
		return true;
	leave_count(s, slot, near_one(slot), 0, false); /* T5 */
	return false;
}

void leave_take_back(const struct lock_setup *s, struct lock_slot *slot)
{
	if (FAULT(cached_silent)) {
		int64_t w;

		rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_SUM, -near_one(slot), &w);
		near_wake(slot, w);
		return;
	}
	leave_count(s, slot, near_one(slot), HIT, false);
}

/* Whether the node has been recalled, and goes on for a while. */
static bool goes_on(const struct lock_setup *s, struct lock_slot *slot, int64_t w)
{
	return !cached_admits(slot) && policy_stays(s, lock_own(slot), w);
}

/* The client releases a lock that others await. */
static int end_contended(struct lock_slot *slot)
{
	struct cached_slot *own = lock_own(slot);
	const uint64_t now = rma_clock(&slot->client);

	if (own->looks && own->since_ns)
		policy_note_hold(own, now - own->since_ns);
	own->since_ns = now;
	return PAWL_SUCCESS;
}

/* The client has W alone, with KEEPS. What it does until it comes back begins after this. */
static int leave_kept(const struct lock_setup *s, struct lock_slot *slot, bool stays, bool posts)
{
	struct cached_slot *own = lock_own(slot);
	int rc;

	end_contended(slot);
	rc = leave_queue(s, slot, false, stays, posts);
	own->since_ns = rma_clock(&slot->client);
	return rc;
}

static int leave_writer(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	struct cached_slot *own = lock_own(slot);
	bool stays = true;
	int64_t w;

	if (__builtin_expect(own->is_head, 0) && grant_as_head(s, slot, &stays))
		return end_contended(slot);
	w = near_get(slot);
	if (w & KEEPS)
		return leave_kept(s, slot, stays, posts);
	if (__builtin_expect((w & AWAITED) != 0, 0) || FAULT(cached_awaited)) {
		end_contended(slot);
		if (stays && goes_on(s, slot, w) && hand_over(s, slot))
			return PAWL_SUCCESS;
	}
	return leave_count(s, slot, WRITER, 0, posts);
}

/* E: a sharer that has the lock as an exclusive client has. */
static int leave_as_writer(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	struct cached_slot *own = lock_own(slot);
	int rc;

	own->as_writer = false;
	slot->mode = PAWL_EXCLUSIVE;
	rc = leave_writer(s, slot, posts);
	slot->mode = PAWL_SHARED;
	return rc;
}

void leave_what_was_handed(const struct lock_setup *s, struct lock_slot *slot)
{
	if (!FAULT(cached_handed) && near_take_handed(s, slot, true))
		leave_writer(s, slot, false);
}

/* A client may hit for ever without a call of the MPI, while other nodes need one, because it
 * performs their operations. */
static void drive_at_times(struct lock_slot *slot)
{
	const struct rma_transport *transport = slot->client.rma->transport;

	if (__builtin_expect(slot->acquires % RELEASES_PER_CALL == 0, 0) &&
	    !transport->can.is_served)
		transport->progress(&slot->client);
}

int leave_release(const struct lock_setup *s, struct lock_slot *slot)
{
	const struct cached_slot *own = lock_own(slot);

	drive_at_times(slot);
	if (is_exclusive(slot))
		return leave_writer(s, slot, true);
	if (__builtin_expect(own->is_uncached || own->as_writer, 0))
		return own->is_uncached ? uncached_leave(s, slot, true)
					: leave_as_writer(s, slot, true);
	return leave_count(s, slot, near_one(slot), 0, true);
}
