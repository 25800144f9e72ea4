/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of an MPI_Info, by the calls that the MPI's version has: MPI 4.0 deprecates MPI_Info_get()
 * and MPI_Info_get_valuelen(). */
#ifndef BASE_INFO_H
#define BASE_INFO_H

#include <pawl.h>
#include <stdbool.h>

/* Whether the info has the key. If so, value gets its text, cut off to size characters with the
 * final null; otherwise it stays as it is. */
static inline bool info_get(MPI_Info info, const char *key, char *value, int size)
{
	int there = 0;

#if MPI_VERSION >= 4
	PMPI_Info_get_string(info, key, &size, value, &there);
#else
	PMPI_Info_get(info, key, size - 1, value, &there);
#endif
	return there;
}

static inline bool info_has(MPI_Info info, const char *key)
{
	int there = 0, len = 0;

#if MPI_VERSION >= 4
	char nothing[1]; /* MPICH 4.0.2 refuses a null pointer, even for a length of 0 */

	PMPI_Info_get_string(info, key, &len, nothing, &there);
#else
	PMPI_Info_get_valuelen(info, key, &len, &there);
#endif
	return there;
}

#endif
