/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates at targets whose memory this process does not map: messages to the target, whose
 * thread performs them (serve.c).
 *
 * A call adds its elements to the open message of its target. That is sent when it is full, when no
 * other one is on its way to that target, and when accumulates there are to be completed: so single
 * calls take a message each, and many calls without a flush share some. Operands are copied, and
 * results are written when the call is completed: at a flush, at the end of an epoch, or, for calls
 * with a request and those that the MPI must compute, at once.
 *
 * Order. Messages may overtake each other, but their target performs those of an origin by number,
 * and refuses one that has come too early. The origin sends refused ones again, in their order,
 * when it completes accumulates and no other message is on its way.
 *
 * One domain over several nodes. In both ways it is a CPU of the target's node that changes the
 * element, by the same instruction or under the same lock; type and address decide which, and not
 * the way. The thread of the target may not call the MPI. What only the MPI can compute, the origin
 * computes from a value that it has fetched, and has it replaced if it is still that value, before
 * the call returns. So such an operation may have to be repeated while others change the element,
 * as by compare-and-swap within a node.
 */
#include <stdlib.h>
#include <string.h>

#include "dropin/atomics/task.h"
#include "observe/observe.h"

enum { WORD = sizeof(int64_t), RESULT_WORDS = RMA_RESULT_BYTES / WORD, FETCHES = 256 };

/* Where a part of a result goes. */
struct fetched {
	void *to;
	uint32_t word, bytes;
};

struct message {
	union {
		struct head head;
		_Alignas(16) char bytes[RMA_TASK_BYTES];
	};
	size_t length;
	int rank, fetches;
	struct fetched fetch[FETCHES];
	int64_t result[RESULT_WORDS];
	struct message *next;
};

/* What a target gets. */
struct line {
	struct message *open; /* NULL: none */
	uint64_t numbers;     /* of messages so far */
	int sent;             /* messages whose answers are awaited */
};

struct far {
	struct rma_client *tasks;
	pthread_mutex_t mutex;
	struct message *spare, *sent, **last; /* sent: in the order of sending */
	int messages, opened;                 /* messages in all, and open ones */
	int fetches;                          /* results of calls that are not complete */
	struct line line[];
};

/* -------------------------------------------------------------------- messages, under the mutex */

static struct message *message_new(struct far *f)
{
	struct message *m = f->messages < RMA_TASKS_MOST ? malloc(sizeof *m) : NULL;

	f->messages += m != NULL;
	return m;
}

static void keep(struct far *f, struct message *m)
{
	m->next = f->spare;
	f->spare = m;
}

struct far *far_new(const struct window *w)
{
	struct far *f = calloc(1, sizeof *f + (size_t)w->size * sizeof f->line[0]);
	struct message *m;

	if (!f)
		return NULL;
	f->last = &f->sent;
	pthread_mutex_init(&f->mutex, NULL);
	f->tasks = pawl_private_tasks(w->pool->targets);
	m = message_new(f);
	if (m)
		keep(f, m);
	if (f->tasks && m)
		return f;
	far_free(f);
	return NULL;
}

/* Nothing is on its way. */
void far_free(struct far *f)
{
	if (!f)
		return;
	for (struct message *m = f->spare; m; m = f->spare) {
		f->spare = m->next;
		free(m);
	}
	pawl_private_tasks_free(f->tasks);
	pthread_mutex_destroy(&f->mutex);
	free(f);
}

static void transmit(const struct window *w, struct message *m)
{
	m->result[0] = WRONG;
	pawl_private_send(w->atomics->away->tasks, m->rank, pool_target(w->pool, w->id, m->rank),
			  &(struct rma_task){m->bytes, m->length, m->result, m->head.words});
}

/* Send the target's open message. */
static void dispatch(struct window *w, int rank)
{
	struct far *f = w->atomics->away;
	struct line *line = &f->line[rank];
	struct message *m = line->open;

	if (!m)
		return;
	line->open = NULL;
	f->opened--;
	line->sent++;
	m->head.number = line->numbers++;
	m->next = NULL;
	*f->last = m;
	f->last = &m->next;
	transmit(w, m);
}

/* Its answer is there. False: it has not been performed. */
static bool receive(struct window *w, struct message *m)
{
	struct far *f = w->atomics->away;
	bool ok = true;

	if (m->result[0] == LATER) {
		transmit(w, m);
		ok = pawl_private_await(f->tasks) == PAWL_SUCCESS;
	}
	ok = ok && m->result[0] == DONE;
	for (int i = 0; i < m->fetches && ok; i++)
		memcpy(m->fetch[i].to, m->result + m->fetch[i].word, m->fetch[i].bytes);
	f->fetches -= m->fetches;
	return ok;
}

