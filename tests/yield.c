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

/* Where the MPI is in a plugin's scope, UCX is behind no global name. */
static void *find(void)
{
	void *real = dlsym(RTLD_NEXT, "ucp_worker_progress");
	void *ucp = real ? NULL : dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

	return ucp ? dlsym(ucp, "ucp_worker_progress") : real;
}

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	unsigned n;

	if (!real)
		*(void **)&real = find();
	if (!real)
		abort();
	n = real(worker);
	if (n == 0)
		sched_yield();
	return n;
}
