/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transactions as lock requests: a type, and the locks that it needs, with their modes.
 * Generators (tatp.c, tpcc.c) draw them. No MPI here.
 */
#ifndef PAWL_BENCH_TXN_H
#define PAWL_BENCH_TXN_H

#include <stdbool.h>
#include <stdint.h>

enum { TXN_LOCKS = 32 };

struct txn_want {
	uint64_t lock;
	int mode; /* PAWL_SHARED, PAWL_EXCLUSIVE */
};

struct txn {
	int type, n;
	struct txn_want want[TXN_LOCKS];
};

void txn_add(struct txn *x, uint64_t lock, int mode);
/* Sort by lock, with each lock once, in the stronger mode: two clients
 * that acquire in this order never deadlock. */
void txn_order(struct txn *x);
/* The lock of a row: a hash of its table and key, modulo the number of locks. */
uint64_t txn_hash(uint64_t table, uint64_t key, uint64_t locks);
/* low .. high, uniform; and the non-uniform law of TPC and TATP. */
uint64_t txn_uniform(uint64_t *random, uint64_t low, uint64_t high);
uint64_t txn_nurand(uint64_t *random, uint64_t a, uint64_t c, uint64_t low, uint64_t high);
/* Draw a type; the percentages add up to 100. */
int txn_type(uint64_t *random, const int *percent);

/* ------------------------------------------------------------------------- TATP */

enum { TATP_GSD, TATP_GND, TATP_GAD, TATP_USD, TATP_UL, TATP_ICF, TATP_DCF, TATP_TYPES };
enum { TATP_HELD = 4 }; /* the most of a transaction */
enum { TATP_LOCKS = 680236, TATP_SUBSCRIBERS = 100000, TATP_NS = 2800 };
extern const char *const tatp_types[];

struct tatp {
	uint64_t subscribers, locks;
};
void tatp_draw(const struct tatp *b, uint64_t *random, struct txn *x);

/* ------------------------------------------------------------------------ TPC-C */

enum { TPCC_NEW, TPCC_PAY, TPCC_ORD, TPCC_DLY, TPCC_STK, TPCC_TYPES };
enum { TPCC_HELD = 20 };
enum { TPCC_LOCKS = 60490, TPCC_WAREHOUSES = 100, TPCC_NS = 7000 };
/* The locks of a warehouse and its districts. */
enum { TPCC_DISTRICTS = 10, TPCC_OWN = 1 + TPCC_DISTRICTS };
extern const char *const tpcc_types[];

struct tpcc {
	uint64_t warehouses;  /* of each node */
	uint64_t nodes, node; /* this client's */
	uint64_t locks;
};
void tpcc_draw(const struct tpcc *b, uint64_t *random, struct txn *x);
/* The fewest locks for its warehouses. */
uint64_t tpcc_least(const struct tpcc *b);

/* ------------------------------------------------------------------------- BANK */

enum { BANK_BALANCE, BANK_TRANSFER, BANK_LOCKS = 2 };
extern const char *const bank_series[];
/* A transfer between two accounts, or a look at the balance of one; account() draws them. */
void bank_draw(bool transfers, uint64_t (*account)(void *from), void *from, struct txn *x);

#endif
