/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that go on over the ranks that are left. Rank 1 holds a lock and counts as dead, rank 0
 * holds another one, and the last rank has a request for the former and waits. The others then have
 * all locks, free and each with one holder at a time; homes by a function stay where they can, and
 * numbers for storage grow. Rank 1 goes on alone.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lock/payload.h"
#include "tests/lock/tables.h"

enum { LOCKS = 7, DEAD = 1, TAG = 5, ROUNDS = 30 };

static pawl_table *table;
static MPI_Comm left; /* of this rank */

static int backwards(uint64_t lock, void *arg)
{
	(void)arg;
	return (int)((LOCKS - 1 - lock) % (uint64_t)tap_size);
}

/* The ranks but the one that is dead, which has a communicator of its own. */
static void divide(void)
{
	const int dead = DEAD;
	MPI_Group all, others;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_excl(all, 1, &dead, &others);
	if (tap_rank == DEAD)
		MPI_Comm_dup(MPI_COMM_SELF, &left);
	else
		MPI_Comm_create_group(MPI_COMM_WORLD, others, TAG, &left);
	MPI_Group_free(&others);
	MPI_Group_free(&all);
}

static pawl_table *open_table(const struct pawl_kind *kind, bool homed)
{
	bool leases = kind->capabilities & PAWL_CAP_RECOVERS;

	if (homed)
		return table_open_homed(kind->name, LOCKS, backwards);
	return table_open(kind->name, LOCKS, leases ? "lease" : "names", leases ? "100s" : "yes");
}

/* Homes are those of the function, by ranks as they are now. */
static void check_homes(void)
{
	int ranks, home, before;

	MPI_Comm_size(left, &ranks);
	for (uint64_t l = 0; l < LOCKS; l++) {
		expect_code(pawl_table_home(table, l, &home), PAWL_SUCCESS, "home");
		before = backwards(l, NULL);
		if (before != DEAD && tap_rank != DEAD)
			expect(home == before - (before > DEAD), "lock %d: home %d, was %d", (int)l,
			       home, before);
		expect(home >= 0 && home < ranks, "lock %d is at rank %d", (int)l, home);
	}
}

/* Each survivor changes what each lock protects. */
static void go_on(void)
{
	int64_t changes = 0;

	for (int i = 0; i < ROUNDS && tap_rank != DEAD; i++) {
		uint64_t lock = (uint64_t)i % LOCKS;

		expect_code(pawl_lock_acquire(table, lock, PAWL_EXCLUSIVE), PAWL_SUCCESS,
			    "acquire");
		payload_write(lock, 0, i % 8 == 0);
		changes++;
		expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
	}
	payload_expect(NULL, LOCKS, changes);
}

static int64_t token_of(uint64_t lock)
{
	int64_t token = 0;

	expect_code(pawl_lock_token(table, lock, &token), PAWL_SUCCESS, "token");
	return token;
}

static void shrink(const char *what)
{
	struct pawl_table_info info;
	int ranks;

	MPI_Comm_size(left, &ranks);
	if (tap_rank == DEAD) /* it serves the others until they need it no more */
		meet();
	expect_code(pawl_table_shrink(&table, left), PAWL_SUCCESS, what);
	if (tap_rank != DEAD)
		meet();
	expect_code(pawl_table_get_info(table, &info), PAWL_SUCCESS, "info");
	expect(info.ranks == ranks, "%d ranks", info.ranks);
}

static void shrunk(const struct pawl_kind *kind, bool homed)
{
	bool leases = (kind->capabilities & PAWL_CAP_RECOVERS) && !homed;
	pawl_table *before;
	pawl_request q;
	int64_t token = 0;
	int rc = 0;

	now_doing("%s shrinks", kind->name);
	table = before = open_table(kind, homed);
	if (tap_rank <= DEAD)
		expect_code(pawl_lock_acquire(table, (uint64_t)tap_rank, PAWL_EXCLUSIVE),
			    PAWL_SUCCESS, "acquire");
	if (leases && tap_rank == 0)
		token = token_of(0);
	meet();
	if (tap_rank == tap_size - 1)
		expect_code(pawl_lock_iacquire(table, DEAD, PAWL_EXCLUSIVE, &q), PAWL_SUCCESS,
			    "request");
	expect_code(pawl_table_shrink(&table, MPI_COMM_NULL), PAWL_ERR_ARG, "no communicator");
	shrink("shrink");
	expect_code(pawl_lock_acquire(before, 2, PAWL_EXCLUSIVE), PAWL_ERR_ARG, "the former table");
	if (tap_rank == tap_size - 1)
		expect_code(pawl_request_test(&q, &rc), PAWL_ERR_ARG, "a request of it");
	if (tap_rank <= DEAD)
		expect_code(pawl_lock_release(table, (uint64_t)tap_rank), PAWL_ERR_NOT_HELD,
			    "what was held");
	if (homed)
		check_homes();
	go_on();
	if (leases && tap_rank == 0) {
		rc = pawl_lock_acquire(table, 0, PAWL_EXCLUSIVE);
		expect_code(rc, PAWL_SUCCESS, "acquire");
		expect(token_of(0) > token, "numbers begin anew");
		expect_code(pawl_lock_release(table, 0), PAWL_SUCCESS, "release");
	}
	shrink("shrink once more");
	go_on();
	/* The table of the survivors has none of rank 1. */
	rc = pawl_table_shrink(&table, MPI_COMM_WORLD);
	expect_code(rc, PAWL_ERR_ARG, "more ranks than before");
	expect(strstr(pawl_error_message(), "is not in the communicator of the table"),
	       "the message: %s", pawl_error_message());
	go_on();
	expect_code(pawl_table_free(&table), PAWL_SUCCESS, "free");
	meet();
	result("%s%s: the ranks that are left go on", kind->name, homed ? ", homes" : "");
}

static void spaces(void)
{
	pawl_table *t = table_open("citron", 1, "lease", "100s");
	pawl_range range;

	now_doing("citron shrinks");
	if (tap_rank == DEAD)
		expect_code(pawl_range_acquire(t, 0, 0, 9, PAWL_EXCLUSIVE, &range), PAWL_SUCCESS,
			    "acquire");
	meet();
	table = t;
	shrink("shrink");
	t = table;
	expect_code(pawl_range_acquire(t, 0, 0, 9, PAWL_EXCLUSIVE, &range), PAWL_SUCCESS,
		    "acquire what was held");
	expect_code(pawl_range_release(t, &range), PAWL_SUCCESS, "release");
	expect_code(pawl_table_free(&t), PAWL_SUCCESS, "free");
	expect_code(pawl_table_shrink(&t, left), PAWL_ERR_ARG, "no table");
	result("citron: the ranks that are left go on");
}

/* With 3 ranks or more. */
int main(int argc, char **argv)
{
	static const char *const kinds[] = {"adaptive", "d-mcs", "shiftlock"};

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	payload_start();
	divide();
	for (int i = 0; i < 3; i++)
		shrunk(pawl_kind_find(kinds[i]), false);
	shrunk(pawl_kind_find("rma-rw"), true);
	spaces();
	MPI_Comm_free(&left);
	payload_end();
	return tap_end();
}
