/* SPDX-License-Identifier: BSD-3-Clause */
/* See own_windows.h. */
#include "rma/own_windows.h"

struct own_windows own_windows = {
    .create = PMPI_Win_create,
    .allocate_shared = PMPI_Win_allocate_shared,
    .free = PMPI_Win_free,
    .lock_all = PMPI_Win_lock_all,
    .unlock_all = PMPI_Win_unlock_all,
};

void pawl_private_set_windows(const struct own_windows *calls)
{
	own_windows = *calls;
}
