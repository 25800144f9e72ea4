/* SPDX-License-Identifier: BSD-3-Clause */
/* An ALock that waits for its turn without having flushed VICTIM. */
#define BREAK_FLUSH_OF "victim"
#include "unflushed.h"

#define ALOCK_NAME "broken-alock-victim"
#define ALOCK_PROTOCOL lock_broken_alock_victim
#include "lock/alock/alock.c"
