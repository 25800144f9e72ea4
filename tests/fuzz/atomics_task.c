/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks for the thread of a target with the layer's atomics: the bytes that rank 0 of two has sent
 * to rank 1. Whatever they are, they change the memory of the window only, no lock stays held, the
 * MPI is not called, and the result has at most its size. A task that names no window, is cut off,
 * or has a place outside the window changes nothing.
 */
#include "property.h"

#include "dropin/atomics/task.h"

enum { BYTES = 64, GUARD = 64, FILL = 0x5a, RANKS = 2, ME = 1, WINDOW = 3 };

/* The thread may not call the MPI. */
int PMPI_Reduce_local(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op)
{
	(void)from, (void)to, (void)n, (void)type, (void)op;
	property(false, "no call of the MPI");
	return MPI_SUCCESS;
}

struct memory {
	_Alignas(64) unsigned char before[GUARD], window[BYTES], after[GUARD];
};

/* Whether the elements of the task all begin within the window. */
static bool has_place(const struct head *h)
{
	const __int128 last = h->offset + (__int128)(h->n - 1) * h->stride;

	return h->n > 0 && h->offset >= 0 && h->offset < BYTES && last >= 0 && last < BYTES;
}

static void check(const struct pool *p, const struct exposed *e, struct memory *m,
		  const uint8_t *data, size_t size)
{
	int64_t result[RESULT_WORDS + 1] = {[RESULT_WORDS] = FILL};
	unsigned char fill[BYTES];
	struct head h = {.n = 0};
	unsigned posts;
	int words;

	memset(fill, FILL, sizeof fill);
	memset(m, FILL, sizeof *m);
	memcpy(&h, data, size < sizeof h ? size : sizeof h);
	posts = atomic_load(&e->posts[0]);
	words = atomics_serve((void *)(uintptr_t)p, 0, data, size, result);
	property(words >= 0 && words <= RESULT_WORDS && result[RESULT_WORDS] == FILL,
		 "the result has its room");
	property(memcmp(m->before, fill, GUARD) == 0 && memcmp(m->after, fill, GUARD) == 0,
		 "only memory of the window is changed");
	property(atomic_load(&e->lock) == 0 && atomic_load(&e->posts[ME]) == 0,
		 "no lock is held, and nobody else has posted");
	posts = atomic_load(&e->posts[0]) - posts;
	if (size < sizeof h || h.window != WINDOW || h.what == POST || !has_place(&h))
		property(memcmp(m->window, fill, BYTES) == 0, "the window is as before");
	property(posts == (size >= sizeof h && h.window == WINDOW && h.what == POST),
		 "a post is counted, and nothing else");
	if (size >= sizeof h && h.words <= RESULT_WORDS)
		property(words == h.words, "the answer is as long as asked for");
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

	property(a && e && p && task, "there is memory");
	memset(e, 0, sizeof *e + RANKS * sizeof e->posts[0]);
	memcpy(task, data, size);
	a->rank = ME;
	a->size = RANKS;
	a->target[ME] = (struct target){(char *)memory.window, BYTES, 1, e};
	atomic_store(&p->served[WINDOW], a);
	check(p, e, &memory, task, size);
	free(task);
	free(p);
	free(e);
	free(a);
	return 0;
}
