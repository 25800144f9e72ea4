/* SPDX-License-Identifier: BSD-3-Clause */
/* A server with the interval tree of broken_range_tree.c. The tests have to catch it. */
#define IT_ALONE
#define IT_NAME "broken-it"
#define IT_PROTOCOL lock_broken_it
#define IT_STORE range_broken_tree
#include "baselines/server/range_store.h"
extern const struct range_store range_broken_tree;
#include "baselines/server/range_server.c"
