/* SPDX-License-Identifier: BSD-3-Clause */
/* A list whose clients do not look again at the link behind the node that they are at. The
 * tests have to catch it. */
#define BREAK_LLD_LOOK
#define LLD_NAME "broken-lld-look"
#define LLD_PROTOCOL lock_broken_lld_look
#include "baselines/lld.c"
