/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Give new windows Pawl locks. If that is not possible, the layer reports it once and the window
 * keeps the MPI's locks. A mistake of the user is an error, and no window is created.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dropin/atomics/atomics.h"
#include "dropin/request.h"

bool dropin_has_threads(void)
{
	int level;

	PMPI_Query_thread(&level);
	return level == MPI_THREAD_MULTIPLE;
}

void dropin_begin(void)
{
	bypass_seen();
	if (dropin_has_threads())
		presence_look_at_all();
	agree_on_end(true);
}

void dropin_fix_options(MPI_Info info, MPI_Comm comm)
{
	static const struct option_words words = {
	    .locks = "windows",
	    .lease = "programs hold byte ranges for any time; info key pawl_lease of a window gives"
		     " them a lease",
	    .max_held = "MPI programs hold a lock of each target; it may be raised, and info key"
			" pawl_max_held of a window may be less",
	};

	options_fix(info, comm, &words);
}

/* A window for windows_find(), without locks yet. */
static struct window *window_new(MPI_Win win, MPI_Comm comm)
{
	struct window *w = calloc(1, sizeof *w);
	bool stale = false, ok;

	if (!w)
		return NULL;
	PMPI_Comm_size(comm, &w->size);
	w->win = win;
	w->threads = dropin_has_threads();
	w->comm = MPI_COMM_NULL;
	w->held = calloc((size_t)w->size, sizeof *w->held);
	ok = w->held && windows_add(w, &stale);
	if (stale)
		bypass_stale(comm);
	if (ok) {
		pthread_mutex_init(&w->intent_mutex, NULL);
		pthread_mutex_init(&w->epochs, NULL);
		return w;
	}
	free(w->held);
	free(w);
	return NULL;
}

/* After windows_remove(). */
static void window_free(struct window *w)
{
	if (w->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&w->comm);
	if (w->pool)
		agree_leave_pool(w);
	pthread_mutex_destroy(&w->intent_mutex);
	pthread_mutex_destroy(&w->epochs);
	free(w->held);
	free(w);
}

/* Add a table of byte ranges. If that is not possible, a message says so; only a mistake of the
 * user makes the call fail. */
static void add_ranges(struct window *w, MPI_Comm comm, struct request *r)
{
	int rc = ranges_open(w, comm, r->ranges, r->range_options);

	if (rc == PAWL_SUCCESS)
		return;
	snprintf(r->why, sizeof r->why, "%s",
		 rc == RANGES_NOMEM ? "out of memory" : pawl_error_message());
	r->mistake = options_is_mistake(rc);
	if (!r->mistake)
		message_once(comm, "a window has no byte ranges", r->why);
}

/* The window gets no Pawl locks. MPI_SUCCESS: it keeps the MPI's. */
static int refuse(MPI_Comm comm, const struct request *r, struct window *w, MPI_Win *handle)
{
	if (!r->mistake) {
		if (w)
			w->alone = r->alone;
		if (r->wanted)
			message_once(comm, "windows keep the locks of the MPI", r->why);
		return MPI_SUCCESS;
	}
	message_once(comm, "no window", r->why);
	next_Win_free(handle);
	if (w) {
		windows_remove(w);
		window_free(w);
	}
	PMPI_Comm_call_errhandler(comm, MPI_ERR_INFO);
	return MPI_ERR_INFO;
}

#ifdef PIC
enum { IS_STATIC = false };
#else
enum { IS_STATIC = true };
#endif

/* Windows whose locks are the MPI's may be entered before these are held (atomics.h). */
static void add_atomics(struct window *w, MPI_Comm comm, MPI_Info info, void *base, MPI_Win *handle,
			const struct request *r)
{
	if (!r->atomics)
		return;
	if (IS_STATIC)
		message_once(comm, "windows keep the atomics of the MPI",
			     "libpawl-mpi is linked statically");
	else if (r->no_locks || (w && w->pool))
		atomics_open(w, comm, info, base, handle);
	else
		message_once(comm, "windows keep the atomics of the MPI",
			     "they keep its locks, which may be granted later than asked for");
}

int dropin_attach(MPI_Comm comm, MPI_Info info, void *base, MPI_Win *handle)
{
	struct window *w;
	struct pool *pool;
	struct request r;
	int id = 0, rc = MPI_SUCCESS;

	bypass_seen();
	request_read(&r, comm, info, *handle);
	w = window_new(*handle, comm);
	if (r.wanted && !r.why[0] && !w)
		snprintf(r.why, sizeof r.why, "out of memory");
	else if (r.wanted && !r.why[0] && !agree_on_end(false))
		snprintf(r.why, sizeof r.why,
			 "the MPI has no attribute of MPI_COMM_SELF more, by which MPI_Finalize"
			 " tells that it begins");
	pool = agree_on_pool(comm, &r, &id);
	if (pool) {
		w->pool = pool;
		w->id = id;
		if (r.ranges)
			add_ranges(w, comm, &r);
	}
	request_free(&r);
	if (!pool || r.mistake)
		rc = refuse(comm, &r, w, handle);
	if (rc == MPI_SUCCESS)
		add_atomics(w, comm, info, base, handle, &r);
	if (!pool || rc != MPI_SUCCESS)
		return rc;
	w->asks = pool->crowded && !pool->direct ? ASK : ASK_NEVER;
	report_begin(w, comm, r.kind);
	return MPI_SUCCESS;
}

/*
 * A process must not free a window while it holds locks of it, but MPI_Win_free calls the delete
 * callbacks of the window's attributes, which may still release them, or lock and unlock. MPICH
 * checks after the callbacks that no epoch is open, and the window stays as it is if one is. Open
 * MPI has ended the window when it calls them, and does not always check. So the layer checks, if
 * the program has given the window no attributes, and afterwards releases what is left.
 */
#ifdef OPEN_MPI
static bool must_hold_none(const struct window *w)
{
	return !w->has_attributes;
}
#else
static bool must_hold_none(const struct window *w)
{
	(void)w;
	return false;
}
#endif

int dropin_free(struct window *w, MPI_Win *win)
{
	int rc, len, held = w ? atomic_load_explicit(&w->locks, memory_order_relaxed) : 0;

	if (!w)
		return next_Win_free(win);
	if (held && must_hold_none(w))
		return dropin_raise(*win, MPI_ERR_RMA_SYNC,
				    "MPI_Win_free while this process holds %d locks of the window",
				    held);
	if (w->comm != MPI_COMM_NULL)
		PMPI_Win_get_name(w->win, w->name, &len);
	/* The window is still in the list: the callbacks of its attributes may lock it. */
	w->in_free = true;
	rc = next_Win_free(win);
	if (rc != MPI_SUCCESS) {
		w->in_free = false;
		return rc;
	}
	windows_remove(w);
	epochs_drop(w);
	report_window(w);
	report_locks(w);
	atomics_close(w);
	ranges_close(w);
	window_free(w);
	return rc;
}
