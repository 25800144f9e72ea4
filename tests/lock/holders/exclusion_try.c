/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: acquires that may fail. */
#include "exclusion.h"

enum {
	HELD_OUT_MS = 50, /* of a timed acquire */
	PATIENCE_S = 30   /* of one that must succeed */
};

static void expect_busy(int mode, int holders)
{
	expect_code(pawl_lock_try_acquire(table, 1, mode), PAWL_ERR_BUSY,
		    holders == PAWL_SHARED ? "try acquire, readers inside"
					   : "try acquire, a writer inside");
}

/* The readers inside do not exclude this one; the tries of others to write may, for a moment. */
bool come_in_by_try(void)
{
	double began = seconds_now();
	int rc;

	do
		rc = pawl_lock_try_acquire(table, 1, PAWL_SHARED);
	while (tries_again(rc, began));
	return expect_code(rc, PAWL_SUCCESS, "try acquire by one more reader");
}

bool come_in_by_time(void)
{
	return expect_code(pawl_lock_timed_acquire(table, 1, PAWL_SHARED, PATIENCE_S), PAWL_SUCCESS,
			   "timed acquire by one more reader");
}

void try_alone(void)
{
	int modes = can(PAWL_CAP_SHARED) ? PAWL_SHARED : PAWL_EXCLUSIVE;

	for (int held = PAWL_EXCLUSIVE; held <= modes; held++) {
		meet();
		if (tap_rank == 0)
			acquire(1, held);
		meet();
		for (int mode = PAWL_EXCLUSIVE; tap_rank != 0 && mode <= modes; mode++) {
			if (held == PAWL_EXCLUSIVE || mode == PAWL_EXCLUSIVE) {
				expect_busy(mode, held);
			} else if (come_in_by_try()) {
				release(1);
			}
		}
		meet();
		if (tap_rank == 0)
			release(1);
	}
	meet();
}

static int draw_mode(void)
{
	return can(PAWL_CAP_SHARED) && random_below(&seed, 3) == 0 ? PAWL_SHARED : PAWL_EXCLUSIVE;
}

void try_contended(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		int mode = draw_mode();

		if (random_below(&seed, 2)) {
			int rc = pawl_lock_try_acquire(table, 1, mode);

			if (rc == PAWL_ERR_BUSY)
				continue;
			expect_code(rc, PAWL_SUCCESS, "try acquire");
		} else {
			acquire(1, mode);
		}
		inside_and_release(1, mode);
		written += mode == PAWL_EXCLUSIVE;
	}
	expect_total(written);
}

void timed_out(void)
{
	double began, took;
	int rc;

	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank != 0) {
		began = seconds_now();
		rc = pawl_lock_timed_acquire(table, 1, PAWL_EXCLUSIVE, HELD_OUT_MS * 1e-3);
		took = seconds_now() - began;
		expect_code(rc, PAWL_ERR_TIMEOUT, "timed acquire of a held lock");
		expect(took > HELD_OUT_MS * 0.99e-3, "timed acquire gave up after %g s", took);
		expect_time(took < 2, "timed acquire gave up after %g s", took);
	}
	meet();
	if (tap_rank == 0)
		release(1);
	meet();
}

void timed_contended(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		int mode = draw_mode();
		double patience = random_below(&seed, 4) ? 1e-4 : 30;
		int rc = pawl_lock_timed_acquire(table, 1, mode, patience);

		if (rc == PAWL_ERR_TIMEOUT && patience < 1)
			continue;
		expect_code(rc, PAWL_SUCCESS, "timed acquire");
		inside_and_release(1, mode);
		written += mode == PAWL_EXCLUSIVE;
	}
	expect_total(written);
}
