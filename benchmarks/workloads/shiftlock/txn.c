/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generators of transactions share. */
#include "txn.h"

#include <pawl.h>

#include "benchmarks/harness/bench.h"

const char *const bank_series[] = {"balance", "transfer", NULL};

void txn_add(struct txn *x, uint64_t lock, int mode)
{
	x->want[x->n++] = (struct txn_want){lock, mode};
}

/* Insertion sort, as there are few requests; a writer's goes before a reader's of the same lock. */
static void sort(struct txn *x)
{
	for (int i = 1; i < x->n; i++) {
		struct txn_want w = x->want[i];
		int k = i;

		for (; k > 0 && (x->want[k - 1].lock > w.lock ||
				 (x->want[k - 1].lock == w.lock && w.mode == PAWL_EXCLUSIVE));
		     k--)
			x->want[k] = x->want[k - 1];
		x->want[k] = w;
	}
}

void txn_order(struct txn *x)
{
	int n = 0;

	sort(x);
	for (int i = 0; i < x->n; i++)
		if (n == 0 || x->want[n - 1].lock != x->want[i].lock)
			x->want[n++] = x->want[i];
	x->n = n;
}

/* A round of splitmix64, then scaled. */
uint64_t txn_hash(uint64_t table, uint64_t key, uint64_t locks)
{
	uint64_t x = random_seed(key ^ table << 56, 0);

	return (uint64_t)(((unsigned __int128)x * locks) >> 64);
}

uint64_t txn_uniform(uint64_t *random, uint64_t low, uint64_t high)
{
	uint64_t x = random_next(random);

	return low + (uint64_t)(((unsigned __int128)x * (high - low + 1)) >> 64);
}

uint64_t txn_nurand(uint64_t *random, uint64_t a, uint64_t c, uint64_t low, uint64_t high)
{
	uint64_t x = txn_uniform(random, 0, a) | txn_uniform(random, low, high);

	return (x + c) % (high - low + 1) + low;
}

int txn_type(uint64_t *random, const int *percent)
{
	int x = (int)txn_uniform(random, 0, 99), type = 0;

	while (x >= percent[type])
		x -= percent[type++];
	return type;
}

void bank_draw(bool transfers, uint64_t (*account)(void *from), void *from, struct txn *x)
{
	uint64_t a = account(from), b = a;

	x->type = transfers ? BANK_TRANSFER : BANK_BALANCE;
	x->n = 0;
	txn_add(x, a, transfers ? PAWL_EXCLUSIVE : PAWL_SHARED);
	while (transfers && a == b)
		b = account(from);
	if (transfers)
		txn_add(x, b, PAWL_EXCLUSIVE);
	txn_order(x);
}
