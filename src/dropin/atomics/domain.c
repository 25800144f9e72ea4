/* SPDX-License-Identifier: BSD-3-Clause */
/* Which windows have Pawl's atomics, and when a target is exposed. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/ranks.h"
#include "dropin/atomics/atomics.h"

_Atomic(int) atomics_windows;

/* ------------------------------------------------------------------- making it */

/*
 * Which windows. The processes of a node share the memory of windows of MPI_Win_allocate_shared,
 * and of MPI_Win_allocate, because no MPI says where the memory of the others is otherwise: on one
 * node the layer makes the window by MPI_Win_allocate_shared (alloc_shared_noncontig), over several
 * ones by MPI_Win_create of memory that each node has allocated so. Memory that the program brings
 * (MPI_Win_create, MPI_Win_create_dynamic) cannot be mapped by other processes. On one node they
 * copy it, if the kernel lets them; over several ones they send messages, also within a node. The
 * thread is that of the table of locks over several nodes (rma/tasks.h). It knows what its process
 * has attached to a dynamic window, and copies read that list. So there are no Pawl atomics over
 * several nodes for windows without locks, or without UCX. A window of one process keeps the MPI's
 * atomics.
 */

/*
 * A collective of processes that share cores takes milliseconds. So what is local comes first, and
 * its outcome goes with what the processes tell each other of the window; and what can be
 * done after that without the others comes before their last agreement.
 *
 * What some processes have and others lack (a communicator, a window) cannot be freed: that waits
 * for all.
 */

/* Why a window keeps the MPI's atomics. The worst of all processes counts. */
enum reason {
	NONE,
	NO_FLAVOR,
	NO_ATTRIBUTE,
	NO_SIZE,
	NO_MEMORY,
	NO_COMMUNICATOR,
	NO_THREAD,
	NO_COPIES,
	NO_PLACE,
	NO_SHARED,
	NO_ALLOCATION, /* the last one: some process has no such window */
};
static const char *const texts[] = {
    [NO_FLAVOR] = "the MPI does not tell the kind of a window",
    [NO_ATTRIBUTE] = "the MPI has no attribute of datatypes more for some process",
    [NO_SIZE] = "the MPI does not tell the size of a window",
    [NO_MEMORY] = "a process is out of memory",
    [NO_COMMUNICATOR] = "the MPI has no communicator more for some process",
    [NO_THREAD] = "its processes are on several nodes, and it has no locks of Pawl over UCX"
		  " by CPU, with connections to all processes, whose thread would perform"
		  " them",
    [NO_COPIES] = "the kernel does not let its processes copy each other's memory, which"
		  " windows of memory that the program brings need (ptrace(2))",
    [NO_PLACE] = "the MPI does not say where the memory of other processes is",
    [NO_SHARED] = "the MPI cannot give its processes a shared window more",
    [NO_ALLOCATION] = "the MPI cannot allocate it as a shared window",
};

/* What a process tells the others of a new window. */
struct told {
	int64_t why; /* enum reason */
	MPI_Aint size, unit;
	struct self self;
};

/* Of all processes. Collective. */
static enum reason worst(MPI_Comm comm, enum reason mine)
{
	int all = mine;

	return PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS
		   ? (enum reason)all
		   : NO_COMMUNICATOR;
}

/* The processes of this node. */
static bool find_node(const struct window *w, struct atomics *a)
{
	int n = 0;

	if (w->pool && !w->pool->far) {
		a->node = a->comm;
		return true;
	}
	if (!all_agree(a->comm, PMPI_Comm_split_type(a->comm, MPI_COMM_TYPE_SHARED, 0,
						     MPI_INFO_NULL, &a->node) == MPI_SUCCESS)) {
		a->node = MPI_COMM_NULL;
		return false;
	}
	PMPI_Comm_size(a->node, &n);
	a->far = n < a->size;
	if (!a->far) {
		PMPI_Comm_free(&a->node);
		a->node = a->comm;
	}
	return true;
}

static bool is_unified(MPI_Win win)
{
	const int *model = window_attribute(win, MPI_WIN_MODEL);

	return model && *model == MPI_WIN_UNIFIED;
}

/* The bytes of a process's struct exposed. */
static size_t exposed_bytes(int size)
{
	return (sizeof(struct exposed) + (size_t)size * sizeof(atomic_uint) + 63) / 64 * 64;
}

/* The struct exposed of the windows of a pool over one node: an MPI has few communicators, and each
 * shared window takes some. */
