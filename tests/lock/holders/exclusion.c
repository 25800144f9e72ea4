/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutual exclusion of every kind of lock: without contention and with all ranks
 * contending, with several locks held at once and homes everywhere, with readers and writers
 * mixed, by try and timed acquires. At the end every lock is free.
 */
#include "exclusion.h"

#include <stdio.h>

enum {
	AT_ONCE = 3,        /* locks held at once */
	AT_LEAST = 3,       /* the least rounds of a loop, however slow the machine */
	SECTIONS = 20,      /* of a client without contention */
	LOOKS = 20,         /* for a client that holds for long */
	WRITES_BEFORE = 40, /* by each rank, before a reader comes */
	LEASE_BUDGETS = 6
};

#define LEAST_LEASE 0.6 /* seconds */

const struct pawl_kind *kind;
pawl_table *table;
uint64_t locks;
uint64_t seed;

bool can(unsigned capability)
{
	return (kind->capabilities & capability) != 0;
}

void acquire(uint64_t lock, int mode)
{
	expect_code(pawl_lock_acquire(table, lock, mode), PAWL_SUCCESS, "acquire");
}

void release(uint64_t lock)
{
	expect_code(pawl_lock_release(table, lock), PAWL_SUCCESS, "release");
}

void inside(uint64_t lock, int mode)
{
	bool slowly = random_below(&seed, 8) == 0;

	if (mode == PAWL_EXCLUSIVE)
		payload_write(lock, table_home(table, lock), slowly);
	else
		payload_read(lock, table_home(table, lock), slowly);
}

void inside_and_release(uint64_t lock, int mode)
{
	bool slowly = random_below(&seed, 8) == 0;
	struct payload_seen seen;
	int rc;

	if (mode == PAWL_EXCLUSIVE) {
		payload_write(lock, table_home(table, lock), slowly);
		release(lock);
		return;
	}
	payload_see(lock, table_home(table, lock), slowly, &seen);
	rc = pawl_lock_release(table, lock);
	/* Values read without the lock are not checked. */
	if (rc == PAWL_ERR_LEASE_LOST && readers_expire(kind))
		return;
	expect_code(rc, PAWL_SUCCESS, "release");
	payload_judge(lock, &seen);
}

bool more(int round, double began)
{
	return round < AT_LEAST || seconds_now() < began + tap_budget;
}

void expect_total(int64_t written)
{
	payload_expect(table, locks, written);
}

/* Rank `taker` acquires every lock without waiting for a holder. */
static void expect_free(int taker)
{
	double began;

	meet();
	began = seconds_now();
	for (uint64_t l = 0; tap_rank == taker && l < locks; l++) {
		int rc;

		/* A try fails while leases of readers last. */
		do
			rc = can(PAWL_CAP_TRY) && !readers_expire(kind)
				 ? pawl_lock_try_acquire(table, l, PAWL_EXCLUSIVE)
				 : pawl_lock_acquire(table, l, PAWL_EXCLUSIVE);
		while (tries_again(rc, began));
		if (expect(rc == PAWL_SUCCESS, "lock %llu is not free at the end: %s",
			   (unsigned long long)l, pawl_error_message()))
			release(l);
	}
	meet();
}

/* ------------------------------------------------------------------ cases */

static void uncontended(void)
{
	uint64_t stride = (locks + (uint64_t)tap_size - 1) / (uint64_t)tap_size;
	int64_t written = 0;

	for (int turn = 0; turn < 2; turn++) {
		/* Each rank uses its own lock, first a near one, then one at another rank. */
		uint64_t l = (uint64_t)((tap_rank + turn) % tap_size) * stride % locks;

		if ((uint64_t)tap_size * stride > locks)
			l = (uint64_t)((tap_rank + turn) % tap_size);
		for (int i = 0; i < SECTIONS; i++) {
			int mode = i % 2 && can(PAWL_CAP_SHARED) ? PAWL_SHARED : PAWL_EXCLUSIVE;

			acquire(l, mode);
			inside_and_release(l, mode);
			written += mode == PAWL_EXCLUSIVE;
		}
		meet();
	}
	expect_total(written);
}

static void contended(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		acquire(1, PAWL_EXCLUSIVE);
		inside(1, PAWL_EXCLUSIVE);
		written++;
		release(1);
	}
	expect_total(written);
}

/* Several locks at once, in ascending order, released in any. */
static void several(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		uint64_t l[AT_ONCE], next = 0;
		int first = (int)random_below(&seed, AT_ONCE);

		for (int k = 0; k < AT_ONCE; k++) {
			uint32_t room = (uint32_t)(locks - next) - (uint32_t)(AT_ONCE - 1 - k);

			l[k] = next + random_below(&seed, room);
			next = l[k] + 1;
			acquire(l[k], PAWL_EXCLUSIVE);
		}
		for (int k = 0; k < AT_ONCE; k++)
			inside(l[k], PAWL_EXCLUSIVE);
		written += AT_ONCE;
		for (int k = 0; k < AT_ONCE; k++)
			release(l[(first + k) % AT_ONCE]);
	}
	expect_total(written);
}

