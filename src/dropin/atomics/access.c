/* SPDX-License-Identifier: BSD-3-Clause */
/* The accumulates of a window that has Pawl's atomics. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/atomics/atomics.h"

static enum op op_of(MPI_Op op)
{
	static const MPI_Op ops[OTHER] = {
	    [SUM] = MPI_SUM,   [PROD] = MPI_PROD, [MIN] = MPI_MIN,         [MAX] = MPI_MAX,
	    [BAND] = MPI_BAND, [BOR] = MPI_BOR,   [BXOR] = MPI_BXOR,       [LAND] = MPI_LAND,
	    [LOR] = MPI_LOR,   [LXOR] = MPI_LXOR, [REPLACE] = MPI_REPLACE, [NO_OP] = MPI_NO_OP};
	int i = 0;

	while (i < OTHER && ops[i] != op)
		i++;
	return (enum op)i;
}

/* The standard has no other operations for accumulates. */
static bool is_accepted(MPI_Op op)
{
	return op_of(op) != OTHER || op == MPI_MINLOC || op == MPI_MAXLOC;
}

static int bad_op(const struct window *w)
{
	return dropin_raise(w->win, MPI_ERR_OP,
			    "an accumulate with an operation that is not predefined");
}

/* ------------------------------------------------------------------ the target */

static bool is_open(const struct window *w, int rank)
{
	return atomic_load_explicit(&w->all, memory_order_relaxed) > HELD_BUSY ||
	       atomic_load_explicit(&w->held[rank], memory_order_relaxed) > HELD_BUSY;
}

/* Where an access begins. */
struct place {
	const struct target *target;
	MPI_Aint offset;
	char *at; /* NULL: not mapped here */
};

static bool is_mapped(const struct place *p)
{
	return __builtin_expect(p->at != NULL, 1);
}

/* Whether the result of a call is not there at its return. */
static bool is_late(const struct window *w, const struct place *p)
{
	return !is_mapped(p) && !w->atomics->copies;
}

static int change_unmapped(struct window *w, int rank, MPI_Aint offset, const struct layout *l,
			   MPI_Aint n, enum op op, MPI_Op mpi_op, const void *from, void *to)
{
	return w->atomics->copies ? copy_change(w, rank, offset, l, n, op, mpi_op, from, to)
				  : far_change(w, rank, offset, l, n, op, mpi_op, from, to);
}

/* Whether the bytes from low on, and before high, at disp of a rank are in an epoch and in the
 * window. If not, the error has been raised. */
static int reach(const struct window *w, int rank, MPI_Aint disp, MPI_Aint low, MPI_Aint high,
		 struct place *to)
{
	struct atomics *a = w->atomics;
	const struct target *t;
	MPI_Aint offset;
	char *at;

	if (rank < 0 || rank >= w->size)
		return dropin_raise(w->win, MPI_ERR_RANK, "rank %d is not in 0 to %d", rank,
				    w->size - 1);
	t = &a->target[rank];
	if (__builtin_expect(!is_open(w, rank) && !a->is_fenced && !a->is_started, 0)) {
		int rc = PMPI_Get(NULL, 0, MPI_BYTE, rank, 0, 0, MPI_BYTE, w->win);

		if (rc != MPI_SUCCESS)
			return rc;
	}
	if (disp < 0 || __builtin_mul_overflow(disp, t->unit, &offset) || offset > t->size ||
	    low < -offset || high > t->size - offset)
		return dropin_raise(w->win, MPI_ERR_RMA_RANGE,
				    "an accumulate at displacement %lld of target %d, which has"
				    " %lld bytes",
				    (long long)disp, rank, (long long)t->size);
	at = t->base ? t->base + offset : NULL;
	if (__builtin_expect(a->is_dynamic, 0) && rank == a->rank && !a->copies) {
		at = (char *)(uintptr_t)offset;
		if (!atomics_are_attached(a, at + low, at + high))
			return dropin_raise(w->win, MPI_ERR_RMA_RANGE,
					    "an accumulate at memory that is not attached");
	}
	*to = (struct place){t, offset, at};
	return MPI_SUCCESS;
}

