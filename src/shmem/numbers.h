/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of locks that this PE has given to words of symmetric memory. */
#ifndef SHMEM_NUMBERS_H
#define SHMEM_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* The number of this word; else one that was given back; 0: none. It is the caller's until one of
 * the next two calls. */
long numbers_take(const volatile long *word);
/* The word has the number. */
void numbers_keep(const volatile long *word, long number);
/* No word has it, and its lock is free. */
void numbers_give(long number);

/* A block of symmetric memory, as the runtime has allocated it; NULL: none. */
void numbers_block(const void *block, size_t bytes);
/* The block has gone, or has become one of that size at to, with its contents. is_free() says
 * whether a lock whose word has gone may be used for another word. */
void numbers_block_gone(const void *block, const void *to, size_t bytes, bool (*is_free)(long));

#endif
