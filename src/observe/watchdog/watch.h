/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog of a table. */
#ifndef OBSERVE_WATCH_H
#define OBSERVE_WATCH_H

#include "observe/observe.h"

/* Bytes that it needs in each segment. */
uint64_t watch_bytes(int max_held);

#endif
