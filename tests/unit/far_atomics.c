/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates by message, from the calls of an origin to the memory of its target, over a transport
 * on which messages overtake each other at random. All calls against a sequential oracle; what a
 * target refuses; and what it gets that far.c does not send.
 */
#include "dropin/atomics/task.h"
#include "observe/observe.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 4096, CALLS = 8, ROUNDS = 4000, ME = 1, TARGET = 0, SIZE = 2 };

static int64_t memory[WORDS], oracle[WORDS];
static struct pool pool = {.size = SIZE};
static struct window window = {.pool = &pool, .size = SIZE};
static unsigned raised, performed[LATER + 1];
static uint64_t state = 1;

static int below(int n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (int)((state >> 33) % (unsigned)n);
}

bool atomics_are_attached(struct atomics *a, const char *begin, const char *end)
{
	(void)a;
	return begin < end;
}

/* ---------------------------------------------------------------- the transport */

struct parcel {
	_Alignas(16) char bytes[RMA_TASK_BYTES];
	size_t length, words;
	int64_t *result;
};
static struct parcel parcels[RMA_TASKS_MOST];
static int on_way, most_on_way;

struct rma_client *pawl_private_tasks(pawl_table *t)
{
	(void)t;
	return (struct rma_client *)(void *)parcels;
}

void pawl_private_tasks_free(struct rma_client *c)
{
	(void)c;
}

static void arrive(int i)
{
	int64_t result[RMA_RESULT_BYTES / sizeof(int64_t)];
	struct parcel *p = &parcels[i];

	if (atomics_serve(&pool, ME, p->bytes, p->length, result) != (int)p->words)
		abort();
	performed[result[0]]++;
	memcpy(p->result, result, p->words * sizeof *result);
	parcels[i] = parcels[--on_way];
}

void pawl_private_send(struct rma_client *c, int rank, uint64_t lock, const struct rma_task *task)
{
	(void)c, (void)lock;
	if (rank != TARGET || on_way == RMA_TASKS_MOST || task->length > RMA_TASK_BYTES)
		abort();
	memcpy(parcels[on_way].bytes, task->bytes, task->length);
	parcels[on_way].length = task->length;
	parcels[on_way].words = task->words;
	parcels[on_way++].result = task->result;
	most_on_way = on_way > most_on_way ? on_way : most_on_way;
	if (below(4) == 0)
		arrive(below(on_way));
}

int pawl_private_await(struct rma_client *c)
{
	(void)c;
	while (on_way > 0)
		arrive(below(on_way));
	return PAWL_SUCCESS;
}

const char *pawl_error_message(void)
{
	return "";
}

int dropin_raise(MPI_Win win, int class, const char *format, ...)
{
	(void)win, (void)format;
	raised++;
	return class;
}

/* -------------------------------------------------------------------- the calls */

static struct layout layouts[3];
static MPI_Aint gaps[5] = {0, 8, 24, 40, 48};

static void make_layouts(void)
{
	const struct basic word = {.class = SIGNED, .size = 8, .extent = 8};

	layouts[0] = (struct layout){.basic = word, .n = 1, .extent = 8, .high = 8};
	layouts[1] =
	    (struct layout){.basic = word, .n = 5, .offset = gaps, .extent = 72, .high = 56};
	layouts[2] =
	    (struct layout){.basic = word, .n = 1, .offset = gaps, .extent = 16, .high = 8};
}

/* Buffers of the calls since the last flush. */
static int64_t from[CALLS][WORDS], found[CALLS][WORDS], wanted[CALLS][WORDS];
static int counts[CALLS];

static void change(int k)
{
	static const enum op ops[] = {SUM, MAX, BXOR, REPLACE, NO_OP};
	const struct layout *l = &layouts[below(3)];
	const enum op op = ops[below(5)];
	const bool fetches = op == NO_OP || below(2);
	const MPI_Aint span = below(3) ? 300 : 8 * WORDS, base = below(20) * 8;
	MPI_Aint n = (span - base - 100) / l->extent * l->n;

	n = n < 1 ? l->n : 1 + below((int)n);
	counts[k] = fetches ? (int)n : 0;
	for (MPI_Aint i = 0; i < n; i++) {
		int64_t *at = &oracle[(base + layout_place(l, i)) / 8];

		from[k][i] = below(1000);
		wanted[k][i] = *at;
		*at = op == SUM                        ? *at + from[k][i]
		      : op == MAX && from[k][i] <= *at ? *at
		      : op == BXOR                     ? *at ^ from[k][i]
		      : op == NO_OP                    ? *at
						       : from[k][i];
	}
	if (far_change(&window, TARGET, base, l, n, op, MPI_OP_NULL, (char *)from[k],
		       fetches ? (char *)found[k] : NULL) != MPI_SUCCESS)
		raised++;
	memset(from[k], -1, (size_t)n * sizeof from[k][0]); /* the origin has copied them */
}

