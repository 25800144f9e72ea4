/* SPDX-License-Identifier: BSD-3-Clause */
/* The units that citron would lock for a range, as intervals. */
#ifndef PAWL_BENCH_FALSEPAIRS_H
#define PAWL_BENCH_FALSEPAIRS_H

#include "ranges.h"

enum { MOST_NODES = 6 }; /* the largest k */

struct cover {
	int parts;
	int64_t units; /* of all parts */
	struct span part[MOST_NODES];
};

/* The cover in a tree of that many units, by at most k nodes. False: the result is not a cover. */
bool cover_of(struct cover *c, int64_t units, struct span s, int k);
bool covers_meet(const struct cover *a, const struct cover *b);

#endif
