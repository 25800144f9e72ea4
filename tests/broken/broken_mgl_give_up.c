/* SPDX-License-Identifier: BSD-3-Clause */
/* A multi-granularity lock of which a client whose deadline passes at the head of the queue
 * hands the lock on as if it had it. The tests have to catch it. */
#define BREAK_MGL_GIVE_UP
#define MGL_NAME "broken-mgl-give-up"
#define MGL_PROTOCOL lock_broken_mgl_give_up
#include "lock/mgl/mgl.c"
