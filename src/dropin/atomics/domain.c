/* SPDX-License-Identifier: BSD-3-Clause */
/* Which windows have Pawl's atomics, and when a target is exposed (atomics.h). */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/ranks.h"
#include "dropin/atomics/atomics.h"

_Atomic(int) atomics_windows;

/* ------------------------------------------------------------------- making it */

/* What some processes have and others lack (a communicator, a window) cannot be freed: that waits
 * for all. */

static const char no_communicator[] = "the MPI has no communicator more for some process";

/* Why they are not, or it is not known; else NULL. */
static const char *not_on_one_node(const struct atomics *a)
{
	MPI_Comm node;
	int n = 0;

	if (!all_agree(a->comm, PMPI_Comm_split_type(a->comm, MPI_COMM_TYPE_SHARED, 0,
						     MPI_INFO_NULL, &node) == MPI_SUCCESS))
		return no_communicator;
	PMPI_Comm_size(node, &n);
	PMPI_Comm_free(&node);
	return n == a->size ? NULL : "its processes are on several nodes";
}

static bool is_unified(MPI_Win win)
{
	const int *model = window_attribute(win, MPI_WIN_MODEL);

	return model && *model == MPI_WIN_UNIFIED;
}

/* The memory of struct exposed, for each process; and where it is. window_bytes: of this
 * process. */
static bool share(struct atomics *a, MPI_Aint window_bytes)
{
	const size_t bytes = sizeof(struct exposed) + (size_t)a->size * sizeof(atomic_uint) + 64;
	char *mine = NULL;
	bool ok = true;

	if (!all_agree(a->comm,
		       next_mpi.Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, a->comm,
						    &mine, &a->own) == MPI_SUCCESS)) {
		a->own = MPI_WIN_NULL;
		return false;
	}
	memset(mine, 0, bytes);
	for (int r = 0; r < a->size; r++) {
		MPI_Aint size;
		char *base = NULL;
		int unit;

		ok = PMPI_Win_shared_query(a->own, r, &size, &unit, &base) == MPI_SUCCESS && ok;
		/* All processes map pages, so all round up to the same place. */
		base += -(uintptr_t)base % 64;
		a->target[r].exposed = (struct exposed *)(void *)base;
	}
	if (ok)
		a->target[a->rank].exposed->size = window_bytes;
	return all_agree(a->comm, ok);
}

/* The window, made by MPI_Win_allocate, once more in memory that all can map. */
static bool allocate(struct window *w, struct atomics *a, MPI_Info info, void *base,
		     MPI_Win *handle)
{
	const MPI_Aint size = a->target[a->rank].exposed->size;
	const int *unit = window_attribute(*handle, MPI_WIN_DISP_UNIT);
	MPI_Win fresh = MPI_WIN_NULL;
	MPI_Info more = MPI_INFO_NULL;
	void *memory;
	bool stale, ok;

	ok = unit && (info == MPI_INFO_NULL ? PMPI_Info_create(&more)
					    : PMPI_Info_dup(info, &more)) == MPI_SUCCESS;
	if (all_agree(a->comm, ok)) {
		PMPI_Info_set(more, "alloc_shared_noncontig", "true");
		ok = all_agree(a->comm, next_Win_allocate_shared(size, *unit, more, a->comm,
								 &memory, &fresh) == MPI_SUCCESS);
	} else {
		ok = false;
	}
	if (more != MPI_INFO_NULL)
		PMPI_Info_free(&more);
	if (!ok)
		return false;
	windows_remove(w);
	next_Win_free(handle);
	*handle = w->win = fresh;
	memcpy(base, &memory, sizeof memory);
	a->is_allocated = true;
	if (windows_add(w, &stale))
		return true;
	fprintf(stderr, "pawl: out of memory for the list of windows\n");
	PMPI_Abort(a->comm, EXIT_FAILURE);
	return false;
}

/* Where the memory of the processes is. The MPI may say that it is larger than asked for. */
static bool find_targets(const struct window *w, struct atomics *a)
{
	bool ok = true;

	for (int r = 0; r < a->size; r++) {
		struct target *t = &a->target[r];
		MPI_Aint bytes;
		int unit;

		ok = PMPI_Win_shared_query(w->win, r, &bytes, &unit, &t->base) == MPI_SUCCESS && ok;
		t->unit = unit;
		t->size = t->exposed->size;
	}
	return ok;
}

