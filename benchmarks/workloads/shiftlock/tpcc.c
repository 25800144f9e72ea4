/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locks of the transactions of TPC-C (standard specification, revision 5.11, clause 2):
 * 5 types, 45/43/4/4/4 %, on warehouses of the client's node.
 *
 *   NEW  reads the warehouse and the customer, writes the district and the stock of 5
 *        to 15 items, 1 % of them of another warehouse
 *   PAY  writes the warehouse, the district and the customer, 15 % of them of another
 *        warehouse
 *   ORD  reads the customer and the last order
 *   DLY  writes an order of each district and its customer
 *   STK  reads the district
 *
 * The lock of an order covers its lines. A new order needs no lock, because no other client can
 * lock it, and items need none, because they never change. STK reads stock, too, which by clause
 * 2.8.2.3 may change meanwhile, so it takes no lock. Customers are found by
 * their number; in the specification some are found by name, through an index.
 * (The ShiftLock paper calls DLY read-only; by the specification it writes.)
 *
 * Every node has an equal piece of the lock table, for the rows of its warehouses: a
 * lock for each warehouse and each district, and the rest for customers, orders and
 * stock, hashed.
 */
#include <pawl.h>

#include "benchmarks/harness/bench.h"
#include "txn.h"

enum { CUSTOMERS = 3000, ITEMS = 100000, CUSTOMER_A = 1023, ITEM_A = 8191 };
/* Constants of the run, each from 0 to A. */
enum { CUSTOMER_C = 259, ITEM_C = 7911 };
enum { CUSTOMER, ORDER, STOCK };

const char *const tpcc_types[] = {"NEW", "PAY", "ORD", "DLY", "STK", NULL};
static const int mix[TPCC_TYPES] = {45, 43, 4, 4, 4};

/* The k-th lock of a node; its first locks are spread over all of its ranks. */
static uint64_t lock_of(const struct tpcc *b, uint64_t node, uint64_t k)
{
	uint64_t first = b->locks * node / b->nodes, end = b->locks * (node + 1) / b->nodes;

	return first + zipf_spread(k, end - first);
}

static uint64_t warehouse_lock(const struct tpcc *b, uint64_t w)
{
	return lock_of(b, w / b->warehouses, w % b->warehouses * TPCC_OWN);
}

static uint64_t district_lock(const struct tpcc *b, uint64_t w, uint64_t d)
{
	return lock_of(b, w / b->warehouses, w % b->warehouses * TPCC_OWN + 1 + d);
}

static uint64_t row_lock(const struct tpcc *b, uint64_t w, uint64_t table, uint64_t row)
{
	uint64_t own = b->warehouses * TPCC_OWN, node = w / b->warehouses;
	uint64_t size = b->locks * (node + 1) / b->nodes - b->locks * node / b->nodes;

	return lock_of(b, node, own + txn_hash(table, w << 32 | row, size - own));
}

static uint64_t customer(uint64_t d, uint64_t c)
{
	return d * CUSTOMERS + c;
}

static uint64_t draw_customer(uint64_t *random)
{
	return txn_nurand(random, CUSTOMER_A, CUSTOMER_C, 1, CUSTOMERS) - 1;
}

/* Another warehouse than w with that probability in per cent, if there is another. */
static uint64_t draw_warehouse(const struct tpcc *b, uint64_t *random, uint64_t w, uint64_t percent)
{
	uint64_t all = b->warehouses * b->nodes, other;

	if (all == 1 || txn_uniform(random, 0, 99) >= percent)
		return w;
	other = txn_uniform(random, 0, all - 2);
	return other + (other >= w);
}

static void new_order(const struct tpcc *b, uint64_t *random, struct txn *x, uint64_t w, uint64_t d)
{
	uint64_t items = txn_uniform(random, 5, 15);

	txn_add(x, warehouse_lock(b, w), PAWL_SHARED);
	txn_add(x, district_lock(b, w, d), PAWL_EXCLUSIVE);
	txn_add(x, row_lock(b, w, CUSTOMER, customer(d, draw_customer(random))), PAWL_SHARED);
	for (uint64_t i = 0; i < items; i++) {
		uint64_t from = draw_warehouse(b, random, w, 1);
		uint64_t item = txn_nurand(random, ITEM_A, ITEM_C, 1, ITEMS);

		txn_add(x, row_lock(b, from, STOCK, item), PAWL_EXCLUSIVE);
	}
}

static void payment(const struct tpcc *b, uint64_t *random, struct txn *x, uint64_t w, uint64_t d)
{
	uint64_t of = draw_warehouse(b, random, w, 15);
	uint64_t from = of == w ? d : txn_uniform(random, 0, TPCC_DISTRICTS - 1);

	txn_add(x, warehouse_lock(b, w), PAWL_EXCLUSIVE);
	txn_add(x, district_lock(b, w, d), PAWL_EXCLUSIVE);
	txn_add(x, row_lock(b, of, CUSTOMER, customer(from, draw_customer(random))),
		PAWL_EXCLUSIVE);
}

/* An order is named by its customer. */
static void order_status(const struct tpcc *b, uint64_t *random, struct txn *x, uint64_t w,
			 uint64_t d)
{
	uint64_t c = customer(d, draw_customer(random));

	txn_add(x, row_lock(b, w, CUSTOMER, c), PAWL_SHARED);
	txn_add(x, row_lock(b, w, ORDER, c), PAWL_SHARED);
}

static void delivery(const struct tpcc *b, uint64_t *random, struct txn *x, uint64_t w)
{
	for (uint64_t d = 0; d < TPCC_DISTRICTS; d++) {
		uint64_t c = customer(d, draw_customer(random));

		txn_add(x, row_lock(b, w, ORDER, c), PAWL_EXCLUSIVE);
		txn_add(x, row_lock(b, w, CUSTOMER, c), PAWL_EXCLUSIVE);
	}
}

void tpcc_draw(const struct tpcc *b, uint64_t *random, struct txn *x)
{
	uint64_t w, d;

	x->type = txn_type(random, mix);
	x->n = 0;
	w = b->node * b->warehouses + txn_uniform(random, 0, b->warehouses - 1);
	d = txn_uniform(random, 0, TPCC_DISTRICTS - 1);
	switch (x->type) {
	case TPCC_NEW:
		new_order(b, random, x, w, d);
		break;
	case TPCC_PAY:
		payment(b, random, x, w, d);
		break;
	case TPCC_ORD:
		order_status(b, random, x, w, d);
		break;
	case TPCC_DLY:
		delivery(b, random, x, w);
		break;
	default:
		txn_add(x, district_lock(b, w, d), PAWL_SHARED);
	}
	txn_order(x);
}

uint64_t tpcc_least(const struct tpcc *b)
{
	return (b->warehouses * TPCC_OWN + 1) * b->nodes;
}
