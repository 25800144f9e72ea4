/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: intents. Lock 1 stands for a whole, whose parts are the
 * words of some other locks. */
#include "exclusion.h"

enum { FIRST_PART = 2, PARTS = 3 };

static void write_part(uint64_t part)
{
	payload_write(part, home_of(part), random_below(&seed, 8) == 0);
}

/* The whole, then one part exclusively; both ways to acquire and to release. */
static void change_part(void)
{
	uint64_t part = FIRST_PART + random_below(&seed, PARTS);

	if (random_below(&seed, 2)) {
		acquire(1, PAWL_INTENT);
		acquire(part, PAWL_EXCLUSIVE);
	} else {
		expect_code(pawl_lock_acquire_part(table, 1, part), PAWL_SUCCESS, "acquire part");
	}
	write_part(part);
	if (random_below(&seed, 2)) {
		release(part);
		release(1);
	} else {
		expect_code(pawl_lock_release_part(table, 1, part), PAWL_SUCCESS, "release part");
	}
}

/* One part shared, then a later one exclusively: others may wait for the whole, and
 * must not wait for each other. */
static void change_later_part(void)
{
	uint64_t part = FIRST_PART + random_below(&seed, PARTS - 1);
	uint64_t later = part + 1 + random_below(&seed, (uint32_t)(FIRST_PART + PARTS - 1 - part));

	acquire(part, PAWL_SHARED);
	acquire(1, PAWL_INTENT | PAWL_AHEAD);
	acquire(later, PAWL_EXCLUSIVE);
	write_part(later);
	release(part);
	release(later);
	release(1);
}

/* Nobody changes a part while we look at the whole. */
static void read_whole(void)
{
	acquire(1, PAWL_SHARED);
	for (uint64_t part = FIRST_PART; part < FIRST_PART + PARTS; part++)
		payload_read(part, home_of(part), random_below(&seed, 8) == 0);
	release(1);
}

/* The whole is ours, and no part need be locked. */
static void change_whole(void)
{
	acquire(1, PAWL_EXCLUSIVE);
	for (uint64_t part = FIRST_PART; part < FIRST_PART + PARTS; part++)
		write_part(part);
	release(1);
}

void intents_and_others(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		uint32_t turn = random_below(&seed, 8);

		if (turn == 0) {
			change_whole();
			written += PARTS;
		} else if (turn < 4) {
			read_whole();
		} else if (turn < 6) {
			change_later_part();
			written++;
		} else {
			change_part();
			written++;
		}
	}
	expect_total(written);
}

/* All hold at one time: none leaves before all came. */
void intents_meet(void)
{
	acquire(1, PAWL_INTENT);
	meet();
	release(1);
	meet();
}

/* What rank 0 holds, and what the others can have meanwhile. */
void intents_try(void)
{
	static const int modes[] = {PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT};

	for (int i = 0; i < 9; i++) {
		int held = modes[i / 3], mode = modes[i % 3], rc;

		meet();
		if (tap_rank == 0)
			acquire(1, held);
		meet();
		/* One at a time: even a try that fails may be seen by others. */
		if (tap_rank == tap_size - 1 && tap_rank != 0) {
			bool together = held == mode && mode != PAWL_EXCLUSIVE;

			rc = pawl_lock_try_acquire(table, 1, mode);
			expect_code(rc, together ? PAWL_SUCCESS : PAWL_ERR_BUSY,
				    "try acquire of what is held");
			if (rc == PAWL_SUCCESS)
				release(1);
		}
		meet();
		if (tap_rank == 0)
			release(1);
	}
	meet();
}
