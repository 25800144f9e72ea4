/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays by rank of which a process writes few entries. Pages that are only read are the kernel's
 * page of zeros, so such an array takes memory for the entries in use, and address space for all.
 * (A kernel that has no such page gives one to each page that is read.) */
#ifndef BASE_SPARSE_H
#define BASE_SPARSE_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPARSE_LEAST = 65536 };

/* Zeroed. NULL: there is no memory. */
static inline void *sparse_array(size_t n, size_t each)
{
	void *p;

	if (n * each < SPARSE_LEAST)
		return calloc(n, each);
	p = mmap(NULL, n * each, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, n * each, MADV_NOHUGEPAGE);
	return p;
}

/* The most memory that it takes with so many entries written. */
static inline size_t sparse_most(size_t n, size_t each, size_t written)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = n * each;

	return all < SPARSE_LEAST || all < written * page ? all : written * page;
}

static inline void sparse_free(void *p, size_t n, size_t each)
{
	if (p && n * each >= SPARSE_LEAST)
		munmap(p, n * each);
	else
		free(p);
}

#endif
