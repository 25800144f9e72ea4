/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pawl's atomics under MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op, MPI_Compare_and_swap
 * and the calls with a request: PAWL_ATOMICS=1, or info key pawl_atomics=1 of a window. They are
 * performed in the memory of the target by the origin, before the call returns: by atomic
 * instructions if it maps that memory, else on one node by copies under a lock; over several nodes
 * by instructions of a thread of the target, to which it sends messages, before they are completed.
 *
 *   domain.c   which windows have them; when a target is exposed
 *   access.c   the calls
 *   copy.c     targets of one node whose memory the origin does not map
 *   far.c      the same over several nodes; serve.c  their side
 *   element.c  one element
 *   types.c    datatypes: their elements, and where these are
 *
 * One domain. An accumulate of the MPI may be a plain read-modify-write by the target or under a
 * lock of the MPI, and is not atomic with instructions of the origin. So all accumulates of a
 * window go one way, which all processes decide when it is made, and no call is passed on later:
 * the layer has all datatypes of the standard, also derived ones (types.c), and all operations
 * (MPI_Reduce_local computes those that element.c does not). MPI leaves undefined what
 * accumulates through two overlapping windows do at the same time.
 *
 * Atomicity. An element of 1, 2, 4 or 8 bytes at a multiple of its size is changed by one
 * instruction, or by a compare-and-swap from the value that the operation was computed from. Any
 * other one (pairs, long double, complex numbers, unaligned elements) is changed under the lock of
 * its target. Type and address decide, so two accumulates of the same predefined type meet in the
 * same way; MPI leaves undefined what those of different types do. In a window of copies all
 * elements are changed under that lock, and the next holder copies what this one has stored,
 * because a copy is done when its call of the kernel returns. Nothing else but an MPI_Put, which
 * MPI leaves undefined, writes there at the same time.
 *
 * Order and completion. The instructions are sequentially consistent. Those of the origin are done
 * when the call returns. What goes by message is numbered, and the thread performs the messages of
 * an origin in their order (far.c). So accumulates of one process at one target are in program
 * order, whatever accumulate_ordering says. The thread answers when it has performed a message, and
 * a flush, an unlock, a fence and MPI_Win_complete wait for the answers before they call the MPI's;
 * a local flush waits only if there are results. All of these calls, also by their PMPI_* names,
 * are this layer's. A call with a request waits at once, and its request is that of an MPI_Rget
 * from MPI_PROC_NULL. With operations of the MPI (MPI_Put, MPI_Get) they are ordered by the flush
 * between them, whose other part remains the MPI's: it returns when the operation has changed the
 * memory, or has read it. Loads and stores of the target are ordered by whatever MPI asks for
 * (MPI_Win_sync and a message, an epoch).
 *
 * Progress. The target has no part in the operations. But a process that polls a word by them must
 * drive the MPI, since others may wait for an operation of the MPI on its memory: flushes and
 * unlocks do, a wait for a request that is complete does not always. So each DRIVE_EVERY-th call
 * drives it. Where ranks outnumber cores, a process yields after IDLE_CALLS calls that have changed
 * nothing, as those of a poll do.
 *
 * Where no epoch is known, an empty MPI_Get lets the MPI say whether there is one. (In one of a
 * dynamic window osc/ucx of Open MPI 4.1 may crash at such a call.)
 *
 * Model: models/atomics.pml.
 */
#ifndef DROPIN_ATOMICS_H
#define DROPIN_ATOMICS_H

#include "dropin/dropin.h"
#include "dropin/request.h"

enum { DRIVE_EVERY = 16, IDLE_CALLS = 8 };
/* Within a node Open MPI's own accumulates and flushes do not drive it, either (osc/sm). */
#ifdef OPEN_MPI
enum { DRIVES = false };
#else
enum { DRIVES = true };
#endif

/* --------------------------------------------------------------- types.c */

enum class { SIGNED, UNSIGNED, FLOATING, OPAQUE };

/* A predefined type. A pair has its second part, an int, at address second; else second is 0. */
struct basic {
	MPI_Datatype type;
	enum class class;
	int size; /* bytes of its data */
	int second;
	MPI_Aint extent;
};

/* A datatype as elements of one predefined type. */
struct layout {
	struct basic basic;
	MPI_Aint n;         /* elements */
	MPI_Aint *offset;   /* [n]; NULL: one element, at 0 */
	MPI_Aint extent;    /* from one datatype to the next */
	MPI_Aint low, high; /* its elements are from low on, and before high */
};

/* Where element i of a derived type is, or of several ones. */
static inline MPI_Aint layout_place(const struct layout *l, MPI_Aint i)
{
	return i / l->n * l->extent + (l->offset ? l->offset[i % l->n] : 0);
}

/* The most bytes that an element takes. */
enum { MOST_BYTES = 64 };

/* To be called before the first layout_of(). False: the MPI has no attribute more. */
bool types_begin(void);
/* NULL: the type has no layout, and the error class is in *class. */
const struct layout *layout_of(MPI_Datatype type, MPI_Comm comm, int *class);

/* ------------------------------------------------------------- element.c */

enum op { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR, REPLACE, NO_OP, OTHER };

/* before = *at; *at = *at op operand. Returns a code of MPI. */
int element_change(const struct basic *b, enum op op, MPI_Op mpi_op, atomic_uint *lock, char *at,
		   const void *operand, void *before);
/* value = value op operand, in private memory. Returns a code of MPI. */
int element_combine(const struct basic *b, enum op op, MPI_Op mpi_op, const void *operand,
		    void *value);
