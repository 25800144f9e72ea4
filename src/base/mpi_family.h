/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the program runs with an MPI of another family than the one that this file was compiled
 * for, because a library for another MPI was linked or preloaded. */
#ifndef BASE_MPI_FAMILY_H
#define BASE_MPI_FAMILY_H

#include <pawl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* If so, why gets "was built for ...". This call has the same form in all MPIs, and may come before
 * MPI_Init. */
static inline bool mpi_family_differs(char *why, size_t size)
{
	static const char *const open_mpi[] = {"Open MPI", "IBM Spectrum MPI", NULL};
	static const char *const mpich[] = {"MPICH", "MVAPICH", "Intel(R) MPI", "CRAY MPICH", NULL};
#ifdef OPEN_MPI
	const char *mine = "Open MPI", *const *others = mpich, *name = "mpich";
#elif defined(MPICH_VERSION)
	const char *mine = "MPICH", *const *others = open_mpi, *name = "openmpi";
#else /* such as the ABI of MPI 5.0, which several MPIs have */
	static const char *const none[] = {NULL};
	const char *mine = "", *const *others = none, *name = "";
#endif
	char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192];
	int len;

	(void)open_mpi, (void)mpich;
	PMPI_Get_library_version(text, &len);
	while (*others && strncmp(text, *others, strlen(*others)) != 0)
		others++;
	if (!*others)
		return false;
	snprintf(why, size,
		 "was built for %s, and the program runs with %s: take that of this MPI (pkg-config"
		 " pawl-%s)",
		 mine, *others, name);
	return true;
}

#endif