static void swap(int k)
{
	const int word = below(20);
	const int64_t compare = below(2) ? oracle[word] : -1, next = below(1000);

	counts[k] = 1;
	wanted[k][0] = oracle[word];
	if (oracle[word] == compare)
		oracle[word] = next;
	if (far_swap(&window, TARGET, word * 8, &layouts[0].basic, &compare, &next, found[k]) !=
	    MPI_SUCCESS)
		raised++;
}

static bool random_round(void)
{
	const int n = 1 + below(CALLS);
	const bool local = below(3) == 0;
	bool same = true;

	for (int k = 0; k < n; k++)
		if (below(4))
			change(k);
		else
			swap(k);
	same = (local ? far_complete_local : far_complete)(&window, below(2) ? TARGET : -1) ==
	       MPI_SUCCESS;
	for (int k = 0; k < n; k++)
		same = same &&
		       memcmp(found[k], wanted[k], (size_t)counts[k] * sizeof found[k][0]) == 0;
	return same && (local || memcmp(memory, oracle, sizeof memory) == 0);
}

/* ------------------------------------------------------------- what is not sent */

/* A message of one part, with so many bytes behind it; its outcome. */
static enum outcome outcome(uint64_t number, struct part q, size_t bytes, unsigned words)
{
	struct {
		struct head head;
		struct part part;
		int64_t operands[8];
	} m = {.head = {.number = number, .words = words}, .part = q};
	int64_t result[RMA_RESULT_BYTES / sizeof(int64_t)];

	if (atomics_serve(&pool, ME, &m, HEAD + PART + bytes, result) != (int)words)
		return WRONG;
	return (enum outcome)result[0];
}

static void refusals(struct atomics *target)
{
	const struct part good = {.offset = 8 * (WORDS - 2),
				  .stride = 8,
				  .n = 2,
				  .what = FETCH,
				  .op = SUM,
				  .class = SIGNED,
				  .size = 8,
				  .extent = 8};
	uint64_t next = target->served[ME];
	struct part q;
	bool bad = false;

#define WITH(member, value) (q = good, q.member = (value), outcome(next++, q, 16, 3) != WRONG)
	bad = WITH(offset, 8 * (WORDS - 1)) || WITH(offset, -8) || WITH(stride, 16) ||
	      WITH(stride, PTRDIFF_MAX) || WITH(n, 3) || WITH(n, 0) || WITH(what, SWAP) ||
	      WITH(what, POST) || WITH(what, POST + 1) || WITH(op, OTHER) || WITH(op, NO_OP + 9) ||
	      WITH(class, OPAQUE + 1) || WITH(size, 3) || WITH(extent, 16) || WITH(second, 4) ||
	      WITH(class, OPAQUE);
	ok(!bad, "a part outside the window, or of no type or operation, is refused");
	bad = outcome(next++, good, 8, 3) != WRONG || outcome(next++, good, 24, 3) != WRONG ||
	      outcome(next++, good, 16, 2) != WRONG || outcome(next, good, 16, 0) != WRONG;
	ok(!bad, "and one whose operands or results have no room");
	ok(outcome(next + 1, good, 16, 3) == LATER && outcome(next - 1, good, 16, 3) == LATER,
	   "one that has another number is not performed");
	ok(memcmp(memory, oracle, sizeof memory) == 0 && target->served[ME] == next,
	   "and nothing has changed");
	ok(outcome(next, good, 16, 3) == DONE, "the right one is performed");
}

int main(void)
{
	struct atomics *origin = calloc(1, sizeof *origin + SIZE * sizeof origin->target[0]),
		       *target = calloc(1, sizeof *target + SIZE * sizeof target->target[0]);
	struct exposed *exposed = aligned_alloc(64, sizeof *exposed + 64);
	bool same = true;

	memset(exposed, 0, sizeof *exposed + 64);
	target->size = origin->size = SIZE;
	target->rank = TARGET;
	target->target[TARGET] = (struct target){
	    .base = (char *)memory, .size = sizeof memory, .unit = 1, .exposed = exposed};
	target->served = calloc(SIZE, sizeof *target->served);
	atomic_store(&pool.served[0], target);
	window.atomics = origin;
	origin->away = far_new(&window);
	make_layouts();
	for (int i = 0; i < ROUNDS && same; i++)
		same = random_round();
	ok(same && raised == 0, "results and memory are those of the oracle");
	ok(far_complete(&window, -1) == MPI_SUCCESS && memcmp(memory, oracle, sizeof memory) == 0,
	   "also after calls that were completed locally");
	ok(performed[LATER] > 0 && performed[WRONG] == 0 && most_on_way > CALLS,
	   "messages were performed (%u), and refused because they came too early (%u)",
	   performed[DONE], performed[LATER]);
	ok(far_post(&window, TARGET) == MPI_SUCCESS && far_complete(&window, -1) == MPI_SUCCESS &&
	       atomic_load(&exposed->posts[ME]) == 1,
	   "a post is counted");
	refusals(target);
	far_free(origin->away);
	free(target->served);
	free(exposed);
	free(target);
	free(origin);
	return tap_plan();
}
