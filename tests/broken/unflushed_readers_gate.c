/* SPDX-License-Identifier: BSD-3-Clause */
#include "unflushed_readers.h"
#define BREAK_FLUSH_IN "close_all"
#include "unflushed.h"

#include "lock/tree/readers_gate.c"
