/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of lock by index and by name. Benchmarks, tests and tools go through the list. */
#include "lock/kinds.h"

#include <stdio.h>
#include <string.h>

#include "base/similar.h"

const struct lock_protocol *kinds_get(int index)
{
	for (int i = 0; index >= 0 && lock_kinds[i]; i++)
		if (i == index)
			return lock_kinds[i];
	return NULL;
}

const struct lock_protocol *kinds_find(const char *name)
{
	for (int i = 0; name && lock_kinds[i]; i++)
		if (strcmp(lock_kinds[i]->kind.name, name) == 0)
			return lock_kinds[i];
	return NULL;
}

const char *kinds_list(char *text, size_t len)
{
	size_t used = 0;

	for (int i = 0; lock_kinds[i] && used < len; i++)
		used += (size_t)snprintf(text + used, len - used, "%s%s", i ? ", " : "",
					 lock_kinds[i]->kind.name);
	return text;
}

const char *kinds_hint(const char *name, char *text, size_t len)
{
	struct similar near = similar_to(name ? name : "", name ? strlen(name) : 0);

	for (int i = 0; lock_kinds[i]; i++)
		similar_try(&near, lock_kinds[i]->kind.name, strlen(lock_kinds[i]->kind.name));
	return similar_hint(&near, "", text, len);
}

const struct pawl_kind *pawl_kind_get(int index)
{
	const struct lock_protocol *p = kinds_get(index);

	return p ? &p->kind : NULL;
}

const struct pawl_kind *pawl_kind_find(const char *name)
{
	const struct lock_protocol *p = kinds_find(name);

	return p ? &p->kind : NULL;
}