struct exposures {
	MPI_Win win;
	struct told *told; /* [size]: for one window at a time */
	char *base[];      /* [size]: of each process, [POOL_IDS] */
};

void atomics_begin(struct pool *p)
{
	const size_t bytes = exposed_bytes(p->size) * POOL_IDS + 64;
	struct exposures *e = calloc(1, sizeof *e + (size_t)p->size * sizeof e->base[0]);
	char *mine;
	bool ok = true;

	if (e)
		e->told = calloc((size_t)p->size, sizeof *e->told);
	PMPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
	if (!all_agree(p->comm, e && e->told) ||
	    !all_agree(p->comm,
		       next_mpi.Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, p->comm,
						    &mine, &e->win) == MPI_SUCCESS)) {
		if (e)
			free(e->told);
		free(e); /* a window that some processes have cannot be freed */
		return;
	}
	for (int r = 0; r < p->size; r++) {
		MPI_Aint size;
		int unit;

		ok = PMPI_Win_shared_query(e->win, r, &size, &unit, &e->base[r]) == MPI_SUCCESS &&
		     ok;
		/* All processes map pages, so all round up to the same place. */
		e->base[r] += -(uintptr_t)e->base[r] % 64;
	}
	p->exposures = e;
	if (!all_agree(p->comm, ok))
		atomics_end(p);
}

void atomics_end(struct pool *p)
{
	if (!p->exposures)
		return;
	next_mpi.Win_free(&p->exposures->win);
	free(p->exposures->told);
	free(p->exposures);
	p->exposures = NULL;
}

/* Those of a window of the pool. No process is in it before the last agreement. */
static void share_pool(struct atomics *a, const struct pool *p, int id)
{
	const size_t bytes = exposed_bytes(a->size);

	for (int r = 0; r < a->size; r++)
		a->target[r].exposed =
		    (struct exposed *)(void *)(p->exposures->base[r] + (size_t)id * bytes);
	memset(a->target[a->rank].exposed, 0, bytes);
}

/* The memory of struct exposed, for each process; and where it is. */
static bool share(struct atomics *a)
{
	const size_t bytes = exposed_bytes(a->size) + 64;
	char *mine = NULL;
	bool ok = true;

	if (!all_agree(a->comm,
		       next_mpi.Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, a->node,
						    &mine, &a->own) == MPI_SUCCESS)) {
		a->own = MPI_WIN_NULL;
		return false;
	}
	memset(mine, 0, bytes);
	for (int r = 0; r < a->size; r++) {
		MPI_Aint size;
		char *base = NULL;
		int unit;

		if (a->in_node[r] == MPI_UNDEFINED)
			continue;
		ok = PMPI_Win_shared_query(a->own, a->in_node[r], &size, &unit, &base) ==
			 MPI_SUCCESS &&
		     ok;
		/* All processes map pages, so all round up to the same place. */
		base += -(uintptr_t)base % 64;
		a->target[r].exposed = (struct exposed *)(void *)base;
	}
	return all_agree(a->comm, ok);
}

/* What the layer is to give, and to whom. */
struct wish {
	struct window *w;
	MPI_Comm comm;
	MPI_Info info, noncontig;
	bool allocates; /* the window is made here, of flavor MPI_WIN_FLAVOR_ALLOCATE */
	int flavor;
	MPI_Win win;  /* MPI_WIN_NULL: not yet made */
	void *memory; /* what has been allocated for it */
	MPI_Aint size, unit;
};

/* Whether processes of a node can map each other's memory of such a window. Of memory that the MPI
 * has allocated, this is not known. */
static bool is_mapped(const struct wish *x)
{
	return x->allocates || x->flavor == MPI_WIN_FLAVOR_SHARED;
}

/* Over several nodes: memory that the processes of each can map, and a window of it. */
static bool allocate_far(struct wish *x, struct atomics *a)
{
	if (!all_agree(a->comm,
		       next_mpi.Win_allocate_shared(x->size, (int)x->unit, x->noncontig, a->node,
						    &x->memory, &a->memory) == MPI_SUCCESS)) {
		a->memory = MPI_WIN_NULL;
		return false;
	}
	return next_Win_create(x->memory, x->size, (int)x->unit, x->info, a->comm, &x->win) ==
	       MPI_SUCCESS;
}

static bool allocate_near(struct wish *x, struct atomics *a)
{
	return next_Win_allocate_shared(x->size, (int)x->unit, x->noncontig, a->comm, &x->memory,
					&x->win) == MPI_SUCCESS;
}

