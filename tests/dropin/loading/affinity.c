/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Imitates a machine with more CPUs than a cpu_set_t has, for tests/dropin-tools.sh: a shared
 * library to be preloaded, in which sched_getaffinity() refuses masks of less than 4096 CPUs, as
 * the kernel of such a machine does. At the end a process with the MPI prints how often libpawl-mpi
 * yielded its core.
 */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAST_BYTES = 4096 / 8 };

static _Atomic(long) yields;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	long bytes;

	if (size < LEAST_BYTES) {
		errno = EINVAL;
		return -1;
	}
	memset(set, 0, size);
	bytes = syscall(SYS_sched_getaffinity, pid, size, set);
	return bytes < 0 ? -1 : 0;
}

int sched_yield(void)
{
	Dl_info caller;

	if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "pawl-mpi-"))
		yields++;
	return (int)syscall(SYS_sched_yield);
}

__attribute__((destructor)) static void print_result(void)
{
	int initialized = 0;

	PMPI_Initialized(&initialized);
	if (initialized)
		fprintf(stderr, "yields: %ld\n", (long)yields);
}
