/* SPDX-License-Identifier: BSD-3-Clause */
#include "broken_readers.h"
#include "lock/tree/readers.c"