/* Await all that has been sent. Returns a code of MPI; the error has been raised. */
static int await_all(struct window *w)
{
	struct far *f = w->atomics->away;
	bool ok = pawl_private_await(f->tasks) == PAWL_SUCCESS;
	int lost = MPI_PROC_NULL;

	for (struct message *m = f->sent, *next; m; m = next) {
		next = m->next;
		if (!ok)
			m->result[0] = WRONG;
		if (!receive(w, m) && lost == MPI_PROC_NULL)
			lost = m->rank;
		f->line[m->rank].sent = 0;
		keep(f, m);
	}
	f->sent = NULL;
	f->last = &f->sent;
	if (lost == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (ok)
		return dropin_raise(w->win, MPI_ERR_RMA_RANGE,
				    "an accumulate at memory that target %d does not have in the"
				    " window",
				    lost);
	return dropin_raise(w->win, MPI_ERR_OTHER, "an accumulate at target %d: %s", lost,
			    pawl_error_message());
}

/* Send what is open for the rank; -1: for all. */
static void dispatch_all(struct window *w, int rank)
{
	if (rank >= 0)
		dispatch(w, rank);
	for (int r = 0; rank < 0 && w->atomics->away->opened && r < w->size; r++)
		dispatch(w, r);
}

/* As far_complete(). */
static int complete(struct window *w, int rank)
{
	dispatch_all(w, rank);
	return w->atomics->away->sent ? await_all(w) : MPI_SUCCESS;
}

/* A target's open message, with room for a part of an element. */
static int open_message(struct window *w, int rank, struct message **to)
{
	struct far *f = w->atomics->away;
	struct line *line = &f->line[rank];
	int rc = MPI_SUCCESS;

	if (!line->open) {
		struct message *m = f->spare;

		if (m)
			f->spare = m->next;
		else
			m = message_new(f);
		if (!m) {
			rc = complete(w, -1);
			m = f->spare;
			f->spare = m->next;
		}
		m->head = (struct head){.window = (uint32_t)w->id, .words = 1};
		m->length = HEAD;
		m->rank = rank;
		m->fetches = 0;
		line->open = m;
		f->opened++;
	}
	*to = line->open;
	return rc;
}

/* How many elements of a part fit; 0: not one. */
static MPI_Aint room(const struct message *m, const struct part *q)
{
	const size_t bytes = RMA_TASK_BYTES - m->length, words = RESULT_WORDS - m->head.words,
		     each = part_operands(&(struct part){.what = q->what, .op = q->op, .n = 1}) *
			    q->extent;
	size_t n = UINT16_MAX;

	if (bytes < PART + each || (q->what != CHANGE && m->fetches == FETCHES))
		return 0;
	if (each > 0)
		n = (bytes - PART) / each;
	if (q->what != CHANGE && words * WORD / q->extent < n)
		n = words * WORD / q->extent;
	return (MPI_Aint)n;
}

/* Append a part, and its operands from here on. */
static void append(struct far *f, struct message *m, const struct part *q, const void *data,
		   void *to)
{
	const size_t bytes = part_operands(q) * q->extent,
		     whole = part_words(part_operands(q), q) * WORD,
		     results = part_results(q) * q->extent;

	memcpy(m->bytes + m->length, q, sizeof *q);
	m->length += PART;
	if (bytes > 0) {
		memset(m->bytes + m->length + whole - WORD, 0, WORD);
		memcpy(m->bytes + m->length, data, bytes);
		m->length += whole;
	}
	if (results == 0)
		return;
	m->fetch[m->fetches++] = (struct fetched){to, m->head.words, (uint32_t)results};
	m->head.words += (uint32_t)part_words(part_results(q), q);
	f->fetches++;
}

/* ----------------------------------------------------------------------- calls */

static struct part part_of(const struct basic *b, enum what what, enum op op)
{
	return (struct part){.n = 1,
			     .what = (uint8_t)what,
			     .op = (uint8_t)op,
			     .class = (uint8_t)b->class,
			     .size = (uint8_t)b->size,
			     .second = (uint8_t)b->second,
			     .extent = (uint8_t)b->extent};
}

/* As many elements from i on, most at most, as are at equal distances. Returns the next one. */
static MPI_Aint stretch(struct part *q, const struct layout *l, MPI_Aint i, MPI_Aint n,
			MPI_Aint most)
{
	const MPI_Aint at = layout_place(l, i), end = n - i < most ? n : i + most;
	MPI_Aint last = i + 1;

	q->offset = at;
	q->stride = last < end ? layout_place(l, last) - at : 0;
	if (!l->offset)
		last = end;
	while (last < end && layout_place(l, last) == at + (last - i) * q->stride)
		last++;
	q->n = (uint16_t)(last - i);
	return last;
}

static int add(struct window *w, int rank, MPI_Aint offset, const struct layout *l, MPI_Aint n,
	       enum op op, const char *from, char *to)
{
	const MPI_Aint extent = l->basic.extent;
	struct part q = part_of(&l->basic, to ? FETCH : CHANGE, op);
	struct message *m;
	int rc = MPI_SUCCESS;

	for (MPI_Aint i = 0; i < n && rc == MPI_SUCCESS;) {
		MPI_Aint first = i, most;

		rc = open_message(w, rank, &m);
		most = room(m, &q);
		if (most == 0) {
			dispatch(w, rank);
			continue;
		}
		i = stretch(&q, l, i, n, most);
		q.offset += offset;
		append(w->atomics->away, m, &q, from ? from + first * extent : NULL,
		       to ? to + first * extent : NULL);
	}
	return rc;
}

/* After a call: what is first goes at once. */
static void begin(struct window *w, int rank)
{
	if (w->atomics->away->line[rank].sent == 0)
		dispatch(w, rank);
}

static int change_by_target(struct window *w, int rank, MPI_Aint offset, const struct layout *l,
			    MPI_Aint n, enum op op, const char *from, char *to)
{
	int rc;

	pthread_mutex_lock(&w->atomics->away->mutex);
	rc = add(w, rank, offset, l, n, op, op == NO_OP ? NULL : from, to);
	begin(w, rank);
	pthread_mutex_unlock(&w->atomics->away->mutex);
	return rc;
}

int far_swap(struct window *w, int rank, MPI_Aint offset, const struct basic *b,
	     const void *compare, const void *swap, void *before)
{
	struct part q = part_of(b, SWAP, REPLACE);
	char data[2 * MOST_BYTES];
	struct message *m;
	int rc;

	q.offset = offset;
	memcpy(data, compare, (size_t)b->extent);
	memcpy(data + b->extent, swap, (size_t)b->extent);
	pthread_mutex_lock(&w->atomics->away->mutex);
	rc = open_message(w, rank, &m);
	if (rc == MPI_SUCCESS && room(m, &q) == 0) {
		dispatch(w, rank);
		rc = open_message(w, rank, &m);
	}
	if (rc == MPI_SUCCESS)
		append(w->atomics->away, m, &q, data, before);
	begin(w, rank);
	pthread_mutex_unlock(&w->atomics->away->mutex);
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
	if (rc == MPI_SUCCESS)
		rc = far_complete(w, rank);
	while (rc == MPI_SUCCESS) {
		memcpy(before, seen, (size_t)b->extent);
		memcpy(next, seen, (size_t)b->extent);
		rc = PMPI_Reduce_local(by, next, 1, b->type, op);
		if (rc == MPI_SUCCESS)
			rc = far_swap(w, rank, offset, b, before, next, seen);
		if (rc == MPI_SUCCESS)
			rc = far_complete(w, rank);
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

/* Nothing else is on its way to the target, so the message cannot come too early, and need not be
 * awaited. */
int far_post(struct window *w, int rank)
{
	static const struct basic none = {.extent = 1};
	struct far *f = w->atomics->away;
	struct part q = part_of(&none, POST, NO_OP);
	struct message *m;
	int rc = MPI_SUCCESS;

	q.n = 0;
	pthread_mutex_lock(&f->mutex);
	if (f->line[rank].open || f->line[rank].sent)
		rc = complete(w, rank);
	if (rc == MPI_SUCCESS)
		rc = open_message(w, rank, &m);
	if (rc == MPI_SUCCESS) {
		append(f, m, &q, NULL, NULL);
		dispatch(w, rank);
	}
	pthread_mutex_unlock(&f->mutex);
	return rc;
}

int far_connect(struct window *w)
{
	struct message *m;
	int rc = MPI_SUCCESS;

	pthread_mutex_lock(&w->atomics->away->mutex);
	for (int r = 0; r < w->size && rc == MPI_SUCCESS; r++)
		if (!w->atomics->target[r].exposed) {
			rc = open_message(w, r, &m);
			dispatch(w, r);
		}
	if (rc == MPI_SUCCESS)
		rc = complete(w, -1);
	pthread_mutex_unlock(&w->atomics->away->mutex);
	return rc;
}

int far_complete(struct window *w, int rank)
{
	int rc;

	pthread_mutex_lock(&w->atomics->away->mutex);
	rc = complete(w, rank);
	pthread_mutex_unlock(&w->atomics->away->mutex);
	return rc;
}

int far_complete_local(struct window *w, int rank)
{
	struct far *f = w->atomics->away;
	int rc = MPI_SUCCESS;

	pthread_mutex_lock(&f->mutex);
	if (f->fetches)
		rc = complete(w, rank);
	else
		dispatch_all(w, rank);
	pthread_mutex_unlock(&f->mutex);
	return rc;
}
