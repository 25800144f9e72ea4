/* SPDX-License-Identifier: BSD-3-Clause */
/* A multi-granularity lock whose queue does not shut the door: its head sees that
 * nobody is in, and others come in behind its back. The tests have to catch it. */
#define BREAK_MGL_DOOR
#define MGL_NAME "broken-mgl"
#define MGL_PROTOCOL lock_broken_mgl
#include "locks/mgl.c"