/* Where the memory of the processes is. */
static bool find_targets(const struct wish *x, struct atomics *a)
{
	const MPI_Win win = a->memory == MPI_WIN_NULL ? x->win : a->memory;
	const bool mapped = is_mapped(x);
	bool ok = is_unified(x->win);

	for (int r = 0; r < a->size && mapped && ok; r++) {
		MPI_Aint bytes;
		int unit;

		if (a->in_node[r] != MPI_UNDEFINED)
			ok = PMPI_Win_shared_query(win, a->in_node[r], &bytes, &unit,
						   &a->target[r].base) == MPI_SUCCESS;
	}
	if (!mapped && !a->is_dynamic && !a->copies)
		a->target[a->rank].base = window_attribute(x->win, MPI_WIN_BASE);
	return ok;
}

/* What the MPI has made. */
static enum reason read_window(struct wish *x)
{
	const MPI_Aint *bytes = window_attribute(x->win, MPI_WIN_SIZE);
	const int *unit = window_attribute(x->win, MPI_WIN_DISP_UNIT),
		  *flavor = window_attribute(x->win, MPI_WIN_CREATE_FLAVOR);

	if (!flavor)
		return NO_FLAVOR;
	if (!bytes || !unit)
		return NO_SIZE;
	x->flavor = *flavor;
	x->size = x->flavor == MPI_WIN_FLAVOR_DYNAMIC ? PTRDIFF_MAX : *bytes;
	x->unit = x->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : *unit;
	return NONE;
}

/* What needs no other process. */
static enum reason prepare(struct wish *x, struct atomics *a)
{
	const enum reason why = x->allocates ? NONE : read_window(x);

	if (why != NONE)
		return why;
	if (!types_begin())
		return NO_ATTRIBUTE;
	if (!a)
		return NO_MEMORY;
	a->is_dynamic = x->flavor == MPI_WIN_FLAVOR_DYNAMIC;
	a->is_allocated = x->allocates;
	if (!a->is_allocated)
		return NONE;
	/* The MPI refuses these at once, where others would wait for this process. */
	if (x->size < 0 || x->unit < 1 || x->unit != (int)x->unit)
		return NO_ALLOCATION;
	if ((x->info == MPI_INFO_NULL ? PMPI_Info_create(&x->noncontig)
				      : PMPI_Info_dup(x->info, &x->noncontig)) != MPI_SUCCESS)
		return NO_MEMORY;
	PMPI_Info_set(x->noncontig, "alloc_shared_noncontig", "true");
	return NONE;
}

/* A communicator of its own. A communicator with windows is not freed before them: MPICH 4.0 would
 * take later windows for these. */
static enum reason take_comm(const struct wish *x, struct atomics *a, enum reason mine)
{
	mine = worst(x->comm, mine);
	if (mine != NONE)
		return mine;
	if (!all_agree(x->comm, PMPI_Comm_dup(x->comm, &a->comm) == MPI_SUCCESS)) {
		a->comm = MPI_COMM_NULL;
		return NO_COMMUNICATOR;
	}
	PMPI_Comm_set_errhandler(a->comm, MPI_ERRORS_RETURN);
	if (!find_node(x->w, a))
		return NO_COMMUNICATOR;
	if (a->far && !(x->w->pool && x->w->pool->serves))
		return NO_THREAD;
	a->away = a->far ? far_new(x->w) : NULL;
	return NONE;
}

/* What the processes tell each other. mine: what this one lacks; then a may be NULL. */
static enum reason tell(const struct wish *x, struct atomics *a, MPI_Comm comm, struct told *all,
			enum reason mine)
{
	struct told told = {.why = mine, .size = x->size, .unit = x->unit};
	int n;

	if (mine == NONE) {
		a->copies = !a->far && !is_mapped(x);
		a->in_node = ranks_in(a->comm, a->node, &n);
		if (!a->in_node || (a->far && !a->away))
			told.why = NO_MEMORY;
		told.self =
		    copy_self(a, x->allocates ? NULL : window_attribute(x->win, MPI_WIN_BASE));
	}
	if (PMPI_Allgather(&told, sizeof told, MPI_BYTE, all, sizeof told, MPI_BYTE, comm) !=
	    MPI_SUCCESS)
		return NO_COMMUNICATOR;
	for (int r = 0; r < x->w->size; r++)
		if (all[r].why > (int64_t)mine)
			mine = (enum reason)all[r].why;
	for (int r = 0; r < x->w->size && mine == NONE; r++) {
		a->target[r].size = all[r].size;
		a->target[r].unit = all[r].unit;
	}
	return mine;
}

