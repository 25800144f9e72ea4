/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options that variables PAWL_* do not change in the tables of a layer. Variables are meant for all
 * tables of the program. But the program under the layer may have tables of its own, and the user
 * may not have thought of the layer. So info key pawl_final names these options:
 *
 *   owner               process: one thread locks, another unlocks
 *   home, distribution  locks are placed where the layer needs them
 *   lease               there is none, except by info key pawl_lease: programs that do not know of
 *                       leases hold locks for any time
 *   max_held            may be raised, but not below the value of the layer or of info key
 *                       pawl_max_held: such programs may hold many locks
 *
 * A message names each variable that has no effect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/info.h"
#include "layers/layers.h"

static void warn(MPI_Comm comm, const char *locks, const char *variable, const char *value,
		 const char *why)
{
	char what[160];

	snprintf(what, sizeof what, "%s=%.64s has no effect on %s", variable, value, locks);
	message_once(comm, what, why);
}

/* Whether the variable asks for less than the table has without it. A value that is not a number is
 * an error that the option's check reports. */
static bool is_less(const char *value, MPI_Info info)
{
	char text[MPI_MAX_INFO_VAL + 1] = "", *end;
	long long asked = strtoll(value, &end, 10);
	bool there = info_get(info, "pawl_max_held", text, sizeof text);

	return there && end != value && !*end && asked >= 1 && asked < atoll(text);
}

void options_fix(MPI_Info info, MPI_Comm comm, const struct option_words *words)
{
	const char *owner = getenv("PAWL_OWNER"), *lease = getenv("PAWL_LEASE"),
		   *held = getenv("PAWL_MAX_HELD");
	bool less = held && is_less(held, info);
	bool leases = info_has(info, "pawl_lease");
	char names[64];

	snprintf(names, sizeof names, "owner home distribution%s%s", leases ? " lease" : "",
		 less ? " max_held" : "");
	PMPI_Info_set(info, "pawl_final", names);
	if (owner && strcmp(owner, "process") != 0)
		warn(comm, words->locks, "PAWL_OWNER", owner,
		     "their locks belong to the process: one thread may lock and another unlock");
	if (lease && leases)
		warn(comm, words->locks, "PAWL_LEASE", lease, words->lease);
	if (less)
		warn(comm, words->locks, "PAWL_MAX_HELD", held, words->max_held);
}

bool options_has(const char *kind, const char *name)
{
	const struct pawl_kind *k = kind ? pawl_kind_find(kind) : NULL;
	const size_t len = strlen(name);

	for (const char *p = k ? k->options : ""; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (strcspn(p, " ") == len && strncmp(p, name, len) == 0)
			return true;
	return false;
}

bool options_is_mistake(int code)
{
	return code == PAWL_ERR_OPTION || code == PAWL_ERR_KIND || code == PAWL_ERR_ARG ||
	       code == PAWL_ERR_TOPOLOGY;
}
