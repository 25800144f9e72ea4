/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the MPI calls later. A plugin that is linked with the library may be closed by
 * dlclose() before MPI_Finalize. */
#ifndef BASE_PINNED_H
#define BASE_PINNED_H

#include <dlfcn.h>
#include <pawl.h>

/* Keep the library that has this function, which may be linked statically, in memory until the
 * process ends. */
static inline void pin_library_of(void *function)
{
	Dl_info of;

	if (dladdr(function, &of))
		dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Call f when the attributes of the communicator are deleted. Returns a code of the MPI; *failed:
 * the call that has returned it. */
static inline int call_at_end(MPI_Comm comm, MPI_Comm_delete_attr_function *f, const char **failed)
{
	int key, rc;

	pin_library_of((void *)f);
	*failed = "MPI_Comm_create_keyval";
	rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, f, &key, NULL);
	if (rc != MPI_SUCCESS)
		return rc;
	*failed = "MPI_Comm_set_attr";
	rc = PMPI_Comm_set_attr(comm, key, NULL);
	PMPI_Comm_free_keyval(&key); /* it lives as long as the attribute */
	return rc;
}

#endif
