/* SPDX-License-Identifier: BSD-3-Clause */
/* See mortal.h. */
#include "mortal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

/* Precedes the memory of the test. */
struct findings {
	_Alignas(64) _Atomic(int) failed;
	char why[200];
};

static struct findings *here;

void *mortal_share(MPI_Comm comm, size_t bytes)
{
	MPI_Aint size;
	MPI_Win win;
	int unit, rank;

	MPI_Comm_rank(comm, &rank);
	bytes += sizeof *here;
	MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)bytes : 0, 1, MPI_INFO_NULL, comm, &here,
				&win);
	MPI_Win_shared_query(win, 0, &size, &unit, &here);
	if (rank == 0)
		memset(here, 0, bytes);
	MPI_Barrier(comm);
	return here + 1;
}

void wrong(const char *format, ...)
{
	va_list args;

	if (atomic_exchange(&here->failed, 1))
		return;
	va_start(args, format);
	vsnprintf(here->why, sizeof here->why, format, args);
	va_end(args);
}

bool is_wrong(void)
{
	return atomic_load(&here->failed);
}

void verdict(FILE *out, const char *name, ...)
{
	va_list args;

	fprintf(out, "%s 1 - ", is_wrong() ? "not ok" : "ok");
	va_start(args, name);
	vfprintf(out, name, args);
	va_end(args);
	if (is_wrong())
		fprintf(out, " # %s", here->why);
	fputc('\n', out);
}
