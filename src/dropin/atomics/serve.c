/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target's side of far.c, in the thread of its transport, which may not call the MPI. A message
 * has all of its effects or none.
 */
#include <string.h>

#include "dropin/atomics/task.h"

static struct basic basic_of(const struct part *q)
{
	return (struct basic){.type = MPI_DATATYPE_NULL,
			      .class = (enum class)q->class,
			      .size = q->size,
			      .second = q->second,
			      .extent = q->extent};
}

/* Where element i is. False: not in the window. */
static bool find(const struct atomics *a, const struct part *q, int i, MPI_Aint *offset)
{
	return !__builtin_mul_overflow(q->stride, i, offset) &&
	       !__builtin_add_overflow(q->offset, *offset, offset) && *offset >= 0 &&
	       *offset <= a->target[a->rank].size - q->extent;
}

/* Whether there is such a type, and its elements can be changed without the MPI. */
static bool is_known(const struct part *q)
{
	const struct basic b = basic_of(q);
	const bool is_float = b.size == 4 || b.size == 8,
		   is_integer = b.size == 1 || b.size == 2 || is_float;

	if (b.extent > MOST_BYTES || b.size > b.extent || q->op >= OTHER ||
	    element_needs_mpi(&b, (enum op)q->op))
		return false;
	if (b.class == OPAQUE)
		return !b.second ||
		       (b.size >= (int)sizeof(int) && b.second + (MPI_Aint)sizeof(int) <= b.extent);
	return (b.class == FLOATING ? is_float : b.class < FLOATING && is_integer) &&
	       b.extent == b.size && !b.second;
}

static char *address(const struct atomics *a, MPI_Aint offset)
{
	return a->is_dynamic ? (char *)(uintptr_t)offset : a->target[a->rank].base + offset;
}

/* Whether all elements are in the window. */
static bool is_within(struct atomics *a, const struct part *q)
{
	MPI_Aint offset;
	bool ok = find(a, q, 0, &offset) && find(a, q, q->n - 1, &offset);

	for (int i = 0; a->is_dynamic && i < q->n && ok; i++)
		ok = find(a, q, i, &offset) &&
		     atomics_are_attached(a, address(a, offset), address(a, offset) + q->extent);
	return ok;
}

static bool is_right(struct atomics *a, const struct part *q)
{
	if (q->what == POST)
		return q->n == 0 && q->op == NO_OP;
	return q->what <= SWAP && is_known(q) && q->n > 0 && (q->what != SWAP || q->n == 1) &&
	       is_within(a, q);
}

/* Whether all parts are there, in the window, and have room for so many words of results. */
static bool is_whole(struct atomics *a, const char *bytes, size_t length, size_t words)
{
	struct part q;

	for (size_t operands; length > 0; bytes += PART + operands, length -= PART + operands) {
		if (length < PART)
			return false;
		memcpy(&q, bytes, sizeof q);
		operands = part_words(part_operands(&q), &q) * sizeof(int64_t);
		if (!is_right(a, &q) || length - PART < operands ||
		    part_words(part_results(&q), &q) > words)
			return false;
		words -= part_words(part_results(&q), &q);
	}
	return true;
}

static void perform(const struct atomics *a, const struct part *q, int from, const char *data,
		    char *result)
{
	const struct target *t = &a->target[a->rank];
	const struct basic b = basic_of(q);
	_Alignas(16) char ignored[MOST_BYTES];
	MPI_Aint offset;

	if (q->what == POST)
		/* Orders what the target did before it posted before the operations that follow;
		 * pairs with await(). */
		atomic_fetch_add_explicit(&t->exposed->posts[from], 1, memory_order_release);
	for (int i = 0; i < q->n && find(a, q, i, &offset); i++) {
		char *before = q->what == CHANGE ? ignored : result + i * q->extent;

		if (q->what == SWAP)
			element_swap(&b, &t->exposed->lock, address(a, offset), data,
				     data + q->extent, before);
		else
			element_change(&b, (enum op)q->op, MPI_OP_NULL, &t->exposed->lock,
				       address(a, offset), data + i * q->extent, before);
	}
}

static enum outcome serve(struct atomics *a, const struct head *h, int from, const char *bytes,
			  size_t length, int64_t *result)
{
	const char *const end = bytes + length;
	struct part q;

	if (h->number != a->served[from])
		return LATER;
	a->served[from]++;
	if (!is_whole(a, bytes, length, h->words - 1))
		return WRONG;
	while (bytes < end) {
		memcpy(&q, bytes, sizeof q);
		perform(a, &q, from, bytes + PART, (char *)result);
		bytes += PART + part_words(part_operands(&q), &q) * sizeof(int64_t);
		result += part_words(part_results(&q), &q);
	}
	return DONE;
}

int atomics_serve(void *arg, int from, const void *bytes, size_t length, int64_t *result)
{
	const struct pool *p = arg;
	struct atomics *a;
	struct head h;

	if (length < sizeof h)
		return 0;
	memcpy(&h, bytes, sizeof h);
	if (h.words == 0 || h.words > RMA_RESULT_BYTES / sizeof(int64_t))
		return 0;
	memset(result, 0, h.words * sizeof(int64_t));
	/* Orders the window before the tasks on it; pairs with begin_to_serve(). */
	a = h.window < POOL_IDS ? atomic_load_explicit(&p->served[h.window], memory_order_acquire)
				: NULL;
	if (a && from < a->size)
		result[0] =
		    serve(a, &h, from, (const char *)bytes + HEAD, length - HEAD, result + 1);
	return (int)h.words;
}
