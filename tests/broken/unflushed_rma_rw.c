/* SPDX-License-Identifier: BSD-3-Clause */
/* An RMA-RW whose writers do not flush the closing of a gate counter. */
#include "unflushed_readers.h"

#define RMA_RW_NAME "broken-rma-rw-close"
#define RMA_RW_PROTOCOL lock_broken_rma_rw_close
#include "lock/tree/rma_rw.c"
