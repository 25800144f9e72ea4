/* SPDX-License-Identifier: BSD-3-Clause */
/* A bakery whose writers do not wait for the readers before them. The tests have to
 * catch it. */
#define BREAK_DSLR_READERS
#define DSLR_NAME "broken-dslr"
#define DSLR_PROTOCOL lock_broken_dslr
#include "baselines/dslr.c"