/* The lock of a target. */
void element_acquire(atomic_uint *lock);
void element_release(atomic_uint *lock);
/* Whether the MPI is needed to compute the operation. */
bool element_needs_mpi(const struct basic *b, enum op op);
/* The data of an element, without what is in the gap of a pair. */
void element_copy(const struct basic *b, void *to, const void *from);
/* Whether two elements have the same data. */
bool element_same(const struct basic *b, const void *x, const void *y);
/* before = *at; if that is *compare, *at = *swap. */
void element_swap(const struct basic *b, atomic_uint *lock, char *at, const void *compare,
		  const void *swap, void *before);

/* -------------------------------------------------------------- domain.c */

/* What the processes of a node share, for each of them. */
struct exposed {
	_Alignas(64) atomic_uint lock;    /* for elements that no instruction changes */
	_Alignas(64) atomic_uint fences;  /* calls of MPI_Win_fence */
	_Alignas(64) atomic_uint posts[]; /* [size] by each target, of MPI_Win_post for it */
};

/* What a process has attached to a dynamic window. */
struct region {
	char *begin, *end;
};
struct attached {
	pthread_mutex_t mutex; /* the thread reads it */
	struct region *region;
	int n;
};

struct target {
	char *base;              /* NULL: not mapped here */
	MPI_Aint size, unit;     /* of its window, as asked for */
	struct exposed *exposed; /* NULL: on another node */
	/* If the window is one of copies: its process, and where in that its memory and its struct
	 * attached are. */
	int64_t pid;
	uint64_t address, attached;
};

struct atomics {
	MPI_Comm comm, node; /* a duplicate, or the pool's; its errors return; node: comm, if that
				is one node */
	bool is_pooled;      /* comm, and the memory of struct exposed, are the pool's */
	MPI_Group group;
	MPI_Win own, memory; /* the memory of struct exposed, and of the window */
	int rank, size;
	bool far;         /* over several nodes */
	bool copies;      /* by copy.c */
	struct far *away; /* accumulates on their way to other nodes; NULL unless far */
	uint64_t *served; /* [size] messages of each process that the thread has performed */
	bool crowded;
	bool is_allocated; /* made by MPI_Win_allocate */
	bool is_fenced;    /* the last fence has begun an epoch */
	bool is_started;   /* an epoch of MPI_Win_start is open */
	bool is_dynamic;   /* offsets are addresses */
	struct attached attached;
	_Atomic(unsigned) calls, idle;
	unsigned fences, *starts; /* starts: [size] */
	int *groups;              /* [4 * size], for those of MPI_Win_start and MPI_Win_post */
	int *in_node;             /* [size] ranks in node, or MPI_UNDEFINED */
	struct told *told;        /* [size], unless it is the pool's */
	uint64_t number;          /* by which other processes know this one (copy.c) */
	struct target target[];
};

/* The window, made as win, has got its locks, unless it has none: give it atomics, if all processes
 * can; else returns why not. w may be NULL, for want of memory. Collective. */
const char *atomics_open(struct window *w, MPI_Comm comm, MPI_Win win);
/* The same for a window that MPI_Win_allocate is to make: if the result is NULL, it has been made,
 * and *base (of whatever type) has got its memory. */
const char *atomics_allocate(struct window *w, MPI_Comm comm, MPI_Info info, MPI_Aint size,
			     MPI_Aint unit, void *base, MPI_Win *win);
/* The MPI has freed the window. Collective. */
void atomics_close(struct window *w);
/* Whether all of these bytes of a dynamic window are attached. */
bool atomics_are_attached(struct atomics *a, const char *begin, const char *end);

/* ---------------------------------------------------------------- copy.c */

/* How others find a process, and its memory of the window. */
struct self {
	uint64_t number, address_of_number, base, attached;
	int64_t pid;
};
/* This one, whose memory begins at base. */
struct self copy_self(struct atomics *a, const void *base);
/* Whether this process may copy the memory of the rank, which has the window and told this. */
bool copy_reaches(struct atomics *a, int rank, const struct self *s);
/* As far_change() and far_swap(), and complete at the return. */
int copy_change(struct window *w, int rank, MPI_Aint offset, const struct layout *l, MPI_Aint n,
		enum op op, MPI_Op mpi_op, const char *from, char *to);
int copy_swap(struct window *w, int rank, MPI_Aint offset, const struct basic *b,
	      const void *compare, const void *swap, void *before);

/* ----------------------------------------------------------------- far.c */

/* For the accumulates of a window that are on their way. NULL: out of memory. */
struct far *far_new(const struct window *w);
void far_free(struct far *f);
/* n elements, as those of l from offset in the memory of the rank on: as element_change(). from and
 * to: one after the other; from is not read for NO_OP, to may be NULL, and is written when the call
 * is complete. Returns a code of MPI; the error has been raised. */
int far_change(struct window *w, int rank, MPI_Aint offset, const struct layout *l, MPI_Aint n,
	       enum op op, MPI_Op mpi_op, const char *from, char *to);
/* The same for one element: as element_swap(); compare and swap are copied. */
int far_swap(struct window *w, int rank, MPI_Aint offset, const struct basic *b,
	     const void *compare, const void *swap, void *before);
/* An empty message for each process of another node: to connect to it takes milliseconds. */
int far_connect(struct window *w);
/* This process has called MPI_Win_post for the rank. */
int far_post(struct window *w, int rank);
/* Complete all calls with this target, or with all (rank -1); or send them, and complete those that
 * have results. Return a code of MPI; the error has been raised. */
int far_complete(struct window *w, int rank);
int far_complete_local(struct window *w, int rank);

#endif
