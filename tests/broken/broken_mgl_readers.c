/* SPDX-License-Identifier: BSD-3-Clause */
/* A multi-granularity lock of which an exclusive client that comes to the head of
 * the queue does not wait for intents shared. The tests have to catch it. */
#define BREAK_MGL_READERS
#define MGL_NAME "broken-mgl-readers"
#define MGL_PROTOCOL lock_broken_mgl_readers
#include "lock/mgl/mgl.c"
