/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of which the last one of several is left out. The tests have to catch it. */
#define BREAK_SS_LAST
#define SS_NAME "broken-ss"
#define SS_PROTOCOL lock_broken_ss
#include "lock/ss/ss.c"
