/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options that variables PAWL_* do not change in the tables of windows. Variables are meant for all
 * tables of the program. But the program under this layer may have tables of its own, and the user
 * may not have thought of windows. So info key pawl_final names these options:
 *
 *   owner               process, as MPI has it: one thread locks, another unlocks
 *   home, distribution  locks are placed where windows need them
 *   lease               byte ranges have none, except by info key pawl_lease: programs that do not
 *                       know of leases hold locks for any time
 *   max_held            may be raised, but not below the value of the layer or of info key
 *                       pawl_max_held: an MPI program may hold a lock of each target
 *
 * A message names each variable that has no effect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/info.h"
#include "dropin/dropin.h"

static void warn(MPI_Comm comm, const char *variable, const char *value, const char *why)
{
	char what[160];

	snprintf(what, sizeof what, "%s=%.64s has no effect on windows", variable, value);
	report_once(comm, what, why);
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

void fixed_options(MPI_Info info, MPI_Comm comm)
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
		warn(comm, "PAWL_OWNER", owner,
		     "their locks belong to the process: one thread may lock and another unlock");
	if (lease && leases)
		warn(comm, "PAWL_LEASE", lease,
		     "programs hold byte ranges for any time; info key pawl_lease of a"
		     " window gives them a lease");
	if (less)
		warn(comm, "PAWL_MAX_HELD", held,
		     "MPI programs hold a lock of each target; it may be raised, and info key"
		     " pawl_max_held of a window may be less");
}