/* NULL: it has been done. */
static const char *provide(struct window *w, struct atomics *a, MPI_Info info, void *base,
			   MPI_Win *handle)
{
	const int *known = window_attribute(*handle, MPI_WIN_CREATE_FLAVOR);
	const int flavor = known ? *known : MPI_WIN_FLAVOR_CREATE;
	const MPI_Aint *bytes = window_attribute(*handle, MPI_WIN_SIZE);
	const bool mapped =
	    flavor == MPI_WIN_FLAVOR_SHARED || (flavor == MPI_WIN_FLAVOR_ALLOCATE && base);
	const char *why;

	if (!all_agree(a->comm, known && (bytes || !mapped)))
		return "the MPI does not tell the size of a window";
	if (!mapped)
		return "other processes cannot map memory that the program brings; windows of"
		       " MPI_Win_allocate and MPI_Win_allocate_shared can have Pawl's";
	why = not_on_one_node(a);
	if (why)
		return why;
	if (!share(a, *bytes))
		return "the MPI cannot give its processes a shared window more";
	if (flavor == MPI_WIN_FLAVOR_ALLOCATE && !allocate(w, a, info, base, handle))
		return "the MPI cannot allocate it as a shared window";
	if (!all_agree(a->comm, is_unified(*handle) && find_targets(w, a)))
		return "the MPI does not say where the memory of other processes is";
	return NULL;
}

static void atomics_free(struct atomics *a)
{
	if (!a)
		return;
	if (a->own != MPI_WIN_NULL)
		next_mpi.Win_free(&a->own);
	group_free(&a->group);
	if (a->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&a->comm);
	free(a->starts);
	free(a->groups);
	free(a);
}

static struct atomics *atomics_new(const struct window *w, MPI_Comm comm)
{
	int size;
	struct atomics *a;

	PMPI_Comm_size(comm, &size);
	a = calloc(1, sizeof *a + (size_t)size * sizeof a->target[0]);
	if (!a)
		return NULL;
	a->starts = calloc((size_t)size, sizeof *a->starts);
	a->groups = calloc(4 * (size_t)size, sizeof *a->groups);
	a->size = size;
	a->own = MPI_WIN_NULL;
	a->comm = MPI_COMM_NULL;
	a->group = MPI_GROUP_NULL;
	if (w && a->starts && a->groups)
		return a;
	atomics_free(a);
	return NULL;
}

/* Its communicator and group. False: some process lacks them. */
static bool duplicate(struct atomics *a, MPI_Comm comm)
{
	if (!all_agree(comm, PMPI_Comm_dup(comm, &a->comm) == MPI_SUCCESS)) {
		a->comm = MPI_COMM_NULL;
		return false;
	}
	PMPI_Comm_set_errhandler(a->comm, MPI_ERRORS_RETURN);
	PMPI_Comm_rank(a->comm, &a->rank);
	return all_agree(comm, PMPI_Comm_group(a->comm, &a->group) == MPI_SUCCESS);
}

void atomics_open(struct window *w, MPI_Comm comm, MPI_Info info, void *base, MPI_Win *handle)
{
	struct atomics *a = atomics_new(w, comm);
	const char *why;

	if (!all_agree(comm, types_begin()))
		why = "the MPI has no attribute of datatypes more for some process";
	else if (!all_agree(comm, a != NULL))
		why = "a process is out of memory";
	else
		why = duplicate(a, comm) ? provide(w, a, info, base, handle) : no_communicator;
	if (!why) {
		a->crowded = w->pool && w->pool->crowded;
		w->atomics = a;
		atomic_fetch_add(&atomics_windows, 1);
		return;
	}
	message_once(comm, "windows keep the atomics of the MPI", why);
	atomics_free(a);
}

void atomics_close(struct window *w)
{
	if (!w->atomics)
		return;
	atomic_fetch_sub(&atomics_windows, 1);
	atomics_free(w->atomics);
	w->atomics = NULL;
}

bool atomics_hide_flavor(const struct window *w)
{
	return w->atomics->is_allocated;
}

/* -------------------------------------------------------------------- exposure */

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

int atomics_fence(struct window *w, int assertion)
{
	struct atomics *a = w->atomics;
	int rc;

	count(&a->target[a->rank].exposed->fences, 1);
	rc =
	    is_behind() ? next_mpi.Win_fence(assertion, w->win) : next_Win_fence(assertion, w->win);
	if (rc != MPI_SUCCESS) {
		count(&a->target[a->rank].exposed->fences, UINT32_MAX); /* not done */
		return rc;
	}
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

/* The MPI has done MPI_Win_post (posts) or MPI_Win_start. */
int atomics_matched(struct window *w, MPI_Group group, bool posts)
{
	struct atomics *a = w->atomics;
	int n;
	const int *ranks = ranks_of(a, group, posts, &n);

	if (!ranks)
		return dropin_raise(w->win, MPI_ERR_GROUP, "the MPI does not tell its ranks");
	for (int i = 0; i < n; i++)
		if (posts)
			count(&a->target[a->rank].exposed->posts[ranks[i]], 1);
		else
			await(a, &a->target[ranks[i]].exposed->posts[a->rank],
			      ++a->starts[ranks[i]]);
	return MPI_SUCCESS;
}
