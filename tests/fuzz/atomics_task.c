/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages for the thread of a target with the layer's atomics: the bytes that rank 0 of two has
 * sent to rank 1. Whatever they are, they change the memory of the window only, no lock stays held,
 * the MPI is not called, and the result has at most its size. A message that is not performed,
 * since it names no window, has another number, is cut off, or has a place outside the window,
 * changes nothing.
 */
#include "property.h"

#include "dropin/atomics/task.h"

enum { BYTES = 64, GUARD = 64, FILL = 0x5a, RANKS = 2, ME = 1, WINDOW = 3 };
enum { RESULT_WORDS = RMA_RESULT_BYTES / sizeof(int64_t) };

/* The thread may not call the MPI. */
int PMPI_Reduce_local(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op)
{
	(void)from, (void)to, (void)n, (void)type, (void)op;
	property(false, "no call of the MPI");
	return MPI_SUCCESS;
}

/* The window is not a dynamic one. */
bool atomics_are_attached(struct atomics *a, const char *begin, const char *end)
{
	(void)a, (void)begin, (void)end;
	property(false, "no look at what is attached");
	return false;
}

struct memory {
	_Alignas(64) unsigned char before[GUARD], window[BYTES], after[GUARD];
};

/* Whether the elements of a part all begin within the window. */
static bool has_place(const struct part *q)
{
	const __int128 last = q->offset + (__int128)(q->n - 1) * q->stride;

	return q->n > 0 && q->offset >= 0 && q->offset < BYTES && last >= 0 && last < BYTES;
}

/* The posts of a message that has been performed, whose other parts have places. */
static unsigned count_posts(const uint8_t *bytes, size_t length)
{
	unsigned posts = 0;
	struct part q;

	for (size_t each; length > 0; bytes += each, length -= each) {
		property(length >= PART, "a part is whole");
		memcpy(&q, bytes, sizeof q);
		posts += q.what == POST;
		property(q.what == POST || has_place(&q), "its elements are in the window");
		each = PART + part_words(part_operands(&q), &q) * sizeof(int64_t);
		property(each <= length, "its operands are there");
	}
	return posts;
}

static void check(const struct pool *p, const struct atomics *a, struct memory *m,
		  const uint8_t *data, size_t size)
{
	const struct exposed *e = a->target[ME].exposed;
	int64_t result[RESULT_WORDS + 1] = {[RESULT_WORDS] = FILL};
	unsigned char fill[BYTES];
	struct head h = {.words = 0};
	bool is_read, is_next, is_done;
	int words;

	memset(fill, FILL, sizeof fill);
	memset(m, FILL, sizeof *m);
	memcpy(&h, data, size < sizeof h ? size : sizeof h);
	is_read = size >= sizeof h && h.words > 0 && h.words <= RESULT_WORDS;
	is_next = is_read && h.window == WINDOW && h.number == 0;
	words = atomics_serve((void *)(uintptr_t)p, 0, data, size, result);
	property(words == (is_read ? (int)h.words : 0) && result[RESULT_WORDS] == FILL,
		 "the answer is as long as asked for, and has its room");
	is_done = is_read && result[0] == DONE;
	property(is_next ? result[0] != LATER : !is_done, "the next message is performed or wrong");
	property(a->served[0] == is_next && a->served[ME] == 0, "a message is counted once");
	property(memcmp(m->before, fill, GUARD) == 0 && memcmp(m->after, fill, GUARD) == 0,
		 "only memory of the window is changed");
	property(atomic_load(&e->lock) == 0 && atomic_load(&e->posts[ME]) == 0,
		 "no lock is held, and nobody else has posted");
	property(is_done || memcmp(m->window, fill, BYTES) == 0, "the window is as before");
	property(atomic_load(&e->posts[0]) == (is_done ? count_posts(data + HEAD, size - HEAD) : 0),
		 "a post is counted, and nothing else");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory memory;
	struct atomics *a = calloc(1, sizeof *a + RANKS * sizeof a->target[0]);
	struct exposed *e =
	    aligned_alloc(64, (sizeof *e + RANKS * sizeof e->posts[0] + 63) / 64 * 64);
	struct pool *p = calloc(1, sizeof *p);
	/* Of exactly this size, so that an access behind the end is noticed. */
	uint8_t *task = malloc(size ? size : 1);

	uint64_t served[RANKS] = {0};

	property(a && e && p && task, "there is memory");
	memset(e, 0, sizeof *e + RANKS * sizeof e->posts[0]);
	memcpy(task, data, size);
	a->rank = ME;
	a->served = served;
	a->size = RANKS;
	a->target[ME] =
	    (struct target){.base = (char *)memory.window, .size = BYTES, .unit = 1, .exposed = e};
	atomic_store(&p->served[WINDOW], a);
	check(p, a, &memory, task, size);
	free(task);
	free(p);
	free(e);
	free(a);
	return 0;
}
