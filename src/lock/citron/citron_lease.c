/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures in Citron (FAST'23, Section 3.10), with option lease: a range has to be released within
 * a lease from the return of its acquire. A client waits in steps of a lease, at each of the four
 * places of the paper: for a turn (line 11 of Algorithm 2; also in a queue, citron_queue.c), for an
 * occupied node above (18), for bits of a leaf (22) and for clients below (36). It suspects a
 * failure if nothing has changed there for as many steps as the node is high, plus two (four times
 * that if covers are exact, option k 0).
 *
 * A suspicion proves nothing. A leaf has no room for a count, so bits that were seen set at each
 * step may have been released and set again in between; and a long chain of clients that wait for
 * each other may take its time. But if no further clients came, everything in the way would go. So
 * the client freezes the space before it recovers, and looks once more. The paper then repairs the
 * one word; but a client that had only slept would go on adding to it. Here the space continues in
 * another copy of its tree, which is all zero, and no client that knows of the new copy touches the
 * old one:
 *   R1  read TOP
 *   R2  if its era is even, swap TOP for the next era, which is odd: the space is frozen; flush
 *   R3  wait for what was waited for. If it comes, no client has failed: swap TOP for the next era,
 *       so that the space is open again, and continue. Or wait until the word, PASSED and TOP have
 *       not changed in eleven looks, which take a lease and three eighths together
 *   R4  take a spare copy of the home; swap TOP for that copy, in the next era; if that fails, give
 *       the copy back
 * In a frozen space no client starts. A client looks at TOP after its announcements, sees that the
 * space is frozen, takes everything back, adds 1 to PASSED, and waits for TOP to change. If neither
 * TOP nor PASSED changes for three leases, the client that froze the space has stopped, and the
 * waiter opens the space again.
 *
 * Ordering guarantees
 *   (A) No client loses its range within a lease from the return of its acquire. The return is at
 *       most a quarter of a lease after the client issued a look that saw its copy in TOP, not
 *       frozen. A client that has taken longer looks again when it has everything, until the look
 *       is that young when its answer arrives (citron_confirm). R4 expects the value that TOP had
 *       when R3 began. No value comes twice, so TOP had that value, and the space was frozen,
 *       during all of R3. The look saw it open, and so took effect before R3 began, and the lease
 *       has ended before R4. An eighth of a lease is left for clocks that run at different rates;
 *       clocks need not agree. A client whose clock has stood still since the look may return with
 *       a lease that is over; (E) holds for it, too.
 *   (B) A client that looks after R2 sees that the space is frozen, or another copy, until the
 *       space is opened.
 *   (C) Late operations of clients of an old copy change words of a copy that is never used again.
 *   (D) A client that sleeps in R1 to R4 does no harm. Each of its swaps expects a value of TOP,
 *       and fails once TOP has changed. Then the client waits one step more, and starts again.
 *   (E) A holder learns at its release that it was given up, whatever its clock says: clocks stand
 *       still while a machine is suspended. R4 was before the release began, so TOP, which the
 *       release reads in the round trip that it takes anyway, has another copy. So it has if the
 *       release itself takes longer than what was left of the lease.
 *   (F) No client is given up that is not late. A freeze and its end change no word of the tree, so
 *       a wrong suspicion only costs others a wait. R4 needs a word that does not change in R3.
 *       What is in the way there goes, if the clients concerned are alive: a holder releases within
 *       its lease, which ends in R3; a client of the fast path takes back what it has, without a
 *       wait; a client of the slow path proceeds when those before it have gone, looks at TOP, now
 *       or in citron_confirm, and gives everything back. That shows in PASSED, and R3 starts anew.
 *       A client does so once in a freeze, so R3 ends. Hence R4 needs a client that has not
 *       released within its lease, or has not proceeded for an eighth of a lease with nothing in
 *       its way.
 *   (G) A failure is found. Its word does not change in any freeze. A freeze by another client, and
 *       its end, leave a suspicion as it is: the client starts R1 again one step later. No client
 *       opens the space while a living client is in R3: others do so after three leases.
 */
#include "lock/citron/citron_fast.h"
#include "lock/citron/citron_lease.h"
#include "lock/citron/citron_queue.h"
#include "lock/citron/citron_slow.h"
#include "lock/citron/citron_top.h"

enum {
	STEPS = 2,
	EXACT_STEPS = 4,
	LONG_AGO = 4,
	MARGIN = 8,       /* a lease has this many parts */
	LOOKS = 11,       /* looks of R3, one part of a lease apart */
	THAW_LEASES = 3,  /* after this, others open the space again */
	FROZEN_INDEX = -1 /* index of a watch: no word, but TOP */
};
_Static_assert(LOOKS == MARGIN + MARGIN / LONG_AGO + 1, "R3 outlasts a late lease by an eighth");
_Static_assert(THAW_LEASES *MARGIN > 2 * LOOKS, "a space is not opened under a client in R3");

void citron_lease_begin(struct citron_view *v)
{
	if (v->leases)
		v->h->since = (int64_t)rma_clock(v->c);
}

/* Whether another copy is in use: then everything that this client has is void. */
static bool is_gone(struct citron_view *v, int64_t top)
{
	if (copy_of(top) == copy_of(v->top))
		return false;
	v->shut = v->gone = true;
	return true;
}

/* ------------------------------------------------------------------- spare copies */

static struct rma_word owner_word(const struct citron_view *v, int64_t spare)
{
	return rma_word(v->c->rma, v->s->domain, v->root.rank,
			v->k->owners + (uint64_t)(spare - 1) * sizeof(int64_t));
}

/* Take one of the spares from ... to - 1 that is free; 0: there is none. */
static int64_t take_one_of(struct citron_view *v, int64_t from, int64_t to)
{
	int64_t *got = v->h->got, mine = (int64_t)v->slot->lock + 1, seen;

	for (int64_t i = from; i < to; i++)
		rma_get(v->c, owner_word(v, i), &got[i - from]);
	rma_flush(v->c, v->root); /* orders the gets before the looks at their results */
	for (int64_t i = from; i < to; i++) {
		if (got[i - from])
			continue;
		rma_cas(v->c, owner_word(v, i), 0, mine, &seen);
		rma_flush(v->c, v->root); /* orders the swap before the look at its result */
		if (seen == 0)
			return i;
	}
	return 0;
}

/* Take a spare copy. Returns its number, from 1; 0: there is none. */
static int64_t take_spare(struct citron_view *v)
{
	int64_t end = v->k->n_spares + 1, spare = 0;

	if (FAULT(citron_copy))
		return copy_of(v->top) == 1 ? 2 : 1;
	for (int64_t from = 1; from < end && !spare; from += GETS)
		spare = take_one_of(v, from, from + GETS < end ? from + GETS : end);
	return spare;
}

/* Give a spare copy back that TOP has never named. */
static void give_spare_back(struct citron_view *v, int64_t spare)
{
	if (FAULT(citron_copy) || FAULT(citron_vain))
		return;
	rma_put(v->c, owner_word(v, spare), 0);
	rma_flush(v->c, v->root); /* completes the put before the next wait */
}

/* ------------------------------------------------------------------------ recovery */

/* The outcome of a suspicion. */
enum outcome {
	FREED,  /* what was waited for has come */
	AGAIN,  /* nothing is known: wait, and start again */
	STOPPED /* v->gone or v->error is set */
};

/* R1 and R2. FREED: the space is frozen; *top is TOP, and *mine says whether this client has frozen
 * it. */
static enum outcome freeze(struct citron_view *v, int64_t *top, bool *mine)
{
	int64_t seen = citron_read_top(v);

	*mine = false;
	*top = seen;
	if (!is_gone(v, seen) && !is_frozen(seen)) {
		*top = citron_swap_top(v, seen, next_era(seen));
		*mine = *top == seen;
		if (*mine)
			*top = next_era(seen);
	}
	if (is_gone(v, *top))
		return STOPPED;
	return is_frozen(*top) ? FREED : AGAIN;
}

/* End the era of this TOP, whatever else of TOP may have changed meanwhile. */
static void thaw(struct citron_view *v, int64_t top)
{
	int64_t seen = top;

	do {
		top = seen;
		seen = citron_swap_top(v, top,
				       FAULT(citron_era) ? top_make(copy_of(top), era_of(top) - 1,
								    grown_of(top), settled_of(top))
							 : next_era(top));
	} while (seen != top && era_of(seen) == era_of(top));
}

/* Wait for an eighth of a lease in R3. Returns whether what was waited for has come. */
static bool await_part(struct citron_view *v, const struct citron_wait *w, int64_t top,
		       int64_t *value)
{
	uint64_t end = rma_clock(v->c) + (uint64_t)lease_ns(v->s) / MARGIN;

	if (FAULT(citron_suspect)) {
		rma_await_until(v->c, citron_top_word(v), -1, RMA_NE, top, RMA_LATER, end, w->what,
				value);
		*value = 0;
		return false;
	}
	return rma_await_until(v->c, word_at(v, w->index), w->mask, RMA_EQ, w->value, w->patience,
			       end, w->what, value) ||
	       (w->idle && is_idle(*value));
}

/* R3. AGAIN: TOP has changed. STOPPED: no client has shown that it is alive. */
static enum outcome hold_still(struct citron_view *v, const struct citron_wait *w, int64_t top)
{
	int64_t *got = v->h->still, word = 0, passed = 0, value;

	for (int quiet = 0; quiet < LOOKS && !FAULT(citron_wait); quiet++) {
		if (await_part(v, w, top, &value))
			return FREED;
		rma_get(v->c, citron_top_word(v), &got[0]);
		rma_get(v->c, passed_word(v), &got[1]);
		rma_flush(v->c, v->root); /* orders the gets before the looks at their results */
		if (got[0] != top)
			return AGAIN;
		if ((value != word || got[1] != passed) && !FAULT(citron_suspect))
			quiet = -1;
		word = value;
		passed = got[1];
	}
	return STOPPED;
}

/*
 * R4. A failure costs a copy. When none is left (option recoveries), the space is opened again, and
 * the acquire returns PAWL_ERR_TOO_MANY; others continue where no client has failed, and everywhere
 * if a client comes back that was taken for dead. Tries do not recover; an acquire with a deadline
 * does, if the deadline is late enough. AGAIN: TOP had changed, but not to another copy.
 */
static enum outcome replace(struct citron_view *v, int64_t top)
{
	int64_t spare = take_spare(v), seen;

	if (!spare) {
		thaw(v, top);
		v->error = PAWL_ERR_TOO_MANY;
		return STOPPED;
	}
	seen =
	    citron_swap_top(v, top, top_make(spare, era_of(top) + 1, grown_of(top), grown_of(top)));
	if (seen == top) {
		v->slot->recoveries++;
		v->shut = v->gone = true;
		return STOPPED;
	}
	give_spare_back(v, spare);
	return is_gone(v, seen) ? STOPPED : AGAIN;
}

/* R1 to R4, by a client that waits for w. */
static enum outcome recover(struct citron_view *v, const struct citron_wait *w)
{
	bool mine;
	int64_t top;
	enum outcome o = freeze(v, &top, &mine);

	if (o != FREED)
		return o;
	o = hold_still(v, w, top);
	if (o == STOPPED)
		return replace(v, top);
	if (mine)
		thaw(v, top);
	return o == AGAIN && is_gone(v, citron_read_top(v)) ? STOPPED : o;
}

/* ------------------------------------------------------------------------- waiting */

static int steps_at(const struct citron_view *v, int64_t index)
{
	int height = v->height - v->depth;

	for (int64_t depth = 0; depth <= v->height; depth++)
		if (index < citron_nodes((int)depth)) {
			height = v->height - (int)depth;
			break;
		}
	/* An exact cover has many nodes, which are taken one after the other. */
	return (STEPS + height) * (options_of(v->s)->k ? 1 : EXACT_STEPS);
}

bool citron_await(struct citron_view *v, const struct citron_wait *w, int64_t *value)
{
	struct rma_word word = word_at(v, w->index);
	int64_t before = 0, stuck = -1;
	int quiet = 0;

	if (!v->leases) {
		*value = rma_await(v->c, word, w->mask, RMA_EQ, w->value, w->patience, w->what);
		return true;
	}
	while (!rma_await_until(v->c, word, w->mask, RMA_EQ, w->value, w->patience,
				rma_clock(v->c) + (uint64_t)lease_ns(v->s), w->what, value)) {
		if (is_gone(v, citron_read_top(v)))
			return false;
		stuck &= *value;
		if (((*value ^ before) & w->same) || (w->stuck && !(stuck & w->stuck))) {
			quiet = 0;
			stuck = *value;
		}
		before = *value;
		if (++quiet >= steps_at(v, w->index) && recover(v, w) == STOPPED)
			return false;
	}
	return true;
}

/* What a client that holds nothing waits for, at the word that its try has met. */
static struct citron_wait wait_at(const struct citron_view *v, int64_t index, int64_t word)
{
	struct citron_wait w = {
	    .index = index,
	    .patience = RMA_LATER,
	    .what = "its units to be free",
	};

	if (index >= citron_nodes(v->height - 1) && index < spill_index(v)) {
		w.mask = v->met_bits;
		return w;
	}
	w.idle = true;
	w.mask = word & (OCC | SHUT | BELOW_MASK);
	if (!w.mask) {
		w.mask = DONE_MASK;
		w.value = next_of(word) << DONE_SHIFT;
	}
	return w;
}

/* The space is frozen, as the last try has seen. */
static void watch_frozen(struct citron_view *v, struct citron_watch *watch, uint64_t now)
{
	if (!watch->since || watch->index != FROZEN_INDEX || watch->value != v->top) {
		*watch = (struct citron_watch){FROZEN_INDEX, v->top, now};
	} else if (now - watch->since > (uint64_t)(THAW_LEASES * lease_ns(v->s))) {
		thaw(v, v->top);
		watch->since = 0;
	}
}

void citron_watch(struct citron_view *v, struct citron_watch *watch)
{
	uint64_t now = rma_clock(v->c);
	struct citron_wait w;
	int64_t value;
	bool same;

	if (!v->leases)
		return;
	if (is_frozen(v->top)) {
		watch_frozen(v, watch, now);
		return;
	}
	rma_get(v->c, word_at(v, v->met), &value);
	rma_flush(v->c, v->root); /* orders the get before the look at its result */
	w = wait_at(v, v->met, value);
	same = w.idle ? !((watch->value ^ value) & (DONE_MASK | OCC | SHUT)) && !is_idle(value)
		      : (watch->value & value) != 0;
	if (!watch->since || watch->index != v->met || !same) {
		*watch = (struct citron_watch){v->met, value, now};
		return;
	}
	if (!w.idle)
		watch->value &= value;
	if (now - watch->since > (uint64_t)(steps_at(v, v->met) * lease_ns(v->s))) {
		recover(v, &w);
		watch->since = 0;
	}
}

/* Wait until this freeze has ended; or until it seems that the client that froze the space has
 * stopped, and open it. */
static void await_thaw(struct citron_view *v, int64_t top)
{
	int64_t *got = v->h->got, passed = 0, seen;

	for (int quiet = 0; quiet < THAW_LEASES; quiet++) {
		if (rma_await_until(v->c, citron_top_word(v), -1, RMA_NE, top, RMA_SOON,
				    rma_clock(v->c) + (uint64_t)lease_ns(v->s),
				    "the space to be open again", &seen))
			return;
		rma_get(v->c, passed_word(v), &got[0]);
		rma_flush(v->c, v->root); /* orders the get before the look at its result */
		if (got[0] != passed)
			quiet = -1;
		passed = got[0];
	}
	thaw(v, top);
}

/* The root is shut because another client lets the tree grow: wait until TOP differs from the known
 * value. */
static void await_root(struct citron_view *v)
{
	const struct citron_wait w = {
	    .index = citron_index((struct citron_node){v->depth, 0}),
	    .mask = SHUT,
	    .patience = RMA_LATER,
	    .what = "the root of the tree",
	};
	uint64_t deadline = v->leases ? rma_clock(v->c) + (uint64_t)(STEPS * lease_ns(v->s)) : 0;
	int64_t seen;

	if (!rma_await_until(v->c, citron_top_word(v), -1, RMA_NE, v->top, RMA_SOON, deadline,
			     w.what, &seen))
		recover(v, &w);
}

int citron_renew(struct citron_view *v)
{
	int64_t top = citron_read_top(v);

	while ((top == v->top || is_frozen(top)) && !v->error) {
		if (top != v->top)
			citron_adopt(v, top);
		if (is_frozen(top))
			await_thaw(v, top);
		else
			await_root(v);
		top = citron_read_top(v);
	}
	if (v->error)
		return v->error;
	citron_adopt(v, top);
	return PAWL_SUCCESS;
}

/* ------------------------------------------------------------------- lease of a holder */

/* Whether so much time has passed since the look with which the lease began that the lease has to
 * start anew. */
static bool is_late(const struct citron_view *v)
{
	return (int64_t)rma_clock(v->c) - v->h->since > lease_ns(v->s) / LONG_AGO &&
	       !FAULT(citron_late);
}

static bool confirm_lease(struct citron_view *v)
{
	int64_t *got = v->h->got, copy = copy_of(v->top);

	/* Before the look at the clock, as all that may take long. */
	if (copy)
		v->told = life_is_told(v->s, v->slot, copy) ? PAWL_RECOVERED : PAWL_SUCCESS;
	/* This look may take long, too. */
	for (bool again = is_late(v); again; again = is_late(v) && !FAULT(citron_stale)) {
		citron_lease_begin(v);
		rma_get(v->c, citron_top_word(v), &got[0]);
		rma_get(v->c, root_word(v), &got[1]);
		rma_flush(v->c, v->root); /* orders the gets before the looks at their results */
		/* Frozen; or shut, because the tree has grown. In the second case its root would
		 * have to be looked at; it is simpler to start again. */
		v->shut = is_gone(v, got[0]) || is_frozen(got[0]) || (got[1] & SHUT);
		if (v->shut)
			return false;
	}
	return true;
}

bool citron_confirm(struct citron_view *v)
{
	v->h->top = v->top;
	/* Before the look at the clock: the client may be stopped here. */
	citron_leave_queue(v);
	return !v->leases || confirm_lease(v);
}

void citron_lease_look(struct citron_view *v)
{
	rma_get(v->c, citron_top_word(v), &v->h->got[0]);
}

int citron_lease_end(struct citron_view *v)
{
	const int64_t lease = lease_ns(v->s), top = v->h->got[0];

	if (FAULT(citron_clock) && (int64_t)rma_clock(v->c) - v->h->since <= lease)
		return PAWL_SUCCESS;
	if (copy_of(top) == copy_of(v->top))
		return PAWL_SUCCESS;
	citron_adopt(v, top);
	return PAWL_ERR_LEASE_LOST;
}
