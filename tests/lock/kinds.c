/* SPDX-License-Identifier: BSD-3-Clause */
/* See tables.h: which kinds of lock to test. */
#include "tables.h"

#include "baselines/baselines.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BASELINES "baselines" /* --except takes it for all of them */

/* Whether a list with commas has the name. */
static bool is_in(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == len && strncmp(p, name, len) == 0)
			return true;
	return false;
}

/* Ends a program whose list names a kind which there is not. also: what else it may name, or NULL.
 */
static void expect_kinds(const char *list, const char *also)
{
	char name[40];

	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
		if (!pawl_kind_find(name) && (!also || strcmp(name, also) != 0)) {
			fprintf(stderr, "there is no lock %s\n", name);
			_exit(2);
		}
	}
}

bool tap_wants(const struct pawl_kind *kind)
{
	if (tap_only)
		expect_kinds(tap_only, NULL);
	if (tap_except)
		expect_kinds(tap_except, BASELINES);
	if (is_in(tap_except, BASELINES) && pawl_private_is_baseline(kind))
		return false;
	return (!tap_only || is_in(tap_only, kind->name)) && !is_in(tap_except, kind->name);
}

/* Kinds that need threads take part in programs with threads; kinds with ranges
 * have their own programs. */
static bool can_run(const struct pawl_kind *kind)
{
	if (kind->capabilities & PAWL_CAP_RANGES)
		return false;
	return !(kind->capabilities & PAWL_CAP_THREADS) || tap_thread_level == MPI_THREAD_MULTIPLE;
}

const struct pawl_kind *tap_kind(int *i)
{
	const struct pawl_kind *kind;

	do
		kind = pawl_kind_get((*i)++);
	while (kind && !(tap_wants(kind) && can_run(kind)));
	return kind;
}

bool tap_mode(const struct pawl_kind *kind, int i, int *mode)
{
	static const struct {
		int mode;
		unsigned capability;
	} modes[TAP_MODES] = {{PAWL_EXCLUSIVE, 0},
			      {PAWL_SHARED, PAWL_CAP_SHARED},
			      {PAWL_INTENT, PAWL_CAP_INTENT},
			      {PAWL_INTENT_SHARED, PAWL_CAP_INTENT}};

	*mode = modes[i].mode;
	return (kind->capabilities & modes[i].capability) == modes[i].capability;
}
