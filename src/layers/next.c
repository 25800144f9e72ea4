/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime's functions behind a layer. The shared library of a layer defines the runtime's
 * names, and is preloaded, or linked before the runtime's shared library.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "layers/layers.h"

/* Whether an address is in the library that this function is in. */
static bool is_here(void *address)
{
	Dl_info of_address, of_here;

	return dladdr(address, &of_address) && dladdr((void *)message_once, &of_here) &&
	       of_address.dli_fbase == of_here.dli_fbase;
}

/* The name in the library that has this address, or in those that it was linked with. */
static void *find_from(const void *address, const char *name)
{
	Dl_info from;
	void *library, *found;

	if (!address || !dladdr(address, &from))
		return NULL;
	library = dlopen(from.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	found = dlsym(library, name);
	dlclose(library);
	return found;
}

void next_find(const char *name, const void *caller, void *call)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (!next)
		next = find_from(caller, name);
	if (!next || is_here(next))
		next = dlsym(RTLD_DEFAULT, name);
	if (next && is_here(next))
		next = NULL;
	memcpy(call, &next, sizeof next);
}

void next_say_unused(const char *runtime)
{
	int initialized = 0;

	PMPI_Initialized(&initialized);
	if (initialized && message_may_be_first())
		fprintf(stderr,
			"pawl: %s was loaded, but no call of %s reached it: this program has none,"
			" or has the runtime in itself (linked statically), or in a library before"
			" this one; its locks were those of the runtime\n",
			layer_library, runtime);
}
