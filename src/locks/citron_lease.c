/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures under Citron (FAST'23, section 3.10), with option lease: a range has to be released
 * within a lease from the return of its acquire. Who waits does so in steps of a lease, at each of
 * the four places of the paper: for a turn (line 11 of Algorithm 2), for an occupied node above
 * (18), for bits of a leaf (22) and for those below (36). If nobody has given a sign there for as
 * many steps as the node is high, and two (four times that if covers are exact, option k 0),
 * somebody is dead, or as good as dead.
 *
 * The paper then mends the one word. A client that only slept would go on adding to it. Here the
 * space goes on in another copy of its tree, all of it zero, and nobody touches the old one who
 * knows about that:
 *   R1  read TOP
 *   R2  set SHUT in the root; flush
 *   R3  wait a lease and three eighths
 *   R4  take a spare copy, by a count at the home that only grows; swap TOP
 *
 * Ordering guarantees
 *   (A) Nobody is overtaken in a lease from the return of its acquire. That is no later than a
 *       quarter of a lease after the client issued a look that saw the root without SHUT; who has
 *       taken longer since looks again when it has everything (citron_confirm). The look took
 *       effect before R2, so the lease has ended before R4, an eighth being left for clocks that
 *       do not run alike; they need not agree.
 *   (B) Who looks after R2 sees SHUT, and waits for TOP to change.
 *   (C) What a client of the past does late hits words of a copy that nobody uses again.
 *   (D) A recoverer that sleeps does no harm. R2 hits a root that is shut already, or a dead copy;
 *       R4 fails, for no value of TOP comes twice. It may waste a spare copy. If the tree grows
 *       after R1, R4 fails, and whoever still waits begins again, with the new root.
 *   (E) A holder learns at its release that it was given up, if its own clock says that its lease
 *       is over: TOP has another copy.
 * A suspicion that is wrong costs a copy and time. Progress: as long as somebody alive waits and
 * copies last (option recoveries); then acquires return PAWL_ERR_TOO_MANY. Tries do not recover;
 * who waits for a time does, if that is long enough.
 */
#include "locks/citron_words.h"

enum { STEPS = 2, EXACT_STEPS = 4, LONG_AGO = 4, MARGIN = 8 /* parts of a lease */ };

void citron_lease_begin(struct citron_view *v)
{
	if (v->s->params.lease_us)
		v->h->since = (int64_t)rma_clock(v->c);
}

/* TOP has another copy: nothing that we have is worth anything. */
static bool is_gone(struct citron_view *v)
{
	if (copy_of(citron_read_top(v)) == copy_of(v->top))
		return false;
	v->shut = v->gone = true;
	return true;
}

/* The number of a spare copy, from 1; 0: there is none. */
static int64_t take_spare(struct citron_view *v)
{
	struct rma_word used = rma_word(v->c->rma, v->s->domain, v->root.rank, v->k->used);
	int64_t n;

	if (BREAK_CITRON_COPY)
		return copy_of(v->top) == 1 ? 2 : 1;
	rma_get(v->c, used, &n);
	rma_flush(v->c, used); /* orders the get before the look at n */
	if (n >= v->k->n_spares)
		return 0; /* and the count does not go on for ever */
	rma_fao(v->c, used, RMA_SUM, 1, &n);
	rma_flush(v->c, used); /* orders the sum before the look at n */
	return n < v->k->n_spares ? n + 1 : 0;
}

/* R1 to R4. Sets v->gone if there is another copy then, whoever made it; v->error if there is none
 * to be had. Else it has failed, and whoever still has a reason begins again. */
static void recover(struct citron_view *v)
{
	struct rma_word w = citron_top_word(v);
	uint64_t lease = (uint64_t)lease_ns(v->s);
	int64_t top = citron_read_top(v), seen = top, spare, next;
	struct citron_view now = *v;

	citron_adopt(&now, top);
	if (copy_of(top) == copy_of(v->top)) {
		citron_shut(&now);
		if (BREAK_CITRON_WAIT ||
		    !rma_await_until(v->c, w, -1, RMA_NE, top, RMA_LATER,
				     rma_clock(v->c) + lease + lease / LONG_AGO + lease / MARGIN,
				     "leases to run out", &seen)) {
			spare = take_spare(v);
			if (!spare) {
				v->error = PAWL_ERR_TOO_MANY;
				return;
			}
			next = top_make(spare, grown_of(top), grown_of(top));
			seen = citron_swap_top(v, top, next);
			if (seen == top) {
				v->slot->recoveries++;
				seen = next;
			}
		}
	}
	v->gone = v->shut = copy_of(seen) != copy_of(v->top);
}

static int steps_at(const struct citron_view *v, int64_t index)
{
	int height = v->height - v->depth;

	for (int64_t depth = 0; depth <= v->height; depth++)
		if (index < citron_nodes((int)depth)) {
			height = v->height - (int)depth;
			break;
		}
	/* Exact covers have many nodes, which are taken one after the other. */
	return (STEPS + height) * (v->s->params.k ? 1 : EXACT_STEPS);
}

bool citron_await(struct citron_view *v, const struct citron_wait *w, int64_t *value)
{
	struct rma_word word = word_at(v, w->index);
	int64_t before = 0, stuck = -1;
	int quiet = 0;

	if (!v->s->params.lease_us) {
		*value = rma_await(v->c, word, w->mask, RMA_EQ, w->value, w->patience, w->what);
		return true;
	}
	while (!rma_await_until(v->c, word, w->mask, RMA_EQ, w->value, w->patience,
				rma_clock(v->c) + (uint64_t)lease_ns(v->s), w->what, value)) {
		if (is_gone(v))
			return false;
		stuck &= *value;
		if (((*value ^ before) & w->same) || (w->stuck && !(stuck & w->stuck))) {
			quiet = 0;
			stuck = *value;
		}
		before = *value;
		if (++quiet < steps_at(v, w->index))
			continue;
		recover(v);
		if (v->gone || v->error)
			return false;
		quiet = 0;
	}
	return true;
}

void citron_watch(struct citron_view *v, struct citron_watch *watch)
{
	uint64_t now = rma_clock(v->c);
	bool leaf = v->met >= citron_nodes(v->height - 1) && v->met < spill_index(v);
	int64_t value, same;

	if (!v->s->params.lease_us)
		return;
	rma_get(v->c, word_at(v, v->met), &value);
	rma_flush(v->c, v->root); /* orders the get before the look at it */
	same = leaf ? (watch->value & value) : !((watch->value ^ value) & (DONE_MASK | OCC | SHUT));
	if (watch->since && watch->index == v->met && same) {
		watch->value &= leaf ? value : -1;
		if (now - watch->since > (uint64_t)(steps_at(v, v->met) * lease_ns(v->s))) {
			recover(v);
			watch->since = 0;
		}
		return;
	}
	*watch = (struct citron_watch){v->met, value, now};
}

int citron_renew(struct citron_view *v)
{
	int64_t top = citron_read_top(v);

	while (top == v->top && !v->error) {
		uint64_t deadline = v->s->params.lease_us
					? rma_clock(v->c) + (uint64_t)(STEPS * lease_ns(v->s))
					: 0;

		/* Somebody grows the tree, or recovers. */
		if (!rma_await_until(v->c, citron_top_word(v), -1, RMA_NE, v->top, RMA_SOON,
				     deadline, "the root of the tree", &top))
			recover(v);
		top = citron_read_top(v);
	}
	if (top == v->top)
		return v->error;
	v->error = PAWL_SUCCESS;
	citron_adopt(v, top);
	return PAWL_SUCCESS;
}

bool citron_confirm(struct citron_view *v)
{
	int64_t *got = v->h->got, lease = lease_ns(v->s);

	v->h->top = v->top;
	if (!lease || (int64_t)rma_clock(v->c) - v->h->since <= lease / LONG_AGO ||
	    BREAK_CITRON_LATE)
		return true;
	citron_lease_begin(v);
	rma_get(v->c, citron_top_word(v), &got[0]);
	rma_get(v->c, root_word(v), &got[1]);
	rma_flush(v->c, v->root); /* orders the gets before the look at them */
	if (copy_of(got[0]) != copy_of(v->top)) {
		v->shut = v->gone = true;
		return false;
	}
	if (!(got[1] & SHUT))
		return true;
	/* Shut by a recovery, or because the tree has grown. Then its root would have to be looked
	 * at; it is simpler to begin again. */
	v->shut = true;
	return false;
}

int citron_lease_end(struct citron_view *v)
{
	int64_t lease = lease_ns(v->s), top;

	if (!lease || (int64_t)rma_clock(v->c) - v->h->since <= lease)
		return PAWL_SUCCESS;
	top = citron_read_top(v);
	if (copy_of(top) == copy_of(v->top))
		return PAWL_SUCCESS;
	citron_adopt(v, top);
	return PAWL_ERR_LEASE_LOST;
}
