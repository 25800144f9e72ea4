/* SPDX-License-Identifier: BSD-3-Clause */
/* A table as the core sees it. */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include <mpi.h>
#include <pawl.h>

#include "client/client.h"
#include "lock/lock.h"
#include "rma/progress.h"
#include "rma/rma.h"
#include "topo/discover.h"

struct pawl_table {
	struct client_set clients;
	uint64_t usable; /* space.n; 0 if a call has to look closer: life.c */
	bool ranges;     /* its kind has ranges, and no locks */
	struct lock_space space;
	struct rma rma;
	MPI_Comm comm;
	struct topo_job job;
	struct rma_progress *progress; /* option progress=thread, over several nodes */
	MPI_Win homes_win;             /* LOCK_HOME_MAP: the map, in node memory */
	int64_t asked_lease_us;        /* if another one is in force; else 0 */
	char parameters[256];
	char self[128];   /* this rank, and */
	char name[96];    /* kind and number of locks, for messages */
	pawl_table *next; /* life.c: of the list of live tables; */
	bool in_session;  /* made without MPI_Init */
};

/* table.c ----------------------------------------------------------------- */

/* The worst code of all ranks. A rank that did well where another failed has
 * nothing to tell but that. Collective. */
int table_agree(MPI_Comm comm, int code);

/* PAWL_ERR_NOMEM on all ranks if a host has no room for a shared window of so many bytes of each of
 * its ranks; those may differ. Collective. */
int table_check_room(pawl_table *t, uint64_t bytes);

/* life.c ------------------------------------------------------------------ */

/* From here on calls may come; and from here on no more. */
void life_begin(pawl_table *t);
void life_end(pawl_table *t);

/* PAWL_ERR_MPI and the sentence in a forked child. */
int life_check_process(void);
/* The same, and after MPI_Finalize, of a table with usable = 0. */
int life_look(const pawl_table *t);
/* Whether a call may go on. */
static inline int life_check(const pawl_table *t)
{
	return __builtin_expect(t->usable != 0, 1) ? PAWL_SUCCESS : life_look(t);
}

/* Whether the MPI has ended before the table, and saying so on stderr. */
bool life_is_over(const pawl_table *t);
void life_name_late(const pawl_table *t);
/* agree.c ----------------------------------------------------------------- */

struct options;
/* Whether all ranks ask for the same table. Collective, and the same code on all. */
int table_agree_on(MPI_Comm comm, const struct options *o, const char *kind, uint64_t n,
		   bool homed);

/* call.c: what calls on locks and on ranges have in common ------------------ */

/* Whether the table has such a lock, or such a space. */
int call_check_name(const pawl_table *t, uint64_t lock);
/* Whether it has try-acquires; timed ones, and when that time is over; and abandoned locks. */
int call_check_try(const pawl_table *t);
int call_check_time(const pawl_table *t, double seconds, uint64_t *deadline_ns);
int call_check_abandon(const pawl_table *t);
/* What is to be said of a code of client_acquire() that says the same of locks and of ranges; the
 * code of the call. */
int call_refused(const pawl_table *t, uint64_t lock, int rc);

/* lease.c ----------------------------------------------------------------- */

/* Make the lease longer if it does not fit the machine. Collective. */
void lease_fit(pawl_table *t);
/* Say so in t->parameters. */
void lease_describe(pawl_table *t);

/* clock.c ----------------------------------------------------------------- */

/* Collective over t->comm: what rma_clock() needs to be that of all ranks. */
void clock_share(pawl_table *t);

/* homes.c ----------------------------------------------------------------- */

/* Collective over t->comm: build the map of a home function, and set
 * space.block. The same code on all ranks. */
int homes_create(pawl_table *t, pawl_home_fn *home, void *arg);
void homes_free(pawl_table *t);

#endif
