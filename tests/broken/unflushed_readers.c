/* SPDX-License-Identifier: BSD-3-Clause */
#include "unflushed_readers.h"
#include "lock/tree/readers.c"