static void mixed_roles(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		int mode = random_below(&seed, 4) == 0 ? PAWL_EXCLUSIVE : PAWL_SHARED;

		acquire(1, mode);
		inside_and_release(1, mode);
		written += mode == PAWL_EXCLUSIVE;
	}
	expect_total(written);
}

static double lease; /* of the table of run_long(), in seconds, if readers expire */

/* A client that holds for long keeps out all others, which come meanwhile. */
static void held_for_long(void)
{
	int64_t written = 0;

	for (int mode = PAWL_EXCLUSIVE;
	     mode <= (can(PAWL_CAP_SHARED) ? PAWL_SHARED : PAWL_EXCLUSIVE); mode++) {
		int mine = tap_rank == 0 ? mode : PAWL_EXCLUSIVE, home = table_home(table, 1);
		int64_t before = 0, mine_before = written;
		double began = seconds_now();
		bool alone;

		if (tap_rank == 0) {
			acquire(1, mine);
			before = payload_count(1, home);
		}
		meet();
		if (tap_rank != 0)
			acquire(1, mine);
		for (int i = 0; i < (tap_rank == 0 ? LOOKS : 1); i++) {
			inside(1, mine);
			written += mine == PAWL_EXCLUSIVE;
			linger(tap_rank == 0 ? tap_budget / LOOKS : 0);
		}
		alone = tap_rank != 0 || payload_count(1, home) - before == written - mine_before;
		if (mode == PAWL_SHARED && readers_expire(kind) && seconds_now() - began > lease)
			expect_time(alone, "a lease has ended while the lock was held for long");
		else
			expect(alone, "violation: another client came in while the lock was held "
				      "for long");
		release(1);
		meet();
	}
	expect_total(written);
}

/* All readers hold the lock together: none leaves before all have come. */
static void readers_meet(void)
{
	acquire(1, PAWL_SHARED);
	meet();
	release(1);
	meet();
}

/* The others come in beside a reader, each by such an acquire. */
static void join_reader(int reader, bool (*come_in)(void))
{
	bool in = true;

	if (tap_rank == reader)
		acquire(1, PAWL_SHARED);
	meet();
	if (tap_rank != reader)
		in = come_in();
	meet();
	if (in)
		release(1);
	meet();
}

static bool come_in_by_call(void)
{
	acquire(1, PAWL_SHARED);
	return true;
}

/* Readers hold the lock together, too, where all have written so far: a kind that goes by what
 * clients do may expect more writers. */
static void readers_meet_after_writers(void)
{
	for (int reader = 0; reader < tap_size; reader++) {
		for (int i = 0; i < WRITES_BEFORE; i++) {
			acquire(1, PAWL_EXCLUSIVE);
			release(1);
		}
		meet();
		join_reader(reader, come_in_by_call);
		if (can(PAWL_CAP_TRY))
			join_reader(reader, come_in_by_try);
		if (can(PAWL_CAP_TIMED))
			join_reader(reader, come_in_by_time);
	}
}

/* --------------------------------------------------------------- programs */

static void run_only(const char *what, void (*test)(void), bool free_after)
{
	now_doing("%s, %s", kind->name, what);
	seed = (uint64_t)tap_rank * 1000003;
	meet();
	test();
	if (free_after)
		expect_free(tap_size - 1);
	result("%s: %s", kind->name, what);
}

static void run(const char *what, void (*test)(void))
{
	run_only(what, test, true);
}

/* The same, with a table whose leases do not run out during the test, nor soon after. */
static void run_long(const char *what, void (*test)(void))
{
	pawl_table *usual = table, *patient;
	double seconds = LEASE_BUDGETS * tap_budget;
	char us[32];

	if (!readers_expire(kind)) {
		run(what, test);
		return;
	}
	/* Not limited by the budget, which a busy machine may exceed. */
	lease = seconds = seconds < LEAST_LEASE ? LEAST_LEASE : seconds;
	snprintf(us, sizeof us, "%.0f", seconds * 1e6);
	patient = table_open(kind->name, locks, "lease", us);
	if (patient) {
		table = patient;
		run_only(what, test, false);
		table = usual;
	}
	table_close(patient);
	result("%s: %s, a table with leases of %s us", kind->name, what, us);
}

