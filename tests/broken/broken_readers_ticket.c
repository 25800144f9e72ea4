/* SPDX-License-Identifier: BSD-3-Clause */
#include "broken_readers.h"
#include "locks/readers_ticket.c"
