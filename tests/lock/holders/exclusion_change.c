/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: changes of the mode in which a lock is held. */
#include "exclusion.h"

/* Readers become writers, and the reverse: what they have read is as it was. */
void change_contended(void)
{
	double began = seconds_now();
	int64_t written = 0, before;

	for (int i = 0; more(i, began); i++) {
		bool writer = random_below(&seed, 3) == 0;
		int rc;

		acquire(1, writer ? PAWL_EXCLUSIVE : PAWL_SHARED);
		inside(1, writer ? PAWL_EXCLUSIVE : PAWL_SHARED);
		written += writer;
		before = payload_count(1, table_home(table, 1));
		if (writer)
			rc = pawl_lock_downgrade(table, 1);
		else if (random_below(&seed, 2))
			rc = pawl_lock_upgrade(table, 1);
		else
			rc = pawl_lock_timed_upgrade(table, 1, 1e-5 * random_below(&seed, 10));
		expect(rc == PAWL_SUCCESS ||
			   (!writer && (rc == PAWL_ERR_BUSY || rc == PAWL_ERR_TIMEOUT)),
		       "change of mode: %s", pawl_error_message());
		expect(payload_count(1, table_home(table, 1)) == before,
		       "violation: a writer was in");
		if (!writer && rc == PAWL_SUCCESS) {
			inside(1, PAWL_EXCLUSIVE);
			written++;
			if (random_below(&seed, 2))
				expect_code(pawl_lock_downgrade(table, 1), PAWL_SUCCESS, "back");
		}
		release(1);
	}
	expect_total(written);
}

static void expect_try(int mode, int wanted)
{
	int rc;

	meet();
	if (tap_rank == tap_size - 1) {
		rc = pawl_lock_try_acquire(table, 1, mode);
		expect_code(rc, wanted, "try acquire beside a change of mode");
		if (rc == PAWL_SUCCESS)
			release(1);
	}
	meet();
}

/* All share the lock; rank 0 makes it exclusive, and the others are refused and leave. */
void change_refused(void)
{
	double until = seconds_now() + 20;
	int rc = PAWL_ERR_BUSY;

	meet();
	if (tap_rank == 0) {
		expect_code(pawl_lock_downgrade(table, 1), PAWL_ERR_NOT_HELD, "downgrade of none");
		acquire(1, PAWL_EXCLUSIVE);
		expect_code(pawl_lock_upgrade(table, 1), PAWL_ERR_NOT_HELD, "upgrade, exclusive");
		expect_code(pawl_lock_downgrade(table, 1), PAWL_SUCCESS, "downgrade");
		expect_code(pawl_lock_downgrade(table, 1), PAWL_ERR_NOT_HELD, "downgrade, shared");
		expect_code(pawl_lock_timed_upgrade(table, 1, -1), PAWL_ERR_ARG, "-1 seconds");
	}
	meet();
	if (tap_rank != 0)
		acquire(1, PAWL_SHARED);
	meet();
	if (tap_rank == 0) {
		while (rc == PAWL_ERR_BUSY && seconds_now() < until)
			rc = pawl_lock_upgrade(table, 1);
		expect_code(rc, PAWL_SUCCESS, "upgrade");
	} else {
		do
			rc = pawl_lock_timed_upgrade(table, 1, 0);
		while (rc == PAWL_ERR_TIMEOUT && seconds_now() < until);
		expect_code(rc, PAWL_ERR_BUSY, "upgrade by a second one");
		release(1);
	}
	if (tap_size > 1)
		expect_try(PAWL_SHARED, PAWL_ERR_BUSY);
	if (tap_rank == 0)
		expect_code(pawl_lock_downgrade(table, 1), PAWL_SUCCESS, "downgrade");
	if (tap_size > 1) {
		expect_try(PAWL_EXCLUSIVE, PAWL_ERR_BUSY);
		expect_try(PAWL_SHARED, PAWL_SUCCESS);
	}
	if (tap_rank == 0)
		release(1);
	meet();
}