static bool may_copy(struct atomics *a, const struct told *all)
{
	bool ok = true;

	for (int r = 0; r < a->size && ok; r++)
		ok = copy_reaches(a, r, &all[r].self);
	return ok;
}

/* All processes have told that they can. */
static enum reason provide(struct wish *x, struct atomics *a, const struct told *all)
{
	enum reason why = NONE;

	if (a->is_pooled)
		share_pool(a, x->w->pool, x->w->id);
	else if (!share(a))
		return NO_SHARED;
	if (x->allocates && !(a->far ? allocate_far(x, a) : allocate_near(x, a)))
		why = NO_ALLOCATION;
	else if (a->copies && !may_copy(a, all))
		why = NO_COPIES;
	else if (!find_targets(x, a))
		why = NO_PLACE;
	why = worst(a->comm, why);
	if (why != NONE && x->allocates && why < NO_ALLOCATION)
		next_Win_free(&x->win);
	return why;
}

static void atomics_free(struct atomics *a)
{
	if (!a)
		return;
	if (a->own != MPI_WIN_NULL)
		next_mpi.Win_free(&a->own);
	if (a->memory != MPI_WIN_NULL)
		next_mpi.Win_free(&a->memory);
	if (a->group != MPI_GROUP_NULL)
		PMPI_Group_free(&a->group);
	if (a->node != MPI_COMM_NULL && a->node != a->comm)
		PMPI_Comm_free(&a->node);
	if (a->comm != MPI_COMM_NULL && !a->is_pooled)
		PMPI_Comm_free(&a->comm);
	far_free(a->away);
	pthread_mutex_destroy(&a->attached.mutex);
	free(a->attached.region);
	free(a->served);
	free(a->starts);
	free(a->groups);
	free(a->in_node);
	free(a->told);
	free(a);
}

/* With the communicator and the memory of the pool, or without. NULL: out of memory. */
static struct atomics *atomics_new(const struct window *w, MPI_Comm comm, bool is_pooled)
{
	const size_t size = (size_t)w->size;
	struct atomics *a = calloc(1, sizeof *a + size * sizeof a->target[0]);

	if (!a)
		return NULL;
	a->starts = calloc(size, sizeof *a->starts);
	a->groups = calloc(4 * size, sizeof *a->groups);
	a->served = calloc(size, sizeof *a->served);
	a->told = is_pooled ? NULL : calloc(size, sizeof *a->told);
	pthread_mutex_init(&a->attached.mutex, NULL);
	a->size = w->size;
	a->own = a->memory = MPI_WIN_NULL;
	a->is_pooled = is_pooled;
	a->comm = a->node = is_pooled ? w->pool->comm : MPI_COMM_NULL;
	a->group = MPI_GROUP_NULL;
	PMPI_Comm_rank(comm, &a->rank);
	if (a->starts && a->groups && a->served && (a->told || is_pooled) &&
	    PMPI_Comm_group(comm, &a->group) == MPI_SUCCESS)
		return a;
	atomics_free(a);
	return NULL;
}

/* With more processes, connections are made when they are needed. */
enum { CONNECTED = 64 };

/* Other processes send messages from now on. */
static void begin_to_serve(struct window *w)
{
	if (!w->atomics->far)
		return;
	/* Orders the window before the tasks on it; pairs with atomics_serve(). */
	atomic_store_explicit(&w->pool->served[w->id], w->atomics, memory_order_release);
	PMPI_Barrier(w->atomics->comm);
	if (w->size <= CONNECTED && !w->pool->connects) {
		w->pool->connects = true;
		far_connect(w);
	}
}

/* x->w: NULL if this process is out of memory for it; then others have none in a pool. Returns why
 * the window keeps the MPI's atomics, or NULL. */
