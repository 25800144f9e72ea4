/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library with the baselines has in addition to libpawl. */
#ifndef BASELINES_BASELINES_H
#define BASELINES_BASELINES_H

#include <pawl.h>
#include <stdbool.h>

/* Whether libpawl does not have this kind. */
__attribute__((visibility("default"))) bool pawl_private_is_baseline(const struct pawl_kind *kind);

#endif
