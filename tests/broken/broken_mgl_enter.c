/* SPDX-License-Identifier: BSD-3-Clause */
/* A multi-granularity lock of which a client with an intent shared comes in beside an
 * exclusive holder. The tests have to catch it. */
#define BREAK_MGL_ENTER
#define MGL_NAME "broken-mgl-enter"
#define MGL_PROTOCOL lock_broken_mgl_enter
#include "lock/mgl/mgl.c"
