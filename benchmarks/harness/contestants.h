/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks that take part. */
#ifndef BENCH_CONTESTANTS_H
#define BENCH_CONTESTANTS_H

#include <pawl.h>

#include "benchmarks/cli/settings.h"

struct workload;
struct trial;

/* A lock, or a pseudo lock with its own loop. */
struct contestant {
	const char *name, *summary;
	const struct pawl_kind *kind; /* NULL: a pseudo lock */
	const char *only;             /* the workload of a pseudo lock */
	void (*run)(struct trial *t); /* its loop */
};

/* The pseudo locks, up to one without a name. */
extern const struct contestant pseudo_contestants[];

/* The contestant with that index in the list of all, or NULL. */
const struct contestant *contestant_get(int index);
/* It takes part only if --lock names it. */
bool contestant_needs_threads(const struct contestant *c);
/* Whether it is no kind of libpawl. */
bool contestant_is_baseline(const struct contestant *c);
/* Whether readers share it. */
bool contestant_shares(const struct contestant *c);
bool contestant_plays(const struct contestant *c, const struct workload *w,
		      const struct settings *s);

#endif
