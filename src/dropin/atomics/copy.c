/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accumulates on one node at memory that the program brings, which other processes do not map: the
 * origin copies elements from the memory of the target's process (process_vm_readv of Linux),
 * changes them, and copies them back, under the lock of the target. All accumulates of the window
 * do so; a process copies its own memory itself, under its lock. MPI wants no more of loads and
 * stores at the same time than single bytes.
 *
 * Private memory of another process cannot be mapped: Linux has no call for it, and the pages must
 * stay those of the program. So a change of another process's memory takes two calls of the kernel.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dropin/atomics/atomics.h"

/* What is copied at a time: bytes, and pieces, which one call may have. */
enum { BYTES = 8192, PIECES = 256 };

struct batch {
	_Alignas(64) char data[BYTES];
	struct iovec here[PIECES], there[PIECES];
	int pieces;
	size_t bytes;
};

/* ------------------------------------------------------------------------ making it */

static bool read_there(const struct target *t, uint64_t from, void *to, size_t bytes)
{
	const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};

	return bytes == 0 ||
	       process_vm_readv((pid_t)t->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* A process is known by a number in its memory: its id may be that of another one elsewhere. */
struct self copy_self(struct atomics *a, const void *base)
{
	a->number = (uint64_t)(PMPI_Wtime() * 1e9) ^ (uint64_t)getpid() << 40;
#ifdef PR_SET_PTRACER
	/* With Yama a process must allow it; this is what MPIs do for their copies. */
	if (a->copies)
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
	return (struct self){a->number, (uintptr_t)&a->number, (uintptr_t)base,
			     (uintptr_t)&a->attached, getpid()};
}

bool copy_reaches(struct atomics *a, int rank, const struct self *s)
{
	struct target *t = &a->target[rank];
	const uint64_t last = s->base + (uint64_t)t->size - 1;
	uint64_t number;
	char c;

	t->pid = s->pid;
	t->address = a->is_dynamic ? 0 : s->base;
	t->attached = s->attached;
	if (!read_there(t, s->address_of_number, &number, sizeof number) || number != s->number)
		return false;
	return a->is_dynamic || t->size == 0 ||
	       (read_there(t, s->base, &c, 1) && read_there(t, last, &c, 1));
}

/* ---------------------------------------------------------------------------- batches */

static void add_piece(struct batch *b, char *here, uint64_t there, size_t bytes)
{
	struct iovec *h = &b->here[b->pieces], *t = &b->there[b->pieces];

	if (b->pieces > 0 && (char *)h[-1].iov_base + h[-1].iov_len == here &&
	    (uintptr_t)t[-1].iov_base + t[-1].iov_len == there) {
		h[-1].iov_len += bytes;
		t[-1].iov_len += bytes;
	} else {
		*h = (struct iovec){here, bytes};
		*t = (struct iovec){(void *)(uintptr_t)there, bytes};
		b->pieces++;
	}
	b->bytes += bytes;
}

/* Elements from i on, as many as fit. Returns the next one. */
static MPI_Aint fill(struct batch *b, uint64_t address, const struct layout *l, MPI_Aint i,
		     MPI_Aint n)
{
	const size_t tail = l->basic.second ? sizeof(int) : 0, size = (size_t)l->basic.size - tail;
	char *here = b->data;

	b->pieces = 0;
	b->bytes = 0;
	while (i < n && b->pieces + 2 <= PIECES && here + l->basic.extent <= b->data + BYTES) {
		const uint64_t there = address + (uint64_t)layout_place(l, i);

		add_piece(b, here, there, size);
		if (tail)
			add_piece(b, here + l->basic.second, there + (uint64_t)l->basic.second,
				  tail);
		here += l->basic.extent;
		i++;
	}
	return i;
}

/* Whether the target has attached the piece to its dynamic window; it changes the list under its
 * lock, which this process holds. */
static bool is_attached(const struct target *t, const struct iovec *piece)
{
	char *begin = piece->iov_base, *const end = begin + piece->iov_len;
	struct attached list;
	struct region one;

	if (!read_there(t, t->attached, &list, sizeof list))
		return false;
	for (int i = 0; i < list.n && begin < end; i++) {
		if (!read_there(t, (uintptr_t)&list.region[i], &one, sizeof one))
			return false;
		if (one.begin <= begin && begin < one.end) {
			begin = one.end;
			i = -1; /* the rest may be in any other one */
		}
	}
	return begin >= end;
}

static bool is_there(const struct atomics *a, const struct target *t, const struct batch *b)
{
	for (int i = 0; a->is_dynamic && i < b->pieces; i++)
		if (!is_attached(t, &b->there[i]))
			return false;
	return true;
}

/* own: the target is this process. */
static bool fetch(const struct target *t, struct batch *b, bool own)
{
	for (int i = 0; own && i < b->pieces; i++)
		memcpy(b->here[i].iov_base, b->there[i].iov_base, b->here[i].iov_len);
	return own || process_vm_readv((pid_t)t->pid, b->here, (unsigned long)b->pieces, b->there,
				       (unsigned long)b->pieces, 0) == (ssize_t)b->bytes;
}

static bool store(const struct target *t, struct batch *b, bool own)
{
	for (int i = 0; own && i < b->pieces; i++)
		memcpy(b->there[i].iov_base, b->here[i].iov_base, b->here[i].iov_len);
	return own || process_vm_writev((pid_t)t->pid, b->here, (unsigned long)b->pieces, b->there,
					(unsigned long)b->pieces, 0) == (ssize_t)b->bytes;
}

static int unreachable(const struct window *w, int rank)
{
	return dropin_raise(w->win, MPI_ERR_RMA_RANGE,
			    "an accumulate at memory that target %d does not have in the window",
			    rank);
}

/* ------------------------------------------------------------------------------- calls */

int copy_change(struct window *w, int rank, MPI_Aint offset, const struct layout *l, MPI_Aint n,
		enum op op, MPI_Op mpi_op, const char *from, char *to)
{
	const struct atomics *a = w->atomics;
	const struct target *t = &a->target[rank];
	const MPI_Aint extent = l->basic.extent;
	const bool reads = to || op != REPLACE, own = rank == a->rank;
	int rc = MPI_SUCCESS;
	bool reached = true;
	struct batch b;

	for (MPI_Aint i = 0, next; i < n && reached && rc == MPI_SUCCESS; i = next) {
		next = fill(&b, t->address + (uint64_t)offset, l, i, n);
		element_acquire(&t->exposed->lock);
		reached = is_there(a, t, &b) && (!reads || fetch(t, &b, own));
		for (MPI_Aint k = i; k < next && reached && rc == MPI_SUCCESS; k++) {
			char *value = b.data + (k - i) * extent;

			if (to)
				element_copy(&l->basic, to + k * extent, value);
			if (op != NO_OP)
				rc = element_combine(&l->basic, op, mpi_op, from + k * extent,
						     value);
		}
		if (op != NO_OP && reached && rc == MPI_SUCCESS)
			reached = store(t, &b, own);
		element_release(&t->exposed->lock);
	}
	return reached ? rc : unreachable(w, rank);
}

int copy_swap(struct window *w, int rank, MPI_Aint offset, const struct basic *basic,
	      const void *compare, const void *swap, void *before)
{
	const struct atomics *a = w->atomics;
	const struct target *t = &a->target[rank];
	const struct layout one = {.basic = *basic, .n = 1, .extent = basic->extent};
	bool reached;
	struct batch b;

	fill(&b, t->address + (uint64_t)offset, &one, 0, 1);
	element_acquire(&t->exposed->lock);
	reached = is_there(a, t, &b) && fetch(t, &b, rank == a->rank);
	if (reached) {
		element_copy(basic, before, b.data);
		if (element_same(basic, b.data, compare)) {
			element_copy(basic, b.data, swap);
			reached = store(t, &b, rank == a->rank);
		}
	}
	element_release(&t->exposed->lock);
	return reached ? MPI_SUCCESS : unreachable(w, rank);
}
