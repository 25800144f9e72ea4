/* SPDX-License-Identifier: BSD-3-Clause */
/* What citron would lock for a range, as intervals of units. */
#ifndef PAWL_BENCH_FALSEPAIRS_H
#define PAWL_BENCH_FALSEPAIRS_H

#include "ranges.h"

enum { MOST_NODES = 6 }; /* the largest k */

struct cover {
	int parts;
	int64_t units; /* of all parts */
	struct span part[MOST_NODES];
};

/* In a tree of so many units, by at most k nodes. False: what came out is no cover. */
bool cover_of(struct cover *c, int64_t units, struct span s, int k);
bool covers_meet(const struct cover *a, const struct cover *b);

#endif
