/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion test: several locks by one call. */
#include "exclusion.h"

enum { MOST = 3, AWAIT_MS = 20 };

/* One to three different locks, in any order. */
static size_t draw_locks(uint64_t *l)
{
	size_t n = 1 + random_below(&seed, MOST);

	for (size_t i = 0; i < n;) {
		size_t before = 0;

		l[i] = random_below(&seed, (uint32_t)locks);
		while (l[before] != l[i])
			before++;
		i += before == i;
	}
	return n;
}

static void draw_modes(int *modes, size_t n)
{
	bool readers = can(PAWL_CAP_SHARED) && !readers_expire(kind);

	for (size_t i = 0; i < n; i++)
		modes[i] = readers && random_below(&seed, 2) == 0 ? PAWL_SHARED : PAWL_EXCLUSIVE;
}

static int acquire_somehow(size_t n, const uint64_t *l, const int *modes)
{
	switch (random_below(&seed, 4)) {
	case 0:
		if (can(PAWL_CAP_TRY))
			return pawl_lock_try_acquire_many(table, n, l, modes);
		break;
	case 1:
		if (can(PAWL_CAP_TIMED))
			return pawl_lock_timed_acquire_many(table, n, l, modes, 1e-4);
		break;
	}
	return pawl_lock_acquire_many(table, n, l, modes);
}

static void release_somehow(size_t n, const uint64_t *l)
{
	size_t alone = random_below(&seed, (uint32_t)n + 1);

	for (size_t i = 0; i < alone; i++)
		release(l[i]);
	expect_code(pawl_lock_release_many(table, n - alone, l + alone), PAWL_SUCCESS,
		    "release many");
}

void many_contended(void)
{
	double began = seconds_now();
	int64_t written = 0;

	for (int i = 0; more(i, began); i++) {
		uint64_t l[MOST];
		int modes[MOST], rc;
		size_t n = draw_locks(l);

		draw_modes(modes, n);
		rc = acquire_somehow(n, l, modes);
		if (rc == PAWL_ERR_BUSY || rc == PAWL_ERR_TIMEOUT)
			continue;
		if (!expect_code(rc, PAWL_SUCCESS, "acquire many"))
			continue;
		for (size_t k = 0; k < n; k++) {
			inside(l[k], modes[k]);
			written += modes[k] == PAWL_EXCLUSIVE;
		}
		release_somehow(n, l);
	}
	expect_total(written);
}

/* Whether this rank can have the locks before and behind the one that rank 0 holds. */
static void expect_nothing_kept(void)
{
	double began = seconds_now();
	int rc;

	for (uint64_t l = 0; l < MOST; l += 2) {
		do
			rc = pawl_lock_try_acquire(table, l, PAWL_EXCLUSIVE);
		while (tries_again(rc, began));
		if (expect_code(rc, PAWL_SUCCESS, "a lock that was given back"))
			release(l);
	}
}

static void expect_all_free(const uint64_t wanted[MOST])
{
	double began = seconds_now();
	int rc;

	do
		rc = pawl_lock_try_acquire_many(table, MOST, wanted, NULL);
	while (tries_again(rc, began));
	if (expect_code(rc, PAWL_SUCCESS, "try, all are free"))
		expect_code(pawl_lock_release_many(table, MOST, wanted), PAWL_SUCCESS, "release");
}

/* Rank 0 holds lock 1; rank 1 wants 2, 1 and 0. */
void many_refused(void)
{
	static const uint64_t wanted[] = {2, 1, 0};

	if (tap_rank == 0)
		acquire(1, PAWL_EXCLUSIVE);
	meet();
	if (tap_rank == 1) {
		expect_code(pawl_lock_try_acquire_many(table, MOST, wanted, NULL), PAWL_ERR_BUSY,
			    "try, one is held");
		expect_nothing_kept();
		if (can(PAWL_CAP_TIMED)) {
			double began = seconds_now();

			expect_code(pawl_lock_timed_acquire_many(table, MOST, wanted, NULL,
								 AWAIT_MS * 1e-3),
				    PAWL_ERR_TIMEOUT, "one is held");
			expect(seconds_now() - began > AWAIT_MS * 0.99e-3, "too early");
			expect_nothing_kept();
		}
	}
	meet();
	if (tap_rank == 0)
		release(1);
	meet();
	if (tap_rank == 1)
		expect_all_free(wanted);
	meet();
}

void many_misused(void)
{
	static const uint64_t twice[] = {2, 0, 1, 0}, beyond[] = {0, UINT64_MAX}, both[] = {0, 1};
	static const int odd[] = {PAWL_EXCLUSIVE, 77};
	uint64_t l[64] = {0};

	if (tap_rank == 0) {
		expect_code(pawl_lock_acquire_many(table, 4, twice, NULL), PAWL_ERR_ARG, "twice");
		expect_message("lock 0 is both locks[1] and locks[3]");
		expect_code(pawl_lock_acquire_many(table, 2, beyond, NULL), PAWL_ERR_RANGE, "-1");
		expect_code(pawl_lock_acquire_many(table, 2, both, odd), PAWL_ERR_ARG, "mode 77");
		expect_code(pawl_lock_acquire_many(table, 1, NULL, NULL), PAWL_ERR_ARG, "NULL");
		expect_code(pawl_lock_acquire_many(NULL, 2, both, NULL), PAWL_ERR_ARG, "no table");
		expect_code(pawl_lock_acquire_many(table, 64, l, NULL), PAWL_ERR_TOO_MANY, "64");
		expect_message("max_held");
		expect_code(pawl_lock_acquire_many(table, 0, NULL, NULL), PAWL_SUCCESS, "none");
		expect_code(pawl_lock_release_many(table, 0, NULL), PAWL_SUCCESS, "none");
		acquire(1, PAWL_EXCLUSIVE);
		expect_code(pawl_lock_acquire_many(table, 2, both, NULL), PAWL_ERR_HELD, "held");
		expect_message("lock 1 is held by this thread already");
		expect_code(pawl_lock_release_many(table, 2, both), PAWL_ERR_NOT_HELD, "one");
		expect_message("lock 0");
		expect_code(pawl_lock_release_many(table, 1, both + 1), PAWL_SUCCESS, "release");
		expect_code(pawl_lock_acquire_many(table, 2, both, NULL), PAWL_SUCCESS, "both");
		expect_code(pawl_lock_release_many(table, 2, both), PAWL_SUCCESS, "both");
	}
	meet();
}
