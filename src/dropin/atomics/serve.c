/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target's side of far.c, in the thread of its transport, which may not call the MPI. A message
 * has all of its effects, or, if far.c does not send such messages, none.
 */
#include <string.h>

#include "dropin/atomics/task.h"

static struct basic basic_of(const struct head *h)
{
	return (struct basic){.type = MPI_DATATYPE_NULL,
			      .class = (enum class)h->class,
			      .size = h->size,
			      .second = h->second,
			      .extent = h->extent};
}

/* Where element i is. False: not in the window. */
static bool find(const struct atomics *a, const struct head *h, int i, MPI_Aint *offset)
{
	return !__builtin_mul_overflow(h->stride, i, offset) &&
	       !__builtin_add_overflow(h->offset, *offset, offset) && *offset >= 0 &&
	       *offset <= a->target[a->rank].size - h->extent;
}

static void perform(const struct atomics *a, const struct head *h, const char *data, char *result)
{
	const struct target *t = &a->target[a->rank];
	const struct basic b = basic_of(h);
	_Alignas(16) char ignored[MOST_BYTES];
	MPI_Aint offset;

	for (int i = 0; i < h->n && find(a, h, i, &offset); i++) {
		char *before = h->fetches ? result + i * h->extent : ignored;

		if (h->what == SWAP)
			element_swap(&b, &t->exposed->lock, t->base + offset, data,
				     data + h->extent, before);
		else
			element_change(&b, (enum op)h->op, MPI_OP_NULL, &t->exposed->lock,
				       t->base + offset, data + i * h->extent, before);
	}
}

/* Whether there is such a type, and its elements can be changed without the MPI. */
static bool is_known(const struct head *h)
{
	const struct basic b = basic_of(h);
	const bool is_float = b.size == 4 || b.size == 8,
		   is_integer = b.size == 1 || b.size == 2 || is_float;

	if (b.extent > MOST_BYTES || b.size > b.extent || h->op >= OTHER ||
	    element_needs_mpi(&b, (enum op)h->op))
		return false;
	if (b.class == OPAQUE)
		return !b.second ||
		       (b.size >= (int)sizeof(int) && b.second + (MPI_Aint)sizeof(int) <= b.extent);
	return (b.class == FLOATING ? is_float : b.class < FLOATING && is_integer) &&
	       b.extent == b.size && !b.second;
}

/* Whether all elements of a message are there, and in the window. */
static bool is_whole(const struct atomics *a, const struct head *h, size_t length)
{
	const size_t n = h->what == SWAP ? 2 : h->op == NO_OP ? 0 : h->n;
	MPI_Aint offset;

	return h->what <= SWAP && is_known(h) && n * h->extent <= length &&
	       (!h->fetches || (size_t)h->n * h->extent <= RMA_RESULT_BYTES) && h->n > 0 &&
	       find(a, h, 0, &offset) && find(a, h, h->n - 1, &offset);
}

static void serve(const struct atomics *a, const struct head *h, int from, const char *data,
		  size_t length, char *result)
{
	if (h->what == POST)
		/* Orders what the target did before it posted before the operations that follow;
		 * pairs with await(). */
		atomic_fetch_add_explicit(&a->target[a->rank].exposed->posts[from], 1,
					  memory_order_release);
	else if (is_whole(a, h, length))
		perform(a, h, data, result);
}

int atomics_serve(void *arg, int from, const void *bytes, size_t length, int64_t *result)
{
	const struct pool *p = arg;
	const struct atomics *a;
	struct head h;

	if (length < sizeof h)
		return 0;
	memcpy(&h, bytes, sizeof h);
	/* Orders the window before the tasks on it; pairs with begin_to_serve(). */
	a = h.window < POOL_IDS ? atomic_load_explicit(&p->served[h.window], memory_order_acquire)
				: NULL;
	if (a && from < a->size)
		serve(a, &h, from, (const char *)bytes + HEAD, length - HEAD, (char *)result);
	return h.words <= RESULT_WORDS ? h.words : 0;
}
