/* SPDX-License-Identifier: BSD-3-Clause */
/* A multi-granularity lock of which an exclusive client that comes to the head of
 * the queue does not wait for those who are in. The tests have to catch it. */
#define BREAK_MGL_DRAIN
#define MGL_NAME "broken-mgl"
#define MGL_PROTOCOL lock_broken_mgl
#include "lock/mgl/mgl.c"