static const char *grant(struct wish *x)
{
	struct window *w = x->w;
	const bool is_pooled = w && w->pool && w->pool->exposures && !w->pool->races;
	struct atomics *a = w ? atomics_new(w, x->comm, is_pooled) : NULL;
	enum reason why = prepare(x, a);
	struct told *all;

	if (!is_pooled)
		why = take_comm(x, a, why);
	all = is_pooled ? w->pool->exposures->told : a ? a->told : NULL;
	if (why == NONE || is_pooled)
		why = tell(x, a, is_pooled ? w->pool->comm : a->comm, all, why);
	if (why == NONE)
		why = provide(x, a, all);
	if (x->noncontig != MPI_INFO_NULL)
		PMPI_Info_free(&x->noncontig);
	if (why != NONE) {
		atomics_free(a);
		return texts[why];
	}
	a->crowded = w->pool && w->pool->crowded;
	w->win = x->win;
	w->atomics = a;
	atomic_fetch_add(&atomics_windows, 1);
	begin_to_serve(w);
	return NULL;
}

const char *atomics_open(struct window *w, MPI_Comm comm, MPI_Win win)
{
	return grant(&(struct wish){
	    .w = w, .comm = comm, .info = MPI_INFO_NULL, .noncontig = MPI_INFO_NULL, .win = win});
}

const char *atomics_allocate(struct window *w, MPI_Comm comm, MPI_Info info, MPI_Aint size,
			     MPI_Aint unit, void *base, MPI_Win *win)
{
	const char *why;
	struct wish x = {.w = w,
			 .comm = comm,
			 .info = info,
			 .noncontig = MPI_INFO_NULL,
			 .win = MPI_WIN_NULL,
			 .allocates = true,
			 .flavor = MPI_WIN_FLAVOR_ALLOCATE,
			 .size = size,
			 .unit = unit};

	why = grant(&x);
	if (!why) {
		*win = x.win;
		memcpy(base, &x.memory, sizeof x.memory);
	}
	return why;
}

void atomics_close(struct window *w)
{
	if (!w->atomics)
		return;
	atomic_fetch_sub(&atomics_windows, 1);
	/* All processes have called MPI_Win_free, and their calls have been answered before. */
	if (w->atomics->far)
		atomic_store_explicit(&w->pool->served[w->id], NULL, memory_order_relaxed);
	atomics_free(w->atomics);
	w->atomics = NULL;
}

void atomics_ended(struct window *w)
{
	w->atomics->is_started = false;
}

bool atomics_hide_flavor(const struct window *w)
{
	return w->atomics->is_allocated;
}

/* ------------------------------------------------------------- dynamic windows */

/* MPI lets regions not overlap. */
bool atomics_are_attached(struct atomics *a, const char *begin, const char *end)
{
	struct attached *t = &a->attached;

	pthread_mutex_lock(&t->mutex);
	for (int i = 0; i < t->n && begin < end; i++)
		if (t->region[i].begin <= begin && begin < t->region[i].end) {
			begin = t->region[i].end;
			i = -1; /* the rest may be in any other one */
		}
	pthread_mutex_unlock(&t->mutex);
	return begin >= end;
}

/* What others copy, they read under the lock of their target. */
static void begin_list(struct atomics *a)
{
	pthread_mutex_lock(&a->attached.mutex);
	if (a->copies)
		element_acquire(&a->target[a->rank].exposed->lock);
}

static void end_list(struct atomics *a)
{
	if (a->copies)
		element_release(&a->target[a->rank].exposed->lock);
	pthread_mutex_unlock(&a->attached.mutex);
}

int atomics_attached(struct window *w, void *base, MPI_Aint size)
{
	struct attached *t = &w->atomics->attached;
	struct region *more;

	begin_list(w->atomics);
	more = realloc(t->region, ((size_t)t->n + 1) * sizeof *more);
	if (more) {
		t->region = more;
		more[t->n++] = (struct region){base, (char *)base + size};
	}
	end_list(w->atomics);
	if (more)
		return MPI_SUCCESS;
	PMPI_Win_detach(w->win, base);
	return dropin_raise(w->win, MPI_ERR_NO_MEM, "no memory to attach memory to a window");
}

void atomics_detached(struct window *w, const void *base)
{
	struct attached *t = &w->atomics->attached;
	int i = 0;

	begin_list(w->atomics);
	while (i < t->n && t->region[i].begin != base)
		i++;
	if (i < t->n)
		t->region[i] = t->region[--t->n];
	end_list(w->atomics);
}

/* -------------------------------------------------------------------- exposure */

