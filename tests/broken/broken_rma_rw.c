/* SPDX-License-Identifier: BSD-3-Clause */
/* An RMA-RW whose writers do not drain the readers. The tests have to catch it. */
#include "broken_readers.h"

#define RMA_RW_NAME "broken-rma-rw"
#define RMA_RW_PROTOCOL lock_broken_rma_rw
#include "lock/tree/rma_rw.c"
