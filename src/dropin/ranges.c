/* SPDX-License-Identifier: BSD-3-Clause */
/* Byte-range locks of windows. They need a kind of lock that this version of the
 * library does not have: the calls say so, and change nothing. */
#include <pawl-mpi.h>
#include <stdio.h>

#include "dropin/dropin.h"

static int no_ranges(MPI_Win win, const char *call)
{
	char text[128];

	snprintf(text, sizeof text, "%s: byte-range locks are not in this version (%s) of Pawl",
		 call, pawl_version());
	report_once(MPI_COMM_SELF, "not supported", text);
	return dropin_raise(win, MPI_ERR_UNSUPPORTED_OPERATION, "%s", text);
}

int pawl_win_lock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last, int mode)
{
	(void)rank;
	(void)first;
	(void)last;
	(void)mode;
	return no_ranges(win, "pawl_win_lock_range");
}

int pawl_win_unlock_range(MPI_Win win, int rank, MPI_Aint first, MPI_Aint last)
{
	(void)rank;
	(void)first;
	(void)last;
	return no_ranges(win, "pawl_win_unlock_range");
}
