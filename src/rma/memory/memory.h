/* SPDX-License-Identifier: BSD-3-Clause */
/* How much more memory this process may use. */
#ifndef RMA_MEMORY_H
#define RMA_MEMORY_H

#include <stdint.h>

/* The host has no limit, or its limit cannot be read. */
#define MEMORY_UNKNOWN UINT64_MAX

/* Bytes: the least of the kernel's MemAvailable plus free swap, and of what each limit of this
 * process's control groups (versions 1 and 2) leaves. root: a folder that has proc and sys; "" for
 * this machine's. */
uint64_t memory_available(const char *root);

#endif
