/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory this process may still take. */
#ifndef RMA_MEMORY_H
#define RMA_MEMORY_H

#include <stdint.h>

/* Of a host without a limit, or whose limit cannot be read. */
#define MEMORY_UNKNOWN UINT64_MAX

/* Bytes: the least of what the kernel calls available, swap included, and of what each limit of
 * this process's control groups (versions 1 and 2) leaves. root: a folder with proc and sys, ""
 * for those of this machine. */
uint64_t memory_available(const char *root);

#endif