/* A call is done; changed: it has, or may have, changed a word. */
static inline void done(struct window *w, bool changed)
{
	struct atomics *a = w->atomics;
	unsigned n = atomic_load_explicit(&a->calls, memory_order_relaxed) + 1, idle;
	int flag;

	if (atomic_load_explicit(&w->asks, memory_order_relaxed) == ASK)
		atomic_store_explicit(&w->asks, ASK_NEXT, memory_order_relaxed);
	atomic_store_explicit(&a->calls, n, memory_order_relaxed);
	if ((DRIVES || a->far || a->copies) && n % DRIVE_EVERY == 0)
		PMPI_Iprobe(MPI_ANY_SOURCE, 0, a->comm, &flag, MPI_STATUS_IGNORE);
	if (!a->crowded)
		return;
	idle = changed ? 0 : atomic_load_explicit(&a->idle, memory_order_relaxed) + 1;
	atomic_store_explicit(&a->idle, idle, memory_order_relaxed);
	if (idle && idle % IDLE_CALLS == 0)
		sched_yield();
}

/* ------------------------------------------------------------ single elements */

static const struct layout *single(const struct window *w, MPI_Datatype type, int *class)
{
	const struct layout *l = layout_of(type, w->atomics->comm, class);

	if (l && l->offset) {
		*class = MPI_ERR_TYPE;
		return NULL;
	}
	return l;
}

int atomics_fetch_and_op(struct window *w, const void *origin, void *result, MPI_Datatype type,
			 int rank, MPI_Aint disp, MPI_Op mpi_op)
{
	const enum op op = op_of(mpi_op);
	const struct layout *l;
	struct place at;
	int class, rc;

	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (op == OTHER && !is_accepted(mpi_op))
		return bad_op(w);
	l = single(w, type, &class);
	if (!l)
		return dropin_raise(w->win, class, "MPI_Fetch_and_op of a type without layout");
	rc = reach(w, rank, disp, 0, l->high, &at);
	if (rc != MPI_SUCCESS)
		return rc;
	if (is_mapped(&at))
		rc = element_change(&l->basic, op, mpi_op, &at.target->exposed->lock, at.at, origin,
				    result);
	else
		rc = change_unmapped(w, rank, at.offset, l, 1, op, mpi_op, origin, result);
	done(w, is_late(w, &at) ||
		    (op != NO_OP &&
		     (op != REPLACE || memcmp(origin, result, (size_t)l->basic.size) != 0)));
	return rc;
}

