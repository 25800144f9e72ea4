/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants: kinds of locks, and pseudo locks to compare them with. */
#include <string.h>

#include "bench.h"
#include "baselines/baselines.h"
#include "benchmarks/cli/cli.h"

enum { KINDS = 64 };

const struct contestant *contestant_get(int index)
{
	static struct contestant of_kind[KINDS];
	const struct pawl_kind *kind;

	if (index < 0)
		return NULL;
	for (const struct contestant *c = pseudo_contestants; c->name; c++)
		if (index-- == 0)
			return c;
	kind = pawl_kind_get(index);
	if (!kind || index >= KINDS)
		return NULL;
	of_kind[index] = (struct contestant){
	    .name = kind->name,
	    .summary = kind->summary,
	    .kind = kind,
	};
	return &of_kind[index];
}

const char *const micro_series[] = {
    [MICRO_WRITER] = "acquire-writer",
    [MICRO_READER] = "acquire-reader",
    [MICRO_RELEASE] = "release",
    [MICRO_WAITED] = "acquire-waited",
    [MICRO_WRITER_ATOMICS] = "writer-atomics",
    [MICRO_WRITER_PUTS] = "writer-puts",
    [MICRO_WRITER_WAITS] = "writer-waits",
    [MICRO_WRITER_LOOKS] = "writer-looks",
    [MICRO_READER_ATOMICS] = "reader-atomics",
    [MICRO_READER_LOOKS] = "reader-looks",
    [MICRO_RELEASE_ATOMICS] = "release-atomics",
    [MICRO_RELEASE_OTHERS] = "release-others",
    NULL,
};

const struct workload *workload_find(const char *name, size_t len)
{
	for (const struct workload *w = workloads; w->name; w++)
		if (strlen(w->name) == len && strncmp(w->name, name, len) == 0)
			return w;
	return NULL;
}

bool contestant_shares(const struct contestant *c)
{
	return c->kind ? (c->kind->capabilities & PAWL_CAP_SHARED) != 0
		       : strcmp(c->name, "redlock") != 0;
}

static bool has_ranges(const struct contestant *c)
{
	return c->kind && (c->kind->capabilities & PAWL_CAP_RANGES);
}

bool contestant_needs_threads(const struct contestant *c)
{
	return c->kind && (c->kind->capabilities & PAWL_CAP_THREADS);
}

bool contestant_is_baseline(const struct contestant *c)
{
	return !c->kind || pawl_private_is_baseline(c->kind);
}

/* A kind that is a baseline, but for what the MPI has. */
static bool is_from_another_paper(const struct contestant *c)
{
	return c->kind && contestant_is_baseline(c) && strcmp(c->name, "mpi-win-lock") != 0;
}

/* Unless --lock names others, the hash table runs with locks that readers share. */
bool contestant_plays(const struct contestant *c, const struct workload *w,
		      const struct settings *s)
{
	if (c->only && strcmp(c->only, w->name) != 0)
		return false;
	if (c->kind && workload_is(w, W_COMPUTED))
		return false;
	if (c->kind && has_ranges(c) != workload_is(w, W_RANGES))
		return false;
	if (workload_is(w, W_OPTIMISTIC) && c->kind &&
	    !(c->kind->capabilities & PAWL_CAP_OPTIMISTIC))
		return false;
	if (s->fail > 0 && c->kind && !(c->kind->capabilities & PAWL_CAP_RECOVERS))
		return false;
	if (s->locks)
		return list_has(s->locks, c->name);
	/* MPI_THREAD_MULTIPLE makes each MPI call slower, so a lock that needs it must be named. */
	if (contestant_needs_threads(c))
		return false;
	if (!s->simulate && !s->baselines && is_from_another_paper(c))
		return false;
	return !workload_is(w, W_BY_ITSELF) || !c->kind ||
	       (c->kind->capabilities & PAWL_CAP_SHARED);
}
