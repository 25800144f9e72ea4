/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose releaser marks a node as passed over before it has read its NEXT. */
#define BREAK_MCS_EARLY
#define DMCS_NAME "broken-d-mcs-early"
#define DMCS_PROTOCOL lock_broken_dmcs_early
#include "lock/mcs/dmcs.c"
