/* SPDX-License-Identifier: BSD-3-Clause */
/* Which client awaits and holds which lock: the graph of waits, for the watchdog and for
 * pawl-stuck. */
#ifndef OBSERVE_WAITS_H
#define OBSERVE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process, for messages. */
struct waits_process {
	uint64_t id;  /* equal for the same process in all tables, else different */
	int32_t rank; /* in MPI_COMM_WORLD; of processes without MPI_Init, in the table */
	int32_t pid;
	char host[48];
	uint64_t space;   /* PID namespace of pid; 0: not known */
	uint64_t started; /* as in /proc/PID/stat: process numbers are used again; 0: not known */
};

/* A table, for messages. */
struct waits_table {
	uint64_t id;
	uint64_t number; /* of the job (job.h) */
	bool ranges;
	bool recovers; /* from holders that die */
	const char *kind;
	const char *about; /* name, kind and number of locks */
};

enum waits_state { WAITS_NOTHING, WAITS_AWAITS, WAITS_HOLDS };

/* What a client awaits or holds. */
struct waits_entry {
	const struct waits_process *process;
	const struct waits_table *table;
	int slot;         /* of the process: one client at one lock */
	uint64_t thread;  /* of the process: that which awaits it, or has acquired it */
	bool any_thread;  /* any thread of the process may release it */
	uint64_t version; /* changes with every change of the entry */
	enum waits_state state;
	int mode;
	uint64_t lock;
	int64_t first, last; /* of a range */
	uint64_t since_ns;   /* by the clock of the reader */
};

/* All entries that a reader has found. */
struct waits {
	struct waits_entry *entry;
	size_t n, room;
};

/* False: no memory. */
bool waits_add(struct waits *w, const struct waits_entry *e);
void waits_free(struct waits *w);

/* Whether the awaiting entry a cannot go on before the holding entry h is released. */
bool waits_is_blocked(const struct waits *w, const struct waits_entry *a,
		      const struct waits_entry *h);

/* The longest cycle that is found, in waits. */
enum { WAITS_CYCLE = 256 };

/* A cycle that begins at the awaiting entry `from`, or that it waits for. path gets indices: an
 * entry that awaits, the one that holds what it awaits, the entry that the holder awaits, ... The
 * result is their number; 0: there is no cycle. Each holder waits by the thread that has acquired
 * the lock; with by_process also by another one, if any thread may release it: then the process
 * may have threads that go on. */
size_t waits_find_cycle(const struct waits *w, size_t from, bool by_process,
			size_t path[2 * WAITS_CYCLE]);
/* "deadlock", or the same with a condition if other threads may release locks of the cycle. */
const char *waits_title(const struct waits *w, const size_t *path, size_t n);

/* Whether all entries of the path are among those of a later reading, unchanged. */
bool waits_contain(const struct waits *later, const struct waits *w, const size_t *path, size_t n);

/* "lock 7 of table 2 (d-mcs, 9 locks)". Returns the length. */
size_t waits_name(const struct waits_entry *e, char *text, size_t len);
/* "rank 3 on host a". */
size_t waits_name_process(const struct waits_process *p, char *text, size_t len);
/* "exclusively", "shared", ... */
const char *waits_mode(int mode);
/* "rank 0 on host a awaits lock 1 of ..., which rank 1 on host b holds; rank 1 ... awaits ..." */
size_t waits_tell_cycle(const struct waits *w, const size_t *path, size_t n, char *text,
			size_t len);

#endif
