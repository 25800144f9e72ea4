/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of Pawl's own interface share: which kinds of lock to test, and
 * tables of locks made as the command line wants them.
 */
#ifndef TESTS_TABLES_H
#define TESTS_TABLES_H

#include <pawl.h>

#include "tests/ranks.h"

/* Whether --only and --except leave this kind in. */
bool tap_wants(const struct pawl_kind *kind);

/* Iterate: for (int i = 0; (kind = tap_kind(&i)); ) */
const struct pawl_kind *tap_kind(int *i);

enum { TAP_MODES = 4 };
/* Whether a kind has the mode of this number, 0 to TAP_MODES - 1, which is *mode. */
bool tap_mode(const struct pawl_kind *kind, int i, int *mode);

/* As expect(), for a call of Pawl that ought to return a code. */
bool expect_code(int got, int wanted, const char *what);
/* Whether an acquire that returns this code has the lock: it may be told of a recovery. */
bool has_got(int rc);
/* expect_code() for an acquire that may be told of a recovery. */
bool expect_held(int got, const char *what);

/* A loop about a try goes on: the try was refused, and the loop did not begin a long time ago. For
 * locks that are free, or whose holders share them: a release by another process may still be on
 * its way, or another client may be trying. */
bool tries_again(int rc, double began);

/* Readers have the lock for a limited time, and learn from their release whether they
 * stayed in it. */
bool readers_expire(const struct pawl_kind *kind);

/* Whether the message of the last error has these words. */
bool expect_message(const char *words);
int table_home(const pawl_table *table, uint64_t lock);

/* Make a table; NULL and a recorded failure if that does not work. Collective. */
pawl_table *table_open(const char *kind, uint64_t n, const char *name, const char *value);
pawl_table *table_open_homed(const char *kind, uint64_t n, pawl_home_fn *home);
/* Free it, which has to work. Collective; NULL is fine. */
void table_close(pawl_table *table);

#endif
