/* SPDX-License-Identifier: BSD-3-Clause */
/* A Citron that takes its suspicion for the truth: in a frozen space it does not look whether what
 * it waits for has come, or others have given back what they had. */
#define BREAK_CITRON_SUSPECT true
#define BREAK_PREFIX broken_citron_suspect_
#define CITRON_NAME "broken-citron-suspect"
#define CITRON_PROTOCOL lock_broken_citron_suspect
#include "broken_citron.h"
