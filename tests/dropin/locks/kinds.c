/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the kinds of lock to put under MPI_Win_lock: those that readers can share, except the
 * MPI's own (which has no try-acquire), those with leases, those with threads, and declock, which
 * the layer refuses. */
#include <pawl.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	const unsigned wanted = PAWL_CAP_SHARED | PAWL_CAP_TRY;
	const struct pawl_kind *kind;

	for (int i = 0; (kind = pawl_kind_get(i)); i++)
		if ((kind->capabilities & (wanted | PAWL_CAP_RANGES)) == wanted &&
		    !strstr(kind->options, "lease") && strcmp(kind->name, "rpc") != 0 &&
		    strcmp(kind->name, "declock") != 0)
			printf("%s\n", kind->name);
	return 0;
}
