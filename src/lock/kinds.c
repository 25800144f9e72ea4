/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-up of kinds by index and by name. Benchmarks, tests and tools go through the list. */
#include "lock/kinds.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/similar.h"

KIND_DECLARE(lock_adaptive)

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

const char *kinds_name(const char *name)
{
	return !name || strcmp(name, "auto") == 0 ? lock_adaptive.kind.name : name;
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

/* ------------------------------------------------------------ the public description */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void describe(const struct lock_protocol *p, struct kind_public *t)
{
	size_t used = 0;

	for (const struct option_spec *s = p->options; s && s->is.name; s++)
		if (used < sizeof t->options)
			used += (size_t)snprintf(t->options + used, sizeof t->options - used,
						 "%s%s", used ? " " : "", s->is.name);
	t->kind = p->kind;
	t->kind.options = t->options;
}

static void describe_all(void)
{
	for (int i = 0; lock_kinds[i]; i++)
		describe(lock_kinds[i], &lock_kinds_public[i]);
}

const struct pawl_kind *kinds_public(const struct lock_protocol *p)
{
	pthread_once(&once, describe_all);
	for (int i = 0; lock_kinds[i]; i++)
		if (lock_kinds[i] == p || lock_kinds[i]->nodes == p)
			return &lock_kinds_public[i].kind;
	return NULL;
}

const struct pawl_kind *pawl_kind_get(int index)
{
	const struct lock_protocol *p = kinds_get(index);

	return p ? kinds_public(p) : NULL;
}

const struct pawl_kind *pawl_kind_find(const char *name)
{
	const struct lock_protocol *p = kinds_find(name);

	return p ? kinds_public(p) : NULL;
}
