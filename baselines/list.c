/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kinds including the baselines; libpawl's kinds come first. */
#include "baselines/list.h"

#include <string.h>

#include "baselines/baselines.h"
#include "lock/kinds.h"
#include "lock/list.h"

LIBRARY_KINDS(KIND_DECLARE)
BASELINES(KIND_DECLARE)

const struct lock_protocol *const lock_kinds[] = {LIBRARY_KINDS(KIND_ADDRESS)
						      BASELINES(KIND_ADDRESS) NULL};
KINDS_PUBLIC;

#define ONE(protocol) +1
enum { LIBRARY_COUNT = 0 LIBRARY_KINDS(ONE) };

bool pawl_private_is_baseline(const struct pawl_kind *kind)
{
	for (int i = LIBRARY_COUNT; lock_kinds[i]; i++)
		if (strcmp(lock_kinds[i]->kind.name, kind->name) == 0)
			return true;
	return false;
}
