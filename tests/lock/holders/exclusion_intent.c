/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: intents. Lock 1 stands for a whole whose parts are the
 * words of some other locks. */
#include "exclusion.h"

enum { FIRST_PART = 2, PARTS = 3 };

static void write_part(uint64_t part)
{
	payload_write(part, table_home(table, part), random_below(&seed, 8) == 0);
}

static void read_part(uint64_t part)
{
	payload_read(part, table_home(table, part), random_below(&seed, 8) == 0);
}

/* The whole with intent, then one part; both ways to acquire and both to release. */
static void use_part(int intent, int mode)
{
	uint64_t part = FIRST_PART + random_below(&seed, PARTS);

	if (random_below(&seed, 2)) {
		acquire(1, intent);
		acquire(part, mode);
	} else {
		expect_code(pawl_lock_acquire_part(table, 1, part, mode), PAWL_SUCCESS,
			    "acquire part");
	}
	if (mode == PAWL_EXCLUSIVE)
		write_part(part);
	else
		read_part(part);
	if (random_below(&seed, 2)) {
		release(part);
		release(1);
	} else {
		expect_code(pawl_lock_release_part(table, 1, part), PAWL_SUCCESS, "release part");
	}
}

/* Acquire one part shared without an intent (others may hold the whole, so the part is not
 * read), then the intent, and a later part. Others may wait for the whole, and must not
 * deadlock. */
static void use_later_part(int intent, int mode)
{
	uint64_t part = FIRST_PART + random_below(&seed, PARTS - 1);
	uint64_t later = part + 1 + random_below(&seed, (uint32_t)(FIRST_PART + PARTS - 1 - part));

	acquire(part, PAWL_SHARED);
	acquire(1, intent | PAWL_AHEAD);
	read_part(part);
	acquire(later, mode);
	if (mode == PAWL_EXCLUSIVE)
		write_part(later);
	else
		read_part(later);
	release(part);
	release(later);
	release(1);
}

/* No client changes a part while this one reads the whole. */
static void read_whole(void)
{
	acquire(1, PAWL_SHARED);
	for (uint64_t part = FIRST_PART; part < FIRST_PART + PARTS; part++)
		read_part(part);
	release(1);
}

/* The holder of the whole locks no part. */
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
		uint32_t turn = random_below(&seed, 12);

		if (turn == 0) {
			change_whole();
			written += PARTS;
		} else if (turn < 4) {
			read_whole();
		} else if (turn < 6) {
			use_later_part(PAWL_INTENT, PAWL_EXCLUSIVE);
			written++;
		} else if (turn < 8) {
			use_part(PAWL_INTENT, PAWL_EXCLUSIVE);
			written++;
		} else if (turn < 9) {
			use_later_part(PAWL_INTENT_SHARED, PAWL_SHARED);
		} else {
			use_part(PAWL_INTENT_SHARED, PAWL_SHARED);
		}
	}
	expect_total(written);
}

/* All hold together: none leaves before all have come. */
void intents_meet(void)
{
	acquire(1, tap_rank % 2 ? PAWL_INTENT : PAWL_INTENT_SHARED);
	meet();
	release(1);
	meet();
	/* With clients that read the whole, and readers of one part. */
	if (tap_rank % 2)
		acquire(1, PAWL_SHARED);
	else
		expect_code(pawl_lock_acquire_part(table, 1, FIRST_PART, PAWL_SHARED), PAWL_SUCCESS,
			    "acquire part");
	meet();
	if (tap_rank % 2)
		release(1);
	else
		expect_code(pawl_lock_release_part(table, 1, FIRST_PART), PAWL_SUCCESS,
			    "release part");
	meet();
}

/* The mode of rank 0, and a mode of the others that is compatible with it or not. */
void intents_try(void)
{
	enum { MODES = 4 };
	static const int modes[MODES] = {PAWL_EXCLUSIVE, PAWL_SHARED, PAWL_INTENT,
					 PAWL_INTENT_SHARED};
	/* The matrix of pawl.h. */
	static const bool together[MODES][MODES] = {
	    {false, false, false, false},
	    {false, true, false, true},
	    {false, false, true, true},
	    {false, true, true, true},
	};

	for (int i = 0; i < MODES * MODES; i++) {
		int held = modes[i / MODES], mode = modes[i % MODES], rc;

		meet();
		if (tap_rank == 0)
			acquire(1, held);
		meet();
		/* One client at a time: others may notice even a try that fails. */
		if (tap_rank == tap_size - 1 && tap_rank != 0) {
			rc = pawl_lock_try_acquire(table, 1, mode);
			expect_code(rc,
				    together[i / MODES][i % MODES] ? PAWL_SUCCESS : PAWL_ERR_BUSY,
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

/* pawl_lock_release_part() accepts a part with its intent, and no other modes. */
void intents_misused(void)
{
	uint64_t part = FIRST_PART;

	meet();
	if (tap_rank == 0) {
		expect_code(pawl_lock_acquire_part(table, 1, part, PAWL_INTENT), PAWL_ERR_ARG,
			    "a part with an intent");
		expect_code(pawl_lock_acquire_part(table, 1, 1, PAWL_SHARED), PAWL_ERR_ARG,
			    "a part of itself");
		expect_code(pawl_lock_acquire(table, 1, PAWL_INTENT | PAWL_INTENT_SHARED),
			    PAWL_ERR_ARG, "both intents");
		expect_code(pawl_lock_acquire(table, 1, PAWL_SHARED | PAWL_AHEAD), PAWL_ERR_ARG,
			    "a sharer ahead");
		acquire(1, PAWL_INTENT_SHARED);
		expect_code(pawl_lock_release_part(table, 1, part), PAWL_ERR_NOT_HELD,
			    "release of a part that is not held");
		expect_code(pawl_lock_acquire_part(table, 1, part, PAWL_SHARED), PAWL_ERR_HELD,
			    "the whole once more");
		/* A reader may also hold the stronger intent, acquired by a separate call. */
		release(1);
		acquire(1, PAWL_INTENT_EXCLUSIVE);
		acquire(part, PAWL_SHARED);
		expect_code(pawl_lock_release_part(table, 1, part), PAWL_SUCCESS, "release part");
		acquire(1, PAWL_SHARED);
		acquire(part, PAWL_SHARED);
		expect_code(pawl_lock_release_part(table, 1, part), PAWL_ERR_NOT_HELD,
			    "release of a part without intent");
		release(part);
		release(1);
	}
	meet();
}
