/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libpawl-armci: Pawl's locks under the mutexes of ARMCI, which are those of
 * Global Arrays, too.
 *
 * ARMCI and Global Arrays are static libraries, so this one is, too: its
 * definitions of the four calls are in the program, before those of ARMCI,
 * whose names are weak. The runtime's own mutexes have names PARMCI_* as well
 * (PAWL_LOCK=native).
 *
 * Each process has as many mutexes as it asks for, and mutex i of process p is
 * a lock whose home is p. ARMCI's operations are complete before the unlock if
 * the program fences them, as ARMCI demands.
 */
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

#include "layers/layers.h"

/* In the program before an ARMCI that is a shared library, too. */
#define PUBLIC __attribute__((visibility("default")))

const char layer_library[] = "libpawl-armci";

static const struct layer layer = {
    .runtime = "ARMCI",
    .words =
	{
	    .locks = "ARMCI mutexes",
	    .lease = "programs hold them for any time",
	    .max_held = "a process may hold many; it may be raised",
	},
/* ARMCI-MPI allocates windows by MPI_Win_allocate; on a node Open MPI's osc/sm
 * accesses them by loads and stores. */
#ifdef OPEN_MPI
    .direct = true,
#endif
};

enum state { NONE, RUNTIMES, PAWLS };

static enum state state; /* whose mutexes there are */
static struct layer_locks locks;
static int *counts; /* of each process */

static MPI_Comm world(void)
{
#ifdef ARMCI_MPI
	ARMCI_Group group;

	ARMCI_Group_get_world(&group);
	return group.comm;
#else
	return MPI_COMM_WORLD;
#endif
}

/* End the job. */
static void fail(const char *call, const char *why)
{
	char text[600];

	snprintf(text, sizeof text, "pawl: %s: %s", call, why);
	ARMCI_Error(text, 1);
	abort();
}

static int create(MPI_Comm comm, int count)
{
	int size, most = 0;

	PMPI_Comm_size(comm, &size);
	counts = calloc((size_t)size, sizeof *counts);
	if (!counts)
		fail("ARMCI_Create_mutexes", "out of memory");
	PMPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm);
	for (int i = 0; i < size; i++) {
		if (counts[i] < 0)
			fail("ARMCI_Create_mutexes", "a process asks for a negative number");
		most = counts[i] > most ? counts[i] : most;
	}
	if (layer_take(&layer, comm, most ? (uint64_t)most : 1, &locks))
		return PAWLS;
	free(counts);
	counts = NULL;
	return RUNTIMES;
}

PUBLIC int ARMCI_Create_mutexes(int count)
{
	if (state != NONE)
		fail("ARMCI_Create_mutexes", "there are mutexes already");
	state = (enum state)create(world(), count);
	return state == PAWLS ? 0 : PARMCI_Create_mutexes(count);
}

PUBLIC int ARMCI_Destroy_mutexes(void)
{
	enum state was = state;

	if (was == NONE)
		fail("ARMCI_Destroy_mutexes", "there are no mutexes");
	state = NONE;
	if (was == RUNTIMES)
		return PARMCI_Destroy_mutexes();
	PMPI_Barrier(layer_comm(&locks));
	/* What a process has forgotten would stay locked for the next mutexes. */
	for (int p = 0; p < locks.size; p++)
		for (int i = 0; i < counts[p]; i++)
			layer_release(&locks, (uint64_t)i, p);
	PMPI_Barrier(layer_comm(&locks));
	layer_give(&locks);
	free(counts);
	counts = NULL;
	return 0;
}

/* Whether the call is for Pawl's mutexes; a mutex that there is not ends the
 * job. */
static bool is_ours(const char *call, int mutex, int proc)
{
	char why[120];

	if (state == RUNTIMES)
		return false;
	if (state == NONE)
		fail(call, "there are no mutexes");
	if (proc < 0 || proc >= locks.size || mutex < 0 || mutex >= counts[proc]) {
		snprintf(why, sizeof why, "there is no mutex %d of process %d", mutex, proc);
		fail(call, why);
	}
	return true;
}

PUBLIC void ARMCI_Lock(int mutex, int proc)
{
	int rc;

	if (!is_ours("ARMCI_Lock", mutex, proc)) {
		PARMCI_Lock(mutex, proc);
		return;
	}
	LAYER_FROM_HERE(&locks, rc = layer_acquire(&locks, (uint64_t)mutex, proc));
	if (rc == PAWL_ERR_HELD)
		fail("ARMCI_Lock", "this process has locked the mutex already");
	if (rc != PAWL_SUCCESS)
		fail("ARMCI_Lock", pawl_error_message());
}

PUBLIC void ARMCI_Unlock(int mutex, int proc)
{
	int rc;

	if (!is_ours("ARMCI_Unlock", mutex, proc)) {
		PARMCI_Unlock(mutex, proc);
		return;
	}
	LAYER_FROM_HERE(&locks, rc = layer_release(&locks, (uint64_t)mutex, proc));
	if (rc == PAWL_ERR_NOT_HELD)
		fail("ARMCI_Unlock", "this process has not locked the mutex");
	if (rc != PAWL_SUCCESS)
		fail("ARMCI_Unlock", pawl_error_message());
}
