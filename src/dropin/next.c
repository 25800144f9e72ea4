/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definitions behind this layer.
 *
 * A PMPI tool may be loaded before this library or after it. A tool that is loaded before it wraps
 * MPI_Win_lock and calls PMPI_Win_lock, or does not wrap the call at all; so the shared library
 * defines both names. A tool that is loaded after it is called in place of the MPI; its PMPI_*
 * calls come here again and go to the MPI, within calls of this layer (behind_depth) and in others
 * (next_has()).
 *
 * The library creates its own windows by the MPI's functions directly (own_windows.h), so neither
 * this layer nor a tool sees them.
 *
 * With a static library the linker would find the MPI's PMPI_* names twice. There this layer
 * defines the MPI_* names only, and a tool's definitions are elsewhere in the program or nowhere.
 */
#include <dlfcn.h>
#include <string.h>

#include "dropin/dropin.h"
#include "rma/own_windows.h"

struct next next_calls, next_mpi, next_front;
bool next_is_tool;
_Thread_local int behind_depth __attribute__((tls_model("initial-exec")));

#ifdef PIC
/* If the MPI is not behind this library, it is in front of it, and the program never calls this
 * layer. */
static void *mpi_call(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	return next ? next : dlsym(RTLD_DEFAULT, name);
}
#define FIND_MPI(name) mpi_call("PMPI_" #name)
#else
#define FIND_MPI(name) (void *)PMPI_##name
#endif

/* The library that an address is in, or NULL. */
static void *library_of(const void *address)
{
	Dl_info of;

	return dladdr(address, &of) ? of.dli_fbase : NULL;
}

enum { TOOLS = 8 };
static void *tools[TOOLS]; /* libraries behind this layer that wrap some of its calls */

bool next_has(const void *address)
{
	const void *library = library_of(address);

	for (int i = 0; i < TOOLS && tools[i]; i++)
		if (tools[i] == library)
			return true;
	return false;
}

static void add_tool(void *library)
{
	int i = 0;

	while (i < TOOLS && tools[i] && tools[i] != library)
		i++;
	if (i < TOOLS)
		tools[i] = library;
	next_is_tool = true;
}

/* If the next definition is the MPI's, use its PMPI_* name. */
static void set(void *next_call, void *its_call, void *next, void *mpi)
{
	if (next && library_of(next) != library_of(mpi))
		add_tool(library_of(next));
	else
		next = mpi;
	memcpy(next_call, &next, sizeof next);
	memcpy(its_call, &mpi, sizeof mpi);
}

/* If the first definition is neither the MPI's nor here, but the PMPI_* name is. */
static void set_front(void *front_call, void *front, void *pmpi, void *mpi)
{
	const void *here = library_of(&next_front), *library = library_of(front);

	if (front && library != here && library != library_of(mpi) && library_of(pmpi) == here)
		memcpy(front_call, &front, sizeof front);
}

__attribute__((constructor)) static void find_all(void)
{
#define FIND(name, parameters, arguments) \
	set(&next_calls.name, &next_mpi.name, dlsym(RTLD_NEXT, "MPI_" #name), FIND_MPI(name));
	DROPIN_CALLS(FIND)
#undef FIND
#define FRONT(name, parameters, arguments)                             \
	set_front(&next_front.name, dlsym(RTLD_DEFAULT, "MPI_" #name), \
		  dlsym(RTLD_DEFAULT, "PMPI_" #name), FIND_MPI(name));
	DROPIN_LOCKS(FRONT)
#undef FRONT
	pawl_private_set_windows(&(struct own_windows){
	    .create = next_mpi.Win_create,
	    .allocate_shared = next_mpi.Win_allocate_shared,
	    .free = next_mpi.Win_free,
	    .lock_all = next_mpi.Win_lock_all,
	    .unlock_all = next_mpi.Win_unlock_all,
	    .fetch_and_op = next_mpi.Fetch_and_op,
	    .compare_and_swap = next_mpi.Compare_and_swap,
	});
}
