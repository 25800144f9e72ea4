/* SPDX-License-Identifier: BSD-3-Clause */
/* A multi-granularity lock of which a rider whose deadline passes keeps the intent of its node
 * if it is the last one. The tests have to catch it. */
#define BREAK_MGL_RIDER
#define MGL_NAME "broken-mgl-rider"
#define MGL_PROTOCOL lock_broken_mgl_rider
#include "lock/mgl/mgl.c"