int atomics_compare_and_swap(struct window *w, const void *origin, const void *compare,
			     void *result, MPI_Datatype type, int rank, MPI_Aint disp)
{
	const struct layout *l;
	struct place at;
	int class, rc;

	if (rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	l = single(w, type, &class);
	if (!l)
		return dropin_raise(w->win, class, "MPI_Compare_and_swap of a type without layout");
	rc = reach(w, rank, disp, 0, l->high, &at);
	if (rc != MPI_SUCCESS)
		return rc;
	if (is_mapped(&at))
		element_swap(&l->basic, &at.target->exposed->lock, at.at, compare, origin, result);
	else if (w->atomics->copies)
		rc = copy_swap(w, rank, at.offset, &l->basic, compare, origin, result);
	else
		rc = far_swap(w, rank, at.offset, &l->basic, compare, origin, result);
	done(w, is_late(w, &at) || memcmp(compare, result, (size_t)l->basic.size) == 0);
	return rc;
}

/* ------------------------------------------------------------------ many elements */

/* The elements of a buffer of the program. temporary: one after the other, for a derived type. */
struct buffer {
	const struct layout *layout;
	MPI_Count count;
	MPI_Datatype type;
	void *program;
	char *elements, *temporary;
};

/* Element i of a derived type; its program's buffer may be MPI_BOTTOM. */
static void *element_at(const struct buffer *u, MPI_Aint i)
{
	return (void *)((uintptr_t)u->program + (uintptr_t)layout_place(u->layout, i));
}

/* The n elements of type b at the program's buffer; read: as they are. Returns an error class. */
static int open_buffer(struct buffer *u, const struct basic *b, MPI_Aint n, MPI_Comm comm,
		       bool read)
{
	int class = MPI_ERR_TYPE;

	u->layout = layout_of(u->type, comm, &class);
	if (!u->layout)
		return class;
	if (u->count < 0 || u->count * u->layout->n != n || u->layout->basic.size != b->size)
		return MPI_ERR_COUNT;
	u->elements = u->program;
	if (!u->layout->offset)
		return MPI_SUCCESS;
	u->elements = u->temporary = malloc((size_t)(n * b->extent) + 1);
	if (!u->temporary)
		return MPI_ERR_NO_MEM;
	for (MPI_Aint i = 0; read && i < n; i++)
		element_copy(b, u->temporary + i * b->extent, element_at(u, i));
	return MPI_SUCCESS;
}

/* write: the elements are for the program. */
static void close_buffer(struct buffer *u, const struct basic *b, MPI_Aint n, bool write)
{
	for (MPI_Aint i = 0; write && u->temporary && i < n; i++)
		element_copy(b, element_at(u, i), u->temporary + i * b->extent);
	free(u->temporary);
}

static int change_all(const struct access *x, const struct layout *l, MPI_Aint n, atomic_uint *lock,
		      char *at, const char *from, char *to)
{
	const enum op op = op_of(x->op);
	_Alignas(16) char ignored[MOST_BYTES];
	int rc = MPI_SUCCESS;
	MPI_Aint within = 0;

	for (MPI_Aint i = 0; i < n && rc == MPI_SUCCESS; i++) {
		rc = element_change(&l->basic, op, x->op, lock,
				    at + (l->offset ? l->offset[within] : 0),
				    from ? from + i * l->basic.extent : NULL,
				    to ? to + i * l->basic.extent : ignored);
		if (++within == l->n) {
			within = 0;
			at += l->extent;
		}
	}
	return rc;
}

static int perform(struct window *w, const struct access *x)
{
	const MPI_Comm comm = w->atomics->comm;
	const bool reads = x->op != MPI_NO_OP;
	struct buffer from = {.count = x->ocount, .type = x->otype, .program = (void *)x->origin},
		      to = {.count = x->rcount, .type = x->rtype, .program = x->result};
	int class = MPI_ERR_COUNT, rc;
	const struct layout *l = layout_of(x->ttype, comm, &class);
	struct place at;
	MPI_Aint n, last;

	if (!l || x->tcount < 0)
		return dropin_raise(w->win, class,
				    "an accumulate of a type without layout, or of a"
				    " negative count");
	n = (MPI_Aint)x->tcount * l->n;
	if (n == 0)
		return MPI_SUCCESS;
	last = ((MPI_Aint)x->tcount - 1) * l->extent;
	rc = reach(w, x->rank, x->disp, l->low + (last < 0 ? last : 0),
		   l->high + (last > 0 ? last : 0), &at);
	if (rc != MPI_SUCCESS)
		return rc;
	class = reads ? open_buffer(&from, &l->basic, n, comm, true) : MPI_SUCCESS;
	if (class == MPI_SUCCESS && x->fetches)
		class = open_buffer(&to, &l->basic, n, comm, false);
	if (class == MPI_SUCCESS && is_mapped(&at))
		rc = change_all(x, l, n, &at.target->exposed->lock, at.at, from.elements,
				to.elements);
	else if (class == MPI_SUCCESS)
		rc = change_unmapped(w, x->rank, at.offset, l, n, op_of(x->op), x->op,
				     from.elements, to.elements);
	/* The program may free the type of the result before the call is complete. */
	if (to.temporary && rc == MPI_SUCCESS)
		rc = atomics_complete(w, x->rank, true);
	close_buffer(&from, &l->basic, n, false);
	close_buffer(&to, &l->basic, n, x->fetches && class == MPI_SUCCESS && rc == MPI_SUCCESS);
	if (class != MPI_SUCCESS)
		return dropin_raise(w->win, class,
				    "an accumulate of %lld elements: the types of"
				    " origin, result and target do not fit each"
				    " other, or memory is lacking",
				    (long long)n);
	return rc;
}

int atomics_access(struct window *w, const struct access *x, MPI_Request *request)
{
	int rc = MPI_SUCCESS;

	if (!is_accepted(x->op))
		return bad_op(w);
	if (x->rank != MPI_PROC_NULL) {
		rc = perform(w, x);
		done(w, x->op != MPI_NO_OP);
	}
	if (rc == MPI_SUCCESS && request)
		rc = atomics_complete(w, x->rank, false);
	if (rc == MPI_SUCCESS && request)
		rc = PMPI_Rget(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, w->win, request);
	return rc;
}

int atomics_complete(struct window *w, int rank, bool local)
{
	if (!w || !w->atomics || !w->atomics->away || rank < -1 || rank >= w->size)
		return MPI_SUCCESS;
	return local ? far_complete_local(w, rank) : far_complete(w, rank);
}
