/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded by mpi_run (mpirun.sh) and netcluster: MPICH, which never yields while it waits, then
 * yields whenever UCX has nothing new for it, as Open MPI does where ranks outnumber cores. Else a
 * collective call takes several time slices of the kernel. MPICH over libfabric is not changed.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	unsigned n;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
	if (!real)
		abort();
	n = real(worker);
	if (n == 0)
		sched_yield();
	return n;
}
