/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All operations on words over a transport that has only put, get, addition and compare-and-swap:
 * a network device with the atomics of InfiniBand's first specification. Swap, or and and are each
 * a compare-and-swap of a guessed value, repeated with the value found until it succeeds.
 *
 * (W) Whole, and once. The compare-and-swap that succeeds changes the word from the value that it
 *     expects to what the operation makes of that value, and its result is that value: the same as
 *     the operation itself. Those that fail change nothing. A word may have had other values
 *     meanwhile (ABA); an operation on a single word cannot tell.
 * (T) Time. An operation takes effect between its issue and the end of the flush of its rank, which
 *     repeats it. Operations of one flush need not take effect in the order of issue (rma.h), and
 *     these do not, so this transport is never ordered.
 * (D) Domain. Every change of a word is an operation of the transport below, so the device performs
 *     all of them.
 * (P) Posting. A post says that the operations take effect without another call of this process;
 *     one that may have to be repeated does not. So a client with such an operation cannot post.
 * (F) Failure. A call below may not return (transport.h). The list of operations is empty
 *     meanwhile; so nothing of it is left for a client that is used again.
 *
 * Cost. The guess is the value that this process expects: what its own operations left there last;
 * at first 0, which most words hold while the lock is free. A right guess costs one atomic, as the
 * operation itself. A wrong one costs a round trip more, and so does each change by another client
 * between two attempts. Some client succeeds each time, but none within a bounded number of
 * attempts: a kind is fair from the place on that its first operation takes, and no longer in
 * taking it. Repetitions are counted as atomics and flushes.
 */
#include "rma/few.h"

#include <stddef.h>

enum { ANY_RANK = -1 };

static struct rma_few_client *own_of(struct rma_client *c)
{
	return (struct rma_few_client *)(void *)(c->own + RMA_FEW_BELOW);
}
_Static_assert(RMA_FEW_BELOW % _Alignof(struct rma_few_client) == 0, "the end of own is aligned");

/* The transport is a member of its struct rma_few. */
static struct rma_few *few_of(const struct rma_client *c)
{
	const char *transport = (const char *)c->rma->transport;

	return (struct rma_few *)(void *)(transport - offsetof(struct rma_few, transport));
}

/* --------------------------------------------------------------------- guesses */

static uint64_t number_of(struct rma_word w)
{
	return 1 + w.offset / sizeof(int64_t) + ((uint64_t)(uint32_t)w.rank << 40);
}

/* Words share places; one finds the value that was left in it, unless another word took its place
 * since. (Threads may mix the two, which costs a round trip.) */