/*
 * Exposure. An operation must not come before its epoch is open at the target, and an MPI may
 * return from a call that opens one before that, because it can delay the operations. Not here:
 *   X1  MPI_Win_lock, MPI_Win_lock_all: the locks are Pawl's (or none, info key no_locks). They are
 *       held when the call returns. A window with the locks of the MPI gets no atomics.
 *   X2  MPI_Win_start returns when each target has called MPI_Win_post as often for this origin.
 *       The counts are in the memory of the origin's node; a target on another one has the thread
 *       of the origin increase its own.
 *   X3  MPI_Win_fence, also with MPI_MODE_NOPRECEDE, returns when each process has called it as
 *       often: by counts on one node; over several ones by the MPI's if it ends an epoch, and else
 *       by a barrier.
 * The counts of X2 and X3 are increased with release before the MPI's fence and after its post, and
 * read with acquire, so that the target's loads and stores before its call come before the
 * operations.
 */

/* Wait until a count of another process is at least n. Orders what that process did before it
 * counted before the operations that follow; pairs with count(). */
static void await(struct atomics *a, atomic_uint *count, unsigned n)
{
	int flag;

	while ((int)(atomic_load_explicit(count, memory_order_acquire) - n) < 0) {
		PMPI_Iprobe(MPI_ANY_SOURCE, 0, a->comm, &flag, MPI_STATUS_IGNORE);
		sched_yield();
	}
}

/* Orders this process's loads and stores before the count; pairs with await(). */
static void count(atomic_uint *count, unsigned change)
{
	atomic_fetch_add_explicit(count, change, memory_order_release);
}

static int mpi_fence(const struct window *w, int assertion)
{
	return is_behind() ? next_mpi.Win_fence(assertion, w->win)
			   : next_Win_fence(assertion, w->win);
}

/* Over several nodes; orders this process's loads and stores, and those of others before their
 * calls, before the operations that follow. A fence of the MPI that ends an epoch is a barrier:
 * until a process has called it, the MPI does not know whether that process will access this one.
 */
static int fence_far(struct window *w, int assertion)
{
	struct atomics *a = w->atomics;
	const int ours = atomics_complete(w, -1, false), rc = mpi_fence(w, assertion);
	const bool ends = a->is_fenced && !(assertion & MPI_MODE_NOPRECEDE);

	if (rc != MPI_SUCCESS)
		return rc;
	a->is_fenced = !(assertion & MPI_MODE_NOSUCCEED);
	atomic_thread_fence(memory_order_seq_cst);
	if (!ends)
		PMPI_Barrier(a->comm);
	atomic_thread_fence(memory_order_seq_cst);
	return ours;
}

int atomics_fence(struct window *w, int assertion)
{
	struct atomics *a = w->atomics;
	int rc;

	if (a->far)
		return fence_far(w, assertion);
	count(&a->target[a->rank].exposed->fences, 1);
	rc = mpi_fence(w, assertion);
	if (rc != MPI_SUCCESS) {
		count(&a->target[a->rank].exposed->fences, UINT32_MAX); /* not done */
		return rc;
	}
	a->is_fenced = !(assertion & MPI_MODE_NOSUCCEED);
	a->fences++;
	for (int r = 0; r < a->size; r++)
		await(a, &a->target[r].exposed->fences, a->fences);
	return rc;
}

/* The ranks of the window that a group has; NULL: the MPI does not tell. */
static const int *ranks_of(const struct atomics *a, MPI_Group group, bool posts, int *n)
{
	int *ranks = a->groups + (posts ? 2 * a->size : 0), *all = ranks + a->size;

	PMPI_Group_size(group, n);
	for (int i = 0; i < *n; i++)
		all[i] = i;
	return PMPI_Group_translate_ranks(group, *n, all, a->group, ranks) == MPI_SUCCESS ? ranks
											  : NULL;
}

static int post(struct window *w, int origin)
{
	struct atomics *a = w->atomics;

	if (!a->target[origin].exposed)
		return far_post(w, origin);
	count(&a->target[origin].exposed->posts[a->rank], 1);
	return MPI_SUCCESS;
}

/* The MPI has done MPI_Win_post (posts) or MPI_Win_start. */
int atomics_matched(struct window *w, MPI_Group group, bool posts)
{
	struct atomics *a = w->atomics;
	int n, rc = MPI_SUCCESS;
	const int *ranks = ranks_of(a, group, posts, &n);

	if (!ranks)
		return dropin_raise(w->win, MPI_ERR_GROUP, "the MPI does not tell its ranks");
	a->is_started = a->is_started || !posts;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		if (posts)
			rc = post(w, ranks[i]);
		else
			await(a, &a->target[a->rank].exposed->posts[ranks[i]],
			      ++a->starts[ranks[i]]);
	return rc;
}
