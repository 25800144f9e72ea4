/* SPDX-License-Identifier: BSD-3-Clause */
/* An interval tree that forgets what is on its right. The tests have to catch it. */
#define BREAK_RANGE_TREE_MOST
#define RANGE_TREE range_broken_tree
#include "baselines/server/range_tree.c"
