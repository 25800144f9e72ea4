/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locks of the transactions of TATP (the telecom benchmark, public description version
 * 1.0): 7 types, 35/10/35/2/14/2/2 %, on subscribers drawn by the
 * benchmark's non-uniform law. Each row has a lock, whether the row exists or not; rows are hashed
 * to the table of locks.
 *
 *   GSD  reads a subscriber
 *   GND  reads a facility, and if that exists and is active, the forwardings of it that
 *        have begun: their end is known only from the row, so all of them are locked
 *   GAD  reads an access record
 *   USD  writes a subscriber and a facility
 *   UL   writes a subscriber
 *   ICF  reads a subscriber and the facility the new row belongs to, and writes a forwarding
 *   DCF  reads a subscriber, and writes a forwarding
 *
 * Which rows exist: 1 to 4 of 4 types for each subscriber, 85 % of facilities are active,
 * 0 to 3 forwardings that begin at 0, 8 and 16 o'clock. Here a hash of its key decides whether a
 * row exists, with the same frequency.
 */
#include <pawl.h>

#include "txn.h"

enum { SUBSCRIBER, ACCESS, FACILITY, FORWARDING };
enum { TYPES = 4, STARTS = 3 };

const char *const tatp_types[] = {"GSD", "GND", "GAD", "USD", "UL", "ICF", "DCF", NULL};
static const int mix[TATP_TYPES] = {35, 10, 35, 2, 14, 2, 2};

/* Whether a row exists, with that probability in permille. */
static bool holds(uint64_t table, uint64_t key, uint64_t permille)
{
	return txn_hash(table + 16, key, 1000) < permille;
}

/* A grows with the population. */
static uint64_t subscriber(const struct tatp *b, uint64_t *random)
{
	uint64_t a = b->subscribers <= 1000000    ? 65535
		     : b->subscribers <= 10000000 ? 1048575
						  : 2097151;

	return txn_nurand(random, a, 0, 1, b->subscribers);
}

static void add(const struct tatp *b, struct txn *x, uint64_t table, uint64_t key, int mode)
{
	txn_add(x, txn_hash(table, key, b->locks), mode);
}

static void read_forwardings(const struct tatp *b, struct txn *x, uint64_t facility, uint64_t start)
{
	if (!holds(FACILITY, facility, 625) || !holds(FACILITY + 16, facility, 850))
		return;
	for (uint64_t k = 0; k <= start; k++)
		if (holds(FORWARDING, facility * STARTS + k, 500))
			add(b, x, FORWARDING, facility * STARTS + k, PAWL_SHARED);
}

void tatp_draw(const struct tatp *b, uint64_t *random, struct txn *x)
{
	uint64_t s, typed, start;

	x->type = txn_type(random, mix);
	x->n = 0;
	s = subscriber(b, random);
	typed = s * TYPES + txn_uniform(random, 0, TYPES - 1);
	start = txn_uniform(random, 0, STARTS - 1);
	switch (x->type) {
	case TATP_GSD:
		add(b, x, SUBSCRIBER, s, PAWL_SHARED);
		break;
	case TATP_GND:
		add(b, x, FACILITY, typed, PAWL_SHARED);
		read_forwardings(b, x, typed, start);
		break;
	case TATP_GAD:
		add(b, x, ACCESS, typed, PAWL_SHARED);
		break;
	case TATP_USD:
		add(b, x, SUBSCRIBER, s, PAWL_EXCLUSIVE);
		add(b, x, FACILITY, typed, PAWL_EXCLUSIVE);
		break;
	case TATP_UL:
		add(b, x, SUBSCRIBER, s, PAWL_EXCLUSIVE);
		break;
	case TATP_ICF:
		add(b, x, FACILITY, typed, PAWL_SHARED);
		/* fall through */
	default:
		add(b, x, SUBSCRIBER, s, PAWL_SHARED);
		add(b, x, FORWARDING, typed * STARTS + start, PAWL_EXCLUSIVE);
	}
	txn_order(x);
}
