/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options that variables PAWL_* do not change in tables of windows. Variables are meant for all
 * tables of the program; the program under this layer may have tables of its own, and the
 * user may not have thought of windows. So, by the names in info key pawl_final:
 *
 *   owner         process, as MPI has it: one thread locks, another unlocks
 *   home, distribution  of what lives where windows need it
 *   lease         of byte ranges: none but by info key pawl_lease, for programs that know nothing
 * of leases hold locks as long as they like max_held      may be raised, and not be less than the
 * layer or info key pawl_max_held says: an MPI program may hold a lock of each target
 *
 * A variable that has no effect is named in a message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dropin/dropin.h"

static void tell(MPI_Comm comm, const char *variable, const char *value, const char *why)
{
	char what[160];

	snprintf(what, sizeof what, "%s=%.64s has no effect on windows", variable, value);
	report_once(comm, what, why);
}

/* Whether the variable asks for less than the table has without it. What is no number is an
 * error of the option. */
static bool is_less(const char *value, MPI_Info info)
{
	char text[MPI_MAX_INFO_VAL + 1] = "", *end;
	long long asked = strtoll(value, &end, 10);
	int there;

	PMPI_Info_get(info, "pawl_max_held", MPI_MAX_INFO_VAL, text, &there);
	return there && end != value && !*end && asked >= 1 && asked < atoll(text);
}

void fixed_options(MPI_Info info, MPI_Comm comm)
{
	const char *owner = getenv("PAWL_OWNER"), *lease = getenv("PAWL_LEASE"),
		   *held = getenv("PAWL_MAX_HELD");
	bool less = held && is_less(held, info);
	char names[64];
	int len, leases;

	PMPI_Info_get_valuelen(info, "pawl_lease", &len, &leases);
	snprintf(names, sizeof names, "owner home distribution%s%s", leases ? " lease" : "",
		 less ? " max_held" : "");
	PMPI_Info_set(info, "pawl_final", names);
	if (owner && strcmp(owner, "process") != 0)
		tell(comm, "PAWL_OWNER", owner,
		     "their locks are the process's: one thread may lock and another unlock");
	if (lease && leases)
		tell(comm, "PAWL_LEASE", lease,
		     "programs hold byte ranges as long as they like; info key pawl_lease of a"
		     " window gives them a lease");
	if (less)
		tell(comm, "PAWL_MAX_HELD", held,
		     "MPI programs hold a lock of each target; it may be raised, and info key"
		     " pawl_max_held of a window may be less");
}
