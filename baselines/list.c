/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of kinds with the baselines: those of libpawl come first. */
#include "baselines/list.h"

#include "baselines/baselines.h"
#include "lock/kinds.h"
#include "lock/list.h"

LIBRARY_KINDS(KIND_DECLARE)
BASELINES(KIND_DECLARE)

const struct lock_protocol *const lock_kinds[] = {LIBRARY_KINDS(KIND_ADDRESS)
						      BASELINES(KIND_ADDRESS) NULL};

static const struct lock_protocol *const baselines[] = {BASELINES(KIND_ADDRESS) NULL};

bool pawl_private_is_baseline(const struct pawl_kind *kind)
{
	for (int i = 0; baselines[i]; i++)
		if (&baselines[i]->kind == kind)
			return true;
	return false;
}