static struct rma_few_guess *place_of(const struct rma_client *c, struct rma_word w)
{
	return &few_of(c)->guess[(number_of(w) * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}
_Static_assert(RMA_FEW_GUESSES == 1 << 8, "the upper 8 bits choose a place");

static int64_t guess(const struct rma_client *c, struct rma_word w)
{
	struct rma_few_guess *g = place_of(c, w);

	return atomic_load_explicit(&g->word, memory_order_relaxed) == number_of(w)
		   ? atomic_load_explicit(&g->value, memory_order_relaxed)
		   : 0;
}

static void learn(const struct rma_client *c, struct rma_word w, int64_t value)
{
	struct rma_few_guess *g = place_of(c, w);

	atomic_store_explicit(&g->word, number_of(w), memory_order_relaxed);
	atomic_store_explicit(&g->value, value, memory_order_relaxed);
}

static int64_t after(enum rma_op op, int64_t old, int64_t value)
{
	switch (op) {
	case RMA_REPLACE:
		return value;
	case RMA_OR:
		return old | value;
	case RMA_AND:
		return old & value;
	case RMA_SUM:
		break;
	}
	return (int64_t)((uint64_t)old + (uint64_t)value);
}

/* ------------------------------------------------------------------- attempts */

static void attempt(struct rma_client *c, const struct rma_few_op *o)
{
	int64_t next = after(o->op, o->expected, o->value);

	learn(c, o->word, next);
	few_of(c)->below->cas(c, o->word, o->expected, next, o->result);
}

/* After a flush of rank: forget the operations there that have taken effect, and repeat the others.
 * Returns how many of all are left; *again: whether any was repeated. */
static unsigned go_through(struct rma_client *c, unsigned n, int rank, bool *again)
{
	struct rma_few_client *own = own_of(c);
	unsigned left = 0;

	*again = false;
	for (unsigned i = 0; i < n; i++) {
		struct rma_few_op o = own->op[i];

		if (rank == ANY_RANK || o.word.rank == rank) {
			if (*o.result == o.expected)
				continue;
			o.expected = *o.result;
			rma_count(c, RMA_ATOMIC, o.word);
			if (!*again)
				rma_count(c, RMA_FLUSH, o.word);
			*again = true;
			attempt(c, &o);
		}
		own->op[left++] = o;
	}
	return left;
}

static void flush_below(struct rma_client *c, int rank)
{
	const struct rma_transport *below = few_of(c)->below;

	if (rank == ANY_RANK)
		below->flush_all(c);
	else
		below->flush(c, rank);
}

static void flush_until_done(struct rma_client *c, unsigned n, int rank)
{
	bool again = true;

	while (again) {
		flush_below(c, rank);
		n = go_through(c, n, rank, &again);
	}
	own_of(c)->n = n;
}

/* Without on_loss a flush that fails returns, and no result is valid, so nothing is repeated. */
static RMA_SLOW_PATH void flush_or_fail(struct rma_client *c, unsigned n, int rank)
{
	jmp_buf failed;

	c->on_loss = &failed;
	if (setjmp(failed) == 0)
		flush_until_done(c, n, rank);
	c->on_loss = NULL;
}

static void settle(struct rma_client *c, int rank)
{
	unsigned n = own_of(c)->n;

	own_of(c)->n = 0; /* (F) */
	if (n && !c->on_loss && c->rma->transport->can.can_fail)
		flush_or_fail(c, n, rank);
	else if (n)
		flush_until_done(c, n, rank);
	else
		flush_below(c, rank);
}

/* -------------------------------------------------------------- the transport */

static void few_fao(struct rma_client *c, struct rma_word w, enum rma_op op, int64_t value,
		    int64_t *result)
{
	struct rma_few_client *own = own_of(c);
	const struct rma_few *f = few_of(c);

	if (rma_is_cpu(w)) {
		f->below->fao(c, w, op, value, result);
		return;
	}
	if ((op == RMA_OR && value == 0) || (op == RMA_AND && value == -1)) {
		op = RMA_SUM; /* only fetches */
		value = 0;
	}
	if (op == RMA_SUM) {
		learn(c, w, after(op, guess(c, w), value));
		f->below->fao(c, w, op, value, result);
		return;
	}
	if (own->n == RMA_FEW_PENDING) {
		rma_count(c, RMA_FLUSH, w);
		settle(c, ANY_RANK);
	}
	own->op[own->n++] = (struct rma_few_op){
	    .word = w,
	    .op = op,
	    .value = value,
	    .expected = guess(c, w),
	    .result = result,
	};
	attempt(c, &own->op[own->n - 1]);
}

static void few_acc(struct rma_client *c, struct rma_word w, int64_t value)
{
	learn(c, w, after(RMA_SUM, guess(c, w), value));
	few_of(c)->below->acc(c, w, value);
}

static void few_cas(struct rma_client *c, struct rma_word w, int64_t expected, int64_t value,
		    int64_t *result)
{
	learn(c, w, value);
	few_of(c)->below->cas(c, w, expected, value, result);
}

static void few_put(struct rma_client *c, struct rma_word w, int64_t value)
{
	learn(c, w, value);
	few_of(c)->below->put(c, w, value);
}

static void few_flush(struct rma_client *c, int rank)
{
	settle(c, rank);
}

static void few_flush_all(struct rma_client *c)
{
	settle(c, ANY_RANK);
}

static bool few_post(struct rma_client *c, struct rma_word w)
{
	return !own_of(c)->n && few_of(c)->below->post(c, w); /* (P) */
}

void rma_few_open(struct rma_few *f, struct rma *r)
{
	f->below = r->transport;
	f->transport = *f->below;
	f->transport.can.ordered = false; /* (T) */
	f->transport.fao = few_fao;
	f->transport.acc = few_acc;
	f->transport.cas = few_cas;
	f->transport.put = few_put;
	f->transport.flush = few_flush;
	f->transport.flush_all = few_flush_all;
	f->transport.post = few_post;
	r->transport = &f->transport;
}