static void unsupported(void)
{
	if (!can(PAWL_CAP_SHARED))
		expect_code(pawl_lock_acquire(table, 0, PAWL_SHARED), PAWL_ERR_UNSUPPORTED,
			    "shared");
	if (!can(PAWL_CAP_INTENT)) {
		expect_code(pawl_lock_acquire(table, 0, PAWL_INTENT), PAWL_ERR_UNSUPPORTED,
			    "intent");
		expect_code(pawl_lock_acquire(table, 0, PAWL_INTENT_SHARED), PAWL_ERR_UNSUPPORTED,
			    "intent shared");
		expect_code(pawl_lock_acquire_part(table, 0, 1, PAWL_EXCLUSIVE),
			    PAWL_ERR_UNSUPPORTED, "part");
	}
	if (!can(PAWL_CAP_UPGRADE)) {
		expect_code(pawl_lock_upgrade(table, 0), PAWL_ERR_UNSUPPORTED, "upgrade");
		expect_code(pawl_lock_downgrade(table, 0), PAWL_ERR_UNSUPPORTED, "downgrade");
	}
	if (!can(PAWL_CAP_TRY))
		expect_code(pawl_lock_try_acquire(table, 0, PAWL_EXCLUSIVE), PAWL_ERR_UNSUPPORTED,
			    "try acquire");
	if (!can(PAWL_CAP_TIMED))
		expect_code(pawl_lock_timed_acquire(table, 0, PAWL_EXCLUSIVE, 1),
			    PAWL_ERR_UNSUPPORTED, "timed acquire");
}

static void all_cases(void)
{
	run("uncontended", uncontended);
	run("contended by all", contended);
	run_long("held for long", held_for_long);
	if (can(PAWL_CAP_SHARED)) {
		run_long("all readers inside at one time", readers_meet);
		run_long("all readers inside after writers", readers_meet_after_writers);
		run("roles mixed", mixed_roles);
	}
	if (can(PAWL_CAP_INTENT)) {
		run("all intents inside at one time", intents_meet);
		run("intents, parts and the whole", intents_and_others);
		run("what goes with what", intents_try);
		run("parts, what is held of which is refused", intents_misused);
	}
	if (can(PAWL_CAP_UPGRADE)) {
		run("readers become writers, and the reverse", change_contended);
		run("one reader at a time becomes a writer", change_refused);
	}
	if (can(PAWL_CAP_TRY)) {
		run_long("try acquire of what is held, and free", try_alone);
		run("try and blocking acquires mixed", try_contended);
	}
	if (can(PAWL_CAP_TIMED)) {
		run("timed acquire of what is held", timed_out);
		run("timed acquires contend", timed_contended);
	}
	run("several by one call", many_contended);
	if (can(PAWL_CAP_TRY))
		run("several by one call, one is held", many_refused);
	run("several by one call, misused", many_misused);
	run_requests(run);
	run("what it cannot do is refused", unsupported);
}

static int scattered(uint64_t lock, void *arg)
{
	(void)arg;
	return (int)((lock * 7 + 3) % (uint64_t)tap_size);
}

enum { BLOCK, CYCLIC, SCATTERED, HOMES };

static pawl_table *open_with(int homes)
{
	now_doing("%s, a new table", kind->name);
	if (homes == SCATTERED)
		return table_open_homed(kind->name, locks, scattered);
	return table_open(kind->name, locks, "distribution", homes == BLOCK ? "block" : "cyclic");
}

/* All cases, and the other ways to choose homes. Creating a table takes long
 * where ranks outnumber cores, so the short tests use one way to choose homes
 * for each kind and number of ranks. */
static void one_kind(int first_homes)
{
	static const char *const names[] = {
	    "several at once, homes by block",
	    "several at once, homes cyclic",
	    "several at once, homes by a function",
	};
	struct pawl_table_info info;

	table = open_with(first_homes);
	if (!result("%s: a table", kind->name))
		return;
	pawl_table_get_info(table, &info);
	note("%s on %s; %s", kind->name, info.topology, info.parameters);
	all_cases();
	run(names[first_homes], several);
	for (int i = 1; tap_long && i < HOMES; i++) {
		int homes = (first_homes + i) % HOMES;
		pawl_table *fresh = open_with(homes);

		/* The old table is freed while the new one lives. */
		table_close(table);
		table = fresh;
		if (result("%s: one more table", kind->name))
			run(names[homes], several);
	}
	table_close(table);
	result("%s: the table is freed", kind->name);
}

int main(int argc, char **argv)
{
	int homes = 0;

	tap_start(&argc, &argv, MPI_THREAD_SINGLE);
	payload_start();
	locks = 2 * (uint64_t)tap_size + 3;
	for (int n = tap_size; n > 1; n /= 2)
		homes++;
	for (int i = 0; (kind = tap_kind(&i));)
		one_kind((homes + i) % HOMES);
	payload_end();
	return tap_end();
}
