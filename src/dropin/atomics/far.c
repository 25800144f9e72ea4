/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates at targets whose memory this process does not map: messages to the target, whose
 * thread performs them (serve.c).
 *
 * A message has elements of one predefined type at equal distances, as many as fit. The messages of
 * one call may travel together, since MPI lets no two elements of a target overlap; the call
 * returns when all are answered. So the messages of two calls are in program order.
 */
#include <stdio.h>
#include <string.h>

#include "dropin/atomics/task.h"
#include "observe/observe.h"

struct message {
	union {
		struct head head;
		_Alignas(16) char bytes[RMA_TASK_BYTES];
	};
	size_t length;
	MPI_Aint first; /* of the call's elements */
	_Alignas(16) int64_t result[RESULT_WORDS];
};

static size_t words(size_t bytes)
{
	return (bytes + sizeof(int64_t) - 1) / sizeof(int64_t);
}

static int send(struct window *w, int rank, struct message *m, int n)
{
	struct rma_task task[RMA_TASKS_MOST];
	int rc;

	for (int i = 0; i < n; i++)
		task[i] = (struct rma_task){m[i].bytes, m[i].length, m[i].result, m[i].head.words};
	rc = pawl_private_do(w->pool->targets, rank, pool_target(w->pool, w->id, rank), task, n);
	if (rc == PAWL_SUCCESS)
		return MPI_SUCCESS;
	return dropin_raise(w->win, MPI_ERR_OTHER, "an accumulate at target %d: %s", rank,
			    pawl_error_message());
}

static void begin(struct message *m, const struct window *w, enum what what, const struct basic *b)
{
	m->head = (struct head){.window = (uint32_t)w->id,
				.n = 1,
				.what = (uint8_t)what,
				.op = NO_OP,
				.class = (uint8_t)b->class,
				.size = (uint8_t)b->size,
				.second = (uint8_t)b->second,
				.extent = (uint8_t)b->extent};
	m->length = HEAD;
}

/* The result is n elements. */
static void fetch(struct message *m)
{
	m->head.fetches = true;
	m->head.words = (uint16_t)words((size_t)m->head.n * m->head.extent);
}

static void append(struct message *m, const void *data, size_t bytes)
{
	const size_t whole = words(bytes) * sizeof(int64_t);

	memset(m->bytes + m->length + whole - sizeof(int64_t), 0, sizeof(int64_t));
	memcpy(m->bytes + m->length, data, bytes);
	m->length += whole;
}

/* Fill a message with elements from i on. Returns the next one. */
static MPI_Aint fill(struct message *m, const struct layout *l, MPI_Aint i, MPI_Aint n,
		     const char *from, bool fetches)
{
	const MPI_Aint extent = l->basic.extent, at = layout_place(l, i),
		       most = (fetches ? (int)RMA_RESULT_BYTES : (int)ROOM) / extent;
	MPI_Aint last = i + 1;

	m->first = i;
	m->head.offset += at;
	if (last < n)
		m->head.stride = layout_place(l, last) - at;
	while (last < n && last - i < most &&
	       layout_place(l, last) == at + (last - i) * m->head.stride)
		last++;
	m->head.n = (uint16_t)(last - i);
	if (m->head.op != NO_OP)
		append(m, from + i * extent, (size_t)((last - i) * extent));
	if (fetches)
		fetch(m);
	return last;
}

static int change_by_target(struct window *w, int rank, MPI_Aint offset, const struct layout *l,
			    MPI_Aint n, enum op op, const char *from, char *to)
{
	const MPI_Aint extent = l->basic.extent;
	struct message m[RMA_TASKS_MOST];
	int rc = MPI_SUCCESS;

	for (MPI_Aint i = 0; i < n && rc == MPI_SUCCESS;) {
		int k = 0;

		for (; k < RMA_TASKS_MOST && i < n; k++) {
			begin(&m[k], w, CHANGE, &l->basic);
			m[k].head.op = (uint8_t)op;
			m[k].head.offset = offset;
			i = fill(&m[k], l, i, n, from, to != NULL);
		}
		rc = send(w, rank, m, k);
		for (int j = 0; j < k && to && rc == MPI_SUCCESS; j++)
			memcpy(to + m[j].first * extent, m[j].result,
			       (size_t)(m[j].head.n * extent));
	}
	return rc;
}

int far_swap(struct window *w, int rank, MPI_Aint offset, const struct basic *b,
	     const void *compare, const void *swap, void *before)
{
	struct message m;
	int rc;

	begin(&m, w, SWAP, b);
	m.head.offset = offset;
	memset(m.bytes + HEAD, 0, 2 * MOST_BYTES);
	memcpy(m.bytes + HEAD, compare, (size_t)b->extent);
	memcpy(m.bytes + HEAD + b->extent, swap, (size_t)b->extent);
	m.length += words(2 * (size_t)b->extent) * sizeof(int64_t);
	fetch(&m);
	rc = send(w, rank, &m, 1);
	if (rc == MPI_SUCCESS)
		memcpy(before, m.result, (size_t)b->extent);
	return rc;
}

/* One element, by the MPI of this process. */
static int change_by_mpi(struct window *w, int rank, MPI_Aint offset, const struct basic *b,
			 MPI_Op op, const char *from, char *before)
{
	const struct layout one = {.basic = *b, .n = 1, .extent = b->extent};
	_Alignas(16) char next[MOST_BYTES] = {0}, seen[MOST_BYTES] = {0}, by[MOST_BYTES];
	int rc = change_by_target(w, rank, offset, &one, 1, NO_OP, NULL, seen);

	memcpy(by, from, (size_t)b->extent);
	while (rc == MPI_SUCCESS) {
		memcpy(before, seen, (size_t)b->extent);
		memcpy(next, seen, (size_t)b->extent);
		rc = PMPI_Reduce_local(by, next, 1, b->type, op);
		if (rc == MPI_SUCCESS)
			rc = far_swap(w, rank, offset, b, before, next, seen);
		if (element_same(b, before, seen))
			break;
	}
	return rc;
}

int far_change(struct window *w, int rank, MPI_Aint offset, const struct layout *l, MPI_Aint n,
	       enum op op, MPI_Op mpi_op, const char *from, char *to)
{
	const MPI_Aint extent = l->basic.extent;
	_Alignas(16) char ignored[MOST_BYTES];
	int rc = MPI_SUCCESS;

	if (!element_needs_mpi(&l->basic, op))
		return change_by_target(w, rank, offset, l, n, op, from, to);
	for (MPI_Aint i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = change_by_mpi(w, rank, offset + layout_place(l, i), &l->basic, mpi_op,
				   from + i * extent, to ? to + i * extent : ignored);
	return rc;
}

int far_post(struct window *w, int rank)
{
	static const struct basic none;
	struct message m;

	begin(&m, w, POST, &none);
	return send(w, rank, &m, 1);
}
