/* SPDX-License-Identifier: BSD-3-Clause */
/* The time line of a table's locks (PAWL_TRACE), or of a simulated one's (sim/recorder.c). */
#ifndef OBSERVE_TRACE_H
#define OBSERVE_TRACE_H

#include "observe/tallies.h"

/* An acquire, from the call to the end of the release. Times are those of the clock of rank 0 of
 * the table, once the records of all ranks are together. */
struct trace_record {
	uint64_t begin_ns, acquired_ns, release_ns, released_ns;
	uint64_t lock;
	int64_t first, last;      /* of a range */
	const void *site;         /* where it was acquired, ... */
	const void *release_site; /* ... and released */
	int32_t rank;             /* of the table */
	int32_t from;             /* the rank that handed the lock over; -1: unknown */
	int32_t slot, mode;
	int32_t code; /* of the acquire */
	int32_t waited;
	/* The run ended before the acquire returned, or before the release did: code is then not
	 * PAWL_SUCCESS, or is. The times that did not come are that of the end. */
	int32_t unfinished;
};

/* A rank, for the file. */
struct trace_rank {
	int32_t world;  /* rank in MPI_COMM_WORLD */
	int32_t number; /* in the file: job_process() */
	char host[48];
	int64_t records, lost;
	int64_t bytes;           /* of the records, in the file */
	uint64_t clock_error_ns; /* of its times, to those of the table's rank 0 */
	int32_t thread;          /* number in the file of its slot 0; those of others follow */
	int32_t named;           /* trace_file.c: slots that have their names */
};

/* A call site: "FUNCTION at FILE:LINE", or "MODULE+0xOFFSET". */
struct trace_site {
	const void *address;
	int32_t rank; /* whose address it is */
	char text[SITE_TEXT];
};

/* All of a table, at its rank 0. */
struct trace_all {
	const char *about;   /* name, kind and number of locks */
	const char *failure; /* why the run ended, at failure_ns; NULL: as it should */
	uint64_t failure_ns;
	uint64_t number;      /* of the table */
	uint64_t first_arrow; /* trace_file.c: numbers of its arrows begin here */
	uint64_t limit;       /* bytes of the file, without compression; 0: none */
	bool ranges;
	int ranks;
	struct trace_rank *rank;
	struct trace_record *record;
	size_t n;
	struct trace_site *site;
	size_t sites;
};

/* trace_file.c: add the events of a table to the file; sorts the records and sites. If the file
 * would become longer than the limit, the first records are left out. False: the file cannot be
 * written. */
bool trace_file_create(const char *path);
bool trace_file_add(const char *path, struct trace_all *t);
/* A bound on the bytes of a record, if its sites have texts of this length. */
uint64_t trace_file_bytes(const struct trace_record *r, bool ranges, size_t site);
/* Begin an open, empty file of this name; job: that of the job. */
enum { TRACE_BEGIN = 256 };
bool trace_file_begin(int fd, const char *path, const char *job);

/* trace_claim.c. Find the file of this job. A file of a job that has ended is begun anew; if the
 * job of another process uses it, or this process was spawned, *path becomes that of a file of this
 * process. Local; at rank 0 of a table. PAWL_ERR_OPTION: the file cannot be written, or is no time
 * line. */
int trace_claim(char path[OBSERVE_SETTING]);

#endif
