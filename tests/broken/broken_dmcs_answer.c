/* SPDX-License-Identifier: BSD-3-Clause */
/* A D-MCS whose queue node serves again while what empties the queue is still on its way. */
#define BREAK_POSTED_ANSWER
#define DMCS_NAME "broken-d-mcs-answer"
#define DMCS_PROTOCOL lock_broken_dmcs_answer
#include "lock/mcs/dmcs.c"
