/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the MPI calls later. A plugin that is linked with the library may be closed by
 * dlclose() before MPI_Finalize. */
#ifndef BASE_PINNED_H
#define BASE_PINNED_H

#include <dlfcn.h>

/* Keep the library that has this function, which may be linked statically, in memory until the
 * process ends. */
static inline void pin_library_of(void *function)
{
	Dl_info of;

	if (dladdr(function, &of))
		dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

#endif
