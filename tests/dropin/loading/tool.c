/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMPI tool, for tests/dropin-tools.sh and tests/loading.sh: a shared library to be preloaded
 * that counts calls on windows and passes them on. WRAPS says which: 1 MPI_Win_lock only, 2 those
 * of MPI-2, 3 all but the flush, 4 all. With BY_NEXT it passes them on to the next definition of
 * the same name, else to PMPI_*. At the end a process prints their number, if TEST_TOOL is in the
 * environment.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long calls;

__attribute__((destructor)) static void print_result(void)
{
	int initialized = 0;

	PMPI_Initialized(&initialized);
	if (getenv("TEST_TOOL") && initialized)
		fprintf(stderr, "tool: %ld calls\n", calls);
}

#ifdef BY_NEXT
#define ON(name, arguments)                                  \
	{                                                    \
		void *next = dlsym(RTLD_NEXT, "MPI_" #name); \
		__typeof__(&MPI_##name) call;                \
                                                             \
		memcpy(&call, &next, sizeof next);           \
		return call arguments;                       \
	}
#else
#define ON(name, arguments)                   \
	{                                     \
		return PMPI_##name arguments; \
	}
#endif

#define WRAP(name, parameters, arguments) \
	int MPI_##name parameters         \
	{                                 \
		calls++;                  \
		ON(name, arguments)       \
	}

WRAP(Win_lock, (int t, int r, int a, MPI_Win w), (t, r, a, w))
#if WRAPS >= 2
WRAP(Init, (int *c, char ***v), (c, v))
WRAP(Init_thread, (int *c, char ***v, int l, int *g), (c, v, l, g))
WRAP(Win_create, (void *b, MPI_Aint s, int u, MPI_Info i, MPI_Comm c, MPI_Win *w),
     (b, s, u, i, c, w))
WRAP(Win_unlock, (int r, MPI_Win w), (r, w))
WRAP(Win_free, (MPI_Win * w), (w))
WRAP(Put,
     (const void *o, int n, MPI_Datatype t, int r, MPI_Aint d, int m, MPI_Datatype u, MPI_Win w),
     (o, n, t, r, d, m, u, w))
#endif
#if WRAPS >= 3
WRAP(Win_allocate, (MPI_Aint s, int u, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w),
     (s, u, i, c, b, w))
WRAP(Win_allocate_shared, (MPI_Aint s, int u, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w),
     (s, u, i, c, b, w))
WRAP(Win_create_dynamic, (MPI_Info i, MPI_Comm c, MPI_Win *w), (i, c, w))
WRAP(Win_lock_all, (int a, MPI_Win w), (a, w))
WRAP(Win_unlock_all, (MPI_Win w), (w))
WRAP(Finalize, (void), ())
#endif
#if WRAPS >= 4
WRAP(Win_flush, (int r, MPI_Win w), (r, w))
#endif
