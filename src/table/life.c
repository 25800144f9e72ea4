/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI or the process may end before a table does, and a fork makes a second process.
 *
 * Live tables are in a list. MPI_Finalize first deletes the attributes of MPI_COMM_SELF, while MPI
 * still works. Pawl's attribute there ends the threads of this rank that call MPI (on MPICH that is
 * too late: finalize.c), and does nothing else. It does nothing collective, because ranks may reach
 * the attributes of several libraries in different orders. It frees no table, because another
 * library may free its own table, and use its locks until then, in its own attribute. In a forked
 * child the tables are the parent's; a handler of pthread_atfork marks them.
 *
 * Both set t->plain to 0, so every call finds its lock out of range and looks closer
 * (life_check()). A call on a live table has no extra cost. A table with observers
 * (observe/observe.h) has plain 0 from the beginning, for the same reason.
 *
 * At the end of the process, tables that were not freed in time are reported on stderr. A session
 * (MPI-4) gives no notice of its end, so tables of sessions are reported only then.
 *
 * The last tables that were freed stay in memory with plain 0, so that a call on one gets an error.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/pinned.h"
#include "options/options.h"
#include "table/table.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pawl_table *tables; /* the newest first */
static bool forked;        /* this process is a child of one that had tables */
static bool finalizing;    /* MPI_Finalize has been called */
static bool watching;      /* MPI_Finalize will call on_finalize() */

/* ------------------------------------------------------------------ endings */

void life_stop_threads(pawl_table *t)
{
	const struct lock_protocol *p = t->setup.protocol;

	left_await(t, true);
	steps_end_all(t);
	rma_progress_stop(t->progress);
	t->progress = NULL;
	if (p->mpi && p->mpi->halt)
		p->mpi->halt(&t->setup);
}

void life_end_threads(void)
{
	pthread_mutex_lock(&mutex);
	for (pawl_table *t = tables; t; t = t->next)
		if (!t->in_session)
			life_stop_threads(t);
	pthread_mutex_unlock(&mutex);
}

static void hide(pawl_table *t)
{
	t->usable = false;
	t->plain = 0;
}

static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	pthread_mutex_lock(&mutex);
	finalizing = true;
	for (pawl_table *t = tables; t; t = t->next) {
		hide(t);
		life_stop_threads(t);
	}
	pthread_mutex_unlock(&mutex);
	if (table_is_first_rank(MPI_COMM_WORLD))
		options_warn_unused(stderr);
	return MPI_SUCCESS;
}

/* Call f when the communicator's attributes are deleted. *done: it is so already. */
static int watch(MPI_Comm comm, MPI_Comm_delete_attr_function *f, bool *done)
{
	const char *call;
	int rc;

	if (*done)
		return PAWL_SUCCESS;
	rc = call_at_end(comm, f, &call);
	*done = rc == MPI_SUCCESS;
	if (*done)
		return PAWL_SUCCESS;
	table_mpi_failed(call, rc);
	return error_set(PAWL_ERR_MPI,
			 "a table needs an attribute of a communicator, to notice MPI_Finalize,"
			 " and %s (free keys of attributes that are not used any more)",
			 pawl_error_message());
}

#ifdef MPICH_VERSION
/* MPICH over UCX aborts if a window over the network still exists at the end of MPI_Finalize. MPICH
 * deletes the attributes of MPI_COMM_WORLD after those of MPI_COMM_SELF. By then no other library
 * will free its tables, and MPI still works. Collective, the newest table first. */
static int on_finalize_late(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	for (pawl_table *t = tables; t; t = t->next)
		if (!t->in_session && t->rma.transport->finalize)
			t->rma.transport->finalize(&t->rma);
	return MPI_SUCCESS;
}

static int watch_late(void)
{
	static bool done;

	return watch(MPI_COMM_WORLD, on_finalize_late, &done);
}
#else
static int watch_late(void)
{
	return PAWL_SUCCESS;
}
#endif

