/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables over UCX that are created, used and freed leave no block of the heap, no descriptor and
 * no thread. The statistics of malloc() do not show this, because it keeps freed blocks for
 * threads; so all of its calls are counted here (only glibc has the names for that).
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lock/tables.h"

/* The last 16 freed tables stay in memory (src/table/life.c). */
enum { WARM = 17, TABLES = 6 };

static _Atomic(long) blocks;

#ifdef __GLIBC__
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

static void *counted(void *p)
{
	blocks += p != NULL;
	return p;
}

void *malloc(size_t n)
{
	return counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t each)
{
	return counted(__libc_calloc(n, each));
}

void *realloc(void *p, size_t n)
{
	void *q = __libc_realloc(p, n);

	if (!p)
		return counted(q);
	blocks -= !q && n == 0;
	return q;
}

void *memalign(size_t align, size_t n)
{
	return counted(__libc_memalign(align, n));
}

void *aligned_alloc(size_t align, size_t n)
{
	return memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	void *q = memalign(align, n);

	if (q)
		*p = q;
	return q ? 0 : ENOMEM;
}

void free(void *p)
{
	blocks -= p != NULL;
	__libc_free(p);
}
#endif

static void one_table(const struct pawl_kind *kind)
{
	pawl_table *t = table_open(kind->name, 4, "transport", "ucx");

	for (uint64_t i = 0; t && i < 4; i++) {
		expect_code(pawl_lock_acquire(t, i, PAWL_EXCLUSIVE), PAWL_SUCCESS, "acquire");
		expect_code(pawl_lock_release(t, i), PAWL_SUCCESS, "release");
	}
	table_close(t);
}

/* stays: beside one that stays, with which they share connections. */
static void many(const struct pawl_kind *kind, int tables, bool stays)
{
	pawl_table *other = stays ? table_open(kind->name, 4, "transport", "ucx") : NULL;
	long before = 0, grown;
	int fds = 0, threads = 0;

	now_doing("%s, %d tables, one after the other%s", kind->name, tables,
		  stays ? ", beside one that stays" : "");
	for (int i = 0; i < WARM + tables; i++) {
		if (i == WARM) {
			before = blocks;
			fds = tap_entries("/proc/self/fd");
			threads = tap_entries("/proc/self/task");
		}
		one_table(kind);
	}
	grown = blocks - before;
	/* The MPI may keep some blocks, but not for each table. */
	expect(grown < tables / 2, "%ld blocks of the heap are left", grown);
	expect(tap_entries("/proc/self/fd") <= fds, "%d descriptors, and %d before",
	       tap_entries("/proc/self/fd"), fds);
	expect(tap_entries("/proc/self/task") <= threads, "%d threads, and %d before",
	       tap_entries("/proc/self/task"), threads);
	note("%ld blocks of the heap are left of %d tables", grown, tables);
	if (other)
		table_close(other);
	result("%s: tables%s leave nothing", kind->name, stays ? " beside one that stays" : "");
}

/* All kinds share the way to their words; the full number is for one of each. */
int main(int argc, char **argv)
{
	const struct pawl_kind *kind;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	for (int i = 0; (kind = tap_kind(&i));)
		for (int stays = 0; stays <= 1; stays++)
			many(kind,
			     tap_long && strcmp(kind->name, "d-mcs") == 0 ? 5 * TABLES : TABLES,
			     stays);
	return tap_end();
}
