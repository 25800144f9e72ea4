/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ends before a table does: the MPI, or the process, of which a fork makes a second one.
 *
 * Live tables are in a list. MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while
 * the MPI still works: ours ends the threads of this rank that call it, and nothing else.
 * Nothing collective happens there, for ranks may come to the attributes of several libraries in
 * different orders; and no table is freed there, for another library may free its own in an
 * attribute of its own, and may acquire its locks until then. In a fork's child the tables are
 * the parent's: a handler of pthread_atfork marks them.
 *
 * Both set t->usable to 0. So every call finds its lock out of range, and looks closer
 * (life_check()): a call on a live table pays nothing for it.
 *
 * When the process ends, tables that were not freed in time are named on stderr. MPI-4's
 * sessions tell nobody that they end, so those of sessions are named there, too, and no
 * earlier.
 */
#include <pthread.h>
#include <stdio.h>

#include "base/error.h"
#include "table/table.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pawl_table *tables; /* the last one first */
static bool forked;        /* this process is the child of one that had tables */
static bool finalizing;    /* MPI_Finalize has been called */
static bool watching;      /* MPI_Finalize will call on_finalize() */

/* ------------------------------------------------------------------ endings */

static void stop_threads(pawl_table *t)
{
	const struct lock_protocol *p = t->space.protocol;

	rma_progress_stop(t->progress);
	t->progress = NULL;
	if (p->halt)
		p->halt(&t->space);
}

static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	pthread_mutex_lock(&mutex);
	finalizing = true;
	for (pawl_table *t = tables; t; t = t->next) {
		t->usable = 0;
		stop_threads(t);
	}
	pthread_mutex_unlock(&mutex);
	return MPI_SUCCESS;
}

/* Have f called when the communicator's attributes are deleted. */
static void watch(MPI_Comm comm, MPI_Comm_delete_attr_function *f)
{
	int keyval;

	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, f, &keyval, NULL);
	PMPI_Comm_set_attr(comm, keyval, NULL);
	/* It lives as long as the attribute. */
	PMPI_Comm_free_keyval(&keyval);
}

#ifdef MPICH_VERSION
/* MPICH over UCX aborts if windows over the network are left to the end of MPI_Finalize. It deletes
 * the attributes of MPI_COMM_WORLD after those of MPI_COMM_SELF, when no other library will free
 * its tables any more, and still works then. Collective, the last table first. */
static int on_finalize_late(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	for (pawl_table *t = tables; t; t = t->next)
		if (!t->in_session && t->rma.transport->finalize)
			t->rma.transport->finalize(&t->rma);
	return MPI_SUCCESS;
}

static void watch_late(void)
{
	watch(MPI_COMM_WORLD, on_finalize_late);
}
#else
static void watch_late(void)
{
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
		t->usable = 0;
	pthread_mutex_unlock(&mutex);
}

static void name_table(const pawl_table *t, const char *when)
{
	if (t->rma.rank == 0)
		fprintf(
		    stderr,
		    "pawl: a table (%s) was not freed before %s: pawl_table_free() is missing, or"
		    " comes too late\n",
		    t->name, when);
}

/* Before the libraries that this one uses end. Threads must not outlive those. After the
 * destructors of the program, which may free tables: in a static link only the priority says so. */
static __attribute__((destructor(101))) void at_exit(void)
{
	if (forked)
		return;
	for (pawl_table *t = tables; t; t = t->next) {
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
	pthread_atfork(before_fork, in_parent, in_child);
}

void life_begin(pawl_table *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int initialized;

	pthread_once(&once, watch_fork);
	PMPI_Initialized(&initialized);
	pthread_mutex_lock(&mutex);
	t->in_session = !initialized;
	t->usable = finalizing ? 0 : t->space.n;
	t->next = tables;
	tables = t;
	/* Without MPI_Init there is no MPI_COMM_SELF. */
	if (initialized && !watching) {
		watching = true;
		watch(MPI_COMM_SELF, on_finalize);
		watch_late();
	}
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

	if (!t->usable && finalizing)
		PMPI_Finalized(&finalized);
	return finalized && !t->in_session;
}

int life_look(const pawl_table *t)
{
	int rc = life_check_process();

	if (rc == PAWL_SUCCESS && life_is_over(t))
		rc = error_set(PAWL_ERR_MPI,
			       "MPI is finalized, and with it the table (%s): calls on it come"
			       " before MPI_Finalize",
			       t->name);
	return rc;
}

void life_name_late(const pawl_table *t)
{
	name_table(t, "MPI_Finalize");
}
