/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind cached: holders leave W, and the last one of a node that keeps the queue leaves that;
 * README, R and L. */
#include "lock/cached/leave.h"

/* L1: hand W over to the head of the node's queue, if it awaits it and is exclusive. The client has
 * WRITER. */
static bool hand_over(struct lock_slot *slot)
{
	int64_t w;

	do {
		w = near_get(slot);
		if (!(w & TAKES))
			return false;
	} while (!near_swap(slot, w, w - WRITER + HANDED + USE));
	return true;
}

/* L2 to L4: what becomes of the lock. *dir: the directory. */
static void settle(const struct lock_setup *s, struct lock_slot *slot, int64_t *dir)
{
	bool has_next = nodes_have_next(slot);
	int me = cached_me(slot);

	if (has_next && policy_passes_on(dir)) /* L2 */
		return;
	if (!dir_is_empty(*dir) && policy_gives_back(*dir)) { /* L3 */
		bool shares = dir_mode(*dir) == MODE_S;

		*dir = policy_note_end(*dir, true);
		if (shares)
			*dir = dir_shared(*dir, me);
		*dir = modes_give_back(s, slot, *dir);
		return;
	}
	/* L4 */
	modes_number(slot);
	if (!dir_is_empty(*dir) && !FAULT(cached_promise))
		modes_write(s, slot, *dir, MODE_N, MODE_N, false);
	*dir = policy_note_end(*dir, false);
	if (has_next) {
		*dir = dir_none(*dir);
		return;
	}
	*dir = dir_owned(*dir, me);
	modes_write_own(slot, MODE_X, MODE_N);
}

/* W becomes free, and the node does not keep the queue any more. */
static void free_w(struct lock_slot *slot)
{
	int64_t w;

	rma_fao(&slot->client, cached_word(slot, LINE_W), RMA_AND, ~(WRITER | KEEPS | USES), &w);
	near_wake(slot, w);
}

/* The client has W alone, with KEEPS. */
static int leave_queue(const struct lock_setup *s, struct lock_slot *slot, bool posts)
{
	int64_t dir, next;

	rma_get(&slot->client, cached_word(slot, LINE_DIR), &dir);
	if (policy_stays(s, near_get(slot)) && nodes_have_next(slot) && hand_over(slot))
		return PAWL_SUCCESS;
	settle(s, slot, &dir);
	if (FAULT(cached_early))
		free_w(slot);
	next = nodes_leave(s, slot, dir);
	if (!FAULT(cached_early))
		free_w(slot);
	/* A node that is granted the lock recalls it only after that, and finds W free. */
	if (next)
		return nodes_grant(s, slot, next, dir, posts);
	return FAULT(cached_late) ? PAWL_SUCCESS : near_acknowledge(s, slot, posts);
}

void leave_take_back(const struct lock_setup *s, struct lock_slot *slot)
{
	near_leave(slot);
	if (!FAULT(cached_silent))
		near_acknowledge(s, slot, false);
}

/* Whether the node has been recalled, and goes on for a while. */
static bool stays(const struct lock_setup *s, struct lock_slot *slot, int64_t w)
{
	return (w & TAKES) && !cached_is_alone(s) &&
	       (cached_look(slot, LINE_MODE) & MODE_MASK) != MODE_X && policy_stays(s, w);
}

int leave_release(const struct lock_setup *s, struct lock_slot *slot)
{
	int64_t w;

	if (is_exclusive(slot)) {
		w = near_get(slot);
		if (w & KEEPS)
			return leave_queue(s, slot, true);
		if (__builtin_expect(stays(s, slot, w), 0) && hand_over(slot))
			return PAWL_SUCCESS;
	}
	near_leave(slot);
	return near_acknowledge(s, slot, true);
}
