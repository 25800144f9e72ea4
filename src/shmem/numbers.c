/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of locks that this PE has given to words, by address; those that it got back; and the
 * blocks of symmetric memory, so that a block that is freed gives the numbers in it back.
 *
 * All PEs free a block together: shmem_free() of the runtime returns at no PE before it is called
 * at all, so no PE uses a lock in it any more. Only this PE gives its numbers again. It takes a new
 * one from the counter of all PEs only if it has none, so it never has more numbers than there were
 * locks at a time.
 *
 * Without memory for an entry its number is lost.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shmem/numbers.h"

/* Sorted by address. */
struct entry {
	uintptr_t at;
	uint64_t value;
};

struct list {
	struct entry *entry;
	size_t n, room;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct list words;  /* value: the number */
static struct list blocks; /* value: bytes */
static struct list unused; /* at: the number */

/* The first entry at this address or behind it. */
static size_t find(const struct list *l, uintptr_t at)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->entry[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct list *l, uintptr_t at, uint64_t value)
{
	size_t i = find(l, at);

	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct entry *more = realloc(l->entry, room * sizeof *more);

		if (!more)
			return;
		l->entry = more;
		l->room = room;
	}
	memmove(&l->entry[i + 1], &l->entry[i], (l->n - i) * sizeof l->entry[0]);
	l->entry[i] = (struct entry){at, value};
	l->n++;
}

static struct entry take_at(struct list *l, size_t i)
{
	const struct entry e = l->entry[i];

	l->n--;
	memmove(&l->entry[i], &l->entry[i + 1], (l->n - i) * sizeof l->entry[0]);
	return e;
}

long numbers_take(const volatile long *word)
{
	const uintptr_t at = (uintptr_t)word;
	long number = 0;
	size_t i;

	pthread_mutex_lock(&mutex);
	i = find(&words, at);
	if (i < words.n && words.entry[i].at == at)
		number = (long)take_at(&words, i).value;
	else if (unused.n)
		number = (long)take_at(&unused, unused.n - 1).at;
	pthread_mutex_unlock(&mutex);
	return number;
}

void numbers_keep(const volatile long *word, long number)
{
	pthread_mutex_lock(&mutex);
	insert(&words, (uintptr_t)word, (uint64_t)number);
	pthread_mutex_unlock(&mutex);
}

void numbers_give(long number)
{
	pthread_mutex_lock(&mutex);
	insert(&unused, (uintptr_t)number, 0);
	pthread_mutex_unlock(&mutex);
}

void numbers_block(const void *block, size_t bytes)
{
	pthread_mutex_lock(&mutex);
	if (block)
		insert(&blocks, (uintptr_t)block, bytes);
	pthread_mutex_unlock(&mutex);
}

/* The size of a block that is known no more. */
static size_t forget(uintptr_t block)
{
	const size_t i = find(&blocks, block);

	return i < blocks.n && blocks.entry[i].at == block ? take_at(&blocks, i).value : 0;
}

void numbers_block_gone(const void *block, const void *to, size_t bytes, bool (*is_free)(long))
{
	const uintptr_t from = (uintptr_t)block;
	struct list moved = {NULL, 0, 0};
	size_t size, first;

	pthread_mutex_lock(&mutex);
	size = forget(from);
	first = find(&words, from);
	while (first < words.n && words.entry[first].at - from < size) {
		const struct entry e = take_at(&words, find(&words, from + size) - 1);

		if (to && e.at - from < bytes)
			insert(&moved, (uintptr_t)to + (e.at - from), e.value);
		else if (is_free((long)e.value))
			insert(&unused, (uintptr_t)e.value, 0);
	}
	for (size_t i = 0; i < moved.n; i++)
		insert(&words, moved.entry[i].at, moved.entry[i].value);
	if (to)
		insert(&blocks, (uintptr_t)to, bytes);
	free(moved.entry);
	pthread_mutex_unlock(&mutex);
}
