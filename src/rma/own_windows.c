/* SPDX-License-Identifier: BSD-3-Clause */
/* See own_windows.h. */
#include "rma/own_windows.h"

#include "base/agree.h"

struct own_windows own_windows = {
    .create = PMPI_Win_create,
    .allocate_shared = PMPI_Win_allocate_shared,
    .free = PMPI_Win_free,
    .lock_all = PMPI_Win_lock_all,
    .unlock_all = PMPI_Win_unlock_all,
    .fetch_and_op = PMPI_Fetch_and_op,
    .compare_and_swap = PMPI_Compare_and_swap,
};

bool own_windows_agree(MPI_Comm comm, int rc, MPI_Win *win)
{
	const bool all = all_agree(comm, rc == MPI_SUCCESS);

	if (all)
		PMPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
	else
		*win = MPI_WIN_NULL;
	return all;
}

void pawl_private_set_windows(const struct own_windows *calls)
{
	own_windows = *calls;
}