static void before_fork(void)
{
	pthread_mutex_lock(&mutex);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&mutex);
}

static void in_child(void)
{
	forked = true;
	for (pawl_table *t = tables; t; t = t->next)
		hide(t);
	pthread_mutex_unlock(&mutex);
}

static void name_table(const pawl_table *t, const char *when)
{
	if (t->rma.rank == 0 && !t->of_layer)
		fprintf(
		    stderr,
		    "pawl: a table (%s) was not freed before %s: pawl_table_free() is missing, or"
		    " comes too late\n",
		    t->about, when);
}

/* Runs before the destructors of libraries that the threads use: threads must not outlive those.
 * Runs after the destructors of the program, which may free tables; in a static link only the
 * priority ensures that. */
static __attribute__((destructor(101))) void at_exit(void)
{
	if (forked)
		return;
	for (pawl_table *t = tables; t; t = t->next) {
		left_await(t, true);
		steps_end_all(t);
		if (t->rma.transport->leave)
			t->rma.transport->leave(&t->rma);
		if (t->in_session)
			name_table(t, "the end of the process");
		else if (finalizing)
			name_table(t, "MPI_Finalize");
	}
}

/* -------------------------------------------------------------------- tables */

static void watch_fork(void)
{
	pin_library_of((void *)watch_fork);
	pthread_atfork(before_fork, in_parent, in_child);
}

int life_watch(void)
{
	int initialized, rc = PAWL_SUCCESS;

	PMPI_Initialized(&initialized);
	if (!initialized) /* there is no MPI_COMM_SELF */
		return PAWL_SUCCESS;
	pthread_mutex_lock(&mutex);
	rc = watch(MPI_COMM_SELF, on_finalize, &watching);
	if (rc == PAWL_SUCCESS)
		rc = watch_late();
	pthread_mutex_unlock(&mutex);
	return rc;
}

void life_begin(pawl_table *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int initialized;

	pthread_once(&once, watch_fork);
	PMPI_Initialized(&initialized);
	pthread_mutex_lock(&mutex);
	t->in_session = !initialized;
	t->usable = !finalizing;
	t->plain = finalizing || t->observe || t->ranges ? 0 : t->setup.n;
	t->next = tables;
	tables = t;
	pthread_mutex_unlock(&mutex);
}

void life_end(pawl_table *t)
{
	pthread_mutex_lock(&mutex);
	for (pawl_table **p = &tables; *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	pthread_mutex_unlock(&mutex);
}

void life_bury(pawl_table *t)
{
	enum { FEW = 16 };
	static pawl_table *last[FEW];
	static unsigned next;

	hide(t);
	t->freed = true;
	pthread_mutex_lock(&mutex);
	free(last[next % FEW]);
	last[next++ % FEW] = t;
	pthread_mutex_unlock(&mutex);
}

int life_check_process(void)
{
	if (forked)
		return error_set(PAWL_ERR_MPI,
				 "this process was forked from one that uses MPI, whose"
				 " tables are not this process's");
	return PAWL_SUCCESS;
}

bool life_is_over(const pawl_table *t)
{
	int finalized = 0;

	if (t->freed)
		return false;
	if (!t->usable && finalizing)
		PMPI_Finalized(&finalized);
	return finalized && !t->in_session;
}

int life_look(const pawl_table *t)
{
	int rc = life_check_process();

	if (rc == PAWL_SUCCESS && t->freed)
		rc = error_set(PAWL_ERR_ARG, "the table (%s) was freed", t->about);
	if (rc == PAWL_SUCCESS && life_is_over(t))
		rc = error_set(PAWL_ERR_MPI,
			       "MPI is finalized, and with it the table (%s): calls on it come"
			       " before MPI_Finalize",
			       t->about);
	return rc;
}

void life_name_late(const pawl_table *t)
{
	name_table(t, "MPI_Finalize");
}
