/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the token of a coarray to its locks: a hash table with open addressing, and the coarray that
 * was used last. Coarrays are registered and deregistered by one thread at a time, while no other
 * thread of the image locks.
 */
#include <stdlib.h>

#include "caf/caf.h"

static struct coarray **slots;
static size_t n_slots, n_used; /* a power of 2, at least twice n_used */
static _Atomic(struct coarray *) last;

static size_t first_slot(const void *token)
{
	return (size_t)(((uintptr_t)token >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

/* The slot of the token, or the free one where it would be. */
static size_t slot_of(const void *token)
{
	size_t i = first_slot(token) & (n_slots - 1);

	while (slots[i] && slots[i]->token != token)
		i = (i + 1) & (n_slots - 1);
	return i;
}

struct coarray *tokens_find(void *token)
{
	struct coarray *c = atomic_load_explicit(&last, memory_order_relaxed);

	if (c && c->token == token)
		return c;
	if (!n_slots)
		return NULL;
	c = slots[slot_of(token)];
	if (c)
		atomic_store_explicit(&last, c, memory_order_relaxed);
	return c;
}

static bool grow(void)
{
	struct coarray **old = slots;
	size_t n_old = n_slots, n = n_old ? 2 * n_old : 64;
	struct coarray **fresh = calloc(n, sizeof(struct coarray *));

	if (!fresh)
		return false;
	slots = fresh;
	n_slots = n;
	for (size_t i = 0; i < n_old; i++)
		if (old[i])
			slots[slot_of(old[i]->token)] = old[i];
	free(old);
	return true;
}

struct coarray *tokens_add(void *token)
{
	struct coarray *c;

	if (2 * n_used >= n_slots && !grow())
		return NULL;
	c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->token = token;
	slots[slot_of(token)] = c;
	n_used++;
	return c;
}

void tokens_remove(struct coarray *c)
{
	size_t i = slot_of(c->token);

	atomic_store_explicit(&last, NULL, memory_order_relaxed);
	slots[i] = NULL;
	n_used--;
	/* Those behind it may have been placed past it. */
	for (i = (i + 1) & (n_slots - 1); slots[i]; i = (i + 1) & (n_slots - 1)) {
		struct coarray *moved = slots[i];

		slots[i] = NULL;
		slots[slot_of(moved->token)] = moved;
	}
	free(c->processes);
	free(c);
}
