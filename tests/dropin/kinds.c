/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the kinds of lock that readers can share, but for the MPI's own one
 * (which has no try-acquire) and those with leases: those to put under MPI_Win_lock. */
#include <pawl.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	const unsigned wanted = PAWL_CAP_SHARED | PAWL_CAP_TRY;
	const struct pawl_kind *kind;

	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		if ((kind->capabilities & wanted) == wanted && !strstr(kind->options, "lease"))
			printf("%s\n", kind->name);
	return 0;
}
