/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of windows, on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/agree.h"
#include "dropin/dropin.h"
#include "observe/observe.h"

enum { WAITED_NS = 10000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the variables below */
static char *lines;                                      /* what report_print() prints */
static size_t lines_len;

uint64_t report_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void report_wait(struct window *w, enum call call, uint64_t begin_ns)
{
	double ns = (double)(report_now() - begin_ns);
	struct waits *s = &w->waits[call];

	pthread_mutex_lock(&lock);
	s->calls++;
	s->waited += ns > WAITED_NS;
	s->total_ns += ns;
	if (ns > s->max_ns)
		s->max_ns = ns;
	pthread_mutex_unlock(&lock);
}

void report_begin(struct window *w, MPI_Comm comm, const char *kind)
{
	struct pool *p = w->pool;
	pawl_table *tables[] = {p->targets, p->wholes, ranges_table(w)};
	bool statistics = false;

	for (int i = 0; i < 3; i++) {
		bool observed, has_statistics;

		if (!tables[i])
			continue;
		pawl_private_get_observed(tables[i], &observed, &has_statistics);
		w->observed = w->observed || observed;
		statistics = statistics || has_statistics;
	}
	if (!statistics)
		return;
	snprintf(w->kind, sizeof w->kind, "%s", kind);
	if (all_agree(comm, PMPI_Comm_dup(comm, &w->comm) == MPI_SUCCESS))
		return;
	w->comm = MPI_COMM_NULL; /* one that some processes lack cannot be freed */
	message_once(comm, "a window has no statistics",
		     "the MPI has no communicator more for some process");
}

static void append(const char *text)
{
	size_t len = strlen(text);
	char *more;

	pthread_mutex_lock(&lock);
	more = realloc(lines, lines_len + len + 1);
	if (more) {
		lines = more;
		memcpy(lines + lines_len, text, len + 1);
		lines_len += len;
	}
	pthread_mutex_unlock(&lock);
}

static void append_waits(const struct waits *s, const char *name)
{
	char line[256];

	if (!s->calls)
		return;
	snprintf(line, sizeof line, "pawl:   %-24s %11llu %11llu %11.3f %11.3f %11.3f\n", name,
		 (unsigned long long)s->calls, (unsigned long long)s->waited, s->total_ns * 1e-6,
		 s->total_ns * 1e-3 / (double)s->calls, s->max_ns * 1e-6);
	append(line);
}

void report_window(struct window *w)
{
	static const char *const names[N_CALLS] = {
	    [CALL_EXCLUSIVE] = "MPI_Win_lock exclusive",
	    [CALL_SHARED] = "MPI_Win_lock shared",
	    [CALL_ALL] = "MPI_Win_lock_all",
	    [CALL_RANGE] = "pawl_win_lock_range",
	};
	const char *name = w->name;
	char line[MPI_MAX_OBJECT_NAME + 160];
	struct waits all[N_CALLS];
	uint64_t calls = 0, asides = atomic_load(&w->asides), all_asides = 0;
	int rank;

	if (w->comm == MPI_COMM_NULL)
		return;
	PMPI_Comm_rank(w->comm, &rank);
	for (int i = 0; i < N_CALLS; i++) {
		PMPI_Reduce(&w->waits[i].calls, &all[i].calls, 2, MPI_UINT64_T, MPI_SUM, 0,
			    w->comm);
		PMPI_Reduce(&w->waits[i].total_ns, &all[i].total_ns, 1, MPI_DOUBLE, MPI_SUM, 0,
			    w->comm);
		PMPI_Reduce(&w->waits[i].max_ns, &all[i].max_ns, 1, MPI_DOUBLE, MPI_MAX, 0,
			    w->comm);
		calls += rank == 0 ? all[i].calls : 0;
	}
	PMPI_Reduce(&asides, &all_asides, 1, MPI_UINT64_T, MPI_SUM, 0, w->comm);
	if (rank != 0)
		return;
	if (!calls) {
		snprintf(line, sizeof line,
			 "pawl: window%s%s over %d ranks, %s: no lock was taken by this layer\n",
			 name[0] ? " " : "", name, w->size, w->kind);
		append(line);
		return;
	}
	snprintf(line, sizeof line,
		 "pawl: window%s%s over %d ranks, %s\n"
		 "pawl:   %-24s %11s %11s %11s %11s %11s\n",
		 name[0] ? " " : "", name, w->size, w->kind, "", "calls", "over 10 us", "total ms",
		 "mean us", "longest ms");
	append(line);
	for (int i = 0; i < N_CALLS; i++)
		append_waits(&all[i], names[i]);
	if (all_asides) {
		snprintf(line, sizeof line,
			 "pawl:   after long waits, %llu times a process let others go first\n",
			 (unsigned long long)all_asides);
		append(line);
	}
}

void report_locks(struct window *w)
{
	const struct pool *p = w->pool;
	char title[MPI_MAX_OBJECT_NAME + 64];
	uint64_t first, whole;

	if (!p || w->comm == MPI_COMM_NULL)
		return;
	first = pool_target(p, w->id, 0);
	whole = pool_whole(p, w->id);
	snprintf(title, sizeof title, "window%s%s", w->name[0] ? " " : "", w->name);
	if (p->wholes == p->targets) {
		pawl_private_report_locks(p->targets, w->comm, first, (uint64_t)p->size, whole,
					  title);
		return;
	}
	pawl_private_report_locks(p->targets, w->comm, first, (uint64_t)p->size, UINT64_MAX, title);
	pawl_private_report_locks(p->wholes, w->comm, 0, 0, whole, title);
}

void report_print(void)
{
	if (lines)
		fputs(lines, stderr);
	free(lines);
	lines = NULL;
	lines_len = 0;
}
