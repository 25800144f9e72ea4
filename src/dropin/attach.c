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

/* A window without locks yet. */
static struct window *window_new(MPI_Comm comm)
{
	struct window *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	PMPI_Comm_size(comm, &w->size);
	w->win = MPI_WIN_NULL;
	w->threads = dropin_has_threads();
	w->comm = MPI_COMM_NULL;
	w->held = calloc((size_t)w->size, sizeof *w->held);
	if (!w->held || !windows_make_room()) {
		free(w->held);
		free(w);
		return NULL;
	}
	pthread_mutex_init(&w->intent_mutex, NULL);
	pthread_mutex_init(&w->epochs, NULL);
	return w;
}

/* windows_find() finds it from now on. False: out of memory. */
static bool enlist(struct window *w, MPI_Win win, MPI_Comm comm)
{
	bool stale = false, ok;

	w->win = win;
	ok = windows_add(w, &stale);
	if (stale)
		bypass_stale(comm);
	return ok;
}

/* Without its pool, and not in windows_find(). */
static void discard(struct window *w)
{
	pthread_mutex_destroy(&w->intent_mutex);
	pthread_mutex_destroy(&w->epochs);
	free(w->held);
	free(w);
}

/* After windows_remove(). */
static void window_free(struct window *w)
{
	if (w->comm != MPI_COMM_NULL)
		PMPI_Comm_free(&w->comm);
	if (w->pool)
		agree_leave_pool(w);
	discard(w);
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

/* Raise a mistake of the user as an MPI error. There is no window. */
static int raise_mistake(MPI_Comm comm, const struct request *r)
{
	message_once(comm, "no window", r->why);
	PMPI_Comm_call_errhandler(comm, MPI_ERR_INFO);
	return MPI_ERR_INFO;
}

/* Give the window locks, if all processes can. w: NULL where memory is short. */
static void agree(MPI_Comm comm, struct request *r, struct window *w)
{
	struct pool *pool;
	int id = 0;

	if (r->wanted && !r->why[0] && !w)
		snprintf(r->why, sizeof r->why, "out of memory");
	else if (r->wanted && !r->why[0] && !agree_on_end(false))
		snprintf(r->why, sizeof r->why,
			 "the MPI has no attribute of MPI_COMM_SELF more, by which MPI_Finalize"
			 " tells that it begins");
	pool = agree_on_pool(comm, r, &id);
	if (pool) {
		w->pool = pool;
		w->id = id;
		return;
	}
	if (w && !r->mistake)
		w->alone = r->alone;
	if (r->wanted && !r->mistake)
		message_once(comm, "windows keep the locks of the MPI", r->why);
}

#ifdef PIC
enum { IS_STATIC = false };
#else
enum { IS_STATIC = true };
#endif

/* Why a window that is to have atomics cannot, or NULL. Windows whose locks are the MPI's may be
 * entered before these are held (X1 in atomics/domain.c). */
static const char *without_atomics(const struct window *w, const struct request *r)
{
	if (IS_STATIC)
		return "libpawl-mpi is linked statically";
	return r->no_locks || (w && w->pool)
		   ? NULL
		   : "they keep its locks, which may be granted later than asked for";
}

static void say_why(MPI_Comm comm, const char *why)
{
	if (why)
		message_once(comm, "windows keep the atomics of the MPI", why);
}

/* The window is there, and has its locks and atomics. w may be NULL. */
static int finish(MPI_Comm comm, struct request *r, struct window *w, MPI_Win *win)
{
	if (w && w->pool && r->ranges)
		add_ranges(w, comm, r);
	request_free(r);
	if (r->mistake) {
		next_Win_free(win);
		if (w) {
			windows_remove(w);
			atomics_close(w);
			window_free(w);
		}
		return raise_mistake(comm, r);
	}
	if (w && w->pool) {
		w->asks = w->pool->crowded && !w->pool->direct ? ASK : ASK_NEVER;
		report_begin(w, comm, r->kind);
	}
	return MPI_SUCCESS;
}

int dropin_attach(MPI_Comm comm, MPI_Info info, MPI_Win *win)
{
	struct window *w;
	struct request r;

	bypass_seen();
	request_read(&r, comm, info, *win);
	w = window_new(comm);
	if (w && !enlist(w, *win, comm)) {
		discard(w);
		w = NULL;
	}
	agree(comm, &r, w);
	if (r.atomics && !r.mistake) {
		const char *why = without_atomics(w, &r);

		say_why(comm, why ? why : atomics_open(w, comm, *win));
	}
	return finish(comm, &r, w, win);
}

/* ------------------------------------------------------------ MPI_Win_allocate */

/* Processes that differ in what they ask for must not call different functions of the MPI. So they
 * agree before the window is made, whether any of them wants atomics or not; unless they may not
 * know yet which of them have the layer. */
bool dropin_allocate(struct making *m, MPI_Comm comm, MPI_Info info, MPI_Aint size, MPI_Aint unit,
		     void *base, MPI_Win *win, int *rc)
{
	int inter;

	*rc = MPI_SUCCESS;
	*m = (struct making){.comm = comm, .info = info};
	m->passes =
	    comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter;
	m->attaches = !m->passes && !presence_was_full(comm);
	if (m->passes || m->attaches)
		return true;
	bypass_seen();
	request_read(&m->r, comm, info, MPI_WIN_NULL);
	m->w = window_new(comm);
	agree(comm, &m->r, m->w);
	if (m->r.mistake) {
		request_free(&m->r);
		if (m->w)
			discard(m->w);
		*win = MPI_WIN_NULL;
		*rc = raise_mistake(comm, &m->r);
		return false;
	}
	if (!m->r.atomics)
		return true;
	m->why = without_atomics(m->w, &m->r);
	if (!m->why)
		m->why = atomics_allocate(m->w, comm, info, size, unit, base, win);
	if (m->why)
		return true;
	*rc = dropin_allocated(m, MPI_SUCCESS, win);
	return false;
}

/* The MPI has made no window. */
static void give_up(struct making *m)
{
	request_free(&m->r);
	if (!m->w)
		return;
	if (m->w->pool)
		agree_give_back(m->w);
	discard(m->w);
}

int dropin_allocated(struct making *m, int rc, MPI_Win *win)
{
	struct window *w = m->w;

	if (m->passes)
		return rc;
	if (m->attaches)
		return rc == MPI_SUCCESS ? dropin_attach(m->comm, m->info, win) : rc;
	if (rc != MPI_SUCCESS) {
		give_up(m);
		return rc;
	}
	say_why(m->comm, m->why);
	if (w && !enlist(w, *win, m->comm)) { /* others have taken the room meanwhile */
		if (w->pool || w->atomics) {
			fprintf(stderr, "pawl: out of memory for the list of windows\n");
			PMPI_Abort(m->comm, EXIT_FAILURE);
		}
		discard(w);
		w = NULL;
	}
	/* The same on all processes; one that does not get the attribute must not decide. */
	if (w && w->pool && request_is_separate(*win)) {
		message_once(m->comm, "windows keep the locks of the MPI", no_unified);
		agree_leave_pool(w);
		w->pool = NULL;
	}
	return finish(m->comm, &m->r, w, win);
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
