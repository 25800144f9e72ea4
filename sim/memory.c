/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zeroed memory for a world. A table of millions of locks over hundreds of virtual ranks has far
 * more words than a run touches. The kernel allocates pages when they are touched, and is asked not
 * to reserve them before.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "sim/sim.h"

/* Small worlds come by the thousand, and the heap is faster for them. */
enum { LARGE = 64 << 20 };

void *sim_zeroed(size_t bytes)
{
	void *at;

	if (bytes < LARGE)
		return calloc(1, bytes ? bytes : 1);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		  -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

void sim_zeroed_free(void *at, size_t bytes)
{
	if (bytes < LARGE)
		free(at);
	else if (at)
		munmap(at, bytes);
}
